/* The tcp fabric: how it, its nodes and their arenas are opened and closed. */
#include "../../loco/fabric/tcp.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../room.h"
#include "../addresses.h"
#include "../host_time.h"
#include "tcp_internal.h"

static struct tcp *tcp_of(const struct loco_fabric *fabric)
{
    return (struct tcp *)fabric;
}

uint64_t tcp_now(void)
{
    return loco_host_clock(NULL);
}

int tcp_init_lock(pthread_mutex_t *lock)
{
    pthread_mutexattr_t attributes;
    int rc = -pthread_mutexattr_init(&attributes);

    if (rc)
        return rc;
    pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
    rc = -pthread_mutex_init(lock, &attributes);
    pthread_mutexattr_destroy(&attributes);
    return rc;
}

void tcp_wake(struct tcp *t)
{
    uint64_t one = 1;

    atomic_store(&t->due, true);
    if (write(t->wake, &one, sizeof one) < 0)
        return; /* full: it is awake */
}

/* --- arenas ----------------------------------------------------------------------------------- */

static int tcp_arena_map(struct loco_node *base, size_t size, struct loco_arena *arena)
{
    struct tcp_node *n = (struct tcp_node *)base;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const uint32_t number = atomic_load(&n->own.count);

    if (number == TCP_ARENAS_MAX)
        return -ENOSPC;
    size = (size + page - 1) / page * page;
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return -ENOMEM;
    madvise(memory, size, MADV_HUGEPAGE); /* where the kernel has them */
    pthread_mutex_lock(&n->tcp->lock);
    n->own.at[number].base = memory;
    __atomic_store_n(&n->own.at[number].size, size, __ATOMIC_RELEASE);
    atomic_store_explicit(&n->own.count, number + 1, memory_order_release);
    for (uint32_t id = 0; id < n->base.count; id++) {
        struct tcp_connection *c = n->peers[id].connection;
        if (tcp_is_up(c))
            tcp_post_arena(c, number);
    }
    pthread_mutex_unlock(&n->tcp->lock);
    *arena = (struct loco_arena){.base = memory, .size = size, .number = number};
    return 0;
}

/* --- nodes ------------------------------------------------------------------------------------ */

static void tcp_free_node(struct tcp_node *n)
{
    for (uint32_t i = 0; i < atomic_load(&n->own.count); i++)
        munmap(n->own.at[i].base, n->own.at[i].size);
    while (n->arenas) {
        struct tcp_arenas *next = n->arenas->next;
        free(n->arenas);
        n->arenas = next;
    }
    free(n->quiet);
    free(n->addresses);
    free(n->peers);
    free(n);
}

/* Calls the core directly, because the telling thread does not know the node yet. */
static int tcp_refuse_address(const struct tcp_node *n, uint32_t id, const char *why)
{
    char text[300];

    snprintf(text, sizeof text, "node %u: cannot find the address of node %u, %s: %s", n->base.id,
             id, n->tcp->addresses[id], why);
    n->base.events.warning(n->base.events.arg, text);
    return -EINVAL;
}

/* Many machines' own name is at loopback in their /etc/hosts (127.0.1.1), and elsewhere on other
 * machines. So if the node is at such a name and others are not at loopback, the name stands for
 * the address by which these are reached. */
static void tcp_mend_own_name(struct tcp_node *n)
{
    const char *own_name = n->tcp->addresses[n->base.id];
    const struct sockaddr_storage own = n->addresses[n->base.id];
    struct sockaddr_storage better;
    uint32_t other = 0;

    while (other < n->base.count && loco_address_is_loopback(&n->addresses[other]))
        other++;
    if (!loco_address_is_loopback(&own) || !own_name[strspn(own_name, "0123456789.:")] ||
        other == n->base.count || loco_address_towards(&n->addresses[other], &better))
        return;
    for (uint32_t id = 0; id < n->base.count; id++)
        if (loco_address_same_host((const struct sockaddr *)&own, &n->addresses[id]))
            n->addresses[id] = better;
}

