#include "group.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rehearsal.h"
#include "shards.h"
#include "waiting.h"

uint64_t hil_group_meeting_ns(const struct hil_scenario *s)
{
    const struct hil_system *system = s->system;
    uint64_t longest = 0;

    for (unsigned i = 0; i < system->link_count; i++)
        if (system->links[i].latency_ns > longest)
            longest = system->links[i].latency_ns;
    const uint64_t round_trip = 2 * (longest + s->network.jitter_ns);
    return s->mode == HIL_VIRTUAL ? (3 + (uint64_t)system->node_count) * round_trip : 0;
}

/* Extra time in a run across machines: the second meeting's news takes longer to arrive. */
static const uint64_t AWAY_NS = 200000000;

/* Time from the first meeting to the first step: for the second meeting and the remaining
 * preparations. */
static uint64_t lead_ns(const struct hil_scenario *s)
{
    if (s->mode == HIL_REALTIME)
        return hil_rehearsal_lead_ns(s->system->node_count) + (s->rendezvous.host[0] ? AWAY_NS : 0);
    return 2000000 + hil_group_meeting_ns(s);
}

/* How long a node that has ended waits for the others, and how long if the run was stopped. The
 * death of a peer is noticed earlier; this limit is for a peer that hangs. */
static const uint64_t END_NS = 60000000000, STOPPED_NS = 5000000000;

/* How long a group waits for a message that may explain a loss. */
static const uint64_t REASON_NS = 1000000000;

static struct hil_executor_state *executor_of(const struct hil_group *g)
{
    return &g->run->state->executors[g->run->executor];
}

static int open_node(struct hil_group *g, struct loco_fabric *fabric)
{
    int rc = hil_node_open(g->nodes[g->count], fabric);

    hil_beat(&executor_of(g)->heartbeat);
    if (!rc)
        g->count++;
    return rc;
}

static int begin_node(const struct hil_group *g, struct hil_node *node)
{
    int rc = hil_step_begin(node->step);

    hil_beat(&executor_of(g)->heartbeat);
    return rc;
}

/* Sets the order of steps that are due at the same time. Not used in virtual time, where steps of
 * other nodes run in between on the same processor. */
static void order_nodes(struct hil_group *g)
{
    g->nodes[0]->first = true;
    for (unsigned i = 1; i < g->count; i++)
        g->nodes[i - 1]->next = g->nodes[i];
}

/* What the steps of all nodes touch is allocated in rows: first the nodes with their steps, and at
 * last their components. A thousand nodes then need few pages, and a step's lines are near those of
 * the step before it, so that the processor fetches them ahead. */
static int open_nodes(struct hil_group *g, struct loco_fabric *fabric,
                      const struct hil_executor_config *nodes)
{
    int rc = 0;

    for (unsigned i = 0; !rc && i < nodes->count; i++)
        rc = hil_node_new(&g->nodes[i], g->run, nodes->nodes[i]);
    while (!rc && g->count < nodes->count)
        rc = open_node(g, fabric);
    if (!rc)
        hil_stream_prepare(g->nodes[0]->events); /* the ring of all of them */
    for (unsigned i = 0; !rc && i < g->count; i++)
        rc = begin_node(g, g->nodes[i]);
    for (unsigned i = g->count; i < nodes->count; i++)
        hil_node_close(g->nodes[i]);
    if (!rc && g->run->scenario->mode == HIL_REALTIME)
        order_nodes(g);
    return rc;
}

static int give_up_waiting(const struct hil_group *g)
{
    struct hil_executor_state *state = executor_of(g);
    char whom[HIL_WAITING_BYTES];

    hil_waiting_whom(g, whom);
    snprintf(state->message, sizeof state->message, "the other nodes did not come: %s", whom);
    return -ETIMEDOUT;
}

/* Whether a peer came and left for good. A lost peer that may come back is waited for. */
static bool has_lost_a_peer(const struct hil_node *r)
{
    return atomic_load_explicit(&r->links.lost, memory_order_relaxed) &&
           r->run->scenario->on_lost == HIL_END;
}

/* Whether a peer has another scenario. */
static bool is_refused(const struct hil_node *r)
{
    return atomic_load_explicit(&r->links.disagrees, memory_order_relaxed) || r->mgr->foreign_count;
}

