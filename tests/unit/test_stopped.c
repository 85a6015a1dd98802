/*
 * Tests that one of three members stands still: a stopped process, or a fiber that sleeps. Each
 * call of the others that waits for it must end by its deadline, and when the member goes on,
 * everything continues.
 *
 * On tcp, calls that need the member's answer time out. On shared memory and on the simulator the
 * member's memory remains accessible, so such calls succeed.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "channels/kvstore/kvstore_index.h"
#include "channels/kvstore/kvstore_locks.h"
#include "channels/thread_links.h"
#include "tests/nodes.h"

enum { NODES = 3, STILL = 2, QUEUED = 2, RING = 256, WINDOW = 4, CALLS = 8, STILLS_KEY = 0 };

/* Of a process: the first, the second, and a tracker for each store. */
enum { THREADS = 5 };

/* The time limit of a wait that must time out: more than a round trip. And a time longer than all
 * such waits on the simulator. */
static const uint64_t SHORT_NS = 200000, SLEEP_NS = 20000000;

/* Enough to attach, if all peers answer. */
static const uint64_t ATTACH_NS = 500000000;

struct members {
    struct node *n;
    struct loco_kvstore kv, left, acknowledged; /* the others end the last two meanwhile */
    struct loco_kv_window *window;
    struct loco_barrier bar;
    struct loco_ticket_lock near, far; /* hosted by node 0; by the stopped member */
    struct loco_shared_queue empty, full;
    struct loco_ringbuffer ring; /* from node 0 */
    struct loco_owned_var var;   /* owned by the stopped member */
    struct loco_atomic_var word; /* hosted by the same */
    struct loco_shared_region pids;
    uint64_t still;    /* the process that was stopped, at node 0 */
    bool serves, over; /* the stopped member's tracker, if a fiber */
    pthread_t second;  /* a thread that inserts, too; not on the simulator */
    _Atomic enum { ATTACHES, WAITS, INSERTS, HAS_INSERTED, DETACHES } does;
    int inserted; /* what the insert returned */
};

static bool on_sim(const struct node *n)
{
    return strcmp(n->fabric->ops->name, "sim") == 0;
}

/* The result of a call that needs an answer of the stopped member. */
static bool unanswered(const struct node *n, int rc)
{
    return rc == (strcmp(n->fabric->ops->name, "tcp") == 0 ? -ETIMEDOUT : 0);
}

/* --- the members ------------------------------------------------------------------------ */

static void tracker_fiber(void *arg)
{
    struct members *m = arg;
    struct loco_wait wait = {.until = UINT64_MAX};

    loco_thread_attach(m->n->mgr);
    while (!m->over) {
        if (m->serves)
            loco_kvstore_serve(&m->kv);
        loco_relax(m->n->mgr, &wait);
    }
    loco_thread_detach(m->n->mgr);
    m->over = false;
}

/* The first key from `key` on whose lock, and hence value, is at this node. */
static uint64_t key_at(const struct members *m, uint32_t host, uint64_t key)
{
    struct loco_kv_op op;

    for (;; key++) {
        op.hash = kv_hash(key);
        kv_lock_find(&op, &m->kv);
        if (op.lock_host == host)
            return key;
    }
}

/* Takes over the node's messages of the store. */
static void *second_thread(void *arg)
{
    struct members *m = arg;
    struct node *n = m->n;
    const uint64_t value = 7;

    CHECK(n, loco_thread_attach(n->mgr) == 0);
    m->does = WAITS;
    AWAIT(n, m->does == INSERTS || m->does == DETACHES);
    if (m->does == INSERTS) {
        const uint64_t key = key_at(m, n->id, 5000 + 1000 * n->id);
        m->inserted = loco_kvstore_insert_timed(&m->kv, key, &value, SHORT_NS);
        m->does = HAS_INSERTED;
        AWAIT(n, m->does == DETACHES);
    }
    loco_thread_detach(n->mgr);
    return NULL;
}

static unsigned threads_that_attached(const struct node *n)
{
    unsigned count = 0;

    loco_each_thread (n->mgr, t)
        count++;
    return count;
}

