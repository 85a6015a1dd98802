/*
 * What is particular to the tcp fabric, below the core: two nodes, mostly of one process, and their
 * links; and strangers, and peers that say what no node says.
 */
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "channels/fabric/tcp/tcp_internal.h"
#include "intruder.h"
#include "tests/ends.h"
#include "tests/no_descriptors.h"

static struct loco_fabric *open_with(struct loco_tcp_config config)
{
    struct loco_fabric *fabric;

    cr_assert_eq(open_tcp(&fabric, config), 0);
    return fabric;
}

static void open_pair(struct end *pair)
{
    meet(pair, open_with((struct loco_tcp_config){0}));
}

static void close_pair(struct end *pair)
{
    close_node(&pair[0]);
    close_node(&pair[1]);
    loco_tcp_close(pair[0].fabric);
}

/* --- operations ------------------------------------------------------------------------- */

/* Many more operations than there is room for, none of them waited for. */
Test(tcp, operations_are_done_in_order)
{
    enum { EACH = 1000 };
    struct end pair[2];

    open_pair(pair);
    struct end *e = &pair[0];
    const struct loco_fabric_ops *ops = e->fabric->ops;
    for (uint64_t i = 1; i <= EACH; i++) {
        cr_assert(ops->write(next(e), there(0), &i, sizeof i) >= 0);
        cr_assert(ops->write(next(e), there(8), word(e, 100), 100) >= 0);
        cr_assert_eq(ops->fetch_add(next(e), there(1), 2, word(e, 1)), LOCO_POSTED);
        cr_assert_eq(ops->compare_swap(next(e), there(2), i - 1, i, word(e, 2)), LOCO_POSTED);
        cr_assert_eq(ops->read(next(e), there(0), word(e, 3), 8), LOCO_POSTED);
    }
    wait_done(e);
    cr_assert_eq(*word(e, 1), 2 * (EACH - 1));
    cr_assert_eq(*word(e, 2), EACH - 1);
    cr_assert_eq(*word(e, 3), EACH);
    cr_assert_eq(*word(&pair[1], 0), EACH);
    cr_assert_eq(*word(&pair[1], 1), 2 * EACH);
    cr_assert_eq(*word(&pair[1], 2), EACH);
    close_pair(pair);
}

/* A write is done at once, but not if something before it is not. */
Test(tcp, what_is_done_is_done_in_order)
{
    struct end pair[2];
    unsigned waited = 0;

    open_pair(pair);
    struct end *e = &pair[0];
    const struct loco_fabric_ops *ops = e->fabric->ops;
    for (uint64_t i = 1; i <= 1000; i++) {
        cr_assert_eq(ops->write(next(e), there(0), &i, sizeof i), LOCO_DONE);
        cr_assert_eq(atomic_load(&e->link->done), e->number);
        ops->read(next(e), there(0), word(e, 3), 8);
        const int rc = ops->write(next(e), there(1), &i, sizeof i);
        waited += rc == LOCO_POSTED;
        if (rc == LOCO_DONE || atomic_load(&e->link->done) == e->number)
            cr_assert_eq(*word(e, 3), i, "done before the read");
        wait_done(e);
        cr_assert_eq(*word(e, 3), i);
    }
    cr_expect(waited > 0);
    close_pair(pair);
}

Test(tcp, a_flush_places_what_was_written)
{
    struct end pair[2];

    open_pair(pair);
    struct end *e = &pair[0];
    cr_assert_eq(e->fabric->ops->flush(e->link), 0); /* nothing was written: it posts nothing */
    for (uint64_t i = 1; i <= 200; i++) {
        e->fabric->ops->write(next(e), there(0), &i, sizeof i);
        flush(e);
        cr_assert_eq(__atomic_load_n(word(&pair[1], 0), __ATOMIC_ACQUIRE), i);
    }
    uint64_t before = atomic_load(&e->link->flushed);
    e->fabric->ops->write(next(e), there(0), &before, sizeof before);
    e->fabric->ops->fetch_add(next(e), there(1), 1, word(e, 1));
    wait_done(e);
    cr_assert_eq(e->fabric->ops->flush(e->link), atomic_load(&e->link->flushed));
    cr_assert_gt(atomic_load(&e->link->flushed), before);
    close_pair(pair);
}

/* Of any size and place; what lies beside is left alone. */
Test(tcp, bytes_arrive_as_they_were)
{
    struct end pair[2];
    unsigned seed = 1;

    open_pair(pair);
    struct end *e = &pair[0];
    const struct loco_fabric_ops *ops = e->fabric->ops;
    unsigned char *source = e->arena.base, *target = pair[1].arena.base, *back = source + ARENA / 2;
    for (unsigned i = 0; i < ARENA / 2; i++)
        source[i] = (unsigned char)(rand_r(&seed) | 1);
    for (unsigned i = 0; i < 300; i++) {
        size_t size = (size_t)rand_r(&seed) % (i % 3 ? 40 : 9000),
               from = (size_t)rand_r(&seed) % 99;
        struct loco_remote at = {.known = 1, .offset = (size_t)rand_r(&seed) % 99 + 1};
        memset(target, 0, ARENA / 2);
        memset(back, 0, ARENA / 2);
        cr_assert(ops->write(next(e), at, source + from, size) >= 0);
        cr_assert(ops->read(next(e), at, back + from, size) >= 0);
        wait_done(e);
        cr_assert(memcmp(target + at.offset, source + from, size) == 0, "size %zu", size);
        cr_assert(memcmp(back + from, source + from, size) == 0, "size %zu", size);
        cr_assert(target[at.offset - 1] == 0 && target[at.offset + size] == 0, "size %zu", size);
    }
    close_pair(pair);
}

/* Among others whose requests make it begin anywhere in what the kernel gives at once. */
Test(tcp, a_word_is_never_torn)
{
    enum { EACH = 5000 };
    struct end pair[2];

    open_pair(pair);
    struct end *e = &pair[0];
    struct looker looker;
    begin_to_look(&looker, word(&pair[1], 0));
    for (uint64_t i = 0; i < EACH; i++) {
        uint64_t value = i % 2 ? 0 : UINT64_MAX;
        const struct loco_remote beside = {.known = 1, .offset = 4000};
        cr_assert(e->fabric->ops->write(next(e), there(0), &value, sizeof value) >= 0);
        cr_assert(e->fabric->ops->write(next(e), beside, e->arena.base, i % 60) >= 0);
    }
    wait_done(e);
    expect_never_torn(&looker);
    close_pair(pair);
}

/* They are refused here, and the link goes on. */
Test(tcp, what_is_not_there_is_an_error)
{
    struct end pair[2];
    uint64_t value = 1, outside[100];

    open_pair(pair);
    struct end *e = &pair[0];
    const struct loco_fabric_ops *ops = e->fabric->ops;
    const struct loco_remote beyond = {.known = 1, .offset = ARENA - 7}, odd = {.offset = 4},
                             other = {.arena = 1};
    cr_expect_eq(ops->write(next(e), beyond, &value, sizeof value), -ERANGE);
    cr_expect_eq(ops->write(next(e), other, &value, sizeof value), -ERANGE);
    cr_expect_eq(ops->write(next(e), there(0), outside, sizeof outside), -EFAULT);
    cr_expect_eq(ops->read(next(e), beyond, word(e, 0), 8), -ERANGE);
    cr_expect_eq(ops->read(next(e), there(0), outside, 8), -EFAULT);
    cr_expect_eq(ops->fetch_add(next(e), odd, 1, word(e, 0)), -ERANGE);
    cr_expect_eq(ops->fetch_add(next(e), there(0), 1, outside), -EFAULT);
    cr_expect_eq(ops->compare_swap(next(e), beyond, 0, 1, word(e, 0)), -ERANGE);
    cr_expect_eq(atomic_load(&e->link->done), e->number);
    cr_expect(ops->write(next(e), there(0), &value, sizeof value) >= 0);
    flush(e);
    cr_expect_eq(*word(&pair[1], 0), 1);
    close_pair(pair);
}

/* --- lanes -------------------------------------------------------------------------------- */

/* Those of this thread. */
static _Thread_local unsigned sends;

typedef ssize_t send_fn(int fd, const void *data, size_t size, int flags);

