#include "tuner.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../scenario/tunables.h"
#include "lines.h"
#include "note.h"
#include "step_parts.h"
#include "tuning_coordinator.h"

/* A source that was tuned: its old value, then a ramp to the new one. */
struct tuner_source {
    struct hil_source is;
    struct hil_change ramp;
};

struct hil_tuner {
    struct hil_tuning_notice notice; /* first: step->tuner points to it */
    struct hil_step *step;
    struct hil_tuning_var *var;                 /* NULL: at node 0, which tells itself */
    struct hil_tuning_coordinator *coordinator; /* only at node 0; else NULL */
    bool waits;                                 /* `message` has yet to be applied */
    struct hil_tuning_message message;
    struct tuner_source *sources; /* by feed of the step */
    double *parameters;           /* present parameters of all parts of the step */
};

static const struct hil_system *tuner_system(const struct hil_tuner *t)
{
    return t->step->node->run->scenario->system;
}

static struct hil_tunable_state *tuner_state(const struct hil_tuner *t, uint64_t tunable)
{
    return &t->step->node->run->state->tuning->tunables[tunable];
}

/* --- sources --------------------------------------------------------------------------------- */

static void tuner_set_source(struct hil_tuner *t, unsigned source,
                             const struct hil_change_told *change, uint64_t at_ns)
{
    const struct hil_source *is = &tuner_system(t)->sources[source];
    struct hil_step *s = t->step;

    for (unsigned i = 0; i < s->feed_count; i++) {
        struct tuner_source *own = &t->sources[i];
        if (s->node->config->sources[i] != source)
            continue;
        own->ramp = (struct hil_change){at_ns, change->ramp_ns, change->value};
        own->is = *is;
        own->is.kind = HIL_SOURCE_STEPS;
        own->is.steps = (struct hil_profile){change->from, &own->ramp, 1};
        s->feeds[i].source = &own->is;
    }
}

/* --- parameters ------------------------------------------------------------------------------ */

static unsigned tuner_places(const struct step_part *p)
{
    const struct hil_quantities *table = &p->config->model->parameters;

    return hil_places_before(table, p->config->width, table->count);
}

static int tuner_copy_parameters(struct hil_tuner *t)
{
    struct hil_step *s = t->step;
    size_t count = 1, at = 0;

    for (unsigned i = 0; i < s->part_count; i++)
        count += tuner_places(&s->parts[i]);
    t->parameters = calloc(count, sizeof *t->parameters);
    if (!t->parameters)
        return -ENOMEM;
    for (unsigned i = 0; i < s->part_count; i++) {
        struct step_part *p = &s->parts[i];
        const unsigned places = tuner_places(p);
        memcpy(t->parameters + at, p->config->parameters, places * sizeof *t->parameters);
        p->parameters = t->parameters + at;
        at += places;
    }
    return 0;
}

/* The tunable's parameter, among the tuner's own copies. */
static double *tuner_parameter(const struct hil_tuner *t, const struct hil_tunable *tunable,
                               const struct step_part **part)
{
    const struct step_part *p = t->step->parts;

    while (p->number != tunable->component)
        p++;
    *part = p;
    return t->parameters + (p->parameters - t->parameters) + tunable->place;
}

static int tuner_set_parameter(struct hil_tuner *t, const struct hil_tunable *tunable, uint64_t n,
                               double value)
{
    const struct step_part *p;
    double *parameter = tuner_parameter(t, tunable, &p);

    hil_step_enter(t->step, p, n);
    const int rc = p->model->tune(p->self, tunable->place, value);
    hil_step_leave(t->step, p);
    if (!rc)
        *parameter = value;
    return rc;
}

/* --- applying requests ------------------------------------------------------------------------ */

/* Stores the change for programs that watch, and for this node if it starts again. */
static void tuner_write_down(struct hil_tuner *t, const struct hil_change_told *change,
                             uint64_t at_ns)
{
    struct hil_tunable_state *state = tuner_state(t, change->tunable);

    state->from = change->from;
    state->at_ns = at_ns;
    state->ramp_ns = change->ramp_ns;
    atomic_store_explicit(&state->value, change->value, memory_order_relaxed);
    atomic_store_explicit(&state->is_set, 1, memory_order_release);
}

static int tuner_apply_one(struct hil_tuner *t, const struct hil_change_told *change, uint64_t n)
{
    const struct hil_tunable *tunable = &tuner_system(t)->tunables[change->tunable];

    if (!tunable->is_source)
        return tuner_set_parameter(t, tunable, n, change->value);
    tuner_set_source(t, tunable->source, change, t->message.at_ns);
    return 0;
}

