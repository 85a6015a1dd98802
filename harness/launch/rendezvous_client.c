/* The rendezvous in processes without the first node. */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../channels/fabric/addresses.h"
#include "../../channels/fabric/host_time.h"
#include "../run/clock.h"
#include "rendezvous_internal.h"

enum {
    CLIENT_RETRY_MS = 200,
    CLIENT_CONNECT_MS = 1000,
    CLIENT_TRIPS = 64,
    CLIENT_SCENARIO_MOST = 16 << 20 /* bytes */
};

/* How long a message may take to arrive, and a scenario, which can be long. */
static const uint64_t CLIENT_MESSAGE_NS = 2000000000, CLIENT_SCENARIO_NS = 20000000000;

/* Results of an attempt. */
enum { CLIENT_AGAIN = 1 }; /* try again later; otherwise 0 or a negative errno */

/* --- connecting ------------------------------------------------------------------------------- */

static int client_connect_to(const struct sockaddr *at, socklen_t at_size)
{
    const int fd = socket(at->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct pollfd look = {.fd = fd, .events = POLLOUT};
    int error = 0;
    socklen_t size = sizeof error;

    if (fd < 0)
        return -errno;
    if (connect(fd, at, at_size) && errno != EINPROGRESS)
        error = errno;
    else if (poll(&look, 1, CLIENT_CONNECT_MS) < 1)
        error = ETIMEDOUT;
    else if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size))
        error = errno;
    if (!error && fcntl(fd, F_SETFL, 0))
        error = errno;
    if (!error) {
        rendezvous_set_options(fd);
        return fd;
    }
    close(fd);
    return -error;
}

/* Returns a socket, or -1 with the reason in *why. */
static int client_connect(const struct hil_rendezvous *r, const char **why)
{
    const struct hil_rendezvous_place *place = &r->place;
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
    struct addrinfo *found;
    char port[8];
    int fd = -1;

    snprintf(port, sizeof port, "%u", place->port);
    const int rc = getaddrinfo(place->host, port, &hints, &found);
    if (rc) {
        *why = gai_strerror(rc);
        return -1;
    }
    *why = loco_address_only_link_local;
    for (const struct addrinfo *at = found; at && fd < 0; at = at->ai_next) {
        if (loco_address_is_link_local(at->ai_addr))
            continue;
        fd = client_connect_to(at->ai_addr, at->ai_addrlen);
        *why = fd < 0 ? strerror(-fd) : "";
    }
    freeaddrinfo(found);
    return fd < 0 ? -1 : fd;
}

/* Reads all bytes that come until then. Returns false if they do not (errno is EAGAIN), or if the
 * connection has ended. */
static bool client_read_until(int fd, void *to, size_t size, uint64_t until_ns)
{
    struct pollfd look = {.fd = fd, .events = POLLIN};
    unsigned char *at = to;

    while (size > 0) {
        const uint64_t now_ns = hil_clock_monotonic();
        if (now_ns < until_ns)
            poll(&look, 1, (int)((until_ns - now_ns) / 1000000) + 1);
        const ssize_t got = recv(fd, at, size, MSG_DONTWAIT);
        if (got == 0)
            errno = ECONNRESET;
        if (got == 0 || (got < 0 && errno != EINTR && (errno != EAGAIN || now_ns >= until_ns)))
            return false;
        at += got > 0 ? got : 0;
        size -= got > 0 ? (size_t)got : 0;
    }
    return true;
}

/* The same within the time that a message may take to arrive. */
static bool client_read(int fd, void *to, size_t size)
{
    return client_read_until(fd, to, size, hil_clock_monotonic() + CLIENT_MESSAGE_NS);
}

/* --- greeting --------------------------------------------------------------------------------- */

static uint32_t client_first_node(const struct hil_rendezvous *r)
{
    uint32_t node = 0;

    while (r->count && !rendezvous_has(r->here, node))
        node++;
    return node;
}

/* Handles a refusal; it is final if the other end has proved that it knows the secret. */
static int client_hear_refusal(struct hil_rendezvous *r, const struct tcp_greeting *g,
                               const struct loco_claim *answer, const char **why)
{
    const char *refused = loco_refusal_by(g->refusal);

    if (g->refusal == LOCO_FOREIGN && g->count != r->count &&
        loco_proves(&r->key, answer, &g->proof)) {
        rendezvous_explain_count(r, g->count);
        return -EPROTO;
    }
    *why = refused ? refused : "it refused this process";
    return CLIENT_AGAIN;
}

