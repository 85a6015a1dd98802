/* Tests how the processes of a run learn the nodes' addresses: the texts that they are given, and
 * attacks by strangers. tests/run/test_rendezvous.c tests the same with programs. */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>

#include "channels/control/wire.h"
#include "channels/fabric/addresses.h"
#include "harness/launch/part_nodes.h"
#include "harness/launch/rendezvous_internal.h"
#include "harness/tools/merge/clock_line.h"
#include "test_scenario.h"
#include "tests/nodes.h"

/* --- texts ------------------------------------------------------------------------------------ */

static void expect_first_host(const char *list, const char *expected)
{
    char host[20] = "";
    const int rc = hil_rendezvous_first_host(list, host, sizeof host);

    cr_expect_eq(rc, expected ? 0 : -EINVAL, "%s", list);
    if (expected)
        cr_expect_str_eq(host, expected);
}

Test(rendezvous, the_first_of_slurms_hosts)
{
    expect_first_host("node1", "node1");
    expect_first_host("node1,node2", "node1");
    expect_first_host("node[01-04,07],gpu3", "node01");
    expect_first_host("rack[3,5-6]n", "rack3n");
    expect_first_host("rack[1-2]n[1-4]", NULL); /* of two ranges: the first is none of a host's */
    expect_first_host("node[", NULL);
    expect_first_host("", NULL);
    expect_first_host("a-name-that-is-far-too-long", NULL);
}

static void expect_place(const char *text, const char *host, unsigned port)
{
    struct hil_rendezvous_place place;

    cr_assert(hil_rendezvous_place_parse(text, &place), "%s", text);
    cr_expect_str_eq(place.host, host);
    cr_expect_eq(place.port, port, "%s: port %u", text, place.port);
}

Test(rendezvous, a_place_is_a_host_and_perhaps_a_port)
{
    struct hil_rendezvous_place place;

    expect_place("10.0.0.1", "10.0.0.1", 18699);
    expect_place("node1:99", "node1", 99);
    expect_place("fd00::1", "fd00::1", 18699);
    expect_place("[fd00::1]:65535", "fd00::1", 65535);
    expect_place("[fd00::1]", "fd00::1", 18699);
    for (const char **wrong =
             (const char *[]){"", ":99", "a:", "a:0", "a:65536", "a:1x", "[a", "a b", "10.0.0.300",
                              "[fd00::1]x", "fe80::1", "[fe80::1%eth0]:99", NULL};
         *wrong; wrong++)
        cr_expect_not(hil_rendezvous_place_parse(*wrong, &place), "%s", *wrong);
}

Test(rendezvous, a_link_local_address_is_nowhere)
{
    struct sockaddr_storage address;

    cr_expect_eq(loco_address_find("fe80::1", &address), loco_address_only_link_local);
    cr_expect_null(loco_address_find("127.0.0.1", &address));
    cr_expect_eq(address.ss_family, AF_INET);
}

static void expect_rank(const char *name, const char *size, unsigned of, const char *said)
{
    struct hil_part_rank rank;

    setenv(name, "3", 1);
    if (size)
        setenv(size, "8", 1);
    cr_assert_eq(hil_part_rank(&rank), 0, "%s", name);
    cr_expect_eq(rank.is, 3);
    cr_expect_eq(rank.of, of, "%s: %u", name, rank.of);
    cr_expect_str_eq(rank.said, said);
    unsetenv(name);
}

Test(rendezvous, ranks_of_each_launcher)
{
    struct hil_part_rank rank;

    cr_expect_eq(hil_part_rank(&rank), -EINVAL);
    cr_expect_str_eq(rank.said, "");
    expect_rank("PMIX_RANK", NULL, 0, "PMIX_RANK is '3': ");
    expect_rank("JOB_COMPLETION_INDEX", NULL, 0, "JOB_COMPLETION_INDEX is '3': ");
    expect_rank("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", 8,
                "OMPI_COMM_WORLD_RANK is '3' of '8': ");
    expect_rank("PMI_RANK", "PMI_SIZE", 8, "PMI_RANK is '3' of '8': ");
    expect_rank("SLURM_PROCID", "SLURM_NTASKS", 8, "SLURM_PROCID is '3' of '8': ");
}

