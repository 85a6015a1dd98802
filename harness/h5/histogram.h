/*
 * A histogram of times: constant memory, 1 ns to 34 s, every percentile to better than one per
 * cent. Buckets are linear inside each power of two:
 *
 *      from        0    128    256    512   ...   17 s  to 34 s
 *      width       1      2      4      8   ...  134 ms
 *
 * It is plain memory, initially zero, and may lie in memory that processes share if there is one
 * writer. A reader in another process sees counts that are slightly old.
 */
#ifndef HIL_HISTOGRAM_H
#define HIL_HISTOGRAM_H

#include <stdint.h>

enum {
    HIL_HISTOGRAM_HALF_LOG2 = 6,
    HIL_HISTOGRAM_HALF = 1 << HIL_HISTOGRAM_HALF_LOG2, /* buckets in each power of two */
    HIL_HISTOGRAM_BUCKETS = 30 * HIL_HISTOGRAM_HALF,   /* up to 2^35 ns */
};

struct hil_histogram {
    uint64_t count;
    uint64_t max;
    uint64_t sum;
    uint64_t buckets[HIL_HISTOGRAM_BUCKETS];
};

/* The bucket that has the value. Each power of two has a row of buckets; the first two rows are
 * both 1 ns wide. */
static inline unsigned hil_histogram_bucket(uint64_t ns)
{
    /* The bit makes values below HALF use the first row unchanged. */
    const int log2 = 63 - __builtin_clzll(ns | HIL_HISTOGRAM_HALF);
    const unsigned shift = (unsigned)(log2 - HIL_HISTOGRAM_HALF_LOG2);
    const unsigned bucket = shift * HIL_HISTOGRAM_HALF + (unsigned)(ns >> shift);

    return bucket < HIL_HISTOGRAM_BUCKETS ? bucket : HIL_HISTOGRAM_BUCKETS - 1;
}

/* Adds one value, in ns, `count` times. Values from 34 s on count in the last bucket. */
static inline void hil_histogram_add_many(struct hil_histogram *histogram, uint64_t ns,
                                          uint64_t count)
{
    histogram->buckets[hil_histogram_bucket(ns)] += count;
    histogram->count += count;
    histogram->sum += count * ns;
    if (count && ns > histogram->max)
        histogram->max = ns;
}

static inline void hil_histogram_add(struct hil_histogram *histogram, uint64_t ns)
{
    hil_histogram_add_many(histogram, ns, 1);
}

/* Adds `count` values: ns, ns + step, ns + 2 step ... The time it takes is proportional to the
 * number of buckets, not of values. */
void hil_histogram_add_series(struct hil_histogram *histogram, uint64_t ns, uint64_t step,
                              uint64_t count);

/*
 * The value that a share `quantile` (0..1) of the values do not exceed, in ns, to better than 1
 * percent: the middle of its bucket, but never above max; 0 when there are no values. The quantile
 * of the greatest value is max itself.
 */
uint64_t hil_histogram_quantile(const struct hil_histogram *histogram, double quantile);

/* Adds all of `from` to `to`. */
void hil_histogram_merge(struct hil_histogram *to, const struct hil_histogram *from);

/* The least value of bucket `i`, in ns. For i = HIL_HISTOGRAM_BUCKETS it is the end of the last
 * bucket. */
uint64_t hil_histogram_bucket_start(unsigned i);

#endif
