/*
 * Litmus tests: small programs with a surprising outcome that RDMA permits. Each test shows that
 * the outcome is reached under full chaos, and that it is not reached with the right means (a
 * fence, a wait, an inline source, the loop-back). docs/memory-model.md uses them as its examples.
 *
 * Sources: Ambal et al., "Semantics of Remote Direct Memory Access" (OOPSLA 2024), and RFC 5040
 * section 5.5.
 */
#include <criterion/criterion.h>

#include "litmus.h"

enum { LARGE = 128 };

/* --- message passing on one link: writes are placed in their order ------------------------ */

static void passing_body(struct node *n)
{
    struct place p;

    open_place(&p, n);
    if (n->id == 0) {
        put(&p, 1, X, 1);
        wait_for(&p, put(&p, 1, Y, 1));
    } else {
        await_local(&p, Y, 1);
        p.shot->a = local(&p, X);
    }
    close_place(&p);
}

static bool a_is_zero(const struct shot *s)
{
    return s->a == 0;
}

Test(litmus, writes_of_one_link_are_placed_in_order)
{
    never_reached(2, passing_body, a_is_zero);
}

/* --- message passing by way of a third node: a completion is not a placement ---------------- */

static void third_body(struct node *n)
{
    struct place p;

    open_place(&p, n);
    if (n->id == 0) {
        wait_for(&p, put(&p, 1, X, 1)); /* done, but is it placed? */
        if (p.shot->right)
            CHECK(n, loco_fence_thread(n->mgr) == 0);
        wait_for(&p, put(&p, 2, Y, 1));
    } else if (n->id == 2) {
        await_local(&p, Y, 1);
        wait_for(&p, get(&p, 1, X, &p.shot->a));
    }
    close_place(&p);
}

Test(litmus, completion_is_not_placement)
{
    reached_only_without(3, third_body, a_is_zero);
}

/* --- store buffering: each writes to the other, and then looks at itself --------------------- */

static void buffering_body(struct node *n)
{
    struct place p;
    uint64_t seen;

    open_place(&p, n);
    put(&p, 1 - n->id, X, 1);
    if (p.shot->right)
        CHECK(n, loco_fence_pair(n->mgr, 1 - n->id) == 0);
    seen = local(&p, X);
    if (n->id == 0)
        p.shot->a = seen;
    else
        p.shot->b = seen;
    close_place(&p);
}

static bool both_zero(const struct shot *s)
{
    return s->a == 0 && s->b == 0;
}

Test(litmus, store_buffering)
{
    reached_only_without(2, buffering_body, both_zero);
}

/* The same, but each waits until its write is done: that is no fence. */
static void polled_body(struct node *n)
{
    struct place p;
    uint64_t seen;

    open_place(&p, n);
    wait_for(&p, put(&p, 1 - n->id, X, 1));
    if (p.shot->right)
        CHECK(n, loco_fence_pair(n->mgr, 1 - n->id) == 0);
    seen = local(&p, X);
    if (n->id == 0)
        p.shot->a = seen;
    else
        p.shot->b = seen;
    close_place(&p);
}

Test(litmus, store_buffering_with_writes_that_are_done)
{
    reached_only_without(2, polled_body, both_zero);
}

/* --- a read is overtaken by a later write of its own link ------------------------------------- */

static void overtaken_body(struct node *n)
{
    struct place p;

    open_place(&p, n);
    if (n->id == 0) {
        struct loco_ack read = get(&p, 1, X, &p.shot->a);
        if (p.shot->right)
            wait_for(&p, read);
        wait_for(&p, put(&p, 1, X, 1));
        wait_for(&p, read);
    }
    close_place(&p);
}

static bool a_is_one(const struct shot *s)
{
    return s->a == 1;
}

Test(litmus, a_read_is_overtaken_by_a_later_write)
{
    reached_only_without(2, overtaken_body, a_is_one);
}

/* --- a read of the link flushes: it sees the writes before it --------------------------------- */

static void flushing_body(struct node *n)
{
    struct place p;

    open_place(&p, n);
    if (n->id == 0) {
        put(&p, 1, X, 1);
        wait_for(&p, get(&p, 1, X, &p.shot->a));
    } else {
        p.shot->b = 0;
    }
    close_place(&p);
}

Test(litmus, a_read_comes_after_the_writes_before_it)
{
    never_reached(2, flushing_body, a_is_zero);
}

/* --- two reads of one link are not ordered ---------------------------------------------------- */

static void two_reads_body(struct node *n)
{
    struct place p;

    open_place(&p, n);
    if (n->id == 0) {
        struct loco_ack first = get(&p, 1, X, &p.shot->a);
        if (p.shot->right)
            wait_for(&p, first);
        wait_for(&p, get(&p, 1, Y, &p.shot->b));
        wait_for(&p, first);
    } else {
        struct loco_wait wait = loco_wait_for(n->mgr, 40);
        __atomic_store_n(&p.words[Y / 8], 1, __ATOMIC_RELEASE);
        while (!loco_relax(n->mgr, &wait))
            ;
        __atomic_store_n(&p.words[X / 8], 1, __ATOMIC_RELEASE);
    }
    close_place(&p);
}

