/*
 * A node in a run: it opens itself on a fabric, meets the other nodes, and gives its loop to an
 * executor.
 *
 *      open --> connect --> start (prepare, connect, meet, met) --> the executor runs the loop
 *           --> end (ended) --> close
 *
 * A node that comes back to a run that is under way skips the start and finds the run (find_run)
 * instead.
 *
 * An executor may serve several nodes with one thread, so no function here waits for something that
 * another node of the same thread still has to do. Nodes connect after all of them are open, and a
 * meeting has two calls: one to come to it, one to ask whether all have come.
 */
#ifndef HIL_NODE_H
#define HIL_NODE_H

#include "../record/event_rows.h"
#include "links.h"
#include "loop.h"
#include "machine_clock.h"
#include "step.h"

/* A level of the run's log that the library does not have: something only worth knowing. */
enum { HIL_NOTE = LOCO_ERROR + 1 };

struct hil_between; /* virtual_time.h */

/* What the nodes of a run share. */
struct hil_run {
    const struct hil_scenario *scenario;
    struct hil_state *state;
    struct hil_recorder *recorder;
    unsigned executor; /* number of the executor that runs in this process */
    const char *place; /* the folder where nodes meet on shm; NULL: none */
    struct loco_secret secret;
    /* Clock of the first node's machine, if known: before the run, and after it. */
    struct hil_machine_clock first_clock, first_clock_after;
    loco_log_fn *log;
    void *log_arg;
    struct hil_between *between; /* who looks into a run in virtual time; NULL: nobody */
};

/* Fields that each step touches come first, in the first two cache lines. */
struct hil_node {
    struct hil_step *step;
    struct hil_stream *stream; /* NULL: nothing is recorded */
    struct hil_node *next; /* the node that this thread usually steps after this one; NULL: none */
    unsigned id;
    bool first;     /* this thread steps it before its other nodes */
    bool rehearsed; /* true during the rehearsal: nothing that happens now belongs to the run */
    struct hil_live live;
    struct hil_loop loop;
    const struct hil_run *run;
    const struct hil_node_config *config;
    unsigned peers_ended; /* the first so many rows of progress are known to be final */
    bool over, told_stop; /* its row says that all have ended; that the run stops */
    struct loco_manager *mgr;
    struct hil_node_state *state;
    struct hil_stream *events;  /* ring of its executor; NULL: events are not recorded */
    uint64_t start_ns;          /* on the node's clock */
    uint64_t init_ns, ready_ns; /* on it: when the node was opened, and had met its peers */
    struct hil_links links;
};

/* Allocates node `id`, with room for its step behind it. Returns 0 or -ENOMEM. */
int hil_node_new(struct hil_node **node, const struct hil_run *run, unsigned id);

/* The room for the node's step: hil_step_size() bytes. */
void *hil_node_room(struct hil_node *node);

/* Opens the node on the fabric. hil_step_begin then creates its components. Returns 0 or a negative
 * errno. In both cases the caller closes the node. */
int hil_node_open(struct hil_node *node, struct loco_fabric *fabric);

/* Whether all peers are here: 1 yes, 0 not yet, or an error as of loco_manager_ready. */
int hil_node_connected(struct hil_node *node);

/* Finds out whether the run is already under way or over. Returns 1 if it is, with node->start_ns
 * set and the loop's first step set to the next one that is due; 0 if not; or a negative errno. */
int hil_node_find_run(struct hil_node *node, uint64_t timeout_ns);

/* Call before the first meeting, and before the node connects to the others for it. */
int hil_node_prepare_meetings(struct hil_node *node);

/* hil_node_meet comes to a meeting of all the nodes. hil_node_met then asks whether all have come:
 * 1 yes, 0 not yet, or -ECONNRESET. */
int hil_node_meet(struct hil_node *node);
int hil_node_met(struct hil_node *node);

/* Whether this node can convert times of node 0's clock to its own: both share one clock, or the
 * clocks have been compared. */
bool hil_node_knows_clock(const struct hil_node *node);

/* Before the second meeting node 0 announces when the loops start. After the meeting, each node
 * that knows node 0's clock learns that time; it is then in node->start_ns. */
void hil_node_announce_start(struct hil_node *node, uint64_t start_ns);
int hil_node_learn_start(struct hil_node *node);

/* Whether the peer, or all peers of the node that it knows of, have ended or are lost. */
bool hil_node_peer_ended(const struct hil_node *node, uint32_t peer);
bool hil_node_peers_ended(struct hil_node *node);

/* For the first node: tells the others that all have ended. Until then they wait for it. */
void hil_node_tell_over(struct hil_node *node);

/* If a signal stops the run at another launcher, stops it here too. */
void hil_node_hear(struct hil_node *node);

/* Whether peers are lost without which the run cannot go on: none; only ones that left in order; or
 * one that died. A launcher explains its own processes. So if one of them is lost while the run
 * goes on, it died, and when the run stops none counts. */
enum hil_losses { HIL_NONE_LOST, HIL_LEFT, HIL_DIED };
enum hil_losses hil_node_losses(const struct hil_node *node);

/* Tells the tracer what the numbers of the node and its links mean. */
void hil_node_introduce(const struct hil_node *node);

/* Says that the node has met its peers. Call before the first meeting. */
void hil_node_get_ready(struct hil_node *node);

/* Tells the peers, and programs that watch the run, that this node has reached a stage. */
void hil_node_report(struct hil_node *node, enum hil_stage stage);

/* Also closes a node that was never opened, or that failed to open; accepts NULL. */
void hil_node_close(struct hil_node *node);

/* In virtual time: opens a crashed node anew in its old place. It then connects on its own. Returns
 * 0 or a negative errno. */
int hil_node_reopen(struct hil_node *node);

/* --- called by the node's step ---------------------------------------------------------------- */

/* Publishes the node's progress after its step n, and sets the time of the next report. */
void hil_node_tell(struct hil_node *node, uint64_t n, uint64_t now_ns);

/* Step n has put the node into its safe state, or has brought it out of it. Its peers learn of it
 * at the end of the step. */
void hil_node_set_safe(struct hil_node *node, uint64_t n, uint64_t now_ns, bool safe);

/* For node 0: copies the row of one node that runs in another process, for programs that watch this
 * one. Each node's row is copied as often as the node updates it. */
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
