/*
 * A run whose rows a test writes itself, in place of nodes. So code that watches a run is tested
 * without one.
 */
#ifndef TEST_MADE_RUN_H
#define TEST_MADE_RUN_H

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/run/state.h"

/* Nodes "node[0]", "node[1]": each with the signals "node[0].a" and "node[0].b". */
enum { MADE_SIGNALS = 2, MADE_WIDTH = HIL_TAP_VALUES + MADE_SIGNALS };

struct made_run {
    struct hil_state *state;
    struct hil_tap_ring *rings;
    struct hil_tap_column *columns;
    struct hil_attached run;
};

static inline size_t made_at(size_t *used, size_t size)
{
    const size_t at = *used;

    *used += (size + 63) / 64 * 64;
    return at;
}

static inline struct made_run make_run(unsigned nodes, uint32_t rows, uint64_t period_ns)
{
    const size_t row_size = MADE_WIDTH * sizeof(uint64_t);
    size_t used = 0;
    const size_t nodes_at = made_at(&used, sizeof(struct hil_state) +
                                               nodes * sizeof(struct hil_node_state)),
                 rings_at = made_at(&used, nodes * sizeof(struct hil_tap_ring)),
                 columns_at = made_at(&used, nodes * MADE_SIGNALS * sizeof(struct hil_tap_column)),
                 rows_at = made_at(&used, rows * nodes * row_size);
    char *memory = aligned_alloc(64, used);

    (void)nodes_at;
    memset(memory, 0, used);
    struct made_run m = {.state = (void *)memory,
                         .rings = (void *)(memory + rings_at),
                         .columns = (void *)(memory + columns_at)};
    m.state->taps = (struct hil_taps){rings_at, columns_at, nodes, nodes * MADE_SIGNALS};
    m.state->node_count = nodes;
    for (unsigned n = 0; n < nodes; n++) {
        m.state->nodes[n].period_ns = period_ns;
        m.state->nodes[n].here = true;
        snprintf(m.state->nodes[n].name, sizeof m.state->nodes[n].name, "node[%u]", n);
        m.rings[n].at = rows_at + n * row_size - (rings_at + n * sizeof *m.rings);
        m.rings[n].rows = rows;
        m.rings[n].width = MADE_WIDTH;
        m.rings[n].stride = nodes * MADE_WIDTH;
        m.rings[n].values = MADE_SIGNALS;
        for (unsigned i = 0; i < MADE_SIGNALS; i++) {
            struct hil_tap_column *c = &m.columns[n * MADE_SIGNALS + i];
            snprintf(c->name, sizeof c->name, "node[%u].%c", n, 'a' + i);
            snprintf(c->unit, sizeof c->unit, "V");
            c->node = n;
            c->place = HIL_TAP_VALUES + i;
        }
    }
    m.run = (struct hil_attached){
        .state = m.state, .size = used, .node_count = nodes, .card = {.name = "made"}};
    return m;
}

static inline void free_run(struct made_run *m)
{
    free(m->state);
}

/* Writes the row of the node's step n, at the time of that step. */
static inline void make_step(struct made_run *m, unsigned node, uint64_t n, double a, double b)
{
    uint64_t *row = hil_tap_row(&m->rings[node]);
    const double values[MADE_SIGNALS] = {a, b};

    hil_tap_values(row + HIL_TAP_VALUES, values, MADE_SIGNALS);
    hil_tap_commit(&m->rings[node], row, n, n * m->state->nodes[node].period_ns);
}

#endif
