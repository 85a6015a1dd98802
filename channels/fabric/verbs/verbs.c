/* The verbs fabric: how it, its nodes and their arenas are opened and closed. */
#include "../../loco/fabric/verbs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../../room.h"
#include "../addresses.h"
#include "../host_time.h"
#include "verbs_internal.h"

enum { PAGE = 4096 };

static struct verbs *verbs_of(const struct loco_fabric *fabric)
{
    return (struct verbs *)fabric;
}

void verbs_wake(int eventfd)
{
    uint64_t one = 1;

    if (write(eventfd, &one, sizeof one) < 0)
        return; /* the counter is full, so the thread is awake anyway */
}

/* Calls the core directly, for nodes that may fail to open. */
__attribute__((format(printf, 2, 3))) static void verbs_say(const struct verbs_node *n,
                                                            const char *format, ...)
{
    char text[240];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    n->control.base.events.warning(n->control.base.events.arg, text);
}

/* --- arenas ----------------------------------------------------------------------------------- */

/* The kinds of pages, the largest first. */
static const struct pages {
    size_t size;
    int flags;
    const char *name;
} all_pages[] = {
    {(size_t)1 << 30, MAP_HUGETLB | 30 << MAP_HUGE_SHIFT, "1 GiB"},
    {(size_t)2 << 20, MAP_HUGETLB | 21 << MAP_HUGE_SHIFT, "2 MiB"},
    {(size_t)4 << 10, 0, "ordinary"},
};

enum { PAGES = sizeof all_pages / sizeof all_pages[0], HUGE_LEAST = 1 };

/* The kind of page for `size` bytes: the largest one that is not larger than `size`, but a huge
 * page in any case. */
static unsigned verbs_pages_for(size_t size)
{
    unsigned i = 0;

    while (i < HUGE_LEAST && all_pages[i].size > size)
        i++;
    return i;
}

static void *verbs_map_pages(size_t *size, unsigned *which)
{
    for (; *which < PAGES; ++*which) {
        const struct pages *p = &all_pages[*which];
        size_t whole = (*size + p->size - 1) / p->size * p->size;
        void *memory = mmap(NULL, whole, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | p->flags, -1, 0);
        if (memory != MAP_FAILED) {
            *size = whole;
            return memory;
        }
    }
    return NULL;
}

static void verbs_explain_registration(const struct verbs_node *n, size_t size, int error)
{
    struct rlimit limit = {0};

    getrlimit(RLIMIT_MEMLOCK, &limit);
    if (error == -ENOMEM && limit.rlim_cur != RLIM_INFINITY)
        verbs_say(
            n,
            "cannot register %zu KiB: a process may lock %llu KiB of memory (ulimit -l unlimited; "
            "for good: \"* - memlock unlimited\" in /etc/security/limits.conf)",
            size >> 10, (unsigned long long)limit.rlim_cur >> 10);
    else
        verbs_say(n, "cannot register %zu KiB with device %s: %s", size >> 10,
                  ibv_get_device_name(n->device->device), strerror(-error));
}

int verbs_register(struct verbs_node *n, void *memory, size_t size, unsigned access,
                   struct ibv_mr **region)
{
    *region = ibv_reg_mr(n->pd, memory, size, access);
    if (*region)
        return 0;
    int rc = -errno;
    verbs_explain_registration(n, size, rc);
    return rc;
}

static void verbs_say_pages(struct verbs_node *n, unsigned wanted, unsigned got)
{
    struct verbs *v = n->verbs;

    pthread_mutex_lock(&v->control.lock);
    bool say_it = wanted != got && !v->warned;
    v->warned |= say_it;
    pthread_mutex_unlock(&v->control.lock);
    if (say_it)
        verbs_say(n, "no pages of %s are free: arenas are on %s pages (as root: sysctl %s)",
                  all_pages[wanted].name, all_pages[got].name,
                  wanted == HUGE_LEAST ? "vm.nr_hugepages=64"
                                       : "vm.nr_hugepages; 1 GiB pages at boot");
}

