/*
 * Measures the key-value store with two nodes of one thread each, in comparison with a Redis
 * cluster of two masters and with raw random reads of the same table.
 *
 * Keys and values have 8 bytes. There is room for 10 MB of keys, and 80 percent of the keys are
 * present. All runs use one store, which is filled once. Keys are drawn uniformly, or by Zipf's law
 * as in YCSB, which scatters the ranks over the keys.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "channels/kvstore/kvstore_slots.h"
#include "pair.h"
#include "rivals.h"

enum {
    SEQUENCE = 1 << 20, /* keys drawn before measuring; then they repeat */
    TURN = 4096,        /* operations in one go */
    TURNS_MAX = 100000,
    WINDOW_MAX = 128,
    READ_BYTES = 24, /* bytes that a read of the store fetches */
};

/* benchmark.parameter */
enum { WINDOW = 0xff, ZIPF = 0x100, WRITES = 0x200, MIXED = 0x400, RAW = 0x800 };

struct node {
    struct pair *pair;
    struct loco_manager *mgr;
    struct loco_kvstore store;
    struct loco_kv_window *window;
    unsigned window_size;
    unsigned at;        /* the next operation in the window */
    uint64_t next;      /* in the sequence */
    uint64_t *sequence; /* key * 2, plus 1 for a write */
    uint64_t keys;      /* number of keys present; they are 0 and up */
    uint64_t random;
    int error;
};

/* --- which keys ----------------------------------------------------------------------------- */

/* Gray et al., "Quickly generating billion-record synthetic databases", as in YCSB. */
struct zipf {
    double theta, zeta, alpha, eta;
    uint64_t count;
};

static void zipf_init(struct zipf *z, uint64_t count, double theta)
{
    *z = (struct zipf){.theta = theta, .count = count, .alpha = 1 / (1 - theta)};
    for (uint64_t i = 1; i <= count; i++)
        z->zeta += pow((double)i, -theta);
    z->eta = (1 - pow(2 / (double)count, 1 - theta)) / (1 - (1 + pow(0.5, theta)) / z->zeta);
}

static uint64_t zipf_rank(const struct zipf *z, uint64_t random)
{
    double u = (double)(random >> 11) * 0x1p-53, uz = u * z->zeta;

    if (uz < 1)
        return 0;
    if (uz < 1 + pow(0.5, z->theta))
        return 1;
    uint64_t rank = (uint64_t)((double)z->count * pow(z->eta * u - z->eta + 1, z->alpha));
    return rank < z->count ? rank : z->count - 1;
}

static bool is_write(struct node *n)
{
    const unsigned parameter = n->pair->benchmark->parameter;

    return parameter & WRITES || (parameter & MIXED && bench_random(&n->random) >> 63);
}

static void draw_keys(struct node *n)
{
    struct zipf zipf = {0};

    const bool skewed = n->pair->benchmark->parameter & ZIPF;
    if (skewed)
        zipf_init(&zipf, n->keys, 0.99);
    for (size_t i = 0; i < SEQUENCE; i++) {
        uint64_t key = bench_random(&n->random);
        if (skewed)
            key = kv_hash(zipf_rank(&zipf, key));
        n->sequence[i] = key % n->keys * 2 + is_write(n);
    }
}

/* --- operations ----------------------------------------------------------------------------- */

static void start_next(struct node *n, struct loco_kv_op *op)
{
    uint64_t next = n->sequence[n->next++ % SEQUENCE], key = next / 2;

    op->user = (void *)(uintptr_t)key;
    if (next % 2)
        loco_kv_start_update(op, key, &key);
    else
        loco_kv_start_read(op, key);
}

/* Each value is its key. */
static void check(struct node *n, const struct loco_kv_op *op)
{
    if (op->result)
        n->error = op->result;
    else if (op->kind == LOCO_KV_READ && *(const uint64_t *)op->value != (uintptr_t)op->user)
        n->error = -EPROTO;
}

