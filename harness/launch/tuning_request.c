#include "tuning_request.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/foreign.h"
#include "../scenario/tunables.h"
#include "../scenario/yaml/scenario_check.h"
#include "../scenario/yaml/scenario_report.h"
#include "../scenario/yaml/value_units.h"

enum { ASKED_STEPS_MAX = 1000000000 };

struct asking {
    const struct hil_scenario *scenario;
    const struct hil_tuning *tuning; /* NULL: nothing can be tuned */
    char *refusal;
};

__attribute__((format(printf, 2, 3))) static int asking_refuse(const struct asking *a,
                                                               const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(a->refusal, HIL_REFUSAL_BYTES, format, args);
    va_end(args);
    return -EINVAL;
}

/* --- names ----------------------------------------------------------------------------------- */

static int asking_find(const struct asking *a, const char *name)
{
    for (unsigned i = 0; a->tuning && i < a->tuning->count; i++)
        if (strcmp(a->tuning->tunables[i].name, name) == 0)
            return (int)i;
    return a->tuning ? hil_tunable_of_input(a->scenario->system, name) : -1;
}

/* Whether the name is a parameter that is not tunable. */
static bool asking_is_fixed(const struct asking *a, const char *name)
{
    const struct hil_system *s = a->scenario->system;

    for (unsigned i = 0; i < s->component_count; i++) {
        const struct hil_component *c = &s->components[i];
        const struct hil_quantities *table = &c->model->parameters;
        char is[HIL_SIGNAL_NAME_BYTES];
        hil_instance_name(&c->is, is);
        const size_t length = strlen(is);
        if (strncmp(name, is, length) != 0 || name[length] != '.')
            continue;
        for (unsigned p = 0; p < hil_places_before(table, c->width, table->count); p++) {
            hil_place_name(table, c->width, p, is);
            if (strcmp(is, name + length + 1) == 0)
                return true;
        }
    }
    return false;
}

/* Refuses an unknown name, with a similar name if there is one. */
static int asking_unknown(const struct asking *a, const char *name)
{
    const unsigned count = a->tuning ? a->tuning->count : 0;
    const char **names = calloc(count + 1, sizeof *names);
    const char *is = asking_is_fixed(a, name) ? "a parameter that is not tunable"
                                              : "no parameter and no source of this run";
    char fit[256];

    hil_foreign_text(fit, sizeof fit, name, strlen(name));
    for (unsigned i = 0; names && i < count; i++)
        names[i] = a->tuning->tunables[i].name;
    const char *near = names ? scenario_near_miss(name, names, count) : NULL;
    free(names);
    if (near)
        return asking_refuse(a, "%s is %s (did you mean '%s'?)", fit, is, near);
    return asking_refuse(a, "%s is %s; allowed: %s", fit, is,
                         count ? "a name that hiloco set lists" : "none, it has none");
}

/* --- "set" ----------------------------------------------------------------------------------- */

static int asking_check_value(const struct asking *a, const struct hil_tunable_state *t,
                              const struct hil_quantity *row, double value)
{
    char range[128];

    if (!(value >= t->min && value <= t->max)) {
        scenario_say_range(t->min, t->max, t->unit, range, sizeof range);
        return asking_refuse(a, "%s: %g is out of range; allowed: %s", t->name, value, range);
    }
    if (row && row->flags & HIL_WHOLE && value != floor(value))
        return asking_refuse(a, "%s: %g is not whole; allowed: whole numbers", t->name, value);
    return 0;
}

static int asking_ramp(const struct asking *a, const struct hil_tunable_state *t,
                       const json_t *ramp, uint64_t *ramp_ns)
{
    const double ramp_s = json_number_value(ramp);

    if (!ramp)
        return 0;
    if (!json_is_number(ramp) || !(ramp_s >= 0 && ramp_s <= 1e6))
        return asking_refuse(a, "%s: a ramp takes 0 to 1e6 s", t->name);
    if (ramp_s > 0 && !t->is_source)
        return asking_refuse(a, "%s is a parameter, and has no ramp; allowed: of a source",
                             t->name);
    *ramp_ns = (uint64_t)llround(ramp_s * 1e9);
    return 0;
}

/* A number, or a text with a number and its unit. */
static int asking_value(const struct asking *a, const struct hil_tunable_state *t,
                        const json_t *given, double *value)
{
    char number[SCENARIO_VALUE_BYTES], why[SCENARIO_UNIT_WHY_BYTES], fit[64];
    const char *text = json_string_value(given);

    *value = json_number_value(given);
    if (!text)
        return 0;
    if (scenario_value_convert(number, text, t->unit, why)) {
        *value = strtod(number, NULL);
        return 0;
    }
    hil_foreign_text(fit, sizeof fit, text, strlen(text));
    return asking_refuse(a, "%s: '%s' is no number%s%s; allowed: a number%s%s", t->name, fit,
                         *why ? ": " : "", why, *t->unit ? ", perhaps with a unit, of " : "",
                         t->unit);
}

