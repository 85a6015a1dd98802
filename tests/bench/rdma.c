/*
 * Benchmarks over an RDMA device: libloco in comparison with perftest, which posts bare verbs; the
 * paper's lock benchmarks; and a control loop's round trip in comparison with the same over UDP and
 * TCP.
 *
 * Latencies are medians of single times, defined as in perftest: for a write, half of a ping-pong's
 * round trip; for a read or an atomic, the time until its result has arrived. libloco and perftest
 * run on the same two cores, in turns. Each benchmark comes in two variants: the waiting thread
 * polls for completions itself, or a polling thread does. In perftest the waiting thread polls.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "locks.h"
#include "pair.h"
#include "rivals.h"

enum {
    TIMES_MAX = 1 << 16, /* of one run */
    TURN = 16,           /* repetitions in one go */
    ITERATIONS = 500,    /* of perftest's latencies */
    LONG = 5000,         /* of its message rate */
};

/* --- times ------------------------------------------------------------------------------------ */

/* One repetition of an action. Side 0 measures the time. */
typedef void once(struct pair *p, void *arg);

struct times {
    once *act;
    void *arg;
    double us[TIMES_MAX];
    size_t count;
};

static void take_turn(struct pair *p, struct times *t)
{
    for (int i = 0; i < TURN; i++) {
        uint64_t begin = bench_now();
        t->act(p, t->arg);
        t->us[t->count++] = (double)(bench_now() - begin) / 1e3;
    }
}

/* Alternates both actions until the time is over; `beside` may be NULL. Stores the medians in the
 * sample. */
static void take_times(struct pair *p, struct times *t, struct times *beside)
{
    take_turn(p, t); /* warms up */
    t->count = 0;
    while (pair_again(p, t->count + TURN <= TIMES_MAX)) {
        if (beside)
            take_turn(p, beside);
        take_turn(p, t);
    }
    if (p->side == 0)
        p->shared->sample =
            (struct bench_sample){.value = bench_median(t->us, t->count),
                                  .against = beside ? bench_median(beside->us, beside->count) : 0};
}

/* --- pushes: a ping-pong of owned_vars -------------------------------------------------------- */

enum { SIZE_MAX_BYTES = 64 };

struct vars {
    struct loco_owned_var mine, theirs;
    uint64_t count;
};

static void push_next(struct vars *v)
{
    const uint64_t value[SIZE_MAX_BYTES / sizeof(uint64_t)] = {v->count};

    loco_owned_var_store(&v->mine, value);
    loco_owned_var_push(&v->mine);
}

static void load_next(struct vars *v)
{
    uint64_t value[SIZE_MAX_BYTES / sizeof(uint64_t)] = {0};

    do
        loco_owned_var_load(&v->theirs, value);
    while (value[0] < v->count);
}

static void exchange_vars(struct pair *p, void *arg)
{
    struct vars *v = arg;

    v->count++;
    if (p->side == 0)
        push_next(v);
    load_next(v);
    if (p->side == 1)
        push_next(v);
}

/* `sizes` has, by side, the size of the side's own variable. */
static int open_vars(struct vars *v, const struct pair *p, const size_t sizes[2],
                     struct loco_manager *m)
{
    static const char *const names[] = {"there", "back"};
    const unsigned self = p->side, other = !p->side;

    *v = (struct vars){0};
    int rc = loco_owned_var_init(&v->mine, m, NULL, names[self], self, LOCO_ALL, sizes[self]);
    if (!rc)
        rc = loco_owned_var_init(&v->theirs, m, NULL, names[other], other, LOCO_ALL, sizes[other]);
    return rc ? rc : loco_manager_ready(m, PAIR_TIMEOUT_NS);
}

static void close_vars(struct vars *v)
{
    loco_owned_var_fini(&v->mine);
    loco_owned_var_fini(&v->theirs);
}

