#include "tuning.h"

#include <math.h>
#include <stdio.h>

#include "../scenario/tunables.h"

enum { TUNING_LOG_LEAST = 1024 };

/* How many outcomes a request can have: those of the tunables that concern the most nodes. */
static unsigned tuning_outcomes(const struct hil_system *s)
{
    unsigned most[HIL_CHANGES_MAX] = {0}, sum = 0;

    for (unsigned i = 0; i < s->tunable_count; i++) {
        unsigned *least = most;
        for (unsigned k = 1; k < HIL_CHANGES_MAX; k++)
            least = most[k] < *least ? &most[k] : least;
        if (s->tunables[i].node_count > *least)
            *least = s->tunables[i].node_count;
    }
    for (unsigned k = 0; k < HIL_CHANGES_MAX; k++)
        sum += most[k];
    return sum;
}

static unsigned tuning_log_size(const struct hil_system *s)
{
    const unsigned outcomes = tuning_outcomes(s);
    unsigned size = TUNING_LOG_LEAST;

    while (size < 2 * outcomes)
        size *= 2;
    return size;
}

size_t hil_tuning_size(const struct hil_system *s)
{
    return s->tunable_count
               ? sizeof(struct hil_tuning) + s->tunable_count * sizeof(struct hil_tunable_state) +
                     tuning_log_size(s) * sizeof(struct hil_tuned_here)
               : 0;
}

static void tuning_say_source(char text[HIL_TUNABLE_DOC], const struct hil_source *source)
{
    char steps[HIL_TUNABLE_DOC - 32];

    snprintf(text, HIL_TUNABLE_DOC, "what the source gives");
    if (source->kind != HIL_SOURCE_STEPS)
        return;
    hil_profile_say(&source->steps, steps, sizeof steps);
    snprintf(text, HIL_TUNABLE_DOC, "what the source gives: %s", steps);
}

/* NAN if the source's value varies. */
static double tuning_source_value(const struct hil_source *source)
{
    if (source->kind == HIL_SOURCE_CONSTANT)
        return source->constant;
    return source->kind == HIL_SOURCE_STEPS && source->steps.count == 0 ? source->steps.initial
                                                                        : NAN;
}

static void tuning_init_one(struct hil_tunable_state *to, const struct hil_system *s,
                            const struct hil_tunable *t)
{
    const struct hil_quantity *row = hil_tunable_row(s, t);

    hil_tunable_name(s, t, to->name);
    snprintf(to->unit, sizeof to->unit, "%s", hil_tunable_unit(s, t));
    if (row)
        snprintf(to->doc, sizeof to->doc, "%s", row->doc);
    else
        tuning_say_source(to->doc, &s->sources[t->source]);
    to->min = t->min;
    to->max = t->max;
    to->is_source = t->is_source;
    atomic_store(&to->value, row ? s->components[t->component].parameters[t->place]
                                 : tuning_source_value(&s->sources[t->source]));
}

void hil_tuning_init(struct hil_tuning *tuning, const struct hil_system *s)
{
    tuning->count = s->tunable_count;
    tuning->log_size = tuning_log_size(s);
    for (unsigned i = 0; i < s->tunable_count; i++)
        tuning_init_one(&tuning->tunables[i], s, &s->tunables[i]);
}
