/* Determines when a fault begins: at a fixed time, or after something in the scenario or the
 * run. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "fault_entry.h"

/* The possible subjects of `after`. */
static const char *const after_subjects[] = {"source", "fault", "signal", "event"};

enum { AFTER_SUBJECTS = sizeof after_subjects / sizeof after_subjects[0] };

static const struct scenario_node *after_get(const struct fault_entry *e, const char *key)
{
    const struct scenario_node *after = scenario_node_get(e->block, "after");

    return after ? scenario_node_get(after, key) : NULL;
}

static double after_number(const struct fault_entry *e, const char *key)
{
    return general_number(scenario_node_get(e->block, "after"), key, 0);
}

/* Reports a mistake at the value of the key in `after`, or at `after` itself without a key. Returns
 * -EINVAL. */
__attribute__((format(printf, 3, 4))) static int
after_mistake(const struct fault_entry *e, const char *key, const char *format, ...)
{
    const struct scenario_node *at = key ? after_get(e, key) : scenario_node_get(e->block, "after");
    char text[1400];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    scenario_mistake(e->g->report, &at->at, "faults.%s.after%s%s %s", e->entry->key, key ? "." : "",
                     key ? key : "", text);
    return -EINVAL;
}

/* --- a source, a fault ------------------------------------------------------------------------ */

static int after_source(struct fault_entry *e, uint64_t *begin_ns)
{
    const struct hil_system *s = e->g->system;
    const char *name = after_get(e, "source")->text;
    const unsigned change = after_get(e, "change") ? (unsigned)after_number(e, "change") : 1;
    const struct hil_source *source = NULL;
    const char *names[64];
    char choice[SCENARIO_CHOICE_BYTES];
    unsigned count = 0;

    for (unsigned i = 0; i < s->source_count; i++) {
        if (s->sources[i].kind != HIL_SOURCE_STEPS)
            continue;
        if (strcmp(s->sources[i].name, name) == 0)
            source = &s->sources[i];
        if (count < 64)
            names[count++] = s->sources[i].name;
    }
    if (!source) {
        scenario_say_choice(name, names, count, choice);
        return after_mistake(e, "source", "is '%.80s', which is not a source with steps%s", name,
                             choice);
    }
    if (change > source->steps.count)
        return after_mistake(e, after_get(e, "change") ? "change" : "source",
                             "is of change %u, but %s has %u; allowed: 1 to %u", change, name,
                             source->steps.count, source->steps.count);
    *begin_ns = source->steps.changes[change - 1].start_ns;
    return 0;
}

/* The end of a fault that waits itself is an event. */
static int after_fault(struct fault_entry *e, uint64_t *begin_ns)
{
    const struct hil_fault *all = e->g->system->faults, *after = NULL;
    const char *name = after_get(e, "fault")->text;
    const char *names[64];
    char choice[SCENARIO_CHOICE_BYTES];
    unsigned count = 0;

    for (const struct hil_fault *f = all; f < e->fault; f++) {
        if (strcmp(f->name, name) == 0)
            after = f;
        if (count < 64)
            names[count++] = f->name;
    }
    if (!after) {
        scenario_say_choice(name, names, count, choice);
        return after_mistake(e, "fault", "is '%.80s', which is not a fault before this one%s", name,
                             choice);
    }
    if (after->duration_ns == UINT64_MAX)
        return after_mistake(e, "fault",
                             "is %s, which has no duration_s; allowed: a fault that ends", name);
    if (after->waits == HIL_WAITS_NOT) {
        *begin_ns = after->at_ns + after->duration_ns;
        return 0;
    }
    e->fault->waits = HIL_WAITS_EVENT;
    e->fault->awaited =
        (struct hil_awaited){.event = HIL_AWAITED_END, .fault = (unsigned)(after - all)};
    return 0;
}

/* --- a level, an event ------------------------------------------------------------------------ */

