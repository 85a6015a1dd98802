/*
 * Tests which processes a node of the shm fabric accepts. A program below the library connects to a
 * live node's socket, with a proof and without.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "channels/fabric/shm/shm_internal.h"
#include "channels/packet.h"
#include "tests/no_descriptors.h"
#include "tests/nodes.h"
#include "tests/temporary.h"

static const struct loco_secret right = {"the right secret", 16}, wrong = {"the wrong secret", 16};

/* --- nodes ------------------------------------------------------------------------------------ */

struct live {
    struct loco_fabric *fabric;
    struct loco_manager *mgr;
    struct loco_owned_var v;
    char log[4096];
    _Atomic size_t logged;
};

static char directory[TEMPORARY_SIZE];

static void log_line(void *arg, enum loco_level level, const char *text)
{
    struct live *n = arg;
    size_t length = strlen(text), at = n->logged;

    (void)level;
    if (at + length + 2 > sizeof n->log)
        return;
    memcpy(n->log + at, text, length);
    n->log[at + length] = '\n';
    n->logged = at + length + 1;
}

static void open_live(struct live *n, uint32_t id, struct loco_secret secret)
{
    const struct loco_manager_config config = {.node = id,
                                               .node_count = 2,
                                               .arena_size = 1 << 16,
                                               .secret = secret,
                                               .log = log_line,
                                               .log_arg = n};

    *n = (struct live){0};
    if (!directory[0]) {
        cr_assert(temporary_folder(directory));
    }
    cr_assert_eq(loco_shm_open(&n->fabric, directory), 0);
    cr_assert_eq(loco_manager_open(&n->mgr, n->fabric, &config), 0);
    cr_assert_eq(loco_owned_var_init(&n->v, n->mgr, NULL, "v", 0, LOCO_ALL, 8), 0);
}

static void close_live(struct live *n)
{
    loco_owned_var_fini(&n->v);
    loco_manager_close(n->mgr);
    loco_shm_close(n->fabric);
    rmdir(directory);
}

#define AWAIT_IN(node, condition)                                                                  \
    do {                                                                                           \
        struct loco_wait wait = loco_wait_for((node)->mgr, TEST_TIMEOUT);                          \
        while (!(condition))                                                                       \
            cr_assert_eq(loco_relax((node)->mgr, &wait), 0, "never true: %s", #condition);         \
    } while (0)

static bool has_logged(const struct live *n, const char *text)
{
    return memmem(n->log, n->logged, text, strlen(text));
}

/* --- who knocks ------------------------------------------------------------------------------- */

/* A node whose peers have all connected has no address until it has seen one of them leave. */
static int knock(void)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

    snprintf(a.sun_path, sizeof a.sun_path, "%s/node0", directory);
    cr_assert_geq(fd, 0);
    for (int turns = 0; connect(fd, (struct sockaddr *)&a, sizeof a); turns++) {
        cr_assert(turns < 60000, "%s", strerror(errno));
        usleep(1000);
    }
    return fd;
}

/* Sends a message with `count` arbitrary descriptors. */
static void say_with(int fd, const void *data, size_t size, const int *fds, unsigned count)
{
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(100 * sizeof(int))];
    } control = {0};
    struct iovec part = {(void *)data, size};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

    if (count) {
        message.msg_control = &control;
        message.msg_controllen = CMSG_SPACE(count * sizeof(int));
        control.head.cmsg_level = SOL_SOCKET;
        control.head.cmsg_type = SCM_RIGHTS;
        control.head.cmsg_len = CMSG_LEN(count * sizeof(int));
        memcpy(CMSG_DATA(&control.head), fds, count * sizeof(int));
    }
    cr_assert_eq(sendmsg(fd, &message, MSG_NOSIGNAL), (ssize_t)size);
}

static void say(int fd, const void *data, size_t size)
{
    say_with(fd, data, size, NULL, 0);
}

/* Waits until the node closes the connection. */
static bool is_hung_up(int fd)
{
    char data[SHM_MESSAGE_MAX];
    ssize_t size;

    do {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        if (poll(&p, 1, 60000) != 1)
            return false;
        size = recv(fd, data, sizeof data, 0);
    } while (size > 0);
    close(fd);
    return true;
}

static struct control_greeting hear_greeting(int fd)
{
    struct control_greeting g = {0};

    cr_assert_eq(recv(fd, &g, sizeof g, 0), (ssize_t)sizeof g);
    return g;
}