static void operate(struct node *n, unsigned times)
{
    while (times > 0) {
        struct loco_kv_op *op = loco_kv_window_op(n->window, n->at);
        if (loco_kv_poll(op)) {
            check(n, op);
            start_next(n, op);
            times--;
        }
        n->at = n->at + 1 == n->window_size ? 0 : n->at + 1;
    }
}

/* Reads random slots of the whole table, of either node in turn, with as many reads in flight. Each
 * read's result is waited for when its place in the window comes up again, as a user of the store
 * would. */
static void read_raw(struct node *n, unsigned times)
{
    static _Alignas(8) unsigned char copies[WINDOW_MAX][32];
    static struct loco_ack acks[WINDOW_MAX];
    const struct kv_slots *slots = n->store.slots;
    const uint64_t count = slots->region->size / slots->stride;

    for (unsigned i = 0, at = 0; i < times; i++, at = at + 1 == n->window_size ? 0 : at + 1) {
        uint64_t state, slot = n->sequence[n->next++ % SEQUENCE] % count;
        loco_ack_wait(&acks[at], UINT64_MAX);
        memcpy(&state, copies[at], sizeof state);
        slot = slot * slots->stride + (state >> 63); /* adds 0, but needs the result */
        acks[at] =
            loco_region_read(slots->region, i % 2 ? LOCO_SELF : 0, slot, copies[at], READ_BYTES);
    }
}

static void settle(struct node *n)
{
    for (unsigned i = 0; i < n->window_size; i++)
        while (!loco_kv_poll(loco_kv_window_op(n->window, i)))
            ;
}

/* --- a node --------------------------------------------------------------------------------- */

/* Each node inserts every second key. */
static void fill(struct node *n)
{
    uint64_t key = n->pair->side;
    unsigned busy = n->window_size;

    for (unsigned i = 0; i < n->window_size; i++, key += 2)
        loco_kv_start_insert(loco_kv_window_op(n->window, i), key, &key);
    for (unsigned i = 0; busy > 0; i = (i + 1) % n->window_size) {
        struct loco_kv_op *op = loco_kv_window_op(n->window, i);
        if (op->user || !loco_kv_poll(op))
            continue;
        if (op->result)
            n->error = op->result;
        if (key < n->keys) {
            loco_kv_start_insert(op, key, &key);
            key += 2;
        } else {
            op->user = n;
            busy--;
        }
    }
}

static int open_store(struct node *n)
{
    const struct loco_kvstore_config config = {
        .value_size = sizeof(uint64_t),
        .capacity = (uint32_t)(n->pair->options->keys / 2),
    };
    int rc = loco_kvstore_init(&n->store, n->mgr, NULL, "store", &config);

    if (!rc)
        rc = loco_manager_ready(n->mgr, PAIR_TIMEOUT_NS);
    if (!rc)
        rc = loco_kvstore_start_tracker(&n->store);
    return rc;
}

/* Fills the store with a large window, which is faster. All runs use this store. */
static int open_full(struct node *n)
{
    int rc = open_store(n);

    n->window_size = WINDOW_MAX;
    if (!rc)
        rc = loco_kv_window_open(&n->window, &n->store, WINDOW_MAX);
    if (rc)
        return rc;
    fill(n);
    loco_kv_window_close(n->window);
    return n->error;
}

static int open_window(struct node *n)
{
    n->window_size = n->pair->benchmark->parameter & WINDOW;
    n->at = 0;
    int rc = loco_kv_window_open(&n->window, &n->store, n->window_size);

    for (unsigned i = 0; !rc && i < n->window_size; i++)
        loco_kv_window_op(n->window, i)->kind = LOCO_KV_UPDATE; /* no results to check yet */
    return rc;
}

/* Measures the operations a second of this side or, on side 0, the times of an operation and of a
 * raw read. */
