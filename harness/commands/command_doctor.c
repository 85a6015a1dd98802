#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../doctor/doctor.h"
#include "../doctor/fix.h"
#include "../doctor/measure.h"
#include "../doctor/report.h"
#include "capacity.h"
#include "commands.h"

static const char help[] =
    "usage: hiloco doctor [SCENARIO] [--set KEY=VALUE]... [--parameters FILE]...\n"
    "                     [--measure SECONDS] [--fix] [--strict] [--json] [--root DIR]\n"
    "       hiloco doctor SCENARIO --capacity [--set KEY=VALUE]... [--parameters FILE]...\n"
    "\n"
    "Reports settings of this machine that would hurt the scenario's real-time loops, why, and "
    "the\n"
    "command that fixes each. Then it measures how long each loop's core is taken away from a "
    "busy\n"
    "thread, and compares this with cyclictest if that is installed. Without SCENARIO it checks\n"
    "all cpus, and assumes the loops of the reference scenario on cpus 0 and 1.\n"
    "\n"
    "  --set KEY=VALUE    set a key of the scenario, for example --set nodes.controller.cpu=2\n"
    "  --parameters FILE  as for hiloco run\n"
    "  --measure SECONDS  how long to measure (default 5; 0: not at all). All cores are measured "
    "at\n"
    "                     once, in turns of a second with cyclictest, so it takes twice as long\n"
    "  --fix              apply the fixes that can be undone before checking and measuring, and\n"
    "                     undo them at the end; hiloco run --fix does so for a run. It sets\n"
    "                     sched_rt_runtime_us, governors, interrupts' cpus and huge pages, and\n"
    "                     holds /dev/cpu_dma_latency\n"
    "  --capacity         instead find the shortest period of each loop that this machine holds,\n"
    "                     by runs in real time that take about 20 s in all\n"
    "  --strict           exit with 1 if a finding is serious\n"
    "  --json             print a JSON object\n"
    "  --root DIR         read a copy of another machine's /proc and /sys from DIR, and do not\n"
    "                     measure\n"
    "\n"
    "A finding is ok; a note, which is a refinement; a warning, which costs something now and "
    "then;\n"
    "SERIOUS, if loops miss deadlines all the time or for milliseconds; or unknown, if it cannot "
    "be\n"
    "read. Commands after a # need root. The exit status is 0, whatever was found; with --strict "
    "it\n"
    "is 1 if any finding, measured gaps included, is serious; 2 if the input was wrong.\n";

struct doctor_arguments {
    struct hil_arguments given;
    unsigned measure_s;
    const char *root;
    bool fix, strict, json, capacity;
};

static int read_seconds(const char *name, const char *text, void *to)
{
    uint64_t number;
    const int rc = hil_read_whole(name, text, 0, 100000, &number);

    if (!rc)
        *(unsigned *)to = (unsigned)number;
    return rc;
}

static const struct hil_option options[] = {
    HIL_SET_OPTIONS,
    HIL_OPTION("measure", read_seconds, struct doctor_arguments, measure_s),
    HIL_OPTION("root", hil_read_text, struct doctor_arguments, root),
    HIL_FLAG("fix", struct doctor_arguments, fix),
    HIL_FLAG("strict", struct doctor_arguments, strict),
    HIL_FLAG("json", struct doctor_arguments, json),
    HIL_FLAG("capacity", struct doctor_arguments, capacity),
    {0},
};

struct visit {
    const struct doctor_arguments *arguments;
    struct hil_machine machine;
    struct hil_findings findings;
    struct hil_measured *measured; /* NULL: nothing was */
};

static int measure(struct visit *v)
{
    const struct hil_machine *p = &v->machine;
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

/* Prints the findings at once, and the measurement when it is finished. */
static int visit(struct visit *v)
{
    const struct doctor_arguments *a = v->arguments;
    bool will_measure = a->measure_s > 0 && !a->root;
    FILE *to = a->json ? NULL : stdout;
    int rc = 0;

    hil_examine(&v->machine, &v->findings);
    if (to) {
        hil_report_machine(&v->machine, to);
        for (unsigned i = 0; i < v->findings.count; i++)
            hil_report_finding(&v->findings.at[i], to);
        fflush(to);
    }
    if (will_measure)
        rc = measure(v);
    if (rc)
        return rc;
    if (to && will_measure) {
        hil_report_measured(&v->machine, v->measured, to);
        hil_report_finding(&v->findings.at[v->findings.count - 1], to);
    }
    if (to)
        hil_report_counts(&v->findings, to);
    else
        rc = hil_report_json(&v->machine, &v->findings, v->measured, stdout);
    return rc;
}

static int visit_mended(struct visit *v)
{
    struct hil_fix fix;
    int rc = hil_fix_begin(&fix, &v->machine, v->arguments->json ? NULL : stderr);

    if (rc) {
        fprintf(stderr, "--fix: %s\n", strerror(-rc));
        return rc;
    }
    v->machine.is_fixed = true;
    rc = visit(v);
    int put_back = hil_fix_end(&fix);
    return rc ? rc : put_back;
}

static int examine(const struct doctor_arguments *a, const struct hil_scenario *scenario)
{
    static struct visit v;

    v.arguments = a;
    int rc = hil_machine_open(&v.machine, a->root ? a->root : "", scenario);
    if (rc) {
        fprintf(stderr, "%s/sys/devices/system/cpu/online does not list the cpus\n",
                v.machine.root);
        return a->root ? HIL_EXIT_USAGE : HIL_EXIT_FAILED;
    }
    rc = a->fix ? visit_mended(&v) : visit(&v);
    free(v.measured);
    if (rc)
        return HIL_EXIT_FAILED;
    return a->strict && hil_findings_count(&v.findings, HIL_SERIOUS) ? HIL_EXIT_FAILED
                                                                     : HIL_EXIT_OK;
}

static int check_for_capacity(const struct doctor_arguments *a)
{
    const char *with = a->json ? "--json" : a->fix ? "--fix" : a->root ? "--root" : NULL;

    if (!a->capacity || (a->given.scenario && !with))
        return 0;
    if (with)
        fprintf(stderr, "--capacity: it does not go with %s\n", with);
    else
        fprintf(stderr, "--capacity: it needs a scenario\n");
    return -EINVAL;
}

int hil_command_doctor(int argc, char **argv)
{
    struct doctor_arguments a = {.measure_s = 5};
    struct hil_scenario *scenario = NULL;
    int status = HIL_EXIT_USAGE;
    int rc = hil_arguments_parse(&a.given, &(struct hil_command){help, options, 0, 1}, argc, argv);

    a.given.options.realtime = true;
    if (rc)
        status = hil_arguments_status(rc);
    else if (!a.given.scenario && (a.given.options.set_count || a.given.options.parameter_count))
        fprintf(stderr, "%s: --set and --parameters need a scenario, and none is given\n", argv[0]);
    else if (check_for_capacity(&a) == 0 &&
             (!a.given.scenario || hil_arguments_load(&a.given, &scenario) == 0))
        status = a.capacity ? hil_capacity(&a.given, scenario, stdout) : examine(&a, scenario);
    if (scenario)
        hil_scenario_free(scenario);
    hil_arguments_free(&a.given);
    return status;
}
