#include "histogram.h"

#include <math.h>

enum { LAST = HIL_HISTOGRAM_BUCKETS - 1 };

uint64_t hil_histogram_bucket_start(unsigned i)
{
    const unsigned row = i / HIL_HISTOGRAM_HALF;

    if (row < 2)
        return i;
    return (uint64_t)(i % HIL_HISTOGRAM_HALF + HIL_HISTOGRAM_HALF) << (row - 1);
}

/* How many values of a series, at most `count`, are below `end`. */
static uint64_t count_below(uint64_t end, uint64_t ns, uint64_t step, uint64_t count)
{
    uint64_t below = step ? (end - ns + step - 1) / step : count;

    return below < count ? below : count;
}

void hil_histogram_add_series(struct hil_histogram *histogram, uint64_t ns, uint64_t step,
                              uint64_t count)
{
    while (count) {
        unsigned i = hil_histogram_bucket(ns);
        uint64_t here =
            i < LAST ? count_below(hil_histogram_bucket_start(i + 1), ns, step, count) : count;
        uint64_t last = ns + (here - 1) * step;

        histogram->buckets[i] += here;
        histogram->count += here;
        histogram->sum += here * ns + step * (here * (here - 1) / 2);
        if (last > histogram->max)
            histogram->max = last;
        ns = last + step;
        count -= here;
    }
}

static uint64_t middle(unsigned i)
{
    return (hil_histogram_bucket_start(i) + hil_histogram_bucket_start(i + 1) - 1) / 2;
}

/* The value of this rank; the least value has rank 1. */
static uint64_t value_at(const struct hil_histogram *histogram, uint64_t rank)
{
    uint64_t below = 0;

    for (unsigned i = 0; i < LAST; i++) {
        below += histogram->buckets[i];
        if (below >= rank)
            return middle(i) < histogram->max ? middle(i) : histogram->max;
    }
    return histogram->max; /* the last bucket has no end */
}

uint64_t hil_histogram_quantile(const struct hil_histogram *histogram, double quantile)
{
    /* In floating point, 0.07 of 100 is slightly more than 7. */
    const double rank = ceil((quantile - 1e-12) * (double)histogram->count);

    if (rank >= (double)histogram->count)
        return histogram->max;
    return value_at(histogram, rank > 1 ? (uint64_t)rank : 1);
}

void hil_histogram_merge(struct hil_histogram *to, const struct hil_histogram *from)
{
    if (!from->count) /* many of thousands may be empty, without any memory touched */
        return;
    for (unsigned i = 0; i < HIL_HISTOGRAM_BUCKETS; i++)
        to->buckets[i] += from->buckets[i];
    to->count += from->count;
    to->sum += from->sum;
    if (from->max > to->max)
        to->max = from->max;
}
