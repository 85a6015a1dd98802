#include "batches.h"

#include <errno.h>
#include <stdlib.h>

#include "../models/builtin.h"
#include "tracer.h"

_Static_assert((int)HIL_BATCH_MAX <= (int)HIL_TRACED_NODES, "one event tells of a batch");

/* A node of a batch sends to so many others at most, because each link makes its step longer. */
enum { ROW_LINKS_MAX = 4 };

static bool batch_may_have(const struct hil_system *s, const struct hil_node_config *n)
{
    return n->component_count == 1 && n->fault_count == 0 && n->measure_count == 0 &&
           n->link_count <= ROW_LINKS_MAX &&
           hil_model_is_short(s->components[n->components[0]].model);
}

static bool batch_same_timing(const struct hil_timing *a, const struct hil_timing *b)
{
    return a->period_ns == b->period_ns && a->phase_ns == b->phase_ns && a->overrun == b->overrun &&
           a->catch_up_ns == b->catch_up_ns && a->resync_ns == b->resync_ns;
}

/* Whether the node can be in a batch with the node before it. */
static bool batch_goes_on(const struct hil_system *s, unsigned node)
{
    const struct hil_node_config *n = &s->nodes[node];

    return batch_may_have(s, n - 1) && batch_may_have(s, n) && n[-1].array == n->array &&
           batch_same_timing(&n[-1].timing, &n->timing);
}

void hil_batches_make(struct hil_state *state, const struct hil_scenario *s)
{
    if (s->mode == HIL_VIRTUAL)
        return;
    for (unsigned e = 0; e < s->executor_count; e++) {
        const unsigned *nodes = s->executors[e].nodes;
        for (unsigned i = 1; i < s->executors[e].count; i++) {
            const unsigned place = state->nodes[nodes[i - 1]].place + 1;
            if (nodes[i] == nodes[i - 1] + 1 && place < HIL_BATCH_MAX &&
                batch_goes_on(s->system, nodes[i]))
                state->nodes[nodes[i]].place = place;
        }
    }
}

/* A batch begins with a step that no loop of it has before its first one. */
static void rows_add(struct hil_pending *batch, struct hil_loop *before, struct hil_loop *loop)
{
    before->beside = loop;
    if (loop->first > batch->n) {
        batch->n = loop->first;
        batch->at = hil_loop_due(loop, loop->first);
    }
}

int hil_batches_gather(struct hil_executor *e, const struct hil_group *g)
{
    e->batches = calloc(g->count, sizeof *e->batches);
    if (!e->batches)
        return -ENOMEM;
    for (unsigned i = 0; i < g->count; i++) {
        struct hil_loop *loop = &g->nodes[i]->loop;
        if (g->nodes[i]->state->place)
            rows_add(&e->batches[e->count - 1], &g->nodes[i - 1]->loop, loop);
        else
            e->batches[e->count++] = hil_pending_first(loop);
    }
    return 0;
}
