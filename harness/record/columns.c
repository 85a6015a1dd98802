#include "columns.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The possible names of a column, from the shortest to the longest. */
enum { COLUMNS_NAMES = 3 };

/* Columns under construction. */
struct draft {
    const struct hil_scenario *scenario;
    unsigned node;
    struct hil_pool *pool;
    struct hil_column *at;
    const char *(*names)[COLUMNS_NAMES];
    unsigned count;
    bool no_memory;
};

static const char *draft_text(struct draft *d, const char *text)
{
    char *copy = hil_pool_text(d->pool, text);

    d->no_memory |= !copy;
    return copy ? copy : "";
}

static void draft_add(struct draft *d, const struct hil_column *column, const char *longer,
                      const char *longest)
{
    d->at[d->count] = *column;
    d->names[d->count][0] = column->name;
    d->names[d->count][1] = longer;
    d->names[d->count++][2] = longest;
}

/* --- times ------------------------------------------------------------------------------------ */

/* In real time a step may be left out or run late, and a plant may be late. In virtual time row r
 * is step r * decimation, and all plants are at the time of the clock, so only the first of these
 * columns is kept. The names of the others remain reserved. */
enum { COLUMNS_TIMES = 3 };

static void add_times(struct draft *d)
{
    const bool plants = d->scenario->system->nodes[d->node].continuous > 0;
    const struct hil_column times[COLUMNS_TIMES] = {
        {"time_s", "s", "since the start", 1, {0}},
        {"step", "", "number of the step, from 0", 1, {0}},
        {"plant_time_s",
         "s",
         plants ? "time that the plant has reached"
                : "time that the slowest plant had reached by the newest values",
         1,
         {0}},
    };

    for (unsigned i = 0; i < COLUMNS_TIMES; i++)
        draft_add(d, &times[i], times[i].name, times[i].name);
}

/* --- signals in a row ------------------------------------------------------------------------- */

/* Signals that share a column. */
struct run {
    const struct hil_signal *first, *last;
    unsigned count;
    const struct hil_quantity *row;
    unsigned from, to; /* range of places in a wide row */
};

static const struct hil_component *component_of(const struct hil_system *s,
                                                const struct hil_signal *signal)
{
    return &s->components[signal->component];
}

/* Whether the next signal continues the run: it has the same array and the same row, and is the
 * next one there. In a wide row that is the next place, or the first place of the next component
 * after all places of this one. */
static bool run_goes_on(const struct hil_system *s, const struct run *run,
                        const struct hil_signal *next)
{
    const struct hil_component *before = component_of(s, run->last), *c = component_of(s, next);
    unsigned place;
    const struct hil_quantity *row = hil_signal_row(s, next, &place);

    if (c->array != before->array || next->output != run->first->output ||
        next->original != run->first->original || strcmp(row->name, run->row->name) != 0 ||
        (row->flags ^ run->row->flags) & HIL_WIDE)
        return false;
    if (next->component == run->last->component)
        return row->flags & HIL_WIDE && run->from <= run->to && place == run->to + 1;
    return next->component == run->last->component + 1 && place == 0 && run->from == 0 &&
           (!(row->flags & HIL_WIDE) || run->to == before->width - 1);
}

static struct run run_of(const struct hil_system *s, const struct hil_signal *signals,
                         unsigned count)
{
    struct run run = {.first = signals, .last = signals, .count = 1};

    run.row = hil_signal_row(s, signals, &run.from);
    run.to = run.from;
    for (; run.count < count && run_goes_on(s, &run, &signals[run.count]); run.count++) {
        run.last = &signals[run.count];
        hil_signal_row(s, run.last, &run.to);
    }
    return run;
}

/* "[*]", "[0-3]", "[2]"; empty for something that is not an array. */
static void put_span(char text[HIL_SIGNAL_NAME_BYTES], unsigned first, unsigned last, unsigned of)
{
    const size_t used = strlen(text), room = HIL_SIGNAL_NAME_BYTES - used;

    if (of == 0)
        return;
    if (first == 0 && last == of - 1)
        snprintf(text + used, room, "[*]");
    else if (first == last)
        snprintf(text + used, room, "[%u]", first);
    else
        snprintf(text + used, room, "[%u-%u]", first, last);
}

/* A signal on which faults act has two columns; this prefix is for the one without the faults. */
static const char *run_prefix(const struct run *run)
{
    return run->first->original ? HIL_ORIGINAL : "";
}

/* "motor[*].speed_rad_per_s", "mixer.input[*]". For an array of wide rows it is
 * "mixer[*].input[0-2]"; name and number of values together identify each value. */
static void run_name(const struct hil_system *s, const struct run *run,
                     char text[HIL_SIGNAL_NAME_BYTES])
{
    const struct hil_component *first = component_of(s, run->first);

    snprintf(text, HIL_SIGNAL_NAME_BYTES, "%s", first->is.name);
    put_span(text, first->is.index, component_of(s, run->last)->is.index, first->is.of);
    const size_t used = strlen(text);
    snprintf(text + used, HIL_SIGNAL_NAME_BYTES - used, ".%s%s", run_prefix(run), run->row->name);
    if (run->row->flags & HIL_WIDE)
        put_span(text, run->from, run->to, first->is.of ? UINT_MAX : first->width);
}

