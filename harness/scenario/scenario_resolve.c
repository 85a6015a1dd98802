#include "scenario_resolve.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenario_check.h"
#include "scenario_form.h"

void scenario_mistake_in(const struct scenario_loaded *loaded, const char *path, const char *format,
                         ...)
{
    const struct scenario_node *node = scenario_node_find(loaded->root, path);
    char message[1024];

    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    scenario_mistake(loaded->report, node == NULL ? &loaded->root->at : &node->at, "%s", message);
}

static void resolve_network(const struct file_network *file, struct hil_network *network)
{
    *network = (struct hil_network){
        .latency_up_ns = scenario_ns(file->latency_up_us, 1e3),
        .latency_down_ns = scenario_ns(file->latency_down_us, 1e3),
        .jitter_ns = scenario_ns(file->jitter_us, 1e3),
        .seed = file->seed,
    };
}

static void keep_reason(void *arg, const char *line)
{
    snprintf(arg, SCENARIO_REASON_BYTES, "%s", line);
}

int scenario_try(const struct hil_model *model, unsigned width, const double *parameters,
                 const double *states, uint64_t period_ns, char why[SCENARIO_REASON_BYTES])
{
    const struct hil_config config = {
        .size = sizeof(config),
        .width = width,
        .period_s = (double)period_ns * 1e-9,
        .parameters = parameters,
        .states = states,
        .log = keep_reason,
        .log_arg = why,
    };
    void *self;

    why[0] = '\0';
    int rc = model->create(&self, &config);
    if (rc == 0)
        model->destroy(self);
    else if (why[0] == '\0')
        keep_reason(why, strerror(-rc));
    return rc;
}

/* A law has the last word about its gains: some make no sense together. */
static void try_law(const struct scenario_loaded *loaded,
                    const struct hil_controller_config *controller)
{
    char why[SCENARIO_REASON_BYTES];

    if (scenario_try(controller->law, 1, controller->parameters, NULL, controller->timing.period_ns,
                     why))
        scenario_mistake_in(loaded, "controller.gains",
                            "the law %s refuses these gains, limits and period (%s); allowed: "
                            "values that make sense together",
                            controller->law->name, why);
}

static void resolve_law_parameters(const struct scenario_loaded *loaded,
                                   struct hil_controller_config *controller)
{
    const struct file_controller *file = &loaded->file->controller;
    const struct hil_quantities *table = &controller->law->parameters;
    const double *gain = file->gains;

    for (unsigned i = 0; i < table->count; i++)
        if (!scenario_is_limit(table->at[i].name))
            controller->parameters[i] = *gain++;
    controller->parameters[hil_quantity_find(table, "duty_min")] = file->limits.duty_min;
    controller->parameters[hil_quantity_find(table, "duty_max")] = file->limits.duty_max;
}

void scenario_resolve_late(const struct scenario_loaded *loaded, const char *role,
                           const struct file_late *file, struct hil_timing *timing,
                           struct hil_stale_config *stale)
{
    const double limit = file->catch_up_limit;
    char path[40];

    timing->overrun = file->overrun;
    timing->catch_up_ns = limit == 0 ? 0 : (uint64_t)((double)timing->period_ns / limit);
    timing->resync_ns = scenario_ns(file->resync_after_us, 1e3);
    *stale = (struct hil_stale_config){.limit_ns = scenario_ns(file->input_age_limit_us, 1e3),
                                       .action = file->on_stale_input,
                                       .bad_limit = file->bad_inputs_limit};
    if (limit == 0 || limit > 1)
        return;
    snprintf(path, sizeof(path), "%s.catch_up_limit", role);
    scenario_mistake_in(loaded, path,
                        "%s is %g, and it would never catch up; allowed: 0, or more "
                        "than 1",
                        path, limit);
}

/* A busy machine holds up a process for moments, which must not be fatal. */
static void resolve_hang_limit(const struct scenario_loaded *loaded, struct hil_scenario *scenario)
{
    const double limit_s = loaded->file->hang_limit_s, least_s = 0.1;

    scenario->hang_limit_ns = scenario_ns(limit_s, 1e9);
    if (limit_s > 0 && limit_s < least_s)
        scenario_mistake_in(loaded, "hang_limit_s",
                            "hang_limit_s is %g; allowed: 0, or at least %g", limit_s, least_s);
}

static void resolve_validity(const struct file_validity *file, struct hil_validity_config *validity)
{
    *validity = (struct hil_validity_config){
        .missed_percent = file->missed_percent,
        .gap_ns = scenario_ns(file->gap_us, 1e3),
        .behind_ns = scenario_ns(file->behind_us, 1e3),
        .stale_inputs = file->stale_inputs,
        .bad_inputs = file->bad_inputs,
        .lost_records = file->lost_records,
        .allow_degraded = file->allow_degraded,
        .required = file->required,
    };
}

static void resolve_controller(const struct scenario_loaded *loaded,
                               struct hil_controller_config *controller)
{
    const struct file_controller *file = &loaded->file->controller;
    const double phase_us =
        file->phase_us + (loaded->file->mode == HIL_REALTIME ? file->realtime_phase_us : 0);

    *controller = (struct hil_controller_config){
        .law = loaded->schema->models[file->law],
        .timing = {.period_ns = scenario_ns(file->period_us, 1e3),
                   .phase_ns = scenario_ns(phase_us, 1e3)},
        .on_error = file->late.on_error,
        .computation_delay = file->computation_delay,
    };
    scenario_resolve_late(loaded, "controller", &file->late, &controller->timing,
                          &controller->stale);
    resolve_law_parameters(loaded, controller);

    if (file->limits.duty_min < file->limits.duty_max)
        try_law(loaded, controller);
    else
        scenario_mistake_in(loaded, "controller.limits.duty_max",
                            "controller.limits.duty_max is %g; allowed: more than duty_min, which "
                            "is %g",
                            file->limits.duty_max, file->limits.duty_min);
}

int scenario_resolve_run(const struct scenario_loaded *loaded, struct hil_scenario *scenario)
{
    const struct scenario_file *file = loaded->file;

    scenario->name = strdup(file->name);
    if (scenario->name == NULL)
        return -ENOMEM;
    scenario->duration_ns = scenario_ns(file->duration_s, 1e9);
    scenario->mode = file->mode;
    scenario->on_lost = file->on_lost;
    scenario->fabric = file->mode == HIL_VIRTUAL ? HIL_FABRIC_SIM : file->fabric;
    scenario->recording = file->recording;
    scenario->trace = file->trace;
    resolve_hang_limit(loaded, scenario);
    resolve_validity(&file->validity, &scenario->validity);
    return 0;
}

int scenario_resolve(const struct scenario_loaded *loaded, struct hil_scenario *scenario)
{
    unsigned before = loaded->report->mistakes;
    int error = scenario_resolve_run(loaded, scenario);

    if (error != 0)
        return error;
    resolve_network(&loaded->file->network, &scenario->network);
    resolve_controller(loaded, &scenario->controller);
    error = scenario_resolve_profiles(loaded, scenario);
    if (error == 0)
        error = scenario_resolve_converters(loaded, scenario);
    if (error == 0)
        error = scenario_check_placement(loaded);
    if (error == 0)
        error = scenario_resolve_verbs(loaded, scenario);
    if (error != 0)
        return error;
    return loaded->report->mistakes == before ? 0 : -EINVAL;
}