/* Whether the kernel takes nothing from lanes, and how often it was asked to meanwhile. */
static _Atomic bool full;
static _Atomic unsigned refused;

/* In place of libc's, or of a sanitizer's. */
ssize_t send(int fd, const void *data, size_t size, int flags)
{
    send_fn *const real = (send_fn *)dlsym(RTLD_NEXT, "send");

    sends++;
    if (!atomic_load(&full) || size < sizeof(struct tcp_request))
        return real(fd, data, size, flags);
    refused++;
    errno = EAGAIN;
    return -1;
}

enum { STAR = 5 };

/* Node 0 is of one process, as far as the fabric knows, the others of one or two more. Node 0 has a
 * link to each of the others. */
struct star {
    struct end at[STAR];
    struct loco_link *links[STAR];
    struct loco_fabric *fabrics[3];
};

static void open_star_of(struct star *s, uint32_t processes)
{
    struct end *e = s->at;

    for (uint32_t i = 0; i < processes; i++)
        s->fabrics[i] = open_with((struct loco_tcp_config){0});
    const struct loco_fabric_ops *ops = s->fabrics[0]->ops;
    for (uint32_t id = 0; id < STAR; id++) {
        struct loco_fabric *fabric = s->fabrics[id ? 1 + id % (processes - 1) : 0];
        cr_assert_eq(open_node(&e[id], fabric, id, STAR), 0);
        cr_assert_eq(map(&e[id]), 0);
    }
    for (uint32_t id = 1; id < STAR; id++) {
        WAIT_UNTIL(&e[id], e[id].ear.ups == STAR - 1);
        cr_assert_eq(ops->send(e[id].node, 0, "hello", 5), 0);
    }
    WAIT_UNTIL(e, e->ear.messages == STAR - 1);
    for (uint32_t id = 1; id < STAR; id++)
        cr_assert_eq(ops->link_open(e->node, id, UINT64_MAX, &s->links[id]), 0);
}

static void open_star(struct star *s)
{
    open_star_of(s, 2);
}

static void close_star(struct star *s)
{
    for (uint32_t id = 1; id < STAR; id++)
        s->fabrics[0]->ops->link_close(s->links[id]);
    for (uint32_t id = 0; id < STAR; id++)
        if (s->at[id].node)
            close_node(&s->at[id]);
    for (uint32_t i = 0; i < 3; i++)
        loco_tcp_close(s->fabrics[i]);
}

/* The first word of a node's arena. */
static int write_to(struct star *s, uint32_t id, uint64_t value)
{
    atomic_store(&s->links[id]->posted, ++s->at[0].number);
    return s->at[0].fabric->ops->write(s->links[id], there(0), &value, sizeof value);
}

static void flush_to(struct star *s, uint32_t id)
{
    s->at[0].link = s->links[id];
    flush(&s->at[0]);
    s->at[0].link = NULL;
}

Test(tcp, what_a_thread_holds_is_sent_by_one_call)
{
    struct star s = {0};

    open_star(&s);
    struct end *e = &s.at[0];
    sends = 0;
    e->fabric->ops->hold(e->node);
    e->fabric->ops->hold(e->node);
    for (uint32_t id = 1; id < STAR; id++)
        cr_expect_eq(write_to(&s, id, 10 + id), LOCO_DONE);
    e->fabric->ops->release(e->node);
    cr_expect_eq(sends, 0);
    e->fabric->ops->release(e->node);
    cr_expect_eq(sends, 1);
    for (uint32_t id = 1; id < STAR; id++) {
        flush_to(&s, id);
        cr_expect_eq(*word(&s.at[id], 0), 10 + id);
    }
    sends = 0;
    cr_expect_eq(write_to(&s, 1, 1), LOCO_DONE);
    cr_expect_eq(sends, 1, "without holding each goes at once");
    close_star(&s);
}

/* A thread that waits may wait for what its own writes bring about. */
Test(tcp, a_wait_sends_what_is_held)
{
    struct star s = {0};

    open_star(&s);
    struct end *e = &s.at[0];
    struct loco_wait wait = {0};
    e->fabric->ops->hold(e->node);
    cr_expect_eq(write_to(&s, 1, 7), LOCO_DONE);
    while (__atomic_load_n(word(&s.at[1], 0), __ATOMIC_ACQUIRE) != 7)
        e->fabric->ops->relax(e->node, &wait);
    cr_expect_eq(write_to(&s, 2, 8), LOCO_DONE);
    flush_to(&s, 2); /* it comes after what was held on its link */
    cr_expect_eq(*word(&s.at[2], 0), 8);
    e->fabric->ops->release(e->node);
    close_star(&s);
}

/* A flush, which any thread may post, takes what is held along, but does not know its number. */
Test(tcp, a_held_write_stays_done)
{
    struct end pair[2];
    const uint64_t value = 7;

    open_pair(pair);
    struct end *e = &pair[0];
    e->fabric->ops->hold(e->node);
    cr_expect_eq(e->fabric->ops->write(next(e), there(0), &value, sizeof value), LOCO_DONE);
    flush(e);
    cr_expect_eq(*word(&pair[1], 0), value);
    cr_expect_eq(atomic_load(&e->link->done), e->number);
    e->fabric->ops->release(e->node);
    close_pair(pair);
}

/* More than a lane has room for is sent before. */
Test(tcp, a_thread_may_hold_more_than_there_is_room_for)
{
    enum { MANY = 5000 };
    struct star s = {0};

    open_star(&s);
    struct end *e = &s.at[0];
    e->fabric->ops->hold(e->node);
    for (uint64_t i = 1; i <= MANY; i++)
        for (uint32_t id = 1; id < STAR; id++)
            cr_assert_eq(write_to(&s, id, i), LOCO_DONE);
    e->fabric->ops->release(e->node);
    for (uint32_t id = 1; id < STAR; id++) {
        flush_to(&s, id);
        cr_expect_eq(*word(&s.at[id], 0), MANY);
    }
    close_star(&s);
}

/* One call for each process. */
Test(tcp, what_is_held_for_two_processes_arrives)
{
    enum { ROUNDS = 50 };
    struct star s = {0};

    open_star_of(&s, 3);
    struct end *e = &s.at[0];
    sends = 0;
    e->fabric->ops->hold(e->node);
    for (uint64_t i = 1; i <= ROUNDS; i++)
        for (uint32_t id = 1; id < STAR; id++)
            cr_assert_eq(write_to(&s, id, i), LOCO_DONE);
    cr_expect_eq(sends, 0);
    e->fabric->ops->release(e->node);
    cr_expect_eq(sends, 2);
    for (uint32_t id = 1; id < STAR; id++) {
        flush_to(&s, id);
        cr_expect_eq(*word(&s.at[id], 0), ROUNDS);
    }
    close_star(&s);
}

enum { HOLDS = 2000, EACH_HOLD = 100 };

/* One of two threads that hold: its end, and the words of node 1 that it writes. */
struct holder {
    struct end end;
    const struct end *there;
    unsigned first;
    unsigned missing;
};

/* Holds a write to each word, releases, and looks whether all are there. */
static void *hold_and_look(void *arg)
{
    struct holder *h = arg;
    struct end *e = &h->end;
    const struct loco_fabric_ops *ops = e->fabric->ops;

    for (uint64_t i = 1; i <= HOLDS; i++) {
        ops->hold(e->node);
        for (unsigned k = 0; k < EACH_HOLD; k++)
            ops->write(next(e), there(h->first + k), &i, sizeof i);
        ops->release(e->node);
        flush(e);
        for (unsigned k = 0; k < EACH_HOLD; k++)
            h->missing += *word(h->there, h->first + k) != i;
    }
    return NULL;
}

/* Two threads that hold at once do not mix what they hold. */
Test(tcp, two_threads_hold_at_once)
{
    struct star s = {0};
    struct holder holders[2];
    pthread_t other;

    open_star(&s);
    for (unsigned i = 0; i < 2; i++) {
        holders[i] = (struct holder){.end = s.at[0], .there = &s.at[1], .first = i * EACH_HOLD};
        holders[i].end.number = 0;
        cr_assert_eq(
            s.fabrics[0]->ops->link_open(s.at[0].node, 1, UINT64_MAX, &holders[i].end.link), 0);
    }
    cr_assert_eq(pthread_create(&other, NULL, hold_and_look, &holders[1]), 0);
    hold_and_look(&holders[0]);
    pthread_join(other, NULL);
    for (unsigned i = 0; i < 2; i++) {
        cr_expect_eq(holders[i].missing, 0);
        s.fabrics[0]->ops->link_close(holders[i].end.link);
    }
    close_star(&s);
}