/* Checks one of the group's nodes, another at each call: returns an error if waiting has become
 * pointless for it, even while the wait is for a different node. */
static int look_at_another(const struct hil_group *g, unsigned *looked_at)
{
    const struct hil_node *r = g->nodes[++*looked_at % g->count];

    return is_refused(r) ? -EPROTO : has_lost_a_peer(r) ? -ECONNRESET : 0;
}

/* Waits until is_so returns 1 for each of the group's nodes, or until it returns an error for one
 * of them. */
static int wait_until_all(struct hil_group *g, int (*is_so)(struct hil_node *node),
                          uint64_t timeout_ns)
{
    struct loco_wait wait = loco_wait_for(g->nodes[0]->mgr, timeout_ns);
    struct hil_waiting waiting;
    unsigned looked_at = 0;

    hil_waiting_begin(&waiting, g);
    for (unsigned i = 0; i < g->count;) {
        int so = is_so(g->nodes[i]);
        hil_beat(&executor_of(g)->heartbeat);
        if (!so)
            so = look_at_another(g, &looked_at);
        if (so < 0)
            return so;
        if (so) {
            i++;
            continue;
        }
        if (atomic_load(&g->run->state->stop))
            return -EINTR;
        if (loco_relax(g->nodes[i]->mgr, &wait)) /* the awaited data arrives at this node */
            return give_up_waiting(g);
        hil_waiting_look(&waiting);
    }
    return 0;
}

/* Brings all the group's nodes to a meeting, and waits until all nodes of the run have come. */
static int meet(struct hil_group *g, uint64_t timeout_ns)
{
    for (unsigned i = 0; i < g->count; i++) {
        int rc = hil_node_meet(g->nodes[i]);
        if (rc)
            return rc;
    }
    return wait_until_all(g, hil_node_met, timeout_ns);
}

static uint64_t soon(const struct hil_group *g)
{
    return loco_clock(g->nodes[0]->mgr) + lead_ns(g->run->scenario);
}

/*
 * The barrier is a star: after one meeting node 0 knows that all nodes have come, but each other
 * node only knows that node 0 has. A node that leaves the second meeting knows that all nodes came
 * to the first one, so the start that node 0 announced in between holds for all.
 *
 * A node that does not know node 0's clock starts when it leaves the second meeting. All nodes
 * leave it at the same time, apart from the network's delay.
 */
static int agree_on_start(struct hil_group *g, uint64_t timeout_ns)
{
    const bool known = hil_node_knows_clock(g->nodes[0]);
    int rc = meet(g, timeout_ns);

    for (unsigned i = 0; !rc && known && i < g->count; i++)
        hil_node_announce_start(g->nodes[i], soon(g));
    if (!rc)
        rc = meet(g, timeout_ns);
    uint64_t own_start = soon(g);
    for (unsigned i = 0; !rc && i < g->count; i++) {
        g->nodes[i]->start_ns = own_start;
        if (known)
            rc = hil_node_learn_start(g->nodes[i]);
    }
    return rc;
}

/* Whether the group has come back to a run that is under way: 1, 0 or a negative errno. The answer
 * is the same for all its nodes, because they died together. */
static int find_run(struct hil_group *g, uint64_t timeout_ns)
{
    int found = 0;

    for (unsigned i = 0; i < g->count; i++) {
        found = hil_node_find_run(g->nodes[i], timeout_ns);
        if (found != 1)
            break;
    }
    return found;
}

/*
 * Finds the reason for the loss of a peer. A peer that left before the run may have refused another
 * node of this group because of its scenario. That message arrives a little later than the loss,
 * but before the refused node sees the loss itself. Or all executors were told to stop, and the
 * peer's was faster.
 */
static int better_reason(const struct hil_group *g, int rc)
{
    if (rc != -ECONNRESET || !g->count)
        return rc;
    struct loco_wait wait = loco_wait_for(g->nodes[0]->mgr, REASON_NS);
    for (;;) {
        unsigned lost = 0;
        for (unsigned i = 0; i < g->count; i++) {
            if (is_refused(g->nodes[i]))
                return -EPROTO;
            lost += atomic_load_explicit(&g->nodes[i]->links.lost, memory_order_relaxed);
        }
        if (lost == g->count || loco_relax(g->nodes[0]->mgr, &wait))
            break;
    }
    return atomic_load(&g->run->state->stop) ? -EINTR : rc;
}

