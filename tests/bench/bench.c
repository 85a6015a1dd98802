/* The programs of benchmarks: `bench`, and `bench-rdma` with another table. */
#include "bench.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "beside.h"
#include "ending.h"
#include "json.h"
#include "machine.h"
#include "options.h"
#include "passes.h"
#include "rows.h"
#include "text.h"

struct bench {
    struct bench_options options;
    struct machine_time begin;
    json_t *machine;
    struct result *results; /* shared with the process that measures */
    unsigned count;
};

/* Everything that has been measured; `ended_by` is a signal, or 0. */
static int save(struct bench *b, int ended_by)
{
    if (!b->options.out)
        return 0;
    machine_add_steal(b->machine, &b->begin);
    return json_write(&b->options, b->machine, ended_by, b->results, b->count);
}

static int save_pass(void *arg)
{
    return save(arg, 0);
}

/* The work of the process that measures. Returns its exit status. */
static int measure_all(void *arg)
{
    struct bench *b = arg;

    if (b->options.beside && beside_open(&b->options))
        return 2;
    text_heading();
    int rc = passes_take(b->results, b->count, &b->options, save_pass, b);
    for (unsigned i = 0; i < b->count; i++)
        rc |= b->results[i].failed;
    return rc ? 1 : 0;
}

static int make_results(struct bench *b, const struct benchmark *const rows[ROWS_MAX])
{
    b->results = mmap(NULL, b->count * sizeof *b->results, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (b->results == MAP_FAILED)
        return -ENOMEM;
    for (unsigned i = 0; i < b->count; i++) {
        b->results[i].benchmark = *rows[i];
        if (b->options.beside)
            beside_describe(&b->results[i].benchmark, &b->options);
    }
    return 0;
}

static void save_ended(void *arg, int number)
{
    struct bench *b = arg;
    const char *out = b->options.out;

    if (!save(b, number))
        fprintf(stderr, "bench: ended by SIG%s%s%s\n", sigabbrev_np(number),
                out ? "; what was measured until then is in " : "", out ? out : "");
}

/* Writes the file before anything is measured, to see that it can be written. */
static int run(struct bench *b)
{
    b->machine = machine_facts();
    machine_print(b->machine);
    b->begin = machine_time();
    const int rc = save(b, 0) ? 2 : ending_run(measure_all, save_ended, b);
    json_decref(b->machine);
    return rc < 0 ? 1 : rc;
}

int main(int argc, char **argv)
{
    static const struct benchmark *rows[ROWS_MAX];
    struct bench b = {0};
    const int rc = options_parse(&b.options, argc, argv);

    if (rc)
        return rc < 0 ? 2 : 0;
    const int count = rows_choose(&b.options, rows);
    if (count < 0)
        return 2;
    for (int i = 0; b.options.list && i < count; i++)
        printf("%s\n", rows[i]->name);
    if (b.options.list)
        return 0;
    b.count = (unsigned)count;
    bench_prepare();
    machine_cores(&b.options);
    if (b.options.serve)
        return beside_serve(&b.options);
    return make_results(&b, rows) ? 1 : run(&b);
}
