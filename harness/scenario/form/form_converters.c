/*
 * Calculates the numbers of each converter: the common values, then its override, then its
 * multipliers.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../yaml/scenario_check.h"
#include "form.h"

enum { NO_OVERRIDE = -1 };

/* A converter under construction. */
struct draft {
    const struct form_loaded *loaded;
    unsigned id;
    int index; /* index of its override, or NO_OVERRIDE */
    const struct form_file_override *override;
    struct form_converter *converter;
};

/* --- finding the override ----------------------------------------------------------------- */

static void claim(const struct form_loaded *loaded, unsigned index, int *override_of)
{
    const struct form_file_override *override = &loaded->file->converters.overrides[index];
    unsigned first, last;

    scenario_ids_parse(override->id, &first, &last);
    for (unsigned id = first; id <= last; id++) {
        if (override_of[id] == NO_OVERRIDE) {
            override_of[id] = (int)index;
            continue;
        }
        char path[64];
        snprintf(path, sizeof(path), "converters.overrides.%u.id", index);
        form_mistake(loaded, path,
                     "%s is %s, but converter %u has an override already, number %d; "
                     "allowed: one for each converter",
                     path, override->id, id, override_of[id]);
        return;
    }
}

/* The index of the override for each converter; the caller frees the list. */
static int *find_overrides(const struct form_loaded *loaded)
{
    const struct form_file_converters *converters = &loaded->file->converters;
    int *override_of = malloc(converters->count * sizeof(*override_of));

    if (override_of == NULL)
        return NULL;
    for (unsigned id = 0; id < converters->count; id++)
        override_of[id] = NO_OVERRIDE;
    for (unsigned i = 0; i < converters->override_count && !scenario_report_is_full(loaded->report);
         i++)
        claim(loaded, i, override_of);
    return override_of;
}

/* --- numbers by name -------------------------------------------------------------------- */

/* The override's value, or else the common value; NULL if there is neither. */
static const double *choose(double *const *overriding, double *const *common, int quantity)
{
    if (quantity < 0)
        return NULL;
    return overriding != NULL && overriding[quantity] != NULL ? overriding[quantity]
                                                              : common[quantity];
}

static const double *parameter(const struct draft *draft, const char *name)
{
    return choose(draft->override == NULL ? NULL : draft->override->parameters,
                  draft->loaded->file->converters.parameters,
                  form_quantity_find(&draft->loaded->schema->form->parameters, name));
}

static const double *state(const struct draft *draft, const char *name)
{
    return choose(draft->override == NULL ? NULL : draft->override->initial,
                  draft->loaded->file->converters.initial,
                  form_quantity_find(&draft->loaded->schema->form->states, name));
}

static double multiplier(const struct draft *draft, const char *name)
{
    int quantity = form_quantity_find(&draft->loaded->schema->form->parameters, name);
    const double *list =
        quantity < 0 ? NULL : draft->loaded->file->converters.tolerance.multipliers[quantity];
    return list == NULL ? 1 : list[draft->id];
}

/* The path of a converter's value: in its override if it has the value, otherwise in the common
 * block. */
static void path_of(const struct draft *draft, const char *block, const char *name, char *path,
                    size_t size)
{
    snprintf(path, size, "converters.overrides.%d.%s.%s", draft->index, block, name);
    if (draft->index == NO_OVERRIDE || scenario_node_find(draft->loaded->root, path) == NULL)
        snprintf(path, size, "converters.%s.%s", block, name);
}

/* Each value is in its range, but may leave it by its multiplier, or in another plant. */
static void check_range(const struct draft *draft, const char *block,
                        const struct hil_quantity *quantity, double value)
{
    char path[256], range[128];

    if (value >= quantity->min && value <= quantity->max)
        return;
    path_of(draft, block, quantity->name, path, sizeof(path));
    scenario_say_range(quantity->min, quantity->max, quantity->unit, range, sizeof(range));
    form_mistake(draft->loaded, path, "%s makes %.9g of converter %u, a %s; allowed: %s", path,
                 value, draft->id, draft->converter->plant->name, range);
}