static int push_body(struct pair *p)
{
    static struct times times;
    const size_t sizes[] = {p->benchmark->parameter, p->benchmark->parameter};
    struct vars vars;
    struct loco_fabric *fabric;
    struct loco_manager *m;
    int rc = pair_open_node(p, &fabric, &m);

    if (!rc)
        rc = open_vars(&vars, p, sizes, m);
    if (rc)
        return rc;
    times = (struct times){.act = exchange_vars, .arg = &vars};
    take_times(p, &times, NULL);
    p->shared->sample.value /= 2;
    close_vars(&vars);
    pair_close_node(p, fabric, m);
    return 0;
}

enum { TYPICAL = 5, RATE = 5 }; /* columns of perftest's results */

/* An owned_var larger than a word is sent with its checksum, and perftest's message is as long. */
static int measure_push(const struct benchmark *b, const struct bench_options *o,
                        struct bench_sample *sample)
{
    unsigned size = b->parameter > 8 ? b->parameter + 8 : b->parameter;
    int rc = pair_run(b, o, push_body, NULL, sample);

    return rc ? rc
              : rival_perftest(o, sample, &sample->against, TYPICAL, "ib_write_lat", "-s %u -n %d",
                               size, ITERATIONS);
}

/* --- fetch-add: side 1 hosts the variable ----------------------------------------------------- */

static void fetch_add(struct pair *p, void *arg)
{
    uint64_t old;

    if (p->side == 0)
        loco_atomic_fetch_add(loco_atomic_of(arg), 1, &old);
}

static int fetch_add_body(struct pair *p)
{
    static struct times times;
    struct loco_atomic_var var;
    struct loco_fabric *fabric;
    struct loco_manager *m;
    int rc = pair_open_node(p, &fabric, &m);

    if (!rc)
        rc = loco_atomic_var_init(&var, m, NULL, "var", 1, LOCO_ALL, 0);
    if (!rc)
        rc = loco_manager_ready(m, PAIR_TIMEOUT_NS);
    if (rc)
        return rc;
    times = (struct times){.act = fetch_add, .arg = &var};
    take_times(p, &times, NULL);
    loco_atomic_var_fini(&var);
    pair_close_node(p, fabric, m);
    return 0;
}

static int measure_fetch_add(const struct benchmark *b, const struct bench_options *o,
                             struct bench_sample *sample)
{
    int rc = pair_run(b, o, fetch_add_body, NULL, sample);

    return rc ? rc
              : rival_perftest(o, sample, &sample->against, TYPICAL, "ib_atomic_lat",
                               "-A FETCH_AND_ADD -n %d", ITERATIONS);
}

/* --- the key-value store: side 0 reads what side 1 inserted ----------------------------------- */

enum { KEYS = 64, KV_READ_BYTES = 24 /* bytes fetched for an 8-byte value */ };

static void read_key(struct pair *p, void *arg)
{
    static uint64_t key;
    uint64_t value;

    if (p->side == 0)
        loco_kvstore_read(arg, key++ % KEYS, &value);
}

static int open_store(struct loco_kvstore *store, struct pair *p, struct loco_manager *m)
{
    const struct loco_kvstore_config config = {.value_size = sizeof(uint64_t), .capacity = KEYS};
    int rc = loco_kvstore_init(store, m, NULL, "store", &config);

    if (!rc)
        rc = loco_manager_ready(m, PAIR_TIMEOUT_NS);
    if (!rc)
        rc = loco_kvstore_start_tracker(store);
    for (uint64_t key = 0; !rc && p->side == 1 && key < KEYS; key++)
        rc = loco_kvstore_insert(store, key, &key);
    return rc;
}

static int kv_read_body(struct pair *p)
{
    static struct loco_kvstore store;
    static struct times times;
    struct loco_fabric *fabric;
    struct loco_manager *m;
    int rc = pair_open_node(p, &fabric, &m);

    if (!rc)
        rc = open_store(&store, p, m);
    if (rc)
        return rc;
    pair_tell(p);
    pair_hear(p); /* the keys have been inserted */
    times = (struct times){.act = read_key, .arg = &store};
    take_times(p, &times, NULL);
    loco_kvstore_fini(&store);
    pair_close_node(p, fabric, m);
    return 0;
}

