#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/h5/histogram.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct hil_histogram h;

static void expect_within_percent(uint64_t actual, double expected)
{
    cr_expect(fabs((double)actual - expected) <= 0.01 * expected, "%llu, expected %g",
              (unsigned long long)actual, expected);
}

Test(histogram, buckets_follow_one_another)
{
    cr_expect_eq(hil_histogram_bucket_start(0), 0);
    for (unsigned i = 0; i < HIL_HISTOGRAM_BUCKETS; i++) {
        const uint64_t start = hil_histogram_bucket_start(i);
        const uint64_t end = hil_histogram_bucket_start(i + 1);

        cr_assert_lt(start, end);
        cr_assert_eq(hil_histogram_bucket(start), i);
        cr_assert_eq(hil_histogram_bucket(end - 1), i);
    }
}

Test(histogram, covers_ten_seconds)
{
    cr_expect_gt(hil_histogram_bucket_start(HIL_HISTOGRAM_BUCKETS - 1), 10000000000);
    cr_expect_eq(hil_histogram_bucket(UINT64_MAX), HIL_HISTOGRAM_BUCKETS - 1);
}

/* "To better than 1 percent", at either end of each bucket. */
Test(histogram, middle_is_near_all_values)
{
    for (unsigned i = 1; i < hil_histogram_bucket(10000000000); i++) {
        const uint64_t ends[] = {hil_histogram_bucket_start(i),
                                 hil_histogram_bucket_start(i + 1) - 1};

        for (size_t k = 0; k < COUNT(ends); k++) {
            memset(&h, 0, sizeof(h));
            hil_histogram_add(&h, ends[k]);
            hil_histogram_add(&h, 20000000000); /* so that max does not help */
            const uint64_t median = hil_histogram_quantile(&h, 0.5);
            cr_assert(fabs((double)median - (double)ends[k]) < 0.01 * (double)ends[k],
                      "%llu for %llu", (unsigned long long)median, (unsigned long long)ends[k]);
        }
    }
}

Test(histogram, empty)
{
    cr_expect_eq(hil_histogram_quantile(&h, 0.5), 0);
    cr_expect_eq(hil_histogram_quantile(&h, 1), 0);
}

Test(histogram, small_values_are_exact)
{
    for (uint64_t ns = 0; ns < 100; ns++)
        hil_histogram_add(&h, ns);
    for (unsigned percent = 1; percent <= 100; percent++)
        cr_expect_eq(hil_histogram_quantile(&h, percent / 100.0), percent - 1);
    cr_expect_eq(hil_histogram_quantile(&h, 0), 0);
}

Test(histogram, quantiles_of_known_values)
{
    for (uint64_t i = 1; i <= 100000; i++)
        hil_histogram_add(&h, i * 1000);
    expect_within_percent(hil_histogram_quantile(&h, 0.50), 50e6);
    expect_within_percent(hil_histogram_quantile(&h, 0.99), 99e6);
    expect_within_percent(hil_histogram_quantile(&h, 0.999), 99.9e6);
    cr_expect_eq(hil_histogram_quantile(&h, 1), 100000000);
    cr_expect_eq(h.count, 100000);
    cr_expect_eq(h.max, 100000000);
    cr_expect_eq(h.sum, 5000050000000);
}

/* 1000001 lies in the lower half of its bucket. */
Test(histogram, never_above_the_greatest)
{
    for (int i = 0; i < 10; i++)
        hil_histogram_add(&h, 1000001);
    cr_assert_gt((hil_histogram_bucket_start(hil_histogram_bucket(1000001)) +
                  hil_histogram_bucket_start(hil_histogram_bucket(1000001) + 1)) /
                     2,
                 1000001);
    cr_expect_eq(hil_histogram_quantile(&h, 0.1), 1000001);
}

Test(histogram, beyond_the_last_bucket)
{
    const uint64_t hour_ns = 3600000000000;

    hil_histogram_add(&h, 5);
    hil_histogram_add(&h, hour_ns);
    cr_expect_eq(hil_histogram_quantile(&h, 0.5), 5);
    cr_expect_eq(hil_histogram_quantile(&h, 0.9), hour_ns);
}

Test(histogram, merge_is_adding_all)
{
    static struct hil_histogram odd, even;

    for (uint64_t i = 0; i < 1000; i++) {
        hil_histogram_add(i % 2 ? &odd : &even, i * i);
        hil_histogram_add(&h, i * i);
    }
    hil_histogram_merge(&even, &odd);
    cr_expect_eq(memcmp(&even, &h, sizeof(h)), 0);
}

Test(histogram, many_at_once_are_as_many)
{
    static struct hil_histogram one_by_one;

    memset(&h, 0, sizeof(h));
    hil_histogram_add_many(&h, 40000, 3);
    hil_histogram_add_many(&h, 90000, 0);
    for (int i = 0; i < 3; i++)
        hil_histogram_add(&one_by_one, 40000);
    cr_expect_eq(memcmp(&h, &one_by_one, sizeof(h)), 0);
}

/* Also across buckets, beyond the last one, and without a step. */
Test(histogram, a_series_is_its_values)
{
    static const struct {
        uint64_t ns, step, count;
    } series[] = {{0, 1, 1000},           {17, 40, 5000},
                  {123456, 10000, 20000}, {5, 0, 7},
                  {99, 3000, 1},          {1000000000, 1000000000, 60},
                  {4000000000, 1, 300},   {50, 1000000, 0}};
    static struct hil_histogram one_by_one;

    for (size_t i = 0; i < sizeof(series) / sizeof(series[0]); i++) {
        memset(&h, 0, sizeof(h));
        memset(&one_by_one, 0, sizeof(one_by_one));
        hil_histogram_add_series(&h, series[i].ns, series[i].step, series[i].count);
        for (uint64_t k = 0; k < series[i].count; k++)
            hil_histogram_add(&one_by_one, series[i].ns + k * series[i].step);
        cr_expect_eq(memcmp(&h, &one_by_one, sizeof(h)), 0, "series %zu", i);
    }
}
