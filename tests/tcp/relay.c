/*
 * A bad network between nodes of the tcp fabric, where the kernel has no netem: takes connections
 * at one address, and carries them to the same port of another, late and in pieces.
 *
 *     tcp-relay FROM TO PORT COUNT DELAY_US JITTER_US STALL_PERCENT KIB_PER_S [PLACE VALUE]
 *
 * Each piece is of a size of its own, is DELAY_US late and up to JITTER_US more, and waits for
 * those before it. STALL_PERCENT of them are 200 ms later still: that is what a lost packet looks
 * like to who uses TCP, and what reordered packets look like to it is nothing at all. KIB_PER_S is
 * the rate of each direction of each connection. The byte at PLACE, from 0, of what either end of a
 * connection says becomes VALUE.
 */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { PIECE_MAX = 8192, QUEUE_MAX = 256 << 10, FLOWS_MAX = 4096, PORTS_MAX = 64 };

static const uint64_t STALL_NS = 200000000;

struct piece {
    struct piece *next;
    uint64_t due_ns;
    size_t size, sent;
    unsigned char data[PIECE_MAX];
};

/* One direction of a connection. */
struct flow {
    int from, to; /* from is -1 when it has ended; to when both have */
    struct piece *first, **end;
    size_t queued;
    uint64_t due_ns; /* of the newest piece */
    uint64_t taken;  /* bytes, ever */
};

static struct in_addr from, to;
static uint64_t delay_ns, jitter_ns, stall_percent, bytes_per_s;
static unsigned first_port, ports;
static int listeners[PORTS_MAX];
static uint64_t changed = UINT64_MAX; /* the place of the byte that is changed */
static unsigned char change_to;
static struct flow flows[FLOWS_MAX]; /* of a connection two neighbours */
static unsigned flow_count, seed = 1;

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int new_socket(struct in_addr address, unsigned port)
{
    const struct sockaddr_in a = {
        .sin_family = AF_INET, .sin_addr = address, .sin_port = htons((uint16_t)port)};
    int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (!bind(fd, (const struct sockaddr *)&a, sizeof a))
        return fd;
    close(fd);
    return -1;
}

/* Without it the kernel would join small pieces, and keep them until the other end has acknowledged
 * what was sent before, up to 40 ms. */
static void send_each_piece(int fd)
{
    int one = 1;

    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
}

/* --- flows -------------------------------------------------------------------------------- */

static void take_off(struct flow *f)
{
    struct piece *p = f->first;

    f->first = p->next;
    f->queued -= p->size;
    free(p);
}

static void end_connection(unsigned pair)
{
    for (struct flow *f = &flows[pair]; f <= &flows[pair + 1]; f++)
        while (f->first)
            take_off(f);
    close(flows[pair].to);
    close(flows[pair + 1].to);
    flows[pair].from = flows[pair].to = flows[pair + 1].from = flows[pair + 1].to = -1;
}

static void change(const struct flow *f, struct piece *p)
{
    if (changed >= f->taken && changed - f->taken < p->size)
        p->data[changed - f->taken] = change_to;
}

static bool take_in(struct flow *f)
{
    struct piece *p = calloc(1, sizeof *p);
    ssize_t got = recv(f->from, p->data, 1 + (size_t)rand_r(&seed) % PIECE_MAX, MSG_DONTWAIT);

    if (got <= 0) {
        free(p);
        f->from = -1;
        return got == 0;
    }
    p->size = (size_t)got;
    change(f, p);
    f->taken += p->size;
    p->due_ns = now_ns() + delay_ns + (jitter_ns ? (uint64_t)rand_r(&seed) % jitter_ns : 0);
    if ((uint64_t)rand_r(&seed) % 100 < stall_percent)
        p->due_ns += STALL_NS;
    if (p->due_ns < f->due_ns)
        p->due_ns = f->due_ns;
    p->due_ns += p->size * 1000000000u / bytes_per_s;
    f->due_ns = p->due_ns;
    if (!f->first)
        f->end = &f->first;
    *f->end = p;
    f->end = &p->next;
    f->queued += p->size;
    return true;
}

static bool give_out(struct flow *f)
{
    struct piece *p = f->first;
    ssize_t sent = send(f->to, p->data + p->sent, p->size - p->sent, MSG_DONTWAIT | MSG_NOSIGNAL);

    if (sent < 0)
        return false;
    p->sent += (size_t)sent;
    if (p->sent == p->size)
        take_off(f);
    return true;
}

