/*
 * What a node publishes about itself while it runs: a row in the links' SST, and a copy in the
 * run's state for programs that watch.
 */
#ifndef HIL_LIVE_H
#define HIL_LIVE_H

#include <stdint.h>

#include "../../channels/loco/fabric/atomic_copy.h"

/* A row of the SST. */
struct hil_progress {
    uint32_t stage;       /* enum hil_stage */
    uint16_t stop_status; /* exit status of the signal that stops the run; 0: none does */
    uint16_t over;        /* node 0's: 1: all nodes have ended, so none misses another */
    uint64_t stop_ns;     /* when that stop began, by the run's time */
    uint64_t steps;       /* steps run so far */
    uint64_t missed;
    uint64_t start_ns;       /* the time of step 0 on its own clock; only that of node 0 is used */
    uint64_t input_age_ns;   /* of the newest input at the newest step */
    uint64_t late_max_ns;    /* since the start */
    uint64_t late_recent_ns; /* the greatest in the last one to two seconds */
};

_Static_assert(sizeof(struct hil_progress) == 64, "crosses the network");

/* Copies to or from memory that another process uses. No number is torn, but some may be from an
 * older row than others. */
static inline void hil_progress_copy(struct hil_progress *to, const struct hil_progress *from)
{
    loco_copy(to, from, sizeof *to);
}

/* How often a node publishes its row, each node at its own offset. */
enum { HIL_TELL_NS = 25000000, HIL_RECENT_NS = 1000000000 };

/*
 * What a node keeps to fill its row. The recent maximum covers this second and the previous one, so
 * that a program that looks once a second sees every maximum.
 */
struct hil_live {
    uint64_t tell_ns; /* when to publish the row next */
    uint64_t look_ns; /* node 0's: when to copy another node's row next */
    uint64_t late_now_ns, late_before_ns;
    uint64_t second_ends_ns;
    unsigned looked_at; /* the node whose row was copied last */
};

/* Notes that a step began `late_ns` after its time. */
static inline void hil_live_late(struct hil_live *live, uint64_t late_ns)
{
    if (late_ns > live->late_now_ns)
        live->late_now_ns = late_ns;
}

#endif
