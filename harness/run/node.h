/*
 * A node in a run: it opens itself on a fabric, meets the others, and gives an executor its loop.
 *
 *      open --> connect --> start (prepare, connect, meet, met) --> the executor runs the loop
 *           --> end (ended) --> close
 *
 * A node that comes back to a run that is under way finds its start (find_run) instead.
 *
 * An executor may serve several nodes with one thread, so nothing here waits for what another node
 * of that thread has still to do: connect comes after all are open, and meetings are asked for,
 * then asked about.
 */
#ifndef HIL_NODE_H
#define HIL_NODE_H

#include "../record/event_rows.h"
#include "links.h"
#include "loop.h"
#include "machine_clock.h"
#include "step.h"

/* What the nodes of a run share. */
struct hil_run {
    const struct hil_scenario *scenario;
    struct hil_state *state;
    struct hil_recorder *recorder;
    unsigned executor; /* the one that this process is */
    const char *place; /* the folder where nodes meet on shm; NULL: none */
    struct loco_secret secret;
    /* The first node's machine's, where that is known: before the run, and after it. */
    struct hil_machine_clock first_clock, first_clock_after;
    loco_log_fn *log;
    void *log_arg;
};

/* What each step touches comes first: two lines. */
struct hil_node {
    struct hil_step *step;
    struct hil_stream *stream; /* NULL: nothing is recorded */
    struct hil_node *next;     /* whose step this thread mostly does after this one's; NULL: none */
    unsigned id;
    bool first;     /* it comes after no other's */
    bool rehearsed; /* nothing that happens now is of the run */
    struct hil_live live;
    struct hil_loop loop;
    const struct hil_run *run;
    const struct hil_node_config *config;
    unsigned peers_ended; /* rows of the progress, from the first on, that are known to be final */
    struct loco_manager *mgr;
    struct hil_node_state *state;
    struct hil_stream *events;  /* its executor's ring; NULL: none are recorded */
    uint64_t start_ns;          /* on the node's clock */
    uint64_t init_ns, ready_ns; /* likewise: when it was opened, and had met its peers */
    struct hil_links links;
};

/* Opens node `id` on the fabric. Returns 0 or a negative errno. */
int hil_node_open(struct hil_node **node, const struct hil_run *run, struct loco_fabric *fabric,
                  unsigned id);

/* Whether all the peers are here: 1, 0, or an error as of loco_manager_ready. */
int hil_node_connected(struct hil_node *node);

/* Whether the run is under way already (or over): 1 yes, with node->start_ns set and the loop's
 * first step the next that is due; 0 no; or a negative errno. */
int hil_node_find_run(struct hil_node *node, uint64_t timeout_ns);

/* Before the first meeting, and before it is connected to the others for that. */
int hil_node_prepare_meetings(struct hil_node *node);

/* Comes to a meeting of all the nodes; then asks whether all have come: 1 yes, 0 not yet, or
 * -ECONNRESET. */
int hil_node_meet(struct hil_node *node);
int hil_node_met(struct hil_node *node);

/* Whether it is known here what node 0's clock shows: the clock is one for all, or was compared. */
bool hil_node_knows_clock(const struct hil_node *node);

/* Before the second meeting node 0 says when the loops start; after it everybody knows who knows
 * its clock, in node->start_ns. */
void hil_node_announce_start(struct hil_node *node, uint64_t start_ns);
int hil_node_learn_start(struct hil_node *node);

/* Whether all its peers have ended, or are lost. */
bool hil_node_peers_ended(struct hil_node *node);

/* Tells the tracer what the numbers of the node and its links mean. */
void hil_node_introduce(const struct hil_node *node);

/* Before the first meeting: it has met its peers. */
void hil_node_get_ready(struct hil_node *node);

/* Tells the peers, and who watches, that this node has come to a stage. */
void hil_node_report(struct hil_node *node, enum hil_stage stage);

void hil_node_close(struct hil_node *node);

/* In virtual time: the node that crashed is opened anew in its place, and connects on its own.
 * Returns 0 or a negative errno. */
int hil_node_reopen(struct hil_node *node);

/* --- for its step ---------------------------------------------------------------------------- */

/* Tells how this node is, now that its step n is done, and when it is to be told next. */
void hil_node_tell(struct hil_node *node, uint64_t n, uint64_t now_ns);

/* Step n has made it safe, or not any more: its peers are told at the end of the step. */
void hil_node_set_safe(struct hil_node *node, uint64_t n, uint64_t now_ns, bool safe);

/* Node 0's: copies the row of one node that runs elsewhere, for who watches here; all of them as
 * often as they tell. */
void hil_node_look_around(struct hil_node *node, uint64_t now_ns);

/* Ends step n, which was due at `due_ns` and began at `now_ns`. */
static inline void hil_node_end_step(struct hil_node *node, uint64_t n, uint64_t due_ns,
                                     uint64_t now_ns)
{
    hil_live_late(&node->live, now_ns - due_ns);
    if (now_ns >= node->live.tell_ns)
        hil_node_tell(node, n, now_ns);
    if (now_ns >= node->live.look_ns)
        hil_node_look_around(node, now_ns);
}

#endif
