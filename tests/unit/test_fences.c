/* Tests fences, acks and endpoints when nodes die, threads end and channels are constructed again.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "channels/loco/fabric/language.h"
#include "tests/nodes.h"
#include "tests/temporary.h"

enum { CHAOS_SEEDS = 100 };

static void under_chaos(uint32_t count, void (*body)(struct node *n))
{
    for (uint64_t seed = 1; seed <= CHAOS_SEEDS; seed++)
        for (enum loco_sim_chaos chaos = LOCO_SIM_DELAYED; chaos <= LOCO_SIM_DEFERRED; chaos++)
            cr_assert_eq(run_chaos_nodes(seed, chaos, count, body, NULL), 0);
}

#define ON_EACH_FABRIC(test_name, count, body)                                                     \
    Test(fences, test_name##_sim)                                                                  \
    {                                                                                              \
        cr_assert_eq(run_nodes(ON_SIM, count, body, NULL), 0);                                     \
    }                                                                                              \
    Test(fences, test_name##_threads)                                                              \
    {                                                                                              \
        cr_assert_eq(run_nodes(ON_THREADS, count, body, NULL), 0);                                 \
    }                                                                                              \
    Test(fences, test_name##_one_process)                                                          \
    {                                                                                              \
        cr_assert_eq(run_nodes(ON_ONE_PROCESS, count, body, NULL), 0);                             \
    }                                                                                              \
    Test(fences, test_name##_processes)                                                            \
    {                                                                                              \
        cr_assert_eq(run_nodes(ON_PROCESSES, count, body, NULL), 0);                               \
    }                                                                                              \
    Test(fences, test_name##_chaos)                                                                \
    {                                                                                              \
        under_chaos(count, body);                                                                  \
    }

static uint64_t *words_of(const struct loco_shared_region *r)
{
    return loco_shared_region_local(r);
}

static uint64_t word(const struct loco_shared_region *r, unsigned index)
{
    return __atomic_load_n(words_of(r) + index, __ATOMIC_ACQUIRE);
}

static void set_word(const struct loco_shared_region *r, unsigned index, uint64_t value)
{
    __atomic_store_n(words_of(r) + index, value, __ATOMIC_RELEASE);
}

/* Reads a peer's word in the peer's memory. */
static uint64_t far_word(struct node *n, struct loco_shared_region *r, uint32_t peer,
                         unsigned index)
{
    uint64_t *block = loco_mem_ref_take(n->mgr);
    struct loco_ack ack = loco_shared_region_read(r, peer, 8 * index, block, 8);

    CHECK(n, loco_ack_wait(&ack, TEST_TIMEOUT) == 0);
    uint64_t value = *block;
    loco_mem_ref_put(n->mgr, block);
    return value;
}

/* --- a node dies to which nobody has written anything ----------------------------------------- */

enum { READY = 0 };

static void use_pair(struct node *n, struct loco_barrier *b, struct loco_ticket_lock *l)
{
    CHECK(n, loco_fence_thread(n->mgr) == 0);
    CHECK(n, loco_fence_global(n->mgr) == 0);
    CHECK(n, loco_fence_pair(n->mgr, 2) == 0);
    for (int i = 0; i < 3; i++) {
        CHECK(n, loco_ticket_lock_acquire(l) == 0);
        CHECK(n, loco_ticket_lock_release(l, LOCO_FENCE_THREAD) == 0);
        CHECK(n, loco_barrier_wait(b) == 0);
    }
}

static void bystander_body(struct node *n)
{
    const uint32_t other = 1 - n->id;
    const struct loco_members pair = {&other, 1};
    struct loco_shared_region r;
    struct loco_barrier b = {0};
    struct loco_ticket_lock l = {0};

    CHECK(n, loco_shared_region_init(&r, n->mgr, NULL, "r", LOCO_ALL, 64) == 0);
    if (n->id < 2) {
        CHECK(n, loco_barrier_init(&b, n->mgr, NULL, "b", pair) == 0);
        CHECK(n, loco_ticket_lock_init(&l, n->mgr, NULL, "l", 0, pair, 0) == 0);
    }
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
    set_word(&r, READY, 1);
    if (n->id == 2) {
        AWAIT(n, far_word(n, &r, 0, READY) && far_word(n, &r, 1, READY));
        if (n->where == ON_PROCESSES)
            node_end(n); /* without a restart: the others may be gone by then */
        node_die(n);
    } else {
        AWAIT(n, loco_peer_lost(n->mgr, 2));
        use_pair(n, &b, &l);
        loco_barrier_fini(&b);
        loco_ticket_lock_fini(&l);
    }
    loco_shared_region_fini(&r);
}