static void resolve_parameters(const struct draft *draft, const struct hil_quantities *table,
                               double *values)
{
    for (unsigned i = 0; i < table->count; i++) {
        const char *name = table->at[i].name;
        const double *nominal = parameter(draft, name);
        values[i] = (nominal == NULL ? table->at[i].value : *nominal) * multiplier(draft, name);
        if (nominal == NULL && table->at[i].flags & HIL_OWN)
            values[i] = NAN;
        else
            check_range(draft, "parameters", &table->at[i], values[i]);
    }
}

static void resolve_states(const struct draft *draft)
{
    const struct hil_quantities *table = &draft->converter->plant->states;

    for (unsigned i = 0; i < table->count; i++) {
        const double *initial = state(draft, table->at[i].name);
        draft->converter->states[i] = initial == NULL ? table->at[i].value : *initial;
        if (initial == NULL && table->at[i].flags & HIL_OWN)
            draft->converter->states[i] = NAN;
        else
            check_range(draft, "initial", &table->at[i], draft->converter->states[i]);
    }
}

/* An override may only name quantities of its own plant; the schema accepts those of any plant. */
static void check_names(const struct draft *draft, const char *block, double *const *given,
                        const struct form_quantities *names, const struct hil_quantities *table,
                        const struct hil_quantities *more)
{
    for (unsigned i = 0; given != NULL && i < names->count; i++) {
        const char *name = names->at[i].name;
        if (given[i] == NULL || hil_quantity_find(table, name) >= 0 ||
            (more != NULL && hil_quantity_find(more, name) >= 0))
            continue;
        char path[256];
        path_of(draft, block, name, path, sizeof(path));
        form_mistake(draft->loaded, path,
                     "%s is given, but the plant %s has no %s; allowed: the names that "
                     "docs/scenario.md lists for it",
                     path, draft->converter->plant->name, name);
    }
}

/* --- profiles --------------------------------------------------------------------------- */

/*
 * A converter's factor on a profile, such that the converter sees its own constant before the first
 * change: its multiplier times the ratio of its override to the common value.
 */
static double factor(const struct draft *draft, const char *input, const char *block,
                     const struct hil_profile *profile)
{
    const double *own = parameter(draft, input);
    double factor = multiplier(draft, input);

    if (own == NULL || *own == profile->initial)
        return factor;
    if (profile->initial != 0)
        return factor * *own / profile->initial;
    if (profile->count > 0)
        form_mistake(draft->loaded, block,
                     "%s changes in proportion for converter %u, which has its own %s, but "
                     "converters.parameters.%s is 0; allowed: more than 0",
                     block, draft->id, input, input);
    return factor;
}

static void check_profile(const struct draft *draft, const char *input, const char *block,
                          const struct hil_profile *profile, double own_factor)
{
    const struct hil_quantities *inputs = &draft->converter->plant->inputs;
    int index = hil_quantity_find(inputs, input);

    for (unsigned i = 0; index >= 0 && i < profile->count; i++) {
        const struct hil_quantity *quantity = &inputs->at[index];
        double value = profile->changes[i].value * own_factor;
        if (value >= quantity->min && value <= quantity->max)
            continue;
        char path[64], range[128];
        snprintf(path, sizeof(path), "%s.changes.%u.%s", block, i, input);
        scenario_say_range(quantity->min, quantity->max, quantity->unit, range, sizeof(range));
        form_mistake(draft->loaded, path, "%s makes %.9g of converter %u; allowed: %s", path, value,
                     draft->id, range);
    }
}

static void resolve_factors(const struct draft *draft, const struct form *form)
{
    struct form_converter *converter = draft->converter;

    converter->load_factor = factor(draft, "load_ohm", "load", &form->load);
    converter->input_voltage_factor =
        factor(draft, "input_voltage_v", "input_voltage", &form->input_voltage);
    check_profile(draft, "load_ohm", "load", &form->load, converter->load_factor);
    check_profile(draft, "input_voltage_v", "input_voltage", &form->input_voltage,
                  converter->input_voltage_factor);
}

/* --- one converter ---------------------------------------------------------------------- */