Test(rendezvous, what_is_no_rank_starts_no_node)
{
    struct hil_part_rank rank;

    for (const char **wrong = (const char *[]){"", "x", "1x", "-1", " 1", "4294967296",
                                               "18446744073709551616", NULL};
         *wrong; wrong++) {
        setenv("JOB_COMPLETION_INDEX", *wrong, 1);
        cr_expect_eq(hil_part_rank(&rank), -EINVAL, "'%s'", *wrong);
    }
    setenv("PMI_RANK", "8", 1);
    setenv("PMI_SIZE", "8", 1);
    cr_expect_eq(hil_part_rank(&rank), -EINVAL);
    cr_expect_str_eq(rank.said, "PMI_RANK is '8' of '8': ");
}

/* --- clocks ----------------------------------------------------------------------------------- */

Test(rendezvous, the_shortest_trip_tells_the_clock)
{
    const struct hil_clock_reading unkept = {.steady_ns = 5000, .day_about_ns = UINT64_MAX};
    struct hil_machine_clock clock = {0};

    hil_machine_clock_take(&clock, 1000, &unkept, 2000, &unkept);
    cr_expect(clock.known);
    cr_expect_eq(clock.by, HIL_CLOCK_BY_TRIPS);
    cr_expect_eq(clock.ahead_ns, 3500);
    cr_expect_eq(clock.about_ns, 501);
    hil_machine_clock_take(&clock, 4000, &unkept, 4100, &unkept);
    cr_expect_eq(clock.ahead_ns, 950);
    cr_expect_eq(clock.about_ns, 51);
    hil_machine_clock_take(&clock, 1000, &unkept, 9000, &unkept);
    cr_expect_eq(clock.ahead_ns, 950);
}

/* The time of day is 7 s on both machines, accurate to 3 us there and 2 us here. There it is 4 s
 * after the boot, here 1 s. */
Test(rendezvous, the_time_of_day_tells_the_clock_where_it_is_better)
{
    const struct hil_clock_reading there = {4000000000, 7000000000, 3000},
                                   here = {1000000000, 7000000000, 2000};
    struct hil_clock_reading unkept = here, worse = there;
    struct hil_machine_clock clock = {0};

    unkept.day_about_ns = UINT64_MAX;
    hil_machine_clock_take(&clock, 1000000000, &there, 1000100000, &unkept);
    cr_expect_eq(clock.by, HIL_CLOCK_BY_TRIPS);
    hil_machine_clock_take(&clock, 1000000000, &there, 1000100000, &here);
    cr_expect_eq(clock.by, HIL_CLOCK_BY_DAY);
    cr_expect_eq(clock.ahead_ns, 3000000000);
    cr_expect_eq(clock.about_ns, 7000, "%llu", (unsigned long long)clock.about_ns);
    worse.day_about_ns = 1000000;
    worse.day_ns += 5000;
    hil_machine_clock_take(&clock, 1000000000, &worse, 1000100000, &here);
    cr_expect_eq(clock.ahead_ns, 3000000000);
    hil_machine_clock_take(&clock, 1000000000, &there, 1000001000, &here);
    cr_expect_eq(clock.by, HIL_CLOCK_BY_TRIPS);
    cr_expect_eq(clock.about_ns, 501);
}

/* --- three processes, as threads -------------------------------------------------------------- */

struct party {
    struct hil_scenario *scenario;
    struct hil_rendezvous *rendezvous;
    const char *secret;
    unsigned first, count;
    unsigned wait_s;
    int rc;
    char why[HIL_RENDEZVOUS_WHY], said[2000];
    pthread_t thread;
};

static void party_hears(void *party, const char *line)
{
    struct party *p = party;

    strncat(p->said, line, sizeof p->said - strlen(p->said) - 1);
}

/* Ends only its nodes. */
static void party_choose(struct party *p)
{
    static const unsigned all[] = {0, 1, 2, 3};
    struct hil_executor_config *e = &p->scenario->executors[0];

    e->nodes = all + p->first;
    e->count = p->count;
    p->scenario->executor_count = 1;
}

static void *party_main(void *party)
{
    struct party *p = party;
    const struct hil_rendezvous_config config = {
        .scenario = p->scenario,
        .secret = {p->secret, strlen(p->secret)},
        .wait_s = p->wait_s ? p->wait_s : 60,
        .say = party_hears,
        .arg = p,
    };

    p->rc = hil_rendezvous_meet(&p->rendezvous, &config, p->why);
    return NULL;
}