ON_EACH_FABRIC(a_bystanders_death_is_no_trouble, 3, bystander_body)

/* --- which threads learn of a loss, and how often --------------------------------------------- */

enum { WRITTEN = 1 };

struct helper {
    struct node *node;
    bool attached, go, ended;
};

/* Another thread of the node. It has written nothing itself. */
static void helper_body(void *arg)
{
    struct helper *h = arg;
    struct node *n = h->node;

    CHECK(n, loco_thread_attach(n->mgr) == 0);
    h->attached = true;
    AWAIT(n, h->go);
    CHECK(n, loco_fence_thread(n->mgr) == 0);
    CHECK(n, loco_fence_global(n->mgr) == -ECONNRESET);
    CHECK(n, loco_fence_global(n->mgr) == 0);
    loco_thread_detach(n->mgr);
    h->ended = true;
}

static void told_body(struct node *n)
{
    struct helper early = {.node = n};
    struct loco_shared_region r;
    const uint64_t one = 1;

    CHECK(n, loco_shared_region_init(&r, n->mgr, NULL, "r", LOCO_ALL, 64) == 0);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
    if (n->id == 1) {
        AWAIT(n, word(&r, WRITTEN));
        node_die(n);
    } else {
        CHECK(n, loco_sim_spawn(n->fabric, helper_body, &early) == 0);
        AWAIT(n, early.attached);
        loco_shared_region_write(&r, 1, 8 * WRITTEN, &one, 8);
        AWAIT(n, loco_peer_lost(n->mgr, 1));
        early.go = true;
        AWAIT(n, early.ended);
        CHECK(n, loco_fence_pair(n->mgr, 0) == 0);
        CHECK(n, loco_fence_pair(n->mgr, 1) == -ECONNRESET);
        CHECK(n, loco_fence_pair(n->mgr, 1) == 0);
        CHECK(n, loco_fence_thread(n->mgr) == 0);
        CHECK(n, loco_fence_global(n->mgr) == 0);
    }
    loco_shared_region_fini(&r);
}

Test(fences, each_thread_is_told_of_a_loss_once_chaos)
{
    under_chaos(2, told_body);
}

/* The barrier still works among the remaining nodes, though it reports the loss. */
static void barrier_body(struct node *n)
{
    const uint32_t other = 1 - n->id;
    struct loco_shared_region r;
    struct loco_barrier b = {0};
    const uint64_t one = 1;

    CHECK(n, loco_shared_region_init(&r, n->mgr, NULL, "r", LOCO_ALL, 64) == 0);
    if (n->id < 2)
        CHECK(n, loco_barrier_init(&b, n->mgr, NULL, "b", (struct loco_members){&other, 1}) == 0);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
    set_word(&r, READY, 1);
    if (n->id == 2) {
        AWAIT(n, word(&r, WRITTEN) && far_word(n, &r, 1, READY));
        node_die(n);
    } else if (n->id == 0) {
        loco_shared_region_write(&r, 2, 8 * WRITTEN, &one, 8);
        AWAIT(n, loco_peer_lost(n->mgr, 2));
        CHECK(n, loco_barrier_wait(&b) == -ECONNRESET);
        CHECK(n, word(&r, WRITTEN) == 1);
        CHECK(n, loco_barrier_wait(&b) == 0);
    } else {
        AWAIT(n, loco_peer_lost(n->mgr, 2));
        loco_shared_region_write(&r, 0, 8 * WRITTEN, &one, 8);
        CHECK(n, loco_barrier_wait(&b) == 0);
        CHECK(n, loco_barrier_wait(&b) == 0);
    }
    loco_barrier_fini(&b);
    loco_shared_region_fini(&r);
}

Test(fences, a_barrier_that_tells_of_a_loss_was_waited_for_chaos)
{
    under_chaos(3, barrier_body);
}

/* A wait whose time ended in the fence has not arrived. So the barrier has not passed, though all
 * nodes have arrived at the round before. */