static int client_hear_answer(struct hil_rendezvous *r, const struct tcp_greeting *g,
                              const struct tcp_greeting *own, const struct loco_nonce *given,
                              const char **why)
{
    const struct loco_claim answer =
        loco_claim_of(RENDEZVOUS_OF_ANSWER, 0, own->from, g->count, &own->nonce, given);

    if (g->step == TCP_REFUSAL)
        return client_hear_refusal(r, g, &answer, why);
    if (g->step == TCP_WELCOME && loco_proves(&r->key, &answer, &g->proof))
        return 0;
    *why = "the program there does not know this run's secret";
    return CLIENT_AGAIN;
}

static bool client_speaks_alike(const struct tcp_greeting *g, const char **why)
{
    static char text[80];

    if (g->magic == RENDEZVOUS_MAGIC && g->version == RENDEZVOUS_VERSION)
        return true;
    snprintf(text, sizeof text, "it is of another version: %u there, %u here", g->version,
             RENDEZVOUS_VERSION);
    *why = g->magic == RENDEZVOUS_MAGIC ? text : "the program there is not hiloco";
    return false;
}

/* Any program may be there. What does not begin as a greeting is not waited for, and one that drips
 * is not waited for longer than one that says nothing. */
static bool client_hear_greeting(int fd, struct tcp_greeting *g, const char **why)
{
    const size_t language = offsetof(struct tcp_greeting, step);
    const uint64_t until_ns = hil_clock_monotonic() + CLIENT_MESSAGE_NS;
    bool heard = client_read_until(fd, g, language, until_ns);

    if (heard && !client_speaks_alike(g, why))
        return false;
    heard = heard &&
            client_read_until(fd, (unsigned char *)g + language, sizeof *g - language, until_ns);
    if (!heard && errno == EAGAIN)
        *why = "the program there does not answer";
    return heard;
}

static int client_greet(struct hil_rendezvous *r, int fd, const char **why)
{
    struct tcp_greeting own = {.magic = RENDEZVOUS_MAGIC,
                               .version = RENDEZVOUS_VERSION,
                               .step = TCP_HELLO,
                               .from = client_first_node(r),
                               .count = r->count};
    struct tcp_greeting other;

    *why = "the program there ended the connection";
    if (loco_nonce_new(&own.nonce) || !rendezvous_send(fd, &own, sizeof own) ||
        !client_hear_greeting(fd, &other, why))
        return CLIENT_AGAIN;
    if (other.step != TCP_CHALLENGE) {
        *why = "the program there sent what no process of a run sends";
        return CLIENT_AGAIN;
    }
    const struct loco_nonce given = other.nonce;
    const struct loco_claim request =
        loco_claim_of(RENDEZVOUS_OF_REQUEST, own.from, 0, own.count, &given, &own.nonce);
    own.step = TCP_PROOF;
    own.proof = loco_prove(&r->key, &request);
    if (!rendezvous_send(fd, &own, sizeof own) || !client_hear_greeting(fd, &other, why))
        return CLIENT_AGAIN;
    return client_hear_answer(r, &other, &own, &given, why);
}

/* Connects and greets until the first node's process responds. */
static int client_find(struct hil_rendezvous *r)
{
    char text[600];
    int rc;

    do {
        const char *why = "";
        unsigned pause_ms = CLIENT_RETRY_MS;
        const int fd = client_connect(r, &why);
        rc = fd < 0 ? CLIENT_AGAIN : client_greet(r, fd, &why);
        if (rc == 0) {
            r->fd = fd;
            return 0;
        }
        if (fd >= 0) {
            close(fd);
            pause_ms = CLIENT_CONNECT_MS;
        }
        snprintf(text, sizeof text, "%s at %s: %s", r->first, r->where, why);
        nanosleep(
            &(struct timespec){.tv_sec = pause_ms / 1000, .tv_nsec = pause_ms % 1000 * 1000000L},
            NULL);
        if (rc > 0 && (rc = rendezvous_wait_on(r, text)) == 0)
            rc = CLIENT_AGAIN;
    } while (rc > 0);
    return rc;
}

/* --- registering ------------------------------------------------------------------------------ */

