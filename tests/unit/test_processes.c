/*
 * Tests processes with many nodes on the shm fabric: the number of open files does not grow with
 * their nodes, and each node still comes and goes separately. Where no process is killed, a fabric
 * stands for a process.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/nodes.h"
#include "tests/temporary.h"

static const struct loco_secret one = {"0123456789abcdef", 16}, other = {"0123456789abcdeg", 16};

static char directory[TEMPORARY_SIZE];

static void make_directory(void)
{
    cr_assert(temporary_folder(directory));
}

/* --- nodes ------------------------------------------------------------------------------------ */

/* A node with a value of its own, which all the others have. */
struct member {
    struct loco_manager *mgr;
    struct loco_sst values;
};

static int open_manager(struct loco_manager **mgr, struct loco_fabric *fabric, uint32_t id,
                        uint32_t count, struct loco_secret secret)
{
    const struct loco_manager_config config = {
        .node = id, .node_count = count, .arena_size = 1 << 16, .secret = secret};

    return loco_manager_open(mgr, fabric, &config);
}

static void open_member(struct member *m, struct loco_fabric *fabric, uint32_t id, uint32_t count)
{
    cr_assert_eq(open_manager(&m->mgr, fabric, id, count, one), 0);
    cr_assert_eq(loco_sst_init(&m->values, m->mgr, NULL, "values", LOCO_ALL, 8), 0);
}

static void close_member(struct member *m)
{
    loco_sst_fini(&m->values);
    loco_manager_close(m->mgr);
}

static void await_ready(const struct member *m)
{
    cr_assert_eq(loco_manager_ready(m->mgr, TEST_TIMEOUT), 0);
}