static void party_start(struct party *p, unsigned first, unsigned count, const char *set)
{
    char place[80], message[MESSAGE_BYTES];
    const char *sets[] = {place, "fabric=tcp", set, NULL};

    snprintf(place, sizeof place, "rendezvous=%s", own_loopback());
    cr_assert_eq(load_text(&p->scenario, SMALL, strlen(SMALL), sets, message), 0, "%s", message);
    p->first = first;
    p->count = count;
    p->secret = p->secret ? p->secret : "0123456789abcdef";
    party_choose(p);
    cr_assert_eq(pthread_create(&p->thread, NULL, party_main, p), 0);
}

static void party_end(struct party *p)
{
    hil_rendezvous_close(p->rendezvous);
    hil_scenario_free(p->scenario);
}

static void parties_join(struct party *parties, int count)
{
    for (int i = 0; i < count; i++)
        pthread_join(parties[i].thread, NULL);
}

static void expect_addresses(const struct party *p)
{
    cr_expect_eq(p->rc, 0, "%s", p->why);
    for (unsigned n = 0; !p->rc && n < 4; n++)
        cr_expect_str_eq(p->scenario->system->nodes[n].address, own_loopback());
}

Test(rendezvous, all_learn_all_addresses, .timeout = 120)
{
    struct party parties[3] = {0};
    struct hil_machine_clock clock;

    party_start(&parties[2], 2, 2, NULL);
    party_start(&parties[1], 1, 1, NULL);
    party_start(&parties[0], 0, 1, NULL);
    parties_join(parties, 3);
    for (int i = 0; i < 3; i++)
        expect_addresses(&parties[i]);
    cr_assert_eq(hil_rendezvous_serve(parties[0].rendezvous), 0);
    cr_expect_eq(hil_rendezvous_clock(parties[1].rendezvous, &clock), 0);
    cr_expect(clock.known);
    cr_expect_leq((uint64_t)llabs(clock.ahead_ns), clock.about_ns);
    for (int i = 0; i < 3; i++)
        party_end(&parties[i]);
}

/* Registers again, until its end has been noticed. */
static void party_comes_back(struct party *p, unsigned first, unsigned count)
{
    *p = (struct party){0};
    for (p->rc = -EEXIST; p->rc == -EEXIST; poll(NULL, 0, 100)) {
        hil_scenario_free(p->scenario);
        party_start(p, first, count, NULL);
        parties_join(p, 1);
    }
}

Test(rendezvous, who_comes_back_is_told_again, .timeout = 120)
{
    struct party parties[3] = {0};

    party_start(&parties[0], 0, 1, NULL);
    party_start(&parties[1], 1, 3, NULL);
    parties_join(parties, 2);
    cr_assert_eq(hil_rendezvous_serve(parties[0].rendezvous), 0);
    party_start(&parties[2], 2, 1, NULL);
    parties_join(parties + 2, 1);
    cr_expect_eq(parties[2].rc, -EEXIST);
    cr_expect(strstr(parties[2].why, "converter[1] has already registered at "));
    party_end(&parties[1]);
    party_comes_back(&parties[1], 1, 3);
    expect_addresses(&parties[1]);
    for (int i = 0; i < 3; i++)
        party_end(&parties[i]);
}

/* Ends the connection as a machine that loses power does: the other end is told nothing. Returns
 * whether this process may do so. */
static bool party_loses_power(struct party *p)
{
    const int on = 1;
    short events;

    if (setsockopt(loco_connection_socket(p->rendezvous->connection, &events), IPPROTO_TCP,
                   TCP_REPAIR, &on, sizeof on))
        return false;
    loco_connection_close(p->rendezvous->connection);
    p->rendezvous->connection = NULL;
    return true;
}

/* It takes its place again, although the first node's process has not heard that it left. */
Test(rendezvous, who_lost_power_comes_back, .timeout = 120)
{
    struct party parties[2] = {0};

    party_start(&parties[0], 0, 1, NULL);
    party_start(&parties[1], 1, 3, NULL);
    parties_join(parties, 2);
    cr_assert_eq(hil_rendezvous_serve(parties[0].rendezvous), 0);
    if (!party_loses_power(&parties[1]))
        cr_skip_test("TCP_REPAIR is forbidden here");
    party_end(&parties[1]);
    party_comes_back(&parties[1], 1, 3);
    expect_addresses(&parties[1]);
    party_end(&parties[0]);
    party_end(&parties[1]);
}