static void barrier_in_fence_body(struct node *n)
{
    struct loco_shared_region r;
    struct loco_barrier b;
    const uint64_t one = 1;

    CHECK(n, loco_shared_region_init(&r, n->mgr, NULL, "r", LOCO_ALL, 64) == 0);
    CHECK(n, loco_barrier_init(&b, n->mgr, NULL, "b", LOCO_ALL) == 0);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
    CHECK(n, loco_barrier_wait(&b) == 0);
    if (n->id == 0) {
        loco_shared_region_write(&r, 1, 8 * WRITTEN, &one, 8);
        CHECK(n, loco_barrier_timed(&b, 0) == -ETIMEDOUT);
        CHECK(n, loco_barrier_passed(&b) == 0);
        loco_shared_region_write(&r, 1, 8 * READY, &one, 8);
    } else {
        AWAIT(n, word(&r, READY));
    }
    CHECK(n, loco_barrier_timed(&b, TEST_TIMEOUT) == 0);
    CHECK(n, loco_barrier_passed(&b) == 1);
    CHECK(n, b.count == 2);
    loco_barrier_fini(&b);
    loco_shared_region_fini(&r);
}

ON_EACH_FABRIC(a_barrier_given_up_in_its_fence_has_not_passed, 2, barrier_in_fence_body)

/* --- acks ------------------------------------------------------------------------------------- */

struct poster {
    struct node *node;
    struct loco_shared_region *region;
    struct loco_ack ack;
    bool ended;
};

static void poster_body(void *arg)
{
    struct poster *p = arg;
    const uint64_t one = 1;

    CHECK(p->node, loco_thread_attach(p->node->mgr) == 0);
    p->ack = loco_shared_region_write(p->region, 1, 0, &one, 8);
    loco_thread_detach(p->node->mgr);
    p->ended = true;
}

static void detached_body(struct node *n)
{
    struct loco_shared_region r;
    struct loco_barrier end;
    struct poster p = {.node = n, .region = &r};

    CHECK(n, loco_shared_region_init(&r, n->mgr, NULL, "r", LOCO_ALL, 64) == 0);
    CHECK(n, loco_barrier_init(&end, n->mgr, NULL, "end", LOCO_ALL) == 0);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
    for (int i = 0; n->id == 0 && i < 3; i++) {
        p.ended = false;
        CHECK(n, loco_sim_spawn(n->fabric, poster_body, &p) == 0);
        AWAIT(n, p.ended);
        CHECK(n, loco_ack_query(&p.ack) == 1);
    }
    CHECK(n, loco_barrier_wait(&end) == 0);
    loco_barrier_fini(&end);
    loco_shared_region_fini(&r);
}

Test(fences, an_ack_outlives_its_thread_chaos)
{
    under_chaos(2, detached_body);
}

/* Two threads push a variable in turn. A thread's fence waits for its own push. */
struct turn {
    struct node *node;
    struct loco_owned_var *var;
    uint64_t value;
    bool ended;
};

static void push_and_look(struct turn *t)
{
    struct node *n = t->node;
    uint64_t *there = loco_mem_ref_take(n->mgr);

    loco_owned_var_store(t->var, &t->value);
    CHECK(n, loco_owned_var_push(t->var).error == 0);
    CHECK(n, loco_fence_thread(n->mgr) == 0);
    struct loco_ack read = loco_region_read(t->var->region, 0, 0, there, sizeof *there);
    CHECK(n, loco_ack_wait(&read, TEST_TIMEOUT) == 0);
    CHECK(n, *there == t->value);
    loco_mem_ref_put(n->mgr, there);
}

static void turn_body(void *arg)
{
    struct turn *t = arg;

    CHECK(t->node, loco_thread_attach(t->node->mgr) == 0);
    push_and_look(t);
    loco_thread_detach(t->node->mgr);
    t->ended = true;
}

static void turns_body(struct node *n)
{
    struct loco_owned_var v;
    struct loco_barrier end;
    struct turn t = {.node = n, .var = &v};

    CHECK(n, loco_owned_var_init(&v, n->mgr, NULL, "v", 0, LOCO_ALL, sizeof t.value) == 0);
    CHECK(n, loco_barrier_init(&end, n->mgr, NULL, "end", LOCO_ALL) == 0);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
    for (int i = 0; n->id == 0 && i < 3; i++) {
        t.value++;
        push_and_look(&t);
        t.value++;
        t.ended = false;
        CHECK(n, loco_sim_spawn(n->fabric, turn_body, &t) == 0);
        AWAIT(n, t.ended);
    }
    CHECK(n, loco_barrier_wait(&end) == 0);
    loco_barrier_fini(&end);
    loco_owned_var_fini(&v);
}