#define AWAIT_AT(member, condition)                                                                \
    do {                                                                                           \
        struct loco_wait await = loco_wait_for((member)->mgr, TEST_TIMEOUT);                       \
        while (!(condition))                                                                       \
            cr_assert_eq(loco_relax((member)->mgr, &await), 0, "never true: %s", #condition);      \
    } while (0)

static void tell(struct member *m, uint64_t value)
{
    loco_sst_store_mine(&m->values, &value);
    loco_sst_push_broadcast(&m->values);
}

static uint64_t heard_of(struct member *m, uint32_t node)
{
    uint64_t value = 0;

    loco_owned_var_load(loco_sst_row(&m->values, node), &value);
    return value;
}

static void expect_all_hear(struct member *all, unsigned count, unsigned speaker, uint64_t value)
{
    tell(&all[speaker], value);
    for (unsigned i = 0; i < count; i++)
        if (i != speaker)
            AWAIT_AT(&all[i], heard_of(&all[i], speaker) == value);
}

/* Two processes, whose nodes take turns. */
enum { PAIR = 2 };

static void open_both(struct loco_fabric *fabrics[PAIR], struct member *all, unsigned count)
{
    for (unsigned i = 0; i < PAIR; i++)
        cr_assert_eq(loco_shm_open(&fabrics[i], directory), 0);
    for (unsigned i = 0; i < count; i++)
        open_member(&all[i], fabrics[i % PAIR], i, count);
    for (unsigned i = 0; i < count; i++)
        await_ready(&all[i]);
}

static void close_both(struct loco_fabric *fabrics[PAIR], struct member *all, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        close_member(&all[i]);
    for (unsigned i = 0; i < PAIR; i++)
        loco_shm_close(fabrics[i]);
    cr_expect_eq(access(directory, F_OK), -1, "the run directory was left behind");
}

/* --- descriptors ------------------------------------------------------------------------------ */

enum { MANY = 24 };

/* The descriptors of a process: epoll, wake-up, listener, and two memory files. For each other
 * process: a connection and that process's two files, and these twice if both connected at the same
 * time. */
enum { OF_A_PROCESS = 5, OF_A_CONNECTION = 3, CONNECTIONS = 2 };

Test(processes, nodes_of_one_share_its_descriptors)
{
    struct loco_fabric *fabric;
    struct member all[MANY];
    const unsigned before = open_descriptors();

    make_directory();
    cr_assert_eq(loco_shm_open(&fabric, directory), 0);
    for (unsigned i = 0; i < MANY; i++)
        open_member(&all[i], fabric, i, MANY);
    for (unsigned i = 0; i < MANY; i++)
        await_ready(&all[i]);
    /* A process that is connected to itself has both ends. */
    AWAIT_AT(&all[0], open_descriptors() <= before + OF_A_PROCESS + 2 * OF_A_CONNECTION);
    expect_all_hear(all, MANY, MANY - 1, 5);
    for (unsigned i = 0; i < MANY; i++)
        close_member(&all[i]);
    loco_shm_close(fabric);
    cr_expect_eq(open_descriptors(), before);
    cr_expect_eq(access(directory, F_OK), -1, "the run directory was left behind");
}

/* Each node is connected only to the other process's nodes, as converters are to controllers. */
static int run_process(unsigned process, unsigned count, unsigned most)
{
    uint32_t others[MANY];
    struct loco_fabric *fabric;
    struct loco_manager *mgr[MANY];
    struct loco_sst values[MANY];
    struct loco_barrier end[MANY];
    unsigned other_count = 0, n = 0;
    const unsigned before = open_descriptors();

    for (uint32_t i = 1 - process; i < count; i += PAIR)
        others[other_count++] = i;
    if (loco_shm_open(&fabric, directory))
        return 1;
    const struct loco_members members = {others, other_count};
    for (uint32_t i = process; i < count; i += PAIR, n++)
        if (open_manager(&mgr[n], fabric, i, count, one) ||
            loco_sst_init(&values[n], mgr[n], NULL, "values", members, 8) ||
            loco_barrier_init(&end[n], mgr[n], NULL, "end", members))
            return 2;
    for (unsigned i = 0; i < n; i++)
        if (loco_manager_ready(mgr[i], TEST_TIMEOUT))
            return 3;
    struct loco_wait wait = loco_wait_for(mgr[0], TEST_TIMEOUT);
    while (open_descriptors() > before + most)
        if (loco_relax(mgr[0], &wait))
            return 4;
    for (unsigned i = 0; i < n; i++) {
        loco_sst_fini(&values[i]);
        loco_barrier_fini(&end[i]);
        loco_manager_close(mgr[i]);
    }
    loco_shm_close(fabric);
    return 0;
}

Test(processes, two_share_few_connections)
{
    pid_t pids[PAIR];
    int status;

    make_directory();
    for (unsigned i = 0; i < PAIR; i++) {
        pids[i] = fork();
        if (pids[i] == 0)
            _exit(run_process(i, MANY, OF_A_PROCESS + CONNECTIONS * OF_A_CONNECTION));
    }
    for (unsigned i = 0; i < PAIR; i++) {
        cr_assert_eq(waitpid(pids[i], &status, 0), pids[i]);
        cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "process %u: status %x", i,
                  (unsigned)status);
    }
    rmdir(directory);
}

/* --- nodes that come and go ------------------------------------------------------------------- */

Test(processes, a_node_that_closes_is_lost_alone)
{
    enum { COUNT = 6, GONE = 3 };
    struct loco_fabric *fabrics[PAIR];
    struct member all[COUNT];

    make_directory();
    open_both(fabrics, all, COUNT);
    close_member(&all[GONE]);
    for (unsigned i = 0; i < COUNT; i++) {
        if (i == GONE)
            continue;
        AWAIT_AT(&all[i], loco_peer_lost(all[i].mgr, GONE));
        for (unsigned k = 0; k < COUNT; k++)
            cr_expect(k == GONE || !loco_peer_lost(all[i].mgr, k), "%u lost %u", i, k);
    }
    open_member(&all[GONE], fabrics[GONE % PAIR], GONE, COUNT);
    for (unsigned i = 0; i < COUNT; i++)
        await_ready(&all[i]);
    for (unsigned i = 0; i < COUNT; i++)
        expect_all_hear(all, COUNT, i, 10 + i);
    close_both(fabrics, all, COUNT);
}

