/* Converts the part about the run from libcyaml's structures. */
#include "scenario_resolve.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "../../base/in_child.h"
#include "../../models/component.h"
#include "../../models/models.h"
#include "scenario_check.h"

enum { SCENARIO_TRY_SECONDS = 10, TRY_UNUSABLE = 2 };

static void keep_reason(void *arg, const char *line)
{
    snprintf(arg, SCENARIO_REASON_BYTES, "%s", line);
}

/* --- testing numbers with the model ----------------------------------------------------------- */

struct trial {
    const struct hil_model *model;
    struct hil_config config;
};

static int try_here(const struct trial *t)
{
    void *self = NULL;
    const int rc = hil_component_create(&self, &t->config);

    if (rc == 0)
        hil_component_destroy(t->model, self);
    return rc;
}

static int try_work(const void *arg)
{
    hil_in_child_within(SCENARIO_TRY_SECONDS);
    const int rc = try_here(arg);
    return rc == 0 ? 0 : rc == -ENOEXEC ? TRY_UNUSABLE : 1;
}

/* Runs in a separate process, because the code may hang or crash, and should leave nothing in this
 * process's memory. */
static int try_apart(struct trial *t, char why[SCENARIO_REASON_BYTES])
{
    char *shared = mmap(NULL, SCENARIO_REASON_BYTES, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int status;

    if (shared == MAP_FAILED)
        return -errno;
    t->config.log_arg = shared;
    int rc = hil_in_child_wait(try_work, t, &status);
    if (!rc && WIFSIGNALED(status)) {
        rc = -ECHILD;
        if (WTERMSIG(status) == SIGALRM)
            snprintf(why, SCENARIO_REASON_BYTES, "it was not made within %d s",
                     SCENARIO_TRY_SECONDS);
        else
            snprintf(why, SCENARIO_REASON_BYTES, "it crashes as it is made: SIG%s",
                     sigabbrev_np(WTERMSIG(status)));
    } else if (!rc && WEXITSTATUS(status)) {
        rc = WEXITSTATUS(status) == TRY_UNUSABLE ? -ENOEXEC : -EDOM;
        snprintf(why, SCENARIO_REASON_BYTES, "%s", shared);
    }
    munmap(shared, SCENARIO_REASON_BYTES);
    return rc;
}

int scenario_try(const struct hil_model *model, unsigned width, const double *parameters,
                 const double *states, uint64_t period_ns, char why[SCENARIO_REASON_BYTES])
{
    struct trial t = {
        .model = model,
        .config =
            {
                .size = sizeof(t.config),
                .width = width,
                .period_s = (double)period_ns * 1e-9,
                .parameters = parameters,
                .states = states,
                .log = keep_reason,
                .log_arg = why,
                .model = model,
                .trial = 1,
            },
    };

    why[0] = '\0';
    const int rc = hil_model_is_apart(model) ? try_apart(&t, why) : try_here(&t);
    if (rc != 0 && why[0] == '\0')
        keep_reason(why, strerror(-rc));
    return rc;
}

/* --- the run ---------------------------------------------------------------------------------- */

/* A busy machine may delay a process briefly, which must not be fatal. */
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
        .lost_percent = file->lost_percent,
        .gap_ns = scenario_ns(file->gap_us, 1e3),
        .behind_ns = scenario_ns(file->behind_us, 1e3),
        .stale_inputs = file->stale_inputs,
        .bad_inputs = file->bad_inputs,
        .absent_faults = file->absent_faults,
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
    scenario->stop_ramp_ns = scenario_ns(file->stop_ramp_s, 1e9);
    scenario->tuning = file->tuning;
    scenario->mode = file->mode;
    scenario->on_lost = file->on_lost;
    scenario->fabric = file->mode == HIL_VIRTUAL ? HIL_FABRIC_SIM : file->fabric;
    if (file->rendezvous != NULL)
        hil_rendezvous_place_parse(file->rendezvous, &scenario->rendezvous);
    scenario->on_record_error = file->on_record_error;
    scenario->trace = file->trace;
    resolve_hang_limit(root, file->hang_limit_s, scenario, report);
    resolve_validity(&file->validity, &scenario->validity);
    return 0;
}