Test(rendezvous, the_key_that_differs_is_named_at_both_ends, .timeout = 120)
{
    struct party parties[2] = {0};

    party_start(&parties[0], 0, 1, "nodes.controller.period_us=40");
    party_start(&parties[1], 1, 3, NULL);
    parties_join(parties, 2);
    cr_expect_eq(parties[0].rc, -EPROTO);
    cr_expect_eq(parties[1].rc, -EPROTO);
    cr_expect_str_eq(
        parties[0].why,
        "converter[0] has another scenario: nodes.controller.period_us is 40 here and 20 there");
    cr_expect_str_eq(
        parties[1].why,
        "controller has another scenario: nodes.controller.period_us is 20 here and 40 there");
    party_end(&parties[0]);
    party_end(&parties[1]);
}

Test(rendezvous, another_count_is_named_at_both_ends, .timeout = 120)
{
    struct party parties[2] = {0};

    party_start(&parties[0], 0, 1, "nodes.converter.count=7");
    party_start(&parties[1], 1, 3, NULL);
    parties_join(parties, 2);
    cr_expect_str_eq(parties[0].why,
                     "a node has another scenario: there are 8 nodes here and 4 there");
    cr_expect_str_eq(parties[1].why,
                     "a node has another scenario: there are 4 nodes here and 8 there");
    party_end(&parties[0]);
    party_end(&parties[1]);
}

Test(rendezvous, another_secret_ends_nothing_and_is_said, .timeout = 120)
{
    struct party parties[3] = {{.secret = NULL}, {.secret = "another secret..", .wait_s = 3}};

    party_start(&parties[0], 0, 1, NULL);
    party_start(&parties[1], 1, 3, NULL);
    parties_join(parties + 1, 1);
    cr_expect_eq(parties[1].rc, -ETIMEDOUT);
    cr_expect(strstr(parties[1].why, "it has another secret"), "%s", parties[1].why);
    party_start(&parties[2], 1, 3, NULL);
    pthread_join(parties[0].thread, NULL);
    parties_join(parties + 2, 1);
    expect_addresses(&parties[0]);
    expect_addresses(&parties[2]);
    cr_expect(strstr(parties[0].said, "it does not know this network's secret"));
    for (int i = 0; i < 3; i++)
        party_end(&parties[i]);
}

/* --- a process without a scenario ------------------------------------------------------------- */

static void fetch(struct party *p, const char *secret, unsigned wait_s, char **text)
{
    struct hil_rendezvous_place place = {.port = HIL_RENDEZVOUS_PORT};
    const struct hil_rendezvous_config config = {.secret = {secret, strlen(secret)},
                                                 .wait_s = wait_s};

    snprintf(place.host, sizeof place.host, "%s", own_loopback());
    *text = NULL;
    p->rc = hil_rendezvous_fetch(&place, &config, text, p->why);
}

/* It may come before the others have met, and during the run. It changes nothing for them. */
Test(rendezvous, the_scenario_may_be_fetched, .timeout = 120)
{
    struct party parties[2] = {0}, third = {0};
    char *text;

    party_start(&parties[0], 0, 1, NULL);
    fetch(&third, "0123456789abcdef", 60, &text);
    cr_assert_eq(third.rc, 0, "%s", third.why);
    cr_expect_str_eq(text, parties[0].scenario->resolved);
    free(text);
    party_start(&parties[1], 1, 3, NULL);
    parties_join(parties, 2);
    expect_addresses(&parties[0]);
    cr_assert_eq(hil_rendezvous_serve(parties[0].rendezvous), 0);
    fetch(&third, "0123456789abcdef", 60, &text);
    cr_assert_eq(third.rc, 0, "%s", third.why);
    cr_expect_str_eq(text, parties[0].scenario->resolved);
    free(text);
    party_end(&parties[0]);
    party_end(&parties[1]);
}

Test(rendezvous, a_stranger_gets_no_scenario, .timeout = 120)
{
    struct party parties[2] = {0}, stranger = {0};
    char *text;

    party_start(&parties[0], 0, 1, NULL);
    fetch(&stranger, "another secret..", 1, &text);
    cr_expect_eq(stranger.rc, -ETIMEDOUT);
    cr_expect_null(text);
    cr_expect(strstr(stranger.why, "for the first node at 127."), "%s", stranger.why);
    cr_expect(strstr(stranger.why, "it has another secret"), "%s", stranger.why);
    party_start(&parties[1], 1, 3, NULL);
    parties_join(parties, 2);
    party_end(&parties[0]);
    party_end(&parties[1]);
}

/* --- strangers -------------------------------------------------------------------------------- */