/* --- measures --------------------------------------------------------------------------------- */

/* "held", or NULL. Sampled components compute at their steps, and inputs are read at steps: both
 * hold in between. What continuous components give goes on. */
static const char *between_rows(const struct hil_system *s, const struct hil_signal *signals,
                                unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (signals[i].output && component_of(s, &signals[i])->model->kind == HIL_CONTINUOUS)
            return NULL;
    return "held";
}

/* "sum of motor[*].speed_rad_per_s" */
static const char *measure_doc(struct draft *d, const struct hil_measure *m)
{
    const struct hil_system *s = d->scenario->system;
    char text[2 * HIL_SIGNAL_NAME_BYTES], name[HIL_SIGNAL_NAME_BYTES];
    size_t used = (size_t)snprintf(text, sizeof text, "%s", m->count > 1 ? "sum of " : "");
    struct run run;

    for (unsigned i = 0; i < m->count && used < sizeof text; i += run.count) {
        run = run_of(s, &m->signals[i], m->count - i);
        run_name(s, &run, name);
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i ? ", " : "", name);
    }
    if (used >= sizeof text)
        strcpy(text + sizeof text - 4, "...");
    return draft_text(d, text);
}

static void add_measure(struct draft *d, const struct hil_measure *m)
{
    const struct hil_system *s = d->scenario->system;
    const char *name = m->is.name;
    const struct hil_column value = {
        name,
        m->unit,
        measure_doc(d, m),
        1,
        {.measure = name, .role = "value", .between = between_rows(s, m->signals, m->count)}};
    char text[HIL_SIGNAL_NAME_BYTES];
    unsigned place;

    draft_add(d, &value, name, name);
    if (!m->has_reference)
        return;
    snprintf(text, sizeof text, "reference of %s", name);
    const struct hil_column reference = {
        hil_signal_row(s, &m->reference, &place)->name,
        m->unit,
        draft_text(d, text),
        1,
        {.measure = name, .role = "reference", .between = between_rows(s, &m->reference, 1)},
    };
    snprintf(text, sizeof text, "%.64s.%.64s", name, reference.name);
    const char *longer = draft_text(d, text);
    draft_add(d, &reference, longer, longer);
}

/* Measure number `i` of those computed at the node. */
static const struct hil_measure *measure_at(const struct draft *d, unsigned i)
{
    const struct hil_system *s = d->scenario->system;

    return &s->measures[s->nodes[d->node].measures[i]];
}

static unsigned measure_count(const struct draft *d)
{
    return d->scenario->system->nodes[d->node].measure_count;
}

static void add_measures(struct draft *d)
{
    for (unsigned i = 0; i < measure_count(d); i++)
        if (hil_columns_has(measure_at(d, i)))
            add_measure(d, measure_at(d, i));
}

/* --- recorded signals ------------------------------------------------------------------------- */

/* Whether the measure of each signal covers exactly the signals of the run. */
static bool is_of_run(const struct hil_measure *m, const struct run *run)
{
    for (unsigned i = 0; i < run->count; i++)
        if (!hil_signal_is(m[i].signals, &run->first[i]))
            return false;
    return true;
}

/* The measure that is computed here for each of these signals; NULL: there is none. */
static const char *each_measured(const struct draft *d, const struct run *run)
{
    const struct hil_measure *m;

    for (unsigned i = 0; i < measure_count(d); i += m->is.of ? m->is.of : 1) {
        m = measure_at(d, i); /* the measures of an array are consecutive, and this is the first */
        if (m->is.of == run->count && is_of_run(m, run))
            return m->is.name;
    }
    return NULL;
}

/* Whether each node of an array has one component of this array. (If both have one member, nothing
 * tells this from an array that is on one node as a whole.) */
static bool is_spread(const struct hil_system *s, const struct hil_component *c)
{
    const struct hil_instance *node = &s->nodes[c->node].is;
    const struct hil_component *other = c->is.index ? c - 1 : c + 1;

    return node->of == c->is.of && node->index == c->is.index &&
           (c->is.of == 1 || other->node != c->node);
}

/* Whether there are several such signals at the node, or would be if the array or the wide row had
 * more members. The record then has the same shape for one as for many. */
static bool run_is_matrix(const struct draft *d, const struct run *run)
{
    const struct hil_system *s = d->scenario->system;
    const struct hil_component *c = component_of(s, run->first);

    return run->row->flags & HIL_WIDE || (c->is.of && !(c->node == d->node && is_spread(s, c)));
}

