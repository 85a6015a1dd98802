/*
 * Measures what a step of a circuit costs, beside a bare product of a matrix of as many rows and
 * columns as the circuit has states and sources: no step can cost less. The circuits run with their
 * defaults, each from its beginning to its end again and again; the first quarter of the way only
 * warms up.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>

#include "bench.h"
#include "plants/circuit/circuit_model.h"
#include "plants/circuit/configuration.h"

enum { ROWS_MAX = 256, PRODUCTS = 20000, SIZE_MOST = 16 };

static const struct circuit {
    const char *name;
    unsigned period_ns, steps, size;
} circuits[] = {
    {"tests/circuits/buck", 1000, 1000, 4},
    {"tests/circuits/inverter3", 1000, 2000, 8},
    {"tests/circuits/llc", 5000, 200, 8},
    {"tests/circuits/dab", 5000, 200, 8},
    {"plants/circuits/inverter_three_level", 5000, 400, 12},
};

static void log_nothing(void *arg, const char *line)
{
    (void)arg;
    fprintf(stderr, "%s\n", line);
}

static void defaults_of(const struct hil_quantities *table, double *values)
{
    for (unsigned i = 0; i < table->count; i++)
        values[i] = table->at[i].value;
}

/* Steps a new component from the beginning to the end. Adds up the time of the timed steps. */
static int run_once(const struct cir_model *m, const struct circuit *c, uint64_t *sum_ns,
                    uint64_t *steps)
{
    double parameters[ROWS_MAX], inputs[ROWS_MAX];
    const struct hil_config config = {.size = sizeof config,
                                      .width = 1,
                                      .period_s = c->period_ns * 1e-9,
                                      .parameters = parameters,
                                      .log = log_nothing,
                                      .model = &m->model,
                                      .real_time = 1};
    double out[ROWS_MAX];
    uint64_t begin = 0;
    void *self;

    defaults_of(&m->model.parameters, parameters);
    defaults_of(&m->model.inputs, inputs);
    int rc = m->model.create(&self, &config);
    if (rc)
        return rc;
    for (unsigned n = 1; !rc && n <= c->steps; n++) {
        if (n == c->steps / 4)
            begin = bench_now();
        rc = m->model.step(self, (uint64_t)n * c->period_ns, inputs, out);
    }
    *sum_ns += bench_now() - begin;
    *steps += c->steps - c->steps / 4 + 1;
    m->model.destroy(self);
    return rc;
}

static double product_ns(unsigned size)
{
    static double matrix[SIZE_MOST * SIZE_MOST], x[SIZE_MOST], y[SIZE_MOST];
    const uint64_t begin = bench_now();

    for (unsigned i = 0; i < PRODUCTS; i++) {
        cir_apply(y, matrix, size, size, x);
        x[0] = y[0]; /* the next one waits for it, as in a loop */
    }
    return (double)(bench_now() - begin) / PRODUCTS;
}

static int measure_circuit(const struct benchmark *self, const struct bench_options *o,
                           struct bench_sample *sample)
{
    const struct circuit *c = &circuits[self->parameter];
    const uint64_t end = bench_now() + (uint64_t)(o->seconds * 1e9);
    uint64_t sum_ns = 0, steps = 0;
    char path[PATH_MAX], text[500];
    struct cir_model *m;

    snprintf(path, sizeof path, "%s/../%s.cir", o->configs, c->name);
    int rc = cir_model_load(&m, path, false, &(struct cir_said){text, sizeof text});
    if (rc) {
        fprintf(stderr, "%s\n", text);
        return rc;
    }
    do
        rc = run_once(m, c, &sum_ns, &steps);
    while (!rc && bench_now() < end);
    cir_model_unload(m);
    sample->value = (double)sum_ns / (double)steps;
    sample->against = product_ns(c->size);
    return rc;
}

const struct benchmark circuit_benchmarks[] = {
    {"circuit_buck_1_us", "ns", "matrix times vector", .cores = 1, .parameter = 0,
     .measure = measure_circuit},
    {"circuit_inverter_1_us", "ns", "matrix times vector", .cores = 1, .parameter = 1,
     .measure = measure_circuit},
    {"circuit_llc_5_us", "ns", "matrix times vector", .cores = 1, .parameter = 2,
     .measure = measure_circuit},
    {"circuit_dab_5_us", "ns", "matrix times vector", .cores = 1, .parameter = 3,
     .measure = measure_circuit},
    {"circuit_three_level_5_us", "ns", "matrix times vector", .cores = 1, .parameter = 4,
     .measure = measure_circuit},
    {0},
};
