#include "form.h"

#include <stdio.h>
#include <string.h>

/* A signal or a parameter that the form needs. */
struct needed {
    const char *name, *unit;
};

static const struct needed duty[] = {{"duty", ""}};
static const struct needed measured[] = {{"voltage_v", "V"}, {"current_a", "A"}};
static const struct needed limits[] = {{"duty_min", ""}, {"duty_max", ""}};
static const struct needed law_inputs[] = {
    {"reference_v", "V"}, {"voltage_v", "V"}, {"current_a", "A"}};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool form_has(const struct hil_quantities *table, const char *kind,
                     const struct needed *needed, size_t count, char *why)
{
    for (size_t i = 0; i < count; i++) {
        int at = hil_quantity_find(table, needed[i].name);
        if (at < 0) {
            snprintf(why, FORM_WHY_BYTES, "it has no %s %s", kind, needed[i].name);
            return false;
        }
        const struct hil_quantity *q = &table->at[at];
        if (strcmp(q->unit, needed[i].unit) == 0 && !(q->flags & HIL_WIDE))
            continue;
        snprintf(why, FORM_WHY_BYTES, "its %s %s is not one number in %s", kind, q->name,
                 needed[i].unit);
        return false;
    }
    return true;
}

static bool form_is_kind(const struct hil_model *m, uint32_t kind, char *why)
{
    if (hil_model_check(m, why, FORM_WHY_BYTES))
        return false;
    if (m->kind == kind && m->width_max == 1)
        return true;
    snprintf(why, FORM_WHY_BYTES, "it is %s",
             m->width_max > 1         ? "wide"
             : kind == HIL_CONTINUOUS ? "not continuous"
                                      : "not sampled");
    return false;
}

/* Whether nothing would feed an input. */
static bool form_feeds_all(const struct hil_quantities *inputs, char *why)
{
    for (unsigned i = 0; i < inputs->count; i++) {
        const struct hil_quantity *q = &inputs->at[i];
        bool fed = !(q->flags & HIL_REQUIRED);
        for (size_t k = 0; !fed && k < COUNT(law_inputs); k++)
            fed = strcmp(q->name, law_inputs[k].name) == 0 &&
                  strcmp(q->unit, law_inputs[k].unit) == 0;
        if (fed)
            continue;
        snprintf(why, FORM_WHY_BYTES, "nothing feeds its input %s", q->name);
        return false;
    }
    return true;
}

bool form_plant_fits(const struct hil_model *m, char why[FORM_WHY_BYTES])
{
    return form_is_kind(m, HIL_CONTINUOUS, why) &&
           form_has(&m->inputs, "input", duty, COUNT(duty), why) &&
           form_has(&m->outputs, "output", measured, COUNT(measured), why);
}

bool form_law_fits(const struct hil_model *m, char why[FORM_WHY_BYTES])
{
    return form_is_kind(m, HIL_SAMPLED, why) &&
           form_has(&m->outputs, "output", duty, COUNT(duty), why) &&
           form_has(&m->parameters, "parameter", limits, COUNT(limits), why) &&
           form_feeds_all(&m->inputs, why);
}

const struct hil_model *form_plant_named(const char *name)
{
    const struct hil_model *m = name == NULL ? NULL : hil_model_find(name);
    char why[FORM_WHY_BYTES];

    return m != NULL && form_plant_fits(m, why) ? m : NULL;
}

const struct hil_model *form_law_named(const char *name)
{
    const struct hil_model *m = name == NULL ? NULL : hil_model_find(name);
    char why[FORM_WHY_BYTES];

    return m != NULL && form_law_fits(m, why) ? m : NULL;
}

bool form_is_duty(const char *input)
{
    return strcmp(input, duty[0].name) == 0 || strcmp(input, "enable") == 0;
}

bool form_is_limit(const char *parameter)
{
    return strcmp(parameter, limits[0].name) == 0 || strcmp(parameter, limits[1].name) == 0;
}
