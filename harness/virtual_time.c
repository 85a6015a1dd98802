#include "virtual_time.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "group.h"
#include "privileges.h"

enum { CONVERTERS_CLASS = LOCO_SIM_FIRST, CONTROLLER_CLASS };

static const uint64_t SETUP_TIMEOUT_NS = 60000000000; /* virtual ones */

struct virtual_node {
    const struct hil_run *run;
    struct loco_fabric *sim;
    unsigned node;
    int result;
};

static struct loco_sim_link link_of(void *arg, uint32_t from, uint32_t to)
{
    const struct hil_network *net = arg;
    uint64_t latency = to == 0 ? net->latency_up_ns : net->latency_down_ns;

    (void)from;
    return (struct loco_sim_link){.latency_ns = latency, .jitter_ns = net->jitter_ns};
}

/* Nothing takes time in virtual time: a step begins and ends when it is due. */
static int run_loop(struct virtual_node *v, const struct hil_role *role)
{
    const struct hil_loop *loop = &role->loop;
    unsigned class = v->node == 0 ? CONTROLLER_CLASS : CONVERTERS_CLASS;
    uint64_t due, next, end = v->run->scenario->duration_ns;
    int rc = 0;

    for (uint64_t n = 0; !rc && (due = hil_loop_due(loop, n)) < end; n = next) {
        loco_sim_sleep(v->sim, role->start_ns + due, class);
        if (atomic_load_explicit(&v->run->state->stop, memory_order_relaxed))
            break;
        rc = loop->step(loop->arg, n, due);
        if (!rc)
            rc = hil_loop_account(loop, n, due, due, &next);
    }
    return rc;
}

static void node_body(void *arg)
{
    struct virtual_node *v = arg;
    const struct hil_executor_config self = {.controller = v->node == 0,
                                             .first = v->node ? v->node - 1 : 1,
                                             .last = v->node ? v->node - 1 : 0};
    struct hil_group group;

    v->result = hil_group_start(&group, v->run, v->sim, &self, SETUP_TIMEOUT_NS);
    if (!v->result)
        v->result = run_loop(v, group.roles[0]);
    if (v->result)
        atomic_store(&v->run->state->stop, true);
    hil_group_end(&group, v->result ? HIL_FAILED : HIL_DONE);
    hil_group_close(&group);
}

static int spawn_all(const struct hil_run *run, struct loco_fabric *sim, struct virtual_node *nodes)
{
    for (unsigned i = 0; i < run->state->node_count; i++) {
        nodes[i] = (struct virtual_node){.run = run, .sim = sim, .node = i};
        int rc = loco_sim_spawn(sim, node_body, &nodes[i]);
        if (rc)
            return rc;
    }
    return loco_sim_run(sim);
}

static int first_failure(const struct hil_run *run, const struct virtual_node *nodes)
{
    struct hil_executor_state *executor = &run->state->executors[0];

    for (unsigned i = 0; i < run->state->node_count; i++) {
        if (!nodes[i].result || nodes[i].result == -EINTR)
            continue;
        snprintf(executor->message, sizeof executor->message, "node %u: %s", i,
                 strerror(-nodes[i].result));
        return nodes[i].result;
    }
    return 0;
}

int hil_virtual_run(const struct hil_run *run)
{
    const struct hil_network *net = &run->scenario->network;
    const struct loco_sim_config config = {.seed = net->seed, .link = link_of, .arg = (void *)net};
    struct loco_fabric *sim = loco_sim_open(&config);
    struct virtual_node *nodes = calloc(run->state->node_count, sizeof *nodes);
    int rc = -ENOMEM;

    hil_flush_denormals();
    if (sim && nodes)
        rc = spawn_all(run, sim, nodes);
    if (!rc)
        rc = first_failure(run, nodes);
    atomic_store(&run->state->executors[0].stage, rc ? HIL_FAILED : HIL_DONE);
    loco_sim_close(sim);
    free(nodes);
    return rc;
}
