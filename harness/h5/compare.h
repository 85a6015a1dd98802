/*
 * Compares two records: how far each signal of one is from the same signal of the other.
 *
 * Signals are matched by name. At the time of each row of the first record the second record's
 * value is interpolated between its rows. For two runs of one scenario in virtual time that is the
 * row itself.
 */
#ifndef HIL_COMPARE_H
#define HIL_COMPARE_H

#include "recorded.h"

/* Times that are closer than this are equal: a record's times are sums of doubles. */
#define HIL_SAME_TIME_S 1e-10

/* Values agree when they differ by at most `absolute`, in the signal's unit, plus `percent` of the
 * first record's value. */
struct hil_tolerance {
    double absolute, percent;
    double from_s, to_s; /* only rows and events in this time span */
    double within_s;     /* how far apart two events may be and still agree */
};

struct hil_difference {
    char name[HIL_RECORDED_NAME_BYTES];
    const char *unit;         /* from the record */
    bool in_first, in_second; /* both, or only one of them */
    struct hil_recorded first, second;
    size_t rows, apart;   /* rows compared; rows that differ more than allowed */
    double greatest, rms; /* difference, in the signal's unit */
    double at_s, a, b;    /* the time of the greatest difference, and both values there */
    double excess;        /* the greatest of difference / allowed; 0 where all differences are 0 */
};

struct hil_comparison {
    struct hil_difference *at;
    unsigned count, differ; /* signals; signals not within the tolerance */
    double first_end_s, second_end_s;
    bool differs; /* a signal is not within the tolerance, or is in one record only, or ends
                   * early */
};

/* Compares. Returns 0 or a negative errno. Call hil_comparison_free in any case. */
int hil_compare(struct hil_comparison *comparison, const struct hil_trace_reader *first,
                const struct hil_trace_reader *second, const struct hil_tolerance *tolerance);
void hil_comparison_free(struct hil_comparison *comparison);

/* The second record's value at a time, interpolated between its rows; NAN outside of them. `near`
 * is where the search begins; the times of successive calls must ascend. */
double hil_compare_at(const struct hil_recorded_series *series, double time_s, size_t *near);

#endif
