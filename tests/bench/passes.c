#include "passes.h"

#include <stdio.h>
#include <string.h>

#include "text.h"

enum { RUNS = 5 };

static const double LONG_S = 1; /* one run of such a benchmark is enough */

void passes_run(struct result *r, const struct bench_options *o)
{
    const struct benchmark *b = &r->benchmark;
    struct bench_sample sample = {0};
    const bool first = r->runs == 0;
    const uint64_t begin = bench_now();

    if (o->cpu_count < b->cores) {
        result_skip(r, false, "needs %u cores, and %u can be used", b->cores, o->cpu_count);
        return;
    }
    const int rc = b->measure(b, o, &sample);
    if (first)
        r->seconds = (double)(bench_now() - begin) * 1e-9 - sample.set_up_s;
    if (rc)
        result_skip(r, true, "failed: %s", strerror(-rc));
    else
        result_add(r, &sample);
}

/* The ratio of one pair says nothing, so another build gets several in any case. */
static bool is_enough(const struct result *r, unsigned runs, const struct bench_options *o)
{
    return r->runs == runs || (!o->runs && !o->beside && r->seconds > LONG_S);
}

static void take_one(struct result *r, unsigned runs, const struct bench_options *o)
{
    passes_run(r, o);
    r->ended = r->ended || is_enough(r, runs, o);
    if (r->ended)
        text_result(r);
    else
        text_run(r, runs);
}

/* Returns how many there were to take. */
static unsigned take_pass(struct result *results, unsigned count, unsigned runs,
                          const struct bench_options *o)
{
    unsigned taken = 0;

    for (unsigned i = 0; i < count; i++) {
        if (results[i].ended)
            continue;
        take_one(&results[i], runs, o);
        taken++;
    }
    return taken;
}

int passes_take(struct result *results, unsigned count, const struct bench_options *o,
                int (*save)(void *arg), void *arg)
{
    int rc = 0;

    while (!rc && take_pass(results, count, o->runs ? o->runs : RUNS, o) > 0)
        rc = save(arg);
    return rc;
}