static void run_turns(struct node *n)
{
    static double values[TURNS_MAX], raw[TURNS_MAX];
    const bool beside = n->pair->benchmark->parameter & RAW;
    const uint64_t begin = bench_now();
    const uint64_t end = begin + (uint64_t)(n->pair->options->seconds * 1e9);
    size_t turns = 0;
    uint64_t now = begin;

    while (now < end && turns < TURNS_MAX) {
        operate(n, TURN);
        uint64_t middle = bench_now();
        if (beside)
            read_raw(n, TURN);
        values[turns] = (double)(middle - now) / TURN;
        now = bench_now();
        raw[turns++] = (double)(now - middle) / TURN;
    }
    n->pair->shared->rates[n->pair->side] = (double)turns * TURN / (double)(now - begin) * 1e9;
    if (beside && n->pair->side == 0)
        n->pair->shared->sample = (struct bench_sample){.value = bench_quartile(values, turns),
                                                        .against = bench_quartile(raw, turns)};
}

static struct node node; /* of this side */

static int open_node(struct pair *p)
{
    struct loco_fabric *fabric;

    node = (struct node){.pair = p,
                         .sequence = malloc(SEQUENCE * sizeof node.sequence[0]),
                         .keys = p->options->keys * 4 / 5,
                         .random = 88172645463325252u + p->side * 7919};
    if (!node.sequence)
        return -ENOMEM;
    p->arena_size = 64 << 20;
    int rc = pair_open_node(p, &fabric, &node.mgr);
    return rc ? rc : open_full(&node);
}

static int run_node(struct pair *p)
{
    struct node *n = &node;
    int rc = open_window(n);

    if (rc)
        return rc;
    draw_keys(n);
    pair_tell(p);
    pair_hear(p);
    run_turns(n);
    settle(n);
    pair_tell(p);
    pair_hear_idly(p);
    loco_kv_window_close(n->window);
    return n->error;
}

/* --- a run ---------------------------------------------------------------------------------- */

static int measure_store(const struct benchmark *b, const struct bench_options *o,
                         struct bench_sample *sample)
{
    const double writes = b->parameter & WRITES ? 1 : b->parameter & MIXED ? 0.5 : 0;
    static const struct pair_acts acts = {open_node, run_node};
    static struct pair_kept kept;
    int rc = pair_run_kept(&kept, b, o, &acts, sample);

    if (rc || b->parameter & RAW)
        return rc;
    const double *rates = kept.pair.shared->rates;
    sample->value = (rates[0] + rates[1]) / 1e6;
    rc = rival_redis(o, sample, b->parameter & WINDOW, writes, &sample->against);
    sample->against /= 1e6;
    return rc;
}

#define STORE(row, target, which)                                                                  \
    {                                                                                              \
        .name = row, .unit = "M/s", .against = "Redis cluster", .target_ratio = target,            \
        .more = true, .cores = 2, .parameter = which, .measure = measure_store                     \
    }

#define BESIDE_RAW(row, target, which)                                                             \
    {                                                                                              \
        .name = row, .unit = "ns", .against = "raw random read", .target_ratio = target,           \
        .cores = 2, .parameter = (which) | RAW, .measure = measure_store                           \
    }

const struct benchmark kvstore_benchmarks[] = {
    STORE("kv_read_uniform_3", 20, 3),
    STORE("kv_read_zipf_3", 20, 3 | ZIPF),
    STORE("kv_mixed_uniform_3", 20, 3 | MIXED),
    STORE("kv_mixed_zipf_3", 20, 3 | MIXED | ZIPF),
    STORE("kv_write_uniform_3", 20, 3 | WRITES),
    STORE("kv_write_zipf_3", 20, 3 | WRITES | ZIPF),
    STORE("kv_read_uniform_128", 5, 128),
    STORE("kv_read_zipf_128", 5, 128 | ZIPF),
    STORE("kv_mixed_uniform_128", 3, 128 | MIXED),
    STORE("kv_mixed_zipf_128", 3, 128 | MIXED | ZIPF),
    STORE("kv_write_uniform_128", 3, 128 | WRITES),
    STORE("kv_write_zipf_128", 3, 128 | WRITES | ZIPF),
    BESIDE_RAW("kv_one_read_uniform_3", 1.3, 3),
    BESIDE_RAW("kv_one_read_zipf_3", 1.3, 3 | ZIPF),
    BESIDE_RAW("kv_one_read_uniform_128", 2, 128),
    BESIDE_RAW("kv_one_read_zipf_128", 2, 128 | ZIPF),
    {0},
};
