/*
 * Resolves the reference, the load and the input voltage over time.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "../yaml/scenario_check.h"
#include "form.h"

/* A ramp must end before the next change begins. */
static void check_order(const struct form_loaded *loaded, const char *block,
                        const struct hil_profile *profile)
{
    for (unsigned i = 1; i < profile->count; i++) {
        const struct hil_change *before = &profile->changes[i - 1];
        uint64_t end_ns = before->start_ns + before->ramp_ns;
        if (profile->changes[i].start_ns >= end_ns)
            continue;
        char path[64];
        snprintf(path, sizeof(path), "%s.changes.%u.time_s", block, i);
        form_mistake(loaded, path,
                     "%s is %.9g; allowed: in the order of time, here from %.9g s, when the "
                     "change before it ends",
                     path, (double)profile->changes[i].start_ns * 1e-9, (double)end_ns * 1e-9);
    }
}

static int resolve_profile(const struct form_loaded *loaded, const char *block,
                           const struct form_file_profile *file, double initial,
                           struct hil_profile *profile)
{
    profile->initial = initial;
    if (file->change_count == 0)
        return 0;
    profile->changes = calloc(file->change_count, sizeof(profile->changes[0]));
    if (profile->changes == NULL)
        return -ENOMEM;
    profile->count = file->change_count;
    for (unsigned i = 0; i < file->change_count; i++)
        profile->changes[i] = (struct hil_change){
            .start_ns = scenario_ns(file->changes[i].time_s, 1e9),
            .ramp_ns = scenario_ns(file->changes[i].ramp_s, 1e9),
            .value = file->changes[i].value,
        };
    check_order(loaded, block, profile);
    return 0;
}

/* The profile of a plant's input begins with the common value of all converters. */
static int resolve_input(const struct form_loaded *loaded, const char *block, const char *input,
                         const struct form_file_profile *file, struct hil_profile *profile)
{
    const struct form_file_converters *converters = &loaded->file->converters;
    const struct hil_model *plant = loaded->schema->form->models[converters->plant];
    double initial = 0;

    if (hil_quantity_find(&plant->inputs, input) >= 0) {
        initial =
            *converters->parameters[form_quantity_find(&loaded->schema->form->parameters, input)];
    } else if (file->change_count > 0) {
        char path[64];
        snprintf(path, sizeof(path), "%s.changes", block);
        form_mistake(loaded, path, "%s are given, but the plant %s has no input %s; allowed: none",
                     path, plant->name, input);
    }
    return resolve_profile(loaded, block, file, initial, profile);
}

int form_resolve_profiles(const struct form_loaded *loaded, struct form *form)
{
    const struct form_file *file = loaded->file;
    int error = resolve_profile(loaded, "reference", &file->reference, file->reference.value,
                                &form->reference);
    if (error == 0)
        error = resolve_input(loaded, "load", "load_ohm", &file->load, &form->load);
    if (error == 0)
        error = resolve_input(loaded, "input_voltage", "input_voltage_v", &file->input_voltage,
                              &form->input_voltage);
    return error;
}
