/*
 * soak: runs the workloads under chaos for as many seeds as asked, and says which seed of
 * which workload fails, if any does.
 *
 *      soak [--seeds N] [--from SEED] [--chaos 1..3] [--only WORKLOAD] [--quiet]
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/sim/workload.h"

struct settings {
    uint64_t seeds, from;
    enum loco_sim_chaos chaos;
    const char *only;
    bool quiet;
};

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* A heavy workload's share of the time is that of the others, not of the seeds. */
static uint64_t seeds_for(const struct workload *w, uint64_t seeds)
{
    return w->weight > 1 ? (seeds + w->weight - 1) / w->weight : seeds;
}

static bool run(const struct workload *w, const struct settings *s)
{
    double begin = seconds();
    uint64_t seeds = seeds_for(w, s->seeds);
    uint64_t passed = workload_run_seeds(w, s->from, seeds, s->chaos, !s->quiet);

    printf("%-24s %8llu of %llu seeds pass%s  %.1f s\n", w->name, (unsigned long long)passed,
           (unsigned long long)seeds, passed == seeds ? "" : ", then one FAILS", seconds() - begin);
    return passed == seeds;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"seeds", required_argument, NULL, 's'}, {"from", required_argument, NULL, 'f'},
        {"chaos", required_argument, NULL, 'c'}, {"only", required_argument, NULL, 'o'},
        {"quiet", no_argument, NULL, 'q'},       {0},
    };
    struct settings s = {.seeds = 100000, .from = 1, .chaos = LOCO_SIM_DEFERRED};
    bool all_passed = true, any = false;
    int option;

    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (option == 's')
            s.seeds = strtoull(optarg, NULL, 10);
        else if (option == 'f')
            s.from = strtoull(optarg, NULL, 10);
        else if (option == 'c')
            s.chaos = (enum loco_sim_chaos)atoi(optarg);
        else if (option == 'o')
            s.only = optarg;
        else if (option == 'q')
            s.quiet = true;
        else
            return 2;
    }
    for (const struct workload *const *w = workloads; *w; w++) {
        if (s.only && strcmp(s.only, (*w)->name) != 0)
            continue;
        any = true;
        all_passed &= run(*w, &s);
    }
    if (!any)
        fprintf(stderr, "there is no workload %s\n", s.only);
    return any && all_passed ? 0 : 1;
}