static void add_run(struct draft *d, const struct run *run)
{
    const struct hil_system *s = d->scenario->system;
    const char *each = each_measured(d, run);
    char text[HIL_SIGNAL_NAME_BYTES];

    run_name(s, run, text);
    const char *signals = draft_text(d, text);
    snprintf(text, sizeof text, "%.64s.%s%.64s", component_of(s, run->first)->is.name,
             run_prefix(run), run->row->name);
    const char *longer = draft_text(d, text);
    snprintf(text, sizeof text, "%s%.64s", run_prefix(run), run->row->name);
    const char *name = draft_text(d, text);
    snprintf(text, sizeof text, "%.120s, without the faults", run->row->doc);
    const struct hil_column column = {
        name,
        run->row->unit,
        run->first->original ? draft_text(d, text) : run->row->doc,
        run->count,
        {.signals = signals,
         .measure = each,
         .role = each ? "each" : NULL,
         .matrix = run_is_matrix(d, run),
         .between = between_rows(s, run->first, run->count)},
    };
    draft_add(d, &column, longer, signals);
}

static void add_signals(struct draft *d)
{
    const struct hil_node_config *node = &d->scenario->system->nodes[d->node];
    struct run run;

    for (unsigned i = 0; i < node->recorded_count; i += run.count) {
        run = run_of(d->scenario->system, &node->recorded[i], node->recorded_count - i);
        add_run(d, &run);
    }
}

/* --- names ------------------------------------------------------------------------------------ */

struct name {
    const char *text;
    unsigned column;
};

static int compare_names(const void *a, const void *b)
{
    const struct name *one = a, *other = b;
    const int order = strcmp(one->text, other->text);

    return order ? order : one->column < other->column ? -1 : 1;
}

static void sort_names(const struct draft *d, struct name *sorted)
{
    for (unsigned i = 0; i < d->count; i++)
        sorted[i] = (struct name){d->at[i].name, i};
    qsort(sorted, d->count, sizeof *sorted, compare_names);
}

/* Columns with the same name get longer names. */
static void lengthen_names(struct draft *d, struct name *sorted, unsigned length)
{
    sort_names(d, sorted);
    for (unsigned i = 1; i < d->count; i++)
        if (strcmp(sorted[i].text, sorted[i - 1].text) == 0)
            for (unsigned k = i - 1; k <= i; k++)
                d->at[sorted[k].column].name = d->names[sorted[k].column][length];
}

/* Signals that were recorded more than once are numbered. */
static void number_names(struct draft *d, struct name *sorted)
{
    char text[HIL_SIGNAL_NAME_BYTES + 16];
    unsigned times = 1;

    sort_names(d, sorted);
    for (unsigned i = 1; i < d->count; i++) {
        times = strcmp(sorted[i].text, sorted[i - 1].text) == 0 ? times + 1 : 1;
        if (times == 1)
            continue;
        snprintf(text, sizeof text, "%s (%u)", sorted[i].text, times);
        d->at[sorted[i].column].name = draft_text(d, text);
    }
}

static void make_names(struct draft *d)
{
    struct name *sorted = malloc(d->count * sizeof *sorted);

    d->no_memory |= !sorted;
    for (unsigned length = 1; sorted && length < COLUMNS_NAMES; length++)
        lengthen_names(d, sorted, length);
    if (sorted)
        number_names(d, sorted);
    free(sorted);
}

/* --- all -------------------------------------------------------------------------------------- */

static void leave_out_steps(struct draft *d)
{
    d->count -= COLUMNS_TIMES - 1;
    memmove(d->at + 1, d->at + COLUMNS_TIMES, (d->count - 1) * sizeof *d->at);
}

int hil_columns_of(struct hil_columns *columns, struct hil_pool *pool,
                   const struct hil_scenario *scenario, unsigned node)
{
    const size_t most = COLUMNS_TIMES + hil_columns_places(scenario, node).width;
    struct draft d = {
        .scenario = scenario,
        .node = node,
        .pool = pool,
        .at = hil_pool_get(pool, most, sizeof *d.at),
        .names = calloc(most, sizeof *d.names),
    };

    if (d.at && d.names) {
        add_times(&d);
        add_measures(&d);
        add_signals(&d);
        make_names(&d);
        if (scenario->mode == HIL_VIRTUAL)
            leave_out_steps(&d);
    }
    const bool made = d.at && d.names && !d.no_memory;
    free(d.names);
    *columns = (struct hil_columns){d.at, d.count};
    return made ? 0 : -ENOMEM;
}

struct hil_row_places hil_columns_places(const struct hil_scenario *scenario, unsigned node)
{
    const struct hil_system *s = scenario->system;
    const struct hil_node_config *config = &s->nodes[node];
    const bool clocked = scenario->mode != HIL_VIRTUAL;
    const unsigned measures = clocked ? COLUMNS_TIMES : 1;
    unsigned signals = measures;

    for (unsigned i = 0; i < config->measure_count; i++) {
        const struct hil_measure *m = &s->measures[config->measures[i]];
        signals += !hil_columns_has(m) ? 0 : m->has_reference ? 2 : 1;
    }
    return (struct hil_row_places){clocked, measures, signals, signals + config->recorded_count};
}