/* The single signal that the key must name. */
static int after_one_signal(struct fault_entry *e, const char *key, enum general_side side)
{
    e->elements.count = 0;
    int rc = general_signals(e->g, after_get(e, key), side, &e->elements);
    if (!rc && e->elements.count != 1)
        rc = after_mistake(e, key, "is %u signals; allowed: one", e->elements.count);
    return rc;
}

static int after_level(struct fault_entry *e, uint64_t *begin_ns)
{
    const struct scenario_node *above = after_get(e, "above"), *below = after_get(e, "below");

    (void)begin_ns;
    if (!above == !below)
        return after_mistake(e, "signal", "has %s; required: one of above, below",
                             above ? "both above and below" : "no level");
    int rc = after_one_signal(e, "signal", GENERAL_EITHER);
    if (rc)
        return rc;
    e->level = e->elements.at[0];
    e->fault->waits = HIL_WAITS_LEVEL;
    e->fault->level = (struct hil_fault_level){
        .above = above != NULL,
        .level = after_number(e, above ? "above" : "below"),
    };
    return 0;
}

/* An input with an age limit, which is fed by another node. */
static int after_input(struct fault_entry *e, struct hil_awaited *awaited)
{
    const struct hil_system *s = e->g->system;
    int rc = after_one_signal(e, "of", GENERAL_INPUTS);

    if (rc)
        return rc;
    const struct general_element input = e->elements.at[0];
    for (unsigned i = 0; i < s->age_count; i++)
        if (s->ages[i].component == input.component && s->ages[i].number == input.number) {
            awaited->component = input.component;
            awaited->number = input.number;
            awaited->node = s->components[input.component].node;
            return 0;
        }
    return after_mistake(e, "of", "is %.100s, which has no age limit; allowed: inputs with one",
                         after_get(e, "of")->text);
}

/* One of the groups, which have a `kind`. */
static int after_one_of(const struct fault_entry *e, const struct general_groups *groups,
                        unsigned *which)
{
    const struct scenario_node *of = after_get(e, "of");
    unsigned last;

    if (!general_find(e->g, groups, of, strlen(of->text), which, &last))
        return -EINVAL;
    return *which == last
               ? 0
               : after_mistake(e, "of", "is %u %ss; allowed: one", last - *which + 1, groups->kind);
}

static int after_component(struct fault_entry *e, struct hil_awaited *awaited)
{
    int rc = after_one_of(e, &e->g->components, &awaited->component);

    if (!rc)
        awaited->node = e->g->system->components[awaited->component].node;
    return rc;
}

static int after_event(struct fault_entry *e, uint64_t *begin_ns)
{
    struct hil_awaited *awaited = &e->fault->awaited;

    (void)begin_ns;
    if (!after_get(e, "of"))
        return after_mistake(e, "event", "is of nothing; required: of");
    e->fault->waits = HIL_WAITS_EVENT;
    awaited->event = general_word(scenario_node_get(e->block, "after"), "event", hil_awaited_words,
                                  HIL_AWAITED_END);
    switch (awaited->event) {
    case HIL_AWAITED_OLD:
    case HIL_AWAITED_NEW:
        return after_input(e, awaited);
    case HIL_AWAITED_FAILED:
        return after_component(e, awaited);
    default:
        return after_one_of(e, &e->g->nodes, &awaited->node);
    }
}

/* --- the beginning --------------------------------------------------------------------------- */

/* Refuses a key that needs another key which is missing. */
static int after_needs(const struct fault_entry *e, const char *key, const char *other)
{
    return after_get(e, key) && !after_get(e, other)
               ? after_mistake(e, key, "goes with %s alone", other)
               : 0;
}

