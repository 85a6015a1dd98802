/*
 * Signals over time as columns: of each, the least and the greatest value in equal parts of the
 * run's time. Columns have numbers, by the time that they are of, so their borders stay where they
 * are.
 */
#ifndef HIL_ROLL_H
#define HIL_ROLL_H

#include "capture.h"
#include "frame.h"

enum { HIL_ROLL_COLUMNS_MAX = 4096 };

struct hil_roll;

/* Of `count` signals, HIL_TRACES_MAX at most. Returns 0 or a negative errno. */
int hil_roll_open(struct hil_roll **roll, const struct hil_attached *run,
                  const struct hil_shown *const *signals, unsigned count, double window_s,
                  unsigned columns);
void hil_roll_close(struct hil_roll *roll); /* takes NULL */

/* Looks at the run. Returns 1, and the message, where there is something new; 0; or -ENOMEM. */
int hil_roll_turn(struct hil_roll *roll, struct hil_frame *frame);

#endif