static int verbs_arena_map(struct loco_node *base, size_t size, struct loco_arena *arena)
{
    const unsigned access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                            IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
    struct verbs_node *n = (struct verbs_node *)base;
    struct verbs *v = n->verbs;
    uint32_t number = atomic_load(&n->own.count);
    unsigned wanted = verbs_pages_for(size), got = wanted;

    if (number == VERBS_ARENAS_MAX)
        return -ENOSPC;
    void *memory = verbs_map_pages(&size, &got);
    if (!memory)
        return -ENOMEM;
    struct ibv_mr *region;
    int rc = verbs_register(n, memory, size, access, &region);
    if (rc) {
        munmap(memory, size);
        return rc;
    }
    pthread_mutex_lock(&v->control.lock);
    n->regions[number] = region;
    n->own.at[number] = (struct verbs_arena){.base = (uintptr_t)memory,
                                             .size = size,
                                             .remote_key = region->rkey,
                                             .local_key = region->lkey};
    atomic_store_explicit(&n->own.count, number + 1, memory_order_release);
    for (uint32_t id = 0; id < base->count; id++)
        if (control_is_up(n->control.peers[id].connection))
            verbs_post_arena(n->control.peers[id].connection, number);
    pthread_mutex_unlock(&v->control.lock);
    verbs_say_pages(n, wanted, got);
    *arena = (struct loco_arena){.base = memory, .size = size, .number = number};
    return 0;
}

/* --- nodes ------------------------------------------------------------------------------------ */

static void verbs_free_node(struct verbs_node *n)
{
    verbs_queue_close(&n->shared);
    for (uint32_t i = 0; i < atomic_load(&n->own.count); i++) {
        ibv_dereg_mr(n->regions[i]);
        munmap((void *)(uintptr_t)n->own.at[i].base, n->own.at[i].size);
    }
    if (n->of_targets)
        ibv_destroy_cq(n->of_targets);
    if (n->landing_mr)
        ibv_dereg_mr(n->landing_mr);
    free(n->landing);
    if (n->pd)
        ibv_dealloc_pd(n->pd);
    while (n->arenas) {
        struct verbs_arenas *next = n->arenas->next;
        free(n->arenas);
        n->arenas = next;
    }
    free(n->own_loss);
    free(n);
}

static int verbs_bind_node(struct verbs_node *n)
{
    int rc = verbs_bind(n);

    if (rc == -ENODEV || rc == -EADDRNOTAVAIL)
        verbs_say(n, "node %u: %s is no address of an RDMA device of this machine (see: rdma link)",
                  n->control.base.id, n->verbs->addresses[n->control.base.id]);
    return rc;
}

/* Adds the device to those whose asynchronous events the connecting thread reads. */
static int verbs_watch_device(struct verbs_node *n)
{
    struct verbs *v = n->verbs;
    int rc = 0;

    fcntl(n->device->async_fd, F_SETFL, fcntl(n->device->async_fd, F_GETFL) | O_NONBLOCK);
    pthread_mutex_lock(&v->control.lock);
    unsigned i = 0;
    while (i < v->device_count && v->devices[i].context != n->device)
        i++;
    if (i == VERBS_DEVICES_MAX)
        rc = -ENOSPC;
    else if (i == v->device_count)
        v->devices[v->device_count++] = (struct verbs_device){.context = n->device};
    pthread_mutex_unlock(&v->control.lock);
    return rc;
}

/* Opens the node's device. LOCO_CPU_ATOMICS holds for the whole fabric, so a device of any node may
 * clear it, and only the first may set it. */
static int verbs_open_device(struct verbs_node *n)
{
    struct loco_fabric *fabric = n->control.base.fabric;
    struct ibv_device_attr attributes;
    int rc = ibv_query_device(n->device, &attributes);

    if (rc)
        return -rc;
    if (attributes.atomic_cap == IBV_ATOMIC_NONE) {
        verbs_say(n, "device %s has no atomic operations", ibv_get_device_name(n->device->device));
        return -ENOTSUP;
    }
    pthread_mutex_lock(&n->verbs->control.lock);
    if (attributes.atomic_cap != IBV_ATOMIC_GLOB)
        fabric->capabilities &= ~(unsigned)(LOCO_CPU_ATOMICS | LOCO_ATOMICS_PLACED);
    else if (n->verbs->device_count == 0)
        fabric->capabilities |= LOCO_CPU_ATOMICS | LOCO_ATOMICS_PLACED;
    pthread_mutex_unlock(&n->verbs->control.lock);
    n->pd = ibv_alloc_pd(n->device);
    return n->pd ? 0 : -errno;
}

