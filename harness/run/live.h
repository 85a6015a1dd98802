/*
 * The state of a node, which it publishes while it runs: a row of the links' SST, and a
 * copy in the run's state for programs that watch.
 */
#ifndef HIL_LIVE_H
#define HIL_LIVE_H

#include <stdint.h>

#include "../../channels/fabric/words.h"

/* A row. With the checksum that an owned_var adds it fills one cache line. */
struct hil_progress {
    uint64_t stage; /* enum hil_stage */
    uint64_t steps; /* run */
    uint64_t missed;
    uint64_t start_ns;       /* node 0's: when step 0 is, by the clock all share */
    uint64_t input_age_ns;   /* of the newest input at the newest step */
    uint64_t late_max_ns;    /* since the start */
    uint64_t late_recent_ns; /* the greatest in the last one to two seconds */
};

_Static_assert(sizeof(struct hil_progress) == 56, "crosses the network");

/* Between memory that another process reads or writes: no number is torn, though some may be
 * of an older row than others. */
static inline void hil_progress_copy(struct hil_progress *to, const struct hil_progress *from)
{
    loco_copy(to, from, sizeof *to);
}

/* A node tells its row so often, each node at a time of its own. */
enum { HIL_TELL_NS = 25000000, HIL_RECENT_NS = 1000000000 };

/*
 * What a node keeps for its row. The recent maximum is over this second and the one before,
 * so that a program that looks once a second sees every maximum.
 */
struct hil_live {
    uint64_t tell_ns; /* when the row is to be told next */
    uint64_t look_ns; /* node 0's: when the next of the others' rows is to be copied */
    uint64_t late_now_ns, late_before_ns;
    uint64_t second_ends_ns;
    unsigned looked_at; /* the newest of whom it was */
};

/* A step began `late_ns` after its time. */
static inline void hil_live_late(struct hil_live *live, uint64_t late_ns)
{
    if (late_ns > live->late_now_ns)
        live->late_now_ns = late_ns;
}

#endif
