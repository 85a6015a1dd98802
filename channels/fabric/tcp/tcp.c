/* The tcp fabric: how it, its nodes and their arenas are opened and closed. */
#include "../../loco/fabric/tcp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
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

/* --- arenas ----------------------------------------------------------------------------------- */

static void tcp_post_arena(struct control_connection *c, uint32_t number)
{
    const struct tcp_node *n = (struct tcp_node *)c->end.node;
    const struct tcp_arena_notice a = {.number = number, .size = n->own.at[number].size};

    if (control_post(c, CONTROL_OWN, &a, sizeof a))
        control_connection_end(c); /* the peer would not know the arena */
}

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
    pthread_mutex_lock(&n->tcp->control.lock);
    n->own.at[number].base = memory;
    __atomic_store_n(&n->own.at[number].size, size, __ATOMIC_RELEASE);
    atomic_store_explicit(&n->own.count, number + 1, memory_order_release);
    for (uint32_t id = 0; id < n->control.base.count; id++) {
        struct control_connection *c = n->control.peers[id].connection;
        if (control_is_up(c))
            tcp_post_arena(c, number);
    }
    pthread_mutex_unlock(&n->tcp->control.lock);
    *arena = (struct loco_arena){.base = memory, .size = size, .number = number};
    return 0;
}

/* --- what control asks of the fabric -----------------------------------------------------------
 */

static int tcp_up(struct control_connection *control)
{
    struct tcp_connection *c = (struct tcp_connection *)control;
    struct tcp_node *n = (struct tcp_node *)control->end.node;

    c->arenas = calloc(1, sizeof *c->arenas);
    if (!c->arenas)
        return -ENOMEM;
    c->arenas->next = n->arenas;
    n->arenas = c->arenas;
    for (uint32_t i = 0; i < atomic_load(&n->own.count); i++)
        tcp_post_arena(control, i);
    return 0;
}

/* Notes an arena of the peer. A peer sends each once, in the order of their numbers. */
static bool tcp_learn_arena(struct control_connection *control,
                            const struct loco_control_message *m)
{
    const struct tcp_connection *c = (struct tcp_connection *)control;
    struct tcp_arena_notice a;

    if (m->size != sizeof a)
        return false;
    memcpy(&a, m->body, sizeof a);
    if (a.number >= TCP_ARENAS_MAX || c->arenas->at[a.number].size || !a.size ||
        (a.number > 0 && !c->arenas->at[a.number - 1].size))
        return false;
    __atomic_store_n(&c->arenas->at[a.number].size, a.size, __ATOMIC_RELEASE);
    return true;
}

static void tcp_cut_off(struct control_connection *control)
{
    const struct tcp_connection *c = (struct tcp_connection *)control;
    struct tcp_node *n = (struct tcp_node *)control->end.node;

    tcp_targets_drop(n, control->peer);
    tcp_links_break(n, c->arenas);
    if (!control_is_connected_with(&n->tcp->control, control->greet.process))
        tcp_lanes_end(n->tcp, control->greet.process);
}

static const struct control_hooks tcp_hooks = {
    .connection_size = sizeof(struct tcp_connection),
    .up = tcp_up,
    .heard = tcp_learn_arena,
    .cut_off = tcp_cut_off,
    .linked = tcp_hear_link,
};

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
    free(n);
}

static int tcp_node_open(struct loco_fabric *fabric, uint32_t id, uint32_t count,
                         struct loco_secret secret, const struct loco_events *events,
                         struct loco_node **node)
{
    struct tcp *t = tcp_of(fabric);
    struct tcp_node *n = calloc(1, sizeof *n);

    if (!n)
        return -ENOMEM;
    n->control.base.fabric = fabric;
    n->tcp = t;
    int rc = control_node_open(&t->control, &n->control, id, count, secret, events);
    if (rc)
        goto free_it;
    rc = control_node_start(&n->control);
    if (rc)
        goto free_control;
    *node = &n->control.base;
    return 0;

free_control:
    control_node_free(&n->control);
free_it:
    tcp_free_node(n);
    return rc;
}

static void tcp_node_close(struct loco_node *base)
{
    struct tcp_node *n = (struct tcp_node *)base;

    control_node_stop(&n->control);
    control_node_free(&n->control);
    tcp_free_node(n);
}

static const struct loco_fabric_ops tcp_ops = {
    .name = "tcp",
    .node_open = tcp_node_open,
    .node_close = tcp_node_close,
    .meet = control_meet,
    .send = control_send,
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
    tcp_lanes_free(t);
    tcp_looks_free(&t->looks);
    loco_addresses_free(t->addresses, t->config.address_count);
    pthread_mutex_destroy(&t->connecting);
    pthread_mutex_destroy(&t->serving);
    free(t);
}

static int tcp_draw_number(struct tcp *t)
{
    struct loco_nonce nonce;
    int rc = loco_nonce_new(&nonce);

    if (!rc)
        memcpy(&t->self.process, nonce.bytes, sizeof t->self.process);
    return rc;
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
    if (tcp_init_lock(&t->serving)) {
        free(t);
        return -ENOMEM;
    }
    pthread_mutex_init(&t->connecting, NULL);
    t->self = (struct control_self){.magic = TCP_MAGIC, .version = TCP_VERSION};
    t->addresses = loco_addresses_copy(config->addresses, config->address_count);
    t->control = (struct control){.hooks = &tcp_hooks,
                                  .self = &t->self,
                                  .names = t->addresses,
                                  .name_count = t->config.address_count,
                                  .port = t->config.port,
                                  .timeout_ms = t->config.timeout_ms};
    int rc = t->addresses ? tcp_draw_number(t) : -ENOMEM;
    if (!rc)
        rc = control_open(&t->control);
    if (rc)
        goto free_it;
    rc = tcp_start_service(t);
    if (rc)
        goto close_control;
    *fabric = &t->base;
    return 0;

close_control:
    control_close(&t->control);
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
    control_wake(&t->control);
    pthread_join(t->service, NULL);
    control_close(&t->control);
    tcp_hold_forget(t);
    tcp_free_fabric(t);
}
