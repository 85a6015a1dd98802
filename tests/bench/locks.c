/*
 * The paper's two lock benchmarks, beside OpenMPI's remote memory access (rivals/mpi_locks.c):
 * two nodes, each with some threads that share a core; there they are ranks.
 *
 *      single      one lock for all; under it a word is read, and written one higher. Also with a
 *                  queue_lock, and with a rw_lock that nine sections in ten only read under
 *      transfers   accounts striped over the nodes, under 340 locks (MPI: 341 windows); a
 *                  transfer takes the two accounts' locks, in order. A thread knows its next
 *                  transfer, and hints at its locks and words; MPI has no such hint
 *
 * A wait is the time from the end of one section of a thread to the end of its next. The longest
 * wait is mostly a time in which the holder, or the thread itself, was not on its core. The lock
 * decides only how many sections of others pass meanwhile, which the word of `single` counts. With
 * one thread at a node that is at most the handover and one, except for a thread that was away
 * before it asked for the lock.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "locks.h"
#include "pair.h"
#include "rivals.h"

enum {
    NODES = 2,
    THREADS_MAX = 4, /* of a node */
    LOCKS = 341,     /* of both nodes */
    LOCKS_EACH = LOCKS / NODES,
    HOST = 0, /* of the single lock */
    PAGE_WORDS = 4096 / sizeof(uint64_t),
};

/* Each power of two has this many counts, so small numbers are exact. */
enum { STEPS = 128, COUNTS = 32 * STEPS };

static unsigned count_of(uint64_t value)
{
    if (value < STEPS)
        return (unsigned)value;
    const unsigned shift = 56 - (unsigned)__builtin_clzll(value);
    const unsigned i = shift * STEPS + (unsigned)(value >> shift);

    return i < COUNTS ? i : COUNTS - 1;
}

static uint64_t count_top(unsigned i)
{
    if (i < 2 * STEPS)
        return i;
    return ((uint64_t)(i % STEPS + STEPS + 1) << (i / STEPS - 1)) - 1;
}

/* The results of a thread. */
struct tally {
    alignas(128) uint64_t sections;
    uint64_t changes; /* of the word: sections that do not only read */
    uint64_t longest; /* ns */
    int error;
    uint64_t waits[COUNTS], passed[COUNTS]; /* [i]: above count_top(i - 1), up to count_top(i) */
};

/* Shared by both processes. */
struct book {
    struct tally tallies[NODES][THREADS_MAX];
    uint64_t sums[NODES]; /* sums of the words at each node, at the end */
};

/* A transfer, and the random source of a thread's transfers. */
struct order {
    uint64_t from, to, amount;
};

struct orders {
    uint64_t random, changes;
    struct order next;
};

struct node {
    struct pair *pair;
    struct book *book;
    struct loco_manager *mgr;
    struct loco_atomic_array words; /* the single one, or the accounts */
    struct loco_ticket_lock_array locks;
    struct loco_queue_lock queue;
    struct loco_rw_lock shared;
    uint64_t accounts; /* of both nodes */
    unsigned threads;
    pthread_barrier_t start;
    uint64_t begin, end;
    int (*section)(struct node *n, struct orders *orders, uint64_t *before);
};

struct worker {
    struct node *node;
    unsigned index;
    pthread_t thread;
};

/* --- sections ------------------------------------------------------------------------------- */

/* Sets *before to the old value. */
static int change(struct loco_atomic_word word, uint64_t by, uint64_t *before)
{
    int rc = loco_atomic_load(word, before);

    return rc ? rc : loco_atomic_write(word, *before + by).error;
}

static int single_section(struct node *n, struct orders *orders, uint64_t *before)
{
    struct loco_ticket_lock *lock = loco_ticket_lock_at(&n->locks, HOST, 0);
    int rc = loco_ticket_lock_acquire(lock);

    if (rc)
        return rc;
    orders->changes++;
    rc = change(loco_atomic_at(&n->words, HOST, 0), 1, before);
    int released = loco_ticket_lock_release(lock, LOCO_FENCE_PAIR);
    return rc ? rc : released;
}

