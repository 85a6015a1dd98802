#include "node.h"

#include <errno.h>
#include <stdlib.h>

#include "../record/streams.h"
#include "faults.h"
#include "lines.h"
#include "note.h"
#include "step_parts.h"
#include "step_stop.h"
#include "tracer.h"

_Static_assert(offsetof(struct hil_node, loop.timing.phase_ns) < 2 * HIL_LINE, "two lines");

/* Each node reports at its own offset in the interval, so that nodes on one core do not report
 * together. */
static uint64_t first_tell(const struct hil_run *run, unsigned node)
{
    return HIL_TELL_NS * (uint64_t)node / run->state->node_count;
}

/* Node 0 copies the rows of other nodes, if there are any. */
static uint64_t first_look(const struct hil_run *run, unsigned node)
{
    return node == 0 && run->state->node_count > 1 ? 0 : UINT64_MAX;
}

static int node_open_on(struct hil_node *node, struct loco_fabric *fabric)
{
    const struct hil_run *run = node->run;
    const struct hil_scenario *s = run->scenario;
    const struct loco_manager_config config = {
        .node = node->id,
        .node_count = s->system->node_count,
        .arena_size = hil_links_arena_size(s->system, node->id),
        .block_size = 64,
        .block_count = 8,
        .completions = s->verbs.completions == HIL_POLLED ? LOCO_POLLED : LOCO_INLINE,
        .secret = run->secret,
        .log = run->log,
        .log_arg = run->log_arg,
    };

    int rc = loco_manager_open(&node->mgr, fabric, &config);
    if (!rc)
        rc = hil_links_init(&node->links, node->mgr, s);
    if (!rc)
        rc = hil_step_open(&node->step, node);
    if (!rc)
        node->loop.tap = node->step->tap;
    return rc;
}

void *hil_node_room(struct hil_node *node)
{
    return (char *)node + hil_whole_lines(sizeof *node);
}

int hil_node_new(struct hil_node **made, const struct hil_run *run, unsigned id)
{
    struct hil_node like = {.run = run, .id = id, .config = &run->scenario->system->nodes[id]};
    struct hil_node *node = hil_lines_new(hil_whole_lines(sizeof *node) + hil_step_size(&like));

    if (!node)
        return -ENOMEM;
    *node = like;
    *made = node;
    return 0;
}

int hil_node_open(struct hil_node *node, struct loco_fabric *fabric)
{
    const struct hil_run *run = node->run;
    const struct hil_scenario *s = run->scenario;
    const unsigned id = node->id;

    node->state = &run->state->nodes[id];
    node->state->here = true;
    node->live = (struct hil_live){.tell_ns = first_tell(run, id),
                                   .look_ns = first_look(run, id),
                                   .second_ends_ns = HIL_RECENT_NS};
    node->loop =
        (struct hil_loop){.timing = node->config->timing,
                          .step = s->stop_ramp_ns             ? hil_step_run_to_stop
                                  : node->config->fault_count ? hil_faults_run
                                                              : hil_step_run,
                          .arg = node,
                          .state = node->state - node->state->place,
                          .worst = &run->state->executors[run->executor].worst,
                          .node = id,
                          .ramp_ns = s->stop_ramp_ns,
                          .trace_every = s->trace.every,
                          .trace_newer = s->trace.events.round_trip ? hil_step_trace_newer : NULL};
    node->loop.end_ns = hil_loop_end(&node->loop, s->duration_ns, 0);
    const int stream = hil_streams_number(s->system, id);
    if (stream >= 0 && run->recorder)
        node->stream = hil_recorder_stream(run->recorder, (unsigned)stream);
    if (run->recorder)
        node->events = hil_recorder_events(run->recorder, run->executor);
    int rc = node_open_on(node, fabric);
    if (rc)
        return rc;
    node->init_ns = loco_clock(node->mgr);
    hil_stream_prepare(node->stream);
    return 0;
}

int hil_node_connected(struct hil_node *node)
{
    int rc = loco_manager_ready(node->mgr, 0);

    return rc == 0 ? 1 : rc == -ETIMEDOUT ? 0 : rc;
}

static bool node_shares_clock(const struct hil_node *node)
{
    return node->mgr->fabric->capabilities & LOCO_SHARED_CLOCK;
}

bool hil_node_knows_clock(const struct hil_node *node)
{
    return node_shares_clock(node) || node->run->first_clock.known;
}

