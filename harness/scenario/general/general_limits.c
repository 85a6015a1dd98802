/* Reads the limits. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../limits.h"
#include "general.h"

/* An entry of limits: while it is read. */
struct limit_entry {
    const struct general *g;
    const struct scenario_entry *entry;
    const struct scenario_node *block;
    struct hil_limit *limit;
    struct general_elements elements;
};

static void limit_mistake(const struct limit_entry *e, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Reports a mistake at the value of the key, or at the limit itself without a key. */
static void limit_mistake(const struct limit_entry *e, const char *key, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    general_entry_mistake(e->g, "limits", e->entry, key, format, args);
    va_end(args);
}

/* The number under the key, or `otherwise` if there is none. */
static double limit_number(const struct scenario_node *block, const char *key, double otherwise)
{
    return scenario_node_get(block, key) ? general_number(block, key, 0) : otherwise;
}

static uint64_t limit_ns(const struct scenario_node *block, const char *key, double ns_per_unit,
                         uint64_t otherwise)
{
    return scenario_node_get(block, key) ? general_ns(block, key, 0, ns_per_unit) : otherwise;
}

/* --- subjects -------------------------------------------------------------------------------- */

static const char *const limit_subjects[HIL_LIMIT_OF] = {"measure", "signal", "nodes", "from"};
static const char *const limit_subject_words[HIL_LIMIT_OF] = {"a measure", "signals", "nodes",
                                                              "a link"};

static bool limit_of(struct limit_entry *e)
{
    const int which =
        general_subject(e->g, "limits", e->entry, limit_subjects, HIL_LIMIT_OF, HIL_OF_LINK);

    e->limit->of = which < 0 ? 0 : (enum hil_limit_of)which;
    return which >= 0;
}

/* Finds the array of links between these arrays of nodes. */
static bool limit_link(struct limit_entry *e)
{
    const struct scenario_node *from = scenario_node_get(e->block, "from");
    const struct scenario_node *to = scenario_node_get(e->block, "to");
    const struct hil_system *s = e->g->system;
    unsigned ends[4];

    if (!general_find(e->g, &e->g->nodes, from, strlen(from->text), &ends[0], &ends[1]) ||
        !general_find(e->g, &e->g->nodes, to, strlen(to->text), &ends[2], &ends[3]))
        return false;
    for (unsigned i = 0; i < s->link_array_count; i++) {
        const struct hil_array *senders = &s->node_arrays[s->link_arrays[i].from];
        const struct hil_array *receivers = &s->node_arrays[s->link_arrays[i].to];
        if (ends[0] == senders->first && ends[1] == senders->first + senders->count - 1 &&
            ends[2] == receivers->first && ends[3] == receivers->first + receivers->count - 1) {
            e->limit->first = i;
            return true;
        }
    }
    limit_mistake(e, "from",
                  "and to are '%.100s' and '%.100s', between which there is no link; "
                  "allowed: all nodes of an array that sends to another, and all of "
                  "that one",
                  from->text, to->text);
    return false;
}

/* --- signals --------------------------------------------------------------------------------- */

static int limit_add_signal(struct limit_entry *e, struct hil_limit_signal signal)
{
    struct hil_limit *limit = e->limit;

    struct hil_limit_signal *more = hil_pool_more(e->g->system->pool, (void *)limit->signals,
                                                  limit->signal_count, sizeof *more);

    if (!more)
        return -ENOMEM;
    more[limit->signal_count++] = signal;
    limit->signals = more;
    return 0;
}

/* Finds the place of the element in the node's record, beginning the search at `from`. -1: it is
 * not there. */
static int limit_find_in_node(const struct general *g, unsigned node,
                              struct general_element element, bool original, unsigned from)
{
    const struct hil_node_config *n = &g->system->nodes[node];
    const struct hil_component *c = &g->system->components[element.component];
    const bool output = element.number < c->out_count;
    const struct hil_signal signal = {
        .component = element.component,
        .output = output,
        .number = output ? element.number : element.number - c->out_count,
        .original = original,
    };

    for (unsigned i = 0; n->decimation && i < n->recorded_count; i++) {
        const unsigned k = (from + i) % n->recorded_count;
        if (hil_signal_is(&n->recorded[k], &signal))
            return (int)k;
    }
    return -1;
}

/* The record of the signal's own node has it unchanged; the record of another node has it as
 * received. */
static bool limit_find_signal(const struct general *g, struct general_element element,
                              bool original, struct hil_limit_signal *signal)
{
    const unsigned owner = g->system->components[element.component].node;
    int found = limit_find_in_node(g, owner, element, original, signal->number + 1);

    if (found >= 0)
        signal->node = owner;
    for (unsigned n = 0; n < g->system->node_count && found < 0; n++) {
        found = limit_find_in_node(g, n, element, original, signal->number + 1);
        if (found >= 0)
            signal->node = n;
    }
    signal->number = (unsigned)found;
    return found >= 0;
}

static void limit_not_recorded(const struct limit_entry *e, const struct scenario_node *text,
                               struct general_element element, bool original)
{
    const struct hil_component *c = &e->g->system->components[element.component];
    const bool output = element.number < c->out_count;
    char name[HIL_SIGNAL_NAME_BYTES];

    element.number -= output ? 0 : c->out_count;
    general_name(e->g, element, output, name);
    if (original)
        scenario_mistake(
            e->g->report, &text->at,
            "no fault acts on %s, so it has no original value; allowed: signals of `faults`", name);
    else
        scenario_mistake(e->g->report, &text->at,
                         "%s is not recorded; allowed: signals that `record` names", name);
}

/* With faults, "motor.original_current_a" is motor.current_a as it would be without them. Returns
 * whether the text is such a name; sets `plain` to the other name. */
static bool limit_is_original(const struct limit_entry *e, const struct scenario_node *text,
                              struct scenario_node *plain)
{
    const size_t prefix = strlen(HIL_ORIGINAL);
    const char *signal = strchr(text->text, '.') + 1;

    *plain = *text;
    if (e->g->system->fault_count == 0 || strncmp(signal, HIL_ORIGINAL, prefix) != 0)
        return false;
    plain->text = hil_pool_text(e->g->system->pool, text->text);
    if (plain->text)
        memmove(plain->text + (signal - text->text), signal + prefix, strlen(signal + prefix) + 1);
    return true;
}

static int limit_signals(struct limit_entry *e, const struct scenario_node *text)
{
    struct hil_limit_signal signal = {0};
    struct scenario_node plain;
    const bool original = limit_is_original(e, text, &plain);

    if (!plain.text)
        return -ENOMEM;
    e->elements.count = 0;
    int rc = general_signals(e->g, &plain, GENERAL_EITHER, &e->elements);
    for (unsigned i = 0; !rc && i < e->elements.count; i++) {
        if (limit_find_signal(e->g, e->elements.at[i], original, &signal)) {
            rc = limit_add_signal(e, signal);
            continue;
        }
        limit_not_recorded(e, text, e->elements.at[i], original);
        rc = -EINVAL;
    }
    return rc;
}

/* A name without a dot is a measure's. */
static int limit_measure_signal(struct limit_entry *e, const struct scenario_node *text)
{
    const struct hil_system *s = e->g->system;
    unsigned first, last;

    if (!general_find_measures(e->g, text, &first, &last))
        return -EINVAL;
    const struct hil_measure *m = &s->measures[first];
    const struct hil_node_config *n = &s->nodes[m->node];
    if (m->is.of || !n->decimation) {
        scenario_mistake(e->g->report, &text->at,
                         "the measure %s is not recorded; allowed: signals, and a measure that is "
                         "not made of each of several, at a node that records",
                         text->text);
        return -EINVAL;
    }
    for (unsigned i = 0; i < n->measure_count; i++)
        if (n->measures[i] == first)
            return limit_add_signal(e, (struct hil_limit_signal){m->node, true, i});
    return 0;
}

static int limit_all_signals(struct limit_entry *e)
{
    const struct scenario_node *list = scenario_node_get(e->block, "signal");
    int rc = 0;

    for (unsigned i = 0; !rc && i < general_text_count(list); i++) {
        const struct scenario_node *text = general_text_at(list, i);
        rc = strchr(text->text, '.') ? limit_signals(e, text) : limit_measure_signal(e, text);
    }
    if (!rc && e->limit->signal_count == 0) {
        limit_mistake(e, "signal", "names none; allowed: at least one");
        rc = -EINVAL;
    }
    return rc;
}

/* Returns 0, -EINVAL after a report, or -ENOMEM. */
static int limit_subject(struct limit_entry *e)
{
    const struct scenario_node *text = scenario_node_get(e->block, limit_subjects[e->limit->of]);
    unsigned *first = &e->limit->first, *last = &e->limit->last;

    switch (e->limit->of) {
    case HIL_OF_MEASURE:
        return general_find_measures(e->g, text, first, last) ? 0 : -EINVAL;
    case HIL_OF_NODES:
        return general_find(e->g, &e->g->nodes, text, strlen(text->text), first, last) ? 0
                                                                                       : -EINVAL;
    case HIL_OF_LINK:
        return limit_link(e) ? 0 : -EINVAL;
    default:
        return limit_all_signals(e);
    }
}

/* --- its bounds ------------------------------------------------------------------------------ */

static struct hil_band limit_band(const struct scenario_node *block)
{
    return (struct hil_band){limit_number(block, "min", -INFINITY),
                             limit_number(block, "max", INFINITY)};
}

static void limit_check_band(const struct limit_entry *e, const struct scenario_node *block,
                             const char *from, const char *to)
{
    const double min = limit_number(block, from, -INFINITY),
                 max = limit_number(block, to, INFINITY);

    if (min > max)
        scenario_mistake(e->g->report, &scenario_node_get(block, from)->at,
                         "%s is %g; allowed: up to %s, which is %g", from, min, to, max);
}

static void limit_step(const struct limit_entry *e, const struct scenario_node *block)
{
    const struct scenario_node *from = scenario_node_get(block, "from");
    const struct scenario_node *to = scenario_node_get(block, "to");
    struct hil_limit *limit = e->limit;

    limit->step = (struct hil_limit_step){
        .at_ns = general_ns(block, "at_s", 0, 1e9),
        .within_ns = general_ns(block, "within_ms", 0, 1e6),
        .from = limit_band(from),
        .to = limit_band(to),
    };
    limit_check_band(e, from, "min", "max");
    limit_check_band(e, to, "min", "max");
    if (from->count == 0 || to->count == 0)
        scenario_mistake(e->g->report, &(from->count ? to : from)->at,
                         "the band has no end; required: min, max, or both");
    if (limit->step.at_ns + limit->step.within_ns > limit->to_ns)
        scenario_mistake(e->g->report, &scenario_node_get(block, "at_s")->at,
                         "at_s and within_ms come to %.9g s; allowed: up to %.9g s, where the "
                         "limit's window or the run ends",
                         (double)(limit->step.at_ns + limit->step.within_ns) * 1e-9,
                         (double)limit->to_ns * 1e-9);
}

/* The column for signal `i`: its index replaces a *. */
static void limit_column(const char *pattern, unsigned i, char *text, size_t size)
{
    const char *star = strchr(pattern, '*');

    if (star)
        snprintf(text, size, "%.*s%u%s", (int)(star - pattern), pattern, i, star + 1);
    else
        snprintf(text, size, "%s", pattern);
}

static double limit_greatest(const struct hil_column_source *c)
{
    double greatest = 0;

    for (unsigned i = 0; i < c->count; i++)
        greatest = fmax(greatest, fabs(c->values[i]));
    return greatest;
}

/* Each signal has a column of the file. */
static int limit_like_csv(const struct limit_entry *e, const struct scenario_node *csv)
{
    struct hil_source *references = e->limit->like.references;
    const unsigned before = e->g->report->mistakes;
    char name[256];
    int rc = 0;

    for (unsigned i = 0; !rc && i < e->limit->signal_count && e->g->report->mistakes == before;
         i++) {
        limit_column(general_text(csv, "column"), i, name, sizeof name);
        references[i].kind = HIL_SOURCE_CSV;
        rc = general_csv(e->g, csv, name, &references[i].column);
    }
    return rc;
}

/* A single recorded signal is the reference of all. */
static int limit_like_record(const struct limit_entry *e, const struct scenario_node *record)
{
    struct hil_source *references = e->limit->like.references;
    const unsigned signals = e->limit->signal_count;
    unsigned count = 0;
    const int rc = general_replay(e->g, record, signals, references, &count);

    for (unsigned i = 0; i < signals; i++) {
        if (count == 1)
            references[i] = references[0];
        references[i].kind = HIL_SOURCE_RECORD;
    }
    return rc;
}

static void limit_check_zero(const struct limit_entry *e)
{
    for (unsigned i = 0; i < e->limit->signal_count; i++)
        if (limit_greatest(&e->limit->like.references[i].column) == 0) {
            limit_mistake(e, "like",
                          "is a reference that is 0 everywhere, so it needs an absolute tolerance; "
                          "required: absolute");
            return;
        }
}

static int limit_like(const struct limit_entry *e, const struct scenario_node *block)
{
    const struct scenario_node *csv = scenario_node_get(block, "csv");
    const struct scenario_node *record = scenario_node_get(block, "record");
    const unsigned before = e->g->report->mistakes;
    struct hil_limit_like *like = &e->limit->like;

    *like = (struct hil_limit_like){
        .references =
            hil_pool_get(e->g->system->pool, e->limit->signal_count, sizeof *like->references),
        .absolute = limit_number(block, "absolute", NAN),
        .relative = limit_number(block, "relative_pct", 0) / 100,
    };
    if (!like->references)
        return -ENOMEM;
    if (isnan(like->absolute) && like->relative == 0)
        limit_mistake(e, "like", "has no tolerance; required: absolute, relative_pct, or both");
    if (!csv == !record) {
        limit_mistake(e, "like", "is %s; allowed: one of csv, record",
                      csv ? "of both csv and record" : "of neither");
        return 0;
    }
    const int rc = csv ? limit_like_csv(e, csv) : limit_like_record(e, record);
    if (!rc && e->g->report->mistakes == before && isnan(like->absolute))
        limit_check_zero(e);
    return rc;
}

static void limit_times(const struct limit_entry *e, const struct scenario_node *block,
                        enum hil_bound bound)
{
    if (block->count == 0)
        limit_mistake(e, hil_bound_keys[bound].key,
                      "bounds nothing; allowed: at least one of p50, p99, p999, p9999, max");
    for (unsigned i = 0; i < HIL_LIMIT_TIMES; i++)
        e->limit->times[bound][i] = limit_number(block, hil_limit_times[i].key, NAN);
}

/* Lists the possible bounds for a subject: "overshoot_pct, settling_ms". */
static void limit_say_bounds(enum hil_limit_of of, char *text, size_t size)
{
    size_t used = 0;

    for (unsigned i = 0; i < HIL_BOUNDS && used < size; i++)
        if (hil_bound_keys[i].of & (1u << of))
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "",
                                     hil_bound_keys[i].key);
}

