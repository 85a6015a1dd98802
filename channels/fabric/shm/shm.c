/* The shm fabric: its nodes, their arenas, and operations on the mapped memory of peers. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../loco/fabric/atomic_copy.h"
#include "../../loco/fabric/context.h"
#include "../by_node_make.h"
#include "../host_time.h"
#include "shm_internal.h"

struct shm_link {
    struct loco_link base;
    const struct map *arenas; /* the peer's */
};

static struct shm *shm_of(const struct loco_fabric *fabric)
{
    return (struct shm *)fabric;
}

/* --- nodes ------------------------------------------------------------------------------- */

static void shm_unmap(struct map *maps)
{
    for (int i = 0; i < SHM_ARENAS_MAX; i++) {
        if (maps[i].shared)
            shm_unshare(&maps[i]);
        else if (maps[i].base)
            munmap(maps[i].base, maps[i].size);
    }
}

static void shm_free_peer(struct shm_peer *p)
{
    while (p->arenas) {
        struct shm_arenas *a = p->arenas;
        p->arenas = a->older;
        shm_unmap(a->maps);
        free(a);
    }
}

static void shm_free_node(struct shm_node *n)
{
    loco_each_entry (&n->peers, id)
        shm_free_peer(loco_by_node_find(&n->peers, id));
    loco_by_node_free(&n->peers);
    shm_unmap(n->arenas);
    free(n);
}

static int shm_node_open(struct loco_fabric *fabric, uint32_t id, uint32_t count,
                         struct loco_secret secret, const struct loco_events *events,
                         struct loco_node **node)
{
    struct shm *s = shm_of(fabric);
    struct shm_node *n = calloc(1, sizeof *n);
    struct loco_key key;

    if (!n)
        return -ENOMEM;
    n->base = (struct loco_node){.fabric = fabric, .id = id, .count = count, .events = *events};
    n->shm = s;
    loco_key_of(&key, secret);
    int rc = loco_by_node_init(&n->peers, count, sizeof(struct shm_peer));
    if (!rc)
        rc = shm_enter(n, &key);
    if (rc) {
        shm_free_node(n);
        return rc;
    }
    *node = &n->base;
    return 0;
}

static void shm_node_close(struct loco_node *base)
{
    struct shm_node *n = (struct shm_node *)base;
    struct shm *s = n->shm;

    pthread_mutex_lock(&s->lock);
    n->closing = true;
    shm_wake_thread(s);
    while (!n->closed)
        pthread_cond_wait(&s->node_closed, &s->lock);
    pthread_mutex_unlock(&s->lock);
    shm_free_node(n);
}

static int shm_send(struct loco_node *base, uint32_t peer, const void *message, size_t size)
{
    struct shm_node *n = (struct shm_node *)base;

    pthread_mutex_lock(&n->shm->lock);
    int rc = shm_post_core(n, shm_peer_of(n, peer), message, size);
    pthread_mutex_unlock(&n->shm->lock);
    return rc;
}

/* --- arenas ------------------------------------------------------------------------------ */

static int shm_arena_map(struct loco_node *base, size_t size, struct loco_arena *arena)
{
    struct shm_node *n = (struct shm_node *)base;
    struct shm *s = n->shm;
    struct map map = {0};

    if (n->arena_count == SHM_ARENAS_MAX)
        return -ENOSPC;
    pthread_mutex_lock(&s->lock);
    int rc = shm_map_new(s->files, &map, size);
    if (rc) {
        pthread_mutex_unlock(&s->lock);
        return rc;
    }
    bool say = map.small && !s->warned;
    s->warned |= map.small;
    uint32_t number = n->arena_count++;
    n->arenas[number] = map;
    loco_each_entry (&n->peers, id) {
        struct shm_peer *p = shm_peer_of(n, id);
        const int told = p && p->up ? shm_post_arena(n, p, number) : 0;
        if (told && told != -ECONNRESET)
            rc = told;
    }
    pthread_mutex_unlock(&s->lock);
    if (say)
        shm_warn(n, "no huge pages are free: arenas are on ordinary pages (as root: sysctl "
                    "vm.nr_hugepages=64)");
    if (rc)
        return rc; /* a peer was not told of the arena, so nobody uses it */
    *arena = (struct loco_arena){.base = map.base, .size = map.size, .number = number};
    return 0;
}

/* --- links and operations ------------------------------------------------------------------ */

static unsigned char *shm_place_in(const struct map *arenas, struct loco_remote at, size_t size)
{
    if (at.arena >= SHM_ARENAS_MAX)
        return NULL;
    const struct map *a = &arenas[at.arena];
    return at.offset <= a->size && size <= a->size - at.offset ? a->base + at.offset : NULL;
}

static const struct map *shm_arenas_of(const struct shm_node *n, uint32_t peer)
{
    return peer == n->base.id ? n->arenas : shm_peer_of(n, peer)->arenas->maps;
}

static void *shm_reach(struct loco_node *base, uint32_t peer, struct loco_remote at, size_t size)
{
    return shm_place_in(shm_arenas_of((const struct shm_node *)base, peer), at, size);
}

/* Waits for nothing. */
static int shm_link_open(struct loco_node *base, uint32_t peer, uint64_t until,
                         struct loco_link **link)
{
    const struct shm_node *n = (const struct shm_node *)base;
    struct shm_link *l = calloc(1, sizeof *l);

    (void)until;
    if (!l)
        return -ENOMEM;
    l->base.node = base;
    l->base.peer = peer;
    l->arenas = shm_arenas_of(n, peer);
    *link = &l->base;
    return 0;
}

static void shm_link_close(struct loco_link *link)
{
    free(link);
}

