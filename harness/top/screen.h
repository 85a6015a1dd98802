/*
 * The view of a run on a terminal.
 */
#ifndef HIL_SCREEN_H
#define HIL_SCREEN_H

#include "sample.h"

/* Shows the run until it ends, or the user has seen enough, or a signal asks to end. Returns 0;
 * or -ENOTTY where there is no terminal that can show it; or another negative errno. The
 * terminal is then as it was before. */
int hil_screen_show(struct hil_watch *watch, unsigned interval_ms);

/* The watcher's clock, ns. */
uint64_t hil_watch_clock(void);

#endif