static int queued_section(struct node *n, struct orders *orders, uint64_t *before)
{
    int rc = loco_queue_lock_acquire(&n->queue);

    if (rc)
        return rc;
    orders->changes++;
    rc = change(loco_atomic_at(&n->words, HOST, 0), 1, before);
    int released = loco_queue_lock_release(&n->queue, LOCO_FENCE_PAIR);
    return rc ? rc : released;
}

static int shared_section(struct node *n, struct orders *orders, uint64_t *before)
{
    const struct loco_atomic_word word = loco_atomic_at(&n->words, HOST, 0);
    const bool reads = bench_random(&orders->random) % 10 != 0;
    int rc = reads ? loco_rw_lock_read(&n->shared) : loco_rw_lock_write(&n->shared);

    if (rc)
        return rc;
    orders->changes += !reads;
    rc = reads ? loco_atomic_load(word, before) : change(word, 1, before);
    int released = reads ? loco_rw_lock_release_read(&n->shared)
                         : loco_rw_lock_release_write(&n->shared, LOCO_FENCE_PAIR);
    return rc ? rc : released;
}

/* An account and its lock are on the same node. */
static struct loco_ticket_lock *lock_of(const struct node *n, uint64_t account)
{
    return loco_ticket_lock_at(&n->locks, account % NODES, account / NODES % LOCKS_EACH);
}

static struct loco_atomic_word word_of(const struct node *n, uint64_t account)
{
    return loco_atomic_at(&n->words, account % NODES, account / NODES);
}

/* The next transfer is known while this one is carried out, so its locks and words can already be
 * on their way. */
static struct order take_order(const struct node *n, struct orders *orders)
{
    const struct order taken = orders->next;

    orders->next = (struct order){
        .from = bench_random(&orders->random) % n->accounts,
        .to = bench_random(&orders->random) % n->accounts,
        .amount = bench_random(&orders->random) % 100,
    };
    loco_ticket_lock_prefetch(lock_of(n, orders->next.from));
    loco_ticket_lock_prefetch(lock_of(n, orders->next.to));
    loco_atomic_prefetch(word_of(n, orders->next.from));
    loco_atomic_prefetch(word_of(n, orders->next.to));
    return taken;
}

static int transfer(struct node *n, struct orders *orders, uint64_t *before)
{
    const struct order o = take_order(n, orders);
    struct loco_ticket_lock *a = lock_of(n, o.from), *b = lock_of(n, o.to);
    struct loco_ticket_lock *first = a < b ? a : b, *second = a < b ? b : a;
    int rc = loco_ticket_lock_acquire(first);

    if (rc)
        return rc;
    if (second != first)
        rc = loco_ticket_lock_acquire(second);
    if (rc)
        return rc;
    rc = change(word_of(n, o.from), -o.amount, before);
    if (!rc)
        rc = change(word_of(n, o.to), o.amount, before);
    if (second != first)
        loco_ticket_lock_release(second, LOCO_FENCE_PAIR);
    int released = loco_ticket_lock_release(first, LOCO_FENCE_PAIR);
    return rc ? rc : released;
}

/* --- threads -------------------------------------------------------------------------------- */

static void *work(void *arg)
{
    const struct worker *w = arg;
    struct node *n = w->node;
    struct tally tally = {0};
    uint64_t sections = 0, expected = 0; /* of all threads, in `single` */
    struct orders orders = {
        .random = 88172645463325252u + (n->pair->side * THREADS_MAX + w->index) * 7919,
    };

    loco_thread_attach(n->mgr);
    pthread_barrier_wait(&n->start); /* all threads have arrived */
    pthread_barrier_wait(&n->start); /* and so has the other side */
    for (uint64_t before = n->begin; before < n->end && !tally.error; tally.sections++) {
        tally.error = n->section(n, &orders, &sections);
        uint64_t now = bench_glance();
        tally.waits[count_of(now - before)]++;
        tally.passed[count_of(expected ? sections - expected : 0)]++;
        expected = sections + 1;
        if (now - before > tally.longest)
            tally.longest = now - before;
        before = now;
    }
    loco_thread_detach(n->mgr);
    tally.changes = orders.changes;
    n->book->tallies[n->pair->side][w->index] = tally;
    return NULL;
}

