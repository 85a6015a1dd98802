/*
 * Compares the fabric tcp over loopback with a ping-pong over plain sockets. Two processes send
 * each other as many bytes, and poll for them all the time, which is the fastest way to use
 * sockets. They put each value into a frame and take it out, as any program must. One process has
 * one node, the other process one or many. A loop is a round trip to all of these, like a
 * controller's step.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "channels/fabric/host_time.h"
#include "channels/fabric/tcp/tcp_wire.h"
#include "pair.h"

enum { FAR_MAX = 20, TIMES = 200, SOCKET_PORT = 18600 };

enum { WORD = sizeof(uint64_t) };

/* A link's payload in one direction: a value of a word. */
struct frame {
    struct tcp_request head;
    uint64_t value;
};

/* Each node's memory starts at a cache line of its own. */
struct cell {
    _Alignas(64) volatile uint64_t value;
};

struct tcp_bench {
    unsigned far; /* number of nodes on the far side */
    struct loco_fabric *fabric;
    struct loco_manager *managers[FAR_MAX]; /* of this side; the near side has one */
    _Alignas(64) struct loco_owned_var mine[FAR_MAX], theirs[FAR_MAX];
    uint64_t count;

    int fd;
    uint64_t said;
    struct frame frames[FAR_MAX];
    struct cell cells[FAR_MAX];
};

/* --- the plain sockets ------------------------------------------------------------------- */

static struct sockaddr_in bench_address(void)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(SOCKET_PORT)};
    const unsigned run = (unsigned)getppid(); /* the same at both sides */

    a.sin_addr.s_addr = htonl(127u << 24 | (1 + run / 62500 % 250) << 16 |
                              (1 + run / 250 % 250) << 8 | (1 + run % 250));
    return a;
}

static int accept_one(const struct sockaddr_in *a)
{
    const int one = 1, listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int fd = -1;

    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (!bind(listener, (const struct sockaddr *)a, sizeof *a) && !listen(listener, 1))
        fd = accept(listener, NULL, NULL);
    close(listener);
    return fd;
}

static int connect_to(const struct sockaddr_in *a)
{
    for (int tries = 0; tries < 1000; tries++) {
        const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (!connect(fd, (const struct sockaddr *)a, sizeof *a))
            return fd;
        close(fd);
        usleep(1000);
    }
    return -1;
}

static int open_sockets(struct tcp_bench *t, unsigned side)
{
    const struct sockaddr_in a = bench_address();
    const int one = 1;

    t->fd = side == 0 ? accept_one(&a) : connect_to(&a);
    return t->fd < 0 || setsockopt(t->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) ? -errno : 0;
}

static void say_frames(struct tcp_bench *t)
{
    for (unsigned i = 0; i < t->far; i++)
        t->frames[i] = (struct frame){
            .head = {.operation = TCP_WRITE, .link = (uint16_t)i, .size = WORD}, .value = t->said};
    if (send(t->fd, t->frames, t->far * sizeof t->frames[0], MSG_NOSIGNAL) < 0)
        perror("send");
}

/* Stores each value where its frame says, after checking that. */
static void place_frame(struct tcp_bench *t, const struct frame *f)
{
    if (f->head.operation == TCP_WRITE && f->head.link < t->far && f->head.size == WORD)
        t->cells[f->head.link].value = f->value;
}

static void hear_frames(struct tcp_bench *t)
{
    struct loco_wait wait = {.until = UINT64_MAX};
    unsigned char *to = (unsigned char *)t->frames;

    for (size_t left = t->far * sizeof t->frames[0]; left > 0;) {
        const ssize_t got = recv(t->fd, to, left, MSG_DONTWAIT);
        if (got > 0)
            to += got, left -= (size_t)got;
        else
            loco_host_relax(NULL, &wait);
    }
    for (unsigned i = 0; i < t->far; i++)
        place_frame(t, &t->frames[i]);
}

static void check_cells(const struct tcp_bench *t)
{
    for (unsigned i = 0; i < t->far; i++)
        if (t->cells[i].value != t->said)
            fprintf(stderr, "a value is not there\n");
}

static void socket_round_trips(struct pair *p, void *arg, unsigned times)
{
    struct tcp_bench *t = arg;

    for (unsigned i = 0; i < times; i++) {
        t->said++;
        if (p->side == 0)
            say_frames(t);
        hear_frames(t);
        check_cells(t);
        if (p->side == 1)
            say_frames(t);
    }
}

/* --- the fabric -------------------------------------------------------------------------- */

static unsigned own_count(const struct tcp_bench *t, unsigned side)
{
    return side == 0 ? 1 : t->far;
}

static struct loco_manager *manager_of(const struct tcp_bench *t, unsigned side, unsigned i)
{
    return t->managers[side == 0 ? 0 : i];
}