Test(fences, threads_that_push_in_turn_fence_their_own_pushes_chaos)
{
    under_chaos(2, turns_body);
}

/* Writes to nodes 1 and 2 have the same source. Node 2 dies. The source is reused once the ack of
 * both is done, and node 1 must never see the new content. */
enum { SOURCE_WORDS = 32, ROUNDS = 6 };

static void union_body(struct node *n)
{
    struct loco_shared_region r;
    const uint32_t other = 1 - n->id;
    struct loco_barrier b = {0};

    CHECK(n, loco_shared_region_init(&r, n->mgr, NULL, "r", LOCO_ALL, 8 * SOURCE_WORDS) == 0);
    if (n->id < 2)
        CHECK(n, loco_barrier_init(&b, n->mgr, NULL, "b", (struct loco_members){&other, 1}) == 0);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
    if (n->id == 2) {
        AWAIT(n, word(&r, SOURCE_WORDS - 1) >= 2);
        node_die(n);
    }
    for (uint64_t i = 1; n->id == 0 && i <= ROUNDS; i++) {
        for (unsigned w = 0; w < SOURCE_WORDS; w++)
            set_word(&r, w, i);
        struct loco_ack first = loco_region_write(r.region, 1, 0, r.region->memory, r.region->size);
        struct loco_ack second =
            loco_region_write(r.region, 0, 0, r.region->memory, r.region->size);
        struct loco_ack both = loco_ack_union(first, second);
        int rc = loco_ack_wait(&both, TEST_TIMEOUT);
        CHECK(n, rc == 0 || rc == -ECONNRESET);
        for (unsigned w = 0; w < SOURCE_WORDS; w++)
            set_word(&r, w, 99);
    }
    if (n->id < 2) {
        int rc = loco_barrier_wait(&b);
        CHECK(n, rc == 0 || rc == -ECONNRESET);
        for (unsigned w = 0; n->id == 1 && w < SOURCE_WORDS; w++)
            CHECK(n, word(&r, w) == ROUNDS);
        loco_barrier_fini(&b);
    }
    loco_shared_region_fini(&r);
}

Test(fences, a_union_is_done_when_all_of_it_is_chaos)
{
    under_chaos(3, union_body);
}

/* Nodes 1 and 65 have the same bit in an ack. */
enum { MANY = 70, NEAR = 1, FAR = 65 };

static void aliased_body(struct node *n)
{
    const uint32_t ends[] = {NEAR, FAR}, zero = 0;
    const struct loco_members none = {&zero, 0}, center = {&zero, 1}, both = {ends, 2};
    const bool takes_part = n->id == NEAR || n->id == FAR;
    const uint64_t one = 1;
    struct loco_shared_region r;

    CHECK(n, loco_shared_region_init(&r, n->mgr, NULL, "r",
                                     n->id == 0   ? both
                                     : takes_part ? center
                                                  : none,
                                     64) == 0);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
    if (n->id == FAR) {
        AWAIT(n, word(&r, WRITTEN));
        node_die(n);
    } else if (n->id == NEAR) {
        AWAIT(n, word(&r, WRITTEN));
    } else if (n->id == 0) {
        struct loco_ack far = loco_shared_region_write(&r, FAR, 8 * WRITTEN, &one, 8);
        while (!loco_peer_lost(n->mgr, FAR)) /* some of these are in flight when node FAR dies */
            far = loco_ack_union(far, loco_shared_region_write(&r, FAR, 0, &one, 8));
        struct loco_ack near = loco_shared_region_write(&r, NEAR, 8 * WRITTEN, &one, 8);
        CHECK(n, loco_ack_wait(&near, TEST_TIMEOUT) == 0);
        CHECK(n, loco_ack_wait(&far, TEST_TIMEOUT) != -ETIMEDOUT);
        loco_fence_thread(n->mgr);
    }
    loco_shared_region_fini(&r);
}

Test(fences, an_ack_tells_of_its_own_peer_only_chaos)
{
    for (uint64_t seed = 1; seed <= 10; seed++)
        cr_assert_eq(run_chaos_nodes(seed, LOCO_SIM_DEFERRED, MANY, aliased_body, NULL), 0);
}

/* --- channels that are constructed again under their names ------------------------------------ */