/* Of one link, in the order of posting, whatever the writes' length and place. */
Test(tcp, what_is_held_arrives_in_order)
{
    const uint64_t values[] = {1, 2, 3};
    struct star s = {0};

    open_star(&s);
    struct end *e = &s.at[0];
    const struct loco_fabric_ops *ops = e->fabric->ops;
    memset(e->arena.base, 0xff, ARENA / 2);
    ops->hold(e->node);
    cr_expect_eq(write_to(&s, 1, 7), LOCO_DONE);
    cr_expect_eq(ops->write(s.links[1], there(0), e->arena.base, ARENA / 2), LOCO_DONE);
    cr_expect_eq(ops->write(s.links[1], there(1), values, sizeof values), LOCO_DONE);
    cr_expect_eq(ops->write(s.links[1], there(1), values + 1, 8), LOCO_DONE);
    cr_expect_eq(ops->write(s.links[1], (struct loco_remote){.known = 1, .offset = 33}, values, 3),
                 LOCO_DONE);
    ops->release(e->node);
    flush_to(&s, 1);
    cr_expect_eq(*word(&s.at[1], 0), UINT64_MAX);
    cr_expect_eq(*word(&s.at[1], 1), 2);
    cr_expect_eq(*word(&s.at[1], 2), 2);
    cr_expect_eq(*word(&s.at[1], 3), 3);
    cr_expect_eq(*word(&s.at[1], 4), 0xffffffff000001ff);
    close_star(&s);
}

/* A write is held only if it would be allowed at once. */
Test(tcp, what_is_held_is_checked)
{
    const struct loco_remote beyond = {.known = 1, .offset = ARENA - 4},
                             elsewhere = {.arena = 1, .known = 1};
    const uint64_t value = 5;
    struct star s = {0};

    open_star(&s);
    struct end *e = &s.at[0];
    const struct loco_fabric_ops *ops = e->fabric->ops;
    ops->hold(e->node);
    cr_expect_eq(ops->write(s.links[1], beyond, &value, sizeof value), -ERANGE);
    cr_expect_eq(write_to(&s, 1, 5), LOCO_DONE);
    ops->relax(e->node, &(struct loco_wait){0}); /* the link has room for another */
    cr_expect_eq(ops->write(s.links[1], beyond, &value, sizeof value), -ERANGE);
    cr_expect_eq(ops->write(s.links[1], elsewhere, &value, sizeof value), -ERANGE);
    ops->release(e->node);
    close_star(&s);
}

static void *flush_the_second(void *star)
{
    flush_to(star, 2);
    return NULL;
}

/* The fence of another thread comes behind it. */
Test(tcp, a_flush_by_another_thread_sends_what_is_held)
{
    struct star s = {0};
    pthread_t other;

    open_star(&s);
    struct end *e = &s.at[0];
    e->fabric->ops->hold(e->node);
    cr_expect_eq(write_to(&s, 2, 9), LOCO_DONE);
    cr_assert_eq(pthread_create(&other, NULL, flush_the_second, &s), 0);
    pthread_join(other, NULL);
    cr_expect_eq(*word(&s.at[2], 0), 9);
    e->fabric->ops->release(e->node);
    close_star(&s);
}

static _Atomic bool stop_flushing;

static void *flush_on(void *arg)
{
    struct loco_link *link = arg;
    struct loco_wait wait = {0};

    while (!atomic_load(&stop_flushing)) {
        const uint64_t ticket = link->node->fabric->ops->flush(link);
        while (atomic_load(&link->flushed) < ticket)
            link->node->fabric->ops->relax(link->node, &wait);
    }
    return NULL;
}

/* A held write is done, whatever others flush meanwhile: `done` never goes back. */
Test(tcp, what_is_held_is_done_for_good)
{
    enum { MANY = 200000 };
    struct star s = {0};
    pthread_t other;

    open_star(&s);
    struct end *e = &s.at[0];
    uint64_t done = 0; /* what was said to be */
    atomic_store(&stop_flushing, false);
    cr_assert_eq(pthread_create(&other, NULL, flush_on, s.links[1]), 0);
    for (uint64_t i = 1; i <= MANY; i++) {
        e->fabric->ops->hold(e->node);
        const int rc = write_to(&s, 1, i);
        cr_assert(rc >= 0);
        done = rc == LOCO_DONE ? e->number : done;
        e->fabric->ops->release(e->node);
        cr_assert(atomic_load(&s.links[1]->done) >= done);
    }
    atomic_store(&stop_flushing, true);
    pthread_join(other, NULL);
    WAIT_UNTIL(e, __atomic_load_n(word(&s.at[1], 0), __ATOMIC_ACQUIRE) == MANY);
    WAIT_UNTIL(e, atomic_load(&s.links[1]->done) == e->number);
    close_star(&s);
}

/* A link may close before its thread releases, and another may take its place. */
Test(tcp, a_link_may_close_while_its_thread_holds)
{
    struct star s = {0};

    open_star(&s);
    struct end *e = &s.at[0];
    const struct loco_fabric_ops *ops = e->fabric->ops;
    ops->hold(e->node);
    cr_expect_eq(write_to(&s, 1, 3), LOCO_DONE);
    ops->link_close(s.links[1]);
    cr_assert_eq(ops->link_open(e->node, 1, UINT64_MAX, &s.links[1]), 0);
    ops->release(e->node);
    cr_expect_eq(write_to(&s, 1, 4), LOCO_DONE);
    WAIT_UNTIL(e, __atomic_load_n(word(&s.at[1], 0), __ATOMIC_ACQUIRE) == 4);
    close_star(&s);
}

/* A node's writes to itself are placed at once. */
Test(tcp, writes_to_oneself_are_not_held)
{
    const uint64_t value = 8;
    struct loco_link *own;
    struct star s = {0};

    open_star(&s);
    struct end *e = &s.at[0];
    const struct loco_fabric_ops *ops = e->fabric->ops;
    cr_assert_eq(ops->link_open(e->node, 0, UINT64_MAX, &own), 0);
    ops->hold(e->node);
    cr_expect_eq(ops->write(own, there(2), &value, sizeof value), LOCO_DONE);
    cr_expect_eq(*word(e, 2), 8);
    ops->release(e->node);
    ops->link_close(own);
    close_star(&s);
}

/* Who holds at one fabric does not hold at another. */
Test(tcp, other_fabrics_do_not_hold)
{
    enum { OTHER_PORT = LOCO_TCP_PORT + 100 };
    struct star s = {0};
    struct end pair[2];

    open_star(&s);
    meet(pair, open_with((struct loco_tcp_config){.port = OTHER_PORT}));
    s.at[0].fabric->ops->hold(s.at[0].node);
    const uint64_t value = 6;
    cr_expect_eq(pair->fabric->ops->write(next(pair), there(0), &value, sizeof value), LOCO_DONE);
    WAIT_UNTIL(pair, __atomic_load_n(word(&pair[1], 0), __ATOMIC_ACQUIRE) == 6);
    s.at[0].fabric->ops->release(s.at[0].node);
    close_pair(pair);
    close_star(&s);
}

/* Two processes, as far as the fabrics know, with a node each. */
static void open_two(struct end *pair)
{
    for (uint32_t id = 0; id < 2; id++) {
        cr_assert_eq(open_node(&pair[id], open_with((struct loco_tcp_config){0}), id, 2), 0);
        cr_assert_eq(map(&pair[id]), 0);
    }
    for (uint32_t id = 0; id < 2; id++)
        say_hello(&pair[id]);
    for (uint32_t id = 0; id < 2; id++)
        WAIT_UNTIL(&pair[id], pair[id].ear.messages > 0);
}

static void close_two(struct end *pair)
{
    for (uint32_t id = 0; id < 2; id++)
        close_node(&pair[id]);
    for (uint32_t id = 0; id < 2; id++)
        loco_tcp_close(pair[id].fabric);
}

static pthread_barrier_t both_begin;