static bool limit_fits_measures(const struct limit_entry *e, const struct hil_bound_key *key)
{
    const struct hil_measure *m = &e->g->system->measures[e->limit->first];

    if (!key->needs_reference || e->limit->of != HIL_OF_MEASURE || m->has_reference)
        return true;
    limit_mistake(e, key->key,
                  "is for the measure %s, which has no reference; allowed: ripple, min, "
                  "max, or a measure with a reference",
                  m->is.name);
    return false;
}

static int limit_bound(struct limit_entry *e, enum hil_bound bound)
{
    const struct hil_bound_key *key = &hil_bound_keys[bound];
    const struct scenario_node *value = scenario_node_get(e->block, key->key);
    char allowed[400];

    if (!value)
        return 0;
    if (!(key->of & (1u << e->limit->of))) {
        limit_say_bounds(e->limit->of, allowed, sizeof allowed);
        limit_mistake(e, key->key, "is not a bound of %s; allowed: %s",
                      limit_subject_words[e->limit->of], allowed);
        return 0;
    }
    if (!limit_fits_measures(e, key))
        return 0;
    if (bound == HIL_BOUND_ROUND_TRIP && e->g->system->link_arrays[e->limit->first].back < 0) {
        limit_mistake(e, key->key,
                      "is for a link without one in the other direction; allowed: age_us, or links "
                      "both ways");
        return 0;
    }
    e->limit->given[bound] = true;
    if (bound == HIL_BOUND_STEP)
        limit_step(e, value);
    else if (bound == HIL_BOUND_LIKE)
        return limit_like(e, value);
    else if (value->kind == SCENARIO_MAPPING)
        limit_times(e, value, bound);
    else
        e->limit->bounds[bound] = strtod(value->text, NULL);
    return 0;
}

