/*
 * What is particular to the verbs fabric, below the core: two nodes, mostly of one process, and
 * their links. On a machine whose LOCO_TEST_ADDRESSES says where its RDMA device is; else skipped.
 */
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <linux/capability.h>
#include <rdma/rdma_cma.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "channels/fabric/verbs/verbs_hello.h"
#include "tests/ends.h"
#include "tests/nodes.h"

#define VERBS_TEST(name)                                                                           \
    static void name(void);                                                                        \
    Test(verbs, name)                                                                              \
    {                                                                                              \
        if (!on_verbs())                                                                           \
            cr_skip_test("there is no RDMA device: LOCO_TEST_ADDRESSES is not set");               \
        name();                                                                                    \
    }                                                                                              \
    static void name(void)

static void open_pair(struct end *pair, struct loco_verbs_config config)
{
    struct loco_fabric *fabric;

    cr_assert_eq(open_verbs(&fabric, config), 0);
    meet(pair, fabric);
}

static void close_pair(struct end *pair)
{
    close_node(&pair[0]);
    close_node(&pair[1]);
    loco_verbs_close(pair[0].fabric);
}

/* --- operations ------------------------------------------------------------------------- */

static void operate(struct loco_verbs_config config)
{
    enum { EACH = 1000 };
    struct end pair[2];

    open_pair(pair, config);
    struct end *e = &pair[0];
    const struct loco_fabric_ops *ops = e->fabric->ops;
    for (uint64_t i = 1; i <= EACH; i++) {
        cr_assert_eq(ops->write(next(e), there(0), &i, sizeof i), LOCO_POSTED);
        cr_assert_eq(ops->write(next(e), there(8), word(e, 100), 100), LOCO_POSTED);
        cr_assert_eq(ops->fetch_add(next(e), there(1), 2, word(e, 1)), LOCO_POSTED);
        cr_assert_eq(ops->compare_swap(next(e), there(2), i - 1, i, word(e, 2)), LOCO_POSTED);
        cr_assert_eq(ops->read(next(e), there(0), word(e, 3), 8), LOCO_POSTED);
    }
    wait_done(e);
    cr_assert_eq(*word(e, 1), 2 * (EACH - 1));
    cr_assert_eq(*word(&pair[1], 1), 2 * EACH);
    cr_assert_eq(*word(e, 3), EACH);
    cr_assert_eq(*word(&pair[1], 0), EACH);
    close_pair(pair);
}

/* Many more operations than there is room for, none of them waited for. */
VERBS_TEST(queues_do_not_overflow)
{
    operate((struct loco_verbs_config){.send_depth = 4});
}

VERBS_TEST(shared_queues_do_not_overflow)
{
    operate((struct loco_verbs_config){.send_depth = 2048, .shared_completions = true});
}

/* Only a tail of writes that asked for no completion: who looks makes it ask. */
VERBS_TEST(unsignalled_writes_are_done)
{
    struct end pair[2];

    open_pair(pair, (struct loco_verbs_config){0});
    for (uint64_t i = 1; i <= 3; i++) {
        pair[0].fabric->ops->write(next(&pair[0]), there(i), &i, sizeof i);
        wait_done(&pair[0]);
        WAIT_UNTIL(&pair[0], __atomic_load_n(word(&pair[1], i), __ATOMIC_ACQUIRE) == i);
    }
    close_pair(pair);
}

/* The memory model's first promise, which every channel stands on. Soft-RoCE keeps it only where
 * the kernel's memcpy does: see tests/guest/run. */
VERBS_TEST(a_word_is_never_torn)
{
    enum { EACH = 5000 };
    struct end pair[2];

    open_pair(pair, (struct loco_verbs_config){0});
    struct end *e = &pair[0];
    struct looker looker;
    begin_to_look(&looker, word(&pair[1], 0));
    for (uint64_t i = 0; i < EACH; i++) {
        uint64_t value = i % 2 ? 0 : UINT64_MAX;
        cr_assert_eq(e->fabric->ops->write(next(e), there(0), &value, sizeof value), LOCO_POSTED);
    }
    wait_done(e);
    expect_never_torn(&looker);
    close_pair(pair);
}