static unsigned char *shm_target_of(const struct shm_link *l, struct loco_remote at, size_t size)
{
    return shm_place_in(l->arenas, at, size);
}

static int shm_write(struct loco_link *base, struct loco_remote to, const void *from, size_t size)
{
    unsigned char *target = shm_target_of((struct shm_link *)base, to, size);

    if (!target)
        return -ERANGE;
    atomic_thread_fence(memory_order_release); /* after every earlier write of the link */
    loco_copy(target, from, size);
    loco_stored();
    return LOCO_DONE;
}

static int shm_read(struct loco_link *base, struct loco_remote from, void *to, size_t size)
{
    const unsigned char *source = shm_target_of((struct shm_link *)base, from, size);

    if (!source)
        return -ERANGE;
    loco_place_stores(); /* the read comes after this thread's earlier writes */
    loco_copy(to, source, size);
    atomic_thread_fence(memory_order_acquire);
    return LOCO_DONE;
}

static uint64_t *shm_word_of(const struct shm_link *l, struct loco_remote at)
{
    unsigned char *target = shm_target_of(l, at, sizeof(uint64_t));

    return (uintptr_t)target % sizeof(uint64_t) ? NULL : (uint64_t *)(void *)target;
}

static int shm_fetch_add(struct loco_link *base, struct loco_remote at, uint64_t add, uint64_t *old)
{
    uint64_t *word = shm_word_of((struct shm_link *)base, at);

    if (!word)
        return -ERANGE;
    loco_before_atomic();
    *old = __atomic_fetch_add(word, add, __ATOMIC_SEQ_CST);
    loco_after_atomic();
    return LOCO_DONE;
}

static int shm_compare_swap(struct loco_link *base, struct loco_remote at, uint64_t expected,
                            uint64_t desired, uint64_t *old)
{
    uint64_t *word = shm_word_of((struct shm_link *)base, at);

    if (!word)
        return -ERANGE;
    *old = expected;
    loco_before_atomic();
    __atomic_compare_exchange_n(word, old, desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    loco_after_atomic();
    return LOCO_DONE;
}

static const struct loco_fabric_ops shm_ops = {
    .name = "shm",
    .node_open = shm_node_open,
    .node_close = shm_node_close,
    .meet = shm_meet,
    .send = shm_send,
    .arena_map = shm_arena_map,
    .reach = shm_reach,
    .link_open = shm_link_open,
    .link_close = shm_link_close,
    .write = shm_write,
    .read = shm_read,
    .fetch_add = shm_fetch_add,
    .compare_swap = shm_compare_swap,
    .clock = loco_host_clock,
    .relax = loco_host_relax,
};

/* --- the fabric ------------------------------------------------------------------------------ */

/* Other users must not have access to the directory, as its sockets give away this process's
 * memory. */
int shm_make_directory(const char *path)
{
    struct stat st;
    int rc;

    do { /* a process that leaves may remove it in between */
        if (mkdir(path, 0700) && errno != EEXIST)
            return -errno;
        rc = lstat(path, &st) ? -errno : 0;
    } while (rc == -ENOENT);
    if (rc)
        return rc;
    if (!S_ISDIR(st.st_mode))
        return -ENOTDIR;
    return st.st_uid == geteuid() && (st.st_mode & 077) == 0 ? 0 : -EPERM;
}

static int shm_open_descriptors(struct shm *s)
{
    if (getrandom(&s->self.process, sizeof s->self.process, 0) < 0)
        return -errno;
    s->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (s->epoll < 0)
        return -errno;
    s->wakeup = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (s->wakeup < 0) {
        int rc = -errno;
        close(s->epoll);
        return rc;
    }
    struct epoll_event event = {.events = EPOLLIN};
    epoll_ctl(s->epoll, EPOLL_CTL_ADD, s->wakeup, &event);
    return 0;
}

int loco_shm_open(struct loco_fabric **fabric, const char *directory)
{
    if (strlen(directory) >= sizeof((struct shm *)0)->directory)
        return -ENAMETOOLONG;
    int rc = shm_make_directory(directory);
    if (rc)
        return rc;

    struct shm *s = calloc(1, sizeof *s);
    if (!s)
        return -ENOMEM;
    s->base = (struct loco_fabric){
        .ops = &shm_ops,
        .capabilities = LOCO_COHERENT | LOCO_CPU_ATOMICS | LOCO_ATOMICS_PLACED | LOCO_SHARED_CLOCK,
    };
    snprintf(s->directory, sizeof s->directory, "%s", directory);
    for (int i = 0; i < SHM_FILES; i++)
        s->files[i].fd = -1;
    s->listener = -1;
    s->self = (struct control_self){.magic = SHM_MAGIC, .version = SHM_VERSION};
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->node_closed, NULL);
    rc = shm_open_descriptors(s);
    if (rc)
        goto free_shm;
    rc = -pthread_create(&s->thread, NULL, shm_control_thread, s);
    if (rc)
        goto close_descriptors;
    *fabric = &s->base;
    return 0;

close_descriptors:
    close(s->epoll);
    close(s->wakeup);
free_shm:
    free(s);
    return rc;
}

void loco_shm_close(struct loco_fabric *fabric)
{
    struct shm *s = shm_of(fabric);

    if (!s)
        return;
    __atomic_store_n(&s->stop, true, __ATOMIC_RELEASE);
    shm_wake_thread(s);
    pthread_join(s->thread, NULL);
    close(s->epoll);
    close(s->wakeup);
    rmdir(s->directory); /* fails while another process has a socket there */
    pthread_mutex_destroy(&s->lock);
    pthread_cond_destroy(&s->node_closed);
    free(s);
}