static struct control_greeting hello(void)
{
    return (struct control_greeting){.magic = SHM_MAGIC,
                                     .version = SHM_VERSION,
                                     .step = CONTROL_HELLO,
                                     .from = 1,
                                     .count = 2,
                                     .nonce = {"of who knocks"}};
}

static struct control_greeting proof_for(struct control_greeting challenge,
                                         struct loco_secret secret)
{
    const struct loco_claim claim = {.purpose = LOCO_OF_REQUEST,
                                     .from = 1,
                                     .count = 2,
                                     .asked = challenge.nonce,
                                     .given = hello().nonce};
    struct control_greeting g = hello();
    struct loco_key key;

    loco_key_of(&key, secret);
    g.step = CONTROL_PROOF;
    g.proof = loco_prove(&key, &claim);
    return g;
}

static struct control_greeting say_hello(int fd)
{
    const struct control_greeting h = hello();

    say(fd, &h, sizeof h);
    return hear_greeting(fd);
}

/* A process that has been accepted. */
static int enter(void)
{
    int fd = knock();
    const struct control_greeting proof = proof_for(say_hello(fd), right);

    say(fd, &proof, sizeof proof);
    cr_assert_eq(hear_greeting(fd).step, CONTROL_WELCOME);
    return fd;
}

static struct shm_head head_of(enum shm_kind kind)
{
    return (struct shm_head){.kind = kind, .from = 1, .call = 7};
}

/* The same with a node that has connected to node 0. */
static int enter_and_meet(void)
{
    const struct shm_head meet = head_of(SHM_MEET);
    struct shm_head met;
    int fd = enter();

    say(fd, &meet, sizeof meet);
    cr_assert_eq(recv(fd, &met, sizeof met, 0), (ssize_t)sizeof met);
    cr_assert_eq(met.kind, SHM_MET);
    return fd;
}

/* --- the secret ------------------------------------------------------------------------------- */

Test(strangers, nodes_of_one_secret_meet)
{
    struct live a, b;

    open_live(&a, 0, right);
    open_live(&b, 1, right);
    cr_expect_eq(loco_manager_ready(a.mgr, TEST_TIMEOUT), 0);
    cr_expect_eq(loco_manager_ready(b.mgr, TEST_TIMEOUT), 0);
    close_live(&b);
    close_live(&a);
}

static void expect_apart(struct loco_secret low, struct loco_secret high)
{
    struct live a, b;

    open_live(&a, 0, low);
    open_live(&b, 1, high);
    AWAIT_IN(&a, has_logged(&a, "node 1 of 2: it does not know this network's secret"));
    AWAIT_IN(&b, has_logged(&b, "node 0 of 2: it has another secret"));
    cr_expect_eq(loco_manager_ready(a.mgr, 0), -ETIMEDOUT);
    cr_expect_eq(loco_manager_ready(b.mgr, 0), -ETIMEDOUT);
    close_live(&b);
    close_live(&a);
}

Test(strangers, nodes_of_other_secrets_do_not_meet)
{
    expect_apart(right, wrong);
}

/* Whoever had the place of a node: the right one may come later. */
Test(strangers, the_right_node_is_met_after_a_wrong_one)
{
    struct live other, a, b;

    open_live(&other, 0, wrong);
    open_live(&b, 1, right);
    AWAIT_IN(&b, has_logged(&b, "node 0 of 2: it has another secret"));
    close_live(&other);
    open_live(&a, 0, right);
    cr_expect_eq(loco_manager_ready(b.mgr, TEST_TIMEOUT), 0);
    cr_expect_eq(loco_manager_ready(a.mgr, TEST_TIMEOUT), 0);
    close_live(&b);
    close_live(&a);
}

Test(strangers, a_node_without_a_secret_does_not_meet_those_with_one)
{
    expect_apart(right, (struct loco_secret){0});
    expect_apart((struct loco_secret){0}, right);
}

/* A process without the secret cannot reuse the proof of another connection. */
Test(strangers, a_proof_serves_once)
{
    struct live a;

    open_live(&a, 0, right);
    int fd = knock();
    const struct control_greeting proof = proof_for(say_hello(fd), right);
    const struct shm_head meet = head_of(SHM_MEET);
    say(fd, &proof, sizeof proof);
    cr_expect_eq(hear_greeting(fd).step, CONTROL_WELCOME);
    say(fd, &meet, sizeof meet);
    close(fd);
    AWAIT_IN(&a, has_logged(&a, "peer 1 is lost"));
    fd = knock();
    cr_expect_eq(say_hello(fd).step, CONTROL_CHALLENGE);
    say(fd, &proof, sizeof proof);
    struct control_greeting refusal = hear_greeting(fd);
    cr_expect_eq(refusal.step, CONTROL_REFUSAL);
    cr_expect_eq(refusal.refusal, LOCO_UNPROVEN);
    cr_expect(is_hung_up(fd));
    close_live(&a);
}