static bool client_post_nodes(const struct hil_rendezvous *r, struct rendezvous_address other)
{
    const struct rendezvous_registration own = {.hash = r->listing.hash, .other = other};
    const struct tcp_head head = {.kind = RENDEZVOUS_REGISTER,
                                  .size = (uint32_t)(sizeof own + rendezvous_bits(r))};

    return rendezvous_send(r->fd, &head, sizeof head) && rendezvous_send(r->fd, &own, sizeof own) &&
           rendezvous_send(r->fd, r->here, rendezvous_bits(r));
}

/* The address of this machine that the socket has; family 0: none. */
static struct rendezvous_address client_own_address(int fd)
{
    struct sockaddr_storage own = {0};
    socklen_t size = sizeof own;

    return fd < 0 || getsockname(fd, (struct sockaddr *)&own, &size)
               ? (struct rendezvous_address){0}
               : rendezvous_address_of(&own);
}

/* Tries to connect to the first node's process at this address, too. */
static int client_hear_elsewhere(const struct hil_rendezvous *r,
                                 const struct rendezvous_address *there)
{
    const struct sockaddr_storage to = rendezvous_address_with_port(there, r->place.port);

    if (rendezvous_address_of(&to).family == client_own_address(r->fd).family)
        return -EBADMSG;
    const int fd = client_connect_to((const struct sockaddr *)&to, loco_address_size(&to));
    const bool posted = client_post_nodes(r, client_own_address(fd));
    if (fd >= 0)
        close(fd);
    return posted ? CLIENT_AGAIN : -ECONNRESET;
}

/* Compares scenario lines as channels do: sends its own answer first. */
static int client_hear_lines(struct hil_rendezvous *r, const struct rendezvous_lines *lines)
{
    struct loco_difference difference;
    uint64_t offset = lines->offset;
    const bool differs = loco_agreement_differs(&r->listing, &offset, lines->text, &difference);

    const bool posted = rendezvous_post_lines(r, r->fd, offset);
    if (differs)
        rendezvous_explain_difference(r, 0, &difference);
    return differs ? -EPROTO : posted ? CLIENT_AGAIN : -ECONNRESET;
}

static int client_hear_held(struct hil_rendezvous *r, const struct rendezvous_held *held)
{
    char name[HIL_NODE_NAME_BYTES], text[INET6_ADDRSTRLEN];

    if (held->node >= r->count)
        return -EBADMSG;
    hil_node_name(r->config.scenario->system, held->node, name);
    rendezvous_address_text(&held->at, text);
    rendezvous_explain(r, "%s has already registered at %s from %s", name, r->where, text);
    return -EEXIST;
}

static int client_hear_table(struct hil_rendezvous *r, const void *body)
{
    memcpy(r->table, body, r->count * sizeof *r->table);
    for (uint32_t n = 0; n < r->count; n++)
        if (r->table[n].family != 4 && r->table[n].family != 6)
            return -EBADMSG;
    return 0;
}

/* The sizes of the messages have been checked. */
static int client_hear(struct hil_rendezvous *r, const struct tcp_head *head, unsigned char *body,
                       char missing[HIL_NODES_NAME_BYTES])
{
    if (head->kind == RENDEZVOUS_LINES && head->size == sizeof(struct rendezvous_lines)) {
        struct rendezvous_lines *lines = (struct rendezvous_lines *)body;
        lines->text[sizeof lines->text - 1] = '\0';
        return client_hear_lines(r, lines);
    }
    if (head->kind == RENDEZVOUS_ELSEWHERE && head->size == sizeof(struct rendezvous_address))
        return client_hear_elsewhere(r, (struct rendezvous_address *)body);
    if (head->kind == RENDEZVOUS_HELD && head->size == sizeof(struct rendezvous_held))
        return client_hear_held(r, (struct rendezvous_held *)body);
    if (head->kind == RENDEZVOUS_TABLE && head->size == r->count * sizeof *r->table)
        return client_hear_table(r, body);
    if (head->kind != RENDEZVOUS_MISSING || head->size != rendezvous_bits(r))
        return -EBADMSG;
    rendezvous_names(r, body, missing);
    return CLIENT_AGAIN;
}

static size_t client_room(const struct hil_rendezvous *r)
{
    const size_t table = r->count * sizeof *r->table;

    return table > sizeof(struct rendezvous_lines) ? table : sizeof(struct rendezvous_lines);
}

