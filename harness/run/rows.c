#include "rows.h"

#include <errno.h>
#include <stdlib.h>

#include "../models/builtin.h"
#include "tracer.h"

_Static_assert((int)HIL_ROW_MAX <= (int)HIL_TRACED_NODES, "one event tells of a row");

/* A node of a row sends to so many others at most, because each link makes its step longer. */
enum { ROW_LINKS_MAX = 4 };

static bool row_may_have(const struct hil_system *s, const struct hil_node_config *n)
{
    return n->component_count == 1 && n->fault_count == 0 && n->measure_count == 0 &&
           n->link_count <= ROW_LINKS_MAX &&
           hil_model_is_short(s->components[n->components[0]].model);
}

static bool row_same_timing(const struct hil_timing *a, const struct hil_timing *b)
{
    return a->period_ns == b->period_ns && a->phase_ns == b->phase_ns && a->overrun == b->overrun &&
           a->catch_up_ns == b->catch_up_ns && a->resync_ns == b->resync_ns;
}

/* Whether the node can be in a row with the node before it. */
static bool row_goes_on(const struct hil_system *s, unsigned node)
{
    const struct hil_node_config *n = &s->nodes[node];

    return row_may_have(s, n - 1) && row_may_have(s, n) && n[-1].array == n->array &&
           row_same_timing(&n[-1].timing, &n->timing);
}

void hil_rows_make(struct hil_state *state, const struct hil_scenario *s)
{
    if (s->mode == HIL_VIRTUAL)
        return;
    for (unsigned e = 0; e < s->executor_count; e++) {
        const unsigned *nodes = s->executors[e].nodes;
        for (unsigned i = 1; i < s->executors[e].count; i++) {
            const unsigned place = state->nodes[nodes[i - 1]].place + 1;
            if (nodes[i] == nodes[i - 1] + 1 && place < HIL_ROW_MAX &&
                row_goes_on(s->system, nodes[i]))
                state->nodes[nodes[i]].place = place;
        }
    }
}

/* A row begins with a step that no loop of it has before its first one. */
static void rows_add(struct hil_pending *row, struct hil_loop *before, struct hil_loop *loop)
{
    before->beside = loop;
    if (loop->first > row->n) {
        row->n = loop->first;
        row->at = hil_loop_due(loop, loop->first);
    }
}

int hil_rows_gather(struct hil_executor *e, const struct hil_group *g)
{
    e->rows = calloc(g->count, sizeof *e->rows);
    if (!e->rows)
        return -ENOMEM;
    for (unsigned i = 0; i < g->count; i++) {
        struct hil_loop *loop = &g->nodes[i]->loop;
        if (g->nodes[i]->state->place)
            rows_add(&e->rows[e->count - 1], &g->nodes[i - 1]->loop, loop);
        else
            e->rows[e->count++] = hil_pending_first(loop);
    }
    return 0;
}
