#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/in_child.h"
#include "../h5/run_files.h"
#include "../launch/part.h"
#include "../tools/merge/merge.h"
#include "commands.h"

static const char help[] =
    "usage: hiloco merge DIR... [--out DIR] [--partial] [--quiet]\n"
    "\n"
    "Merges the results that the processes of one run left, each in a DIR of its own: on several\n"
    "machines, by mpirun, srun or by hand. The result has one record of all nodes, with times on\n"
    "the clock of the first node's machine, and a summary that judges the run as a whole. For "
    "each\n"
    "node it says how its clock differed from the first node's, and how well that is known.\n"
    "\n"
    "  --out DIR     folder of the result (default: results/NAME-TIMESTAMP)\n"
    "  --partial     accept missing parts, such as that of a machine that died; the run is then "
    "not\n"
    "                valid. A part that was killed has a record (hiloco recover)\n"
    "  --quiet       no closing words\n"
    "\n"
    "Exit status: as for hiloco run: 0; 1 if a part failed, or is missing; 2 if the parts are not\n"
    "those of one run and of this version of hiloco, or one is missing, and nothing is written; 3\n"
    "if the run is not valid; 4 if it is valid and a limit failed.\n";

/* The output folder must not contain a part: clearing it would remove the part. */
static int merge_check_out(const struct hil_arguments *a)
{
    char *out = a->out ? realpath(a->out, NULL) : NULL;
    bool inside = false;

    for (unsigned i = 0; out && !inside && i < a->scenario_count; i++) {
        char *part = realpath(a->scenarios[i], NULL);
        const size_t length = strlen(out);
        inside = part && strncmp(part, out, length) == 0 &&
                 (part[length] == '/' || part[length] == '\0');
        free(part);
        if (inside)
            fprintf(stderr, "--out %s: it contains %s, and its contents would be replaced\n",
                    a->out, a->scenarios[i]);
    }
    free(out);
    return inside ? -EINVAL : 0;
}

static int merge_parts(const struct hil_arguments *a, struct hil_scenario *scenario)
{
    struct hil_merge_from *parts = calloc(a->scenario_count, sizeof *parts);
    int status = HIL_EXIT_FAILED;

    for (unsigned i = 0; parts && i < a->scenario_count; i++)
        parts[i] = (struct hil_merge_from){a->scenarios[i], a->scenarios[i]};
    if (parts)
        status = hil_merge_run(&(struct hil_merge){.scenario = scenario,
                                                   .parts = parts,
                                                   .count = a->scenario_count,
                                                   .partial = a->partial,
                                                   .quiet = a->quiet,
                                                   .out = a->out});
    free(parts);
    fflush(stdout); /* this process ends without flushing */
    return status;
}

/* Runs in a child, since the files may be damaged. The scenario is taken from the first part, which
 * has it in full. */
static int merge(const void *arguments)
{
    struct hil_arguments a = *(const struct hil_arguments *)arguments;
    struct hil_trace_reader *first;
    struct hil_scenario *scenario;
    char path[HIL_PATH_BYTES];

    if (merge_check_out(&a) || hil_run_open_trace(&first, a.scenarios[0], stderr))
        return HIL_EXIT_USAGE;
    hil_trace_reader_close(first);
    if (hil_run_path(path, a.scenarios[0], "scenario.yaml"))
        return HIL_EXIT_USAGE;
    a.scenario = path;
    if (hil_arguments_load(&a, &scenario)) {
        hil_part_tell_version(a.scenarios[0], stderr); /* a different version may be the reason */
        return HIL_EXIT_USAGE;
    }
    const int status = merge_parts(&a, scenario);
    hil_scenario_free(scenario);
    return status;
}

int hil_command_merge(int argc, char **argv)
{
    struct hil_arguments a;
    int rc = hil_arguments_parse(
        &a, HIL_TAKES_SCENARIOS | HIL_TAKES_OUT | HIL_TAKES_QUIET | HIL_TAKES_PARTIAL, help, argc,
        argv);
    int status = rc ? hil_arguments_status(rc) : hil_in_child(merge, &a, a.scenario, stderr);

    hil_arguments_free(&a);
    return status;
}