static int stranger_call(void)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(HIL_RENDEZVOUS_PORT)};
    int fd;

    inet_pton(AF_INET, own_loopback(), &to.sin_addr);
    for (;;) { /* until somebody listens */
        fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (!connect(fd, (struct sockaddr *)&to, sizeof to))
            return fd;
        close(fd);
        usleep(1000);
    }
}

/* Reads the rest until the other end closes. */
static size_t stranger_hears(int fd, void *into, size_t size)
{
    size_t in = 0;
    ssize_t got;

    while (in < size && (got = recv(fd, (char *)into + in, size - in, 0)) > 0)
        in += (size_t)got;
    close(fd);
    return in;
}

static bool stranger_says(int fd, const void *bytes, size_t size)
{
    return send(fd, bytes, size, MSG_NOSIGNAL) == (ssize_t)size;
}

static struct control_greeting hello(void)
{
    return (struct control_greeting){.magic = RENDEZVOUS_MAGIC,
                                     .version = RENDEZVOUS_VERSION,
                                     .step = CONTROL_HELLO,
                                     .from = 1,
                                     .count = 4};
}

static void expect_refused(const struct control_greeting *said)
{
    struct control_greeting answer[2];
    const int fd = stranger_call();

    cr_assert(stranger_says(fd, said, sizeof *said));
    cr_expect_eq(stranger_hears(fd, answer, sizeof answer), sizeof answer[0]);
    cr_expect_eq(answer[0].step, CONTROL_REFUSAL);
    cr_expect_eq(answer[0].version, RENDEZVOUS_VERSION);
}

/* Proves that it knows the secret, and then sends a message that no process sends. */
static void expect_cut_off(uint32_t kind, uint32_t size)
{
    const struct control_head head = {.kind = kind, .size = size};
    struct control_greeting own = hello(), other;
    unsigned char body[200] = {0};
    struct loco_key key;
    const int fd = stranger_call();

    loco_key_of(&key, (struct loco_secret){"0123456789abcdef", 16});
    cr_assert(stranger_says(fd, &own, sizeof own));
    cr_assert_eq(recv(fd, &other, sizeof other, MSG_WAITALL), sizeof other);
    const struct loco_claim claim =
        loco_claim_of(RENDEZVOUS_PURPOSE + LOCO_OF_REQUEST, 1, 0, 4, &other.nonce, &own.nonce);
    own.step = CONTROL_PROOF;
    own.proof = loco_prove(&key, &claim);
    cr_assert(stranger_says(fd, &own, sizeof own));
    cr_assert_eq(recv(fd, &other, sizeof other, MSG_WAITALL), sizeof other);
    cr_assert_eq(other.step, CONTROL_WELCOME);
    stranger_says(fd, &head, sizeof head);
    stranger_says(fd, body, size < sizeof body ? size : 0);
    stranger_hears(fd, body, sizeof body);
}

Test(rendezvous, strangers_are_refused_and_the_others_meet, .timeout = 120)
{
    struct party parties[2] = {0};
    struct control_greeting said = hello();
    unsigned char answer[100];

    party_start(&parties[0], 0, 1, NULL);
    said.version++;
    expect_refused(&said);
    said = hello();
    said.magic = 0x20544547; /* "GET " */
    expect_refused(&said);
    said = hello();
    said.step = CONTROL_PROOF; /* before its hello */
    expect_refused(&said);

    const int half = stranger_call(); /* sends half a hello, and no more */
    cr_assert(stranger_says(half, &said, 7));
    expect_cut_off(99, 0);
    expect_cut_off(RENDEZVOUS_REGISTER, 8);       /* without its nodes */
    expect_cut_off(RENDEZVOUS_REGISTER, 1 << 30); /* more than there is room for */
    expect_cut_off(RENDEZVOUS_ELSEWHERE, sizeof(struct rendezvous_address));
    expect_cut_off(RENDEZVOUS_LINES, 100);
    expect_cut_off(RENDEZVOUS_CLOCK, 3);
    cr_expect_eq(stranger_hears(half, answer, sizeof answer), 0);

    party_start(&parties[1], 1, 3, NULL);
    parties_join(parties, 2);
    expect_addresses(&parties[0]);
    expect_addresses(&parties[1]);
    cr_expect(strstr(parties[0].said, "it is of another version: 4 there, 3 here"));
    cr_expect(strstr(parties[0].said, "it is not hiloco"));
    cr_expect(strstr(parties[0].said, "it sent what no process of a run sends"));
    party_end(&parties[0]);
    party_end(&parties[1]);
}

