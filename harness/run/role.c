#include "role.h"

#include <errno.h>
#include <stdlib.h>

#include "node_name.h"
#include "tracer.h"

/* A node's network memory: some owned_vars for each link, a line or two apiece. */
static size_t arena_size(const struct hil_scenario *s, unsigned node)
{
    size_t links = node == 0 ? s->converter_count : 1;

    return 8192 + links * 512;
}

/* Each node has its own share of the time, so that nodes on one core do not tell at once. */
static uint64_t first_tell(const struct hil_run *run, unsigned node)
{
    return HIL_TELL_NS * (uint64_t)node / run->state->node_count;
}

int hil_role_open(struct hil_role **role, const struct hil_run *run, struct loco_fabric *fabric,
                  unsigned node)
{
    const struct hil_scenario *s = run->scenario;
    const struct loco_manager_config config = {
        .node = node,
        .node_count = 1 + s->converter_count,
        .arena_size = arena_size(s, node),
        .block_size = 64,
        .block_count = 8,
        .completions = s->verbs.completions == HIL_POLLED ? LOCO_POLLED : LOCO_INLINE,
        .secret = run->secret,
        .log = run->log,
        .log_arg = run->log_arg,
    };
    struct hil_role *r = calloc(1, sizeof *r);

    if (!r)
        return -ENOMEM;
    r->run = run;
    r->node = node;
    r->state = &run->state->nodes[node];
    r->state->here = true;
    r->live = (struct hil_live){.tell_ns = first_tell(run, node), .second_ends_ns = HIL_RECENT_NS};
    int rc = loco_manager_open(&r->mgr, fabric, &config);
    if (!rc)
        rc = hil_power_controller_init(&r->channel, r->mgr, &s->listing);
    if (!rc)
        rc = node == 0 ? hil_controller_init(r) : hil_converter_init(r);
    if (rc) {
        hil_role_close(r);
        return rc;
    }
    r->loop.state = r->state;
    r->loop.worst = &run->state->executors[run->executor].worst;
    r->loop.node = node;
    r->loop.end_ns = s->duration_ns;
    hil_stream_prepare(r->stream);
    *role = r;
    return 0;
}

/* What a model says, with the name of its node. */
static void role_log(void *arg, const char *line)
{
    const struct hil_role *r = arg;
    char name[HIL_NODE_NAME_BYTES];

    hil_node_name(r->node, name, sizeof name);
    loco_log(r->mgr, LOCO_ERROR, "%s: %s", name, line);
}

struct hil_config hil_role_config(struct hil_role *r, const double *parameters,
                                  const double *states, const struct hil_timing *timing)
{
    return (struct hil_config){
        .size = sizeof(struct hil_config),
        .width = 1,
        .period_s = (double)timing->period_ns * 1e-9,
        .parameters = parameters,
        .states = states,
        .log = role_log,
        .log_arg = r,
    };
}

int hil_role_connected(struct hil_role *r)
{
    int rc = loco_manager_ready(r->mgr, 0);

    return rc == 0 ? 1 : rc == -ETIMEDOUT ? 0 : rc;
}

/*
 * Without a clock in common: each duty that arrives was pushed in a step of the controller, whose
 * number it has, and so tells when step 0 was. Of some the earliest, for a step may be late.
 */
static int infer_start(struct hil_role *r, uint64_t timeout_ns)
{
    enum { ARRIVALS = 16 };
    const struct hil_timing *controller = &r->run->scenario->controller.timing;
    struct loco_wait wait = loco_wait_for(r->mgr, timeout_ns);
    struct hil_command newest = {0};

    r->start_ns = UINT64_MAX;
    for (unsigned arrived = 0; arrived < ARRIVALS;) {
        uint64_t before = newest.step;
        int rc = loco_owned_var_load(&r->channel.duties[0], &newest);
        uint64_t after_start = controller->phase_ns + (newest.step - 1) * controller->period_ns;
        uint64_t now = loco_clock(r->mgr);
        if (!rc && newest.step > before && now - after_start < r->start_ns)
            r->start_ns = now - after_start;
        arrived += !rc && newest.step > before;
        if (loco_peer_lost(r->mgr, 0))
            return -ECONNRESET;
        if (loco_relax(r->mgr, &wait))
            return -ETIMEDOUT;
    }
    return 0;
}