/* Each time the rows have another size, so that endpoints of different times do not match. */
static void again_body(struct node *n)
{
    struct loco_barrier b;
    struct loco_sst s;

    CHECK(n, loco_barrier_init(&b, n->mgr, NULL, "b", LOCO_ALL) == 0);
    CHECK(n, loco_sst_init(&s, n->mgr, NULL, "s", LOCO_ALL, 8) == 0);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
    for (uint64_t round = 1; round <= 5 && !n->failures; round++) {
        uint64_t row[6] = {100 * n->id + round}, found[6] = {0};
        loco_sst_store_mine(&s, row);
        struct loco_ack ack = loco_sst_push_broadcast(&s);
        CHECK(n, loco_ack_wait(&ack, TEST_TIMEOUT) == 0);
        CHECK(n, loco_barrier_wait(&b) == 0);
        loco_sst_each (&s, other)
            CHECK(n,
                  loco_owned_var_load(other, found) == 0 && found[0] == 100 * other->owner + round);
        CHECK(n, loco_barrier_wait(&b) == 0);
        loco_sst_fini(&s);
        CHECK(n, loco_sst_init(&s, n->mgr, NULL, "s", LOCO_ALL, 8 + 8 * round) == 0);
        CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
    }
    CHECK(n, loco_barrier_wait(&b) == 0);
    loco_sst_fini(&s);
    loco_barrier_fini(&b);
}

ON_EACH_FABRIC(a_channel_is_constructed_again, 3, again_body)

/* --- a node that cannot be opened ------------------------------------------------------------- */

enum { ATTEMPTS = 50 };

static int open_node(struct loco_manager **m, const char *directory, uint32_t id, size_t arena,
                     loco_log_fn *log)
{
    const struct loco_manager_config config = {
        .node = id, .node_count = 2, .arena_size = arena, .log = log};
    struct loco_fabric *fabric;

    if (loco_shm_open(&fabric, directory))
        return 1;
    int rc = loco_manager_open(m, fabric, &config);
    if (rc)
        loco_shm_close(fabric);
    return rc;
}

static void close_node(struct loco_manager *m)
{
    struct loco_fabric *fabric = m->fabric;

    loco_manager_close(m);
    loco_shm_close(fabric);
}

/* The peer may greet the node at any moment while its opening fails. */
Test(fences, an_open_that_fails_returns)
{
    char directory[TEMPORARY_SIZE];
    struct loco_manager *m;

    cr_assert(temporary_folder(directory));
    cr_assert_eq(open_node(&m, directory, 0, 1 << 20, NULL), 0);
    for (int i = 0; i < ATTEMPTS; i++) {
        struct loco_manager *none;
        int rc = open_node(&none, directory, 1, (size_t)1 << 50, NULL);
        cr_assert(rc < 0, "it returned %d", rc);
    }
    close_node(m);
    rmdir(directory);
}

/* --- a peer whose memory cannot be mapped ----------------------------------------------------- */

static _Atomic bool said_so;

static void listen_for_arena(void *arg, enum loco_level level, const char *text)
{
    (void)arg;
    (void)level;
    if (strstr(text, "node 1 cannot map arena 0 of node 0"))
        said_so = true;
}

/* Limits the process's address space to this much more than it has. */
static void limit_space(size_t more)
{
    FILE *f = fopen("/proc/self/statm", "r");
    unsigned long pages = 0;

    cr_assert(f && fscanf(f, "%lu", &pages) == 1);
    fclose(f);
    const rlim_t limit = pages * (rlim_t)sysconf(_SC_PAGESIZE) + more;
    cr_assert_eq(setrlimit(RLIMIT_AS, &(struct rlimit){limit, limit}), 0);
}

/* QEMU's user emulation accepts a limit of the address space but does not apply it. */
static bool is_limited(size_t size)
{
    return mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED;
}

enum { LARGE = 256 << 20, UNLIMITED = 4 };

/* The smaller of the two nodes: both must be told why the other is out of reach. */
static int meet_in_little_space(const char *directory)
{
    struct loco_shared_region r;
    struct loco_manager *m;

    limit_space(64 << 20);
    if (!is_limited(LARGE))
        return UNLIMITED;
    if (open_node(&m, directory, 1, 1 << 20, listen_for_arena) ||
        loco_shared_region_init(&r, m, NULL, "r", LOCO_ALL, 64))
        return 2;
    struct loco_wait wait = loco_wait_for(m, TEST_TIMEOUT);
    while (!said_so && !loco_relax(m, &wait))
        ;
    return said_so && loco_manager_ready(m, TEST_TIMEOUT) == -EPROTO ? 0 : 3;
}