static void flush_with(bool nothing)
{
    struct end pair[2];

    open_pair(pair, (struct loco_verbs_config){.flush_by_nothing = nothing});
    struct end *e = &pair[0];
    cr_assert_eq(e->fabric->ops->flush(e->link), 0); /* nothing was written: it posts nothing */
    cr_assert_eq(atomic_load(&e->link->flushed), 0);
    for (uint64_t i = 1; i <= 200; i++) {
        e->fabric->ops->write(next(e), there(0), &i, sizeof i);
        flush(e);
        cr_assert_eq(__atomic_load_n(word(&pair[1], 0), __ATOMIC_ACQUIRE), i);
    }
    cr_assert_eq(atomic_load(&e->link->done), e->number);

    /* A read behind the write has flushed it already: the ticket is its own. */
    uint64_t before = atomic_load(&e->link->flushed);
    e->fabric->ops->write(next(e), there(0), &before, sizeof before);
    e->fabric->ops->read(next(e), there(1), word(e, 1), sizeof(uint64_t));
    wait_done(e);
    cr_assert_eq(e->fabric->ops->flush(e->link), atomic_load(&e->link->flushed));
    cr_assert_gt(atomic_load(&e->link->flushed), before);

    /* An atomic has not: what it wrote may not be placed either. */
    e->fabric->ops->fetch_add(next(e), there(1), 1, word(e, 1));
    wait_done(e);
    before = atomic_load(&e->link->flushed);
    cr_assert_gt(e->fabric->ops->flush(e->link), before);
    close_pair(pair);
}

VERBS_TEST(a_read_of_nothing_flushes)
{
    flush_with(true);
}

VERBS_TEST(a_read_of_a_word_flushes)
{
    flush_with(false);
}

/* What cannot be posted fails at once, and nobody waits for it. */
VERBS_TEST(bad_operations_fail)
{
    struct end pair[2];
    uint64_t big[20] = {0}, value = 7;

    open_pair(pair, (struct loco_verbs_config){0});
    struct end *e = &pair[0];
    const struct loco_fabric_ops *ops = e->fabric->ops;
    struct loco_remote beyond = there(pair[1].arena.size / 8);
    struct loco_remote nowhere = {.arena = 5, .known = 1};
    cr_assert_eq(ops->write(next(e), there(0), &value, 8), LOCO_POSTED);
    cr_assert_eq(ops->write(next(e), beyond, &value, 8), -ERANGE);
    cr_assert_eq(ops->read(next(e), nowhere, word(e, 0), 8), -ERANGE);
    cr_assert_eq(ops->fetch_add(next(e), (struct loco_remote){.offset = 4}, 1, word(e, 0)),
                 -ERANGE);
    cr_assert_eq(ops->write(next(e), there(0), big, sizeof big), -EFAULT);
    cr_assert_eq(ops->read(next(e), there(0), &value, 8), -EFAULT);
    wait_done(e);
    cr_assert_eq(*word(&pair[1], 0), 7);
    close_pair(pair);
}

/* --- devices that refuse ---------------------------------------------------------------- */

/* What this thread's queue pairs get inline at most; less than 0: they are not made. */
static _Thread_local int inline_max = INT_MAX;

/* In place of librdmacm's: the device of the tests refuses as others do. */
__attribute__((visibility("default"))) int rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd,
                                                          struct ibv_qp_init_attr *attributes)
{
    typedef int create(struct rdma_cm_id *, struct ibv_pd *, struct ibv_qp_init_attr *);

    if ((int)attributes->cap.max_inline_data > inline_max) {
        errno = EINVAL;
        return -1;
    }
    return ((create *)dlsym(RTLD_NEXT, "rdma_create_qp"))(id, pd, attributes);
}

