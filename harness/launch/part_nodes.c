#include "part_nodes.h"
#include "../base/digits.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The environment variables in which job launchers set this process's rank, the number of ranks,
 * and the job; NULL: not set. */
static const struct {
    const char *rank, *size, *job;
} launchers[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_MCA_ess_base_jobid"},
    {"PMI_RANK", "PMI_SIZE", "PMI_JOBID"},
    {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_JOB_ID"},
    {"PMIX_RANK", NULL, "PMIX_NAMESPACE"},
    {"JOB_COMPLETION_INDEX", NULL, NULL}, /* Kubernetes */
};

enum { LAUNCHERS = sizeof launchers / sizeof launchers[0] };

int hil_part_named(const struct hil_system *s, const char *list, const char *what, bool *chosen)
{
    char message[HIL_REFERENCE_BYTES];

    for (const char *name = list; name; name = strchr(name, ',')) {
        unsigned first, last;
        name += *name == ',';
        if (!hil_system_find_nodes(s, name, strcspn(name, ","), &first, &last, message)) {
            fprintf(stderr, "%s: %s\n", what, message);
            return -EINVAL;
        }
        for (unsigned n = first; n <= last; n++)
            chosen[n] = true;
    }
    return 0;
}

static bool is_count(const char *text, unsigned *value)
{
    uint64_t number;
    const bool is = hil_whole_number(text, UINT_MAX, &number);

    *value = (unsigned)number;
    return is;
}

int hil_part_rank(struct hil_part_rank *rank)
{
    *rank = (struct hil_part_rank){0};
    for (int i = 0; i < LAUNCHERS; i++) {
        const char *is = getenv(launchers[i].rank);
        const char *of = launchers[i].size ? getenv(launchers[i].size) : NULL;
        if (!is || (launchers[i].size && !of))
            continue;
        snprintf(rank->said, sizeof rank->said,
                 of ? "%s is '%.20s' of '%.20s': " : "%s is '%.20s': ", launchers[i].rank, is, of);
        if (!is_count(is, &rank->is) || (of && !is_count(of, &rank->of)))
            return -EINVAL;
        return !of || rank->is < rank->of ? 0 : -EINVAL;
    }
    return -EINVAL;
}

const char *hil_part_job(void)
{
    for (int i = 0; i < LAUNCHERS; i++)
        if (launchers[i].job && getenv(launchers[i].job))
            return getenv(launchers[i].job);
    return "";
}
