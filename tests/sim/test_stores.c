/*
 * Litmus tests of a processor's store buffer. This file is compiled as the channels are for the
 * simulator, so its stores go through the buffer. Under other sanitizers they do not.
 *
 * Source: Sewell et al., "x86-TSO" (CACM 2010).
 */
#include <criterion/criterion.h>
#include <stdatomic.h>

#include "channels/loco/fabric/language.h"
#include "litmus.h"

#if defined(LOCO_TSAN)
enum { BUFFERED = 1 };
#else
enum { BUFFERED = 0 };
#endif

enum { LARGE = 128 };

static void store(struct place *p, size_t at, uint64_t value)
{
    __atomic_store_n(&p->words[at / 8], value, __ATOMIC_RELEASE);
}

static uint64_t load(const struct place *p, size_t at)
{
    return __atomic_load_n(&p->words[at / 8], __ATOMIC_ACQUIRE);
}

/* --- a store, and a later load of another word: only a full fence orders them -------------------
 */

static void buffered_body(struct node *n)
{
    struct place p;

    open_place(&p, n);
    if (n->id == 0) {
        store(&p, X, 1);
        if (p.shot->right)
            atomic_thread_fence(memory_order_seq_cst);
        p.shot->a = load(&p, Y);
    } else {
        put(&p, 0, Y, 1);
        wait_for(&p, get(&p, 0, X, &p.shot->b));
    }
    close_place(&p);
}

static bool both_zero(const struct shot *s)
{
    return s->a == 0 && s->b == 0;
}

Test(stores, wait_in_a_buffer_while_the_thread_loads)
{
    if (BUFFERED)
        reached_only_without(2, buffered_body, both_zero);
    else
        never_reached(2, buffered_body, both_zero);
}

/* --- the thread itself sees its stores at once ---------------------------------------------------
 */

static void own_body(struct node *n)
{
    struct place p;

    open_place(&p, n);
    store(&p, X, 1);
    store(&p, X, 2);
    if (n->id == 0)
        p.shot->a = load(&p, X);
    close_place(&p);
}

static bool a_is_not_two(const struct shot *s)
{
    return s->a != 2;
}

Test(stores, are_seen_by_their_thread_at_once)
{
    never_reached(2, own_body, a_is_not_two);
}

/* --- stores are seen in their order --------------------------------------------------------------
 */

static void order_body(struct node *n)
{
    struct place p;

    open_place(&p, n);
    if (n->id == 0) {
        store(&p, X, 1);
        store(&p, Y, 1);
    } else {
        wait_for(&p, get(&p, 0, Y, &p.shot->a));
        wait_for(&p, get(&p, 0, X, &p.shot->b));
    }
    close_place(&p);
}

static bool second_without_first(const struct shot *s)
{
    return s->a == 1 && s->b == 0;
}

Test(stores, are_seen_in_their_order)
{
    never_reached(2, order_body, second_without_first);
}

/* --- a post sees the stores before it ------------------------------------------------------------
 */

static void posted_body(struct node *n)
{
    struct place p;

    open_place(&p, n);
    if (n->id == 0) {
        store(&p, X, 1);
        store(&p, BIG, 1);
        loco_shared_region_write(&p.memory, 1, X, &p.words[X / 8], 8);
        wait_for(&p, loco_shared_region_write(&p.memory, 1, BIG, &p.words[BIG / 8], LARGE));
    }
    CHECK(n, loco_barrier_wait(&p.barrier) == 0);
    if (n->id == 1) {
        p.shot->a = load(&p, X);
        p.shot->b = load(&p, BIG);
    }
    close_place(&p);
}

static bool one_is_zero(const struct shot *s)
{
    return s->a == 0 || s->b == 0;
}

Test(stores, are_made_before_a_later_post_reads_them)
{
    never_reached(2, posted_body, one_is_zero);
}