/* --- what strangers may not ------------------------------------------------------------------- */

Test(strangers, nothing_is_obeyed_before_the_proof)
{
    struct live a;

    open_live(&a, 0, right);
    for (uint32_t kind = 0; kind <= SHM_PARTING + 1; kind++) {
        unsigned char data[64] = {0};
        memcpy(data, &kind, sizeof kind);
        for (size_t size = 0; size <= sizeof data; size += 8) {
            int fd = knock();
            if (size > 0)
                say(fd, data, size);
            else
                shutdown(fd, SHUT_WR);
            cr_expect(is_hung_up(fd), "kind %x of %zu bytes", kind, size);
        }
    }
    cr_expect_not(has_logged(&a, "lost"), "%s", a.log);
    close_live(&a);
}

Test(strangers, a_greeting_comes_once)
{
    const struct control_greeting h = hello();
    struct control_greeting answer;
    struct live a;

    open_live(&a, 0, right);
    int fd = knock();
    cr_expect_eq(say_hello(fd).step, CONTROL_CHALLENGE);
    say(fd, &h, sizeof h);
    cr_expect_eq(recv(fd, &answer, sizeof answer, 0), 0, "it greeted twice, and was answered");
    close(fd);
    fd = enter();
    say(fd, &h, sizeof h);
    cr_expect(is_hung_up(fd), "it greeted again after its proof");
    close_live(&a);
}

/* The reverse: a node calls, and the test is the process there. */
static int listen_as_node_0(struct live *b, struct sockaddr_un *address)
{
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    cr_assert(temporary_folder(directory));
    snprintf(address->sun_path, sizeof address->sun_path, "%s/node0", directory);
    cr_assert_eq(bind(fd, (struct sockaddr *)address, sizeof *address), 0);
    cr_assert_eq(listen(fd, 8), 0);
    open_live(b, 1, right);
    return fd;
}

Test(strangers, nothing_is_obeyed_from_who_is_connected_to)
{
    const struct shm_head core = head_of(SHM_CORE);
    struct sockaddr_un address;
    struct live b;
    int fd = listen_as_node_0(&b, &address);

    int peer = accept(fd, NULL, NULL);
    cr_expect_eq(hear_greeting(peer).step, CONTROL_HELLO);
    say(peer, &core, sizeof core);
    cr_expect(is_hung_up(peer));
    cr_expect_eq(b.logged, 0, "%s", b.log);
    close(fd);
    unlink(address.sun_path);
    close_live(&b);
}

Test(strangers, who_does_not_answer_is_called_again)
{
    struct sockaddr_un address;
    struct live b;
    int fd = listen_as_node_0(&b, &address);

    for (int i = 0; i < 2; i++) {
        int peer = accept(fd, NULL, NULL);
        cr_expect_eq(hear_greeting(peer).step, CONTROL_HELLO);
        cr_expect(is_hung_up(peer));
    }
    close(fd);
    unlink(address.sun_path);
    close_live(&b);
}

Test(strangers, those_that_stay_are_few)
{
    enum { CROWD = 500, OURS = 16 };
    const struct control_greeting h = hello();
    unsigned before;
    struct live a, b;
    int crowd[CROWD];

    open_live(&a, 0, right);
    before = open_descriptors();
    for (int i = 0; i < CROWD; i++) {
        crowd[i] = knock();
        say(crowd[i], &h, sizeof h);
    }
    cr_expect_eq(hear_greeting(crowd[CROWD - 1]).step, CONTROL_CHALLENGE);
    cr_expect_lt(open_descriptors(), before + CROWD + SHM_STRANGERS_MAX + 2 + 1);
    open_live(&b, 1, right);
    cr_expect_eq(loco_manager_ready(b.mgr, TEST_TIMEOUT), 0, "a node could not get through");
    for (int i = 0; i < CROWD; i++)
        close(crowd[i]);
    close_live(&b);
    close_live(&a);
}

Test(strangers, one_that_says_nothing_is_sent_away)
{
    struct live a;

    open_live(&a, 0, right);
    cr_expect(is_hung_up(knock()));
    close_live(&a);
}