static int limit_bounds(struct limit_entry *e)
{
    char allowed[400];
    bool any = false;
    int rc = 0;

    for (unsigned i = 0; !rc && i < HIL_BOUNDS; i++) {
        any |= scenario_node_get(e->block, hil_bound_keys[i].key) != NULL;
        rc = limit_bound(e, i);
    }
    limit_say_bounds(e->limit->of, allowed, sizeof allowed);
    if (!any)
        limit_mistake(e, NULL, "bounds nothing; allowed: at least one of %s", allowed);
    return rc;
}

/* --- windows, and keys that do not fit ------------------------------------------------------- */

/* Refuses a key that belongs to a bound which the limit does not have. */
static void limit_needs(const struct limit_entry *e, const char *key, bool there, const char *what)
{
    if (scenario_node_get(e->block, key) && !there)
        limit_mistake(e, key, "goes with %s alone", what);
}

static void limit_window(struct limit_entry *e)
{
    const uint64_t duration_ns = e->g->scenario->duration_ns;
    struct hil_limit *limit = e->limit;

    limit->from_ns = limit_ns(e->block, "from_s", 1e9, 0);
    limit->to_ns = limit_ns(e->block, "to_s", 1e9, duration_ns);
    limit->slope_ns = limit_ns(e->block, "slope_over_ms", 1e6, 0);
    limit_needs(e, "from_s", limit->of == HIL_OF_SIGNAL, "signal");
    limit_needs(e, "to_s", limit->of == HIL_OF_SIGNAL, "signal");
    limit_needs(e, "events", limit->of == HIL_OF_MEASURE, "measure");
    limit_needs(e, "slope_over_ms",
                scenario_node_get(e->block, "slope_min") ||
                    scenario_node_get(e->block, "slope_max"),
                "slope_min and slope_max");
    if (limit->from_ns >= duration_ns)
        limit_mistake(e, "from_s", "is %.9g; allowed: before the run ends, at %.9g s",
                      (double)limit->from_ns * 1e-9, (double)duration_ns * 1e-9);
    else if (limit->to_ns < limit->from_ns)
        limit_mistake(e, "to_s", "is %.9g; allowed: from %.9g s on, where the window begins",
                      (double)limit->to_ns * 1e-9, (double)limit->from_ns * 1e-9);
}

