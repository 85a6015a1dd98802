#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../doctor/doctor.h"
#include "../doctor/fix.h"
#include "../doctor/measure.h"
#include "../doctor/report.h"
#include "commands.h"

static const char help[] =
    "usage: hiloco doctor [SCENARIO] [--set KEY=VALUE]... [--measure SECONDS] [--fix] [--strict]\n"
    "                     [--json] [--root DIR]\n"
    "\n"
    "Says what of this machine's set-up would hurt the scenario's loops in real time, why, and\n"
    "the command that mends it; then measures for how long a loop on each of their cores stands\n"
    "still, and cyclictest beside it where that is installed. Without SCENARIO: the settings of\n"
    "all cpus, and the loops of the reference scenario, on cpus 0 and 1.\n"
    "\n"
    "  --set KEY=VALUE    set a key of the scenario, as in --set controller.cpu=2\n"
    "  --parameters FILE  as for hiloco run\n"
    "  --measure SECONDS  how long to measure each core (default 5; 0: not at all); all cores at\n"
    "                     once, in turns of a second with cyclictest, so it takes twice as long\n"
    "  --fix              mend what can be put back before looking and measuring, and put it back\n"
    "                     at the end; hiloco run --fix does it for a run. It sets\n"
    "                     sched_rt_runtime_us, governors, interrupts' cpus and huge pages, and\n"
    "                     holds /dev/cpu_dma_latency\n"
    "  --strict           exit with 1 when something is serious\n"
    "  --json             print an object for programs\n"
    "  --root DIR         read another machine's /proc and /sys, copied below DIR; no measuring\n"
    "\n"
    "What is found is one of: ok; note, a refinement; warning, it costs us now and then;\n"
    "SERIOUS, loops miss deadlines by it, all the time or for milliseconds; unknown, what cannot\n"
    "be read. Commands, after a #, are for root. The exit status is 0, whatever was found; with\n"
    "--strict 1 when anything, measured gaps included, is serious; 2 when the input was wrong.\n";

struct visit {
    const struct hil_arguments *arguments;
    struct hil_patient patient;
    struct hil_findings findings;
    struct hil_measured *measured; /* NULL: nothing was */
};

static int measure(struct visit *v)
{
    const struct hil_patient *p = &v->patient;
    unsigned seconds = v->arguments->measure_s;
    int rc = -ENOMEM;

    v->measured = calloc(p->executor_count, sizeof *v->measured);
    if (v->measured)
        rc = hil_measure(p, seconds, v->measured);
    if (rc) {
        fprintf(stderr, "the measurement failed: %s\n", strerror(-rc));
        return rc;
    }
    hil_judge_gaps(p, v->measured, &v->findings.at[v->findings.count++]);
    return 0;
}

/* The findings come at once, and what is measured when it is there. */
static int visit(struct visit *v)
{
    const struct hil_arguments *a = v->arguments;
    bool will_measure = a->measure_s > 0 && !a->root;
    FILE *to = a->json ? NULL : stdout;
    int rc = 0;

    hil_examine(&v->patient, &v->findings);
    if (to) {
        hil_report_patient(&v->patient, to);
        for (unsigned i = 0; i < v->findings.count; i++)
            hil_report_finding(&v->findings.at[i], to);
        fflush(to);
    }
    if (will_measure)
        rc = measure(v);
    if (rc)
        return rc;
    if (to && will_measure) {
        hil_report_measured(&v->patient, v->measured, to);
        hil_report_finding(&v->findings.at[v->findings.count - 1], to);
    }
    if (to)
        hil_report_counts(&v->findings, to);
    else
        rc = hil_report_json(&v->patient, &v->findings, v->measured, stdout);
    return rc;
}

static int visit_mended(struct visit *v)
{
    struct hil_fix fix;
    int rc = hil_fix_begin(&fix, &v->patient, v->arguments->json ? NULL : stderr);

    if (rc) {
        fprintf(stderr, "--fix: %s\n", strerror(-rc));
        return rc;
    }
    v->patient.is_fixed = true;
    rc = visit(v);
    int put_back = hil_fix_end(&fix);
    return rc ? rc : put_back;
}

static int examine(const struct hil_arguments *a, const struct hil_scenario *scenario)
{
    static struct visit v;

    v.arguments = a;
    int rc = hil_patient_open(&v.patient, a->root ? a->root : "", scenario);
    if (rc) {
        fprintf(stderr, "%s/sys/devices/system/cpu/online does not tell which cpus there are\n",
                v.patient.root);
        return a->root ? HIL_EXIT_USAGE : HIL_EXIT_FAILED;
    }
    rc = a->fix ? visit_mended(&v) : visit(&v);
    free(v.measured);
    if (rc)
        return HIL_EXIT_FAILED;
    return a->strict && hil_findings_count(&v.findings, HIL_SERIOUS) ? HIL_EXIT_FAILED
                                                                     : HIL_EXIT_OK;
}

int hil_command_doctor(int argc, char **argv)
{
    struct hil_arguments a;
    struct hil_scenario *scenario = NULL;
    int status = HIL_EXIT_USAGE;
    int rc =
        hil_arguments_parse(&a, HIL_TAKES_SET | HIL_TAKES_FIX | HIL_TAKES_DOCTOR, help, argc, argv);

    a.options.realtime = true;
    if (rc)
        status = hil_arguments_status(rc);
    else if (!a.scenario && (a.options.set_count || a.options.parameter_count))
        fprintf(stderr, "%s: --set and --parameters are of a scenario, and none is given\n",
                argv[0]);
    else if (!a.scenario || hil_arguments_load(&a, &scenario) == 0)
        status = examine(&a, scenario);
    if (scenario)
        hil_scenario_free(scenario);
    hil_arguments_free(&a);
    return status;
}