/* Sources that are gone at once, of a slot that comes again soon. */
static void write_from_stack(struct loco_verbs_config config)
{
    enum { WRITES = 64, WORDS = LOCO_INLINE_MAX / 8 };
    struct end pair[2];
    uint64_t source[WORDS];

    open_pair(pair, config);
    for (uint64_t i = 0; i < WRITES; i++) {
        for (unsigned w = 0; w < WORDS; w++)
            source[w] = 100 * i + w;
        cr_assert_eq(pair[0].fabric->ops->write(next(&pair[0]), there(WORDS * i), source,
                                                8 * (1 + i % WORDS)),
                     LOCO_POSTED);
    }
    flush(&pair[0]);
    for (uint64_t i = 0; i < WRITES; i++)
        for (unsigned w = 0; w < WORDS; w++)
            cr_assert_eq(*word(&pair[1], WORDS * i + w), w <= i % WORDS ? 100 * i + w : 0);
    close_pair(pair);
}

VERBS_TEST(what_a_device_does_not_take_inline_is_staged)
{
    for (inline_max = 0; inline_max <= 2 * LOCO_INLINE_MAX; inline_max += LOCO_INLINE_MAX / 2)
        write_from_stack((struct loco_verbs_config){.send_depth = 4});
}

static _Atomic bool accepts_nothing;

/* In place of librdmacm's. */
__attribute__((visibility("default"))) int rdma_accept(struct rdma_cm_id *id,
                                                       struct rdma_conn_param *param)
{
    typedef int accept(struct rdma_cm_id *, struct rdma_conn_param *);

    if (accepts_nothing) {
        errno = EINVAL;
        return -1;
    }
    return ((accept *)dlsym(RTLD_NEXT, "rdma_accept"))(id, param);
}

/* No event follows, so the end that failed to accept drops the link by itself. */
VERBS_TEST(a_link_that_is_not_accepted_is_dropped)
{
    struct end pair[2];
    struct loco_link *link;

    open_pair(pair, (struct loco_verbs_config){0});
    const struct loco_fabric_ops *ops = pair[0].fabric->ops;
    accepts_nothing = true;
    cr_assert_eq(ops->link_open(pair[0].node, 0, UINT64_MAX, &link), 0);
    accepts_nothing = false;
    atomic_store(&link->posted, 1);
    cr_assert_eq(ops->write(link, there(0), pair[0].arena.base, 8), -ECONNRESET);
    ops->link_close(link);
    close_pair(pair);
}

VERBS_TEST(a_link_that_cannot_be_opened_leaves_nothing)
{
    struct end pair[2];
    struct loco_link *link;

    open_pair(pair, (struct loco_verbs_config){0});
    const struct loco_fabric_ops *ops = pair[0].fabric->ops;
    unsigned before = open_descriptors();
    inline_max = -1;
    for (uint32_t peer = 0; peer < 2; peer++)
        cr_assert_eq(ops->link_open(pair[0].node, peer, UINT64_MAX, &link), -EINVAL);
    cr_assert_eq(open_descriptors(), before);
    inline_max = INT_MAX;
    cr_assert_eq(ops->link_open(pair[0].node, 0, UINT64_MAX, &link), 0);
    ops->link_close(link);
    close_pair(pair);
}

/* --- what a user does wrong ------------------------------------------------------------- */

static const struct loco_secret none, right = {"the right secret", 16},
                                      wrong = {"the wrong secret", 16};