/* Makes what links need besides. The landing is a whole page, because the children of a fork may
 * lose pages that are registered. */
static int verbs_make_ends(struct verbs_node *n)
{
    n->landing = aligned_alloc(PAGE, PAGE);
    if (!n->landing)
        return -ENOMEM;
    int rc = verbs_register(n, n->landing, PAGE, IBV_ACCESS_LOCAL_WRITE, &n->landing_mr);
    if (rc)
        return rc;
    n->of_targets = ibv_create_cq(n->device, 1, NULL, NULL, 0);
    return n->of_targets ? 0 : -errno;
}

/* Opens the node's resources on the device that it is bound to. */
static int verbs_open_resources(struct verbs_node *n)
{
    int rc = verbs_open_device(n);

    if (!rc)
        rc = verbs_watch_device(n);
    if (!rc)
        rc = verbs_make_ends(n);
    return rc;
}

/* Makes the key of the node's links to itself, and the news of its own loss. */
static int verbs_prepare(struct verbs_node *n)
{
    struct loco_nonce own;
    const int rc = loco_nonce_new(&own);

    if (rc)
        return rc;
    loco_key_of(&n->own_links, (struct loco_secret){&own, sizeof own});
    n->own_loss = control_told_new(&n->control, CONTROL_LOST, n->control.base.id);
    return n->own_loss ? 0 : -ENOMEM;
}

static void verbs_add_node(struct verbs_node *n)
{
    struct verbs *v = n->verbs;

    pthread_mutex_lock(&v->control.lock);
    n->next = v->nodes;
    v->nodes = n;
    pthread_mutex_unlock(&v->control.lock);
}

/* Waits until the connecting thread has ended a node that was added. */
static void verbs_shut(struct verbs_node *n)
{
    struct verbs *v = n->verbs;

    pthread_mutex_lock(&v->control.lock);
    n->shuts = true;
    verbs_wake(v->wake_connecting);
    while (!n->shut)
        pthread_cond_wait(&v->control.node_closed, &v->control.lock);
    pthread_mutex_unlock(&v->control.lock);
}

/* Binds the node to its device, and lets peers connect. */
static int verbs_start(struct verbs_node *n)
{
    int rc = verbs_bind_node(n);

    if (rc)
        return rc;
    rc = verbs_open_resources(n);
    if (!rc)
        rc = verbs_listen(n);
    if (rc) {
        rdma_destroy_id(n->listener.id);
        return rc;
    }
    verbs_add_node(n);
    rc = control_node_start(&n->control);
    if (rc)
        verbs_shut(n);
    return rc;
}

static int verbs_node_open(struct loco_fabric *fabric, uint32_t id, uint32_t count,
                           struct loco_secret secret, const struct loco_events *events,
                           struct loco_node **node)
{
    struct verbs_node *n = calloc(1, sizeof *n);

    if (!n)
        return -ENOMEM;
    n->control.base.fabric = fabric;
    n->verbs = verbs_of(fabric);
    int rc = control_node_open(&n->verbs->control, &n->control, id, count, secret, events);
    if (rc)
        goto free_node;
    rc = verbs_prepare(n);
    if (!rc)
        rc = verbs_start(n);
    if (rc)
        goto free_control;
    *node = &n->control.base;
    return 0;

free_control:
    control_node_free(&n->control);
free_node:
    verbs_free_node(n);
    return rc;
}

static void verbs_node_close(struct loco_node *base)
{
    struct verbs_node *n = (struct verbs_node *)base;

    control_node_stop(&n->control);
    verbs_shut(n);
    control_node_free(&n->control);
    verbs_free_node(n);
}

static const struct loco_fabric_ops verbs_ops = {
    .name = "verbs",
    .node_open = verbs_node_open,
    .node_close = verbs_node_close,
    .meet = control_meet,
    .send = control_send,
    .arena_map = verbs_arena_map,
    .link_open = verbs_link_open,
    .link_close = verbs_link_close,
    .write = verbs_write,
    .read = verbs_read,
    .fetch_add = verbs_fetch_add,
    .compare_swap = verbs_compare_swap,
    .flush = verbs_flush,
    .poll = verbs_poll,
    .clock = loco_host_clock,
    .relax = loco_host_relax,
};

