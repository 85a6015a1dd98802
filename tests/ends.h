/*
 * For tests of a fabric below the core: nodes that are opened by its table of functions, what they
 * hear, and the link of one to another.
 */
#ifndef TESTS_ENDS_H
#define TESTS_ENDS_H

#include <criterion/criterion.h>
#include <pthread.h>

#include "tests/ear.h"
#include "tests/nodes.h"

struct end {
    struct ear ear;
    struct loco_fabric *fabric;
    struct loco_node *node;
    struct loco_arena arena;
    struct loco_link *link; /* to the other */
    uint64_t number;        /* of the newest operation */
};

#define WAIT_UNTIL(end, condition)                                                                 \
    do {                                                                                           \
        struct loco_wait wait = {0};                                                               \
        uint64_t begin = (end)->fabric->ops->clock(NULL);                                          \
        while (!(condition)) {                                                                     \
            (end)->fabric->ops->relax(NULL, &wait);                                                \
            cr_assert((end)->fabric->ops->clock(NULL) - begin < 60000000000, "%s never came true", \
                      #condition);                                                                 \
        }                                                                                          \
        test_moved();                                                                              \
    } while (0)

/* --- nodes ------------------------------------------------------------------------------ */

enum { ARENA = 1 << 16 };

static inline int open_node_with(struct end *e, struct loco_fabric *fabric, uint32_t id,
                                 uint32_t count, struct loco_secret secret)
{
    const struct loco_events events = ear_events(&e->ear);

    *e = (struct end){.fabric = fabric};
    int rc = fabric->ops->node_open(fabric, id, count, secret, &events, &e->node);
    for (uint32_t peer = 0; !rc && peer < count; peer++)
        if (peer != id)
            rc = fabric->ops->meet(e->node, peer);
    return rc;
}

static inline int open_node(struct end *e, struct loco_fabric *fabric, uint32_t id, uint32_t count)
{
    return open_node_with(e, fabric, id, count, (struct loco_secret){0});
}

static inline void close_node(struct end *e)
{
    if (e->link)
        e->fabric->ops->link_close(e->link);
    e->fabric->ops->node_close(e->node);
}

static inline int map(struct end *e)
{
    return e->fabric->ops->arena_map(e->node, ARENA, &e->arena);
}

static inline void say_hello(struct end *e)
{
    WAIT_UNTIL(e, e->ear.ups > 0);
    cr_assert_eq(e->fabric->ops->send(e->node, 1 - e->node->id, "hello", 5), 0);
}

/* Two nodes of a fabric that know each other's arena, and the link of the first to the second. */
static inline void meet(struct end *pair, struct loco_fabric *fabric)
{
    for (uint32_t id = 0; id < 2; id++) {
        cr_assert_eq(open_node(&pair[id], fabric, id, 2), 0);
        cr_assert_eq(map(&pair[id]), 0);
    }
    for (uint32_t id = 0; id < 2; id++)
        say_hello(&pair[id]);
    for (uint32_t id = 0; id < 2; id++)
        WAIT_UNTIL(&pair[id], pair[id].ear.messages > 0);
    cr_assert_eq(fabric->ops->link_open(pair[0].node, 1, UINT64_MAX, &pair[0].link), 0);
}

/* --- looking ---------------------------------------------------------------------------- */

/* A thread that looks at a word which is always 0 or UINT64_MAX. */
struct looker {
    const uint64_t *word;
    _Atomic bool stop;
    uint64_t torn;
    pthread_t thread;
};

static inline void *look_at_word(void *arg)
{
    struct looker *l = arg;

    while (!l->stop) {
        uint64_t seen = __atomic_load_n(l->word, __ATOMIC_ACQUIRE);
        l->torn += seen != 0 && seen != UINT64_MAX;
    }
    return NULL;
}

static inline void begin_to_look(struct looker *l, const uint64_t *word)
{
    *l = (struct looker){.word = word};
    cr_assert_eq(pthread_create(&l->thread, NULL, look_at_word, l), 0);
}

static inline void expect_never_torn(struct looker *l)
{
    l->stop = true;
    pthread_join(l->thread, NULL);
    cr_assert_eq(l->torn, 0, "%llu looks found a part of a word", (unsigned long long)l->torn);
}

/* --- operations ------------------------------------------------------------------------- */

static inline uint64_t *word(const struct end *e, size_t index)
{
    return (uint64_t *)(void *)e->arena.base + index;
}

static inline struct loco_remote there(size_t index)
{
    return (struct loco_remote){.known = 1, .offset = index * sizeof(uint64_t)};
}

/* The next operation on the link, as the core numbers it. */
static inline struct loco_link *next(struct end *e)
{
    test_moved();
    atomic_store(&e->link->posted, ++e->number);
    return e->link;
}

static inline void wait_done(struct end *e)
{
    WAIT_UNTIL(e, (e->fabric->ops->poll(e->link), atomic_load(&e->link->done) == e->number));
}

/* A device may place at once what it need not; that something was posted is seen by the ticket. */
static inline void flush(struct end *e)
{
    uint64_t before = atomic_load(&e->link->flushed);
    uint64_t ticket = e->fabric->ops->flush(e->link);

    cr_assert_gt(ticket, before);
    WAIT_UNTIL(e, (e->fabric->ops->poll(e->link), atomic_load(&e->link->flushed) >= ticket));
}

#endif
