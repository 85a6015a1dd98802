/* Compares an atomic_var with the processor's own instruction on a cache line. */
#include <errno.h>
#include <sys/mman.h>

#include "pair.h"

enum {
    HOST = 0, /* the side that hosts the variable */
    BLOCK = 200,
    BLOCKS_MAX = 20000,
};

enum { AT_HOST, FROM_AFAR, CONTENDED }; /* benchmark.parameter */

static struct pair_line *plain; /* shared by both sides */

/* Pretends to use the old value, as the compiler would otherwise take a cheaper instruction. */
static void use(uint64_t old)
{
    __asm__ volatile("" : : "r"(old));
}

static void plain_adds(struct loco_atomic_var *unused)
{
    (void)unused;
    for (int i = 0; i < BLOCK; i++)
        use(atomic_fetch_add(&plain->told, 1));
}

/* Gets the word once, as a loop would: it is valid for as long as its channel. */
static void var_adds(struct loco_atomic_var *v)
{
    const struct loco_atomic_word word = loco_atomic_of(v);
    uint64_t old;

    for (int i = 0; i < BLOCK; i++) {
        loco_atomic_fetch_add(word, 1, &old);
        use(old);
    }
}

static double time_of(void (*adds)(struct loco_atomic_var *), struct loco_atomic_var *v)
{
    uint64_t begin = bench_now();

    adds(v);
    return (double)(bench_now() - begin) / BLOCK;
}

/* Both sides do the same at the same time. The timed side's blocks lie within the other side's. */
static void beside(struct pair *p, struct loco_atomic_var *v)
{
    static double values[BLOCKS_MAX], against[BLOCKS_MAX];
    const bool contended = p->benchmark->parameter == CONTENDED;
    const unsigned timed = p->benchmark->parameter == AT_HOST ? HOST : !HOST;
    size_t count = 0;

    enum { BLOCKS = 10, MARGIN = 4 }; /* per turn; the other side does MARGIN more at each end */
    while (pair_again(p, count + BLOCKS < BLOCKS_MAX)) {
        for (int kind = 0; kind < 2; kind++) {
            double *into = kind ? values : against;
            void (*adds)(struct loco_atomic_var *) = kind ? var_adds : plain_adds;
            pair_tell(p);
            pair_hear(p);
            if (p->side != timed)
                for (int i = 0; contended && i < BLOCKS + 2 * MARGIN; i++)
                    adds(v);
            for (int i = 0; p->side == timed && i < MARGIN; i++)
                adds(v);
            for (size_t i = 0; p->side == timed && i < BLOCKS; i++)
                into[count + i] = time_of(adds, v);
        }
        count += BLOCKS;
    }
    if (p->side == timed)
        p->shared->sample = (struct bench_sample){.value = bench_quartile(values, count),
                                                  .against = bench_quartile(against, count)};
}

static int atomics_body(struct pair *p)
{
    struct loco_atomic_var var;
    struct loco_fabric *fabric;
    struct loco_manager *m;
    int rc = pair_open_node(p, &fabric, &m);

    if (!rc)
        rc = loco_atomic_var_init(&var, m, NULL, "var", HOST, LOCO_ALL, 0);
    if (!rc)
        rc = loco_manager_ready(m, PAIR_TIMEOUT_NS);
    if (rc)
        return rc;
    beside(p, &var);
    loco_atomic_var_fini(&var);
    pair_close_node(p, fabric, m);
    return 0;
}

static int measure_atomics(const struct benchmark *b, const struct bench_options *o,
                           struct bench_sample *sample)
{
    plain = mmap(NULL, sizeof *plain, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (plain == MAP_FAILED)
        return -ENOMEM;
    int rc = pair_run(b, o, atomics_body, NULL, sample);
    munmap(plain, sizeof *plain);
    return rc;
}

#define ATOMIC(row, which)                                                                         \
    {                                                                                              \
        .name = row, .unit = "ns", .against = "lock xadd", .target_ratio = 1.1, .cores = 2,        \
        .parameter = which, .measure = measure_atomics                                             \
    }

const struct benchmark atomic_benchmarks[] = {
    ATOMIC("fetch_add_at_host", AT_HOST),
    ATOMIC("fetch_add_from_afar", FROM_AFAR),
    ATOMIC("fetch_add_contended", CONTENDED),
    {0},
};
