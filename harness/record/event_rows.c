#include "event_rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../h5/trace_events.h"
#include "../scenario/faults.h"
#include "../scenario/tunables.h"

static const char *const kind_names[] = {
#define KIND_NAME(name, text, value) text,
    HIL_EVENT_KINDS(KIND_NAME)};
static const char *const kind_values[] = {
#define KIND_VALUE(name, text, value) value,
    HIL_EVENT_KINDS(KIND_VALUE)};

const char *hil_event_kind_name(enum hil_event_kind kind)
{
    return kind_names[kind];
}

/* --- names ------------------------------------------------------------------------------------ */

/* Numbers are assigned in this order: nothing; arrays of nodes; arrays of components; for each of
 * these the rows of its model, inputs before outputs; the faults. */
static const struct hil_model *model_of(const struct hil_system *s, unsigned array)
{
    return s->components[s->component_arrays[array].first].model;
}

struct hil_event_of hil_event_of_node(const struct hil_system *s, unsigned node)
{
    return (struct hil_event_of){1 + s->nodes[node].array, s->nodes[node].is.index, 0};
}

struct hil_event_of hil_event_of_component(const struct hil_system *s, unsigned component)
{
    const struct hil_component *c = &s->components[component];

    return (struct hil_event_of){1 + s->node_array_count + c->array, c->is.index, 0};
}

/* The number of the first row of an array of components. After the last array it is the number of
 * the first fault. */
static uint32_t first_signal_of(const struct hil_system *s, unsigned array)
{
    uint32_t number = 1 + s->node_array_count + s->component_array_count;

    for (unsigned i = 0; i < array; i++)
        number += model_of(s, i)->inputs.count + model_of(s, i)->outputs.count;
    return number;
}

struct hil_event_of hil_event_of_fault(const struct hil_system *s, unsigned fault)
{
    return (struct hil_event_of){first_signal_of(s, s->component_array_count) + fault, 0, 0};
}

/* Numbers after the faults are for tunables, each with its own name. */
struct hil_event_of hil_event_of_tunable(const struct hil_system *s, unsigned tunable)
{
    return (struct hil_event_of){
        first_signal_of(s, s->component_array_count) + s->fault_count + tunable, 0, 0};
}

struct hil_event_of hil_event_of_signal(const struct hil_system *s, unsigned component, bool output,
                                        unsigned number)
{
    const struct hil_component *c = &s->components[component];
    const struct hil_quantities *table = output ? &c->model->outputs : &c->model->inputs;
    const struct hil_signal signal = {.component = component, .output = output, .number = number};
    struct hil_event_of of = {.index = c->is.index};
    const struct hil_quantity *row = hil_signal_row(s, &signal, &of.place);
    const size_t before = (size_t)((const char *)row - (const char *)table->at);

    of.name = first_signal_of(s, c->array);
    of.name += (output ? c->model->inputs.count : 0) + (uint32_t)(before / table->row_size);
    return of;
}

static void put_array(FILE *to, const struct hil_array *array)
{
    fprintf(to, array->of ? "\n%s[*]" : "\n%s", array->name);
}

static void put_rows(FILE *to, const struct hil_array *array, const struct hil_quantities *table)
{
    const char *row = (const char *)table->at;

    for (unsigned i = 0; i < table->count; i++, row += table->row_size) {
        const struct hil_quantity *q = (const void *)row;
        put_array(to, array);
        fprintf(to, q->flags & HIL_WIDE ? ".%s[#]" : ".%s", q->name);
    }
}

static void put_of_names(FILE *to, const struct hil_system *s)
{
    for (unsigned i = 0; i < s->node_array_count; i++)
        put_array(to, &s->node_arrays[i]);
    for (unsigned i = 0; i < s->component_array_count; i++)
        put_array(to, &s->component_arrays[i]);
    for (unsigned i = 0; i < s->component_array_count; i++) {
        put_rows(to, &s->component_arrays[i], &model_of(s, i)->inputs);
        put_rows(to, &s->component_arrays[i], &model_of(s, i)->outputs);
    }
    for (unsigned i = 0; i < s->fault_count; i++)
        fprintf(to, "\n%s", s->faults[i].name);
    for (unsigned i = 0; i < s->tunable_count; i++) {
        char name[HIL_SIGNAL_NAME_BYTES];
        hil_tunable_name(s, &s->tunables[i], name);
        fprintf(to, "\n%s", name);
    }
}