/* Takes the next message, which has arrived at least in part. */
static int client_take(struct hil_rendezvous *r, unsigned char *body,
                       char missing[HIL_NODES_NAME_BYTES])
{
    struct tcp_head head;

    if (!client_read(r->fd, &head, sizeof head))
        return -ECONNRESET;
    if (head.size > client_room(r))
        return -EBADMSG;
    return client_read(r->fd, body, head.size) ? client_hear(r, &head, body, missing) : -ECONNRESET;
}

static int client_await_table(struct hil_rendezvous *r)
{
    struct pollfd look = {.fd = r->fd, .events = POLLIN};
    char missing[HIL_NODES_NAME_BYTES] = "others", text[HIL_NODES_NAME_BYTES + 350];
    unsigned char *body = malloc(client_room(r));
    int rc = body ? CLIENT_AGAIN : -ENOMEM;

    while (rc > 0) {
        snprintf(text, sizeof text, "%s to register at %s", missing, r->where);
        const int waited = rendezvous_wait_on(r, text);
        if (waited)
            rc = waited;
        else if (poll(&look, 1, CLIENT_RETRY_MS) > 0)
            rc = client_take(r, body, missing);
    }
    free(body);
    return rc;
}

static int client_end(struct hil_rendezvous *r, int rc)
{
    if (rc == -ECONNRESET)
        rendezvous_explain(r, "lost %s at %s, which left or died before the run began", r->first,
                           r->where);
    if (rc == -EBADMSG)
        rendezvous_explain(r, "%s at %s sent what no process of a run sends", r->first, r->where);
    return rc;
}

int rendezvous_register(struct hil_rendezvous *r)
{
    const int rc = client_find(r);

    if (rc)
        return rc;
    const bool posted = client_post_nodes(r, (struct rendezvous_address){0});
    return client_end(r, posted ? client_await_table(r) : -ECONNRESET);
}

/* --- the scenario ----------------------------------------------------------------------------- */

static int client_take_scenario(int fd, char **text)
{
    struct tcp_head head;

    if (!client_read(fd, &head, sizeof head))
        return -ECONNRESET;
    if (head.kind != RENDEZVOUS_SCENARIO || head.size > CLIENT_SCENARIO_MOST)
        return -EBADMSG;
    char *taken = calloc(1, head.size + 1);
    if (!taken)
        return -ENOMEM;
    if (client_read_until(fd, taken, head.size, hil_clock_monotonic() + CLIENT_SCENARIO_NS)) {
        *text = taken;
        return 0;
    }
    free(taken);
    return -ECONNRESET;
}

int rendezvous_ask_scenario(struct hil_rendezvous *r, char **text)
{
    const int rc = client_find(r);

    return rc ? rc : client_end(r, client_take_scenario(r->fd, text));
}

/* --- afterwards ------------------------------------------------------------------------------- */

/* Nothing comes that was not asked for. */
bool rendezvous_is_lost(struct hil_rendezvous *r)
{
    unsigned char byte;
    const ssize_t got = recv(r->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);

    if (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR)))
        return false;
    client_end(r, -ECONNRESET);
    return true;
}

/* --- the clock -------------------------------------------------------------------------------- */

static int client_ask_once(int fd, struct hil_machine_clock *clock)
{
    struct {
        struct tcp_head head;
        struct hil_clock_reading reading;
    } answer, question = {.head = {.kind = RENDEZVOUS_CLOCK, .size = sizeof question.reading}};
    const uint64_t asked_ns = loco_host_clock(NULL);

    if (!rendezvous_send(fd, &question, sizeof question) ||
        !client_read(fd, &answer, sizeof answer))
        return -ECONNRESET;
    const uint64_t heard_ns = loco_host_clock(NULL);
    if (answer.head.kind != RENDEZVOUS_CLOCK || answer.head.size != sizeof answer.reading)
        return -EBADMSG;
    const struct hil_clock_reading here = hil_clock_read();
    hil_machine_clock_take(clock, asked_ns, &answer.reading, heard_ns, &here);
    return 0;
}

int rendezvous_ask_clock(struct hil_rendezvous *r, struct hil_machine_clock *clock)
{
    int rc = 0;

    *clock = (struct hil_machine_clock){0};
    for (int i = 0; !rc && i < CLIENT_TRIPS; i++)
        rc = client_ask_once(r->fd, clock);
    return clock->known ? 0 : rc;
}
