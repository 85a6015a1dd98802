/*
 * The nodes of a small scenario, connected over shm in one thread and stepped in the order of
 * virtual time. Tests look at the numbers on which the steps work.
 */
#ifndef TEST_STEP_RIG_H
#define TEST_STEP_RIG_H

#include <stdlib.h>
#include <unistd.h>

#include "harness/run/group.h"
#include "harness/run/step_parts.h"
#include "test_scenario.h"
#include "tests/temporary.h"

enum { NODES_MAX = 4 };

static const uint64_t TIMEOUT_NS = 20000000000, US = 1000;

struct rig {
    struct hil_scenario *scenario;
    struct hil_run run;
    struct loco_fabric *fabric;
    struct hil_group group;
    char directory[TEMPORARY_SIZE];
    uint64_t n[NODES_MAX]; /* each node's next step */
    bool still[NODES_MAX]; /* the node makes no steps */
    int rc;                /* of the newest step */
};

static inline void open_rig_of(struct rig *rig, struct hil_scenario *scenario)
{
    *rig = (struct rig){.scenario = scenario};
    rig->run.scenario = rig->scenario;
    cr_assert_leq(rig->scenario->system->node_count, NODES_MAX);
    cr_assert_not_null(temporary_folder(rig->directory));
    cr_assert_eq(hil_state_open(&rig->run.state, rig->scenario), 0);
    cr_assert_eq(loco_shm_open(&rig->fabric, rig->directory), 0);
    cr_assert_eq(hil_group_start(&rig->group, &rig->run, rig->fabric,
                                 &rig->scenario->system->executors[0], TIMEOUT_NS),
                 0);
}

static inline void open_rig(struct rig *rig, const char *text)
{
    open_rig_of(rig, load(text, NULL));
}

static inline void close_rig(struct rig *rig)
{
    for (unsigned i = 0; i < rig->group.count; i++)
        hil_node_close(rig->group.nodes[i]);
    rig->group.count = 0;
    hil_group_close(&rig->group);
    loco_shm_close(rig->fabric);
    hil_state_close(rig->run.state);
    hil_scenario_free(rig->scenario);
    rmdir(rig->directory);
}

static inline uint64_t due(const struct rig *rig, unsigned node)
{
    const struct hil_timing *t = &rig->scenario->system->nodes[node].timing;

    return t->phase_ns + rig->n[node] * t->period_ns;
}

/* At the same instant, nodes with continuous components go first, then the others. */
static inline bool goes_before(const struct rig *rig, unsigned a, unsigned b)
{
    const struct hil_node_config *nodes = rig->scenario->system->nodes;

    if (due(rig, a) != due(rig, b))
        return due(rig, a) < due(rig, b);
    return nodes[a].continuous && !nodes[b].continuous;
}

/* Makes all the steps that are due up to and including that instant. */
static inline void play(struct rig *rig, uint64_t until_us)
{
    for (;;) {
        unsigned next = 0;
        for (unsigned i = 1; i < rig->group.count; i++)
            if (goes_before(rig, i, next))
                next = i;
        if (due(rig, next) > until_us * US)
            return;
        const struct hil_node *node = rig->group.nodes[next];
        if (node && !rig->still[next])
            rig->rc = node->loop.step(node->loop.arg, rig->n[next], due(rig, next));
        rig->n[next]++;
    }
}

static inline struct step_part *part_of(const struct rig *rig, const char *name, unsigned index)
{
    for (unsigned n = 0; n < rig->group.count; n++) {
        if (!rig->group.nodes[n])
            continue;
        const struct hil_step *s = rig->group.nodes[n]->step;
        for (unsigned i = 0; i < s->part_count; i++)
            if (strcmp(s->parts[i].config->is.name, name) == 0 &&
                s->parts[i].config->is.index == index)
                return &s->parts[i];
    }
    cr_assert_fail("there is no %s[%u]", name, index);
    return NULL;
}

static inline double in_of(const struct rig *rig, const char *name, unsigned at)
{
    return part_of(rig, name, 0)->in[at];
}

static inline double out_of(const struct rig *rig, const char *name)
{
    return part_of(rig, name, 0)->out[0];
}

#endif