/* Many silent connections keep nobody out. */
Test(rendezvous, a_crowd_that_says_nothing_is_let_go, .timeout = 120)
{
    struct party parties[2] = {0};
    int crowd[100];

    party_start(&parties[0], 0, 1, NULL);
    for (int i = 0; i < 100; i++)
        crowd[i] = stranger_call();
    party_start(&parties[1], 1, 3, NULL);
    parties_join(parties, 2);
    expect_addresses(&parties[1]);
    for (int i = 0; i < 100; i++)
        close(crowd[i]);
    party_end(&parties[0]);
    party_end(&parties[1]);
}

/* --- other programs at the first node's address ----------------------------------------------- */

static int impostor_listens(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(HIL_RENDEZVOUS_PORT)};
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

    inet_pton(AF_INET, own_loopback(), &at.sin_addr);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    cr_assert_eq(bind(listener, (struct sockaddr *)&at, sizeof at), 0);
    cr_assert_eq(listen(listener, 16), 0);
    return listener;
}

/* A process registers at a program that sends a text, and then leaves or keeps silent. */
static void expect_told(const char *text, bool leaves, const char *told)
{
    const int listener = impostor_listens();
    struct party party = {.wait_s = 1};
    struct control_greeting heard;

    party_start(&party, 1, 3, NULL);
    const int fd = accept(listener, NULL, NULL);
    cr_assert_eq(recv(fd, &heard, sizeof heard, MSG_WAITALL), sizeof heard);
    cr_assert(stranger_says(fd, text, strlen(text)));
    if (leaves)
        close(fd);
    parties_join(&party, 1);
    cr_expect_eq(party.rc, -ETIMEDOUT);
    cr_expect(strstr(party.why, told), "%s", party.why);
    if (!leaves)
        close(fd);
    close(listener);
    party_end(&party);
}

Test(rendezvous, what_another_program_does_is_told, .timeout = 120)
{
    expect_told("", false, "18699: the program there does not answer");
    expect_told("", true, "18699: the program there ended the connection");
    expect_told("SSH-2.0-OpenSSH_9.2\r\n", false, "18699: the program there is not hiloco");
}

/* One that does not know the secret is not believed. */
Test(rendezvous, an_impostor_is_not_believed, .timeout = 120)
{
    const int listener = impostor_listens();
    struct party party = {.wait_s = 2};
    struct control_greeting heard, said = hello();

    party_start(&party, 1, 3, NULL);
    const int fd = accept(listener, NULL, NULL);
    cr_assert_eq(recv(fd, &heard, sizeof heard, MSG_WAITALL), sizeof heard);
    said.from = 0;
    said.step = CONTROL_CHALLENGE;
    cr_assert(stranger_says(fd, &said, sizeof said));
    cr_assert_eq(recv(fd, &heard, sizeof heard, MSG_WAITALL), sizeof heard);
    said.step = CONTROL_WELCOME;
    cr_assert(stranger_says(fd, &said, sizeof said));
    cr_expect_eq(recv(fd, &heard, sizeof heard, MSG_WAITALL), 0, "it registered");
    close(fd);
    close(listener);
    parties_join(&party, 1);
    cr_expect_eq(party.rc, -ETIMEDOUT);
    party_end(&party);
}

/* 10 ppm in 100 s are 1 ms. The clocks were compared 2 s before the start and 98 s after it. */
Test(rendezvous, a_time_of_a_record_is_known_by_the_first_clock)
{
    const uint64_t second = 1000000000;
    struct hil_part_report told = {
        .start_ns = 1002 * second,
        .before = {.known = true,
                   .by = HIL_CLOCK_BY_TRIPS,
                   .ahead_ns = 500,
                   .about_ns = 20,
                   .compared_ns = 1000 * second},
        .after = {.known = true,
                  .by = HIL_CLOCK_BY_TRIPS,
                  .ahead_ns = 500 + 1000000,
                  .about_ns = 30,
                  .compared_ns = 1100 * second},
    };

    cr_expect_float_eq(hil_clock_line(&told, 98), 98.001, 1e-12);
    cr_expect_float_eq(hil_clock_line(&told, 0), 20e-6, 1e-12);
    cr_expect_eq(hil_clock_about_ns(&told), 30);
    told.after.known = false;
    cr_expect_eq(hil_clock_line(&told, 98), 98);
    cr_expect_eq(hil_clock_about_ns(&told), 20);
}