/* Converts a time of node 0's clock to this node's. */
static uint64_t node_on_own_clock(const struct hil_node *node, uint64_t first_ns)
{
    return node_shares_clock(node) ? first_ns
                                   : first_ns - (uint64_t)node->run->first_clock.ahead_ns;
}

/*
 * Infers the start without a common clock. Each arriving message was pushed in a step of its
 * sender, and has that step's number, so it tells when step 0 was. The earliest of several such
 * times counts, because a step may run late. The messages must arrive while this node looks, and
 * may come from any sender. A node without incoming links starts the run now.
 */
struct infer {
    struct hil_node *node;
    struct hil_message *newest;
    uint64_t *steps; /* for each incoming link, the step of its newest message */
    unsigned arrived;
};

static const struct hil_link *infer_link(const struct infer *f, unsigned i)
{
    return &f->node->run->scenario->system->links[f->node->config->incoming[i]];
}

static void infer_look(struct infer *f, unsigned i)
{
    const struct hil_node_config *nodes = f->node->run->scenario->system->nodes;
    const bool torn = loco_owned_var_load(&f->node->links.in[i], f->newest);
    const uint64_t now = loco_clock(f->node->mgr);

    if (torn || f->newest->step <= f->steps[i])
        return;
    const uint64_t start = now - hil_due(&nodes[infer_link(f, i)->from].timing, f->newest->step);
    f->node->start_ns = start < f->node->start_ns ? start : f->node->start_ns;
    f->steps[i] = f->newest->step;
    f->arrived++;
}

/* Looks at the links of all senders that are not lost, and returns how many these are. */
static unsigned infer_look_at_all(struct infer *f)
{
    unsigned there = 0;

    for (unsigned i = 0; i < f->node->config->incoming_count; i++)
        if (!loco_peer_lost(f->node->mgr, infer_link(f, i)->from)) {
            infer_look(f, i);
            there++;
        }
    return there;
}

static int infer_open(struct infer *f, struct hil_node *node)
{
    const unsigned count = node->config->incoming_count;
    size_t size = 0;

    *f = (struct infer){.node = node, .steps = calloc(count, sizeof *f->steps)};
    for (unsigned i = 0; i < count; i++) {
        const size_t of = hil_message_size(infer_link(f, i));
        size = of > size ? of : size;
    }
    f->newest = calloc(1, size);
    return f->steps && f->newest ? 0 : -ENOMEM;
}

static int infer_start(struct hil_node *node, uint64_t timeout_ns)
{
    enum { ARRIVALS = 16 };
    struct loco_wait wait = loco_wait_for(node->mgr, timeout_ns);
    struct infer f;

    if (node->config->incoming_count == 0) {
        node->start_ns = loco_clock(node->mgr);
        return 0;
    }
    int rc = infer_open(&f, node);
    if (!rc)
        infer_look_at_all(&f); /* messages that are already there may be old */
    f.arrived = 0;
    node->start_ns = UINT64_MAX;
    while (!rc && f.arrived < ARRIVALS)
        if (infer_look_at_all(&f) == 0)
            rc = -ECONNRESET;
        else if (loco_relax(node->mgr, &wait))
            rc = -ETIMEDOUT;
    free(f.steps);
    free(f.newest);
    return rc;
}

int hil_node_find_run(struct hil_node *node, uint64_t timeout_ns)
{
    const struct hil_scenario *s = node->run->scenario;

    if (node->id == 0 || s->mode == HIL_VIRTUAL || s->on_lost != HIL_RESTART)
        return 0;

    /* Node 0 pushed its row before this node came. */
    struct hil_progress first;
    int rc = loco_owned_var_read(loco_sst_row(&node->links.progress, 0), &first);
    if (rc || first.stage < HIL_RUNNING)
        return rc;
    if (hil_node_knows_clock(node))
        node->start_ns = node_on_own_clock(node, first.start_ns);
    else
        rc = infer_start(node, timeout_ns);
    if (rc)
        return rc;
    uint64_t now = loco_clock(node->mgr);
    node->loop.first =
        hil_loop_first_from(&node->loop, now > node->start_ns ? now - node->start_ns : 0);
    return 1;
}

int hil_node_prepare_meetings(struct hil_node *node)
{
    return hil_links_add_barrier(&node->links);
}

int hil_node_meet(struct hil_node *node)
{
    return loco_barrier_arrive(&node->links.barrier);
}

int hil_node_met(struct hil_node *node)
{
    return loco_barrier_passed(&node->links.barrier);
}