static int tcp_make_peers(struct tcp_node *n)
{
    const uint32_t count = n->base.count;

    n->peers = calloc(count, sizeof *n->peers);
    n->addresses = calloc(count, sizeof *n->addresses);
    n->quiet = tcp_told_new(n, TCP_QUIET, 0);
    if (!n->peers || !n->addresses || !n->quiet)
        return -ENOMEM;
    for (uint32_t id = 0; id < count; id++) {
        n->peers[id].id = id;
        if (id >= n->tcp->config.address_count)
            return tcp_refuse_address(n, id % n->tcp->config.address_count, "there are too few");
        const char *why = loco_address_find(n->tcp->addresses[id], &n->addresses[id]);
        if (why)
            return tcp_refuse_address(n, id, why);
    }
    tcp_mend_own_name(n);
    return 0;
}

static void tcp_warn_of_port(const struct tcp_node *n, int error)
{
    char text[300];

    snprintf(text, sizeof text, "node %u: cannot listen at %s, port %u: %s", n->base.id,
             n->tcp->addresses[n->base.id], n->tcp->config.port + n->base.id, strerror(-error));
    n->base.events.warning(n->base.events.arg, text);
}

static int tcp_node_open(struct loco_fabric *fabric, uint32_t id, uint32_t count,
                         struct loco_secret secret, const struct loco_events *events,
                         struct loco_node **node)
{
    struct tcp *t = tcp_of(fabric);
    struct tcp_node *n = calloc(1, sizeof *n);

    if (!n)
        return -ENOMEM;
    n->base = (struct loco_node){.fabric = fabric, .id = id, .count = count, .events = *events};
    n->tcp = t;
    n->self = (struct control_self){.magic = TCP_MAGIC,
                                    .version = TCP_VERSION,
                                    .id = id,
                                    .count = count,
                                    .process = t->process};
    loco_key_of(&n->self.key, secret);
    int rc = tcp_make_peers(n);
    if (rc)
        goto free_it;
    pthread_mutex_lock(&t->lock);
    rc = tcp_listen(n);
    if (!rc) {
        n->next = t->nodes;
        t->nodes = n;
    }
    pthread_mutex_unlock(&t->lock);
    if (rc) {
        tcp_warn_of_port(n, rc);
        goto free_it;
    }
    *node = &n->base;
    return 0;

free_it:
    tcp_free_node(n);
    return rc;
}

static void tcp_node_close(struct loco_node *base)
{
    struct tcp_node *n = (struct tcp_node *)base;
    struct tcp *t = n->tcp;

    pthread_mutex_lock(&t->lock);
    n->closing = true;
    tcp_wake(t);
    while (!n->closed)
        pthread_cond_wait(&t->node_closed, &t->lock);
    pthread_mutex_unlock(&t->lock);
    tcp_free_node(n);
}

static const struct loco_fabric_ops tcp_ops = {
    .name = "tcp",
    .node_open = tcp_node_open,
    .node_close = tcp_node_close,
    .meet = tcp_meet,
    .send = tcp_send,
    .arena_map = tcp_arena_map,
    .link_open = tcp_link_open,
    .link_close = tcp_link_close,
    .write = tcp_write,
    .read = tcp_read,
    .fetch_add = tcp_fetch_add,
    .compare_swap = tcp_compare_swap,
    .flush = tcp_flush,
    .poll = tcp_poll,
    .clock = loco_host_clock,
    .hold = tcp_hold,
    .release = tcp_release,
    .relax = tcp_relax,
};

/* --- the fabric ------------------------------------------------------------------------------- */

static void tcp_free_fabric(struct tcp *t)
{
    tcp_forget_told(t);
    tcp_lanes_free(t);
    tcp_looks_free(&t->looks);
    if (t->epoll >= 0)
        close(t->epoll);
    if (t->wake >= 0)
        close(t->wake);
    loco_addresses_free(t->addresses, t->config.address_count);
    pthread_mutex_destroy(&t->lock);
    pthread_mutex_destroy(&t->connecting);
    pthread_mutex_destroy(&t->serving);
    pthread_cond_destroy(&t->node_closed);
    pthread_cond_destroy(&t->news);
    free(t);
}

