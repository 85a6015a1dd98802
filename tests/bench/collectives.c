/* Compares barrier, broadcast and SST with OpenMPI's collectives of 8 bytes, between two ranks. */
#include "pair.h"
#include "rivals.h"

/* --- broadcast: an owned_var, and who owns takes turns ---------------------------------------- */

struct vars {
    struct loco_owned_var of[2]; /* by owner */
    uint64_t count;
};

/* As in the rival, the roots take turns, so that no root runs ahead of what has arrived. */
static void broadcasts(struct pair *p, void *arg, unsigned times)
{
    struct vars *v = arg;
    uint64_t value;

    for (unsigned i = 0; i < times; i++) {
        struct loco_owned_var *var = &v->of[v->count % 2];
        v->count++;
        if (var->owner == p->side) {
            loco_owned_var_store(var, &v->count);
            loco_owned_var_push(var);
            continue;
        }
        do
            loco_owned_var_load(var, &value);
        while (value < v->count);
    }
}

/* --- SST: each tells its row and waits for the other's ---------------------------------------- */

struct table {
    struct loco_sst sst;
    uint64_t count;
};

static void gathers(struct pair *p, void *arg, unsigned times)
{
    struct table *t = arg;
    const struct loco_owned_var *theirs = loco_sst_row(&t->sst, !p->side);
    uint64_t value;

    for (unsigned i = 0; i < times; i++) {
        t->count++;
        loco_sst_store_mine(&t->sst, &t->count);
        loco_sst_push_broadcast(&t->sst);
        do
            loco_owned_var_load(theirs, &value);
        while (value < t->count);
    }
}

static void barriers(struct pair *p, void *arg, unsigned times)
{
    (void)p;
    for (unsigned i = 0; i < times; i++)
        loco_barrier_wait(arg);
}

/* --- a run ------------------------------------------------------------------------------------ */

enum { BARRIER, BROADCAST, GATHER }; /* benchmark.parameter */

static int collectives_body(struct pair *p)
{
    static pair_act *const acts[] = {barriers, broadcasts, gathers};
    static struct loco_barrier barrier;
    static struct vars vars;
    static struct table table;
    void *const args[] = {&barrier, &vars, &table};
    struct loco_fabric *fabric;
    struct loco_manager *m;
    int rc = pair_open_node(p, &fabric, &m);

    if (!rc)
        rc = loco_barrier_init(&barrier, m, NULL, "barrier", LOCO_ALL);
    if (!rc)
        rc = loco_owned_var_init(&vars.of[0], m, NULL, "of-0", 0, LOCO_ALL, sizeof(uint64_t));
    if (!rc)
        rc = loco_owned_var_init(&vars.of[1], m, NULL, "of-1", 1, LOCO_ALL, sizeof(uint64_t));
    if (!rc)
        rc = loco_sst_init(&table.sst, m, NULL, "sst", LOCO_ALL, sizeof(uint64_t));
    if (!rc)
        rc = loco_manager_ready(m, PAIR_TIMEOUT_NS);
    if (rc)
        return rc;
    pair_beside_raw(p, acts[p->benchmark->parameter], args[p->benchmark->parameter]);
    loco_sst_fini(&table.sst);
    loco_owned_var_fini(&vars.of[0]);
    loco_owned_var_fini(&vars.of[1]);
    loco_barrier_fini(&barrier);
    pair_close_node(p, fabric, m);
    return 0;
}

static int measure_collective(const struct benchmark *b, const struct bench_options *o,
                              struct bench_sample *sample)
{
    static const char *const names[] = {"barrier", "broadcast", "allgather"};
    int rc = pair_run(b, o, collectives_body, NULL, sample);

    if (rc)
        return rc;
    return rival_mpi(o, sample, 2, &sample->against, 1, "mpi_collectives", "%s %g %d,%d",
                     names[b->parameter], o->seconds, o->cpus[0], o->cpus[1]);
}

#define COLLECTIVE(row, rival, which)                                                              \
    {                                                                                              \
        .name = row, .unit = "ns", .against = rival, .target_ratio = 1, .cores = 2,                \
        .parameter = which, .measure = measure_collective                                          \
    }

const struct benchmark collective_benchmarks[] = {
    COLLECTIVE("barrier", "MPI_Barrier", BARRIER),
    COLLECTIVE("broadcast_8", "MPI_Bcast", BROADCAST),
    COLLECTIVE("sst_8", "MPI_Allgather", GATHER),
    {0},
};