/* Messages in flight to a node that has closed do not reach the node that is opened next. */
Test(processes, a_node_comes_back_again_and_again)
{
    enum { COUNT = 5, RETURNS = 60 };
    struct loco_fabric *fabrics[PAIR];
    struct member all[COUNT];

    make_directory();
    open_both(fabrics, all, COUNT);
    const unsigned before = open_descriptors();
    for (unsigned life = 0; life < RETURNS; life++) {
        unsigned i = life % COUNT;
        close_member(&all[i]);
        open_member(&all[i], fabrics[i % PAIR], i, COUNT);
        if (life % 3 == 0 && life + 1 < RETURNS)
            continue;                        /* before all nodes have seen it */
        for (unsigned k = 0; k < COUNT; k++) /* one that it had not met yet may be lost meanwhile */
            AWAIT_AT(&all[k], loco_manager_ready(all[k].mgr, 1000000) == 0);
    }
    for (unsigned i = 0; i < COUNT; i++)
        expect_all_hear(all, COUNT, i, 100 + i);
    AWAIT_AT(&all[0], open_descriptors() <= before + CONNECTIONS * OF_A_CONNECTION);
    close_both(fabrics, all, COUNT);
}

Test(processes, a_node_may_come_late)
{
    enum { COUNT = 6 };
    static const uint32_t early[COUNT][1] = {{1}, {0}, {3}, {2}, {5}, {4}};
    struct loco_fabric *fabrics[PAIR];
    struct loco_manager *mgr[COUNT];
    struct loco_owned_var v[COUNT];
    struct member first;

    make_directory();
    for (unsigned i = 0; i < PAIR; i++)
        cr_assert_eq(loco_shm_open(&fabrics[i], directory), 0);
    for (unsigned i = 0; i < COUNT; i++) {
        const struct loco_members members = {early[i], 1};
        cr_assert_eq(open_manager(&mgr[i], fabrics[i % PAIR], i, COUNT, one), 0);
        cr_assert_eq(loco_owned_var_init(&v[i], mgr[i], NULL, "v", i - i % 2, members, 8), 0);
        first.mgr = mgr[i];
        if (i % 2)
            await_ready(&first); /* from here on nobody needs the names of these two */
    }
    for (unsigned i = 0; i < COUNT; i++) {
        const uint64_t value = i + 1;
        uint64_t got = 0;
        if (i % 2)
            continue;
        loco_owned_var_store(&v[i], &value);
        loco_owned_var_push(&v[i]);
        first.mgr = mgr[i + 1];
        AWAIT_AT(&first, loco_owned_var_load(&v[i + 1], &got) == 0 && got == value);
    }
    for (unsigned i = 0; i < COUNT; i++) {
        loco_owned_var_fini(&v[i]);
        loco_manager_close(mgr[i]);
    }
    for (unsigned i = 0; i < PAIR; i++)
        loco_shm_close(fabrics[i]);
}

/* --- a process that dies ---------------------------------------------------------------------- */

enum { SEVEN = 7, HERE = 3, LIVES = 3 };

/* A process that dies, and the child that it leaves behind; 0: none. */
struct family {
    pid_t parent, child;
};

/* A child that has all of its parent's descriptors, and outlives it. */
static pid_t leave_a_child(void)
{
    const pid_t child = fork();

    if (child == 0) {
        alarm(120);
        pause();
        _exit(0);
    }
    return child;
}

/* A process with the upper nodes. It begins when told, says when it is ready, and waits to be
 * killed. */
static void live_until_killed(int go, int ready, bool leaves_a_child)
{
    struct loco_fabric *fabric;
    struct member all[SEVEN];
    struct family family = {.parent = getpid()};
    char byte;

    if (read(go, &byte, 1) != 1)
        _exit(0);
    cr_assert_eq(loco_shm_open(&fabric, directory), 0);
    for (unsigned i = HERE; i < SEVEN; i++)
        open_member(&all[i], fabric, i, SEVEN);
    for (unsigned i = HERE; i < SEVEN; i++)
        await_ready(&all[i]);
    if (leaves_a_child)
        family.child = leave_a_child();
    cr_assert_eq(write(ready, &family, sizeof family), (ssize_t)sizeof family);
    pause();
}

