/* From what libcyaml loaded to the scenario: the run, whatever runs in it. */
#include "scenario_resolve.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "scenario_check.h"

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
        .model = model,
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

/* A busy machine holds up a process for moments, which must not be fatal. */
static void resolve_hang_limit(struct scenario_node *root, double limit_s,
                               struct hil_scenario *scenario, struct scenario_report *report)
{
    const double least_s = 0.1;

    scenario->hang_limit_ns = scenario_ns(limit_s, 1e9);
    if (limit_s > 0 && limit_s < least_s)
        scenario_mistake(report, &scenario_node_get(root, "hang_limit_s")->at,
                         "hang_limit_s is %g; allowed: 0, or at least %g", limit_s, least_s);
}

static void resolve_validity(const struct scenario_file_validity *file,
                             struct hil_validity_config *validity)
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

int scenario_resolve_run(struct scenario_node *root, const struct scenario_file *file,
                         struct hil_scenario *scenario, struct scenario_report *report)
{
    scenario->name = strdup(file->name);
    if (scenario->name == NULL)
        return -ENOMEM;
    scenario->duration_ns = scenario_ns(file->duration_s, 1e9);
    scenario->mode = file->mode;
    scenario->on_lost = file->on_lost;
    scenario->fabric = file->mode == HIL_VIRTUAL ? HIL_FABRIC_SIM : file->fabric;
    scenario->on_record_error = file->on_record_error;
    scenario->trace = file->trace;
    resolve_hang_limit(root, file->hang_limit_s, scenario, report);
    resolve_validity(&file->validity, &scenario->validity);
    return 0;
}
