#include "tap.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "../record/columns.h"
#include "node_name.h"

enum { TAP_ROWS_LEAST = 512, TAP_ROWS_MOST = 4096, TAP_ROWS_EVER = 4, TAP_LINE = 64 };

/* How far back a ring reaches: a watching program looks every 10 ms, and may be late. */
static const uint64_t TAP_REACH_NS = 40000000;

/* Limit for all rings together. */
static const uint64_t TAP_BYTES_MOST = 32 << 20;

/* --- sizes ------------------------------------------------------------------------------------ */

static size_t tap_lines(size_t size)
{
    return (size + TAP_LINE - 1) / TAP_LINE * TAP_LINE;
}

/* The executor of this run that has the node; -1: none. In virtual time executor 0 has all. */
static int tap_executor(const struct hil_scenario *s, unsigned node)
{
    if (s->mode == HIL_VIRTUAL)
        return 0;
    for (unsigned e = 0; e < s->executor_count; e++)
        if (hil_executor_has(&s->executors[e], node))
            return (int)e;
    return -1;
}

static bool tap_is_here(const struct hil_scenario *s, unsigned node)
{
    return tap_executor(s, node) >= 0;
}

static uint32_t tap_even(uint32_t count)
{
    return (count + 1) / 2 * 2;
}

struct hil_tap_places hil_tap_places(const struct hil_scenario *s, unsigned node)
{
    const struct hil_node_config *c = &s->system->nodes[node];
    struct hil_tap_places p = {.values = HIL_TAP_VALUES};
    unsigned measured = 0;

    p.sources = p.values + c->in_count + c->out_count;
    p.shadows = p.sources + c->source_count;
    p.measures = tap_even(p.shadows + c->faulted_count);
    p.columns = p.shadows + c->faulted_count - p.values;
    for (unsigned i = 0; i < c->measure_count; i++) {
        const struct hil_measure *m = &s->system->measures[c->measures[i]];
        measured += !hil_columns_has(m) ? 0 : m->has_reference ? 2 : 1;
    }
    p.columns += measured;
    p.width = tap_even(p.measures + measured);
    return p;
}

static uint32_t tap_rows(uint64_t period_ns, unsigned halved)
{
    uint32_t rows = TAP_ROWS_LEAST;

    while (rows < TAP_ROWS_MOST && rows * period_ns < TAP_REACH_NS)
        rows *= 2;
    rows >>= halved;
    return rows > TAP_ROWS_EVER ? rows : TAP_ROWS_EVER;
}

/* Consecutive nodes that are stepped together: by one executor, with the same period. Their rings
 * are interleaved, so that rows written at the same time are in few pages and in the order of
 * memory:
 *
 *      row 0 of node a, of b, of c | row 1 of node a, of b, of c | ... */
struct tap_weave {
    unsigned first, end; /* nodes first..end - 1 */
    uint32_t rows;       /* of each ring; 0: the nodes do not run here */
    uint32_t stride;     /* words from one row of a node to its next */
};

static bool tap_woven(const struct hil_scenario *s, unsigned a, unsigned b)
{
    const struct hil_node_config *nodes = s->system->nodes;

    return tap_executor(s, a) == tap_executor(s, b) &&
           nodes[a].timing.period_ns == nodes[b].timing.period_ns;
}

static struct tap_weave tap_weave_from(const struct hil_scenario *s, unsigned first,
                                       unsigned halved)
{
    struct tap_weave w = {.first = first, .end = first};

    do
        w.stride += hil_tap_places(s, w.end++).width;
    while (w.end < s->system->node_count && tap_woven(s, first, w.end));
    if (tap_is_here(s, first))
        w.rows = tap_rows(s->system->nodes[first].timing.period_ns, halved);
    return w;
}

static size_t tap_weave_size(const struct tap_weave *w)
{
    return tap_lines((size_t)w->rows * w->stride * sizeof(uint64_t));
}

static size_t tap_rings_size(const struct hil_scenario *s, unsigned halved)
{
    struct tap_weave w = {0};
    size_t size = 0;

    while (w.end < s->system->node_count) {
        w = tap_weave_from(s, w.end, halved);
        size += tap_weave_size(&w);
    }
    return size;
}

/* How often the rings must be halved to stay within the limit together. */
static unsigned tap_halved(const struct hil_scenario *s)
{
    unsigned halved = 0;

    while (TAP_ROWS_MOST >> halved > TAP_ROWS_EVER && tap_rings_size(s, halved) > TAP_BYTES_MOST)
        halved++;
    return halved;
}

static size_t tap_column_count(const struct hil_scenario *s)
{
    size_t count = 0;

    for (unsigned i = 0; i < s->system->node_count; i++)
        if (tap_is_here(s, i))
            count += hil_tap_places(s, i).columns;
    return count;
}

size_t hil_taps_size(const struct hil_scenario *s)
{
    return s->system->node_count * sizeof(struct hil_tap_ring) +
           tap_lines(tap_column_count(s) * sizeof(struct hil_tap_column)) +
           tap_rings_size(s, tap_halved(s));
}

/* --- columns --------------------------------------------------------------------------------- */

/* The columns laid out so far. */
struct tap_draft {
    const struct hil_scenario *scenario;
    struct hil_tap_column *next;
    unsigned node;
    struct hil_tap_places places;
};

