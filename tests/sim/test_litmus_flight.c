/*
 * Litmus tests of operations in flight: when an answer arrives and which moment it reflects, and
 * when a post has to wait.
 */
#include <criterion/criterion.h>
#include <errno.h>

#include "channels/fabric/sim/sim_internal.h"
#include "channels/loco/thread.h"
#include "channels/thread_links.h"
#include "litmus.h"

enum { Z = 16, RESULTS = 512, UNTOUCHED = 77 };

static bool a_is_one(const struct shot *s)
{
    return s->a == 1;
}

/* Waits until the first word of the answer has arrived, without waiting for the ack. After that the
 * peer may write. */
static uint64_t peek(struct place *p, struct loco_ack ack)
{
    struct loco_wait wait = loco_wait_for(p->node->mgr, TEST_TIMEOUT);

    if (p->shot->right)
        wait_for(p, ack);
    while (local(p, RESULTS) == UNTOUCHED && !loco_relax(p->node->mgr, &wait))
        ;
    uint64_t seen = local(p, RESULTS);
    put(p, 1, Z, 1);
    return seen;
}

/* --- a read is answered before all of it was read --------------------------------------------- */

static void early_answer_body(struct node *n)
{
    struct place p;

    open_place(&p, n);
    if (n->id == 0) {
        set_local(&p, RESULTS, UNTOUCHED);
        struct loco_ack ack =
            loco_shared_region_read(&p.memory, 1, X, &p.words[RESULTS / 8], 2 * sizeof(uint64_t));
        peek(&p, ack);
        wait_for(&p, ack);
        p.shot->a = local(&p, RESULTS + 8);
    } else {
        await_local(&p, Z, 1);
        set_local(&p, Y, 1);
    }
    close_place(&p);
}

Test(litmus_flight, a_read_is_answered_before_all_was_read)
{
    reached_only_without(2, early_answer_body, a_is_one);
}

/* --- a write is placed before all of its source was read -----------------------------------------
 */

enum { NEWER = 7, LARGE = 128 };

static void streamed_body(struct node *n)
{
    struct place p;

    open_place(&p, n);
    const size_t size = p.shot->right ? LOCO_INLINE_MAX : LARGE, last = BIG + size - 8;
    if (n->id == 0) {
        set_local(&p, BIG, 1);
        wait_for(&p, loco_shared_region_write(&p.memory, 1, BIG, &p.words[BIG / 8], size));
    } else {
        await_local(&p, BIG, 1);
        wait_for(&p, put(&p, 0, last, NEWER));
    }
    CHECK(n, loco_barrier_wait(&p.barrier) == 0);
    if (n->id == 1)
        p.shot->a = local(&p, last);
    close_place(&p);
}

static bool a_is_newer(const struct shot *s)
{
    return s->a == NEWER;
}

Test(litmus_flight, a_write_is_placed_before_all_of_its_source_was_read)
{
    reached_only_without(2, streamed_body, a_is_newer);
}

/* --- a write from the place of a read that is not done -------------------------------------------
 */

static void pending_body(struct node *n)
{
    struct place p;

    open_place(&p, n);
    if (n->id == 1)
        set_local(&p, X, 1);
    CHECK(n, loco_barrier_wait(&p.barrier) == 0);
    if (n->id == 0) {
        uint64_t *result = &p.words[RESULTS / 8];
        struct loco_ack read = get(&p, 1, X, result);
        if (p.shot->right)
            wait_for(&p, read);
        wait_for(&p, loco_shared_region_write(&p.memory, 1, Y, result, sizeof *result));
        wait_for(&p, read);
    }
    CHECK(n, loco_barrier_wait(&p.barrier) == 0);
    if (n->id == 1)
        p.shot->a = local(&p, Y);
    close_place(&p);
}

static bool a_is_zero(const struct shot *s)
{
    return s->a == 0;
}

Test(litmus_flight, a_write_sends_what_was_there_before_a_pending_read)
{
    reached_only_without(2, pending_body, a_is_zero);
}

/* --- a read is done twice --------------------------------------------------------------------- */

static void read_again_body(struct node *n)
{
    struct place p;

    open_place(&p, n);
    if (n->id == 0) {
        set_local(&p, RESULTS, UNTOUCHED);
        struct loco_ack ack = get(&p, 1, X, &p.words[RESULTS / 8]);
        uint64_t seen = peek(&p, ack);
        wait_for(&p, ack);
        p.shot->a = local(&p, RESULTS) - seen;
    } else {
        await_local(&p, Z, 1);
        set_local(&p, X, 1);
    }
    close_place(&p);
}

