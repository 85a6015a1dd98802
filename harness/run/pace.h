/*
 * The pace of virtual time: the launcher pauses the run, lets it go on for some instants, or lets
 * it go on for good, through the run's memory. An instant is a time of the run at which any node
 * steps. Either all steps of an instant are done, or none.
 *
 * The run also waits for programs that read all rows of its taps. Such a reader holds a lock on a
 * byte of the run's memory file, 0 or 1 by the parity of `turn`. Before it writes over rows, the
 * run waits until nobody holds that byte, and then begins the next turn. A reader that has read all
 * there is takes the other byte first, and then lets go of this one. So the run never goes on
 * behind a reader's back; one that dies holds nothing, and one that hangs is waited for only a
 * while.
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
    _Atomic bool waits; /* for readers, until the next turn */
    _Atomic uint64_t turn;
    /* Used by the run alone: when it looks for readers next, 0: never; how many instants there are
     * between two looks, while there are readers; and its own descriptor of the memory file. */
    uint64_t look_at, look_every;
    int lock;
};

struct hil_state;

/* From now on the run waits for readers. Call while its memory file is still open. */
void hil_pace_mind_readers(struct hil_state *state);

/* Called before each instant. Returns when the instant may begin, or when the run is to stop. */
void hil_pace_wait(struct hil_state *state);

#endif