static void run_threads(struct node *n)
{
    struct worker workers[THREADS_MAX];

    pthread_barrier_init(&n->start, NULL, n->threads + 1);
    for (unsigned i = 0; i < n->threads; i++) {
        workers[i] = (struct worker){.node = n, .index = i};
        pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    }
    pthread_barrier_wait(&n->start);
    pair_tell(n->pair);
    pair_hear(n->pair);
    n->begin = bench_now();
    n->end = n->begin + (uint64_t)(n->pair->options->seconds * 1e9);
    pthread_barrier_wait(&n->start);
    for (unsigned i = 0; i < n->threads; i++)
        pthread_join(workers[i].thread, NULL);
    pthread_barrier_destroy(&n->start);
}

/* --- a node --------------------------------------------------------------------------------- */

/* Touches all pages, so that no first access falls into the measurement. The rival does the same.
 */
static void touch(struct node *n)
{
    uint64_t value;

    memset(n->words.region->memory, 0, n->words.region->size);
    for (size_t i = 0; i < n->words.count; i += PAGE_WORDS)
        loco_atomic_load(loco_atomic_at(&n->words, !n->pair->side, i), &value);
}

static uint64_t sum_of(const struct loco_atomic_array *words)
{
    const uint64_t *word = words->region->memory;
    uint64_t sum = 0;

    for (size_t i = 0; i < words->count; i++)
        sum += word[i];
    return sum;
}

static int open_channels(struct node *n, bool transfers, unsigned handover)
{
    size_t words = transfers ? n->accounts / NODES : 1;
    int rc = loco_atomic_array_init(&n->words, n->mgr, NULL, "words", words, LOCO_ALL, 0);

    if (!rc)
        rc = loco_ticket_lock_array_init(&n->locks, n->mgr, NULL, "locks",
                                         transfers ? LOCKS_EACH : 1, LOCO_ALL, handover);
    if (!rc)
        rc = loco_queue_lock_init(&n->queue, n->mgr, NULL, "queue", HOST, LOCO_ALL, handover);
    if (!rc)
        rc = loco_rw_lock_init(&n->shared, n->mgr, NULL, "shared", HOST, LOCO_ALL);
    return rc ? rc : loco_manager_ready(n->mgr, PAIR_TIMEOUT_NS);
}

static int node_body(struct pair *p)
{
    const unsigned parameter = p->benchmark->parameter;
    struct node n = {
        .pair = p,
        .book = p->arg,
        .accounts = p->options->accounts / NODES * NODES,
        .threads = parameter & LOCKS_THREADS,
        .section = parameter & LOCKS_TRANSFERS ? transfer
                   : parameter & LOCKS_QUEUED  ? queued_section
                   : parameter & LOCKS_SHARED  ? shared_section
                                               : single_section,
    };
    struct loco_fabric *fabric;

    p->arena_size = 8 << 20;
    int rc = pair_open_node(p, &fabric, &n.mgr);
    if (!rc)
        rc = open_channels(&n, parameter & LOCKS_TRANSFERS,
                           parameter & LOCKS_STRICT ? LOCO_HANDOVER_STRICT : LOCO_HANDOVER_DEFAULT);
    if (rc)
        return rc;
    touch(&n);
    run_threads(&n);
    pair_tell(p);
    pair_hear_idly(p);
    n.book->sums[p->side] = sum_of(&n.words);
    pair_tell(p);
    pair_hear_idly(p);
    loco_rw_lock_fini(&n.shared);
    loco_queue_lock_fini(&n.queue);
    loco_ticket_lock_array_fini(&n.locks);
    loco_atomic_array_fini(&n.words);
    pair_close_node(p, fabric, n.mgr);
    return 0;
}

/* --- a run ---------------------------------------------------------------------------------- */

static uint64_t *waits_of(struct tally *t, bool passed)
{
    return passed ? t->passed : t->waits;
}

/* The counts of all threads are summed up in the first one's. */
static void distribute(struct book *book, unsigned threads, bool passed, double unit,
                       double waits[BENCH_WAITS])
{
    static const double shares[BENCH_WAITS] = {0.5, 0.999, 0.9999};
    uint64_t *all = waits_of(&book->tallies[0][0], passed), total = 0, below = 0;

    for (unsigned i = 1; i < NODES * threads; i++)
        for (unsigned k = 0; k < COUNTS; k++)
            all[k] += waits_of(&book->tallies[i % NODES][i / NODES], passed)[k];
    for (unsigned k = 0; k < COUNTS; k++)
        total += all[k];
    for (unsigned k = 0, i = 0; k < COUNTS; k++)
        for (below += all[k]; i < BENCH_WAITS && (double)below >= shares[i] * (double)total; i++)
            waits[i] = (double)count_top(k) / unit;
}