/* Whether all was said; then the other end is told. */
static bool has_ended(const struct flow *f)
{
    if (f->from >= 0 || f->first)
        return false;
    shutdown(f->to, SHUT_WR);
    return true;
}

/* --- connections -------------------------------------------------------------------------- */

static void carry(int caller, unsigned port)
{
    const struct sockaddr_in a = {
        .sin_family = AF_INET, .sin_addr = to, .sin_port = htons((uint16_t)port)};
    int called = new_socket(from, 0);
    unsigned pair = 0;

    while (pair < flow_count && flows[pair].to >= 0)
        pair += 2;
    if (pair + 2 > FLOWS_MAX || connect(called, (const struct sockaddr *)&a, sizeof a)) {
        close(called);
        close(caller);
        return;
    }
    send_each_piece(caller);
    send_each_piece(called);
    flows[pair] = (struct flow){.from = caller, .to = called};
    flows[pair + 1] = (struct flow){.from = called, .to = caller};
    if (pair == flow_count)
        flow_count += 2;
}

static void serve(struct flow *f, const struct pollfd *in, const struct pollfd *out)
{
    const unsigned pair = (unsigned)(f - flows) & ~1u;
    bool good = true;

    if (f->to < 0)
        return;
    if (in->revents && f->from >= 0)
        good = take_in(f);
    if (good && f->first && out->revents)
        good = give_out(f);
    if (!good)
        end_connection(pair);
    else if (has_ended(f) && has_ended(&flows[pair]) && has_ended(&flows[pair + 1]))
        end_connection(pair);
}

/* Returns when the first piece is due. */
static uint64_t watch(struct pollfd *fds, uint64_t now)
{
    uint64_t next = now + 1000000000u;

    for (unsigned i = 0; i < flow_count; i++) {
        const struct flow *f = &flows[i];
        const bool due = f->first && f->first->due_ns <= now;
        fds[2 * i] = (struct pollfd){.fd = f->queued < QUEUE_MAX ? f->from : -1, .events = POLLIN};
        fds[2 * i + 1] = (struct pollfd){.fd = due ? f->to : -1, .events = POLLOUT};
        if (f->first && !due && f->first->due_ns < next)
            next = f->first->due_ns;
    }
    return next;
}

static void run(void)
{
    static struct pollfd fds[2 * FLOWS_MAX + PORTS_MAX];

    for (;;) {
        const uint64_t now = now_ns(), next = watch(fds, now);
        struct pollfd *ports_fds = &fds[2 * flow_count];
        const struct timespec wait = {.tv_sec = (time_t)((next - now) / 1000000000u),
                                      .tv_nsec = (long)((next - now) % 1000000000u)};
        for (unsigned i = 0; i < ports; i++)
            ports_fds[i] = (struct pollfd){.fd = listeners[i], .events = POLLIN};
        const unsigned count = flow_count;
        if (ppoll(fds, 2 * count + ports, &wait, NULL) < 0)
            continue;
        for (unsigned i = 0; i < count; i++)
            serve(&flows[i], &fds[2 * i], &fds[2 * i + 1]);
        for (unsigned i = 0; i < ports; i++)
            if (ports_fds[i].revents)
                carry(accept(listeners[i], NULL, NULL), first_port + i);
    }
}

int main(int argc, char **argv)
{
    if ((argc != 9 && argc != 11) || !inet_aton(argv[1], &from) || !inet_aton(argv[2], &to)) {
        fprintf(stderr, "usage: tcp-relay FROM TO PORT COUNT DELAY_US JITTER_US STALL_PERCENT "
                        "KIB_PER_S [PLACE VALUE]\n");
        return 2;
    }
    first_port = (unsigned)atoi(argv[3]);
    ports = (unsigned)atoi(argv[4]);
    delay_ns = strtoull(argv[5], NULL, 10) * 1000;
    jitter_ns = strtoull(argv[6], NULL, 10) * 1000;
    stall_percent = strtoull(argv[7], NULL, 10);
    bytes_per_s = strtoull(argv[8], NULL, 10) * 1024;
    if (argc > 9) {
        changed = strtoull(argv[9], NULL, 10);
        change_to = (unsigned char)atoi(argv[10]);
    }
    if (ports > PORTS_MAX || bytes_per_s == 0)
        return 2;
    for (unsigned i = 0; i < ports; i++) {
        listeners[i] = new_socket(from, first_port + i);
        if (listeners[i] < 0 || listen(listeners[i], 64)) {
            perror("tcp-relay");
            return 1;
        }
    }
    printf("ready\n");
    fflush(stdout);
    run();
}