/* What is told of a foreigner is told before the warning. */
static void meet_another_network(struct loco_secret secret)
{
    struct loco_fabric *fabric;
    struct end a, b;

    cr_assert_eq(open_verbs(&fabric, (struct loco_verbs_config){0}), 0);
    cr_assert_eq(open_node_with(&a, fabric, 0, 3, secret), 0);
    cr_assert_eq(open_node_with(&b, fabric, 1, 2, secret), 0);
    WAIT_UNTIL(&a, a.ear.warned);
    WAIT_UNTIL(&b, b.ear.warned);
    cr_assert(strstr(a.ear.warning, "node 1 of 2: another network"), "%s", a.ear.warning);
    cr_assert(strstr(b.ear.warning, "node 0 of 3: another network"), "%s", b.ear.warning);
    cr_assert_eq(a.ear.foreign_count, 2);
    cr_assert_eq(b.ear.foreign_count, 3);
    close_node(&a);
    close_node(&b);
    loco_verbs_close(fabric);
}

VERBS_TEST(another_network_is_refused)
{
    meet_another_network(none);
    meet_another_network(right);
}

/* --- who is let in ------------------------------------------------------------------------ */

VERBS_TEST(nodes_of_one_secret_meet)
{
    struct loco_fabric *fabric;
    struct end a, b;

    cr_assert_eq(open_verbs(&fabric, (struct loco_verbs_config){0}), 0);
    cr_assert_eq(open_node_with(&a, fabric, 0, 2, right), 0);
    cr_assert_eq(open_node_with(&b, fabric, 1, 2, right), 0);
    WAIT_UNTIL(&a, a.ear.ups == 1);
    WAIT_UNTIL(&b, b.ear.ups == 1);
    cr_assert(!a.ear.warned && !b.ear.warned, "%s%s", a.ear.warning, b.ear.warning);
    close_node(&a);
    close_node(&b);
    loco_verbs_close(fabric);
}

VERBS_TEST(a_node_with_another_secret_is_refused)
{
    struct loco_fabric *fabric;
    struct end a, b;

    cr_assert_eq(open_verbs(&fabric, (struct loco_verbs_config){0}), 0);
    cr_assert_eq(open_node_with(&a, fabric, 0, 2, right), 0);
    cr_assert_eq(open_node_with(&b, fabric, 1, 2, wrong), 0);
    WAIT_UNTIL(&a, a.ear.warned);
    WAIT_UNTIL(&b, b.ear.warned);
    cr_assert(strstr(a.ear.warning, "node 1 of 2: it does not know this network's secret"), "%s",
              a.ear.warning);
    cr_assert(strstr(b.ear.warning, "node 0 of 2: it has another secret"), "%s", b.ear.warning);
    cr_assert_eq(a.ear.ups + b.ear.ups, 0);
    close_node(&a);
    close_node(&b);
    loco_verbs_close(fabric);
}

/* Whoever had the place of a node: the right one may come later. */
VERBS_TEST(the_right_node_is_met_after_a_wrong_one)
{
    struct loco_fabric *fabric;
    struct end other, a, b;

    cr_assert_eq(open_verbs(&fabric, (struct loco_verbs_config){0}), 0);
    cr_assert_eq(open_node_with(&other, fabric, 0, 2, wrong), 0);
    cr_assert_eq(open_node_with(&b, fabric, 1, 2, right), 0);
    WAIT_UNTIL(&b, b.ear.warned);
    close_node(&other);
    cr_assert_eq(open_node_with(&a, fabric, 0, 2, right), 0);
    WAIT_UNTIL(&b, b.ear.ups == 1);
    WAIT_UNTIL(&a, a.ear.ups == 1);
    close_node(&b);
    close_node(&a);
    loco_verbs_close(fabric);
}

static const char *address_of(unsigned node, char copy[400])
{
    char *rest = NULL;

    snprintf(copy, 400, "%s", getenv("LOCO_TEST_ADDRESSES"));
    const char *found = strtok_r(copy, ",", &rest);
    while (node-- > 0)
        found = strtok_r(NULL, ",", &rest);
    return found;
}

/* Whether the device has that many; else nodes share them. */
static bool has_addresses(unsigned count)
{
    char first[400], last[400];

    return strcmp(address_of(0, first), address_of(count - 1, last)) != 0 &&
           strcmp(address_of(count - 2, first), address_of(count - 1, last)) != 0;
}