static void *open_the_link(void *arg)
{
    struct end *e = arg;
    const uint64_t value = 5 + e->node->id;

    pthread_barrier_wait(&both_begin);
    if (e->fabric->ops->link_open(e->node, !e->node->id, UINT64_MAX, &e->link) ||
        e->fabric->ops->write(next(e), there(0), &value, sizeof value) != LOCO_DONE)
        return e;
    return NULL;
}

/* Runs it for both ends at once. */
static void at_both(struct end *pair, void *(*act)(void *end))
{
    pthread_t other;
    void *failed;

    pthread_barrier_init(&both_begin, NULL, 2);
    cr_assert_eq(pthread_create(&other, NULL, act, &pair[1]), 0);
    cr_expect(!act(&pair[0]));
    cr_assert_eq(pthread_join(other, &failed), 0);
    cr_expect(!failed);
    pthread_barrier_destroy(&both_begin);
}

/* Service threads are held up before they sleep on at most so many descriptors, until this is
 * another number. On one descriptor they sleep while other threads serve the lanes. */
static _Atomic unsigned hold_up;
static _Atomic unsigned held_up;
static _Atomic unsigned naps; /* such sleeps, on one descriptor */

typedef int poll_fn(struct pollfd *fds, nfds_t count, int timeout_ms);

/* In place of libc's, or of a sanitizer's. */
int poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
    poll_fn *const real = (poll_fn *)dlsym(RTLD_NEXT, "poll");
    const unsigned hold = atomic_load(&hold_up);
    const bool held = timeout_ms > 0 && count <= hold;

    naps += timeout_ms > 0 && count == 1;
    held_up += held;
    while (held && atomic_load(&hold_up) == hold)
        usleep(1000);
    return real(fds, count, timeout_ms);
}

/* Waits as a thread of the node does, which serves the lanes meanwhile. */
#define RELAX_UNTIL(end, condition)                                                                \
    while (!(condition))                                                                           \
    (end)->fabric->ops->relax((end)->node, &(struct loco_wait){0})

/* It serves the lanes itself: the service thread would only take the core from it. */
Test(tcp, who_waits_is_left_alone)
{
    enum { NAPS = 20, MANY = 100000 };
    struct end pair[2], *other = &pair[1];

    open_two(pair);
    const struct loco_fabric_ops *ops = other->fabric->ops;
    cr_assert_eq(ops->link_open(other->node, 0, UINT64_MAX, &other->link), 0);
    const unsigned before = naps;
    for (uint64_t i = 1; i <= MANY && naps < before + NAPS; i++) {
        cr_assert_eq(ops->write(next(other), there(0), &i, sizeof i), LOCO_DONE);
        RELAX_UNTIL(pair, __atomic_load_n(word(pair, 0), __ATOMIC_RELAXED) == i);
    }
    cr_expect(naps >= before + NAPS);
    close_two(pair);
}

/* As where loops spin on all cores, more urgent than it. */
Test(tcp, who_waits_stands_in_for_a_service_thread_that_does_not_run)
{
    struct end pair[2];

    open_two(pair);
    atomic_store(&hold_up, 1);
    for (uint32_t id = 0; id < 2; id++)
        say_hello(&pair[id]); /* so that they wake, and come to where they are held up */
    WAIT_UNTIL(&pair[0], held_up == 2);
    const unsigned before = pair[1].ear.messages;
    say_hello(&pair[0]);
    for (struct loco_wait wait = {0}; pair[1].ear.messages == before;)
        pair[1].fabric->ops->relax(pair[1].node, &wait);
    atomic_store(&hold_up, 0);
    close_two(pair);
}

/* Also when they call each other at the same moment. */
Test(tcp, two_processes_share_one_connection)
{
    for (int turn = 0; turn < 30; turn++) {
        struct end pair[2];
        open_two(pair);
        const unsigned before = open_descriptors();
        at_both(pair, open_the_link);
        for (uint32_t id = 0; id < 2; id++) {
            flush(&pair[id]);
            cr_expect_eq(*word(&pair[!id], 0), 5 + id);
        }
        cr_expect_eq(open_descriptors(), before + 2, "its two ends");
        cr_expect_eq(pair[0].ear.losts + pair[1].ear.losts, 0);
        close_two(pair);
    }
}

static void *ask_for_much(void *arg)
{
    enum { TIMES = 300, SIZE = ARENA / 2 };
    struct end *e = arg;
    const struct loco_fabric_ops *ops = e->fabric->ops;

    pthread_barrier_wait(&both_begin);
    for (int i = 0; i < TIMES; i++)
        if (ops->read(next(e), there(0), e->arena.base + SIZE, SIZE) < 0 ||
            ops->write(next(e), there(0), e->arena.base + SIZE, SIZE) < 0)
            return e;
    wait_done(e);
    return NULL;
}

/* Neither hears the other only after it has sent all of its own. */
Test(tcp, both_ends_may_ask_for_much_at_once)
{
    struct end pair[2];

    open_two(pair);
    at_both(pair, open_the_link);
    at_both(pair, ask_for_much);
    close_two(pair);
}

/* An index that a link had is another's, and threads that come and go use no more connections. */
Test(tcp, links_come_and_go_on_one_connection)
{
    enum { MANY = 900 };
    struct end pair[2];
    uint64_t value = 0;

    open_two(pair);
    struct end *e = &pair[0];
    const struct loco_fabric_ops *ops = e->fabric->ops;
    const unsigned before = open_descriptors();
    for (unsigned i = 0; i < MANY; i++) {
        cr_assert_eq(ops->link_open(e->node, 1, UINT64_MAX, &e->link), 0);
        value++;
        cr_assert_eq(ops->write(next(e), there(0), &value, sizeof value), LOCO_DONE);
        flush(e);
        cr_assert_eq(*word(&pair[1], 0), value);
        ops->link_close(e->link);
        e->link = NULL;
    }
    cr_expect_eq(open_descriptors(), before + 2);
    close_two(pair);
}

static void expect_no_link(struct end *e)
{
    uint64_t value = 7;
    struct loco_link *link;

    cr_expect_eq(e->fabric->ops->link_open(e->node, 1, UINT64_MAX, &link), -ENOSPC);
    cr_assert_eq(e->fabric->ops->write(next(e), there(0), &value, sizeof value), LOCO_DONE);
    flush(e);
    cr_expect(e->ear.losts == 0 && e->ear.warnings == 0, "%s", e->ear.warning);
}

/* One that is refused does no harm to the others. */
Test(tcp, too_many_links_are_refused)
{
    enum { AT_ONCE = 256, EVER = 1024 };
    struct end pair[2];
    struct loco_link *links[AT_ONCE] = {0};

    open_two(pair);
    struct end *e = &pair[0];
    const struct loco_fabric_ops *ops = e->fabric->ops;
    for (unsigned i = 0; i < AT_ONCE; i++)
        cr_assert_eq(ops->link_open(e->node, 1, UINT64_MAX, &links[i]), 0);
    e->link = links[0];
    expect_no_link(e);
    for (unsigned i = AT_ONCE; i < EVER; i++) {
        ops->link_close(links[1]);
        cr_assert_eq(ops->link_open(e->node, 1, UINT64_MAX, &links[1]), 0);
    }
    ops->link_close(links[1]);
    expect_no_link(e);
    for (unsigned i = 2; i < AT_ONCE; i++)
        ops->link_close(links[i]);
    close_two(pair);
}

/* The call was answered too late. The other end has a lane then whose caller has gone. */
Test(tcp, a_lane_is_given_up_in_time)
{
    enum { TRIES = 20 };
    struct end pair[2];

    open_two(pair);
    for (int i = 0; i < TRIES; i++)
        cr_assert_eq(pair[0].fabric->ops->link_open(pair[0].node, 1, 0, &pair[0].link), -ETIMEDOUT);
    for (uint32_t id = 0; id < 2; id++) {
        struct end *e = &pair[id];
        cr_assert_eq(e->fabric->ops->link_open(e->node, 1 - id, UINT64_MAX, &e->link), 0);
        cr_assert_eq(e->fabric->ops->write(next(e), there(0), e->arena.base, 8), LOCO_DONE);
        flush(e);
        cr_expect(e->ear.losts == 0 && e->ear.warnings == 0, "%s", e->ear.warning);
    }
    close_two(pair);
}