static int measure_kv_read(const struct benchmark *b, const struct bench_options *o,
                           struct bench_sample *sample)
{
    int rc = pair_run(b, o, kv_read_body, NULL, sample);

    return rc ? rc
              : rival_perftest(o, sample, &sample->against, TYPICAL, "ib_read_lat", "-s %d -n %d",
                               KV_READ_BYTES, ITERATIONS);
}

/* --- message rate: as many writes in flight as there is room for ------------------------------ */

enum { BURST = 256 };

static int rate_body(struct pair *p)
{
    struct loco_shared_region region;
    const uint64_t word = 1;
    struct loco_fabric *fabric;
    struct loco_manager *m;
    int rc = pair_open_node(p, &fabric, &m);

    if (!rc)
        rc = loco_shared_region_init(&region, m, NULL, "region", LOCO_ALL, 64);
    if (!rc)
        rc = loco_manager_ready(m, PAIR_TIMEOUT_NS);
    if (rc)
        return rc;
    if (p->side == 0) {
        uint64_t begin = bench_now(), now = begin, count = 0;
        for (; now - begin < (uint64_t)(p->options->seconds * 1e9);
             now = bench_now(), count += BURST)
            for (int i = 0; i < BURST; i++)
                loco_region_write(region.region, 0, 0, &word, sizeof word);
        loco_fence_thread(m);
        p->shared->sample.value = (double)count / (double)(bench_now() - begin) * 1e6;
        pair_tell(p);
    } else {
        pair_hear_idly(p);
    }
    loco_shared_region_fini(&region);
    pair_close_node(p, fabric, m);
    return 0;
}

static int measure_rate(const struct benchmark *b, const struct bench_options *o,
                        struct bench_sample *sample)
{
    int rc = pair_run(b, o, rate_body, NULL, sample);

    if (!rc)
        rc = rival_perftest(o, sample, &sample->against, RATE, "ib_write_bw", "-s 8 -n %d", LONG);
    sample->against *= 1e3; /* of millions */
    return rc;
}

/* --- locks ------------------------------------------------------------------------------------ */

static int measure_locks(const struct benchmark *b, const struct bench_options *o,
                         struct bench_sample *sample)
{
    struct bench_options few = *o;

    few.accounts = 10000;
    int rc = locks_measure(b, &few, sample);
    sample->value *= 1e3; /* of millions */
    return rc;
}

/* --- the loop: a command of 16 bytes there, a measurement of 32 back -------------------------- */

static const size_t loop_sizes[] = {16, 32};

struct sockets {
    int fd;
};

static void exchange_messages(struct pair *p, void *arg)
{
    const struct sockets *s = arg;
    unsigned char message[32] = {0};

    if (p->side == 0)
        (void)!send(s->fd, message, loop_sizes[0], 0);
    (void)!recv(s->fd, message, loop_sizes[!p->side], MSG_WAITALL);
    if (p->side == 1)
        (void)!send(s->fd, message, loop_sizes[1], 0);
}

/* The address of a side's socket: its own address, or the only one, and a port of its own. */
static struct sockaddr_in socket_address(unsigned side)
{
    char text[2][64];
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)(18700 + side))};
    int count = sscanf(getenv("RDMA_ADDRESSES"), "%63s %63s", text[0], text[1]);

    inet_pton(AF_INET, text[count > 1 ? side : 0], &a.sin_addr);
    return a;
}

static int connect_sides(struct pair *p, int fd)
{
    const struct sockaddr_in other = socket_address(!p->side);

    return connect(fd, (const struct sockaddr *)&other, sizeof other) ? -errno : 0;
}

static int open_udp(struct sockets *s, struct pair *p)
{
    const struct sockaddr_in own = socket_address(p->side);

    s->fd = socket(AF_INET, SOCK_DGRAM, 0);
    int rc = bind(s->fd, (const struct sockaddr *)&own, sizeof own) ? -errno : 0;
    pair_tell(p);
    pair_hear(p);
    return rc ? rc : connect_sides(p, s->fd);
}