/* A program that is no node asks node 0 for a connection, from the address of node `from`. Returns
 * why it was refused; -1: it was accepted. */
static int ask(unsigned from, const void *words, uint8_t size, struct verbs_hello *answer)
{
    struct rdma_addrinfo hints = {.ai_port_space = RDMA_PS_TCP}, *to;
    struct ibv_qp_init_attr attributes = {
        .qp_type = IBV_QPT_RC,
        .cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1}};
    struct rdma_conn_param param = {.private_data = words, .private_data_len = size};
    struct sockaddr_in source = {.sin_family = AF_INET};
    char copy[400], port[8];
    struct rdma_cm_id *id;
    int refusal = -1;

    cr_assert_eq(inet_pton(AF_INET, address_of(from, copy), &source.sin_addr), 1);
    hints.ai_src_addr = (struct sockaddr *)&source;
    hints.ai_src_len = sizeof source;
    snprintf(port, sizeof port, "%d", LOCO_VERBS_PORT);
    cr_assert_eq(rdma_getaddrinfo(address_of(0, copy), port, &hints, &to), 0);
    cr_assert_eq(rdma_create_ep(&id, to, NULL, &attributes), 0);
    if (rdma_connect(id, &param)) {
        refusal = 0;
        if (id->event->param.conn.private_data_len >= sizeof *answer)
            memcpy(answer, id->event->param.conn.private_data, sizeof *answer);
        if (answer->magic == VERBS_MAGIC)
            refusal = answer->refusal;
    }
    rdma_destroy_ep(id);
    rdma_freeaddrinfo(to);
    test_moved();
    return refusal;
}

static struct verbs_hello hello(uint32_t node, uint32_t count)
{
    return (struct verbs_hello){
        .magic = VERBS_MAGIC, .version = VERBS_VERSION, .node = node, .count = count};
}

/* Who asks for a control connection does so over TCP: tests/tcp has its strangers. */
VERBS_TEST(strange_links_are_refused)
{
    struct verbs_hello h, answer;
    struct loco_fabric *fabric;
    unsigned char garbage[56];
    struct end a, b;

    cr_assert_eq(open_verbs(&fabric, (struct loco_verbs_config){0}), 0);
    cr_assert_eq(open_node_with(&a, fabric, 0, 2, right), 0);
    memset(garbage, 0xa5, sizeof garbage);
    for (uint8_t size = 0; size <= sizeof garbage; size += 14)
        cr_assert_eq(ask(1, garbage, size, &answer), LOCO_FOREIGN);
    h = hello(1, 3);
    cr_assert_eq(ask(1, &h, sizeof h, &answer), LOCO_FOREIGN);
    h = hello(2, 2);
    cr_assert_eq(ask(1, &h, sizeof h, &answer), LOCO_FOREIGN);
    h = hello(1, 2);
    if (has_addresses(3))
        cr_assert_eq(ask(2, &h, sizeof h, &answer), LOCO_STRAY);
    /* Of no connection; and of the listener itself. */
    cr_assert_eq(ask(1, &h, sizeof h, &answer), LOCO_UNKNOWN);
    h = hello(0, 2);
    cr_assert_eq(ask(0, &h, sizeof h, &answer), LOCO_UNPROVEN);
    /* None of that has disturbed anybody. */
    cr_assert_eq(open_node_with(&b, fabric, 1, 2, right), 0);
    WAIT_UNTIL(&a, a.ear.ups == 1);
    h = hello(1, 2);
    cr_assert_eq(ask(1, &h, sizeof h, &answer), LOCO_UNPROVEN);
    cr_assert_eq(a.ear.losts, 0);
    close_node(&a);
    close_node(&b);
    loco_verbs_close(fabric);
}