static void members_open(struct members *m, struct node *n)
{
    const struct loco_kvstore_config config = {.value_size = 8, .capacity = 64, .calls = CALLS};

    *m = (struct members){.n = n, .serves = true};
    CHECK(n, loco_kvstore_init(&m->kv, n->mgr, NULL, "kv", &config) == 0);
    CHECK(n, loco_kvstore_init(&m->left, n->mgr, NULL, "left", &config) == 0);
    CHECK(n, loco_kvstore_init(&m->acknowledged, n->mgr, NULL, "acked", &config) == 0);
    CHECK(n, loco_barrier_init(&m->bar, n->mgr, NULL, "bar", LOCO_ALL) == 0);
    CHECK(n, loco_ticket_lock_init(&m->near, n->mgr, NULL, "near", 0, LOCO_ALL, 4) == 0);
    CHECK(n, loco_ticket_lock_init(&m->far, n->mgr, NULL, "far", STILL, LOCO_ALL, 4) == 0);
    CHECK(n, loco_shared_queue_init(&m->empty, n->mgr, NULL, "empty", 0, LOCO_ALL, QUEUED, 8) == 0);
    CHECK(n, loco_shared_queue_init(&m->full, n->mgr, NULL, "full", 0, LOCO_ALL, QUEUED, 8) == 0);
    CHECK(n, loco_ringbuffer_init(&m->ring, n->mgr, NULL, "ring", 0, LOCO_ALL, RING, 8) == 0);
    CHECK(n, loco_owned_var_init(&m->var, n->mgr, NULL, "var", STILL, LOCO_ALL, 80) == 0);
    CHECK(n, loco_atomic_var_init(&m->word, n->mgr, NULL, "word", STILL, LOCO_ALL, 0) == 0);
    CHECK(n, loco_shared_region_init(&m->pids, n->mgr, NULL, "pids", LOCO_ALL, 8) == 0);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
    CHECK(n, loco_kv_window_open(&m->window, &m->kv, WINDOW) == 0);
    if (on_sim(n)) {
        CHECK(n, loco_sim_spawn(n->fabric, tracker_fiber, m) == 0);
        return;
    }
    CHECK(n, loco_kvstore_start_tracker(&m->kv) == 0);
    CHECK(n, loco_kvstore_start_tracker(&m->left) == 0);
    CHECK(n, loco_kvstore_start_tracker(&m->acknowledged) == 0);
    CHECK(n, pthread_create(&m->second, NULL, second_thread, m) == 0);
    AWAIT(n, m->does == WAITS);
    AWAIT(n, threads_that_attached(n) == THREADS);
}

static void members_close(struct members *m)
{
    struct loco_wait wait = {.until = UINT64_MAX};

    for (m->over = on_sim(m->n); m->over;)
        loco_relax(m->n->mgr, &wait);
    m->does = DETACHES;
    if (!on_sim(m->n))
        CHECK(m->n, pthread_join(m->second, NULL) == 0);
    loco_kv_window_close(m->window);
    loco_kvstore_fini(&m->kv);
    CHECK(m->n, loco_kvstore_fini_timed(&m->left, TEST_TIMEOUT) == 0);
    CHECK(m->n, loco_kvstore_fini_timed(&m->acknowledged, TEST_TIMEOUT) == 0);
    loco_barrier_fini(&m->bar);
    loco_ticket_lock_fini(&m->near);
    loco_ticket_lock_fini(&m->far);
    loco_shared_queue_fini(&m->empty);
    loco_shared_queue_fini(&m->full);
    loco_ringbuffer_fini(&m->ring);
    loco_owned_var_fini(&m->var);
    loco_atomic_var_fini(&m->word);
    loco_shared_region_fini(&m->pids);
}

static void meet(struct members *m)
{
    CHECK(m->n, loco_barrier_timed(&m->bar, TEST_TIMEOUT) == 0);
}

/* --- standing still ----------------------------------------------------------------------- */

static uint64_t *pid_here(const struct members *m)
{
    return loco_shared_region_local(&m->pids);
}

/* Whether this node knows of the stopped member's insert. */
static bool knows_key(const struct loco_kvstore *store)
{
    return kv_index_find(store->index, kv_hash(STILLS_KEY)).host != KV_NOWHERE;
}

static void stop_process(struct members *m)
{
    const uint64_t pid = (uint64_t)getpid();

    loco_shared_region_write(&m->pids, 0, 0, &pid, sizeof pid);
    CHECK(m->n, loco_fence_pair(m->n->mgr, 0) == 0);
    raise(SIGSTOP);
}

static void stand_still_as_process(struct members *m)
{
    struct node *n = m->n;
    const uint64_t value = 7;
    struct loco_kv_window *window;

    CHECK(n, loco_kv_window_open(&window, &m->acknowledged, 1) == 0);
    struct loco_kv_op *insert = loco_kv_window_op(window, 0);
    loco_kv_start_insert(insert, STILLS_KEY, &value);
    AWAIT(n, knows_key(&m->acknowledged), loco_kv_poll(insert));
    stop_process(m);
    AWAIT(n, loco_kv_poll(insert));
    loco_kv_window_close(window);
}

