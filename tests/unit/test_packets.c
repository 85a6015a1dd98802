/*
 * Tests control messages that no manager would send. A node below the core sends them to a live
 * manager, which must log the refusal and continue.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "channels/packet.h"
#include "tests/ear.h"
#include "tests/nodes.h"
#include "tests/temporary.h"

/* --- one message ------------------------------------------------------------------------------ */

static struct loco_packet join(void)
{
    struct loco_packet p = {
        .head = {.kind = LOCO_JOIN, .region_count = 1, .from = 1, .name = "v"},
        .regions = {{.name = "v", .size = 64, .where = {.known = 1, .offset = 128}}},
    };

    return p;
}

static size_t size_of(const struct loco_packet *p)
{
    return sizeof p->head + p->head.region_count * sizeof p->regions[0];
}

static bool is_read(const struct loco_packet *p, size_t size)
{
    unsigned char exact[size ? size : 1]; /* lets a sanitizer detect reads beyond */
    struct loco_packet read;

    memcpy(exact, p, size);
    return loco_packet_read(&read, exact, size);
}

Test(packets, what_a_manager_sends_is_read)
{
    struct loco_packet p = join();

    cr_expect(is_read(&p, size_of(&p)));
    p.head.kind = LOCO_CONNECT;
    cr_expect(is_read(&p, size_of(&p)));
    p.head.region_count = 0;
    cr_expect(is_read(&p, size_of(&p)));

    struct loco_packet refusal = {.head = {.kind = LOCO_REFUSE, .from = 1, .name = "v"},
                                  .text = "expects region v.v"};
    cr_expect(is_read(&refusal, sizeof refusal));
}