Test(litmus_flight, a_read_is_done_twice)
{
    reached_only_without(2, read_again_body, a_is_one);
}

/* --- the newest of many operations in flight overtakes the oldest ----------------------------- */

enum { MANY = 20 };

static void many_body(struct node *n)
{
    struct place p;

    open_place(&p, n);
    if (n->id == 0) {
        struct loco_ack last = {0};
        for (unsigned i = 0; i < MANY; i++) {
            last = get(&p, 1, X, &p.words[RESULTS / 8 + i]);
            if (i == 0 && p.shot->right)
                wait_for(&p, last);
        }
        wait_for(&p, last);
        p.shot->a = local(&p, RESULTS);
        p.shot->b = local(&p, RESULTS + (MANY - 1) * 8);
    } else {
        for (uint64_t i = 1; i <= 100; i++) {
            struct loco_wait wait = loco_wait_for(n->mgr, 1);
            set_local(&p, X, i);
            loco_relax(n->mgr, &wait);
        }
    }
    close_place(&p);
}

static bool first_is_newer(const struct shot *s)
{
    return s->a > s->b;
}

Test(litmus_flight, the_last_of_many_reads_overtakes_the_first)
{
    reached_only_without(2, many_body, first_is_newer);
}

/* --- an inline source is read while another thread writes to it ------------------------------- */

struct writer {
    struct place *place;
    bool over;
};

static void change_source(void *arg)
{
    struct writer *w = arg;

    set_local(w->place, BIG, 1);
    set_local(w->place, BIG + 8, 1);
    w->over = true;
}

static void changed_source_body(struct node *n)
{
    struct place p;
    struct writer writer = {.place = &p};

    open_place(&p, n);
    if (n->id == 0) {
        struct loco_wait wait = loco_wait_for(n->mgr, TEST_TIMEOUT);
        CHECK(n, loco_sim_spawn(n->fabric, change_source, &writer) == 0);
        while (p.shot->right && !writer.over && !loco_relax(n->mgr, &wait))
            ;
        loco_shared_region_write(&p.memory, 1, BIG, &p.words[BIG / 8], 2 * sizeof(uint64_t));
        while (!writer.over && !loco_relax(n->mgr, &wait))
            ;
    }
    CHECK(n, loco_barrier_wait(&p.barrier) == 0);
    if (n->id == 1) {
        p.shot->a = local(&p, BIG);
        p.shot->b = local(&p, BIG + 8);
    }
    close_place(&p);
}

static bool halves_differ(const struct shot *s)
{
    return s->a != s->b;
}

Test(litmus_flight, a_post_reads_its_source_while_others_write_it)
{
    reached_only_without(2, changed_source_body, halves_differ);
}

/* --- a post waits while the send queue is full ------------------------------------------------ */

enum { POSTS = 40 };

static void full_body(struct node *n)
{
    struct place p;

    open_place(&p, n);
    if (n->id == 0) {
        const struct sim_link *l = (const struct sim_link *)loco_thread_link(loco_self(n->mgr), 1);
        for (uint64_t i = 0; i < POSTS; i++) {
            CHECK(n, put(&p, 1, X, i).error == 0);
            CHECK(n, l->queued <= l->depth);
        }
        p.shot->a = l->depth < POSTS;
        wait_for(&p, put(&p, 1, X, POSTS));
    }
    close_place(&p);
}

/* Posts until it learns that the peer is lost. The peer takes nothing any more. */
static void full_and_lost_body(struct node *n)
{
    struct place p;
    int error = 0;

    open_place(&p, n);
    if (n->id == 1) {
        await_local(&p, X, 1);
        node_die(n);
        loco_barrier_fini(&p.barrier);
        loco_shared_region_fini(&p.memory);
        return;
    }
    while (!error) {
        struct loco_wait wait = loco_wait_for(n->mgr, 1);
        error = put(&p, 1, X, 1).error;
        loco_relax(n->mgr, &wait);
    }
    CHECK(n, error == -ECONNRESET);
    loco_barrier_fini(&p.barrier);
    loco_shared_region_fini(&p.memory);
}

Test(litmus_flight, a_post_waits_for_room)
{
    int shallow = 0;

    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct shot shot = {0};
        cr_assert_eq(run_chaos_nodes(seed, LOCO_SIM_DEFERRED, 2, full_body, &shot), 0);
        cr_assert_eq(run_chaos_nodes(seed, LOCO_SIM_DEFERRED, 2, full_and_lost_body, &shot), 0);
        shallow += (int)shot.a;
    }
    cr_assert(shallow > 0, "no queue was ever full");
}