enum { LONG_WRITE = 72, LONG_REQUEST = LONG_WRITE + sizeof(struct tcp_request) };

/* Posts writes of 1, 2, ... up to `count`, which are too long for the log. */
static void write_long(struct end *e, struct loco_link *link, uint64_t at, uint64_t count)
{
    e->link = link;
    for (uint64_t i = 1; i <= count; i++) {
        *word(e, 100) = i;
        cr_assert_eq(e->fabric->ops->write(next(e), there(at), word(e, 100), LONG_WRITE),
                     LOCO_DONE);
    }
}

/* The kernel takes nothing, and one link fills the lane. */
static void fill_lane(struct end *e, struct loco_link *link)
{
    atomic_store(&full, true);
    e->fabric->ops->hold(e->node);
    write_long(e, link, 0, TCP_BUFFER / LONG_REQUEST);
    e->fabric->ops->release(e->node);
}

/* Each of these posts returns at once, so that its thread can give up in time. */
Test(tcp, a_link_does_not_wait_because_another_has_filled_the_lane)
{
    struct end pair[2];
    struct loco_link *first, *other;

    open_two(pair);
    struct end *e = &pair[0];
    const struct loco_fabric_ops *ops = e->fabric->ops;
    cr_assert_eq(ops->link_open(e->node, 1, UINT64_MAX, &first), 0);
    cr_assert_eq(ops->link_open(e->node, 1, UINT64_MAX, &other), 0);
    fill_lane(e, first);
    write_long(e, other, 1000, 3);
    cr_expect_eq(ops->fetch_add(next(e), there(1000), 4, word(e, 200)), LOCO_POSTED);
    cr_expect_eq(ops->compare_swap(next(e), there(1000), 7, 8, word(e, 208)), LOCO_POSTED);
    cr_expect_eq(ops->read(next(e), there(1000), word(e, 216), 8), LOCO_POSTED);
    ops->flush(e->link);
    cr_expect_eq(*word(e, 216), 0);
    atomic_store(&full, false);
    flush(e);
    cr_expect(*word(e, 200) == 3 && *word(e, 208) == 7 && *word(e, 216) == 8);
    ops->link_close(first);
    close_two(pair);
}

/* There is no room for the greeting of another link. A link that is given up takes no index, and no
 * number of those that a connection has. */
Test(tcp, a_link_without_room_is_given_up_in_time)
{
    enum { TRIES = 1100, SHARES = TCP_SHARES / TCP_SHARE };
    struct loco_link *links[2 + SHARES], *second;
    struct end pair[2];

    open_two(pair);
    struct end *e = &pair[0];
    const struct loco_fabric_ops *ops = e->fabric->ops;
    for (unsigned i = 0; i < 2 + SHARES; i++)
        cr_assert_eq(ops->link_open(e->node, 1, UINT64_MAX, &links[i]), 0);
    fill_lane(e, links[0]);
    for (unsigned i = 0; i < SHARES; i++)
        write_long(e, links[1 + i], 1000, TCP_SHARE / LONG_REQUEST);
    const size_t filled = (TCP_BUFFER / LONG_REQUEST + SHARES * (TCP_SHARE / LONG_REQUEST));
    write_long(e, links[1 + SHARES], 1000, (TCP_BUFFER + TCP_SHARES) / LONG_REQUEST - filled);
    for (int i = 0; i < TRIES; i++)
        cr_assert_eq(ops->link_open(e->node, 1, 0, &second), -ETIMEDOUT);
    atomic_store(&full, false);
    cr_assert_eq(ops->link_open(e->node, 1, UINT64_MAX, &second), 0);
    e->link = links[0];
    flush(e);
    cr_expect_eq(*word(&pair[1], 0), (uint64_t)(TCP_BUFFER / LONG_REQUEST));
    for (unsigned i = 0; i < 2 + SHARES; i++)
        ops->link_close(links[i]);
    e->link = second;
    cr_assert_eq(ops->write(next(e), there(0), e->arena.base, 8), LOCO_DONE);
    flush(e);
    cr_expect(e->ear.losts == 0 && e->ear.warnings == 0, "%s", e->ear.warning);
    close_two(pair);
}

/* A node's end is no concern of the links to others of its process. */
Test(tcp, links_that_share_a_lane_end_apart)
{
    struct star s = {0};

    open_star(&s);
    struct end *e = &s.at[0];
    close_node(&s.at[2]);
    s.at[2].node = NULL;
    WAIT_UNTIL(e, e->ear.losts == 1);
    cr_expect_eq(write_to(&s, 2, 5), -ECONNRESET);
    cr_expect_eq(write_to(&s, 3, 6), LOCO_DONE);
    flush_to(&s, 3);
    cr_expect_eq(*word(&s.at[3], 0), 6);
    e->fabric->ops->link_close(s.links[1]);
    cr_assert_eq(e->fabric->ops->link_open(e->node, 1, UINT64_MAX, &s.links[1]), 0);
    cr_expect_eq(write_to(&s, 1, 9), LOCO_DONE);
    flush_to(&s, 1);
    cr_expect_eq(*word(&s.at[1], 0), 9);
    cr_expect(e->ear.losts == 1 && e->ear.warnings == 0, "%s", e->ear.warning);
    close_star(&s);
}

/* --- losses ------------------------------------------------------------------------------- */

Test(tcp, who_leaves_is_known_to_have_left)
{
    struct end pair[2];

    open_pair(pair);
    close_node(&pair[1]);
    WAIT_UNTIL(&pair[0], pair[0].ear.losts > 0);
    cr_expect_eq(pair[0].ear.lefts, 1);
    cr_expect_eq(pair[0].fabric->ops->write(next(&pair[0]), there(0), word(&pair[0], 0), 8),
                 -ECONNRESET);
    cr_expect_eq(pair[0].ear.warnings, 0, "%s", pair[0].ear.warning);
    close_node(&pair[0]);
    loco_tcp_close(pair[0].fabric);
}

/* It is met again, and the old link reaches it never. */
Test(tcp, who_comes_back_is_met_anew)
{
    struct end pair[2];
    uint64_t value = 5;

    open_pair(pair);
    struct end *e = &pair[0];
    const struct loco_fabric_ops *ops = e->fabric->ops;
    close_node(&pair[1]);
    cr_assert_eq(open_node(&pair[1], pair[0].fabric, 1, 2), 0);
    cr_assert_eq(map(&pair[1]), 0);
    WAIT_UNTIL(e, e->ear.ups == 2);
    cr_expect_eq(e->ear.losts, 1);
    say_hello(&pair[1]);
    WAIT_UNTIL(e, e->ear.messages == 2);
    cr_expect_eq(ops->write(next(e), there(0), &value, sizeof value), -ECONNRESET);
    ops->link_close(e->link);
    cr_assert_eq(ops->link_open(e->node, 1, UINT64_MAX, &e->link), 0);
    cr_expect(ops->write(next(e), there(0), &value, sizeof value) >= 0);
    flush(e);
    cr_expect_eq(*word(&pair[1], 0), 5);
    close_pair(pair);
}

/* The second node is a process of its own, which does what it is told by a signal. */
static pid_t start_other(void)
{
    struct end other;
    pid_t pid = fork();

    if (pid != 0)
        return pid;
    struct loco_fabric *fabric = open_with((struct loco_tcp_config){.timeout_ms = 300});
    open_node(&other, fabric, 1, 2);
    map(&other);
    say_hello(&other);
    for (;;)
        pause();
}

static void meet_other(struct end *e, pid_t *other)
{
    own_loopback();
    *other = start_other();
    cr_assert_eq(open_node(e, open_with((struct loco_tcp_config){.timeout_ms = 300}), 0, 2), 0);
    cr_assert_eq(map(e), 0);
    WAIT_UNTIL(e, e->ear.messages > 0);
    cr_assert_eq(e->fabric->ops->link_open(e->node, 1, UINT64_MAX, &e->link), 0);
}

static void part_from(struct end *e, pid_t other)
{
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
    close_node(e);
    loco_tcp_close(e->fabric);
}