static uint64_t greater(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Fills the node's row, shows it to programs that watch here, and stores it in the SST, to be
 * pushed later. */
static void store(struct hil_node *node, uint64_t steps)
{
    hil_live_late(&node->live, node->loop.late_ns);
    node->loop.late_ns = 0;
    uint64_t recent = greater(node->live.late_now_ns, node->live.late_before_ns);
    const uint64_t stop_ns = atomic_load(&node->run->state->stop);
    const struct hil_progress progress = {
        .stage = atomic_load_explicit(&node->state->stage, memory_order_relaxed),
        .stop_status = (uint16_t)atomic_load(&node->run->state->stop_status),
        .over = node->over,
        .stop_ns = node->start_ns && stop_ns > node->start_ns ? stop_ns - node->start_ns : 0,
        .steps = steps,
        .missed = hil_missed(node->loop.state),
        .start_ns = node->start_ns,
        .input_age_ns = node->loop.input_age_ns,
        .late_max_ns = greater(recent, node->loop.state->late.max), /* lacks the newest step */
        .late_recent_ns = recent,
    };

    hil_progress_copy(&node->state->progress, &progress);
    loco_sst_store_mine(&node->links.progress, &progress);
}

void hil_node_introduce(const struct hil_node *node)
{
    const struct hil_system *system = node->run->scenario->system;

    hil_trace_node(system, node->id);
    for (unsigned i = 0; i < node->config->link_count; i++)
        hil_trace_link(system, node->config->first_link + i, node->links.out[i].channel.name);
}

void hil_node_get_ready(struct hil_node *node)
{
    node->ready_ns = loco_clock(node->mgr);
    hil_node_report(node, HIL_READY);
}

/* Notes a stage as an event of the run. The stages before the start are noted when the node begins
 * to run, since only then it is known how long before the start they were. */
static void node_note_stage(struct hil_node *node, enum hil_stage stage)
{
    const uint64_t first = node->loop.first, now = loco_clock(node->mgr) - node->start_ns;

    if (stage == HIL_RUNNING) {
        hil_note_stage(node, first, node->init_ns - node->start_ns, HIL_STARTING);
        if (node->ready_ns)
            hil_note_stage(node, first, node->ready_ns - node->start_ns, HIL_READY);
        hil_note_stage(node, first, first ? now : 0, HIL_RUNNING);
    } else if (stage >= HIL_DONE && node->start_ns) {
        hil_note_stage(node, node->loop.state->steps, now, stage);
    }
}

void hil_node_set_safe(struct hil_node *node, uint64_t n, uint64_t now_ns, bool safe)
{
    const enum hil_stage stage = safe ? HIL_SAFE : HIL_RUNNING;

    if (node->rehearsed)
        return;
    atomic_store_explicit(&node->state->stage, stage, memory_order_relaxed);
    HIL_TRACE(state, node->id, stage);
    hil_note_stage(node, n, now_ns, stage);
    node->live.tell_ns = now_ns;
}

void hil_node_report(struct hil_node *node, enum hil_stage stage)
{
    node_note_stage(node, stage);
    atomic_store_explicit(&node->state->stage, stage, memory_order_relaxed);
    HIL_TRACE(state, node->id, stage);
    store(node, node->loop.state->steps);
    loco_sst_push_broadcast(&node->links.progress);
}

/* --- the clean stop ---- */

/* A stop at the first node ends the run everywhere. One at another node does not, if the run goes
 * on without it. */
static void node_hear(struct hil_node *node, uint32_t other)
{
    struct hil_state *state = node->run->state;
    struct hil_progress row;

    if (state->nodes[other].here || (other && node->run->scenario->on_lost == HIL_RESTART) ||
        loco_owned_var_load(loco_sst_row(&node->links.progress, other), &row) || !row.stop_status)
        return;
    hil_state_stop(state, node->start_ns + row.stop_ns, row.stop_status);
}

void hil_node_hear(struct hil_node *node)
{
    const unsigned count = node->run->state->node_count;

    for (uint32_t other = 1; node->id == 0 && other < count; other++)
        node_hear(node, other);
    if (node->id != 0)
        node_hear(node, 0);
}

static bool node_goes_on(const struct hil_node *node, uint32_t without)
{
    return node->run->scenario->on_lost == HIL_RESTART && without != 0;
}

enum hil_losses hil_node_losses(const struct hil_node *node)
{
    const struct loco_channel *c = &node->links.channel;
    struct hil_state *state = node->run->state;
    const bool ends = atomic_load(&state->stop);
    enum hil_losses losses = HIL_NONE_LOST;

    for (unsigned i = 0; i < c->member_count; i++) {
        const uint32_t peer = c->members[i].node;
        if (!loco_member_lost(&c->members[i]) || node_goes_on(node, peer) ||
            (ends && state->nodes[peer].here))
            continue;
        if (state->nodes[peer].here || !loco_peer_left(node->mgr, peer))
            return HIL_DIED;
        losses = HIL_LEFT;
    }
    return losses;
}

/* While the loops run, only programs that watch at node 0 read its row. Pushing it to a thousand
 * nodes would make the step late, so it is only stored, until it tells of a stop. */
void hil_node_tell(struct hil_node *node, uint64_t n, uint64_t now_ns)
{
    struct hil_live *live = &node->live;
    bool counted = node->run->scenario->mode == HIL_REALTIME; /* virtual time counts at its end */

    store(node, counted ? node->loop.state->steps : n + 1);
    const bool stops = atomic_load(&node->run->state->stop_status);
    if (node->id != 0 || stops != node->told_stop)
        loco_sst_push_broadcast(&node->links.progress);
    node->told_stop = stops;
    if (node->id != 0 && !stops)
        node_hear(node, 0);
    live->tell_ns = now_ns + HIL_TELL_NS;
    if (now_ns < live->second_ends_ns)
        return;
    live->late_before_ns = live->late_now_ns;
    live->late_now_ns = 0;
    live->second_ends_ns = now_ns + HIL_RECENT_NS;
}

/* The first node has ended when all others have, too. So none leaves while another needs it. Nodes
 * know only of the first one, and it knows of all. */
bool hil_node_peer_ended(const struct hil_node *node, uint32_t peer)
{
    const struct loco_owned_var *row =
        node->id == 0 || peer == 0 ? loco_sst_row(&node->links.progress, peer) : NULL;
    struct hil_progress seen;

    if (!row || loco_channel_check(&row->channel))
        return true;
    return loco_owned_var_load(row, &seen) == 0 &&
           (peer == 0 ? seen.over || seen.stage == HIL_FAILED : seen.stage >= HIL_DONE);
}

bool hil_node_peers_ended(struct hil_node *node)
{
    const struct loco_channel *c = &node->links.progress.channel;

    while (node->peers_ended < c->member_count &&
           hil_node_peer_ended(node, c->members[node->peers_ended].node))
        node->peers_ended++;
    return node->peers_ended == c->member_count;
}

void hil_node_tell_over(struct hil_node *node)
{
    if (node->id != 0)
        return;
    node->over = true;
    store(node, node->loop.state->steps);
    loco_sst_push_broadcast(&node->links.progress);
}

void hil_node_announce_start(struct hil_node *node, uint64_t start_ns)
{
    if (node->id != 0)
        return;
    node->start_ns = start_ns;
    hil_node_report(node, HIL_READY);
}

int hil_node_learn_start(struct hil_node *node)
{
    struct hil_progress first;
    int rc = loco_owned_var_load(loco_sst_row(&node->links.progress, 0), &first);

    if (!rc)
        node->start_ns = node_on_own_clock(node, first.start_ns);
    return rc;
}

void hil_node_look_around(struct hil_node *node, uint64_t now)
{
    const unsigned others = node->run->state->node_count - 1;
    const unsigned other = 1 + node->live.looked_at % others;
    struct hil_node_state *seen = &node->run->state->nodes[other];
    struct hil_progress row;

    node->live.look_ns = now + HIL_TELL_NS / others;
    node->live.looked_at = other;
    if (!seen->here && !loco_owned_var_load(loco_sst_row(&node->links.progress, other), &row))
        hil_progress_copy(&seen->progress, &row);
    node_hear(node, other);
}

static void node_close_parts(struct hil_node *node)
{
    hil_step_close(node->step);
    node->step = NULL;
    hil_links_fini(&node->links);
    loco_manager_close(node->mgr);
    node->mgr = NULL;
}

int hil_node_reopen(struct hil_node *node)
{
    struct loco_fabric *fabric = node->mgr->fabric;

    node_close_parts(node);
    node->ready_ns = 0; /* nobody waits for it */
    int rc = node_open_on(node, fabric);
    if (!rc)
        node->init_ns = loco_clock(node->mgr);
    return rc ? rc : hil_step_begin(node->step);
}

void hil_node_close(struct hil_node *node)
{
    if (!node)
        return;
    node_close_parts(node);
    free(node);
}
