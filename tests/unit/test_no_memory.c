/*
 * Makes each allocation of the setup fail once. The setup must then undo its work and return
 * -ENOMEM. (Under `make sanitize` nothing may leak, either.) Later, a fabric that has no memory for
 * a message or for news must end the connection: a peer may be lost, but not wait for ever.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <search.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "channels/loco/loco.h"
#include "folder.h"
#include "tests/ends.h"

/* --- the library's allocations, which the linker leads here (--wrap) -------------------------- */

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__real_tsearch(const void *key, void **root, int (*compare)(const void *, const void *));

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void *__wrap_tsearch(const void *key, void **root, int (*compare)(const void *, const void *));
int __wrap_asprintf(char **text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The number of the calling thread's allocations until one fails; negative: none fails. */
static _Thread_local long until_failure = -1;

/* The same for the allocations of all threads but the test's. */
static _Atomic long others_until_failure = -1;
static _Thread_local bool is_the_tests;

static bool allocation_fails(void)
{
    if (until_failure >= 0)
        return until_failure-- == 0;
    return !is_the_tests && others_until_failure >= 0 && others_until_failure-- == 0;
}

void *__wrap_malloc(size_t size)
{
    return allocation_fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return allocation_fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
    return allocation_fails() ? NULL : __real_realloc(memory, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return allocation_fails() ? NULL : __real_aligned_alloc(alignment, size);
}

void *__wrap_tsearch(const void *key, void **root, int (*compare)(const void *, const void *))
{
    return allocation_fails() ? NULL : __real_tsearch(key, root, compare);
}

int __wrap_asprintf(char **text, const char *format, ...)
{
    va_list args;

    if (allocation_fails())
        return -1;
    va_start(args, format);
    int length = vasprintf(text, format, args);
    va_end(args);
    return length;
}

/* --- the setup -------------------------------------------------------------------------------- */

/* Constructs a channel of each type and ends it. Returns 0 or the first error. */
static int construct_each(struct loco_manager *m)
{
    const struct loco_kvstore_config config = {.value_size = 8, .capacity = 16};
    static struct loco_barrier barrier;
    static struct loco_shared_queue queue;
    static struct loco_ringbuffer ring;
    static struct loco_owned_var var;
    static struct loco_atomic_var word;
    static struct loco_ticket_lock lock;
    static struct loco_ticket_lock_array locks;
    static struct loco_shared_region region;
    static struct loco_kvstore store;
    int rc;

    if ((rc = loco_barrier_init(&barrier, m, NULL, "barrier", LOCO_ALL)))
        return rc;
    loco_barrier_fini(&barrier);
    if ((rc = loco_shared_queue_init(&queue, m, NULL, "queue", 0, LOCO_ALL, 16, 8)))
        return rc;
    loco_shared_queue_fini(&queue);
    if ((rc = loco_ringbuffer_init(&ring, m, NULL, "ring", 0, LOCO_ALL, 256, 8)))
        return rc;
    loco_ringbuffer_fini(&ring);
    if ((rc = loco_owned_var_init(&var, m, NULL, "var", 0, LOCO_ALL, 80)))
        return rc;
    loco_owned_var_fini(&var);
    if ((rc = loco_atomic_var_init(&word, m, NULL, "word", 0, LOCO_ALL, 0)))
        return rc;
    loco_atomic_var_fini(&word);
    if ((rc = loco_ticket_lock_init(&lock, m, NULL, "lock", 0, LOCO_ALL, 4)))
        return rc;
    loco_ticket_lock_fini(&lock);
    if ((rc = loco_ticket_lock_array_init(&locks, m, NULL, "locks", 4, LOCO_ALL, 4)))
        return rc;
    loco_ticket_lock_array_fini(&locks);
    if ((rc = loco_shared_region_init(&region, m, NULL, "region", LOCO_ALL, 64)))
        return rc;
    loco_shared_region_fini(&region);
    if ((rc = loco_kvstore_init(&store, m, NULL, "store", &config)))
        return rc;
    loco_kvstore_fini(&store);
    return 0;
}

/* Runs the whole life of a node without its peer, in which one allocation fails. Returns 0 or the
 * first error. */
static int live(long failing)
{
    const struct loco_manager_config config = {
        .node = 0, .node_count = 2, .arena_size = 1 << 20, .block_count = 8};
    struct loco_fabric *fabric;
    struct loco_manager *manager;

    until_failure = failing;
    int rc = loco_shm_open(&fabric, in_folder("run"));
    if (rc)
        return rc;
    rc = loco_manager_open(&manager, fabric, &config);
    if (!rc) {
        rc = construct_each(manager);
        loco_manager_close(manager);
    }
    loco_shm_close(fabric);
    return rc;
}

/* An error is not required, as ending a channel also works without its allocations. */
Test(no_memory, is_an_error_of_the_setup, .init = folder_open, .fini = folder_close)
{
    long failures = 0;
    bool reached = true;

    for (long n = 0; reached; n++) {
        int rc = live(n);
        reached = until_failure < 0;
        until_failure = -1;
        cr_assert(rc == 0 || rc == -ENOMEM, "allocation %ld: %d", n, rc);
        failures += rc != 0;
    }
    cr_assert_gt(failures, 100);
}

/* --- tcp: the threads of the fabric --------------------------------------------------------------
 */

static bool is_up(const struct end *e)
{
    return e->ear.ups > e->ear.losts;
}

/* Runs the life of two nodes, in which one allocation of the fabric's threads fails. */
static void meet_and_part(struct loco_fabric *fabric, long failing)
{
    struct end ends[2];

    others_until_failure = failing;
    for (uint32_t id = 0; id < 2; id++) {
        cr_assert_eq(open_node(&ends[id], fabric, id, 2), 0);
        cr_assert_eq(map(&ends[id]), 0);
    }
    WAIT_UNTIL(&ends[0], is_up(&ends[0]) && is_up(&ends[1]));
    close_node(&ends[0]);
    WAIT_UNTIL(&ends[1], !is_up(&ends[1]));
    close_node(&ends[1]);
}

Test(no_memory, on_tcp_nodes_meet_and_part_all_the_same)
{
    const char *const addresses[] = {own_loopback(), own_loopback()};
    const struct loco_tcp_config config = {
        .addresses = addresses, .address_count = 2, .timeout_ms = 20000};
    struct loco_fabric *fabric;
    bool reached = true;
    long n = 0;

    is_the_tests = true;
    cr_assert_eq(loco_tcp_open(&fabric, &config), 0);
    for (; reached; n++) {
        meet_and_part(fabric, n);
        reached = others_until_failure < 0;
    }
    others_until_failure = -1;
    loco_tcp_close(fabric);
    cr_expect_gt(n, 10);
}

/* --- shm: a message that must be queued --------------------------------------------------------
 */

static _Atomic bool hears_nothing, heard_last;

/* Keeps the peer's control thread from receiving. */
static void hear_later(void *arg, uint32_t peer, const void *message, size_t size)
{
    (void)arg, (void)peer;
    while (hears_nothing)
        usleep(1000);
    if (size == 4 && !memcmp(message, "last", size))
        heard_last = true;
}

static void open_hearer(struct end *e, struct loco_fabric *fabric)
{
    struct loco_events events = ear_events(&e->ear);

    *e = (struct end){.fabric = fabric};
    events.message = hear_later;
    cr_assert_eq(fabric->ops->node_open(fabric, 1, 2, (struct loco_secret){0}, &events, &e->node),
                 0);
    cr_assert_eq(fabric->ops->meet(e->node, 0), 0);
}

/* Sends messages until one is queued, which takes memory. */
static void send_until_queued(const struct end *e)
{
    enum { MANY = 1000 };

    for (until_failure = MANY; until_failure == MANY;)
        cr_assert_eq(e->fabric->ops->send(e->node, 1, "hello", 5), 0);
    until_failure = -1;
}

/* The first message of a new arena has the memory file, and the second one says where the arena is.
 * A message that cannot be queued is an error of that call. The peer stays: it lives. */
static void miss_a_message(long failing)
{
    struct loco_fabric *fabrics[2];
    struct end ends[2];

    hears_nothing = true;
    heard_last = false;
    for (int i = 0; i < 2; i++)
        cr_assert_eq(loco_shm_open(&fabrics[i], in_folder("run")), 0);
    cr_assert_eq(open_node(&ends[0], fabrics[0], 0, 2), 0);
    open_hearer(&ends[1], fabrics[1]);
    WAIT_UNTIL(&ends[0], is_up(&ends[0]) && is_up(&ends[1]));
    send_until_queued(&ends[0]);
    until_failure = failing;
    cr_expect_eq(map(&ends[0]), -ENOMEM);
    cr_expect_eq(until_failure, -1, "the peer was told of the arena at once");
    cr_expect_eq(map(&ends[0]), 0);
    hears_nothing = false;
    cr_expect_eq(ends[0].fabric->ops->send(ends[0].node, 1, "last", 4), 0);
    WAIT_UNTIL(&ends[1], heard_last);
    for (int i = 0; i < 2; i++)
        cr_expect_eq(ends[i].ear.losts, 0);
    for (int i = 0; i < 2; i++) {
        close_node(&ends[i]);
        loco_shm_close(fabrics[i]);
    }
}

Test(no_memory, on_shm_no_peer_is_lost_with_a_message, .init = folder_open, .fini = folder_close)
{
    for (long failing = 0; failing < 2; failing++)
        miss_a_message(failing);
}

/* --- the core: a loss ----------------------------------------------------------------------------
 */

static _Atomic unsigned losses_told;

static void count_loss(struct loco_channel *c, uint32_t node)
{
    (void)c, (void)node;
    losses_told++;
}

Test(no_memory, a_loss_is_told_to_all_channels, .init = folder_open, .fini = folder_close)
{
    enum { CHANNELS = 200 };
    static const struct loco_channel_ops ops = {.on_lost = count_loss};
    static struct loco_channel channels[2][CHANNELS];
    struct loco_fabric *fabrics[2];
    struct loco_manager *m[2];
    char name[16];

    is_the_tests = true;
    for (uint32_t id = 0; id < 2; id++) {
        const struct loco_manager_config config = {.node = id, .node_count = 2};
        cr_assert_eq(loco_shm_open(&fabrics[id], in_folder("run")), 0);
        cr_assert_eq(loco_manager_open(&m[id], fabrics[id], &config), 0);
        for (int i = 0; i < CHANNELS; i++) {
            snprintf(name, sizeof name, "c%d", i);
            cr_assert_eq(loco_channel_init(&channels[id][i], m[id], NULL, name, LOCO_ALL, &ops), 0);
            loco_channel_join(&channels[id][i]);
        }
    }
    for (int id = 0; id < 2; id++)
        cr_assert_eq(loco_manager_ready(m[id], UINT64_MAX), 0);
    for (int i = 0; i < CHANNELS; i++)
        loco_channel_fini(&channels[1][i]);
    others_until_failure = 0;
    loco_manager_close(m[1]);
    struct loco_wait wait = loco_wait_for(m[0], 60000000000);
    while (losses_told < CHANNELS && !loco_relax(m[0], &wait))
        ;
    cr_expect_eq(losses_told, CHANNELS);
    others_until_failure = -1;
    for (int i = 0; i < CHANNELS; i++)
        loco_channel_fini(&channels[0][i]);
    loco_manager_close(m[0]);
    for (int id = 0; id < 2; id++)
        loco_shm_close(fabrics[id]);
}