Test(tcp, who_dies_is_lost)
{
    struct end e;
    pid_t other;

    meet_other(&e, &other);
    kill(other, SIGKILL);
    WAIT_UNTIL(&e, e.ear.losts > 0);
    cr_expect_eq(e.ear.lefts, 0);
    part_from(&e, other);
}

/* Its kernel still takes what it is sent. */
Test(tcp, who_stands_still_is_lost)
{
    struct end e;
    pid_t other;

    meet_other(&e, &other);
    kill(other, SIGSTOP);
    WAIT_UNTIL(&e, e.ear.losts > 0);
    cr_expect_eq(e.ear.lefts, 0);
    WAIT_UNTIL(&e, e.ear.warned);
    cr_expect(strstr(e.ear.warning, "nothing was heard of node 1 for 300 ms"), "%s", e.ear.warning);
    cr_expect_eq(e.fabric->ops->write(next(&e), there(0), word(&e, 0), 8), -ECONNRESET);

    kill(other, SIGCONT); /* it has lost this node, too, and comes again */
    WAIT_UNTIL(&e, e.ear.ups == 2);
    part_from(&e, other);
}

/* A post that waits for room ends with its peer. */
Test(tcp, a_post_to_who_stands_still_ends)
{
    struct end e;
    pid_t other;
    int rc = 0;

    meet_other(&e, &other);
    kill(other, SIGSTOP);
    for (unsigned i = 0; i < 100000 && rc >= 0; i++)
        rc = e.fabric->ops->write(next(&e), there(0), e.arena.base, ARENA / 2);
    cr_expect_eq(rc, -ECONNRESET);
    part_from(&e, other);
}

/* --- strangers ------------------------------------------------------------------------------ */

/* Node 0 of 2, which nobody has met. */
static void open_alone(struct end *e, struct loco_secret secret)
{
    cr_assert_eq(open_node_with(e, open_with((struct loco_tcp_config){0}), 0, 2, secret), 0);
    cr_assert_eq(map(e), 0);
}

static void close_alone(struct end *e)
{
    close_node(e);
    loco_tcp_close(e->fabric);
}

static void expect_warning(struct end *e, const char *text)
{
    WAIT_UNTIL(e, e->ear.warned);
    cr_expect(strstr(e->ear.warning, text), "it said: %s", e->ear.warning);
}

Test(tcp, garbage_is_no_greeting)
{
    struct end e;
    char garbage[300];

    open_alone(&e, (struct loco_secret){0});
    memset(garbage, 'G', sizeof garbage);
    int fd = intruder_call(own_loopback());
    intruder_say(fd, garbage, sizeof garbage);
    cr_expect(intruder_is_cut_off(fd));
    expect_warning(&e, "met a program that is none of this version's nodes");
    cr_expect_eq(e.ear.ups, 0);
    close_alone(&e);
}

Test(tcp, another_version_is_named)
{
    struct control_greeting g = intruder_greeting(CONTROL_HELLO);
    struct end e;

    open_alone(&e, (struct loco_secret){0});
    g.version = TCP_VERSION + 1;
    int fd = intruder_call(own_loopback());
    intruder_say(fd, &g, sizeof g);
    cr_expect(intruder_is_cut_off(fd));
    expect_warning(&e, "met a node of another version: 4 there, 3 here");
    close_alone(&e);
}

/* Each of these begins as a node does. */
static const struct {
    const char *what;
    struct control_greeting said;
} false_greetings[] = {
    {"a proof without a hello", {.step = CONTROL_PROOF, .from = 1, .count = 2}},
    {"to another node", {.step = CONTROL_HELLO, .from = 1, .to = 1, .count = 2}},
    {"from itself", {.step = CONTROL_HELLO, .from = 0, .count = 2}},
    {"from a node that is none", {.step = CONTROL_HELLO, .from = 2, .count = 2}},
    {"a link of nobody", {.step = CONTROL_LINK, .from = 1, .count = 2}},
    {"a link of a node that is none", {.step = CONTROL_LINK, .from = UINT32_MAX, .count = 2}},
    {"a welcome", {.step = CONTROL_WELCOME, .from = 1, .count = 2}},
    {"a refusal", {.step = CONTROL_REFUSAL, .from = 1, .count = 2}},
    {"no step", {.step = 0, .from = 1, .count = 2}},
};

Test(tcp, who_greets_falsely_is_cut_off)
{
    struct end e;

    open_alone(&e, (struct loco_secret){0});
    for (size_t i = 0; i < sizeof false_greetings / sizeof false_greetings[0]; i++) {
        struct control_greeting g = false_greetings[i].said;
        g.magic = TCP_MAGIC;
        g.version = TCP_VERSION;
        int fd = intruder_call(own_loopback());
        intruder_say(fd, &g, sizeof g);
        cr_expect(intruder_is_cut_off(fd), "%s", false_greetings[i].what);
    }
    cr_expect_eq(e.ear.ups, 0);
    close_alone(&e);
}

/* The intruder's has none. */
Test(tcp, another_secret_is_refused)
{
    const struct loco_secret secret = {"of the run", 10};
    struct intruder i;
    struct end e;

    open_alone(&e, secret);
    cr_expect(!intruder_greet(&i, own_loopback()));
    expect_warning(&e, "does not know this network's secret");
    cr_expect_eq(e.ear.ups, 0);
    close(i.control);
    close_alone(&e);
}

Test(tcp, two_secrets_do_not_meet_and_both_say_so)
{
    struct loco_fabric *fabric = open_with((struct loco_tcp_config){0});
    struct end pair[2];

    cr_assert_eq(open_node_with(&pair[0], fabric, 0, 2, (struct loco_secret){"a", 1}), 0);
    cr_assert_eq(open_node_with(&pair[1], fabric, 1, 2, (struct loco_secret){"b", 1}), 0);
    expect_warning(&pair[0], "it does not know this network's secret");
    expect_warning(&pair[1], "it has another secret");
    cr_expect(pair[0].ear.ups == 0 && pair[1].ear.ups == 0);
    close_pair(pair);
}

/* Who knows the secret, and counts other nodes, is believed at both ends. */
Test(tcp, another_count_is_told)
{
    const struct loco_secret secret = {"of the run", 10};
    struct loco_fabric *fabric = open_with((struct loco_tcp_config){0});
    struct end pair[2];

    cr_assert_eq(open_node_with(&pair[0], fabric, 0, 2, secret), 0);
    cr_assert_eq(open_node_with(&pair[1], fabric, 1, 3, secret), 0);
    WAIT_UNTIL(&pair[0], pair[0].ear.foreigners > 0);
    WAIT_UNTIL(&pair[1], pair[1].ear.foreigners > 0);
    cr_expect_eq(pair[0].ear.foreign_count, 3);
    cr_expect_eq(pair[1].ear.foreign_count, 2);
    close_pair(pair);
}