/* Whether only X was seen, although Y was written first and read last. */
static bool second_is_older(const struct shot *s)
{
    return s->a == 1 && s->b == 0;
}

Test(litmus, reads_are_not_ordered)
{
    reached_only_without(2, two_reads_body, second_is_older);
}

/* --- a source is read late, unless it is inline ----------------------------------------------- */

static void late_source_body(struct node *n)
{
    struct place p;
    size_t size;

    open_place(&p, n);
    size = p.shot->right ? LOCO_INLINE_MAX : LARGE;
    if (n->id == 0) {
        struct loco_ack ack = loco_shared_region_write(&p.memory, 1, BIG, &p.words[BIG / 8], size);
        __atomic_store_n(&p.words[BIG / 8], 1, __ATOMIC_RELAXED); /* too early */
        wait_for(&p, ack);
    }
    CHECK(n, loco_barrier_wait(&p.barrier) == 0);
    if (n->id == 1)
        p.shot->a = local(&p, BIG);
    close_place(&p);
}

Test(litmus, a_source_is_read_late)
{
    reached_only_without(2, late_source_body, a_is_one);
}

/* --- more than a word is torn; a word is not -------------------------------------------------- */

static void tearing_body(struct node *n)
{
    struct place p;
    const uint64_t ones[2] = {1, 1};

    open_place(&p, n);
    if (n->id == 0) {
        wait_for(&p, loco_shared_region_write(&p.memory, 1, X, ones, p.shot->right ? 8 : 16));
    } else {
        struct loco_wait wait = loco_wait_for(n->mgr, TEST_TIMEOUT);
        while (!local(&p, X) && !local(&p, Y) && !loco_relax(n->mgr, &wait))
            ;
        p.shot->a = local(&p, X);
        p.shot->b = p.shot->right ? p.shot->a : local(&p, Y);
    }
    close_place(&p);
}

static bool halves_differ(const struct shot *s)
{
    return s->a != s->b;
}

Test(litmus, what_is_above_a_word_is_torn)
{
    reached_only_without(2, tearing_body, halves_differ);
}

/* --- the network's atomics and the CPU's do not compose --------------------------------------- */

static void atomics_body(struct node *n)
{
    struct place p;
    struct loco_region *r;
    uint64_t *old = loco_mem_ref_take(n->mgr);

    open_place(&p, n);
    r = p.memory.region;
    if (n->id == 0) {
        wait_for(&p, loco_region_fetch_add(r, 0, X, 1, old));
    } else {
        struct loco_wait wait = loco_wait_for(n->mgr, 20);
        loco_relax(n->mgr, &wait);
        if (p.shot->right)
            wait_for(&p, loco_region_fetch_add(r, LOCO_SELF, X, 1, old));
        else
            __atomic_fetch_add(&p.words[X / 8], 1, __ATOMIC_SEQ_CST);
    }
    CHECK(n, loco_barrier_wait(&p.barrier) == 0);
    if (n->id == 1)
        p.shot->a = local(&p, X);
    close_place(&p);
    loco_mem_ref_put(n->mgr, old);
}

static bool one_is_lost(const struct shot *s)
{
    return s->a != 2;
}

Test(litmus, atomics_of_the_network_and_of_the_cpu_do_not_compose)
{
    reached_only_without(2, atomics_body, one_is_lost);
}

/* --- two threads of a node: only a global fence orders their links ---------------------------- */

struct second {
    struct place *place;
    bool over;
};

static void second_thread(void *arg)
{
    struct second *s = arg;
    struct place *p = s->place;

    CHECK(p->node, loco_thread_attach(p->node->mgr) == 0);
    put(p, 1, X, 1);
    s->over = true; /* the other thread is told, but this write is on a link of its own */
    struct loco_wait wait = loco_wait_for(p->node->mgr, TEST_TIMEOUT);
    while (s->over && !loco_relax(p->node->mgr, &wait))
        ;
    loco_thread_detach(p->node->mgr);
    s->place = NULL;
}

static void two_threads_body(struct node *n)
{
    struct place p;
    struct second second = {.place = &p};
    struct loco_wait wait = loco_wait_for(n->mgr, TEST_TIMEOUT);

    open_place(&p, n);
    if (n->id == 0) {
        CHECK(n, loco_sim_spawn(n->fabric, second_thread, &second) == 0);
        while (!second.over && !loco_relax(n->mgr, &wait))
            ;
        if (p.shot->right)
            CHECK(n, loco_fence_global(n->mgr) == 0);
        else
            CHECK(n, loco_fence_thread(n->mgr) == 0); /* of the wrong scope */
        wait_for(&p, put(&p, 1, Y, 1));
        second.over = false;
        while (second.place && !loco_relax(n->mgr, &wait))
            ;
    } else {
        await_local(&p, Y, 1);
        p.shot->a = local(&p, X);
    }
    close_place(&p);
}

Test(litmus, links_of_two_threads_are_ordered_by_a_global_fence)
{
    reached_only_without(2, two_threads_body, a_is_zero);
}
