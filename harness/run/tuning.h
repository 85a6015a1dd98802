/*
 * Data that all parts of tuning share: the launcher's requests, the messages to nodes, and their
 * answers.
 *
 *      launcher --(memory)--> the coordinator at node 0 --(owned_var)--> each node that it concerns
 *               <--(memory)--                    <--(owned_var)--
 *
 * A request has one to HIL_CHANGES_MAX changes, which take force at one time of the run. Node 0
 * takes it up in one of its steps (tuning_desk.h), and sets that time late enough for all nodes to
 * have heard of it. Each node that it concerns applies it in its first step that is due then or
 * later (tuner.h), and answers with the number of that step. So two runs in which node 0 takes up
 * the same requests in the same steps are the same run; in virtual time they are equal bit for bit.
 */
#ifndef HIL_TUNING_H
#define HIL_TUNING_H

#include <stdatomic.h>
#include <stdint.h>

#include "../scenario/system.h"

enum {
    HIL_CHANGES_MAX = 16,
    HIL_TUNABLE_NAME = HIL_SIGNAL_NAME_BYTES,
    HIL_TUNABLE_UNIT = 16,
    HIL_TUNABLE_DOC = 128,
};

/* --- messages between nodes ------------------------------------------------------------------- */

/* One change: the tunable takes `value` at the time in the message. A source goes there from `from`
 * on a straight line that takes ramp_ns. */
struct hil_change_told {
    uint64_t tunable; /* among the system's tunables */
    double value, from;
    uint64_t ramp_ns;
};

struct hil_tuning_message {
    uint64_t number; /* of the request, from 1 */
    uint64_t at_ns;  /* after the start of the run */
    uint64_t count;
    struct hil_change_told changes[HIL_CHANGES_MAX];
};

/* A node's answer. */
struct hil_tuning_answer {
    uint64_t number;  /* of the request */
    uint64_t step;    /* at which the changes took force */
    uint64_t time_ns; /* when that step was due */
    uint64_t refused; /* one bit for each change that the model refused */
};

_Static_assert(sizeof(struct hil_tuning_message) == 24 + 32 * HIL_CHANGES_MAX &&
                   sizeof(struct hil_tuning_answer) == 32,
               "cross the network");

/* --- in the run's memory ---------------------------------------------------------------------- */

/* A change that the launcher asks for, or that is replayed from a record. */
struct hil_change_wanted {
    unsigned tunable;
    double value;
    uint64_t ramp_ns; /* only of a source */
};

struct hil_request {
    unsigned count;
    struct hil_change_wanted changes[HIL_CHANGES_MAX];
};

/* The outcome of a change at one node. If the node is lost, `step` and `time_ns` have no
 * meaning. */
enum hil_tuned_how { HIL_TUNED, HIL_TUNING_REFUSED, HIL_TUNING_LOST };

struct hil_tuned_here {
    uint32_t tunable, node;
    double value;
    uint64_t step, time_ns;
    uint32_t how;     /* an enum hil_tuned_how */
    uint32_t request; /* the low bits of its number */
};

/* State of a tunable, for programs that watch and for a node that starts again. Each node that it
 * concerns writes what it has applied; for a source all nodes write the same. */
struct hil_tunable_state {
    char name[HIL_TUNABLE_NAME], unit[HIL_TUNABLE_UNIT], doc[HIL_TUNABLE_DOC];
    double min, max;
    uint32_t is_source;
    _Atomic uint32_t
        is_set;           /* the fields below have its setting; until then the scenario's holds */
    _Atomic double value; /* NAN: the source still follows its scenario */
    double from;
    uint64_t at_ns, ramp_ns;
};

struct hil_tuning {
    /* Written by the launcher: the number of requests so far, and the newest requests, by number
     * modulo 2. */
    _Atomic uint64_t asked;
    struct hil_request requests[2];
    /* Written by node 0: the newest request that all nodes have answered, or that was given up. */
    _Atomic uint64_t answered;
    /* Written by node 0: the number of outcomes in the log so far. */
    _Atomic uint64_t logged;
    unsigned count, log_size;
    struct hil_tunable_state tunables[]; /* then the log */
};

/* The outcome of each change at each node, a ring. Half of it has room for those of any request. */
static inline struct hil_tuned_here *hil_tuning_log(struct hil_tuning *tuning)
{
    return (struct hil_tuned_here *)(void *)(tuning->tunables + tuning->count);
}

/* Bytes that the tuning of the system takes; 0: nothing can be tuned. */
size_t hil_tuning_size(const struct hil_system *system);
void hil_tuning_init(struct hil_tuning *tuning, const struct hil_system *system);

/* --- replayed requests ------------------------------------------------------------------------ */

/* A request that node 0 takes up in its step `step`. */
struct hil_replayed_request {
    uint64_t step;
    struct hil_request request;
};

#endif