static int start_together(struct hil_group *g, uint64_t timeout_ns)
{
    int rc = 0;

    for (unsigned i = 0; !rc && i < g->count; i++)
        rc = hil_node_prepare_meetings(g->nodes[i]);
    if (!rc)
        rc = wait_until_all(g, hil_node_connected, timeout_ns);
    for (unsigned i = 0; !rc && i < g->count; i++)
        hil_node_get_ready(g->nodes[i]);
    return rc ? rc : agree_on_start(g, timeout_ns);
}

/* Starts the threads that step the node's shards. */
static int open_crew(struct hil_group *g, const struct hil_executor_config *nodes)
{
    struct hil_executor_state *state = executor_of(g);
    int rc = hil_crew_open(&g->crew, g->run->scenario, nodes, g->nodes[0]->mgr, state);

    if (rc)
        snprintf(state->message, sizeof state->message, "no thread for each shard: %s",
                 strerror(-rc));
    else
        hil_shards_set_crew(g->nodes[0]->step->shards, g->crew);
    return rc;
}

void hil_group_dismiss_crew(struct hil_group *g)
{
    if (g->crew)
        hil_shards_set_crew(g->nodes[0]->step->shards, NULL);
    hil_crew_close(g->crew);
    g->crew = NULL;
}

int hil_group_start(struct hil_group *g, const struct hil_run *run, struct loco_fabric *fabric,
                    const struct hil_executor_config *nodes, uint64_t timeout_ns)
{
    *g = (struct hil_group){.run = run};
    g->nodes = calloc(nodes->count, sizeof(struct hil_node *));
    if (!g->nodes)
        return -ENOMEM;
    int rc = open_nodes(g, fabric, nodes);
    if (!rc && run->scenario->verbs.completions == HIL_POLLED)
        rc = hil_poller_open(&g->poller, run->scenario, g->nodes, g->count);
    if (!rc)
        rc = wait_until_all(g, hil_node_connected, timeout_ns);
    if (!rc && nodes->further)
        rc = open_crew(g, nodes);
    if (!rc)
        rc = find_run(g, timeout_ns);
    if (rc == 0)
        rc = start_together(g, timeout_ns);
    if (rc < 0)
        return better_reason(g, rc);
    for (unsigned i = 0; i < g->count; i++) {
        hil_node_introduce(g->nodes[i]);
        hil_node_report(g->nodes[i], HIL_RUNNING);
    }
    g->began = true;
    return 0;
}

/* Explains a different number of nodes; that is found before scenarios are compared. */
static void explain_foreigner(const struct hil_node *r, struct hil_executor_state *state)
{
    const uint32_t count = r->mgr->foreign_count;

    if (count)
        snprintf(state->message, sizeof state->message,
                 "a node has another scenario: there are %u nodes here and %u there",
                 r->run->scenario->system->node_count, count);
}

static void explain_disagreement(const struct hil_group *g)
{
    struct hil_executor_state *state = executor_of(g);

    for (unsigned i = 0; i < g->count && !state->message[0]; i++)
        if (atomic_load_explicit(&g->nodes[i]->links.disagrees, memory_order_acquire))
            memcpy(state->message, g->nodes[i]->links.disagreement, HIL_DISAGREEMENT_BYTES);
    for (unsigned i = 0; i < g->count && !state->message[0]; i++)
        explain_foreigner(g->nodes[i], state);
}

static void explain_loss(const struct hil_group *g)
{
    struct hil_executor_state *state = executor_of(g);
    char whom[HIL_WAITING_BYTES];

    hil_waiting_lost(g, whom);
    if (whom[0])
        snprintf(state->message, sizeof state->message, "lost %s, which left or died before the %s",
                 whom, g->began ? "end" : "run began");
}

void hil_group_explain(const struct hil_group *g, int rc)
{
    if (rc == -EPROTO)
        explain_disagreement(g);
    else if (rc == -ECONNRESET)
        explain_loss(g);
}

