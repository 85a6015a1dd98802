/*
 * A program that has the structures of libloco by value, each between guards, and uses them by the
 * functions and by what the headers have inline: two nodes in one process. later.sh compiles it
 * with the headers of today, and runs it with a library that has used their room.
 *
 *      today DIRECTORY
 */
#include <errno.h>
#include <loco/loco.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NODES = 2, PATIENCE = 2000000000 }; /* ns */

struct guard {
    unsigned char bytes[64];
};

struct node {
    struct loco_manager *mgr;
    struct guard g0;
    struct loco_owned_var var;
    struct guard g1;
    struct loco_sst sst;
    struct guard g2;
    struct loco_barrier barrier;
    struct guard g3;
    struct loco_atomic_var word;
    struct guard g4;
    struct loco_atomic_array words;
    struct guard g5;
    struct loco_ticket_lock_array locks;
    struct guard g6;
    struct loco_ringbuffer ring;
    struct guard g7;
    struct loco_shared_queue queue;
    struct guard g8;
    struct loco_kvstore store;
    struct guard g9;
    struct loco_shared_region region;
    struct guard g10;
};

static struct node nodes[NODES];

static void check(int rc)
{
    if (rc >= 0)
        return;
    fprintf(stderr, "%s\n", strerror(-rc));
    exit(1);
}

static void expect(bool is_so, const char *what)
{
    if (is_so)
        return;
    fprintf(stderr, "it is not so: %s\n", what);
    exit(1);
}

static struct guard *guard_of(struct node *n, unsigned i)
{
    struct guard *const guards[] = {&n->g0, &n->g1, &n->g2, &n->g3, &n->g4, &n->g5,
                                    &n->g6, &n->g7, &n->g8, &n->g9, &n->g10};

    return guards[i];
}

static void guard(struct node *n)
{
    for (unsigned i = 0; i <= 10; i++)
        memset(guard_of(n, i)->bytes, 0x5a, sizeof(struct guard));
}

static void expect_guarded(struct node *n)
{
    for (unsigned i = 0; i <= 10; i++)
        for (size_t b = 0; b < sizeof(struct guard); b++)
            expect(guard_of(n, i)->bytes[b] == 0x5a, "nothing was written beside a structure");
}

static void set_up(struct node *n, struct loco_fabric *fabric, uint32_t id)
{
    const struct loco_manager_config config = {.node = id, .node_count = NODES};
    const struct loco_kvstore_config store = {.value_size = 16, .capacity = 64};

    guard(n);
    check(loco_manager_open(&n->mgr, fabric, &config));
    check(loco_owned_var_init(&n->var, n->mgr, NULL, "var", 0, LOCO_ALL, 32));
    check(loco_sst_init(&n->sst, n->mgr, NULL, "sst", LOCO_ALL, 16));
    check(loco_barrier_init(&n->barrier, n->mgr, NULL, "barrier", LOCO_ALL));
    check(loco_atomic_var_init(&n->word, n->mgr, NULL, "word", 0, LOCO_ALL, 0));
    check(loco_atomic_array_init(&n->words, n->mgr, NULL, "words", 8, LOCO_ALL, 0));
    check(loco_ticket_lock_array_init(&n->locks, n->mgr, NULL, "locks", 4, LOCO_ALL, 1));
    check(loco_ringbuffer_init(&n->ring, n->mgr, NULL, "ring", 0, LOCO_ALL, 1024, 64));
    check(loco_shared_queue_init(&n->queue, n->mgr, NULL, "queue", 0, LOCO_ALL, 8, 24));
    check(loco_kvstore_init(&n->store, n->mgr, NULL, "store", &store));
    check(loco_shared_region_init(&n->region, n->mgr, NULL, "region", LOCO_ALL, 64));
}

static void tear_down(struct node *n)
{
    loco_shared_region_fini(&n->region);
    loco_kvstore_fini(&n->store);
    loco_shared_queue_fini(&n->queue);
    loco_ringbuffer_fini(&n->ring);
    loco_ticket_lock_array_fini(&n->locks);
    loco_atomic_array_fini(&n->words);
    loco_atomic_var_fini(&n->word);
    loco_barrier_fini(&n->barrier);
    loco_sst_fini(&n->sst);
    loco_owned_var_fini(&n->var);
    loco_manager_close(n->mgr);
    expect_guarded(n);
}

static void meet_at_barrier(void)
{
    for (unsigned i = 0; i < NODES; i++)
        check(loco_barrier_arrive(&nodes[i].barrier));
    for (unsigned i = 0; i < NODES; i++)
        expect(loco_barrier_passed(&nodes[i].barrier) == 1, "all have come to the barrier");
}

