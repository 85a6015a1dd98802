#include "role.h"

#include <errno.h>
#include <stdlib.h>

/* A node's network memory: some owned_vars for each link, a line or two apiece. */
static size_t arena_size(const struct hil_scenario *s, unsigned node)
{
    size_t links = node == 0 ? s->converter_count : 1;

    return 8192 + links * 512;
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
    r->loop.state = r->state;
    int rc = loco_manager_open(&r->mgr, fabric, &config);
    if (!rc)
        rc = hil_power_controller_init(&r->channel, r->mgr);
    if (!rc)
        rc = node == 0 ? hil_controller_init(r) : hil_converter_init(r);
    if (rc) {
        hil_role_close(r);
        return rc;
    }
    hil_stream_prepare(r->stream);
    *role = r;
    return 0;
}

int hil_role_connect(struct hil_role *r, uint64_t timeout_ns)
{
    return loco_manager_ready(r->mgr, timeout_ns);
}

int hil_role_meet(struct hil_role *r)
{
    return loco_barrier_arrive(&r->channel.barrier);
}

int hil_role_met(const struct hil_role *r)
{
    return loco_barrier_passed(&r->channel.barrier);
}

static void tell(struct hil_role *r, const struct hil_progress *progress)
{
    loco_sst_store_mine(&r->channel.progress, progress);
    loco_sst_push_broadcast(&r->channel.progress);
}

void hil_role_report(struct hil_role *r, enum hil_stage stage)
{
    const struct hil_progress progress = {
        .step = r->state->steps,
        .missed = r->state->missed,
        .start_ns = r->start_ns,
        .state = stage,
    };

    atomic_store_explicit(&r->state->stage, stage, memory_order_relaxed);
    tell(r, &progress);
}

int hil_role_announce_start(struct hil_role *r, uint64_t start_ns)
{
    if (r->node != 0)
        return 0;
    r->start_ns = start_ns;
    hil_role_report(r, HIL_STARTING);
    return 0;
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