static void resolve_timing(const struct draft *draft)
{
    const struct form_file_converters *file = &draft->loaded->file->converters;
    const struct form_file_override *override = draft->override;
    struct form_converter *converter = draft->converter;

    converter->period_ns = scenario_ns(file->period_us, 1e3);
    converter->phase_ns =
        scenario_ns(file->phase_us, 1e3) + draft->id * scenario_ns(file->stagger_us, 1e3);
    if (override != NULL && override->period_us != NULL)
        converter->period_ns = scenario_ns(*override->period_us, 1e3);
    if (override != NULL && override->phase_us != NULL)
        converter->phase_ns = scenario_ns(*override->phase_us, 1e3);
}

/* Lets the plant check its parameters: some combinations make no sense. */
static void try_plant(const struct draft *draft)
{
    const struct form_converter *converter = draft->converter;
    char why[SCENARIO_REASON_BYTES];

    const int rc = scenario_try(converter->plant, 1, converter->parameters, converter->states,
                                converter->period_ns, why);
    if (!rc)
        return;
    if (rc == -ENOEXEC) {
        form_mistake(draft->loaded, "converters.plant",
                     "the plant %s cannot be used for converter %u (%s); allowed: one that can",
                     converter->plant->name, draft->id, why);
        return;
    }
    char path[64] = "converters.parameters";
    if (draft->index != NO_OVERRIDE)
        snprintf(path, sizeof(path), "converters.overrides.%d", draft->index);
    form_mistake(draft->loaded, path,
                 "the plant %s refuses the parameters and period of converter %u (%s); "
                 "allowed: values that make sense together",
                 converter->plant->name, draft->id, why);
}

/* Allocates the numbers of its plant. */
static int make_room(const struct draft *draft, struct hil_pool *pool)
{
    struct form_converter *converter = draft->converter;
    const struct hil_model *plant = converter->plant;

    converter->parameters = hil_pool_get(pool, plant->parameters.count, sizeof(double));
    converter->inputs = hil_pool_get(pool, plant->inputs.count, sizeof(double));
    converter->states = hil_pool_get(pool, plant->states.count, sizeof(double));
    return converter->parameters && converter->inputs && converter->states ? 0 : -ENOMEM;
}

static int resolve_converter(const struct draft *draft, const struct form *form)
{
    const struct form_loaded *loaded = draft->loaded;
    const struct form_file_converters *file = &loaded->file->converters;
    const struct form_file_override *override = draft->override;
    struct form_converter *converter = draft->converter;
    unsigned before = loaded->report->mistakes;

    converter->plant =
        loaded->schema->form
            ->models[override != NULL && override->plant != NULL ? *override->plant : file->plant];
    converter->duty_initial = override != NULL && override->duty_initial != NULL
                                  ? *override->duty_initial
                                  : file->duty_initial;
    if (make_room(draft, form->pool) != 0)
        return -ENOMEM;
    resolve_timing(draft);
    resolve_parameters(draft, &converter->plant->parameters, converter->parameters);
    resolve_parameters(draft, &converter->plant->inputs, converter->inputs);
    resolve_states(draft);
    if (override != NULL) {
        check_names(draft, "parameters", override->parameters, &loaded->schema->form->parameters,
                    &converter->plant->parameters, &converter->plant->inputs);
        check_names(draft, "initial", override->initial, &loaded->schema->form->states,
                    &converter->plant->states, NULL);
    }
    resolve_factors(draft, form);
    if (loaded->report->mistakes == before)
        try_plant(draft);
    return 0;
}

int form_resolve_converters(const struct form_loaded *loaded, struct form *form)
{
    const struct form_file_converters *file = &loaded->file->converters;
    int *override_of = find_overrides(loaded);

    form->converters = calloc(file->count, sizeof(form->converters[0]));
    if (override_of == NULL || form->converters == NULL) {
        free(override_of);
        return -ENOMEM;
    }
    form->converter_count = file->count;

    /* a mistake in a common value must not be reported for each converter */
    unsigned before = loaded->report->mistakes;
    int error = 0;
    for (unsigned id = 0; error == 0 && id < file->count && loaded->report->mistakes == before;
         id++) {
        int index = override_of[id];
        struct draft draft = {
            .loaded = loaded,
            .id = id,
            .index = index,
            .override = index == NO_OVERRIDE ? NULL : &file->overrides[index],
            .converter = &form->converters[id],
        };
        error = resolve_converter(&draft, form);
    }
    free(override_of);
    return error;
}
