/*
 * Tests that the simulator lets peers come and go in every way that fabric.h permits.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "tests/nodes.h"

enum { SEEDS = 500, SEEDS_EMULATED = 50 };

static const uint64_t OURS = 0x5a5a5a5a5a5a5a5a;

struct place {
    struct loco_shared_region memory;
    struct loco_barrier barrier;
};

static void open_place(struct place *p, struct node *n)
{
    CHECK(n, loco_shared_region_init(&p->memory, n->mgr, NULL, "m", LOCO_ALL, 1024) == 0);
    CHECK(n, loco_barrier_init(&p->barrier, n->mgr, NULL, "b", LOCO_ALL) == 0);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
    CHECK(n, loco_barrier_wait(&p->barrier) == 0);
}

static void close_place(struct place *p)
{
    loco_barrier_fini(&p->barrier);
    loco_shared_region_fini(&p->memory);
}

/* The place of the word with which node 0 says that it has begun. */
enum { BEGUN = 512 };

static void pass_time(struct node *n, uint64_t ns)
{
    struct loco_wait wait = loco_wait_for(n->mgr, ns);

    while (!loco_relax(n->mgr, &wait))
        ;
}

/* --- no answer of an operation to the lost one lands any more --------------------------------- */

static void await_begun(struct node *n, struct place *p)
{
    const uint64_t *words = loco_shared_region_local(&p->memory);
    struct loco_wait wait = loco_wait_for(n->mgr, TEST_TIMEOUT);

    while (!__atomic_load_n(&words[BEGUN / 8], __ATOMIC_ACQUIRE))
        loco_relax(n->mgr, &wait);
}

/* Makes reads and atomics until one reports that the peer is lost. From then on the memory of their
 * results is ours. */
static void read_from_the_dying(struct node *n, struct place *p)
{
    uint64_t *block = loco_mem_ref_take(n->mgr), *old = loco_mem_ref_take(n->mgr);
    const uint64_t begun = 1;
    int rc = 0;

    loco_shared_region_write(&p->memory, 1, BEGUN, &begun, sizeof begun);
    while (rc != -ECONNRESET) {
        struct loco_ack read = loco_shared_region_read(&p->memory, 1, 0, block, 128);
        struct loco_ack add = loco_region_fetch_add(p->memory.region, 0, 128, 1, old);
        rc = loco_ack_wait(&read, TEST_TIMEOUT);
        int other = loco_ack_wait(&add, TEST_TIMEOUT);
        rc = rc ? rc : other;
        CHECK(n, rc == 0 || rc == -ECONNRESET);
    }
    for (int i = 0; i < 16; i++)
        block[i] = OURS;
    *old = OURS;
    pass_time(n, 2000);
    for (int i = 0; i < 16; i++)
        CHECK(n, block[i] == OURS);
    CHECK(n, *old == OURS);
    loco_mem_ref_put(n->mgr, old);
    loco_mem_ref_put(n->mgr, block);
}

static void late_answer_body(struct node *n)
{
    struct place p;

    open_place(&p, n);
    if (n->id == 1) {
        await_begun(n, &p);
        node_die(n);
    } else {
        read_from_the_dying(n, &p);
    }
    close_place(&p);
}

Test(peers, no_answer_of_the_lost_lands)
{
    for (uint64_t seed = 1; seed <= effort(SEEDS, SEEDS_EMULATED); seed++)
        for (enum loco_sim_chaos chaos = LOCO_SIM_DELAYED; chaos <= LOCO_SIM_DEFERRED; chaos++)
            cr_assert_eq(run_chaos_nodes(seed, chaos, 2, late_answer_body, NULL), 0);
    cr_assert_eq(run_sim_nodes(1, 1000, 500, 2, late_answer_body, NULL), 0);
}

/* --- a loss is reported at different times; posted writes may be placed until then ------------ */

struct loss {
    uint32_t begun; /* nodes that have left the barrier */
    bool dead, told[2];
    bool apart;  /* one node had been told of the loss, and another had not */
    bool landed; /* a dead node's write was placed between its death and the news */
};

