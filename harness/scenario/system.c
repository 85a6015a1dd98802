#include "system.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/pool.h"

void hil_system_free(struct hil_system *system)
{
    if (!system)
        return;
    hil_pool_close(system->pool);
    free(system);
}

bool hil_system_is_joined(const struct hil_system *s)
{
    for (unsigned n = 0; n < s->node_count; n++)
        if (s->nodes[n].outside)
            return true;
    return false;
}

int hil_link_find(const struct hil_system *s, unsigned from, unsigned to)
{
    unsigned l = s->nodes[from].first_link;
    const unsigned end = l + s->nodes[from].link_count;

    for (unsigned last = end; l < last;) { /* links are in the order of their receivers */
        const unsigned middle = l + (last - l) / 2;
        if (s->links[middle].to < to)
            l = middle + 1;
        else
            last = middle;
    }
    return l < end && s->links[l].to == to ? (int)l : -1;
}

void hil_instance_name(const struct hil_instance *is, char text[HIL_SIGNAL_NAME_BYTES])
{
    if (is->of)
        snprintf(text, HIL_SIGNAL_NAME_BYTES, "%s[%u]", is->name, is->index);
    else
        snprintf(text, HIL_SIGNAL_NAME_BYTES, "%s", is->name);
}

static const struct hil_quantity *find_row(const struct hil_quantities *table, unsigned width,
                                           unsigned number, unsigned *place)
{
    for (unsigned i = 0; i < table->count; i++) {
        const unsigned places = table->at[i].flags & HIL_WIDE ? width : 1;
        *place = number;
        if (number < places)
            return &table->at[i];
        number -= places;
    }
    return NULL;
}

const struct hil_quantity *hil_signal_row(const struct hil_system *system,
                                          const struct hil_signal *signal, unsigned *place)
{
    const struct hil_component *c = &system->components[signal->component];
    const struct hil_quantities *table = signal->output ? &c->model->outputs : &c->model->inputs;

    return find_row(table, c->width, signal->number, place);
}

unsigned hil_places_before(const struct hil_quantities *table, unsigned width, unsigned row)
{
    unsigned places = 0;

    for (unsigned i = 0; i < row; i++)
        places += table->at[i].flags & HIL_WIDE ? width : 1;
    return places;
}

const struct hil_quantity *hil_place_row(const struct hil_quantities *table, unsigned width,
                                         unsigned number)
{
    unsigned place;

    return find_row(table, width, number, &place);
}

void hil_place_name(const struct hil_quantities *table, unsigned width, unsigned number,
                    char text[HIL_SIGNAL_NAME_BYTES])
{
    unsigned place;
    const struct hil_quantity *row = find_row(table, width, number, &place);

    if (row->flags & HIL_WIDE)
        snprintf(text, HIL_SIGNAL_NAME_BYTES, "%s[%u]", row->name, place);
    else
        snprintf(text, HIL_SIGNAL_NAME_BYTES, "%s", row->name);
}

void hil_signal_name(const struct hil_system *system, const struct hil_signal *signal,
                     char text[HIL_SIGNAL_NAME_BYTES])
{
    const struct hil_component *c = &system->components[signal->component];
    char place[HIL_SIGNAL_NAME_BYTES];

    hil_instance_name(&c->is, text);
    hil_place_name(signal->output ? &c->model->outputs : &c->model->inputs, c->width,
                   signal->number, place);
    const size_t used = strlen(text);
    snprintf(text + used, HIL_SIGNAL_NAME_BYTES - used, ".%s%s",
             signal->original ? HIL_ORIGINAL : "", place);
}

/* --- sources ------------------------------------------------------------------------------- */

static double source_sine(const struct hil_source *s, uint64_t t_ns)
{
    const double turns = s->sine.frequency_hz * ((double)t_ns * 1e-9) + s->sine.phase_deg / 360;

    return s->sine.mean + s->sine.amplitude * sin(2 * M_PI * (turns - floor(turns)));
}

static double source_pulses(const struct hil_source *s, uint64_t t_ns)
{
    const bool high = t_ns >= s->pulses.delay_ns &&
                      (t_ns - s->pulses.delay_ns) % s->pulses.period_ns < s->pulses.width_ns;

    return high ? s->pulses.high : s->pulses.low;
}

/* Before the first row and after the last one, the value is that row's. */
static double source_column(const struct hil_column_source *c, uint64_t t_ns)
{
    unsigned first = 0, after = c->count; /* rows first..after - 1 may apply at t_ns */

    if (t_ns <= c->t_ns[0])
        return c->values[0];
    while (after - first > 1) {
        const unsigned middle = first + (after - first) / 2;
        if (c->t_ns[middle] <= t_ns)
            first = middle;
        else
            after = middle;
    }
    if (!c->linear || first + 1 == c->count)
        return c->values[first];
    const double share =
        (double)(t_ns - c->t_ns[first]) / (double)(c->t_ns[first + 1] - c->t_ns[first]);
    return c->values[first] + (c->values[first + 1] - c->values[first]) * share;
}

double hil_source_at(const struct hil_source *source, uint64_t t_ns)
{
    switch (source->kind) {
    case HIL_SOURCE_STEPS:
        return hil_profile_at(&source->steps, t_ns);
    case HIL_SOURCE_SINE:
        return source_sine(source, t_ns);
    case HIL_SOURCE_PULSES:
        return source_pulses(source, t_ns);
    case HIL_SOURCE_CSV:
    case HIL_SOURCE_RECORD:
        return source_column(&source->column, t_ns);
    default:
        return source->constant;
    }
}