static int after_what(struct fault_entry *e, uint64_t *begin_ns)
{
    static int (*const read[AFTER_SUBJECTS])(struct fault_entry *, uint64_t *) = {
        after_source, after_fault, after_level, after_event};
    unsigned given = 0, which = 0;

    if (!fault_has(e, "after"))
        return 0;
    for (unsigned i = 0; i < AFTER_SUBJECTS; i++)
        if (after_get(e, after_subjects[i])) {
            which = i;
            given++;
        }
    if (given != 1)
        return after_mistake(
            e, NULL, "names %u things; allowed: one of source, fault, signal, event", given);
    if (after_needs(e, "change", "source") || after_needs(e, "above", "signal") ||
        after_needs(e, "below", "signal") || after_needs(e, "of", "event"))
        return -EINVAL;
    return read[which](e, begin_ns);
}

static int after_duration(const struct fault_entry *e)
{
    const bool crash = e->fault->kind == HIL_FAULT_CRASH, given = fault_has(e, "duration_s");

    e->fault->duration_ns = given ? general_ns(e->block, "duration_s", 0, 1e9) : UINT64_MAX;
    if (crash && given)
        return fault_mistake(e, "duration_s", "does not go with crash; allowed: with restart");
    if (e->fault->kind == HIL_FAULT_RESTART && !given)
        return fault_mistake(e, NULL, "has no duration_s; required with restart");
    if (e->fault->kind == HIL_FAULT_RESTART && e->g->scenario->on_lost != HIL_RESTART)
        return fault_mistake(e, "kind",
                             "is restart, but on_lost is end; allowed: with on_lost: restart");
    return 0;
}

int fault_times(struct fault_entry *e)
{
    const uint64_t end_ns = e->g->scenario->duration_ns;
    uint64_t begin_ns = 0;
    int rc = after_what(e, &begin_ns);

    if (!rc)
        rc = after_duration(e);
    if (rc)
        return rc;
    e->fault->at_ns = begin_ns + general_ns(e->block, "at_s", 0, 1e9);
    if (e->fault->at_ns < end_ns)
        return 0;
    return fault_mistake(e, "at_s",
                         "makes it begin at %.9g s; allowed: before the run ends, at %.9g s",
                         (double)e->fault->at_ns * 1e-9, (double)end_ns * 1e-9);
}

/* --- checking that its nodes can know --------------------------------------------------------- */

static int after_check_level(const struct fault_entry *e)
{
    for (unsigned i = e->before; i < e->found_count; i++) {
        struct hil_signal signal;
        if (general_signal_at(e->g, e->level, e->found[i].node, &signal))
            continue;
        general_absent(e->g, after_get(e, "signal"), &signal, e->found[i].node);
        return -EINVAL;
    }
    return 0;
}

/* Whether the event can happen at the node. */
static bool after_happens_at(const struct fault_entry *e, unsigned node)
{
    const struct hil_awaited *awaited = &e->fault->awaited;

    if (awaited->event != HIL_AWAITED_END)
        return awaited->node == node;
    for (unsigned i = 0; i < e->before; i++)
        if (e->found[i].fault == awaited->fault && e->found[i].node == node)
            return true;
    return false;
}

/* A process that joins does not know about events of other processes, nor the others about its
 * events. */
static int after_check_joined(const struct fault_entry *e)
{
    const struct hil_system *s = e->g->system;
    char name[HIL_SIGNAL_NAME_BYTES];

    for (unsigned n = 0; n < s->node_count; n++)
        for (unsigned i = e->before; i < e->found_count; i++) {
            const unsigned at = e->found[i].node;
            if (at == n || !after_happens_at(e, n) ||
                (!s->nodes[at].outside && !s->nodes[n].outside))
                continue;
            hil_instance_name(&s->nodes[s->nodes[n].outside ? n : at].is, name);
            return after_mistake(e, NULL,
                                 "waits for an event of another node, but %s belongs to a process "
                                 "that joins; allowed: events of the fault's own node",
                                 name);
        }
    return 0;
}

int fault_check_wait(const struct fault_entry *e)
{
    return e->fault->waits == HIL_WAITS_LEVEL   ? after_check_level(e)
           : e->fault->waits == HIL_WAITS_EVENT ? after_check_joined(e)
                                                : 0;
}
