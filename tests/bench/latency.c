/* Measures the latency from one core's store to another core's load: raw, with owned_vars, and of a
 * whole barrier. */
#include <stdlib.h>
#include <string.h>

#include "pair.h"

/* --- the physical limit ---------------------------------------------------------------------- */

static int raw_body(struct pair *p)
{
    pair_beside_raw(p, pair_round_trips, NULL);
    return 0;
}

static int measure_round_trip(const struct benchmark *b, const struct bench_options *o,
                              struct bench_sample *sample)
{
    return pair_run(b, o, raw_body, NULL, sample);
}

/* Both sides of the comparison use half of the round trip. */
static int measure_one_way(const struct benchmark *b, const struct bench_options *o,
                           int (*body)(struct pair *p), struct bench_sample *sample)
{
    int rc = pair_run(b, o, body, NULL, sample);

    sample->value /= 2;
    sample->against /= 2;
    return rc;
}

static int measure_raw_one_way(const struct benchmark *b, const struct bench_options *o,
                               struct bench_sample *sample)
{
    return measure_one_way(b, o, raw_body, sample);
}

/* --- owned_var: store and push here, until a load sees it there ------------------------------ */

struct vars {
    struct loco_owned_var mine, theirs;
    uint64_t value[LOCO_INLINE_MAX / sizeof(uint64_t)];
    uint64_t count;
};

static void push_next(struct vars *v)
{
    v->value[0] = v->count;
    loco_owned_var_put(&v->mine, v->value);
}

static void load_next(struct vars *v)
{
    uint64_t value[LOCO_INLINE_MAX / sizeof(uint64_t)];

    do
        loco_owned_var_load(&v->theirs, value);
    while (value[0] < v->count);
}

static void var_round_trips(struct pair *p, void *arg, unsigned times)
{
    struct vars *v = arg;

    for (unsigned i = 0; i < times; i++) {
        v->count++;
        if (p->side == 0) {
            push_next(v);
            load_next(v);
        } else {
            load_next(v);
            push_next(v);
        }
    }
}

static int init_vars(struct vars *v, const struct pair *p, struct loco_manager *m)
{
    const char *names[] = {"there", "back"};
    const unsigned other = !p->side;
    const size_t size = p->benchmark->parameter;
    int rc = loco_owned_var_init(&v->mine, m, NULL, names[p->side], p->side, LOCO_ALL, size);

    if (!rc)
        rc = loco_owned_var_init(&v->theirs, m, NULL, names[other], other, LOCO_ALL, size);
    return rc ? rc : loco_manager_ready(m, PAIR_TIMEOUT_NS);
}

static int var_body(struct pair *p)
{
    struct vars v = {0};
    struct loco_fabric *fabric;
    struct loco_manager *m;
    int rc = pair_open_node(p, &fabric, &m);

    if (!rc)
        rc = init_vars(&v, p, m);
    if (rc)
        return rc;
    pair_beside_raw(p, var_round_trips, &v);
    loco_owned_var_fini(&v.mine);
    loco_owned_var_fini(&v.theirs);
    pair_close_node(p, fabric, m);
    return 0;
}

static int measure_var(const struct benchmark *b, const struct bench_options *o,
                       struct bench_sample *sample)
{
    return measure_one_way(b, o, var_body, sample);
}

/* --- barrier ---------------------------------------------------------------------------------- */

static void barriers(struct pair *p, void *arg, unsigned times)
{
    (void)p;
    for (unsigned i = 0; i < times; i++)
        loco_barrier_wait(arg);
}

static int barrier_body(struct pair *p)
{
    struct loco_fabric *fabric;
    struct loco_manager *m;
    struct loco_barrier barrier;
    int rc = pair_open_node(p, &fabric, &m);

    if (!rc)
        rc = loco_barrier_init(&barrier, m, NULL, "barrier", LOCO_ALL);
    if (!rc)
        rc = loco_manager_ready(m, PAIR_TIMEOUT_NS);
    if (rc)
        return rc;
    pair_beside_raw(p, barriers, &barrier);
    loco_barrier_fini(&barrier);
    pair_close_node(p, fabric, m);
    return 0;
}

static int measure_barrier(const struct benchmark *b, const struct bench_options *o,
                           struct bench_sample *sample)
{
    return pair_run(b, o, barrier_body, NULL, sample);
}

const struct benchmark latency_benchmarks[] = {
    {.name = "raw_round_trip", .unit = "ns", .cores = 2, .measure = measure_round_trip},
    {.name = "raw_one_way", .unit = "ns", .cores = 2, .measure = measure_raw_one_way},
    {.name = "owned_var_one_way_8",
     .unit = "ns",
     .against = "raw one way",
     .target_ratio = 1.15,
     .cores = 2,
     .parameter = 8,
     .measure = measure_var},
    {.name = "owned_var_one_way_32",
     .unit = "ns",
     .against = "raw one way",
     .target_ratio = 1.15,
     .cores = 2,
     .parameter = 32,
     .measure = measure_var},
    {.name = "barrier_2_nodes",
     .unit = "ns",
     .against = "raw round trip",
     .target_ratio = 1.0,
     .cores = 2,
     .measure = measure_barrier},
    {0},
};