/* Sums up the results. The words show whether a lock failed to exclude. */
static int audit(struct book *book, const struct benchmark *b, double seconds,
                 struct bench_sample *sample)
{
    uint64_t sections = 0, changes = 0, longest = 0;

    for (unsigned i = 0; i < NODES; i++) {
        for (unsigned k = 0; k < (b->parameter & LOCKS_THREADS); k++) {
            const struct tally *t = &book->tallies[i][k];
            if (t->error)
                return t->error;
            sections += t->sections;
            changes += t->changes;
            longest = t->longest > longest ? t->longest : longest;
        }
    }
    sample->value = (double)sections / seconds / 1e6;
    sample->longest = (double)longest / 1e3;
    distribute(book, b->parameter & LOCKS_THREADS, false, 1e3, sample->waits);
    if (!(b->parameter & (LOCKS_TRANSFERS | LOCKS_SHARED)))
        distribute(book, b->parameter & LOCKS_THREADS, true, 1, sample->passed);
    uint64_t sum = book->sums[0] + book->sums[1];
    return sum == (b->parameter & LOCKS_TRANSFERS ? 0 : changes) ? 0 : -EPROTO;
}

int locks_measure(const struct benchmark *b, const struct bench_options *o,
                  struct bench_sample *sample)
{
    struct book *book =
        mmap(NULL, sizeof *book, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (book == MAP_FAILED)
        return -ENOMEM;
    int rc = pair_run(b, o, node_body, book, sample);
    if (!rc)
        rc = audit(book, b, o->seconds, sample);
    munmap(book, sizeof *book);
    return rc;
}

static int measure_locks(const struct benchmark *b, const struct bench_options *o,
                         struct bench_sample *sample)
{
    double theirs[2] = {0};
    int rc = locks_measure(b, o, sample);

    if (!rc)
        rc = rival_mpi(o, sample, NODES * (b->parameter & LOCKS_THREADS), theirs, 2, "mpi_locks",
                       "%s %g %d,%d %llu %d",
                       b->parameter & LOCKS_TRANSFERS ? "transfers" : "single", o->seconds,
                       o->cpus[0], o->cpus[1], (unsigned long long)o->accounts, LOCKS);
    sample->against = theirs[0] / 1e6;
    sample->longest_against = theirs[1] / 1e3;
    return rc;
}

#define LOCK(row, target, which)                                                                   \
    {                                                                                              \
        .name = row, .unit = "M/s", .against = "OpenMPI", .target_ratio = target, .more = true,    \
        .cores = 2, .parameter = which, .measure = measure_locks                                   \
    }

/* Without the rival, which has nothing like it here. */
#define SHARED(row, which)                                                                         \
    {                                                                                              \
        .name = row, .unit = "M/s", .more = true, .cores = 2, .parameter = which | LOCKS_SHARED,   \
        .measure = locks_measure                                                                   \
    }

const struct benchmark lock_benchmarks[] = {
    LOCK("lock_strict_1", 1, 1 | LOCKS_STRICT),
    LOCK("lock_strict_2", 1, 2 | LOCKS_STRICT),
    LOCK("lock_strict_4", 1, 4 | LOCKS_STRICT),
    LOCK("lock_handover_1", 2, 1),
    LOCK("lock_handover_2", 2, 2),
    LOCK("lock_handover_4", 2, 4),
    LOCK("lock_queue_1", 1, 1 | LOCKS_QUEUED),
    LOCK("lock_queue_2", 1, 2 | LOCKS_QUEUED),
    LOCK("lock_queue_4", 1, 4 | LOCKS_QUEUED),
    SHARED("lock_shared_1", 1),
    SHARED("lock_shared_2", 2),
    SHARED("lock_shared_4", 4),
    LOCK("transfers_1", 5, 1 | LOCKS_TRANSFERS),
    LOCK("transfers_2", 5, 2 | LOCKS_TRANSFERS),
    LOCK("transfers_4", 5, 4 | LOCKS_TRANSFERS),
    {0},
};
