/*
 * A role: what one node does in a run. There are two, the controller and the converter; a
 * role opens its node on a fabric, and gives an executor the loop to run.
 *
 *      open --> connect --> start (prepare, connect, meet, met) --> the executor runs the loop
 *           --> end (ended) --> close
 *
 * A converter that comes back to a run that is under way finds its start (find_run) instead.
 *
 * An executor may serve several roles with one thread, so nothing here waits for what
 * another role of that thread has still to do: connect comes after all are open, and
 * meetings are asked for, then asked about.
 */
#ifndef HIL_ROLE_H
#define HIL_ROLE_H

#include "../record/recorder.h"
#include "loop.h"
#include "power_controller.h"

/* What the roles of a run share. */
struct hil_run {
    const struct hil_scenario *scenario;
    struct hil_state *state;
    struct hil_recorder *recorder;
    unsigned executor; /* the one that this process is */
    const char *place; /* the folder where nodes meet on shm; NULL: none */
    struct loco_secret secret;
    loco_log_fn *log;
    void *log_arg;
};

struct hil_role {
    const struct hil_run *run;
    unsigned node; /* 0: the controller; 1 + i: converter i */
    struct loco_manager *mgr;
    struct hil_loop loop;
    struct hil_node_state *state;
    struct hil_stream *stream; /* NULL: nothing is recorded */
    unsigned decimation;
    uint64_t start_ns;    /* on the node's clock */
    unsigned peers_ended; /* rows of the progress, from the first on, that are known to be final */
    struct hil_live live;
    void *self;                          /* the controller's or the converter's own */
    int (*begin)(struct hil_role *role); /* makes it as it is before its first step, again */
    void (*free_self)(void *self);
    struct hil_power_controller channel;
};

/* Opens node `node` on the fabric. Returns 0 or a negative errno. */
int hil_role_open(struct hil_role **role, const struct hil_run *run, struct loco_fabric *fabric,
                  unsigned node);

/* Whether all the peers are here: 1, 0, or an error as of loco_manager_ready. */
int hil_role_connected(struct hil_role *role);

/* Whether the run is under way already (or over): 1 yes, with role->start_ns set and the loop's
 * first step the next that is due; 0 no; or a negative errno. */
int hil_role_find_run(struct hil_role *role, uint64_t timeout_ns);

/* Before the first meeting, and before it is connected to the others for that. */
int hil_role_prepare_meetings(struct hil_role *role);

/* Comes to a meeting of all the nodes; then asks whether all have come: 1 yes, 0 not yet, or
 * -ECONNRESET. */
int hil_role_meet(struct hil_role *role);
int hil_role_met(struct hil_role *role);

/* With a clock in common: before the second meeting the controller says when the loops start;
 * after it everybody knows, in role->start_ns. */
void hil_role_announce_start(struct hil_role *role, uint64_t start_ns);
int hil_role_learn_start(struct hil_role *role);

/* Whether all its peers have ended, or are lost. */
bool hil_role_peers_ended(struct hil_role *role);

/* Tells the peers, and who watches, that this node has come to a stage. */
void hil_role_report(struct hil_role *role, enum hil_stage stage);

void hil_role_close(struct hil_role *role);

/* --- for the two roles ---------------------------------------------------------------------- */

int hil_controller_init(struct hil_role *role);
int hil_converter_init(struct hil_role *role);

/* What a model's create() is given for a component of this role. */
struct hil_config hil_role_config(struct hil_role *role, const double *parameters,
                                  const double *states, const struct hil_timing *timing);

/* Whether step n is recorded, and where. */
static inline double *hil_role_row(const struct hil_role *role, uint64_t n)
{
    return role->stream && n % role->decimation == 0 ? hil_stream_row(role->stream) : NULL;
}

/* Tells how this node is, now that its step n is done, and when it is to be told next. */
void hil_role_tell(struct hil_role *role, uint64_t n, uint64_t now_ns);

/* Ends step n, which was due at `due_ns` and began at `now_ns`. */
static inline void hil_role_end_step(struct hil_role *role, uint64_t n, uint64_t due_ns,
                                     uint64_t now_ns)
{
    hil_live_late(&role->live, now_ns - due_ns);
    if (now_ns >= role->live.tell_ns)
        hil_role_tell(role, n, now_ns);
}

#endif