#define EXPECT_MALFORMED(change)                                                                   \
    do {                                                                                           \
        struct loco_packet p = join();                                                             \
        change;                                                                                    \
        cr_expect_not(is_read(&p, size_of(&p)), "%s", #change);                                    \
    } while (0)

Test(packets, every_field_is_checked)
{
    EXPECT_MALFORMED(p.head.kind = LOCO_LINES + 1);
    EXPECT_MALFORMED(p.head.kind = UINT32_MAX);
    EXPECT_MALFORMED(p.head.from = 0);
    EXPECT_MALFORMED(p.head.name[0] = '\0');
    EXPECT_MALFORMED(p.head.name[0] = '\033');
    EXPECT_MALFORMED(memset(p.head.name, 'v', sizeof p.head.name));
    EXPECT_MALFORMED(p.regions[0].name[0] = '\0');
    EXPECT_MALFORMED(p.regions[0].name[1] = '\n');
    EXPECT_MALFORMED(memset(p.regions[0].name, 'v', sizeof p.regions[0].name));
    EXPECT_MALFORMED(p.regions[0].where.known = 0);
    EXPECT_MALFORMED(p.regions[0].where.offset = 129);
    EXPECT_MALFORMED(p.regions[0].where.offset = UINT64_MAX - 63);
    EXPECT_MALFORMED(p.regions[0].size = UINT64_MAX - 127);
}

Test(packets, every_size_is_checked)
{
    struct loco_packet p = join();

    for (size_t size = 0; size < sizeof p; size++)
        cr_expect_eq(is_read(&p, size), size == size_of(&p), "of %zu bytes", size);
    p.head.region_count = LOCO_REGIONS_MAX + 1;
    cr_expect_not(is_read(&p, sizeof p));
    p.head.region_count = UINT32_MAX;
    cr_expect_not(is_read(&p, sizeof p));
}

Test(packets, a_refusal_says_its_reason_in_plain_text)
{
    struct loco_packet p = {.head = {.kind = LOCO_REFUSE, .from = 1, .name = "v"}};

    memset(p.text, 'x', sizeof p.text);
    cr_expect_not(is_read(&p, sizeof p), "it has no end");
    strcpy(p.text, "\033]0;title\a");
    cr_expect_not(is_read(&p, sizeof p), "it commands the terminal");
    strcpy(p.text, "reason");
    cr_expect_not(is_read(&p, sizeof p - 1), "it is cut");
    p.head.region_count = 1;
    cr_expect_not(is_read(&p, sizeof p), "it has regions too");
}

Test(packets, lines_are_plain_text)
{
    struct loco_packet p = {.head = {.kind = LOCO_LINES, .from = 1, .name = "v"}};
    const size_t size = sizeof p.head + sizeof p.lines;

    cr_expect(is_read(&p, size), "no lines are left");
    strcpy(p.lines.text, "name: x\nperiod: 10\n");
    cr_expect(is_read(&p, size));
    cr_expect_not(is_read(&p, size - 1), "they are cut");
    strcpy(p.lines.text, "name: \033[2J\n");
    cr_expect_not(is_read(&p, size), "they command the terminal");
    memset(p.lines.text, 'x', sizeof p.lines.text);
    cr_expect_not(is_read(&p, size), "they have no end");
}

/* --- a live node ------------------------------------------------------------------------------ */

static char said[4096];
static _Atomic size_t said_length;

static void log_line(void *arg, enum loco_level level, const char *text)
{
    size_t length = strlen(text);

    (void)arg;
    (void)level;
    if (said_length + length + 2 > sizeof said)
        return;
    memcpy(said + said_length, text, length);
    said[said_length + length] = '\n';
    said_length += length + 1;
}

/* A manager as node 0 with a channel `v`, and a node 1 without a manager. */
struct pair {
    char directory[TEMPORARY_SIZE];
    struct loco_fabric *fabric, *raw_fabric;
    struct loco_manager *mgr;
    struct loco_node *raw;
    struct ear ear; /* the raw node's */
    struct loco_owned_var v;
};

static void open_pair(struct pair *t)
{
    const struct loco_manager_config config = {
        .node = 0, .node_count = 2, .arena_size = 1 << 16, .log = log_line};
    const struct loco_events events = ear_events(&t->ear);

    cr_assert(temporary_folder(t->directory));
    cr_assert_eq(loco_shm_open(&t->fabric, t->directory), 0);
    cr_assert_eq(loco_manager_open(&t->mgr, t->fabric, &config), 0);
    cr_assert_eq(loco_owned_var_init(&t->v, t->mgr, NULL, "v", 0, LOCO_ALL, 8), 0);
    cr_assert_eq(loco_shm_open(&t->raw_fabric, t->directory), 0);
    cr_assert_eq(t->raw_fabric->ops->node_open(t->raw_fabric, 1, 2, (struct loco_secret){0},
                                               &events, &t->raw),
                 0);
    cr_assert_eq(t->raw_fabric->ops->meet(t->raw, 0), 0);
    struct loco_wait wait = loco_wait_for(t->mgr, TEST_TIMEOUT);
    while (!t->ear.ups)
        cr_assert_eq(loco_relax(t->mgr, &wait), 0);
}

static void close_pair(struct pair *t)
{
    t->raw_fabric->ops->node_close(t->raw);
    loco_shm_close(t->raw_fabric);
    loco_owned_var_fini(&t->v);
    loco_manager_close(t->mgr);
    loco_shm_close(t->fabric);
    rmdir(t->directory);
}

static void say(struct pair *t, const void *message, size_t size)
{
    cr_assert_eq(t->raw_fabric->ops->send(t->raw, 1 - t->raw->id, message, size), 0);
}

static void await_said(const struct pair *t, const char *text)
{
    struct loco_wait wait = loco_wait_for(t->mgr, TEST_TIMEOUT);

    while (!memmem(said, said_length, text, strlen(text)))
        cr_assert_eq(loco_relax(t->mgr, &wait), 0, "never said: %s", text);
}

/* Without a terminating zero, the manager would print memory beyond a refusal's text. */
Test(packets, an_unknown_kind_is_refused)
{
    struct loco_packet unknown = join();
    struct pair t = {0};

    unknown.head.kind = 7;
    open_pair(&t);
    say(&t, &unknown, size_of(&unknown));
    await_said(&t, "node 1 sent a malformed message of 296 bytes");
    cr_expect_not(memmem(said, said_length, "refused", 7), "%s", said);
    cr_expect_eq(loco_manager_ready(t.mgr, 0), -ETIMEDOUT, "it took the message for a refusal");
    close_pair(&t);
}

Test(packets, a_flood_of_malformed_ones_does_not_fill_the_log)
{
    struct loco_packet last = join();
    struct pair t = {0};
    unsigned lines = 0;

    open_pair(&t);
    for (int i = 0; i < 1000; i++)
        say(&t, "x", 1);
    last.regions[0].size = 65; /* the channel's region has another size */
    say(&t, &last, size_of(&last));
    await_said(&t, "expects region v.v");
    for (const char *line = said; (line = strstr(line, "malformed")); line++)
        lines++;
    cr_expect_leq(lines, 8);
    cr_expect_gt(lines, 0);
    close_pair(&t);
}

/* With a region of another size, operations could go beyond its end. */
Test(packets, a_region_of_another_size_does_not_connect)
{
    struct loco_packet connect = join();
    struct pair t = {0};

    connect.head.kind = LOCO_CONNECT;
    connect.regions[0].size = 4;
    open_pair(&t);
    connect.head.to = t.v.channel.endpoint;
    say(&t, &connect, size_of(&connect));
    await_said(&t, "channel v: node 1");
    cr_expect_not(loco_member_connected(&t.v.channel.members[0]));
    close_pair(&t);
}