static void begin_together(struct node *n, struct place *p, struct loss *loss)
{
    struct loco_wait wait = loco_wait_for(n->mgr, TEST_TIMEOUT);

    open_place(p, n);
    loss->begun++;
    while (loss->begun < n->count && !loco_relax(n->mgr, &wait))
        ;
}

static void note(struct node *n, struct loss *loss)
{
    loss->told[n->id] = loss->told[n->id] || loco_peer_lost(n->mgr, 2);
    loss->apart |= loss->told[0] != loss->told[1];
}

/* Watches the dying node's writes until its loss is reported, and for a while after. */
static void watch_the_dying(struct node *n, struct place *p, struct loss *loss)
{
    const uint64_t *words = loco_shared_region_local(&p->memory);
    struct loco_wait wait = loco_wait_for(n->mgr, TEST_TIMEOUT);
    uint64_t last = 0;

    while (!loss->told[n->id] && !loco_relax(n->mgr, &wait)) {
        bool was_dead = loss->dead;
        uint64_t now = __atomic_load_n(&words[0], __ATOMIC_ACQUIRE);
        loss->landed |= was_dead && now != last && last;
        last = now;
        note(n, loss);
    }
    last = __atomic_load_n(&words[0], __ATOMIC_ACQUIRE);
    pass_time(n, 2000);
    CHECK(n, __atomic_load_n(&words[0], __ATOMIC_ACQUIRE) == last);
}

static void told_body(struct node *n)
{
    struct place p;
    struct loss *loss = n->arg;

    begin_together(n, &p, loss);
    if (n->id == 2) {
        for (uint64_t i = 1; i <= 20; i++)
            for (uint32_t peer = 0; peer < 2; peer++)
                loco_shared_region_write(&p.memory, peer, 0, &i, sizeof i);
        loss->dead = true;
        node_die(n);
    } else {
        watch_the_dying(n, &p, loss);
    }
    close_place(&p);
}

Test(peers, hear_of_a_loss_at_times_of_their_own)
{
    int apart = 0, landed = 0;

    for (uint64_t seed = 1; seed <= effort(SEEDS, SEEDS_EMULATED); seed++) {
        struct loss loss = {0};
        cr_assert_eq(run_chaos_nodes(seed, LOCO_SIM_DEFERRED, 3, told_body, &loss), 0);
        apart += loss.apart;
        landed += loss.landed;
    }
    cr_assert(apart > 0, "all were told at once");
    cr_assert(landed > 0, "nothing was placed between the death and the news of it");
}

/* --- a connection breaks, and one side is told before the other ------------------------------- */

static void cut_body(struct node *n)
{
    struct place p;
    struct loss *loss = n->arg;
    struct loco_wait wait = loco_wait_for(n->mgr, TEST_TIMEOUT);

    begin_together(n, &p, loss);
    if (n->id == 0)
        loco_sim_cut(n->fabric, 0, 1);
    while (!loss->told[n->id] && !loco_relax(n->mgr, &wait)) {
        uint64_t one = 1;
        struct loco_ack ack = loco_shared_region_write(&p.memory, 1 - n->id, 0, &one, 8);
        CHECK(n, !ack.error || ack.error == -ECONNRESET);
        loss->told[n->id] = loco_peer_lost(n->mgr, 1 - n->id);
        loss->apart |= loss->told[0] != loss->told[1];
    }
    CHECK(n, loss->told[n->id]);
    close_place(&p);
}

Test(peers, lose_each_other_one_after_the_other)
{
    int apart = 0;

    for (uint64_t seed = 1; seed <= effort(SEEDS, SEEDS_EMULATED); seed++) {
        struct loss loss = {0};
        cr_assert_eq(run_chaos_nodes(seed, LOCO_SIM_DEFERRED, 2, cut_body, &loss), 0);
        apart += loss.apart;
    }
    cr_assert(apart > 0, "both were told at once");
}

/* --- messages: in order of one peer, and of different peers in any ---------------------------- */

struct post {
    struct loco_fabric *sim;
    int sent; /* numbers sent by both nodes, in turn */
    int heard, last[2];
    bool in_order, crossed; /* from one peer in order; from different peers not */
};

struct talker {
    struct post *post;
    struct loco_node *node;
    uint32_t id;
    int up;
};