Test(strangers, who_has_no_descriptor_left_rests_and_goes_on)
{
    static const char said[] = "node 0 cannot accept connections: Too many open files";
    struct live a;

    open_live(&a, 0, right);
    int first = knock();
    cr_assert_eq(say_hello(first).step, CONTROL_CHALLENGE);
    const uint64_t since = loco_host_clock(NULL);
    const struct rlimit before = leave_one_descriptor();
    int second = knock();
    AWAIT_IN(&a, has_logged(&a, said));
    expect_rests(since);
    const char *once = memmem(a.log, a.logged, said, strlen(said));
    cr_expect_null(memmem(once + 1, (size_t)(a.log + a.logged - once - 1), said, strlen(said)));
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
    cr_expect_eq(say_hello(second).step, CONTROL_CHALLENGE);
    close(first);
    close(second);
    close_live(&a);
}

Test(strangers, they_do_not_fill_the_log)
{
    struct control_greeting h = hello();
    unsigned lines = 0;
    struct live a;

    h.from = 0; /* it has that itself */
    open_live(&a, 0, right);
    for (int i = 0; i < 100; i++) {
        int fd = knock();
        say(fd, &h, sizeof h);
        cr_expect(is_hung_up(fd));
    }
    for (size_t i = 0; i < a.logged; i++)
        lines += a.log[i] == '\n';
    cr_expect_leq(lines, SHM_REFUSALS_SAID);
    cr_expect(has_logged(&a, "node 0 of 2: another network"), "%s", a.log);
    close_live(&a);
}

/* A process without the secret that claims another count of nodes does not end the set-up: only a
 * node of this run is believed. */
Test(strangers, a_foreigner_is_believed_when_it_has_proven_itself)
{
    struct control_greeting h = hello();
    struct live a, b = {0};

    h.count = 3;
    open_live(&a, 0, right);
    int fd = knock();
    say(fd, &h, sizeof h);
    const struct control_greeting proof = proof_for(hear_greeting(fd), wrong);
    say(fd, &proof, sizeof proof);
    cr_expect(is_hung_up(fd));
    cr_expect(has_logged(&a, "node 1 of 3: it does not know this network's secret"), "%s", a.log);
    cr_expect_eq(loco_manager_ready(a.mgr, 0), -ETIMEDOUT, "it ended the set-up");

    const struct loco_manager_config config = {
        .node = 1, .node_count = 3, .arena_size = 1 << 16, .secret = right};
    cr_assert_eq(loco_shm_open(&b.fabric, directory), 0);
    cr_assert_eq(loco_manager_open(&b.mgr, b.fabric, &config), 0);
    cr_assert_eq(loco_owned_var_init(&b.v, b.mgr, NULL, "v", 0, LOCO_ALL, 8), 0);
    cr_expect_eq(loco_manager_ready(b.mgr, TEST_TIMEOUT), -EPROTO);
    cr_expect_eq(loco_manager_ready(a.mgr, TEST_TIMEOUT), -EPROTO);
    cr_expect(has_logged(&a, "node 1 of 3: another network"), "%s", a.log);
    close_live(&b);
    close_live(&a);
}

/* A process of another user, when the directory has been opened to all. */
Test(strangers, other_users_are_refused)
{
    char path[80];
    struct live a;
    int status;

    if (geteuid() != 0)
        cr_skip_test("only root can become another user");
    open_live(&a, 0, right);
    snprintf(path, sizeof path, "%s/node0", directory);
    cr_assert_eq(chmod(directory, 0755) | chmod(path, 0777), 0);
    pid_t child = fork();
    if (child == 0) {
        if (setuid(65534))
            _exit(2);
        int fd = knock();
        const struct control_greeting h = hello();
        send(fd, &h, sizeof h, MSG_NOSIGNAL);
        struct control_greeting answer;
        _exit(recv(fd, &answer, sizeof answer, 0) > 0);
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "another user was answered");
    cr_expect(has_logged(&a, "a process of another user was refused"), "%s", a.log);
    close_live(&a);
}

/* --- what peers may not ----------------------------------------------------------------------- */

