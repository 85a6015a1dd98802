/*
 * Virtual time is held up, let go on by so many instants, and let go on for good, as the launcher
 * says in the run's memory. An instant is a time of the run at which any node steps, so all that
 * steps at it does so, or nothing.
 */
#ifndef HIL_PACE_H
#define HIL_PACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct hil_pace {
    /* The launcher's: it is to stand still, when so many instants are done. */
    _Atomic bool hold;
    _Atomic uint64_t allowed;
    /* The run's: it stands still; it has done so many. */
    _Atomic bool paused;
    _Atomic uint64_t done;
};

struct hil_state;

/* At an instant that none of the run's nodes has begun: returns when it may be, or when the run is
 * to stop. */
void hil_pace_wait(struct hil_state *state);

#endif