static int tcp_open_descriptors(struct tcp *t)
{
    struct epoll_event event = {.events = EPOLLIN};

    t->epoll = epoll_create1(EPOLL_CLOEXEC);
    t->wake = t->epoll < 0 ? -1 : eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (t->wake < 0)
        return -errno;
    return epoll_ctl(t->epoll, EPOLL_CTL_ADD, t->wake, &event) ? -errno : 0;
}

static int tcp_draw_number(struct tcp *t)
{
    struct loco_nonce nonce;
    int rc = loco_nonce_new(&nonce);

    if (!rc)
        memcpy(&t->process, nonce.bytes, sizeof t->process);
    return rc;
}

static void tcp_stop_telling(struct tcp *t)
{
    pthread_mutex_lock(&t->lock);
    t->stop_telling = true;
    pthread_cond_signal(&t->news);
    pthread_mutex_unlock(&t->lock);
    pthread_join(t->telling, NULL);
}

static int tcp_start_service(struct tcp *t)
{
    pthread_attr_t attributes;
    cpu_set_t cpus;

    pthread_attr_init(&attributes);
    CPU_ZERO(&cpus);
    CPU_SET(t->config.cpu, &cpus);
    if (t->config.pinned)
        pthread_attr_setaffinity_np(&attributes, sizeof cpus, &cpus);
    int rc = -pthread_create(&t->service, &attributes, tcp_service_thread, t);
    pthread_attr_destroy(&attributes);
    return rc;
}

static bool tcp_makes_sense(const struct loco_tcp_config *c)
{
    const uint32_t port = c->port ? c->port : LOCO_TCP_PORT;

    return c->addresses && c->address_count > 0 && port + c->address_count <= 65536 &&
           c->timeout_ms <= 1000000 && c->cpu < CPU_SETSIZE &&
           loco_room_is_empty(c->room, sizeof c->room);
}

int loco_tcp_open(struct loco_fabric **fabric, const struct loco_tcp_config *config)
{
    if (!tcp_makes_sense(config))
        return -EINVAL;

    struct tcp *t = calloc(1, sizeof *t);
    if (!t)
        return -ENOMEM;
    t->base.ops = &tcp_ops;
    t->base.capabilities = LOCO_ATOMICS_PLACED; /* the peer answers once it has changed the word */
    t->config = *config;
    if (!t->config.port)
        t->config.port = LOCO_TCP_PORT;
    if (!t->config.timeout_ms)
        t->config.timeout_ms = LOCO_TCP_TIMEOUT_MS;
    t->epoll = t->wake = -1;
    t->told_end = &t->told;
    if (tcp_init_lock(&t->serving)) {
        free(t);
        return -ENOMEM;
    }
    pthread_mutex_init(&t->lock, NULL);
    pthread_mutex_init(&t->connecting, NULL);
    pthread_cond_init(&t->node_closed, NULL);
    pthread_cond_init(&t->news, NULL);
    t->addresses = loco_addresses_copy(config->addresses, config->address_count);
    int rc = t->addresses ? tcp_draw_number(t) : -ENOMEM;
    if (!rc)
        rc = tcp_open_descriptors(t);
    if (rc)
        goto free_it;
    rc = -pthread_create(&t->telling, NULL, tcp_telling_thread, t);
    if (rc)
        goto free_it;
    rc = tcp_start_service(t);
    if (rc)
        goto stop_telling;
    *fabric = &t->base;
    return 0;

stop_telling:
    tcp_stop_telling(t);
free_it:
    tcp_free_fabric(t);
    return rc;
}

void loco_tcp_close(struct loco_fabric *fabric)
{
    struct tcp *t = tcp_of(fabric);

    if (!t)
        return;
    atomic_store(&t->stop, true);
    tcp_wake(t);
    pthread_join(t->service, NULL);
    tcp_stop_telling(t);
    tcp_hold_forget(t);
    tcp_free_fabric(t);
}
