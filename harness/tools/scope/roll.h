/*
 * Signals over time as columns: the least and the greatest value of each signal in equal intervals
 * of the run's time. Columns are numbered by their time, so their borders stay fixed.
 */
#ifndef HIL_ROLL_H
#define HIL_ROLL_H

#include "capture.h"
#include "frame.h"

enum { HIL_ROLL_COLUMNS_MAX = 4096 };

struct hil_roll;

/* For `count` signals, at most HIL_TRACES_MAX. Returns 0 or a negative errno. */
int hil_roll_open(struct hil_roll **roll, const struct hil_attached *run,
                  const struct hil_shown *const *signals, unsigned count, double window_s,
                  unsigned columns);
void hil_roll_close(struct hil_roll *roll); /* takes NULL */

/* Looks at the run. Returns 1 and a message if there is something new, 0, or -ENOMEM. */
int hil_roll_turn(struct hil_roll *roll, struct hil_frame *frame);

#endif