static int limit_read(struct limit_entry *e)
{
    static const char *const events[] = {"all", "start_up", "later", "last"};
    struct hil_limit *limit = e->limit;

    limit->name = hil_pool_text(e->g->system->pool, e->entry->key);
    if (!limit->name)
        return -ENOMEM;
    limit->events = general_word(e->block, "events", events, 4);
    if (!limit_of(e))
        return 0;
    limit_window(e);
    limit_check_band(e, e->block, "min", "max");
    limit_check_band(e, e->block, "slope_min", "slope_max");
    int rc = limit_subject(e);
    if (!rc)
        rc = limit_bounds(e);
    return rc == -ENOMEM ? rc : 0;
}

/* Everything that limits refer to must be right first. */
int general_limits(struct general *g)
{
    const struct scenario_node *list = scenario_node_get(g->root, "limits");
    struct limit_entry e = {.g = g};
    int rc = 0;

    if (g->report->mistakes)
        return 0;
    g->system->limits = hil_pool_get(g->system->pool, list->count, sizeof(struct hil_limit));
    if (!g->system->limits)
        return -ENOMEM;
    g->system->limit_count = (unsigned)list->count;
    for (unsigned i = 0; !rc && i < list->count && !scenario_report_is_full(g->report); i++) {
        e.entry = &list->entries[i];
        e.block = e.entry->value;
        e.limit = &g->system->limits[i];
        rc = limit_read(&e);
    }
    free(e.elements.at);
    return rc;
}
