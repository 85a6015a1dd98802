/*
 * The pace of virtual time: the launcher pauses the run, lets it go on for some instants, or lets
 * it go on for good, through the run's memory. An instant is a time of the run at which any node
 * steps. Either all steps of an instant are done, or none.
 */
#ifndef HIL_PACE_H
#define HIL_PACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct hil_pace {
    /* Written by the launcher: pause once `allowed` instants are done. */
    _Atomic bool hold;
    _Atomic uint64_t allowed;
    /* Written by the run: whether it is paused, and how many instants are done. */
    _Atomic bool paused;
    _Atomic uint64_t done;
};

struct hil_state;

/* Called before each instant. Returns when the instant may begin, or when the run is to stop. */
void hil_pace_wait(struct hil_state *state);

#endif
