/*
 * The first node's clock, as a line by two comparisons: before the run, and after it. So a time of
 * a part's record is known on the first node's clock, however both clocks drifted apart.
 */
#ifndef HIL_CLOCK_LINE_H
#define HIL_CLOCK_LINE_H

#include "part.h"

/* A time of the part's record, in s from the start on its own clock, by the first node's clock. The
 * same where the clocks were not compared twice. */
double hil_clock_line(const struct hil_part_told *told, double time_s);

/* What the time is uncertain by, in ns: by the worse of the comparisons. */
uint64_t hil_clock_about_ns(const struct hil_part_told *told);

#endif