static void put_node_names(FILE *to, const struct hil_system *s)
{
    char name[HIL_SIGNAL_NAME_BYTES];

    for (unsigned i = 0; i < s->node_count; i++) {
        hil_instance_name(&s->nodes[i].is, name);
        fprintf(to, i ? "\n%s" : "%s", name);
    }
}

static void put_kind_names(FILE *to, const struct hil_system *s)
{
    (void)s;
    for (unsigned i = 0; i < HIL_EVENT_KIND_COUNT; i++)
        fprintf(to, i ? "\n%s" : "%s", kind_names[i]);
}

static void put_kind_values(FILE *to, const struct hil_system *s)
{
    (void)s;
    for (unsigned i = 0; i < HIL_EVENT_KIND_COUNT; i++)
        fprintf(to, i ? "\n%s" : "%s", kind_values[i]);
}

static const char *make_names(struct hil_pool *pool, const struct hil_system *s,
                              void (*put)(FILE *to, const struct hil_system *s))
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);

    if (!to)
        return NULL;
    put(to, s);
    const char *names = fclose(to) ? NULL : hil_pool_text(pool, text);
    free(text);
    return names;
}

/* --- the stream ------------------------------------------------------------------------------- */

enum { TIME, STEP, NODE, KIND, OF, INDEX, PLACE, VALUE, COLUMNS };

static const struct hil_column event_columns[COLUMNS] = {
    [TIME] = {"time_s", "s", "when it was found, from the start of the run", 1, {0}},
    [STEP] = {"step", "", "at which step of its node, from 0", 1, {0}},
    [NODE] = {"node", "", "whose step: a line of names", 1, {0}},
    [KIND] = {"kind", "", "what happened: a line of names", 1, {0}},
    [OF] = {"of", "", "what it is about: a line of names; 0: its node", 1, {0}},
    [INDEX] = {"index", "", "in place of [*] in the name", 1, {0}},
    [PLACE] = {"place", "", "in place of [#] in the name", 1, {0}},
    [VALUE] = {"value", "", "what its kind says: the names have a line for each", 1, {0}},
};

int hil_event_stream(struct hil_stream_config *stream, struct hil_pool *pool,
                     const struct hil_system *s)
{
    struct hil_column *columns = hil_pool_get(pool, COLUMNS, sizeof *columns);

    if (!columns)
        return -ENOMEM;
    memcpy(columns, event_columns, sizeof event_columns);
    columns[NODE].of.names = make_names(pool, s, put_node_names);
    columns[KIND].of.names = make_names(pool, s, put_kind_names);
    columns[OF].of.names = make_names(pool, s, put_of_names);
    columns[VALUE].of.names = make_names(pool, s, put_kind_values);
    *stream =
        (struct hil_stream_config){.name = HIL_EVENTS, .columns = columns, .column_count = COLUMNS};
    const bool named = columns[NODE].of.names && columns[KIND].of.names && columns[OF].of.names &&
                       columns[VALUE].of.names;
    return named ? 0 : -ENOMEM;
}

void hil_event_add(struct hil_stream *ring, const struct hil_event_row *event)
{
    double *row = hil_stream_row(ring);

    if (!row)
        return;
    row[TIME] = event->time_s;
    row[STEP] = (double)event->step;
    row[NODE] = event->node;
    row[KIND] = event->kind;
    row[OF] = event->of.name;
    row[INDEX] = event->of.index;
    row[PLACE] = event->of.place;
    row[VALUE] = event->value;
    hil_stream_commit(ring);
}
