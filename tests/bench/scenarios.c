#include "scenarios.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "harness/record/streams.h"
#include "harness/run/privileges.h"
#include "harness/scenario/load/load.h"

static void log_error(void *arg, enum loco_level level, const char *text)
{
    (void)arg;
    if (level == LOCO_ERROR)
        fprintf(stderr, "%s\n", text);
}

int bench_run_open(struct bench_run *run, const struct bench_options *o, const char *file,
                   bool virtual_time, const char *const *sets, size_t set_count)
{
    const struct hil_scenario_options options = {.sets = sets,
                                                 .set_count = set_count,
                                                 .realtime = !virtual_time,
                                                 .virtual_time = virtual_time};
    char path[4096], message[1024] = "";

    *run = (struct bench_run){0};
    snprintf(path, sizeof path, "%s/%s", o->configs, file);
    int rc = hil_scenario_load(&run->scenario, path, &options, message, sizeof message);
    if (rc) {
        fprintf(stderr, "%s", message);
        return rc;
    }
    run->run = (struct hil_run){.scenario = run->scenario, .log = log_error};
    rc = temporary_folder(run->directory) ? hil_state_open(&run->run.state, run->scenario) : -errno;
    if (rc)
        bench_run_close(run);
    return rc;
}

int bench_run_record(struct bench_run *run)
{
    snprintf(run->trace, sizeof run->trace, "%s/trace.h5", run->directory);
    return hil_streams_open(&run->run.recorder, run->trace, run->scenario);
}

void bench_run_close(struct bench_run *run)
{
    hil_recorder_close(run->run.recorder);
    if (run->trace[0])
        unlink(run->trace);
    rmdir(run->directory);
    hil_state_close(run->run.state);
    hil_scenario_free(run->scenario);
}

int bench_run_side(struct pair *p, const struct hil_run *run,
                   int (*act)(struct pair *p, const struct hil_group *g))
{
    struct hil_run mine = *run;
    struct loco_fabric *fabric;
    struct hil_group group;
    int rc = loco_shm_open(&fabric, p->directory);

    if (rc)
        return rc;
    hil_flush_denormals();
    mine.executor = p->side == CONTROLLER ? 0 : 1; /* without placement */
    rc = hil_group_start(&group, &mine, fabric, &run->scenario->executors[mine.executor],
                         PAIR_TIMEOUT_NS);
    if (!rc)
        rc = act(p, &group);
    hil_group_end(&group, HIL_DONE);
    hil_group_close(&group);
    loco_shm_close(fabric);
    return rc;
}