/* A signal may have told a peer to leave, and be about to tell this process, or be known at another
 * node. */
static bool stops_by_signal(const struct hil_group *g)
{
    struct loco_wait wait = loco_wait_for(g->nodes[0]->mgr, REASON_NS);
    const struct hil_state *state = g->run->state;

    while (!atomic_load(&state->stop_status) && !loco_relax(g->nodes[0]->mgr, &wait)) {
        hil_beat(&executor_of(g)->heartbeat);
        for (unsigned i = 0; i < g->count; i++)
            hil_node_hear(g->nodes[i]);
    }
    return atomic_load(&state->stop_status);
}

int hil_group_losses(const struct hil_group *g)
{
    bool left = false;

    if (!g->began || !atomic_load(&g->run->state->stop))
        return 0;
    for (unsigned i = 0; i < g->count; i++) {
        const enum hil_losses losses = hil_node_losses(g->nodes[i]);
        if (losses == HIL_DIED)
            return -ECONNRESET;
        left |= losses == HIL_LEFT;
    }
    return left && !stops_by_signal(g) ? -ECONNRESET : 0;
}

/* Whether the others end, too. They do not if only this part of the run was told to stop: because
 * it failed or leaves, or because the others go on without it. */
static bool others_end(const struct hil_group *g)
{
    const struct hil_state *state = g->run->state;

    return !atomic_load(&state->stop) ||
           (atomic_load(&state->stop_status) &&
            (g->run->scenario->on_lost == HIL_END || state->nodes[0].here));
}

static void name_unended(const struct hil_group *g)
{
    char whom[HIL_WAITING_BYTES], text[HIL_WAITING_BYTES + 60];

    hil_waiting_unended(g, whom);
    snprintf(text, sizeof text, "%s did not end, and is no longer waited for", whom);
    if (g->run->log)
        g->run->log(g->run->log_arg, LOCO_WARNING, text);
}

/* Waits until the node's peers have ended, or are lost. */
static int wait_for_peers(const struct hil_group *g, struct hil_node *node, struct loco_wait *wait)
{
    const struct hil_state *state = g->run->state;
    bool stopped = false;

    while (!hil_node_peers_ended(node)) {
        hil_beat(&executor_of(g)->heartbeat);
        if (!others_end(g))
            return 0;
        if (!stopped && atomic_load(&state->stop)) {
            *wait = loco_wait_for(node->mgr, STOPPED_NS);
            stopped = true;
        }
        if (loco_relax(node->mgr, wait))
            return -ETIMEDOUT;
    }
    return 0;
}

/* The first node comes first, because the others wait for it. */
static void end_together(const struct hil_group *g)
{
    struct loco_wait wait =
        loco_wait_for(g->nodes[0]->mgr, END_NS + hil_group_meeting_ns(g->run->scenario));
    int rc = 0;

    for (unsigned i = 0; i < g->count; i++)
        if (g->nodes[i]->id == 0) {
            rc = wait_for_peers(g, g->nodes[i], &wait);
            hil_node_tell_over(g->nodes[i]);
        }
    for (unsigned i = 0; !rc && i < g->count; i++)
        rc = wait_for_peers(g, g->nodes[i], &wait);
    if (rc)
        name_unended(g);
}

/* Devices are released first, so that they are not left driven while the group waits for others. */
void hil_group_end(struct hil_group *g, enum hil_stage stage)
{
    for (unsigned i = 0; i < g->count; i++)
        hil_step_leave_hardware(g->nodes[i]->step);
    for (unsigned i = 0; i < g->count; i++)
        hil_node_report(g->nodes[i], stage);
    if (stage == HIL_DONE && g->began)
        end_together(g);
}

void hil_group_close(struct hil_group *g)
{
    hil_group_dismiss_crew(g);
    for (unsigned i = 0; i < g->count; i++)
        loco_fence_global(g->nodes[i]->mgr); /* the last wait that needs the polling thread */
    hil_poller_close(&g->poller);
    while (g->count) {
        hil_node_close(g->nodes[--g->count]);
        hil_beat(&executor_of(g)->heartbeat);
    }
    free(g->nodes);
    *g = (struct hil_group){0};
}
