/*
 * Statistics of some samples of a signal: extremes, mean, and the sum of the squared distances from
 * the mean. It uses Welford's running form, which loses no precision even if the ripple is tiny
 * compared to the mean.
 */
#ifndef HIL_SAMPLES_H
#define HIL_SAMPLES_H

#include <stdint.h>

struct hil_samples {
    uint64_t count;
    uint64_t from_ns, to_ns; /* times of the first and the last sample */
    double min, max, mean;
    double squares; /* sum of the squared distances from the mean */
};

/* Adds a further value. The caller sets to_ns, once for several values. The count is converted as a
 * signed number, which is one instruction. */
static inline void hil_samples_add_value(struct hil_samples *s, double value)
{
    const double distance = value - s->mean;

    s->count++;
    s->min = value < s->min ? value : s->min;
    s->max = value > s->max ? value : s->max;
    s->mean += distance / (double)(int64_t)s->count;
    s->squares += distance * (value - s->mean);
}

static inline void hil_samples_add(struct hil_samples *s, uint64_t t_ns, double value)
{
    if (s->count == 0) {
        *s = (struct hil_samples){1, t_ns, t_ns, value, value, value, 0};
        return;
    }
    hil_samples_add_value(s, value);
    s->to_ns = t_ns;
}

/* Adds the samples of `later`, which came after those of `s`. */
void hil_samples_merge(struct hil_samples *s, const struct hil_samples *later);

#endif
