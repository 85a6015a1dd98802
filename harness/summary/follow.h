/*
 * Follows a signal through its record, row by row, for the bounds of a limit, and keeps the worst
 * value for each bound.
 */
#ifndef HIL_FOLLOW_H
#define HIL_FOLLOW_H

#include "judge_parts.h"

struct follow;

/* For signal `number` of the limit. Returns 0 or -ENOMEM. */
int follow_open(struct follow **follow, const struct hil_limit *limit, unsigned number);
void follow_close(struct follow *follow);

/* Adds a sample; samples come in order of time. Returns 0 or -ENOMEM. */
int follow_sample(struct follow *follow, double time_s, double value);

/* Gets the worst value for a bound. Returns false if the bound applied to no sample. */
bool follow_look(const struct follow *follow, enum hil_bound bound, struct look *look);

/* Whether the reference has no row for some time; *time_s is the first such time. */
bool follow_uncovered(const struct follow *follow, double *time_s);

/* The unit of a step's finding: of the time that the step took, or of a value that was outside the
 * band before the step. */
const char *follow_step_unit(const struct follow *follow, const char *unit);

#endif