static void push_all(struct tcp_bench *t)
{
    loco_hold(t->managers[0]);
    for (unsigned i = 0; i < t->far; i++)
        loco_owned_var_put(&t->mine[i], &t->count);
    loco_release(t->managers[0]);
}

static void await_all(struct tcp_bench *t)
{
    for (unsigned i = 0; i < t->far; i++) {
        struct loco_wait wait = {.until = UINT64_MAX};
        uint64_t value = 0;
        while (!loco_owned_var_load(&t->theirs[i], &value) && value < t->count)
            loco_relax(t->managers[0], &wait);
    }
}

static void fabric_round_trips(struct pair *p, void *arg, unsigned times)
{
    struct tcp_bench *t = arg;

    for (unsigned i = 0; i < times; i++) {
        t->count++;
        if (p->side == 0)
            push_all(t);
        await_all(t);
        if (p->side == 1)
            push_all(t);
    }
}

static int open_nodes(struct tcp_bench *t, unsigned side)
{
    const char *addresses[1 + FAR_MAX];
    const struct sockaddr_in a = bench_address();
    const struct loco_tcp_config config = {.addresses = addresses, .address_count = 1 + t->far};
    struct loco_manager_config node = {.node_count = 1 + t->far, .arena_size = 1 << 16};
    char text[INET_ADDRSTRLEN];

    inet_ntop(AF_INET, &a.sin_addr, text, sizeof text);
    for (unsigned i = 0; i <= t->far; i++)
        addresses[i] = text;
    int rc = loco_tcp_open(&t->fabric, &config);
    for (unsigned i = 0; !rc && i < own_count(t, side); i++) {
        node.node = side + i;
        rc = loco_manager_open(&t->managers[i], t->fabric, &node);
    }
    return rc;
}

static int init_variables(struct tcp_bench *t, unsigned side)
{
    int rc = 0;

    for (unsigned i = 0; !rc && i < t->far; i++) {
        const uint32_t far = 1 + i, own = side ? far : 0, other = side ? 0 : far;
        const struct loco_members reader = {.nodes = side ? &own : &far, .count = 1};
        const struct loco_members to = {.nodes = &other, .count = 1};
        char there[16], back[16];
        snprintf(there, sizeof there, "there%u", i);
        snprintf(back, sizeof back, "back%u", i);
        struct loco_manager *m = manager_of(t, side, i);
        rc = loco_owned_var_init(&t->mine[i], m, NULL, side ? back : there, own, to,
                                 sizeof(uint64_t));
        if (!rc)
            rc = loco_owned_var_init(&t->theirs[i], m, NULL, side ? there : back, other, reader,
                                     sizeof(uint64_t));
    }
    for (unsigned i = 0; !rc && i < own_count(t, side); i++)
        rc = loco_manager_ready(t->managers[i], PAIR_TIMEOUT_NS);
    return rc;
}

static void close_nodes(struct tcp_bench *t, unsigned side)
{
    for (unsigned i = 0; i < t->far; i++) {
        loco_owned_var_fini(&t->mine[i]);
        loco_owned_var_fini(&t->theirs[i]);
    }
    for (unsigned i = 0; i < own_count(t, side); i++)
        loco_manager_close(t->managers[i]);
    loco_tcp_close(t->fabric);
}

/* --- both --------------------------------------------------------------------------------- */

static int tcp_body(struct pair *p)
{
    struct tcp_bench *t = aligned_alloc(64, sizeof *t);

    if (!t)
        return -ENOMEM;
    memset(t, 0, sizeof *t);
    t->far = p->benchmark->parameter;
    int rc = open_sockets(t, p->side);
    if (!rc)
        rc = open_nodes(t, p->side);
    if (!rc)
        rc = init_variables(t, p->side);
    if (rc)
        return rc;
    pair_beside(p, fabric_round_trips, socket_round_trips, t, TIMES);
    close_nodes(t, p->side);
    close(t->fd);
    free(t);
    return 0;
}

static int measure_tcp(const struct benchmark *b, const struct bench_options *o,
                       struct bench_sample *sample)
{
    int rc = pair_run(b, o, tcp_body, NULL, sample);

    sample->value /= 1000;
    sample->against /= 1000;
    return rc;
}

const struct benchmark tcp_benchmarks[] = {
    {.name = "tcp_round_trip_8",
     .unit = "us",
     .against = "ping-pong of sockets",
     .target_ratio = 1.15,
     .cores = 2,
     .parameter = 1,
     .measure = measure_tcp},
    {.name = "tcp_loop_20_nodes",
     .unit = "us",
     .against = "ping-pong of sockets",
     .target_ratio = 1.15,
     .cores = 2,
     .parameter = FAR_MAX,
     .measure = measure_tcp},
    {0},
};