/* --- the fabric ------------------------------------------------------------------------------- */

static void verbs_free_fabric(struct verbs *v)
{
    if (v->channel)
        rdma_destroy_event_channel(v->channel);
    if (v->wake_connecting >= 0)
        close(v->wake_connecting);
    loco_addresses_free(v->addresses, v->config.address_count);
    free(v);
}

static int verbs_open_descriptors(struct verbs *v)
{
    v->wake_connecting = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (v->wake_connecting < 0)
        return -errno;
    v->channel = rdma_create_event_channel();
    if (!v->channel)
        return -errno;
    return fcntl(v->channel->fd, F_SETFL, fcntl(v->channel->fd, F_GETFL) | O_NONBLOCK) ? -errno : 0;
}

static void verbs_stop_serving(struct verbs *v)
{
    atomic_store(&v->control.stop, true);
    control_wake(&v->control);
    pthread_join(v->serving, NULL);
}

static int verbs_start_threads(struct verbs *v)
{
    int rc = -pthread_create(&v->serving, NULL, control_serving_thread, &v->control);

    if (rc)
        return rc;
    rc = -pthread_create(&v->connecting, NULL, verbs_connecting_thread, v);
    if (rc)
        verbs_stop_serving(v);
    return rc;
}

static bool verbs_config_makes_sense(const struct loco_verbs_config *c)
{
    uint32_t port = c->port ? c->port : LOCO_VERBS_PORT;

    return c->addresses && c->address_count > 0 && port + c->address_count <= 65536 &&
           c->send_depth <= 1 << 15 && c->timeout_exponent <= 31 && c->retry_count <= 7 &&
           c->traffic_class <= 255 && c->timeout_ms <= 1000000 &&
           loco_room_is_empty(c->room, sizeof c->room);
}

/* Of the lives of a process, each has a number. */
static int verbs_draw_number(struct verbs *v)
{
    struct loco_nonce nonce;
    const int rc = loco_nonce_new(&nonce);

    if (!rc)
        memcpy(&v->self.process, nonce.bytes, sizeof v->self.process);
    return rc;
}

int loco_verbs_open(struct loco_fabric **fabric, const struct loco_verbs_config *config)
{
    if (!verbs_config_makes_sense(config))
        return -EINVAL;

    struct verbs *v = calloc(1, sizeof *v);
    if (!v)
        return -ENOMEM;
    v->base.ops = &verbs_ops;
    v->config = *config;
    if (!v->config.port)
        v->config.port = LOCO_VERBS_PORT;
    ibv_fork_init(); /* for programs that fork, on old kernels */
    v->self = (struct control_self){.magic = VERBS_MAGIC, .version = VERBS_VERSION};
    v->addresses = loco_addresses_copy(config->addresses, config->address_count);
    v->control = (struct control){.hooks = &verbs_hooks,
                                  .self = &v->self,
                                  .names = v->addresses,
                                  .name_count = config->address_count,
                                  .port = v->config.port,
                                  .timeout_ms = config->timeout_ms ? (unsigned)config->timeout_ms
                                                                   : LOCO_VERBS_TIMEOUT_MS};
    int rc = v->addresses ? verbs_open_descriptors(v) : -ENOMEM;
    if (!rc)
        rc = verbs_draw_number(v);
    if (!rc)
        rc = control_open(&v->control);
    if (rc)
        goto free_it;
    rc = verbs_start_threads(v);
    if (rc)
        goto close_control;
    *fabric = &v->base;
    return 0;

close_control:
    control_close(&v->control);
free_it:
    verbs_free_fabric(v);
    return rc;
}

void loco_verbs_close(struct loco_fabric *fabric)
{
    struct verbs *v = verbs_of(fabric);

    if (!v)
        return;
    atomic_store(&v->stop, true);
    verbs_wake(v->wake_connecting);
    pthread_join(v->connecting, NULL);
    verbs_stop_serving(v);
    control_close(&v->control);
    verbs_free_fabric(v);
}
