/*
 * Resolves the power_controller form: its law, and the settings of both roles.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "../yaml/scenario_check.h"
#include "form.h"

void form_mistake(const struct form_loaded *loaded, const char *path, const char *format, ...)
{
    const struct scenario_node *node = scenario_node_find(loaded->root, path);
    char message[1024];

    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    scenario_mistake(loaded->report, node == NULL ? &loaded->root->at : &node->at, "%s", message);
}

/* Lets the law check its gains: some combinations make no sense. */
static void try_law(const struct form_loaded *loaded, const struct form_controller *controller)
{
    char why[SCENARIO_REASON_BYTES];

    const int rc = scenario_try(controller->law, 1, controller->parameters, NULL,
                                scenario_ns(loaded->file->controller.period_us, 1e3), why);
    if (rc == -ENOEXEC)
        form_mistake(loaded, "controller.law",
                     "the law %s cannot be used (%s); allowed: one that can", controller->law->name,
                     why);
    else if (rc)
        form_mistake(loaded, "controller.gains",
                     "the law %s refuses these gains, limits and period (%s); allowed: values that "
                     "make sense together",
                     controller->law->name, why);
}

static int resolve_law_parameters(const struct form_loaded *loaded, struct form *form)
{
    struct form_controller *controller = &form->controller;
    const struct form_file_controller *file = &loaded->file->controller;
    const struct hil_quantities *table = &controller->law->parameters;
    const double *gain = file->gains;

    controller->parameters = hil_pool_get(form->pool, table->count, sizeof(double));
    if (controller->parameters == NULL)
        return -ENOMEM;
    for (unsigned i = 0; i < table->count; i++)
        if (!form_is_limit(table->at[i].name))
            controller->parameters[i] = *gain++;
    controller->parameters[hil_quantity_find(table, "duty_min")] = file->limits.duty_min;
    controller->parameters[hil_quantity_find(table, "duty_max")] = file->limits.duty_max;
    return 0;
}

static void check_catch_up(const struct form_loaded *loaded, const char *path, double limit)
{
    if (limit != 0 && limit <= 1)
        form_mistake(loaded, path,
                     "%s is %g, and it would never catch up; allowed: 0, or more than 1", path,
                     limit);
}

static int resolve_controller(const struct form_loaded *loaded, struct form *form)
{
    const struct form_file_controller *file = &loaded->file->controller;

    form->controller.law = loaded->schema->form->models[file->law];
    if (resolve_law_parameters(loaded, form) != 0)
        return -ENOMEM;
    if (file->limits.duty_min < file->limits.duty_max)
        try_law(loaded, &form->controller);
    else
        form_mistake(loaded, "controller.limits.duty_max",
                     "controller.limits.duty_max is %g; allowed: more than duty_min, which is %g",
                     file->limits.duty_max, file->limits.duty_min);
    return 0;
}

int form_resolve(const struct form_loaded *loaded, struct form *form)
{
    const struct form_file *file = loaded->file;
    const unsigned before = loaded->report->mistakes;

    check_catch_up(loaded, "controller.catch_up_limit", file->controller.late.catch_up_limit);
    form->pool = hil_pool_open();
    int error = form->pool == NULL ? -ENOMEM : resolve_controller(loaded, form);
    if (error == 0)
        error = form_resolve_profiles(loaded, form);
    check_catch_up(loaded, "converters.catch_up_limit", file->converters.late.catch_up_limit);
    if (error == 0)
        error = form_resolve_converters(loaded, form);
    if (error == 0)
        error = form_check_nodes(loaded);
    if (error != 0)
        return error;
    return loaded->report->mistakes == before ? 0 : -EINVAL;
}

void form_free(struct form *form)
{
    hil_pool_close(form->pool);
    free(form->converters);
    free(form->reference.changes);
    free(form->load.changes);
    free(form->input_voltage.changes);
}