static void stand_still(struct members *m)
{
    if (!on_sim(m->n)) {
        stand_still_as_process(m);
        return;
    }
    m->serves = false;
    loco_sim_sleep(m->n->fabric, loco_sim_now(m->n->fabric) + SLEEP_NS, LOCO_SIM_FIRST);
    m->serves = true;
}

static bool is_stopped(uint64_t pid)
{
    char path[64], state = 0;

    snprintf(path, sizeof path, "/proc/%llu/stat", (unsigned long long)pid);
    FILE *file = fopen(path, "r");
    if (file && fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
        state = 0;
    if (file)
        fclose(file);
    return state == 'T';
}

/* Node 1 learns of the stop from node 0. */
static void see_it_stop(struct members *m)
{
    const uint64_t seen = 1;

    if (m->n->id == 0 && !on_sim(m->n)) {
        AWAIT(m->n, is_stopped(m->still = __atomic_load_n(pid_here(m), __ATOMIC_ACQUIRE)));
        loco_shared_region_write(&m->pids, 1, 0, &seen, sizeof seen);
    } else if (!on_sim(m->n)) {
        AWAIT(m->n, __atomic_load_n(pid_here(m), __ATOMIC_ACQUIRE));
    }
}

/* Node 0 lets the member go on when node 1 is done, too. */
static void let_it_go_on(struct members *m)
{
    const uint64_t enough = 0;

    if (m->n->id == 1) {
        loco_shared_region_write(&m->pids, 0, 0, &enough, sizeof enough);
    } else if (!on_sim(m->n)) {
        AWAIT(m->n, !__atomic_load_n(pid_here(m), __ATOMIC_ACQUIRE));
        CHECK(m->n, m->still && kill((pid_t)m->still, SIGCONT) == 0);
    }
}

/* --- the others ---------------------------------------------------------------------------- */

static void store_waits(struct members *m, uint64_t near, uint64_t far)
{
    struct node *n = m->n;
    const uint64_t own = key_at(m, n->id, 1000 + 1000 * n->id), value = 7;
    uint64_t got;

    CHECK(n, loco_kvstore_read_timed(&m->kv, near, &got, TEST_TIMEOUT) == 0 && got == 5);
    CHECK(n, loco_kvstore_update_timed(&m->kv, near, &got, TEST_TIMEOUT) == 0);
    CHECK(n, unanswered(n, loco_kvstore_read_timed(&m->kv, far, &got, SHORT_NS)));
    CHECK(n, loco_kvstore_insert_timed(&m->kv, own, &value, SHORT_NS) == -ETIMEDOUT);
    /* An operation that holds the key's lock. */
    CHECK(n, loco_kvstore_update_timed(&m->kv, own, &value, SHORT_NS) == -ETIMEDOUT);
    CHECK(n, loco_kvstore_delete_timed(&m->kv, own, SHORT_NS) == -ETIMEDOUT);
    CHECK(n, loco_kvstore_read_timed(&m->kv, own, &got, SHORT_NS) != 0);
}

/* Many more calls are given up than a node has. What does not wait for the stopped member goes on.
 */
static void calls_go_on(struct members *m, uint64_t near, uint64_t far)
{
    struct node *n = m->n;
    const uint64_t first = 30000 + 10000 * n->id, value = 7;
    uint64_t got;

    for (uint64_t i = 0; i <= CALLS; i++) {
        const uint64_t own = key_at(m, n->id, first + 100 * i);
        CHECK(n, loco_kvstore_insert_timed(&m->kv, own, &value, SHORT_NS) == -ETIMEDOUT);
        CHECK(n, loco_kvstore_update_timed(&m->kv, key_at(m, n->id, first), &value, SHORT_NS) != 0);
        CHECK(n, unanswered(n, loco_kvstore_read_timed(&m->kv, far, &got, SHORT_NS)));
    }
    CHECK(n, loco_kvstore_read_timed(&m->kv, near, &got, TEST_TIMEOUT) == 0 && got == 5);
    CHECK(n, loco_kvstore_update_timed(&m->kv, near, &got, TEST_TIMEOUT) == 0);
}

/* An operation that ran out of time, and an acknowledgement by a tracker's thread, are on their way
 * to the stopped member when their stores end. */
static void stores_end(struct members *m)
{
    struct node *n = m->n;
    const uint64_t own = key_at(m, n->id, 0), value = 7;
    /* A thread that ends also takes its time. */
    const uint64_t limit_ns = on_tcp() ? SHORT_NS : TEST_TIMEOUT;

    CHECK(n, loco_kvstore_insert_timed(&m->left, own, &value, SHORT_NS) == -ETIMEDOUT);
    CHECK(n, loco_kvstore_stop_timed(&m->left, TEST_TIMEOUT) == 0);
    CHECK(n, unanswered(n, loco_kvstore_fini_timed(&m->left, SHORT_NS)));
    AWAIT(n, knows_key(&m->acknowledged));
    CHECK(n, unanswered(n, loco_kvstore_stop_timed(&m->acknowledged, limit_ns)));
    CHECK(n, unanswered(n, loco_kvstore_fini_timed(&m->acknowledged, limit_ns)));
}

/* What the first thread has sent to the stopped member is on its way. */
static void second_waits(struct members *m)
{
    m->does = INSERTS;
    AWAIT(m->n, m->does == HAS_INSERTED);
    CHECK(m->n, m->inserted == -ETIMEDOUT);
}

static bool is_done_in_time(struct members *m, struct loco_kv_op *op, uint64_t timeout_ns)
{
    struct loco_wait wait = loco_wait_for(m->n->mgr, timeout_ns);

    while (!loco_kv_poll(op))
        if (loco_relax(m->n->mgr, &wait))
            return false;
    return true;
}

static uint64_t windowed_key(const struct members *m)
{
    return key_at(m, m->n->id, 10000 + 1000 * m->n->id);
}

/* A window with operations that wait for the member can be closed. The tracker finishes them. */
static void window_closes(struct members *m, uint64_t far)
{
    struct loco_kv_window *w;
    const uint64_t value = 7;

    CHECK(m->n, loco_kv_window_open(&w, &m->kv, 3) == 0);
    loco_kv_start_insert(loco_kv_window_op(w, 0), windowed_key(m) + 1, &value);
    loco_kv_start_read(loco_kv_window_op(w, 1), far);
    CHECK(m->n, !is_done_in_time(m, loco_kv_window_op(w, 0), SHORT_NS));
    loco_kv_start_update(loco_kv_window_op(w, 2), windowed_key(m) + 1, &value); /* not begun yet */
    loco_kv_cancel(loco_kv_window_op(w, 2));
    loco_kv_window_close(w);
}

/* Starting and polling do not wait for any node. Operations that do not end meanwhile end when the
 * member goes on. */
static void window_waits(struct members *m, uint64_t near, uint64_t far)
{
    struct node *n = m->n;
    const uint64_t value = 7;
    struct loco_kv_op *op[WINDOW];

    for (unsigned i = 0; i < WINDOW; i++)
        op[i] = loco_kv_window_op(m->window, i);
    loco_kv_start_insert(op[0], windowed_key(m), &value);
    loco_kv_start_update(op[1], windowed_key(m), &value); /* waits behind the insert */
    loco_kv_start_read(op[2], near);
    loco_kv_start_read(op[3], far);
    CHECK(n, is_done_in_time(m, op[2], TEST_TIMEOUT) && op[2]->result == 0);
    CHECK(n, unanswered(n, is_done_in_time(m, op[3], SHORT_NS) ? op[3]->result : -ETIMEDOUT));
    CHECK(n, !is_done_in_time(m, op[0], SHORT_NS) && !is_done_in_time(m, op[1], SHORT_NS));
    window_closes(m, far);
}

static void all_use_the_window(struct members *m)
{
    struct node *n = m->n;
    const uint64_t value = 8;

    for (unsigned i = 0; n->id != STILL && i < WINDOW; i++) {
        struct loco_kv_op *op = loco_kv_window_op(m->window, i);
        CHECK(n, is_done_in_time(m, op, TEST_TIMEOUT) && op->result == 0);
    }
    if (n->id == STILL)
        return;
    CHECK(n, loco_kvstore_delete(&m->kv, windowed_key(m)) == 0);
    /* The insert of the window that was closed had begun or not; it has given its lock back. */
    const int rc = loco_kvstore_delete(&m->kv, windowed_key(m) + 1);
    CHECK(n, rc == 0 || rc == -ENOENT);
    CHECK(n, loco_kvstore_insert(&m->kv, windowed_key(m) + 1, &value) == 0);
    CHECK(n, loco_kvstore_delete(&m->kv, windowed_key(m) + 1) == 0);
    AWAIT(n, !atomic_load(&m->kv.windows_left));
}

static void queues_wait(struct members *m)
{
    struct node *n = m->n;
    uint64_t entry = 0;

    CHECK(n, loco_shared_queue_pop(&m->empty, &entry, SHORT_NS) == -ETIMEDOUT);
    CHECK(n, loco_shared_queue_push(&m->full, &entry, SHORT_NS) == -ETIMEDOUT);
}

static void ring_waits(struct members *m)
{
    struct loco_message message;
    uint64_t sent, last = 0;
    int rc;

    if (m->n->id == 1) {
        CHECK(m->n, loco_ringbuffer_receive_wait(&m->ring, &message, TEST_TIMEOUT) == 0);
        return;
    }
    for (sent = 1; (rc = loco_ringbuffer_send_wait(&m->ring, &sent, 8, &last, SHORT_NS)) == 0;)
        sent++;
    CHECK(m->n, rc == -ETIMEDOUT && sent > 1);
    CHECK(m->n, loco_ringbuffer_send(&m->ring, &sent, 8, NULL) == -EAGAIN);
    CHECK(m->n, loco_ringbuffer_wait(&m->ring, last, SHORT_NS) == -ETIMEDOUT);
}

static void memory_waits(struct members *m)
{
    struct node *n = m->n;
    const struct loco_atomic_word word = loco_atomic_of(&m->word);
    uint64_t value[10] = {0};

    CHECK(n, loco_owned_var_load(&m->var, value) == 0 && value[9] == 3);
    CHECK(n, unanswered(n, loco_owned_var_read_timed(&m->var, value, SHORT_NS)));
    CHECK(n, unanswered(n, loco_owned_var_read_timed(&m->var, value, SHORT_NS)));
    CHECK(n, unanswered(n, loco_atomic_load_timed(word, value, SHORT_NS)));
    CHECK(n, unanswered(n, loco_atomic_fetch_add_timed(word, 1, value, SHORT_NS)));
    CHECK(n, unanswered(n, loco_atomic_compare_swap_timed(word, 1, 2, value, SHORT_NS)));
    CHECK(n, unanswered(n, loco_atomic_exchange_timed(word, 1, value, SHORT_NS)));
    CHECK(n, unanswered(n, loco_atomic_store_timed(word, 1, SHORT_NS)));
    value[0] = n->id;
    loco_shared_region_write(&m->pids, STILL, 0, value, 8);
    CHECK(n, unanswered(n, loco_fence_pair_timed(n->mgr, STILL, SHORT_NS)));
    CHECK(n, unanswered(n, loco_fence_thread_timed(n->mgr, SHORT_NS)));
    CHECK(n, unanswered(n, loco_fence_global_timed(n->mgr, SHORT_NS)));
    CHECK(n, loco_fence_pair_timed(n->mgr, 1 - n->id, TEST_TIMEOUT) == 0);
}

/* Only node 0, as a second node would wait for the first. */
static void locks_wait(struct members *m)
{
    struct node *n = m->n;

    CHECK(n, loco_ticket_lock_timed(&m->near, SHORT_NS) == -ETIMEDOUT);
    if (n->id == 1)
        return;
    int rc = loco_ticket_lock_timed(&m->far, SHORT_NS);
    CHECK(n, unanswered(n, rc));
    if (rc == 0)
        CHECK(n, loco_ticket_lock_release_timed(&m->far, LOCO_FENCE_NONE, SHORT_NS) == 0);
}

/* Over RDMA each link needs an answer of its peer. */
static void *attaching_thread(void *arg)
{
    const struct members *m = arg;
    const bool answers = on_verbs();
    const int rc = loco_thread_attach_timed(m->n->mgr, answers ? ATTACH_NS : TEST_TIMEOUT);

    CHECK(m->n, rc == (answers ? -ETIMEDOUT : 0));
    if (rc == 0)
        loco_thread_detach(m->n->mgr);
    return NULL;
}

static void attach_waits(struct members *m)
{
    pthread_t thread;

    CHECK(m->n, pthread_create(&thread, NULL, attaching_thread, m) == 0);
    CHECK(m->n, pthread_join(thread, NULL) == 0);
}

static void others_wait(struct members *m, uint64_t near, uint64_t far)
{
    see_it_stop(m);
    if (!on_sim(m->n))
        attach_waits(m);
    memory_waits(m);
    locks_wait(m);
    queues_wait(m);
    ring_waits(m);
    store_waits(m, near, far);
    calls_go_on(m, near, far);
    window_waits(m, near, far);
    if (!on_sim(m->n)) {
        second_waits(m);
        stores_end(m);
    }
    CHECK(m->n, loco_barrier_timed(&m->bar, SHORT_NS) == -ETIMEDOUT);
    CHECK(m->n, loco_barrier_timed(&m->bar, 0) == -ETIMEDOUT);
    let_it_go_on(m);
}

/* --- and afterwards ------------------------------------------------------------------------ */

static void all_use_locks(struct members *m)
{
    CHECK(m->n, loco_ticket_lock_timed(&m->near, TEST_TIMEOUT) == 0);
    CHECK(m->n, loco_ticket_lock_release(&m->near, LOCO_FENCE_GLOBAL) == 0);
    CHECK(m->n, loco_ticket_lock_acquire(&m->far) == 0);
    CHECK(m->n, loco_ticket_lock_release(&m->far, LOCO_FENCE_GLOBAL) == 0);
}

/* All sent messages arrive, in order. */
static void all_use_the_ring(struct members *m)
{
    struct loco_message message = {0};
    uint64_t last = 1000, got = 0;

    if (m->n->id == 0)
        CHECK(m->n, loco_ringbuffer_send_wait(&m->ring, &last, 8, NULL, TEST_TIMEOUT) == 0);
    for (uint64_t next = m->n->id == 1 ? 2 : 1; m->n->id != 0 && got != last; next++) {
        if (loco_ringbuffer_receive_wait(&m->ring, &message, TEST_TIMEOUT) != 0)
            break;
        memcpy(&got, message.data, sizeof got);
        CHECK(m->n, got == next || got == last);
        loco_ringbuffer_acknowledge(&m->ring, message.position);
    }
    CHECK(m->n, m->n->id == 0 || got == last);
}

static void all_use_queues(struct members *m)
{
    uint64_t entry = m->n->id;

    CHECK(m->n, loco_shared_queue_push(&m->empty, &entry, TEST_TIMEOUT) == 0);
    CHECK(m->n, loco_shared_queue_pop(&m->empty, &entry, TEST_TIMEOUT) == 0);
    if (m->n->id != STILL)
        CHECK(m->n, loco_shared_queue_pop(&m->full, &entry, TEST_TIMEOUT) == 0);
}

/* An operation that timed out took effect or not. In either case the key can be used again and no
 * lock is kept. */
static void all_use_the_store(struct members *m)
{
    struct node *n = m->n;
    const uint64_t own = key_at(m, n->id, 1000 + 1000 * n->id), value = 9;
    uint64_t got = 0;
    int rc = loco_kvstore_insert(&m->kv, own, &value);

    CHECK(n, rc == 0 || (rc == -EEXIST && loco_kvstore_update(&m->kv, own, &value) == 0));
    CHECK(n, loco_kvstore_read(&m->kv, own, &got) == 0 && got == 9);
    CHECK(n, loco_kvstore_delete(&m->kv, own) == 0);
    CHECK(n, loco_kvstore_read(&m->kv, own, &got) == -ENOENT);
}

static void all_go_on(struct members *m)
{
    uint64_t value[10];

    meet(m);
    all_use_locks(m);
    all_use_the_ring(m);
    all_use_queues(m);
    all_use_the_store(m);
    all_use_the_window(m);
    CHECK(m->n, loco_owned_var_read(&m->var, value) == 0);
    CHECK(m->n, loco_atomic_fetch_add(loco_atomic_of(&m->word), 1, value) == 0);
    meet(m);
}

static void stopped_body(struct node *n)
{
    struct members m;
    uint64_t value = 5;

    members_open(&m, n);
    const uint64_t near = key_at(&m, 0, 0), far = key_at(&m, STILL, 0);
    if (n->id == 0) {
        CHECK(n, loco_kvstore_insert(&m.kv, near, &value) == 0);
        CHECK(n, loco_kvstore_insert(&m.kv, far, &value) == 0);
        for (int i = 0; i < QUEUED; i++)
            CHECK(n, loco_shared_queue_push(&m.full, &value, TEST_TIMEOUT) == 0);
    }
    meet(&m);
    if (n->id == STILL) {
        CHECK(n, loco_ticket_lock_acquire(&m.near) == 0);
        loco_owned_var_put(&m.var, (uint64_t[10]){[9] = 3});
    }
    meet(&m);
    if (n->id == STILL) {
        stand_still(&m);
        CHECK(n, loco_ticket_lock_release(&m.near, LOCO_FENCE_NONE) == 0);
    } else {
        others_wait(&m, near, far);
    }
    all_go_on(&m);
    members_close(&m);
}

Test(stopped, others_end_in_time_sim)
{
    cr_assert_eq(run_nodes(ON_SIM, NODES, stopped_body, NULL), 0);
}

Test(stopped, others_end_in_time_processes)
{
    cr_assert_eq(run_nodes(ON_PROCESSES, NODES, stopped_body, NULL), 0);
}

/* --- and another dies ---------------------------------------------------------------------- */

enum { DEAD = 1 };

static void lock_orphaned(struct members *m)
{
    struct node *n = m->n;

    AWAIT(n, loco_peer_lost(n->mgr, DEAD));
    /* In shared memory a dead node's stores ended with it, so the others need not say anything. */
    const bool freed = n->fabric->capabilities & LOCO_COHERENT;
    const int rc = loco_ticket_lock_timed(&m->near, SHORT_NS);
    CHECK(n, rc == (freed ? 0 : -ETIMEDOUT));
    if (rc == 0)
        CHECK(n, loco_ticket_lock_release(&m->near, LOCO_FENCE_NONE) == 0);
    CHECK(n, kill((pid_t)m->still, SIGCONT) == 0);
}

/* A lock whose holder died is freed when all others have lost the holder. One of them stands still,
 * so it cannot say so. */
static void orphaned_body(struct node *n)
{
    struct members m = {.n = n};
    const uint64_t over = 0;

    if (n->life > 0)
        return;
    CHECK(n, loco_barrier_init(&m.bar, n->mgr, NULL, "bar", LOCO_ALL) == 0);
    CHECK(n, loco_ticket_lock_init(&m.near, n->mgr, NULL, "near", 0, LOCO_ALL, 4) == 0);
    CHECK(n, loco_shared_region_init(&m.pids, n->mgr, NULL, "pids", LOCO_ALL, 8) == 0);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
    if (n->id == DEAD)
        CHECK(n, loco_ticket_lock_acquire(&m.near) == 0);
    meet(&m);
    if (n->id == STILL)
        stop_process(&m);
    else
        see_it_stop(&m);
    if (n->id == DEAD)
        node_die(n);
    if (n->id == 0)
        lock_orphaned(&m);
    CHECK(n, loco_ticket_lock_timed(&m.near, TEST_TIMEOUT) == 0);
    CHECK(n, loco_ticket_lock_release(&m.near, LOCO_FENCE_NONE) == 0);
    if (n->id == STILL)
        loco_shared_region_write(&m.pids, 0, 0, &over, sizeof over);
    else
        AWAIT(n, !__atomic_load_n(pid_here(&m), __ATOMIC_ACQUIRE));
    loco_barrier_fini(&m.bar);
    loco_ticket_lock_fini(&m.near);
    loco_shared_region_fini(&m.pids);
}

Test(stopped, a_dead_holders_lock_is_given_up_in_time_processes)
{
    cr_assert_eq(run_nodes(ON_PROCESSES, NODES, orphaned_body, NULL), 0);
}

/* --- while a link is opened ------------------------------------------------------------------ */

static const struct loco_fabric_ops *true_ops;
static _Atomic bool answers, opens;

/* In place of the fabric's: the peer answers when the test says so. */
static int link_open_with_answer(struct loco_node *node, uint32_t peer, uint64_t until,
                                 struct loco_link **link)
{
    struct loco_wait wait = {.until = until};

    for (opens = true; !answers; true_ops->relax(node, &wait))
        if (true_ops->clock(node) >= until)
            return -ETIMEDOUT;
    return true_ops->link_open(node, peer, until, link);
}

static void *attach_for_long(void *arg)
{
    struct node *n = arg;

    CHECK(n, loco_thread_attach(n->mgr) == 0);
    return NULL;
}

static void *attach_in_time(void *arg)
{
    struct node *n = arg;

    CHECK(n, loco_thread_attach_timed(n->mgr, SHORT_NS) == -ETIMEDOUT);
    CHECK(n, loco_fence_thread(n->mgr) == -EPERM);
    answers = true;
    CHECK(n, loco_thread_attach_timed(n->mgr, TEST_TIMEOUT) == 0);
    CHECK(n, loco_fence_thread(n->mgr) == 0);
    loco_thread_detach(n->mgr);
    return NULL;
}

/* Replaces the fabric's link_open, and lets a thread begin to open a link. It holds the manager's
 * lock meanwhile. */
static pthread_t begin_to_open(struct node *n, struct loco_fabric_ops *spy)
{
    pthread_t thread;

    true_ops = n->fabric->ops;
    *spy = *true_ops;
    spy->link_open = link_open_with_answer;
    n->fabric->ops = spy;
    CHECK(n, pthread_create(&thread, NULL, attach_for_long, n) == 0);
    AWAIT(n, opens);
    return thread;
}

static void end_opening(struct node *n, pthread_t thread)
{
    answers = true;
    CHECK(n, pthread_join(thread, NULL) == 0);
}

static void calls_wait_for_opener(struct node *n, struct loco_barrier *bar)
{
    CHECK(n, loco_manager_ready(n->mgr, 0) == -ETIMEDOUT);
    CHECK(n, !n->log[0]);
    CHECK(n, loco_manager_ready(n->mgr, SHORT_NS) == -ETIMEDOUT);
    CHECK(n, node_logged(n, "a link is being opened"));
    CHECK(n, loco_thread_attach_timed(n->mgr, SHORT_NS) == -ETIMEDOUT);
    CHECK(n, loco_thread_detach_timed(n->mgr, SHORT_NS) == -ETIMEDOUT);
    CHECK(n, loco_barrier_timed(bar, SHORT_NS) == -ETIMEDOUT);
}

/* The first thread stays attached, so that the second has to open a link of its own. */
static void opening_body(struct node *n)
{
    struct loco_fabric_ops spy;
    struct loco_barrier bar;
    pthread_t second;

    CHECK(n, loco_barrier_init(&bar, n->mgr, NULL, "bar", LOCO_ALL) == 0);
    const pthread_t first = begin_to_open(n, &spy);
    calls_wait_for_opener(n, &bar);
    end_opening(n, first);
    CHECK(n, loco_manager_ready(n->mgr, 0) == 0);
    CHECK(n, loco_barrier_timed(&bar, SHORT_NS) == 0);
    answers = false;
    CHECK(n, pthread_create(&second, NULL, attach_in_time, n) == 0);
    CHECK(n, pthread_join(second, NULL) == 0);
    n->fabric->ops = true_ops;
    loco_barrier_fini(&bar);
}

Test(stopped, calls_end_in_time_while_a_link_is_opened)
{
    cr_assert_eq(run_nodes(ON_THREADS, 1, opening_body, NULL), 0);
}

/* --- while one of the peers opens no link ---------------------------------------------------- */

static unsigned links_opened;

/* In place of the fabric's: the last node does not answer. */
static int link_open_without_last(struct loco_node *node, uint32_t peer, uint64_t until,
                                  struct loco_link **link)
{
    if (peer == NODES - 1 && !answers)
        return -ETIMEDOUT;
    const int rc = true_ops->link_open(node, peer, until, link);
    links_opened += rc == 0; /* on a slow machine it may be too late, and is tried again */
    return rc;
}

/* A fabric may have a limited number of links, so those to the others are not opened again. */
static void *attach_again_and_again(void *arg)
{
    struct node *n = arg;

    for (int i = 0; i < 5; i++)
        CHECK(n, loco_thread_attach_timed(n->mgr, SHORT_NS) == -ETIMEDOUT);
    answers = true;
    CHECK(n, loco_thread_attach_timed(n->mgr, TEST_TIMEOUT) == 0);
    CHECK(n, links_opened == NODES);
    CHECK(n, loco_fence_thread(n->mgr) == 0);
    loco_thread_detach(n->mgr);
    return NULL;
}

static void retrying_body(struct node *n)
{
    struct loco_fabric_ops spy;
    struct loco_barrier bar;
    pthread_t thread;

    CHECK(n, loco_barrier_init(&bar, n->mgr, NULL, "bar", LOCO_ALL) == 0);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
    CHECK(n, loco_barrier_wait(&bar) == 0);
    if (n->id == 0) {
        true_ops = n->fabric->ops;
        spy = *true_ops;
        spy.link_open = link_open_without_last;
        n->fabric->ops = &spy;
        CHECK(n, pthread_create(&thread, NULL, attach_again_and_again, n) == 0);
        CHECK(n, pthread_join(thread, NULL) == 0);
        n->fabric->ops = true_ops;
    }
    CHECK(n, loco_barrier_wait(&bar) == 0);
    loco_barrier_fini(&bar);
}

Test(stopped, retried_attaches_open_no_link_twice_processes)
{
    cr_assert_eq(run_nodes(ON_PROCESSES, NODES, retrying_body, NULL), 0);
}

/* A fence learns that a write was lost, while another thread opens a link. */
static void losing_body(struct node *n)
{
    struct loco_shared_region words;
    struct loco_fabric_ops spy;
    const uint64_t value = 7;

    if (n->life > 0)
        return;
    CHECK(n, loco_shared_region_init(&words, n->mgr, NULL, "words", LOCO_ALL, 8) == 0);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
    if (n->id == 1) {
        AWAIT(n, __atomic_load_n((uint64_t *)loco_shared_region_local(&words), __ATOMIC_ACQUIRE));
        node_end(n);
    }
    loco_shared_region_write(&words, 1, 0, &value, sizeof value);
    AWAIT(n, loco_peer_lost(n->mgr, 1));
    const pthread_t opener = begin_to_open(n, &spy);
    const int rc = loco_fence_thread_timed(n->mgr, SHORT_NS);
    CHECK(n, rc == (n->fabric->capabilities & LOCO_COHERENT ? 0 : -ECONNRESET));
    end_opening(n, opener);
    n->fabric->ops = true_ops;
    loco_shared_region_fini(&words);
}

Test(stopped, a_fence_ends_in_time_while_a_link_is_opened_processes)
{
    cr_assert_eq(run_nodes(ON_PROCESSES, 2, losing_body, NULL), 0);
}
