/*
 * The first node's clock, interpolated linearly between two comparisons: one before the run, and
 * one after it. It converts a time in a part's record to the first node's clock even if the clocks
 * drifted apart.
 */
#ifndef HIL_CLOCK_LINE_H
#define HIL_CLOCK_LINE_H

#include "../../launch/part.h"

/* Converts a time of the part's record, in s from the start on its own clock, to the first node's
 * clock. Returns the same time if the clocks were not compared twice. */
double hil_clock_line(const struct hil_part_report *report, double time_s);

/* The uncertainty of the result in ns, from the worse of the two comparisons. */
uint64_t hil_clock_about_ns(const struct hil_part_report *report);

#endif
