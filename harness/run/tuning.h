/*
 * Tuning, as all parts of it share it: what the launcher asks for, what a node is told, and what it
 * answers.
 *
 *      launcher --(memory)--> the desk at node 0 --(owned_var)--> each node that it concerns
 *               <--(memory)--                    <--(owned_var)--
 *
 * A request is one to HIL_CHANGES_MAX changes, which take force at one time of the run. Node 0
 * takes it up in one of its steps (tuning_desk.h), and says when that time is: late enough for all
 * nodes to have heard of it. Each of these applies it in its first step that is due then or later
 * (tuner.h), and answers in which that was. So two runs in which node 0 takes up the same requests
 * in the same steps are the same run, in virtual time bit for bit.
 */
#ifndef HIL_TUNING_H
#define HIL_TUNING_H

#include <stdatomic.h>
#include <stdint.h>

#include "../scenario/system.h"

enum {
    HIL_CHANGES_MAX = 16,
    HIL_TUNED_LOG = 1024, /* a power of two */
    HIL_TUNABLE_NAME = HIL_SIGNAL_NAME_BYTES,
    HIL_TUNABLE_UNIT = 16,
    HIL_TUNABLE_DOC = 128,
};

/* --- what crosses the network ----------------------------------------------------------------- */

/* One change: the tunable is at `value` from the time on that the message says; a source gets there
 * from `from` on a line, in ramp_ns. */
struct hil_change_told {
    uint64_t tunable; /* of the system's */
    double value, from;
    uint64_t ramp_ns;
};

struct hil_tuning_message {
    uint64_t number; /* of the request, from 1 on */
    uint64_t at_ns;  /* after the start of the run */
    uint64_t count;
    struct hil_change_told changes[HIL_CHANGES_MAX];
};

/* A node's answer. */
struct hil_tuning_answer {
    uint64_t number;  /* of the request */
    uint64_t step;    /* at which it took force */
    uint64_t time_ns; /* when that was due */
    uint64_t refused; /* a bit for each change that the model refused */
};

_Static_assert(sizeof(struct hil_tuning_message) == 24 + 32 * HIL_CHANGES_MAX &&
                   sizeof(struct hil_tuning_answer) == 32,
               "cross the network");

/* --- in the run's memory ---------------------------------------------------------------------- */

/* What is asked for: by the launcher, or by the record of a run that is done again. */
struct hil_change_wanted {
    unsigned tunable;
    double value;
    uint64_t ramp_ns; /* of a source */
};

struct hil_request {
    unsigned count;
    struct hil_change_wanted changes[HIL_CHANGES_MAX];
};

/* A change at a node; of a node that is lost `step` and `time_ns` say nothing. */
enum hil_tuned_how { HIL_TUNED, HIL_TUNING_REFUSED, HIL_TUNING_LOST };

struct hil_tuned_here {
    uint32_t tunable, node;
    double value;
    uint64_t step, time_ns;
    uint32_t how; /* an enum hil_tuned_how */
};

/* A tunable, for who watches, and for a node that starts again. The node that it concerns writes
 * what it has applied; of a source all nodes write the same. */
struct hil_tunable_state {
    char name[HIL_TUNABLE_NAME], unit[HIL_TUNABLE_UNIT], doc[HIL_TUNABLE_DOC];
    double min, max;
    uint32_t is_source;
    _Atomic uint32_t
        is_set;           /* what follows says what it is; before that it is as in the scenario */
    _Atomic double value; /* NAN: a source that follows its scenario */
    double from;
    uint64_t at_ns, ramp_ns;
};

struct hil_tuning {
    /* The launcher's: how many requests there were, and the newest ones, by their number. */
    _Atomic uint64_t asked;
    struct hil_request requests[2];
    /* Node 0's: the newest one that all nodes have answered, or that is given up. */
    _Atomic uint64_t answered;
    /* And what became of them, change by change and node by node. */
    _Atomic uint64_t logged;
    struct hil_tuned_here log[HIL_TUNED_LOG];
    unsigned count;
    struct hil_tunable_state tunables[];
};

/* The memory that the system's tuning takes; 0: nothing can be tuned. */
size_t hil_tuning_size(const struct hil_system *system);
void hil_tuning_init(struct hil_tuning *tuning, const struct hil_system *system);

/* Where the launcher, which is process `pid`, hears of requests: an abstract socket of this name,
 * without the NUL before it. */
enum { HIL_TUNING_SOCKET_BYTES = 32 };
void hil_tuning_socket_name(int pid, char name[HIL_TUNING_SOCKET_BYTES]);

/* --- requests that are done again ------------------------------------------------------------- */

/* What node 0 takes up in its step `step`. */
struct hil_request_again {
    uint64_t step;
    struct hil_request request;
};

#endif