int hil_role_find_run(struct hil_role *r, uint64_t timeout_ns)
{
    const struct hil_scenario *s = r->run->scenario;

    if (r->node == 0 || s->mode == HIL_VIRTUAL || s->on_lost != HIL_RESTART)
        return 0;

    /* The controller pushed its row before this node was here. */
    struct hil_progress controller;
    int rc = loco_owned_var_read(loco_sst_row(&r->channel.progress, 0), &controller);
    if (rc || controller.stage == HIL_STARTING)
        return rc;
    r->start_ns = controller.start_ns;
    if (!(r->mgr->fabric->capabilities & LOCO_SHARED_CLOCK))
        rc = infer_start(r, timeout_ns);
    if (rc)
        return rc;
    uint64_t now = loco_clock(r->mgr);
    r->loop.first = hil_loop_first_from(&r->loop, now > r->start_ns ? now - r->start_ns : 0);
    return 1;
}

int hil_role_prepare_meetings(struct hil_role *r)
{
    return hil_power_controller_add_barrier(&r->channel);
}

int hil_role_meet(struct hil_role *r)
{
    return loco_barrier_arrive(&r->channel.barrier);
}

int hil_role_met(struct hil_role *r)
{
    return loco_barrier_passed(&r->channel.barrier);
}

static uint64_t greater(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Puts the row together; for who watches here, and ready to be pushed. */
static void store(struct hil_role *r, uint64_t steps)
{
    uint64_t recent = greater(r->live.late_now_ns, r->live.late_before_ns);
    const struct hil_progress progress = {
        .stage = atomic_load_explicit(&r->state->stage, memory_order_relaxed),
        .steps = steps,
        .missed = hil_missed(r->state),
        .start_ns = r->start_ns,
        .input_age_ns = r->loop.input_age_ns,
        .late_max_ns = greater(recent, r->state->late.max), /* which lacks the newest step */
        .late_recent_ns = recent,
    };

    hil_progress_copy(&r->state->progress, &progress);
    loco_sst_store_mine(&r->channel.progress, &progress);
}

void hil_role_report(struct hil_role *r, enum hil_stage stage)
{
    atomic_store_explicit(&r->state->stage, stage, memory_order_relaxed);
    HIL_TRACE(state, r->node, stage);
    store(r, r->state->steps);
    loco_sst_push_broadcast(&r->channel.progress);
}

/* The controller's row is read where it is; its converters have no use for it, and to push
 * it to a thousand of them would make the step late. */
void hil_role_tell(struct hil_role *r, uint64_t n, uint64_t now_ns)
{
    struct hil_live *live = &r->live;
    bool counted = r->run->scenario->mode == HIL_REALTIME; /* virtual time counts at its end */

    store(r, counted ? r->state->steps : n + 1);
    if (r->node != 0)
        loco_sst_push_broadcast(&r->channel.progress);
    live->tell_ns = now_ns + HIL_TELL_NS;
    if (now_ns < live->second_ends_ns)
        return;
    live->late_before_ns = live->late_now_ns;
    live->late_now_ns = 0;
    live->second_ends_ns = now_ns + HIL_RECENT_NS;
}

static bool role_peer_ended(const struct loco_owned_var *row)
{
    struct hil_progress peer;

    if (!row || loco_channel_check(&row->channel))
        return true;
    return loco_owned_var_load(row, &peer) == 0 && peer.stage >= HIL_DONE;
}

bool hil_role_peers_ended(struct hil_role *r)
{
    const struct loco_sst *progress = &r->channel.progress;

    while (r->peers_ended < progress->channel.member_count &&
           role_peer_ended(progress->rows[1 + r->peers_ended]))
        r->peers_ended++;
    return r->peers_ended == progress->channel.member_count;
}

void hil_role_announce_start(struct hil_role *r, uint64_t start_ns)
{
    if (r->node != 0)
        return;
    r->start_ns = start_ns;
    hil_role_report(r, HIL_STARTING);
}

int hil_role_learn_start(struct hil_role *r)
{
    struct hil_progress controller;
    int rc = loco_owned_var_load(loco_sst_row(&r->channel.progress, 0), &controller);

    if (!rc)
        r->start_ns = controller.start_ns;
    return rc;
}

void hil_role_close(struct hil_role *r)
{
    if (!r)
        return;
    if (r->self)
        r->free_self(r->self);
    hil_power_controller_fini(&r->channel);
    loco_manager_close(r->mgr);
    free(r);
}