static void tuner_answer(struct hil_tuner *t, const struct hil_tuning_answer *answer)
{
    if (!t->var) {
        hil_tuning_coordinator_answer(t->coordinator, t->step->node->id, answer);
        return;
    }
    loco_owned_var_store(&t->var->answer, answer);
    loco_owned_var_push(&t->var->answer);
}

static void tuner_apply(struct hil_tuner *t, uint64_t n, uint64_t due_ns, uint64_t now_ns)
{
    struct hil_node *node = t->step->node;
    const struct hil_tuning_message *m = &t->message;
    struct hil_tuning_answer answer = {.number = m->number, .step = n, .time_ns = due_ns};

    t->waits = false;
    for (unsigned i = 0; i < m->count; i++) {
        const struct hil_change_told *c = &m->changes[i];
        if (c->tunable >= tuner_system(t)->tunable_count ||
            !hil_tunable_concerns(&tuner_system(t)->tunables[c->tunable], node->id))
            continue;
        const int rc = tuner_apply_one(t, c, n);
        hil_note(node, n, now_ns, rc ? HIL_EVENT_NOT_SET : HIL_EVENT_SET,
                 hil_event_of_tunable(tuner_system(t), (unsigned)c->tunable), c->value);
        if (rc)
            answer.refused |= 1u << i;
        else
            tuner_write_down(t, c, m->at_ns);
    }
    tuner_answer(t, &answer);
}

/* --- receiving requests ----------------------------------------------------------------------- */

/* Takes the request that the notice announced. The notice may arrive before the request. */
static void tuner_hear(struct hil_tuner *t)
{
    const uint64_t number = atomic_load_explicit(t->notice.rings, memory_order_acquire);

    if (number == t->notice.heard || loco_owned_var_load(&t->var->request, &t->message) ||
        t->message.number < number)
        return;
    t->notice.heard = number;
    t->waits = t->message.count <= HIL_CHANGES_MAX;
}

__attribute__((cold, noinline)) void hil_tuner_step(struct hil_step *s, uint64_t n, uint64_t due_ns,
                                                    uint64_t now_ns)
{
    struct hil_tuner *t = (struct hil_tuner *)s->tuner;
    bool busy = false;

    if (t->var)
        tuner_hear(t);
    else if (hil_tuning_coordinator_step(t->coordinator, n, now_ns, &t->message))
        t->waits = true;
    if (t->waits && due_ns >= t->message.at_ns)
        tuner_apply(t, n, due_ns, now_ns);
    if (!t->var)
        busy = hil_tuning_coordinator_is_busy(t->coordinator, &t->notice.heard);
    t->notice.busy = busy || t->waits;
}

/* --- opening and closing ---------------------------------------------------------------------- */

/* Restores what was tuned before this node died. */
static void tuner_restore(struct hil_tuner *t)
{
    const struct hil_system *system = tuner_system(t);
    const struct step_part *unused;

    for (unsigned i = 0; i < system->tunable_count; i++) {
        const struct hil_tunable *tunable = &system->tunables[i];
        const struct hil_tunable_state *state = tuner_state(t, i);
        if (!atomic_load_explicit(&state->is_set, memory_order_acquire) ||
            !hil_tunable_concerns(tunable, t->step->node->id))
            continue;
        const struct hil_change_told change = {
            .value = atomic_load(&state->value), .from = state->from, .ramp_ns = state->ramp_ns};
        if (tunable->is_source)
            tuner_set_source(t, tunable->source, &change, state->at_ns);
        else
            *tuner_parameter(t, tunable, &unused) = change.value;
    }
}

int hil_tuner_open(struct hil_step *s)
{
    struct hil_node *node = s->node;
    const bool first = node->id == 0;

    if (!node->links.tuning.count)
        return 0;
    struct hil_tuner *t = hil_lines_new(sizeof *t);
    if (!t)
        return -ENOMEM;
    s->tuner = &t->notice;
    *t = (struct hil_tuner){.step = s, .var = first ? NULL : node->links.tuning.at};
    t->sources = calloc(s->feed_count + 1, sizeof *t->sources);
    int rc = t->sources ? tuner_copy_parameters(t) : -ENOMEM;
    if (!rc && first)
        rc = hil_tuning_coordinator_open(&t->coordinator, node);
    if (!rc)
        tuner_restore(t);
    t->notice.rings = first ? &node->run->state->tuning->asked
                            : (const _Atomic uint64_t *)(const void *)t->var->notice.copy;
    t->notice.busy = first; /* there may be requests to replay */
    return rc;
}

void hil_tuner_close(struct hil_step *s)
{
    struct hil_tuner *t = (struct hil_tuner *)s->tuner;

    if (!t)
        return;
    hil_tuning_coordinator_close(t->coordinator);
    free(t->sources);
    free(t->parameters);
    free(t);
}