static void talker_up(void *arg, uint32_t peer)
{
    (void)peer;
    ((struct talker *)arg)->up++;
}

static void talker_message(void *arg, uint32_t peer, const void *message, size_t size)
{
    struct post *post = ((struct talker *)arg)->post;
    int number;

    memcpy(&number, message, size);
    post->in_order &= number > post->last[peer];
    post->crossed |= number < post->last[1 - peer];
    post->last[peer] = number;
    post->heard++;
}

static void talker_lost(void *arg, uint32_t peer, bool left)
{
    (void)peer;
    (void)left;
    ((struct talker *)arg)->up--;
}

enum { TALKERS = 3, MESSAGES = 8 };

/* The first two nodes send numbers to the third. Each number is the next one of both. */
static void talker_body(void *arg)
{
    struct talker *t = arg;
    struct post *post = t->post;
    const struct loco_events events = {
        .peer_up = talker_up, .message = talker_message, .peer_lost = talker_lost, .arg = t};
    const struct loco_fabric_ops *ops = post->sim->ops;
    struct loco_wait wait = {.until = UINT64_MAX};

    cr_assert_eq(
        ops->node_open(post->sim, t->id, TALKERS, (struct loco_secret){0}, &events, &t->node), 0);
    for (uint32_t peer = 0; peer < TALKERS; peer++)
        if (peer != t->id)
            cr_assert_eq(ops->meet(t->node, peer), 0);
    while (t->up < TALKERS - 1)
        ops->relax(t->node, &wait);
    for (int i = 0; t->id < 2 && i < MESSAGES; i++) {
        int number = ++post->sent;
        cr_assert_eq(ops->send(t->node, 2, &number, sizeof number), 0);
        ops->relax(t->node, &(struct loco_wait){.until = ops->clock(t->node) + 20});
    }
    while (post->heard < 2 * MESSAGES)
        ops->relax(t->node, &wait);
    ops->node_close(t->node);
}

Test(peers, are_heard_in_order_each_and_in_no_order_among_them)
{
    int crossed = 0;

    for (uint64_t seed = 1; seed <= effort(SEEDS, SEEDS_EMULATED); seed++) {
        const struct loco_sim_config config = {.seed = seed, .chaos = LOCO_SIM_DELAYED};
        struct post post = {.sim = loco_sim_open(&config), .in_order = true};
        struct talker talkers[TALKERS];
        for (uint32_t i = 0; i < TALKERS; i++) {
            talkers[i] = (struct talker){.post = &post, .id = i};
            cr_assert_eq(loco_sim_spawn(post.sim, talker_body, &talkers[i]), 0);
        }
        cr_assert_eq(loco_sim_run(post.sim), 0);
        loco_sim_close(post.sim);
        cr_assert(post.in_order, "seed %llu", (unsigned long long)seed);
        crossed += post.crossed;
    }
    cr_assert(crossed > 0, "the messages of two peers came in one order");
}

/* --- who is not there --------------------------------------------------------------------- */

static void crash_again_body(struct node *n)
{
    struct loco_fabric *sim = n->fabric;
    const uint64_t begun = 1;
    struct place p;

    open_place(&p, n);
    if (n->id == 1) {
        await_begun(n, &p);
        loco_sim_crash(sim, 1);
        loco_sim_crash(sim, 1);
        loco_sim_crash(sim, 2);
        loco_sim_crash(sim, UINT32_MAX);
    } else {
        loco_shared_region_write(&p.memory, 1, BEGUN, &begun, sizeof begun);
        AWAIT(n, loco_peer_lost(n->mgr, 1));
        loco_sim_crash(sim, 1);
        loco_sim_cut(sim, 0, 1);
        loco_sim_cut(sim, 2, 0);
        CHECK(n, loco_barrier_wait(&p.barrier) == -ECONNRESET);
    }
    close_place(&p);
}

Test(peers, who_is_not_there_is_left_alone)
{
    cr_assert_eq(run_nodes(ON_SIM, 2, crash_again_body, NULL), 0);
    for (uint64_t seed = 1; seed <= 20; seed++)
        cr_assert_eq(run_chaos_nodes(seed, LOCO_SIM_DEFERRED, 2, crash_again_body, NULL), 0);
}
