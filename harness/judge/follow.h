/*
 * A signal that is followed through its record, row by row, for the bounds of a limit. Of each
 * bound it keeps the worst.
 */
#ifndef HIL_FOLLOW_H
#define HIL_FOLLOW_H

#include "judge_parts.h"

struct follow;

/* Signal `number` of the limit. Returns 0 or -ENOMEM. */
int follow_open(struct follow **follow, const struct hil_limit *limit, unsigned number);
void follow_close(struct follow *follow);

/* Rows in the order of time. Returns 0 or -ENOMEM. */
int follow_sample(struct follow *follow, double time_s, double value);

/* What came of a bound; false: nothing that it is for. */
bool follow_look(const struct follow *follow, enum hil_bound bound, struct look *look);

/* Whether there was a time for which the reference has no row: the first one. */
bool follow_uncovered(const struct follow *follow, double *time_s);

/* A step is judged by the time that it took, or by a value that was in no band. */
const char *follow_step_unit(const struct follow *follow, const char *unit);

#endif
