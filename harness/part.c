#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "meeting.h"

/* What job launchers call this process's rank, how many there are, and the job. */
static const struct {
    const char *rank, *size, *job;
} launchers[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_MCA_ess_base_jobid"},
    {"PMI_RANK", "PMI_SIZE", "PMI_JOBID"},
    {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_JOB_ID"},
};

enum { LAUNCHERS = sizeof launchers / sizeof launchers[0] };

/* With a process for each node, rank 0 is the controller; with one for each converter the
 * controller was started elsewhere. */
static int converter_of_rank(const struct hil_scenario *s, unsigned *id)
{
    for (int i = 0; i < LAUNCHERS; i++) {
        const char *rank = getenv(launchers[i].rank), *size = getenv(launchers[i].size);
        if (!rank || !size)
            continue;
        unsigned long r = strtoul(rank, NULL, 10), n = strtoul(size, NULL, 10);
        if (n == s->converter_count + 1 && r > 0)
            r--;
        else if (n != s->converter_count)
            break;
        *id = (unsigned)r;
        return 0;
    }
    return -EINVAL;
}

static bool parse_range(const char *text, unsigned *first, unsigned *last)
{
    char *end;

    if (!isdigit((unsigned char)*text))
        return false;
    *first = *last = (unsigned)strtoul(text, &end, 10);
    if (*end == '-' && isdigit((unsigned char)end[1]))
        *last = (unsigned)strtoul(end + 1, &end, 10);
    return *end == '\0' && *first <= *last;
}

static int which_converters(const struct hil_scenario *s, const char *ids, unsigned *first,
                            unsigned *last)
{
    if (!ids) {
        int rc = converter_of_rank(s, first);
        *last = *first;
        if (rc)
            fprintf(stderr,
                    "which converter? Give --id, or start one process for each of the %u "
                    "converters (or for each node, the controller first) by mpirun or srun\n",
                    s->converter_count);
        return rc;
    }
    if (parse_range(ids, first, last) && *last < s->converter_count)
        return 0;
    fprintf(stderr, "--id %s: a converter 0 to %u, or a range such as 0-%u, is allowed\n", ids,
            s->converter_count - 1, s->converter_count - 1);
    return -EINVAL;
}

/* Leaves the scenario with one executor: this process's. One that serves only part of what the
 * scenario places on a core shares that core with others, and must not spin on it as its own. */
static void keep_only(struct hil_scenario *s, const unsigned *nodes, unsigned count)
{
    struct hil_executor_config only = {.nodes = nodes, .count = count, .cpu = -1};
    bool found = false;

    for (unsigned i = 0; i < s->executor_count; i++) {
        const struct hil_executor_config *e = &s->executors[i];
        if (e->count != count || memcmp(e->nodes, nodes, count * sizeof *nodes) != 0)
            continue;
        found = true;
        only = *e;
    }
    if (!found)
        fprintf(stderr, "warning: other nodes are placed on the same core: not pinned, and on the "
                        "ordinary scheduler\n");
    s->executors[0] = only;
    s->executor_count = 1;
}

/* The job that a launcher made, if one did. */
static const char *find_job(void)
{
    for (int i = 0; i < LAUNCHERS; i++)
        if (getenv(launchers[i].job))
            return getenv(launchers[i].job);
    return "";
}

static int run_part(const struct hil_arguments *a, struct hil_scenario *s, bool controller)
{
    char directory[HIL_PLACE_SIZE];
    unsigned first = 1, last = 0;
    struct loco_secret secret;

    if (hil_secret_given(&secret))
        return HIL_EXIT_USAGE;
    if (a->run_directory && strlen(a->run_directory) >= HIL_PLACE_SIZE) {
        fprintf(stderr, "--run-dir %s: at most %d bytes are allowed\n", a->run_directory,
                HIL_PLACE_SIZE - 1);
        return HIL_EXIT_USAGE;
    }
    if (!controller && which_converters(s, a->ids, &first, &last))
        return HIL_EXIT_USAGE;
    const unsigned count = controller ? 1 : last - first + 1;
    unsigned *nodes = calloc(count, sizeof *nodes);
    if (!nodes)
        return HIL_EXIT_FAILED;
    for (unsigned i = 0; i < count; i++)
        nodes[i] = controller ? 0 : 1 + first + i;
    keep_only(s, nodes, count);
    if (s->fabric == HIL_FABRIC_VERBS && !secret.size && !a->quiet)
        fprintf(stderr, "warning: without HILOCO_SECRET, the same at every node, whoever has the "
                        "address of a node may take its place\n");
    hil_meeting_derive(directory, s->name, find_job(), secret);
    const struct hil_launch launch = {
        .scenario = s,
        .run_directory = a->run_directory ? a->run_directory : directory,
        .secret = secret,
        .out = a->out,
        .discard = !controller && !a->out,
        .keep_quiet = a->quiet,
        .wait_s = a->wait_s,
    };
    const int status = hil_launch(&launch);
    free(nodes);
    return status;
}

int hil_part_main(int argc, char **argv, bool controller, const char *help)
{
    struct hil_arguments a;
    struct hil_scenario *scenario;
    int status = HIL_EXIT_USAGE;
    unsigned takes = HIL_TAKES_SET | HIL_TAKES_OUT | HIL_TAKES_QUIET | HIL_TAKES_MEETING |
                     (controller ? 0 : HIL_TAKES_ID);
    int rc = hil_arguments_parse(&a, takes, help, argc, argv);

    a.options.realtime = true;
    if (rc) {
        status = hil_arguments_status(rc);
    } else if (hil_arguments_load(&a, &scenario) == 0) {
        status = run_part(&a, scenario, controller);
        hil_scenario_free(scenario);
    }
    hil_arguments_free(&a);
    return status;
}
