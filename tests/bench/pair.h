/*
 * Two processes, each on a core of its own, that measure together.
 *
 * They talk over two cache lines, of which each writes one. This raw ping-pong is also the physical
 * limit with which other benchmarks are compared.
 */
#ifndef TESTS_BENCH_PAIR_H
#define TESTS_BENCH_PAIR_H

#include <stdalign.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "bench.h"
#include "channels/loco/loco.h"

/* A line that only one side writes. It has room for two, as cores fetch lines in pairs. */
struct pair_line {
    alignas(128) _Atomic uint64_t told;
};

struct pair_shared {
    struct pair_line lines[2];
    alignas(128) _Atomic bool more;
    struct bench_sample sample; /* the run's result */
    double rates[2];            /* of the sides, where they measure those */
};

struct pair {
    const struct benchmark *benchmark;
    const struct bench_options *options;
    void *arg;
    unsigned side;         /* 0 or 1 */
    const char *directory; /* the run's directory, for loco_shm_open */
    size_t arena_size;     /* size of its arenas; 0: small ones */
    size_t block_size;     /* size of its mem_refs; 0: the usual one */
    struct pair_shared *shared;
    uint64_t told, heard;
    struct pair_poller *poller; /* polls completions, if a thread does */
    uint64_t until;             /* time at which the run ends */
};

/* Runs the body on both sides, and returns the result that it left in shared->sample. The body
 * returns 0 or a negative errno. */
int pair_run(const struct benchmark *benchmark, const struct bench_options *options,
             int (*body)(struct pair *pair), void *arg, struct bench_sample *sample);

/* Two sides that stay between runs, with what they have filled. Zero at first. They stand still
 * while other benchmarks run, and end with this process. */
struct pair_kept {
    struct pair pair;
    pid_t pids[2]; /* 0: not started */
    int sockets[2];
};

/* What such sides do. Each returns 0 or a negative errno. */
struct pair_acts {
    int (*open)(struct pair *pair); /* once */
    int (*run)(struct pair *pair);  /* in each run */
};

/* As pair_run(). The first run also starts the sides; the sample says how long that took. */
int pair_run_kept(struct pair_kept *kept, const struct benchmark *benchmark,
                  const struct bench_options *options, const struct pair_acts *acts,
                  struct bench_sample *sample);

static inline void pair_tell(struct pair *p)
{
    atomic_store_explicit(&p->shared->lines[p->side].told, ++p->told, memory_order_release);
}

static inline void pair_hear(struct pair *p)
{
    const _Atomic uint64_t *told = &p->shared->lines[!p->side].told;

    p->heard++;
    while (atomic_load_explicit(told, memory_order_acquire) < p->heard)
        ;
}

/* The same without keeping the core busy. */
void pair_hear_idly(struct pair *p);

/* Meets the other side. Returns false at the end of the run, which side 0's clock and wish decide.
 */
bool pair_again(struct pair *p, bool wish);

/* An action that both sides repeat together, `times` times. */
typedef void pair_act(struct pair *p, void *arg, unsigned times);

/* The raw ping-pong. */
void pair_round_trips(struct pair *p, void *unused, unsigned times);

/* Alternates `times` repetitions of the action with as many of its rival until the time is over.
 * Stores the quartiles, ns per repetition, in shared->sample. */
void pair_beside(struct pair *p, pair_act *act, pair_act *rival, void *arg, unsigned times);
/* The same, with the raw ping-pong as the rival. */
void pair_beside_raw(struct pair *p, pair_act *act, void *arg);

/* Starts a side, which ends with what the body returns, or after too long a time. */
pid_t pair_fork(struct pair *p, unsigned side, int (*body)(struct pair *pair));

/* The time that a run may take until it counts as hung. */
enum { PAIR_LONGEST_S = 60 };

/* The memory that both sides share; NULL: there is none. */
struct pair_shared *pair_share(void);

/* Joins this side as a node of two: over shm, or over verbs where there is $RDMA_ADDRESSES. */
int pair_open_node(struct pair *p, struct loco_fabric **fabric, struct loco_manager **manager);
void pair_close_node(struct pair *p, struct loco_fabric *fabric, struct loco_manager *manager);

static const uint64_t PAIR_TIMEOUT_NS = 30000000000;

#endif
