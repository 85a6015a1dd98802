#include "group.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rehearsal.h"
#include "waiting.h"

uint64_t hil_group_meeting_ns(const struct hil_scenario *s)
{
    const struct hil_network *net = &s->network;
    uint64_t round_trip = net->latency_up_ns + net->latency_down_ns + 2 * net->jitter_ns;

    return s->mode == HIL_VIRTUAL ? (4 + (uint64_t)s->converter_count) * round_trip : 0;
}

/* From the first meeting to the first step: for the second one, and what is left to do. */
static uint64_t lead_ns(const struct hil_scenario *s)
{
    if (s->mode == HIL_REALTIME)
        return hil_rehearsal_lead_ns(1 + s->converter_count);
    return 2000000 + hil_group_meeting_ns(s);
}

/* How long a node that has ended waits for the others. Who dies meanwhile is noticed; this is for
 * who hangs. */
static const uint64_t END_NS = 60000000000;

/* How long a group waits for the news that may explain a loss. */
static const uint64_t REASON_NS = 1000000000;

static struct hil_executor_state *executor_of(const struct hil_group *g)
{
    return &g->run->state->executors[g->run->executor];
}

static int open_role(struct hil_group *g, struct loco_fabric *fabric, unsigned node)
{
    int rc = hil_role_open(&g->roles[g->count], g->run, fabric, node);

    hil_beat(&executor_of(g)->heartbeat);
    if (!rc)
        g->count++;
    return rc;
}

