/*
 * Litmus tests of atomics: an atomic reads its word and writes it later, and only atomics see these
 * two steps as one.
 *
 * Sources: arXiv 2601.14642 (remote atomics of RDMA), and its predecessors as in test_litmus.c.
 */
#include <criterion/criterion.h>

#include "litmus.h"

/* Where results land. */
enum { OLD = 512 };

static unsigned member(const struct place *p, uint32_t node)
{
    return node == p->node->id ? LOCO_SELF
                               : (unsigned)loco_channel_member(&p->memory.channel, node);
}

static struct loco_ack add(struct place *p, uint32_t node, size_t at, uint64_t value)
{
    return loco_region_fetch_add(p->memory.region, member(p, node), at, value, &p->words[OLD / 8]);
}

static struct loco_ack swap(struct place *p, uint32_t node, size_t at, uint64_t expected,
                            uint64_t desired)
{
    return loco_region_compare_swap(p->memory.region, member(p, node), at, expected, desired,
                                    &p->words[OLD / 8]);
}

static void dawdle(struct node *n, uint64_t ns)
{
    struct loco_wait wait = loco_wait_for(n->mgr, ns);

    while (!loco_relax(n->mgr, &wait))
        ;
}

static bool a_is_zero(const struct shot *s)
{
    return s->a == 0;
}

static bool a_is_one(const struct shot *s)
{
    return s->a == 1;
}

/* Lets node 1 report its word X once all have done their part. */
static void report(struct place *p)
{
    CHECK(p->node, loco_barrier_wait(&p->barrier) == 0);
    if (p->node->id == 1)
        p->shot->a = local(p, X);
    close_place(p);
}

/* --- an atomic that is done may not be placed: a read misses it, another atomic does not -------
 */

static void tell_of_atomic(struct place *p, bool fenced)
{
    wait_for(p, add(p, 1, X, 1));
    if (fenced)
        CHECK(p->node, loco_fence_thread(p->node->mgr) == 0);
    wait_for(p, put(p, 2, Y, 1));
}

static void late_atomic_body(struct node *n)
{
    struct place p;

    open_place(&p, n);
    if (n->id == 0) {
        tell_of_atomic(&p, p.shot->right);
    } else if (n->id == 2) {
        await_local(&p, Y, 1);
        wait_for(&p, get(&p, 1, X, &p.shot->a));
    }
    close_place(&p);
}

Test(litmus_atomics, an_atomic_is_placed_after_it_is_done)
{
    reached_only_without(3, late_atomic_body, a_is_zero);
}

static void atomic_sees_atomic_body(struct node *n)
{
    struct place p;

    open_place(&p, n);
    if (n->id == 0) {
        tell_of_atomic(&p, false);
    } else if (n->id == 2) {
        await_local(&p, Y, 1);
        wait_for(&p, add(&p, 1, X, 1));
        p.shot->a = local(&p, OLD);
    }
    close_place(&p);
}

Test(litmus_atomics, an_atomic_sees_an_atomic_that_is_done)
{
    never_reached(3, atomic_sees_atomic_body, a_is_zero);
}

/* --- on one link, an atomic that is done comes before what follows ------------------------------
 */

static void atomic_then_write_body(struct node *n)
{
    struct place p;

    open_place(&p, n);
    if (n->id == 0) {
        wait_for(&p, swap(&p, 1, X, 0, 1));
        wait_for(&p, put(&p, 1, X, 2));
        CHECK(n, loco_fence_thread(n->mgr) == 0);
    }
    report(&p);
}

Test(litmus_atomics, a_write_comes_after_the_atomics_of_its_link_that_are_done)
{
    never_reached(2, atomic_then_write_body, a_is_one);
}

/* --- over two links, it is placed after a later write: a lock that is passed on -----------------
 */

struct second {
    struct place *place;
    bool taken, over;
};

static void take(void *arg)
{
    struct second *s = arg;
    struct place *p = s->place;
    struct loco_wait wait = loco_wait_for(p->node->mgr, TEST_TIMEOUT);

    CHECK(p->node, loco_thread_attach(p->node->mgr) == 0);
    wait_for(p, swap(p, 1, X, 0, 1));
    s->taken = true;
    while (!s->over && !loco_relax(p->node->mgr, &wait))
        ;
    loco_thread_detach(p->node->mgr);
    s->place = NULL;
}

static void passed_on_body(struct node *n)
{
    struct place p;
    struct second second = {.place = &p};
    struct loco_wait wait = loco_wait_for(n->mgr, TEST_TIMEOUT);

    open_place(&p, n);
    if (n->id == 0) {
        CHECK(n, loco_sim_spawn(n->fabric, take, &second) == 0);
        while (!second.taken && !loco_relax(n->mgr, &wait))
            ;
        wait_for(&p, p.shot->right ? add(&p, 1, X, 1) : put(&p, 1, X, 2));
        second.over = true;
        while (second.place && !loco_relax(n->mgr, &wait))
            ;
    }
    report(&p);
}

Test(litmus_atomics, a_write_of_another_link_is_lost_under_an_atomic_that_is_done)
{
    reached_only_without(2, passed_on_body, a_is_one);
}

/* --- puts, stores and atomics on one word do not compose ---------------------------------------
 */

static void add_and_put_body(struct node *n)
{
    struct place p;

    open_place(&p, n);
    if (n->id == 0)
        wait_for(&p, add(&p, 1, X, 1));
    else if (n->id == 2)
        wait_for(&p, p.shot->right ? add(&p, 1, X, 10) : put(&p, 1, X, 10));
    if (n->id != 1)
        CHECK(n, loco_fence_thread(n->mgr) == 0);
    report(&p);
}

Test(litmus_atomics, a_write_is_lost_between_an_atomics_two_steps)
{
    reached_only_without(3, add_and_put_body, a_is_one);
}

static void add_and_store_body(struct node *n)
{
    struct place p;

    open_place(&p, n);
    if (n->id == 0) {
        wait_for(&p, add(&p, 1, X, 1));
        CHECK(n, loco_fence_thread(n->mgr) == 0);
    } else {
        dawdle(n, 20);
        if (p.shot->right)
            wait_for(&p, add(&p, 1, X, 10));
        else
            set_local(&p, X, 10);
        CHECK(n, loco_fence_thread(n->mgr) == 0);
    }
    report(&p);
}

Test(litmus_atomics, a_store_is_lost_between_an_atomics_two_steps)
{
    reached_only_without(2, add_and_store_body, a_is_one);
}

/* --- a compare-and-swap that fails writes nothing -----------------------------------------------
 */

static void failing_swap_body(struct node *n)
{
    struct place p;

    open_place(&p, n);
    if (n->id == 0) {
        wait_for(&p, swap(&p, 1, X, 7, 1));
        CHECK(n, loco_fence_thread(n->mgr) == 0);
    } else {
        dawdle(n, 20);
        set_local(&p, X, 5);
    }
    report(&p);
}

static bool a_is_not_five(const struct shot *s)
{
    return s->a != 5;
}

Test(litmus_atomics, a_compare_and_swap_that_fails_writes_nothing)
{
    never_reached(2, failing_swap_body, a_is_not_five);
}