static void share_values(struct node *here, struct node *there)
{
    uint64_t wide[4] = {1, 2, 3, 4}, narrow[2] = {5, 6}, got[4] = {0};

    const struct loco_ack put = loco_owned_var_put(&here->var, wide);
    check(loco_ack_wait(&put, PATIENCE));
    check(loco_owned_var_load(&there->var, got));
    expect(memcmp(got, wide, sizeof wide) == 0, "an owned_var has what was pushed");
    expect(loco_owned_var_peek(&there->var) == 1, "and its first word can be looked at");

    loco_sst_store_mine(&here->sst, narrow);
    const struct loco_ack row = loco_sst_push_broadcast(&here->sst);
    check(loco_ack_wait(&row, PATIENCE));
    check(loco_owned_var_load(loco_sst_row(&there->sst, here->mgr->id), got));
    expect(memcmp(got, narrow, sizeof narrow) == 0, "an sst has what was pushed");
    unsigned rows = 0;
    loco_sst_each (&there->sst, r)
        rows++;
    expect(rows == NODES, "and a row of each");

    const struct loco_ack write =
        loco_shared_region_write(&here->region, there->mgr->id, 8, wide, 8);
    check(loco_ack_wait(&write, PATIENCE));
    check(loco_fence_thread(here->mgr));
    expect(((uint64_t *)loco_shared_region_local(&there->region))[1] == 1, "a region was written");
}

static void take_turns(struct node *here, struct node *there)
{
    uint64_t old = 0, entry[3] = {7, 8, 9}, got[3] = {0};
    struct loco_message message;

    check(loco_atomic_fetch_add(loco_atomic_of(&there->word), 3, &old));
    check(loco_atomic_load(loco_atomic_of(&here->word), &old));
    expect(old == 3, "an atomic_var was added to");
    check(loco_atomic_store(loco_atomic_at(&there->words, here->mgr->id, 5), 11));
    check(loco_atomic_load(loco_atomic_at(&here->words, here->mgr->id, 5), &old));
    expect(old == 11, "so was a word of an array");

    check(loco_ticket_lock_acquire(loco_ticket_lock_at(&here->locks, 1, 3)));
    expect(loco_ticket_lock_try(loco_ticket_lock_at(&there->locks, 1, 3)) == -EBUSY,
           "a lock is held");
    check(loco_ticket_lock_release(loco_ticket_lock_at(&here->locks, 1, 3), LOCO_FENCE_GLOBAL));

    check(loco_ringbuffer_send(&here->ring, entry, sizeof entry, NULL));
    check(loco_ringbuffer_receive_wait(&there->ring, &message, PATIENCE));
    expect(message.size == sizeof entry, "a message has come");
    loco_ringbuffer_release(&there->ring, message.position);

    check(loco_shared_queue_push(&here->queue, entry, PATIENCE));
    check(loco_shared_queue_pop(&there->queue, got, PATIENCE));
    expect(memcmp(got, entry, sizeof got) == 0, "an entry went through the queue");
}

static void keep_values(struct node *here, struct node *there)
{
    const uint64_t value[2] = {12, 13};
    uint64_t got[2] = {0};
    struct loco_kv_window *window;

    check(loco_kvstore_start_tracker(&here->store));
    check(loco_kvstore_start_tracker(&there->store));
    check(loco_kvstore_insert(&here->store, 99, value));
    check(loco_kvstore_read(&there->store, 99, got));
    expect(memcmp(got, value, sizeof got) == 0, "a store has what was inserted");
    check(loco_kv_window_open(&window, &there->store, 3));
    for (unsigned i = 0; i < 3; i++)
        loco_kv_start_read(loco_kv_window_op(window, i), 99);
    for (unsigned i = 0; i < 3; i++) {
        struct loco_kv_op *op = loco_kv_window_op(window, i);
        while (!loco_kv_poll(op))
            ;
        check(op->result);
        expect(*(const uint64_t *)op->value == 12, "so does each of a window's reads");
    }
    loco_kv_window_close(window);
}

int main(int argc, char **argv)
{
    struct loco_fabric *fabric;

    if (argc != 2)
        return fprintf(stderr, "usage: %s DIRECTORY\n", argv[0]), 2;
    check(loco_shm_open(&fabric, argv[1]));
    for (uint32_t i = 0; i < NODES; i++)
        set_up(&nodes[i], fabric, i);
    for (unsigned i = 0; i < NODES; i++)
        check(loco_manager_ready(nodes[i].mgr, 5 * (uint64_t)PATIENCE));
    for (unsigned m = 0; m < nodes[0].var.channel.member_count; m++)
        expect(loco_member_connected(&nodes[0].var.channel.members[m]), "members are connected");
    expect(!loco_peer_lost(nodes[0].mgr, 1) && loco_clock(nodes[0].mgr) > 0, "nobody is lost");

    share_values(&nodes[0], &nodes[1]);
    take_turns(&nodes[0], &nodes[1]);
    keep_values(&nodes[0], &nodes[1]);
    meet_at_barrier();
    for (unsigned i = 0; i < NODES; i++)
        tear_down(&nodes[i]);
    loco_shm_close(fabric);
    puts("all of it works");
    return 0;
}