static int asking_one(const struct asking *a, json_t *change, struct hil_request *request)
{
    struct hil_change_wanted *wanted = &request->changes[request->count];
    const json_t *value = json_object_get(change, "value");
    const char *name = json_string_value(json_object_get(change, "name"));

    if (!name || !(json_is_number(value) || json_is_string(value)))
        return asking_refuse(a, "a change has a name and a value, which is a number or a text");
    const int tunable = asking_find(a, name);
    if (tunable < 0)
        return asking_unknown(a, name);
    *wanted = (struct hil_change_wanted){.tunable = (unsigned)tunable};
    for (unsigned i = 0; i < request->count; i++)
        if (request->changes[i].tunable == wanted->tunable)
            return asking_refuse(a, "%s: it is set twice", a->tuning->tunables[tunable].name);
    const struct hil_tunable_state *t = &a->tuning->tunables[tunable];
    const struct hil_system *system = a->scenario->system;
    int rc = asking_value(a, t, value, &wanted->value);
    if (!rc)
        rc = asking_check_value(a, t, hil_tunable_row(system, &system->tunables[tunable]),
                                wanted->value);
    if (!rc)
        rc = asking_ramp(a, t, json_object_get(change, "ramp_s"), &wanted->ramp_ns);
    request->count += !rc;
    return rc;
}

static int asking_set(const struct asking *a, const json_t *list, struct hil_request *request)
{
    const size_t count = json_array_size(list);
    int rc = 0;

    if (count < 1 || count > HIL_CHANGES_MAX)
        return asking_refuse(a, "\"set\" is a list of 1 to %d changes", HIL_CHANGES_MAX);
    for (size_t i = 0; !rc && i < count; i++)
        rc = asking_one(a, json_array_get(list, i), request);
    return rc;
}

/* --- "control" ------------------------------------------------------------------------------- */

const char *hil_asked_name(enum hil_asked what)
{
    static const char *const names[] = {"set", "pause", "resume", "step", "stop"};

    return names[what];
}

static int asking_control(const struct asking *a, const json_t *root, struct hil_asked_for *asked)
{
    const char *name = json_string_value(json_object_get(root, "control"));
    const json_t *steps = json_object_get(root, "steps");

    for (unsigned i = HIL_ASKED_PAUSE; name && i <= HIL_ASKED_STOP; i++)
        if (strcmp(name, hil_asked_name(i)) == 0)
            asked->what = i;
    if (asked->what == HIL_ASKED_SET)
        return asking_refuse(a, "\"control\" is one of pause, resume, step, stop");
    if (asked->what != HIL_ASKED_STOP && a->scenario->mode == HIL_REALTIME)
        return asking_refuse(a, "%s: the run is in real time, which does not wait; allowed: stop",
                             name);
    if (steps && (!json_is_integer(steps) || json_integer_value(steps) < 1 ||
                  json_integer_value(steps) > ASKED_STEPS_MAX))
        return asking_refuse(a, "steps: a whole number from 1 to %d is allowed", ASKED_STEPS_MAX);
    asked->steps = steps ? (uint64_t)json_integer_value(steps) : 1;
    return 0;
}

/* --- all of it ------------------------------------------------------------------------------- */

static bool asking_has_first_node(const struct asking *a)
{
    for (unsigned i = 0; i < a->scenario->executor_count; i++)
        if (hil_executor_has(&a->scenario->executors[i], 0))
            return true;
    return false;
}

/* Changes go through node 0. */
static int asking_may_set(const struct asking *a)
{
    char name[HIL_SIGNAL_NAME_BYTES];

    if (a->scenario->replay)
        return asking_refuse(a, "the run replays recorded changes, and accepts no others");
    if (asking_has_first_node(a))
        return 0;
    hil_instance_name(&a->scenario->system->nodes[0].is, name);
    return asking_refuse(
        a, "the node %s, which accepts all changes, runs elsewhere: send the change there", name);
}

int hil_tuning_request_read(struct hil_asked_for *asked, const char *text, size_t length,
                            const struct hil_scenario *scenario, const struct hil_tuning *tuning,
                            char refusal[HIL_REFUSAL_BYTES])
{
    const struct asking a = {scenario, tuning, refusal};
    json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL);
    const json_t *list = json_object_get(root, "set");
    int rc;

    *asked = (struct hil_asked_for){.what = HIL_ASKED_SET};
    if (list)
        rc = asking_may_set(&a);
    else if (json_object_get(root, "control"))
        rc = asking_control(&a, root, asked);
    else
        rc = asking_refuse(
            &a, "this is not a request; allowed: a JSON object with \"set\" or \"control\"");
    if (!rc && list)
        rc = asking_set(&a, list, &asked->request);
    json_decref(root);
    return rc;
}