/* A node that refuses another as of another network is not believed if it does not prove itself. */
VERBS_TEST(a_refusal_is_believed_when_it_is_proven)
{
    struct loco_fabric *fabric;
    struct end a, b;

    if (!has_addresses(3))
        cr_skip_test("there are no addresses for 3 nodes");
    cr_assert_eq(open_verbs(&fabric, (struct loco_verbs_config){0}), 0);
    cr_assert_eq(open_node(&a, fabric, 0, 2), 0);
    cr_assert_eq(open_node(&b, fabric, 2, 3), 0);
    WAIT_UNTIL(&b, b.ear.warned);
    cr_assert(strstr(b.ear.warning, "node 0 of 2: it knows this node by another address"), "%s",
              b.ear.warning);
    cr_assert_eq(a.ear.foreigners + b.ear.foreigners, 0);
    close_node(&a);
    close_node(&b);
    loco_verbs_close(fabric);
}

VERBS_TEST(many_strangers_leave_nothing)
{
    enum { CROWD = 100 };
    const struct verbs_hello h = hello(0, 3);
    struct verbs_hello answer;
    struct loco_fabric *fabric;
    struct end a;

    cr_assert_eq(open_verbs(&fabric, (struct loco_verbs_config){0}), 0);
    cr_assert_eq(open_node(&a, fabric, 0, 2), 0);
    unsigned before = open_descriptors();
    for (uint64_t i = 0; i < effort(CROWD, 20); i++)
        cr_assert_eq(ask(1, &h, sizeof h, &answer), LOCO_FOREIGN);
    cr_assert_eq(open_descriptors(), before);
    cr_assert_gt(a.ear.warnings, 0);
    cr_assert_lt(a.ear.warnings, 9);
    close_node(&a);
    loco_verbs_close(fabric);
}

VERBS_TEST(a_place_is_taken_once)
{
    struct loco_fabric *fabric;
    struct end a, b;

    cr_assert_eq(open_verbs(&fabric, (struct loco_verbs_config){0}), 0);
    cr_assert_eq(open_node(&a, fabric, 0, 2), 0);
    cr_assert_eq(open_node(&b, fabric, 0, 2), -EADDRINUSE);
    close_node(&a);
    cr_assert_eq(open_node(&b, fabric, 0, 2), 0);
    close_node(&b);
    loco_verbs_close(fabric);
}

static int open_at(const char *address, struct end *e)
{
    const struct loco_verbs_config config = {.addresses = &address, .address_count = 1};
    struct loco_fabric *fabric;

    cr_assert_eq(loco_verbs_open(&fabric, &config), 0);
    int rc = open_node(e, fabric, 0, 1);
    loco_verbs_close(fabric);
    return rc;
}

VERBS_TEST(bad_addresses_are_named)
{
    struct end e;

    cr_assert_lt(open_at("192.0.2.1", &e), 0);
    cr_assert(strstr(e.ear.warning, "192.0.2.1"), "%s", e.ear.warning);
    cr_assert_eq(open_at("10.0.0.300", &e), -EINVAL);
    cr_assert(strstr(e.ear.warning, "10.0.0.300"), "%s", e.ear.warning);
}

Test(verbs, bad_configs_are_refused)
{
    const char *address = "10.0.0.1";
    struct loco_fabric *fabric;

    cr_assert_eq(loco_verbs_open(&fabric, &(struct loco_verbs_config){0}), -EINVAL);
    cr_assert_eq(loco_verbs_open(&fabric, &(struct loco_verbs_config){.addresses = &address,
                                                                      .address_count = 1,
                                                                      .retry_count = 8}),
                 -EINVAL);
}

/* Root may lock as much as it likes, by this capability. */
static void become_limited(void)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2];

    cr_assert_eq(syscall(SYS_capget, &head, data), 0);
    data[CAP_IPC_LOCK / 32].effective &= ~(1u << CAP_IPC_LOCK % 32);
    cr_assert_eq(syscall(SYS_capset, &head, data), 0);
}

