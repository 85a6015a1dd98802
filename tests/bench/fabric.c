/* Measures the cost of the smallest operations for the calling core. Nobody reads the lines
 * meanwhile. */
#include <errno.h>
#include <stdlib.h>

#include "pair.h"
#include "scenarios.h"

enum { CALLS = 1000, BLOCKS_MAX = 100000 };

/* --- operations on a peer's memory ----------------------------------------------------------- */

struct operations {
    struct loco_manager *mgr;
    struct loco_shared_region region;
    uint64_t word;
};

static void writes(struct operations *o)
{
    for (int i = 0; i < CALLS; i++)
        loco_region_write(o->region.region, 0, 0, &o->word, sizeof o->word);
}

static void reads(struct operations *o)
{
    for (int i = 0; i < CALLS; i++)
        loco_region_read(o->region.region, 0, 0, &o->word, sizeof o->word);
}

static void idle_fences(struct operations *o)
{
    for (int i = 0; i < CALLS; i++)
        loco_fence_global(o->mgr);
}

static void writes_and_fences(struct operations *o)
{
    for (int i = 0; i < CALLS; i++) {
        loco_region_write(o->region.region, 0, 0, &o->word, sizeof o->word);
        loco_fence_pair(o->mgr, 1);
    }
}

static void (*const acts[])(struct operations *) = {writes, reads, idle_fences, writes_and_fences};

enum { WRITES, READS, IDLE_FENCES, WRITES_AND_FENCES };

static double time_blocks(const struct bench_options *o, void (*act)(struct operations *),
                          struct operations *arg)
{
    static double values[BLOCKS_MAX];
    uint64_t now = bench_now(), end = now + (uint64_t)(o->seconds * 1e9);
    size_t count = 0;

    while (now < end && count < BLOCKS_MAX) {
        act(arg);
        uint64_t after = bench_now();
        values[count++] = (double)(after - now) / CALLS;
        now = after;
    }
    return bench_quartile(values, count);
}

static int operations_body(struct pair *p)
{
    struct operations o = {0};
    struct loco_fabric *fabric;
    int rc = pair_open_node(p, &fabric, &o.mgr);

    if (!rc)
        rc = loco_shared_region_init(&o.region, o.mgr, NULL, "region", LOCO_ALL, 64);
    if (!rc)
        rc = loco_manager_ready(o.mgr, PAIR_TIMEOUT_NS);
    if (rc)
        return rc;
    if (p->side == 0) {
        p->shared->sample.value = time_blocks(p->options, acts[p->benchmark->parameter], &o);
        pair_tell(p);
    } else {
        pair_hear_idly(p);
    }
    loco_shared_region_fini(&o.region);
    pair_close_node(p, fabric, o.mgr);
    return 0;
}

static int measure_operation(const struct benchmark *b, const struct bench_options *o,
                             struct bench_sample *sample)
{
    return pair_run(b, o, operations_body, NULL, sample);
}

/* --- the recorder ----------------------------------------------------------------------------- */

enum { ROWS = 50, ROWS_MAX = 20000 }; /* fewer than the ring holds, as nobody empties it */

static int measure_row(const struct benchmark *b, const struct bench_options *o,
                       struct bench_sample *sample)
{
    static double values[ROWS_MAX / ROWS];
    const unsigned width = 3 + 2 * 20;
    struct bench_run run;
    int rc = bench_run_open(&run, o, "dcdc20.yaml", false, NULL, 0);

    (void)b;
    if (rc)
        return rc;
    rc = bench_run_record(&run);
    if (rc)
        goto close_run;
    struct hil_stream *stream = hil_recorder_stream(run.run.recorder, 0);
    hil_stream_prepare(stream);
    for (size_t block = 0; block < ROWS_MAX / ROWS; block++) {
        uint64_t begin = bench_now();
        for (unsigned i = 0; i < ROWS; i++) {
            double *row = hil_stream_row(stream);
            for (unsigned k = 0; k < width; k++)
                row[k] = (double)i;
            hil_stream_commit(stream);
        }
        values[block] = (double)(bench_now() - begin) / ROWS;
    }
    sample->value = bench_quartile(values, ROWS_MAX / ROWS);

close_run:
    bench_run_close(&run);
    return rc;
}

const struct benchmark fabric_benchmarks[] = {
    {.name = "write_post_8",
     .unit = "ns",
     .cores = 2,
     .parameter = WRITES,
     .measure = measure_operation},
    {.name = "read_post_8",
     .unit = "ns",
     .cores = 2,
     .parameter = READS,
     .measure = measure_operation},
    {.name = "fence_nothing_outstanding",
     .unit = "ns",
     .cores = 2,
     .parameter = IDLE_FENCES,
     .measure = measure_operation},
    {.name = "write_post_8_and_fence",
     .unit = "ns",
     .cores = 2,
     .parameter = WRITES_AND_FENCES,
     .measure = measure_operation},
    {.name = "recorder_row_43", .unit = "ns", .cores = 1, .measure = measure_row},
    {0},
};