static void kill_again_and_again(bool leaves_a_child)
{
    struct family families[LIVES];
    struct loco_fabric *fabric;
    struct member all[SEVEN];
    int go[2], ready[2];

    make_directory();
    cr_assert(pipe(go) == 0 && pipe(ready) == 0);
    for (unsigned life = 0; life < LIVES; life++)
        if (fork() == 0)
            live_until_killed(go[0], ready[1], leaves_a_child);
    cr_assert_eq(loco_shm_open(&fabric, directory), 0);
    for (unsigned i = 0; i < HERE; i++)
        open_member(&all[i], fabric, i, SEVEN);
    for (unsigned life = 0; life < LIVES; life++) {
        cr_assert_eq(write(go[1], "", 1), 1);
        const ssize_t size = read(ready[0], &families[life], sizeof families[life]);
        cr_assert_eq(size, (ssize_t)sizeof families[life]);
        for (unsigned i = 0; i < HERE; i++)
            await_ready(&all[i]);
        kill(families[life].parent, SIGKILL);
        cr_assert_eq(waitpid(families[life].parent, NULL, 0), families[life].parent);
        for (unsigned i = 0; i < HERE; i++)
            for (unsigned k = HERE; k < SEVEN; k++)
                AWAIT_AT(&all[i], loco_peer_lost(all[i].mgr, k));
    }
    for (unsigned i = 0; i < HERE; i++)
        for (unsigned k = 0; k < HERE; k++)
            cr_expect(i == k || !loco_peer_lost(all[i].mgr, k));
    for (unsigned i = 0; i < HERE; i++)
        close_member(&all[i]);
    loco_shm_close(fabric);
    for (unsigned life = 0; life < LIVES && leaves_a_child; life++)
        kill(families[life].child, SIGKILL);
}

Test(processes, all_nodes_of_one_that_is_killed_are_lost)
{
    kill_again_and_again(false);
}

/* The child keeps the sockets open, also the one that the parent listened on. */
Test(processes, one_that_is_killed_is_lost_though_a_child_of_it_lives)
{
    kill_again_and_again(true);
}

/* --- the directory ---------------------------------------------------------------------------- */

static void *open_and_leave(void *failures)
{
    struct loco_fabric *fabric;

    for (unsigned i = 0; i < 2000; i++) {
        if (loco_shm_open(&fabric, directory))
            atomic_fetch_add((_Atomic unsigned *)failures, 1);
        else
            loco_shm_close(fabric);
    }
    return NULL;
}

/* The last to leave removes the directory, perhaps while another is about to enter it. */
Test(processes, one_comes_while_the_last_leaves)
{
    _Atomic unsigned failures = 0;
    pthread_t other_thread;

    make_directory();
    cr_assert_eq(pthread_create(&other_thread, NULL, open_and_leave, &failures), 0);
    open_and_leave(&failures);
    pthread_join(other_thread, NULL);
    cr_expect_eq(failures, 0);
}

/* --- what the nodes of a process must have in common ------------------------------------------ */

Test(processes, nodes_of_one_are_of_one_network)
{
    struct loco_manager *m, *none;
    struct loco_fabric *fabric;

    make_directory();
    cr_assert_eq(loco_shm_open(&fabric, directory), 0);
    cr_assert_eq(open_manager(&m, fabric, 0, 3, one), 0);
    cr_expect_eq(open_manager(&none, fabric, 1, 4, one), -EINVAL);
    cr_expect_eq(open_manager(&none, fabric, 1, 3, other), -EINVAL);
    cr_expect_eq(open_manager(&none, fabric, 0, 3, one), -EADDRINUSE);
    loco_manager_close(m);
    cr_assert_eq(open_manager(&m, fabric, 1, 4, other), 0, "the last node of a network has closed");
    loco_manager_close(m);
    loco_shm_close(fabric);
}
