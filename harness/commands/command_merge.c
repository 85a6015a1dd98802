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

struct merge_arguments {
    struct hil_arguments given;
    const char *out;
    bool quiet, partial;
};

static const struct hil_option options[] = {
    HIL_OPTION("out", hil_read_text, struct merge_arguments, out),
    HIL_FLAG("quiet", struct merge_arguments, quiet),
    HIL_FLAG("partial", struct merge_arguments, partial),
    {0},
};

/* The output folder must not contain a part: clearing it would remove the part. */
static int merge_check_out(const struct merge_arguments *a)
{
    char *out = a->out ? realpath(a->out, NULL) : NULL;
    bool inside = false;

    for (unsigned i = 0; out && !inside && i < a->given.scenario_count; i++) {
        char *part = realpath(a->given.scenarios[i], NULL);
        const size_t length = strlen(out);
        inside = part && strncmp(part, out, length) == 0 &&
                 (part[length] == '/' || part[length] == '\0');
        free(part);
        if (inside)
            fprintf(stderr, "--out %s: it contains %s, and its contents would be replaced\n",
                    a->out, a->given.scenarios[i]);
    }
    free(out);
    return inside ? -EINVAL : 0;
}

static int merge_parts(const struct merge_arguments *a, struct hil_scenario *scenario)
{
    struct hil_merge_from *parts = calloc(a->given.scenario_count, sizeof *parts);
    int status = HIL_EXIT_FAILED;

    for (unsigned i = 0; parts && i < a->given.scenario_count; i++)
        parts[i] = (struct hil_merge_from){a->given.scenarios[i], a->given.scenarios[i]};
    if (parts)
        status = hil_merge_run(&(struct hil_merge){.scenario = scenario,
                                                   .parts = parts,
                                                   .count = a->given.scenario_count,
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
    struct merge_arguments a = *(const struct merge_arguments *)arguments;
    struct hil_trace_reader *first;
    struct hil_scenario *scenario;
    char path[HIL_PATH_BYTES];

    if (merge_check_out(&a) || hil_run_open_trace(&first, a.given.scenarios[0], stderr))
        return HIL_EXIT_USAGE;
    hil_trace_reader_close(first);
    if (hil_run_path(path, a.given.scenarios[0], "scenario.yaml"))
        return HIL_EXIT_USAGE;
    a.given.scenario = path;
    if (hil_arguments_load(&a.given, &scenario)) {
        hil_part_tell_version(a.given.scenarios[0],
                              stderr); /* a different version may be the reason */
        return HIL_EXIT_USAGE;
    }
    const int status = merge_parts(&a, scenario);
    hil_scenario_free(scenario);
    return status;
}

int hil_command_merge(int argc, char **argv)
{
    struct merge_arguments a = {0};
    int rc = hil_arguments_parse(&a.given, &(struct hil_command){help, options, 1, 0}, argc, argv);
    int status = rc ? hil_arguments_status(rc) : hil_in_child(merge, &a, a.given.scenario, stderr);

    hil_arguments_free(&a.given);
    return status;
}