Test(strangers, descriptors_that_nobody_asked_for_are_closed)
{
    const struct control_greeting h = hello();
    const struct shm_head core = head_of(SHM_CORE);
    const struct shm_file_notice file = {.kind = SHM_FILE};
    int fds[100];
    struct live a;

    open_live(&a, 0, right);
    for (int i = 0; i < 100; i++)
        fds[i] = STDERR_FILENO;
    unsigned before = open_descriptors();
    for (unsigned count = 1; count <= 100; count++) {
        int fd = knock();
        say_with(fd, &h, sizeof h, fds, count);
        cr_expect_eq(hear_greeting(fd).step, CONTROL_CHALLENGE);
        close(fd);
        fd = enter();
        say_with(fd, &core, sizeof core, fds, count);
        cr_expect(is_hung_up(fd), "with %u descriptors", count);
        fd = enter();
        say_with(fd, &file, sizeof file, fds, count);
        if (count == 1) /* this one is kept; the next is one too many */
            say_with(fd, &file, sizeof file, fds, count);
        cr_expect(is_hung_up(fd), "with %u descriptors", count);
    }
    AWAIT_IN(&a, open_descriptors() == before);
    close_live(&a);
}

enum { ARENA = 1 << 16 };

static int new_arena_of(off_t size, int seals)
{
    int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    cr_assert_geq(fd, 0);
    cr_assert_eq(ftruncate(fd, size), 0);
    cr_assert_eq(fcntl(fd, F_ADD_SEALS, seals), 0);
    return fd;
}

static int new_arena(int seals)
{
    return new_arena_of(ARENA, seals);
}

/* Whether the node maps an arena that a peer describes like this. It keeps the peer anyway. */
static bool is_mapped(struct live *a, int arena, uint32_t number, struct shm_range range)
{
    const struct shm_file_notice file = {.kind = SHM_FILE, .file = SHM_ORDINARY};
    const struct shm_arena_notice notice = {.head = head_of(SHM_ARENA),
                                            .number = number,
                                            .file = SHM_ORDINARY,
                                            .offset = range.offset,
                                            .size = range.size};
    const struct shm_head malformed = head_of(SHM_CORE);
    int fd = enter_and_meet();

    a->logged = 0;
    a->mgr->malformed = 0;
    say_with(fd, &file, sizeof file, &arena, arena >= 0);
    close(arena);
    say(fd, &notice, sizeof notice);
    say(fd, &malformed, sizeof malformed);
    AWAIT_IN(a, has_logged(a, "malformed"));
    bool mapped = !has_logged(a, "cannot map arena");
    cr_expect_not(has_logged(a, "lost"), "%s", a->log);
    close(fd);
    AWAIT_IN(a, has_logged(a, "peer 1 is lost"));
    return mapped;
}

static const struct shm_range whole = {.size = ARENA};

/* A file that is truncated after the check would end each process that maps it by SIGBUS. */
Test(strangers, an_arena_keeps_its_size)
{
    struct live a;

    open_live(&a, 0, right);
    cr_expect(is_mapped(&a, new_arena(F_SEAL_SHRINK), 0, whole));
    cr_expect_not(is_mapped(&a, new_arena(F_SEAL_GROW | F_SEAL_SEAL), 0, whole));
    cr_expect(has_logged(&a, "its file may shrink"), "%s", a.log);
    close_live(&a);
}

Test(strangers, an_arena_is_as_it_is_told)
{
    const struct {
        uint32_t number;
        struct shm_range range;
    } lies[] = {{0, {0, ARENA + 4096}},
                {0, {4096, ARENA}},
                {0, {ARENA, 4096}},
                {0, {UINT64_MAX - 4095, 4096}},
                {0, {2048, 4096}}, /* not a multiple of the page size */
                {0, {0, 0}},
                {0, {0, UINT64_MAX}},
                {64, {0, ARENA}},
                {UINT32_MAX, {0, ARENA}}};
    struct live a;

    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        open_live(&a, 0, right);
        cr_expect_not(is_mapped(&a, new_arena(F_SEAL_SHRINK), lies[i].number, lies[i].range),
                      "lie %zu", i);
        close_live(&a);
    }
    open_live(&a, 0, right);
    cr_expect(is_mapped(&a, new_arena(F_SEAL_SHRINK), 0, (struct shm_range){4096, ARENA - 4096}));
    close_live(&a);
    open_live(&a, 0, right);
    cr_expect_not(is_mapped(&a, -1, 0, whole), "an arena without a descriptor");
    close_live(&a);
}