static int open_tcp(struct sockets *s, struct pair *p)
{
    const struct sockaddr_in own = socket_address(p->side);
    const int on = 1;
    int rc = 0;

    s->fd = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(s->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (p->side == 1 &&
        (bind(s->fd, (const struct sockaddr *)&own, sizeof own) || listen(s->fd, 1)))
        rc = -errno;
    pair_tell(p);
    pair_hear(p);
    if (!rc && p->side == 0) {
        rc = connect_sides(p, s->fd);
    } else if (!rc) {
        int listening = s->fd;
        s->fd = accept(listening, NULL, NULL);
        close(listening);
    }
    setsockopt(s->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return rc;
}

enum { UDP, TCP }; /* benchmark.parameter */

static int loop_body(struct pair *p)
{
    static struct times times, beside;
    struct sockets sockets;
    struct vars vars;
    struct loco_fabric *fabric;
    struct loco_manager *m;
    int rc = pair_open_node(p, &fabric, &m);

    if (!rc)
        rc = open_vars(&vars, p, loop_sizes, m);
    if (!rc)
        rc = p->benchmark->parameter == UDP ? open_udp(&sockets, p) : open_tcp(&sockets, p);
    if (rc)
        return rc;
    times = (struct times){.act = exchange_vars, .arg = &vars};
    beside = (struct times){.act = exchange_messages, .arg = &sockets};
    take_times(p, &times, &beside);
    close(sockets.fd);
    close_vars(&vars);
    pair_close_node(p, fabric, m);
    return 0;
}

static int measure_loop(const struct benchmark *b, const struct bench_options *o,
                        struct bench_sample *sample)
{
    return pair_run(b, o, loop_body, NULL, sample);
}

/* --- the table -------------------------------------------------------------------------------- */

#define LATENCY(row, rival, target, which, function)                                               \
    {.name = row,                                                                                  \
     .unit = "us",                                                                                 \
     .against = rival,                                                                             \
     .target_ratio = target,                                                                       \
     .cores = 2,                                                                                   \
     .parameter = which,                                                                           \
     .measure = function},                                                                         \
    {                                                                                              \
        .name = row "_polled", .unit = "us", .against = rival, .cores = 2, .polled = true,         \
        .parameter = which, .measure = function                                                    \
    }

#define RATE_ROW(row, rival, target, which, function)                                              \
    {.name = row,                                                                                  \
     .unit = "k/s",                                                                                \
     .against = rival,                                                                             \
     .target_ratio = target,                                                                       \
     .more = true,                                                                                 \
     .cores = 2,                                                                                   \
     .parameter = which,                                                                           \
     .measure = function},                                                                         \
    {                                                                                              \
        .name = row "_polled", .unit = "k/s", .against = rival, .more = true, .cores = 2,          \
        .polled = true, .parameter = which, .measure = function                                    \
    }

const struct benchmark rdma_benchmarks[] = {
    LATENCY("push_8", "ib_write_lat", 1.1, 8, measure_push),
    LATENCY("push_32", "ib_write_lat", 1.1, 32, measure_push),
    LATENCY("fetch_add", "ib_atomic_lat", 1.1, 0, measure_fetch_add),
    LATENCY("kv_read", "ib_read_lat", 1.15, 0, measure_kv_read),
    RATE_ROW("writes_8", "ib_write_bw", 0.9, 0, measure_rate),
    LATENCY("loop_16_32_udp", "UDP", 1, UDP, measure_loop),
    LATENCY("loop_16_32_tcp", "TCP", 1, TCP, measure_loop),
    RATE_ROW("lock_handover_1", NULL, 0, 1, measure_locks),
    RATE_ROW("transfers_1", NULL, 0, 1 | LOCKS_TRANSFERS, measure_locks),
    {0},
};