static bool is_open(int fd)
{
    char byte;

    return recv(fd, &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

/* Connections that say nothing keep nobody out: there are never more than the documents say. */
Test(tcp, silent_strangers_take_no_place)
{
    enum { MANY = 200, KEPT = 64 + 2 };
    int fds[MANY];
    struct end pair[2];

    open_alone(&pair[0], (struct loco_secret){0});
    for (unsigned i = 0; i < MANY; i++)
        fds[i] = intruder_call(own_loopback());
    for (unsigned i = 0; i < MANY - KEPT; i++)
        cr_expect(intruder_is_cut_off(fds[i]), "the oldest: %u", i);
    for (unsigned i = MANY - KEPT; i < MANY; i++)
        cr_expect(is_open(fds[i]), "the newest: %u", i);
    cr_assert_eq(open_node(&pair[1], pair[0].fabric, 1, 2), 0);
    WAIT_UNTIL(&pair[0], pair[0].ear.ups > 0);
    for (unsigned i = MANY - KEPT; i < MANY; i++)
        close(fds[i]);
    close_pair(pair);
}

Test(tcp, who_has_no_descriptor_left_rests_and_goes_on)
{
    struct end pair[2];

    open_alone(&pair[0], (struct loco_secret){0});
    const uint64_t since = loco_host_clock(NULL);
    const struct rlimit before = leave_one_descriptor();
    int fd = intruder_call(own_loopback());
    expect_warning(&pair[0], "node 0 cannot accept connections: Too many open files");
    expect_rests(since);
    cr_expect_eq(pair[0].ear.warnings, 1, "%u times", pair[0].ear.warnings);
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
    cr_assert_eq(open_node(&pair[1], pair[0].fabric, 1, 2), 0);
    WAIT_UNTIL(&pair[0], pair[0].ear.ups > 0);
    close(fd);
    close_pair(pair);
}

/* --- peers that say what no node says --------------------------------------------------------- */

static const struct {
    const char *what;
    struct tcp_request said;
} bad_requests[] = {
    {"a write beyond the arena", {.operation = TCP_WRITE, .offset = ARENA - 7, .size = 8}},
    {"nothing of an arena that is not there", {.operation = TCP_READ, .arena = 1}},
    {"a write of another arena", {.operation = TCP_WRITE, .arena = 1, .size = 8}},
    {"a write of an arena that cannot be", {.operation = TCP_WRITE, .arena = 64, .size = 8}},
    {"a write that wraps around", {.operation = TCP_WRITE, .offset = UINT64_MAX - 3, .size = 8}},
    {"a write of all there is", {.operation = TCP_WRITE, .size = UINT32_MAX}},
    {"a read beyond the arena", {.operation = TCP_READ, .offset = ARENA, .size = 1}},
    {"a read of all there is", {.operation = TCP_READ, .offset = 8, .size = UINT32_MAX - 7}},
    {"an atomic beyond the arena", {.operation = TCP_FETCH_ADD, .size = 8, .offset = ARENA}},
    {"an atomic on parts of words", {.operation = TCP_FETCH_ADD, .size = 8, .offset = 4}},
    {"an exchange of another arena",
     {.operation = TCP_COMPARE_SWAP, .arena = UINT8_MAX, .size = 16}},
    {"no operation", {.operation = 0}},
    {"an unknown operation", {.operation = TCP_NOT_THERE + 1}},
    {"a write of too many bytes at once", {.operation = TCP_WRITE, .size = TCP_PIECE + 8}},
    {"a read of too many bytes at once", {.operation = TCP_READ, .size = TCP_PIECE + 8}},
    {"a link that cannot be", {.operation = TCP_FLUSH, .link = TCP_LINKS_MAX}},
    {"the end of a link that cannot be", {.operation = TCP_END_LINK, .link = UINT16_MAX}},
    {"a link without a greeting", {.operation = TCP_BEGIN_LINK, .link = 1}},
    {"an atomic without its operand", {.operation = TCP_FETCH_ADD}},
    {"an exchange of half its operands", {.operation = TCP_COMPARE_SWAP, .size = 8}},
    {"a flush with words", {.operation = TCP_FLUSH, .size = 8}},
    {"an answer that nobody asked for", {.operation = TCP_ANSWER}},
    {"an answer of too many bytes", {.operation = TCP_ANSWER, .size = TCP_PIECE + 8}},
    {"of a link that nobody asked for that it is not there", {.operation = TCP_NOT_THERE}},
    {"a link with too long a greeting", {.operation = TCP_BEGIN_LINK, .link = 1, .size = 65}},
};

Test(tcp, who_asks_for_what_it_was_not_given_is_lost)
{
    for (size_t n = 0; n < sizeof bad_requests / sizeof bad_requests[0]; n++) {
        struct intruder i;
        struct end e;
        open_alone(&e, (struct loco_secret){0});
        cr_assert(intruder_greet(&i, own_loopback()), "%s", bad_requests[n].what);
        int fd = intruder_link(&i, own_loopback(), 0);
        intruder_say(fd, &bad_requests[n].said, sizeof bad_requests[n].said);
        intruder_say(fd, "12345678abcdefgh", sizeof(struct tcp_operands));
        cr_expect(intruder_is_cut_off(fd), "%s", bad_requests[n].what);
        cr_expect(intruder_is_cut_off(i.control), "%s", bad_requests[n].what);
        expect_warning(&e, "asked for memory that it was not given");
        WAIT_UNTIL(&e, e.ear.losts > 0);
        close_alone(&e);
    }
}

/* More answers than any node waits for. */
Test(tcp, who_asks_for_more_than_there_is_room_for_is_lost)
{
    const struct tcp_request read_it = {.operation = TCP_READ, .size = TCP_PIECE};
    struct intruder i;
    struct end e;

    open_alone(&e, (struct loco_secret){0});
    cr_assert(intruder_greet(&i, own_loopback()));
    int fd = intruder_link(&i, own_loopback(), 0);
    for (unsigned n = 0; n < 4000; n++)
        if (!intruder_say(fd, &read_it, sizeof read_it))
            break;
    cr_expect(intruder_is_cut_off(fd));
    cr_expect(intruder_is_cut_off(i.control));
    expect_warning(&e, "asked for memory that it was not given");
    close_alone(&e);
}

static const struct {
    const char *what;
    struct control_head said;
} bad_messages[] = {
    {"an unknown message", {.kind = 9}},
    {"a second here", {.kind = CONTROL_HERE}},
    {"a message too long", {.kind = CONTROL_CORE, .size = CONTROL_MESSAGE_MAX + 1}},
    {"a message of all there is", {.kind = CONTROL_CORE, .size = UINT32_MAX}},
    {"an arena without its size", {.kind = CONTROL_OWN}},
    {"an empty arena", {.kind = CONTROL_OWN, .size = sizeof(struct tcp_arena_notice)}},
    {"an alive with words", {.kind = CONTROL_ALIVE, .size = 8}},
};

Test(tcp, who_says_what_no_node_says_is_lost)
{
    static const char zeroes[64];

    for (size_t n = 0; n < sizeof bad_messages / sizeof bad_messages[0]; n++) {
        struct intruder i;
        struct end e;
        open_alone(&e, (struct loco_secret){0});
        cr_assert(intruder_greet(&i, own_loopback()), "%s", bad_messages[n].what);
        intruder_say(i.control, &bad_messages[n].said, sizeof bad_messages[n].said);
        intruder_say(i.control, zeroes, sizeof zeroes);
        cr_expect(intruder_is_cut_off(i.control), "%s", bad_messages[n].what);
        expect_warning(&e, "sent what no node sends");
        WAIT_UNTIL(&e, e.ear.losts > 0);
        close_alone(&e);
    }
}

static bool is_flushed(int fd, uint16_t link)
{
    const struct tcp_request flush_it = {.operation = TCP_FLUSH, .link = link};
    struct tcp_request a;

    return intruder_say(fd, &flush_it, sizeof flush_it) && intruder_hear(fd, &a, sizeof a) &&
           a.link == link && a.operation == TCP_ANSWER && a.size == 0;
}

/* What somebody has heard opens no second link. */
Test(tcp, a_link_is_opened_once)
{
    struct intruder i;
    struct end e;

    open_alone(&e, (struct loco_secret){0});
    cr_assert(intruder_greet(&i, own_loopback()));
    int first = intruder_link(&i, own_loopback(), 3);
    cr_expect(is_flushed(first, 0));
    cr_expect(intruder_is_cut_off(intruder_link(&i, own_loopback(), 3)), "the number again");
    cr_expect(intruder_is_cut_off(intruder_link(&i, own_loopback(), 5000)), "too large a number");
    i.links.bytes[0] ^= 1;
    cr_expect(intruder_is_cut_off(intruder_link(&i, own_loopback(), 4)), "another key");
    cr_expect(is_flushed(first, 0), "and the first goes on");
    close(first);
    close(i.control);
    close_alone(&e);
}

/* A link that begins on the lane of another proves itself as well. */
Test(tcp, a_further_link_of_a_lane_is_proven)
{
    const struct tcp_request begin = {
        .operation = TCP_BEGIN_LINK, .link = 7, .size = sizeof(struct control_greeting)};
    const struct tcp_request write_it = {.operation = TCP_WRITE, .link = 7, .size = 8};
    const struct tcp_request flush_it = {.operation = TCP_FLUSH, .link = 7};
    struct control_greeting right, wrong;
    struct tcp_request a;
    struct intruder i;
    struct end e;

    open_alone(&e, (struct loco_secret){0});
    cr_assert(intruder_greet(&i, own_loopback()));
    int fd = intruder_link(&i, own_loopback(), 0);
    right = wrong = intruder_link_greeting(&i, 1);
    wrong.proof.bytes[0] ^= 1;
    for (int turn = 0; turn < 2; turn++) {
        intruder_say(fd, &begin, sizeof begin);
        intruder_say(fd, turn ? &right : &wrong, sizeof right);
        intruder_say(fd, &write_it, sizeof write_it);
        intruder_say(fd, "12345678", 8);
        intruder_say(fd, &flush_it, sizeof flush_it);
        cr_assert(intruder_hear(fd, &a, sizeof a));
        cr_expect_eq(a.link, 7);
        cr_expect_eq(a.operation, turn ? TCP_ANSWER : TCP_NOT_THERE);
        cr_expect_eq(a.size, 0);
        cr_expect_eq(memcmp(e.arena.base, "12345678", 8) == 0, turn);
    }
    cr_expect(is_flushed(fd, 0), "the first goes on");
    intruder_say(fd, &begin, sizeof begin);
    intruder_say(fd, &right, sizeof right);
    cr_expect(intruder_is_cut_off(fd), "a second link in the place of one");
    cr_expect(intruder_is_cut_off(i.control));
    close_alone(&e);
}

/* Requests that come byte by byte are the same. */
Test(tcp, requests_in_pieces_are_understood)
{
    const struct tcp_request write_it = {.operation = TCP_WRITE, .offset = 16, .size = 20};
    const struct tcp_request flush_it = {.operation = TCP_FLUSH};
    unsigned char all[sizeof write_it + 20 + sizeof flush_it];
    struct tcp_request echo;
    struct intruder i;
    struct end e;

    memcpy(all, &write_it, sizeof write_it);
    memcpy(all + sizeof write_it, "12345678abcdefghABCD", 20);
    memcpy(all + sizeof write_it + 20, &flush_it, sizeof flush_it);
    open_alone(&e, (struct loco_secret){0});
    cr_assert(intruder_greet(&i, own_loopback()));
    int fd = intruder_link(&i, own_loopback(), 0);
    for (size_t n = 0; n < sizeof all; n++) {
        intruder_say(fd, all + n, 1);
        usleep(1000);
    }
    cr_expect(intruder_hear(fd, &echo, sizeof echo));
    cr_expect(memcmp(e.arena.base + 16, "12345678abcdefghABCD", 20) == 0);
    close(fd);
    close(i.control);
    close_alone(&e);
}

/* --- room for answers ------------------------------------------------------------------------- */

/* A lane owes an answer, as the kernel has no room. The service thread knows, but sleeps while
 * another thread serves. That one posts, which sends the answer, too. So the service thread finds
 * nothing owed, and no longer looks for room: it must be woken when an answer is owed again. */
Test(tcp, an_answer_without_room_is_sent_later)
{
    const struct tcp_request flush_it = {.operation = TCP_FLUSH};
    unsigned char begin_link[sizeof(struct tcp_request) + sizeof(struct control_greeting)];
    struct loco_fabric *fabric = open_with((struct loco_tcp_config){.timeout_ms = 1000000});
    struct tcp_request answer;
    struct intruder i;
    struct end e;

    cr_assert_eq(open_node(&e, fabric, 0, 2), 0);
    cr_assert(intruder_greet(&i, own_loopback()));
    const int fd = intruder_link(&i, own_loopback(), 0);
    WAIT_UNTIL(&e, e.ear.ups > 0);

    atomic_store(&full, true);
    cr_assert_eq(write(fd, &flush_it, sizeof flush_it), sizeof flush_it);
    RELAX_UNTIL(&e, refused > 0);
    const unsigned knows = naps + 3;
    RELAX_UNTIL(&e, naps >= knows);
    atomic_store(&hold_up, 1);
    RELAX_UNTIL(&e, held_up == 1);
    atomic_store(&full, false);
    cr_assert_eq(fabric->ops->link_open(e.node, 1, UINT64_MAX, &e.link), 0);
    cr_expect(intruder_hear(fd, &answer, sizeof answer));
    cr_expect(intruder_hear(fd, begin_link, sizeof begin_link));

    usleep(20000); /* nobody serves any more */
    atomic_store(&hold_up, 2);
    WAIT_UNTIL(&e, held_up == 2);
    atomic_store(&full, true);
    refused = 0;
    cr_assert_eq(write(fd, &flush_it, sizeof flush_it), sizeof flush_it);
    RELAX_UNTIL(&e, refused > 0);
    atomic_store(&full, false);
    atomic_store(&hold_up, 0);
    cr_expect(intruder_hear(fd, &answer, sizeof answer));
    close(fd);
    close(i.control);
    close_node(&e);
    loco_tcp_close(fabric);
}

/* --- closing ---------------------------------------------------------------------------------- */

static void *keep_a_cpu_busy(void *arg)
{
    while (!*(_Atomic bool *)arg)
        sched_yield();
    return NULL;
}

/* A close that the service overlooks would wait for its next look at the nodes, an eighth of the
 * timeout later: that is longer than the runner lets a test stand still. The service overlooked a
 * close only if it was interrupted at one place, so there are many closes on busy CPUs. */
Test(tcp, a_close_is_never_overlooked)
{
    struct loco_fabric *fabric = open_with((struct loco_tcp_config){.timeout_ms = 1000000});
    _Atomic bool enough = false;
    pthread_t busy[2];
    struct end e;

    for (int i = 0; i < 2; i++)
        cr_assert_eq(pthread_create(&busy[i], NULL, keep_a_cpu_busy, &enough), 0);
    for (int i = 0; i < 20000; i++) {
        cr_assert_eq(open_node(&e, fabric, 0, 1), 0);
        fabric->ops->node_close(e.node);
    }
    enough = true;
    for (int i = 0; i < 2; i++)
        pthread_join(busy[i], NULL);
    loco_tcp_close(fabric);
}

/* --- addresses -------------------------------------------------------------------------------- */

static void operate_at(const char *address)
{
    const char *const both[] = {address, address};
    const struct loco_tcp_config config = {.addresses = both, .address_count = 2, .port = 18900};
    struct loco_fabric *fabric;
    struct end pair[2];
    uint64_t value = 9;

    cr_assert_eq(loco_tcp_open(&fabric, &config), 0);
    meet(pair, fabric);
    pair[0].fabric->ops->write(next(&pair[0]), there(0), &value, sizeof value);
    flush(&pair[0]);
    cr_expect_eq(*word(&pair[1], 0), 9);
    close_pair(pair);
}

static bool has_ipv6(void)
{
    struct sockaddr_in6 here = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    int fd = socket(AF_INET6, SOCK_STREAM, 0);
    bool has = fd >= 0 && !bind(fd, (struct sockaddr *)&here, sizeof here);

    if (fd >= 0)
        close(fd);
    return has;
}

Test(tcp, nodes_meet_over_ipv6)
{
    if (!has_ipv6())
        cr_skip_test("this machine has no IPv6");
    operate_at("::1");
}

Test(tcp, nodes_meet_by_name)
{
    operate_at("localhost");
}

Test(tcp, a_bad_address_is_named)
{
    const char *const here[] = {own_loopback()}, *const nowhere[] = {"192.0.2.1"};
    struct loco_tcp_config config = {.addresses = nowhere, .address_count = 1};
    struct loco_fabric *fabric;
    struct end e;

    cr_assert_eq(loco_tcp_open(&fabric, &config), 0);
    cr_expect_eq(open_node(&e, fabric, 0, 1), -EADDRNOTAVAIL);
    cr_expect(strstr(e.ear.warning, "cannot listen at 192.0.2.1, port 18700"), "%s", e.ear.warning);
    loco_tcp_close(fabric);
    config.addresses = here;
    cr_assert_eq(loco_tcp_open(&fabric, &config), 0);
    cr_expect_eq(open_node(&e, fabric, 0, 2), -EINVAL);
    loco_tcp_close(fabric);
}

Test(tcp, a_config_without_sense_is_refused)
{
    const char *const here[] = {own_loopback()};
    struct loco_fabric *fabric;

    cr_expect_eq(loco_tcp_open(&fabric, &(struct loco_tcp_config){0}), -EINVAL);
    cr_expect_eq(loco_tcp_open(&fabric, &(struct loco_tcp_config){.addresses = here,
                                                                  .address_count = 1,
                                                                  .port = UINT16_MAX,
                                                                  .timeout_ms = 2000000}),
                 -EINVAL);
}