/* No page of it is allocated yet, but all of them would be. */
Test(strangers, an_arena_has_room_in_the_machine)
{
    const off_t size = (off_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE) + 4096;
    struct live a;

    open_live(&a, 0, right);
    cr_expect_not(is_mapped(&a, new_arena_of(size, F_SEAL_SHRINK), 0,
                            (struct shm_range){.size = (uint64_t)size}));
    cr_expect(has_logged(&a, "Cannot allocate memory"), "%s", a.log);
    close_live(&a);
}

static int hear_file(int fd)
{
    struct shm_file_notice notice;
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec part = {&notice, sizeof notice};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};
    int arena;

    cr_assert_eq(recvmsg(fd, &message, 0), (ssize_t)sizeof notice);
    cr_assert_eq(notice.kind, SHM_FILE);
    memcpy(&arena, CMSG_DATA(&control.head), sizeof arena);
    return arena;
}

Test(strangers, a_peer_cannot_cut_an_arena)
{
    struct live a;

    open_live(&a, 0, right);
    int fd = enter_and_meet(), arena = hear_file(fd);
    cr_expect_eq(ftruncate(arena, 0), -1);
    cr_expect_eq(fcntl(arena, F_GET_SEALS), F_SEAL_SHRINK | F_SEAL_SEAL);
    close(arena);
    close(fd);
    close_live(&a);
}

/* Each join is answered. A peer that never reads the answers would make the node store them all. It
 * may only stand still, so it is not lost. */
Test(strangers, a_peer_that_does_not_listen_costs_its_channel)
{
    const struct loco_packet_head join = {.kind = LOCO_JOIN, .from = 1, .name = "v"};
    const struct shm_head head = head_of(SHM_CORE);
    unsigned char message[sizeof head + sizeof join];
    struct live a;

    open_live(&a, 0, right);
    memcpy(message, &head, sizeof head);
    memcpy(message + sizeof head, &join, sizeof join);
    int fd = enter_and_meet();
    while (!has_logged(&a, "channel v: cannot send to node 1"))
        cr_assert_gt(send(fd, message, sizeof message, MSG_NOSIGNAL), 0);
    cr_expect_eq(loco_manager_ready(a.mgr, 0), -ENOBUFS);
    cr_expect_not(has_logged(&a, "lost"), "%s", a.log);
    close(fd);
    AWAIT_IN(&a, has_logged(&a, "peer 1 is lost"));
    close_live(&a);
}

Test(strangers, a_peer_that_comes_again_and_again_is_refused)
{
    struct live a;

    open_live(&a, 0, right);
    for (int i = 0; i <= SHM_RETURNS_MAX; i++) {
        a.logged = 0;
        close(enter_and_meet());
        AWAIT_IN(&a, has_logged(&a, "peer 1 is lost"));
    }
    a.logged = 0;
    const struct shm_head meet = head_of(SHM_MEET);
    struct shm_parting parting;
    int fd = enter();
    say(fd, &meet, sizeof meet);
    cr_expect_eq(recv(fd, &parting, sizeof parting, 0), (ssize_t)sizeof parting);
    cr_expect_eq(parting.reason, SHM_UNFIT);
    close(fd);
    AWAIT_IN(&a, has_logged(&a, "a node came back too often"));
    cr_expect_not(has_logged(&a, "lost"), "%s", a.log);
    close_live(&a);
}

/* --- the proof -------------------------------------------------------------------------------- */

/* No proof is accepted in place of another. */
Test(strangers, a_proof_is_of_all_that_it_says)
{
    const struct loco_claim claim = {.purpose = 1, .from = 2, .to = 3, .count = 4};
    struct loco_key key, other;

    loco_key_of(&key, right);
    loco_key_of(&other, wrong);
    struct loco_proof proof = loco_prove(&key, &claim);
    cr_expect(loco_proves(&key, &claim, &proof));
    cr_expect_not(loco_proves(&other, &claim, &proof));
    for (size_t i = 0; i < sizeof claim; i++) {
        struct loco_claim changed = claim;
        ((unsigned char *)&changed)[i] ^= 1;
        cr_expect_not(loco_proves(&key, &changed, &proof), "byte %zu", i);
    }
    for (size_t i = 0; i < sizeof proof; i++) {
        struct loco_proof changed = proof;
        changed.bytes[i] ^= 1;
        cr_expect_not(loco_proves(&key, &claim, &changed), "byte %zu", i);
    }
    struct loco_nonce a, b;
    cr_expect_eq(loco_nonce_new(&a), 0);
    cr_expect_eq(loco_nonce_new(&b), 0);
    cr_expect_neq(memcmp(&a, &b, sizeof a), 0);
}
