/*
 * The view of a run on a terminal.
 */
#ifndef HIL_SCREEN_H
#define HIL_SCREEN_H

#include "sample.h"

/* Shows the run until it ends, the user quits, or a signal comes. Returns 0; -ENOTTY without a
 * suitable terminal; or another negative errno. Restores the terminal in any case. */
int hil_screen_show(struct hil_watch *watch, unsigned interval_ms);

/* The watcher's clock in ns. */
uint64_t hil_watch_clock(void);

#endif