static int open_roles(struct hil_group *g, struct loco_fabric *fabric,
                      const struct hil_executor_config *nodes)
{
    int rc = 0;

    for (unsigned i = 0; !rc && i < nodes->count; i++)
        rc = open_role(g, fabric, nodes->nodes[i]);
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

/* A peer that came and left is not waited for, unless it may come back. */
static bool has_lost_a_peer(const struct hil_role *r)
{
    return atomic_load_explicit(&r->channel.lost, memory_order_relaxed) &&
           r->run->scenario->on_lost == HIL_END;
}

/* A peer has another scenario. */
static bool is_refused(const struct hil_role *r)
{
    return r->channel.disagreement[0] || r->mgr->foreign_count;
}

/* Whether the wait makes no sense for one of the group's roles, though it is not its turn: one of
 * them is looked at each time. */
static int look_at_another(const struct hil_group *g, unsigned *looked_at)
{
    const struct hil_role *r = g->roles[++*looked_at % g->count];

    return is_refused(r) ? -EPROTO : has_lost_a_peer(r) ? -ECONNRESET : 0;
}

/* Until this is so (1; or an error) of all the group's roles. */
static int wait_until_all(struct hil_group *g, int (*is_so)(struct hil_role *role),
                          uint64_t timeout_ns)
{
    struct loco_wait wait = loco_wait_for(g->roles[0]->mgr, timeout_ns);
    struct hil_waiting waiting;
    unsigned looked_at = 0;

    hil_waiting_begin(&waiting, g);
    for (unsigned i = 0; i < g->count;) {
        int so = is_so(g->roles[i]);
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
        if (loco_relax(g->roles[i]->mgr, &wait)) /* what is waited for comes to this node */
            return give_up_waiting(g);
        hil_waiting_look(&waiting);
    }
    return 0;
}

/* All the group's roles come to a meeting, and wait until everybody has. */
static int meet(struct hil_group *g, uint64_t timeout_ns)
{
    for (unsigned i = 0; i < g->count; i++) {
        int rc = hil_role_meet(g->roles[i]);
        if (rc)
            return rc;
    }
    return wait_until_all(g, hil_role_met, timeout_ns);
}

static uint64_t soon(const struct hil_group *g)
{
    return loco_clock(g->roles[0]->mgr) + lead_ns(g->run->scenario);
}

/*
 * The barrier is a star, so one meeting tells the controller that all have come, and each
 * converter only that the controller has. Who leaves a second one knows that all were at the
 * first, and so that the start which the controller announced in between is everybody's.
 *
 * Without a clock in common there is nothing to announce. Each then starts when it has left the
 * second meeting; that all leave at once, but for the time that news takes.
 */
static int agree_on_start(struct hil_group *g, const struct loco_fabric *fabric,
                          uint64_t timeout_ns)
{
    bool shared_clock = fabric->capabilities & LOCO_SHARED_CLOCK;
    int rc = meet(g, timeout_ns);

    for (unsigned i = 0; !rc && shared_clock && i < g->count; i++)
        hil_role_announce_start(g->roles[i], soon(g));
    if (!rc)
        rc = meet(g, timeout_ns);
    uint64_t own_start = soon(g);
    for (unsigned i = 0; !rc && i < g->count; i++) {
        g->roles[i]->start_ns = own_start;
        if (shared_clock)
            rc = hil_role_learn_start(g->roles[i]);
    }
    return rc;
}

/* Whether the group has come back to a run that is under way: 1, 0 or a negative errno. It is so
 * for all its nodes, or for none: they died together. */
static int find_run(struct hil_group *g, uint64_t timeout_ns)
{
    int found = 0;

    for (unsigned i = 0; i < g->count; i++) {
        found = hil_role_find_run(g->roles[i], timeout_ns);
        if (found != 1)
            break;
    }
    return found;
}

/*
 * Of two reasons the better one. Who left before the run may have refused another node of this
 * group, for its scenario, and what it said then is heard a little later: but before that node's
 * own loss.
 */
static int better_reason(const struct hil_group *g, int rc)
{
    if (rc != -ECONNRESET || !g->count)
        return rc;
    struct loco_wait wait = loco_wait_for(g->roles[0]->mgr, REASON_NS);
    for (;;) {
        unsigned lost = 0;
        for (unsigned i = 0; i < g->count; i++) {
            if (is_refused(g->roles[i]))
                return -EPROTO;
            lost += atomic_load_explicit(&g->roles[i]->channel.lost, memory_order_relaxed);
        }
        if (lost == g->count || loco_relax(g->roles[0]->mgr, &wait))
            return rc;
    }
}

static int start_together(struct hil_group *g, const struct loco_fabric *fabric,
                          uint64_t timeout_ns)
{
    int rc = 0;

    for (unsigned i = 0; !rc && i < g->count; i++)
        rc = hil_role_prepare_meetings(g->roles[i]);
    if (!rc)
        rc = wait_until_all(g, hil_role_connected, timeout_ns);
    return rc ? rc : agree_on_start(g, fabric, timeout_ns);
}

int hil_group_start(struct hil_group *g, const struct hil_run *run, struct loco_fabric *fabric,
                    const struct hil_executor_config *nodes, uint64_t timeout_ns)
{
    *g = (struct hil_group){.run = run};
    g->roles = calloc(nodes->count, sizeof(struct hil_role *));
    if (!g->roles)
        return -ENOMEM;
    int rc = open_roles(g, fabric, nodes);
    if (!rc && run->scenario->verbs.completions == HIL_POLLED)
        rc = hil_poller_open(&g->poller, run->scenario, g->roles, g->count);
    if (!rc)
        rc = wait_until_all(g, hil_role_connected, timeout_ns);
    if (!rc)
        rc = find_run(g, timeout_ns);
    if (rc == 0)
        rc = start_together(g, fabric, timeout_ns);
    if (rc < 0)
        return better_reason(g, rc);
    for (unsigned i = 0; i < g->count; i++)
        hil_role_report(g->roles[i], HIL_RUNNING);
    g->began = true;
    return 0;
}

/* A run of so many converters is refused before scenarios are compared. */
static void explain_foreigner(const struct hil_role *r, struct hil_executor_state *state)
{
    const uint32_t count = r->mgr->foreign_count;

    if (count)
        snprintf(state->message, sizeof state->message,
                 "a node has another scenario: converters.count is %u here and %u there",
                 r->run->scenario->converter_count, count - 1);
}

static void explain_disagreement(const struct hil_group *g)
{
    struct hil_executor_state *state = executor_of(g);

    for (unsigned i = 0; i < g->count && !state->message[0]; i++)
        memcpy(state->message, g->roles[i]->channel.disagreement, HIL_DISAGREEMENT_BYTES);
    for (unsigned i = 0; i < g->count && !state->message[0]; i++)
        explain_foreigner(g->roles[i], state);
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

/* Whoever is lost by now has ended as well. */
static void wait_for_peers(struct hil_group *g)
{
    uint64_t timeout_ns = END_NS + hil_group_meeting_ns(g->run->scenario);
    struct loco_wait wait = loco_wait_for(g->roles[0]->mgr, timeout_ns);

    for (unsigned i = 0; i < g->count;) {
        hil_beat(&executor_of(g)->heartbeat);
        if (hil_role_peers_ended(g->roles[i]))
            i++;
        else if (atomic_load(&g->run->state->stop) || loco_relax(g->roles[i]->mgr, &wait))
            return;
    }
}

void hil_group_end(struct hil_group *g, enum hil_stage stage)
{
    for (unsigned i = 0; i < g->count; i++)
        hil_role_report(g->roles[i], stage);
    if (stage == HIL_DONE)
        wait_for_peers(g);
}

void hil_group_close(struct hil_group *g)
{
    for (unsigned i = 0; i < g->count; i++)
        loco_fence_global(g->roles[i]->mgr); /* the last wait that needs the polling thread */
    hil_poller_close(&g->poller);
    while (g->count) {
        hil_role_close(g->roles[--g->count]);
        hil_beat(&executor_of(g)->heartbeat);
    }
    free(g->roles);
    *g = (struct hil_group){0};
}