static void tap_add(struct tap_draft *d, unsigned place, const char *unit, const char *name,
                    const char *end)
{
    struct hil_tap_column *column = d->next++;

    snprintf(column->name, sizeof column->name, "%.140s%s", name, end);
    snprintf(column->unit, sizeof column->unit, "%.15s", unit);
    column->node = d->node;
    column->place = place;
}

static void tap_add_measures(struct tap_draft *d, const struct hil_node_config *c)
{
    unsigned place = d->places.measures;

    for (unsigned i = 0; i < c->measure_count; i++) {
        const struct hil_measure *m = &d->scenario->system->measures[c->measures[i]];
        if (!hil_columns_has(m))
            continue;
        tap_add(d, place++, m->unit, m->is.name, "");
        if (m->has_reference)
            tap_add(d, place++, m->unit, m->is.name, ".reference");
    }
}

static void tap_add_signal(struct tap_draft *d, const struct hil_signal *signal, unsigned at)
{
    char name[HIL_SIGNAL_NAME_BYTES];
    unsigned place;

    hil_signal_name(d->scenario->system, signal, name);
    tap_add(d, at, hil_signal_row(d->scenario->system, signal, &place)->unit, name, "");
}

/* Number of the signal among the node's faulted signals; -1: no fault acts on it. */
static int tap_faulted(const struct hil_node_config *c, const struct hil_signal *signal)
{
    for (unsigned i = 0; i < c->faulted_count; i++)
        if (hil_signal_is(&c->faulted[i], signal))
            return (int)i;
    return -1;
}

/* The word of a faulted input has its value without the fault; the word of a faulted output has its
 * value with the fault. The shadow has the other one. */
static void tap_add_either(struct tap_draft *d, const struct hil_node_config *c,
                           struct hil_signal signal, unsigned at)
{
    const int faulted = tap_faulted(c, &signal);

    if (faulted < 0) {
        tap_add_signal(d, &signal, at);
        return;
    }
    const unsigned shadow = d->places.shadows + (unsigned)faulted;
    tap_add_signal(d, &signal, signal.output ? at : shadow);
    signal.original = true;
    tap_add_signal(d, &signal, signal.output ? shadow : at);
}

static void tap_add_component(struct tap_draft *d, const struct hil_node_config *c, unsigned number)
{
    const unsigned inputs = d->places.values, outputs = inputs + c->in_count;
    const struct hil_component *part = &d->scenario->system->components[number];
    struct hil_signal signal = {.component = number};

    for (signal.number = 0; signal.number < part->in_count; signal.number++)
        tap_add_either(d, c, signal, inputs + part->in + signal.number);
    signal.output = true;
    for (signal.number = 0; signal.number < part->out_count; signal.number++)
        tap_add_either(d, c, signal, outputs + part->out + signal.number);
}

static void tap_add_sources(struct tap_draft *d, const struct hil_node_config *c)
{
    for (unsigned i = 0; i < c->source_count; i++) {
        const struct hil_source *source = &d->scenario->system->sources[c->sources[i]];
        tap_add(d, d->places.sources + i, source->unit, source->name, "");
    }
}

static void tap_add_node(struct tap_draft *d)
{
    const struct hil_node_config *c = &d->scenario->system->nodes[d->node];

    tap_add_measures(d, c);
    for (unsigned i = 0; i < c->component_count; i++)
        tap_add_component(d, c, c->components[i]);
    tap_add_sources(d, c);
}

/* --- laying out ------------------------------------------------------------------------------ */

static void tap_add_rings(const struct hil_scenario *s, struct hil_tap_ring *rings, char *memory,
                          const struct tap_weave *w)
{
    for (unsigned i = w->first; i < w->end; i++) {
        const struct hil_tap_places places = hil_tap_places(s, i);
        rings[i].at = (uint64_t)(memory - (char *)&rings[i]);
        rings[i].rows = w->rows;
        rings[i].width = places.width;
        rings[i].stride = w->stride;
        rings[i].values = places.measures - places.values;
        memory += places.width * sizeof(uint64_t);
    }
}

static void tap_add_columns(const struct hil_scenario *s, struct hil_tap_column *columns)
{
    struct tap_draft draft = {.scenario = s, .next = columns};

    for (draft.node = 0; draft.node < s->system->node_count; draft.node++) {
        if (!tap_is_here(s, draft.node))
            continue;
        draft.places = hil_tap_places(s, draft.node);
        tap_add_node(&draft);
    }
}

void hil_taps_init(struct hil_taps *taps, void *memory, uint64_t at, const struct hil_scenario *s)
{
    const unsigned halved = tap_halved(s);
    const size_t columns = tap_column_count(s);
    struct hil_tap_ring *rings = (void *)((char *)memory + at);
    struct tap_weave w = {0};

    taps->ring_count = s->system->node_count;
    taps->column_count = (uint32_t)columns;
    taps->rings = at;
    taps->columns = at + taps->ring_count * sizeof *rings;
    tap_add_columns(s, (void *)((char *)memory + taps->columns));
    at = taps->columns + tap_lines(columns * sizeof(struct hil_tap_column));
    while (w.end < taps->ring_count) {
        w = tap_weave_from(s, w.end, halved);
        if (w.rows)
            tap_add_rings(s, rings, (char *)memory + at, &w);
        at += tap_weave_size(&w);
    }
}