Test(fences, an_arena_that_cannot_be_mapped_is_said)
{
    char directory[TEMPORARY_SIZE];
    struct loco_shared_region r;
    struct loco_manager *m;
    int status;

#if defined(LOCO_ASAN) || defined(LOCO_TSAN)
    cr_skip_test("a sanitizer needs the address space that this test takes away");
#endif
    cr_assert(temporary_folder(directory));
    pid_t child = fork();
    if (child == 0)
        _exit(meet_in_little_space(directory));
    cr_assert_eq(open_node(&m, directory, 0, LARGE, NULL), 0);
    cr_assert_eq(loco_shared_region_init(&r, m, NULL, "r", LOCO_ALL, 64), 0);
    cr_assert_eq(waitpid(child, &status, 0), child);
    const int rc = loco_manager_ready(m, 0);
    loco_shared_region_fini(&r);
    close_node(m);
    rmdir(directory);
    cr_assert(WIFEXITED(status));
    if (WEXITSTATUS(status) == UNLIMITED)
        cr_skip_test("a process's address space cannot be limited here");
    cr_expect_eq(rc, -EPROTO, "it has been told");
    cr_assert_eq(WEXITSTATUS(status), 0);
}

static bool space_can_be_limited(void)
{
    int status;
    const pid_t child = fork();

    if (child == 0) {
        limit_space(64 << 20);
        _exit(is_limited(LARGE));
    }
    return waitpid(child, &status, 0) == child && WEXITSTATUS(status);
}

static void pass(struct node *n, struct loco_sst *progress, uint64_t stage)
{
    uint64_t seen = 0;

    loco_sst_store_mine(progress, &stage);
    loco_sst_push_broadcast(progress);
    for (uint32_t node = 0; node < n->count; node++)
        AWAIT(n, node == n->id ||
                     (!loco_owned_var_load(loco_sst_row(progress, node), &seen) && seen >= stage));
}

/* Nodes 0 and 2 have a channel for which node 1 has no room, while node 2 has the lock. */
static void live_apart(struct node *n)
{
    const uint32_t other = 2 - n->id;
    struct loco_sst progress;
    struct loco_ticket_lock lock;
    struct loco_shared_region large;

    CHECK(n, loco_sst_init(&progress, n->mgr, NULL, "progress", LOCO_ALL, 8) == 0);
    CHECK(n, loco_ticket_lock_init(&lock, n->mgr, NULL, "lock", 0, LOCO_ALL, 0) == 0);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
    if (n->id == 1)
        limit_space(64 << 20);
    if (n->id == 2)
        CHECK(n, loco_ticket_lock_acquire(&lock) == 0);
    pass(n, &progress, 1);
    if (n->id != 1) {
        const struct loco_members members = {&other, 1};
        CHECK(n, loco_shared_region_init(&large, n->mgr, NULL, "large", members, LARGE) == 0);
        CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
    } else {
        AWAIT(n, node_logged(n, "of node 0 (268435456 bytes)") &&
                     node_logged(n, "of node 2 (268435456 bytes)"));
        CHECK(n, loco_ticket_lock_try(&lock) == -EBUSY);
    }
    pass(n, &progress, 2);
    for (uint32_t node = 0; node < n->count; node++)
        CHECK(n, !loco_peer_lost(n->mgr, node));
    if (n->id == 2)
        CHECK(n, loco_ticket_lock_release(&lock, LOCO_FENCE_GLOBAL) == 0);
    CHECK(n, loco_ticket_lock_timed(&lock, TEST_TIMEOUT) == 0);
    CHECK(n, loco_ticket_lock_release(&lock, LOCO_FENCE_GLOBAL) == 0);
    pass(n, &progress, 3);
    if (n->id != 1)
        loco_shared_region_fini(&large);
    loco_ticket_lock_fini(&lock);
    loco_sst_fini(&progress);
}

/* Two live processes do not lose each other: they would take each other's locks. */
Test(fences, who_cannot_map_an_arena_takes_nobody_for_dead)
{
#if defined(LOCO_ASAN) || defined(LOCO_TSAN)
    cr_skip_test("a sanitizer needs the address space that this test takes away");
#endif
    if (!space_can_be_limited())
        cr_skip_test("a process's address space cannot be limited here");
    cr_assert_eq(run_nodes(ON_PROCESSES, 3, live_apart, NULL), 0);
}