static void limit_memory(rlim_t bytes)
{
    const struct rlimit limit = {bytes, RLIM_INFINITY};

    cr_assert_eq(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
}

VERBS_TEST(a_low_memlock_limit_is_explained)
{
    struct loco_fabric *fabric;
    struct end e;

    /* Before: librdmacm's files are for who opened them. */
    become_limited();
    limit_memory(1); /* with 0 the kernel says that it is not permitted */
    cr_assert_eq(open_verbs(&fabric, (struct loco_verbs_config){0}), 0);
    cr_assert_eq(open_node(&e, fabric, 0, 2), -ENOMEM);
    unsigned before = open_descriptors();
    cr_assert_eq(open_node(&e, fabric, 0, 2), -ENOMEM);
    cr_assert_eq(open_descriptors(), before);
    cr_assert(strstr(e.ear.warning, "ulimit -l"), "%s", e.ear.warning);
    limit_memory(1 << 20);
    cr_assert_eq(open_node(&e, fabric, 0, 2), 0);
    e.ear.warned = false;
    cr_assert_eq(e.fabric->ops->arena_map(e.node, 4 << 20, &e.arena), -ENOMEM);
    cr_assert(e.ear.warned && strstr(e.ear.warning, "ulimit -l"), "%s", e.ear.warning);
    close_node(&e);
    loco_verbs_close(fabric);
}

/* --- ends ------------------------------------------------------------------------------- */

/* A process that is node 1, says hello, and waits to be killed, or for a byte from the pipe. */
static pid_t start_other(int *go)
{
    int ends[2];
    char byte;

    cr_assert_eq(pipe(ends), 0);
    fflush(NULL);
    pid_t pid = fork();
    if (pid != 0) {
        close(ends[0]);
        *go = ends[1];
        return pid;
    }
    struct loco_fabric *fabric;
    struct end e;
    close(ends[1]);
    if (open_verbs(&fabric, (struct loco_verbs_config){0}) || open_node(&e, fabric, 1, 2) ||
        map(&e))
        _exit(1);
    say_hello(&e);
    if (read(ends[0], &byte, 1) != 1)
        _exit(1);
    close_node(&e);
    loco_verbs_close(fabric);
    _exit(0);
}

/* The requests that were given up wait at the peer until it goes on. */
VERBS_TEST(a_link_to_who_stands_still_is_given_up_in_time)
{
    enum { TRIES = 5, TRY_NS = 100000000 };
    struct loco_fabric *fabric;
    struct end e;
    int go, status;

    pid_t other = start_other(&go);
    cr_assert_eq(open_verbs(&fabric, (struct loco_verbs_config){0}), 0);
    cr_assert_eq(open_node(&e, fabric, 0, 2), 0);
    cr_assert_eq(map(&e), 0);
    WAIT_UNTIL(&e, e.ear.messages == 1);
    kill(other, SIGSTOP);
    cr_assert_eq(waitpid(other, &status, WUNTRACED), other);
    unsigned before = open_descriptors();
    for (int i = 0; i < TRIES; i++) {
        const uint64_t until = fabric->ops->clock(e.node) + TRY_NS;
        cr_assert_eq(fabric->ops->link_open(e.node, 1, until, &e.link), -ETIMEDOUT);
        test_moved();
    }
    cr_assert_eq(open_descriptors(), before);
    kill(other, SIGCONT);
    cr_assert_eq(fabric->ops->link_open(e.node, 1, UINT64_MAX, &e.link), 0);
    cr_assert_eq(fabric->ops->write(next(&e), there(0), e.arena.base, 8), LOCO_POSTED);
    wait_done(&e);
    cr_assert_eq(e.ear.losts, 0);
    cr_assert_eq(write(go, "", 1), 1);
    WAIT_UNTIL(&e, e.ear.losts == 1);
    close_node(&e);
    loco_verbs_close(fabric);
    waitpid(other, &status, 0);
    cr_assert_eq(status, 0);
}

/* Its device would answer for ever. When it goes on, it finds itself lost, and calls again. */
VERBS_TEST(who_stands_still_is_lost_and_comes_back)
{
    struct loco_fabric *fabric;
    struct end e;
    int go, status;

    pid_t other = start_other(&go);
    cr_assert_eq(open_verbs(&fabric, (struct loco_verbs_config){.timeout_ms = 2000}), 0);
    cr_assert_eq(open_node(&e, fabric, 0, 2), 0);
    cr_assert_eq(map(&e), 0);
    WAIT_UNTIL(&e, e.ear.messages == 1);
    cr_assert_eq(fabric->ops->link_open(e.node, 1, UINT64_MAX, &e.link), 0);
    kill(other, SIGSTOP);
    cr_assert_eq(waitpid(other, &status, WUNTRACED), other);
    WAIT_UNTIL(&e, e.ear.losts == 1);
    cr_assert_eq(e.ear.lefts, 0);
    cr_assert(strstr(e.ear.warning, "nothing was heard of node 1 for 2000 ms"), "%s",
              e.ear.warning);
    cr_assert_eq(fabric->ops->write(next(&e), there(0), e.arena.base, 8), -ECONNRESET);
    kill(other, SIGCONT);
    WAIT_UNTIL(&e, e.ear.ups == 2);
    cr_assert_eq(write(go, "", 1), 1);
    WAIT_UNTIL(&e, e.ear.losts == 2);
    cr_assert_eq(e.ear.lefts, 1);
    close_node(&e);
    loco_verbs_close(fabric);
    waitpid(other, &status, 0);
    cr_assert_eq(status, 0);
}

VERBS_TEST(a_killed_peer_is_lost_and_may_come_again)
{
    struct loco_fabric *fabric;
    struct end e;
    int go, status;
    uint64_t one = 1;

    pid_t first = start_other(&go); /* before this process uses the device */
    int second_go, gate[2];
    cr_assert_eq(pipe(gate), 0);
    pid_t second = fork();
    if (second == 0) {
        char byte;
        close(gate[1]);
        if (read(gate[0], &byte, 1) != 1)
            _exit(1);
        pid_t pid = start_other(&second_go);
        if (read(gate[0], &byte, 1) != 1 || write(second_go, "", 1) != 1)
            _exit(1);
        waitpid(pid, &status, 0);
        _exit(WEXITSTATUS(status));
    }
    close(gate[0]);

    cr_assert_eq(open_verbs(&fabric, (struct loco_verbs_config){0}), 0);
    cr_assert_eq(open_node(&e, fabric, 0, 2), 0);
    cr_assert_eq(map(&e), 0);
    WAIT_UNTIL(&e, e.ear.messages == 1);
    cr_assert_eq(fabric->ops->link_open(e.node, 1, UINT64_MAX, &e.link), 0);
    cr_assert_eq(fabric->ops->write(next(&e), there(0), &one, 8), LOCO_POSTED);
    wait_done(&e);

    kill(first, SIGKILL);
    waitpid(first, &status, 0);
    close(go);
    WAIT_UNTIL(&e, e.ear.losts == 1);
    cr_assert_eq(e.ear.lefts, 0);
    cr_assert_eq(fabric->ops->write(next(&e), there(0), &one, 8), -ECONNRESET);
    fabric->ops->link_close(e.link);

    cr_assert_eq(write(gate[1], "", 1), 1);
    WAIT_UNTIL(&e, e.ear.ups == 2);
    WAIT_UNTIL(&e, e.ear.messages == 2);
    cr_assert_eq(fabric->ops->link_open(e.node, 1, UINT64_MAX, &e.link), 0);
    cr_assert_eq(fabric->ops->write(next(&e), there(0), &one, 8), LOCO_POSTED);
    wait_done(&e);

    cr_assert_eq(write(gate[1], "", 1), 1);
    WAIT_UNTIL(&e, e.ear.losts == 2);
    cr_assert_eq(e.ear.lefts, 1);
    close_node(&e);
    loco_verbs_close(fabric);
    waitpid(second, &status, 0);
    cr_assert_eq(status, 0);
}
