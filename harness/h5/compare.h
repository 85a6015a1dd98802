/*
 * Two records side by side: how far each signal of one is from the same signal of the other.
 *
 * Signals are matched by their names. At the time of each row of the first record the second one's
 * value is taken, on a line between its rows: of two runs of one scenario in virtual time that is
 * the row itself.
 */
#ifndef HIL_COMPARE_H
#define HIL_COMPARE_H

#include "recorded.h"

/* Times that are closer are one: a record's are sums of doubles. */
#define HIL_SAME_TIME_S 1e-10

/* Values agree when they are no further apart than `absolute`, in the signal's unit, and `percent`
 * of the first record's value together. */
struct hil_tolerance {
    double absolute, percent;
    double from_s, to_s; /* only rows, and events, of this time */
    double within_s;     /* of each other two events agree */
};

struct hil_difference {
    char name[HIL_RECORDED_NAME_BYTES];
    const char *unit;         /* the record's */
    bool in_first, in_second; /* both, or it is just in one */
    struct hil_recorded first, second;
    size_t rows, apart;   /* compared; of these further apart than allowed */
    double greatest, rms; /* of the differences, in its unit */
    double at_s, a, b;    /* where it is greatest: the time, and both values */
    double excess;        /* the greatest of difference / allowed; 0 where all are 0 */
};

struct hil_comparison {
    struct hil_difference *at;
    unsigned count, differ; /* signals; of these not within the tolerance */
    double first_end_s, second_end_s;
    bool differs; /* one is not within the tolerance, or is in one record only, or ends early */
};

/* Compares. Returns 0 or a negative errno. hil_comparison_free in any case. */
int hil_compare(struct hil_comparison *comparison, const struct hil_trace_reader *first,
                const struct hil_trace_reader *second, const struct hil_tolerance *tolerance);
void hil_comparison_free(struct hil_comparison *comparison);

/* The second record's value at a time, on a line between its rows; NAN outside of them. `near` is
 * where to begin looking: times that are asked for ascend. */
double hil_compare_at(const struct hil_recorded_series *series, double time_s, size_t *near);

#endif
