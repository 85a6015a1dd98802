/* The rendezvous in processes without the first node. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../run/clock.h"
#include "rendezvous_internal.h"

enum {
    CLIENT_RETRY_MS = 200,
    CLIENT_RETRY_LATER_MS = 1000, /* something is there, or nothing can be reached */
    CLIENT_TRIPS = 64,
    CLIENT_SCENARIO_MOST = 16 << 20 /* bytes */
};

/* How long an answer may take to arrive, and a scenario, which can be long. */
static const uint64_t CLIENT_LOOK_NS = 200000000, CLIENT_ANSWER_NS = 2000000000,
                      CLIENT_SCENARIO_NS = 20000000000;

/* Results of an attempt. */
enum { CLIENT_AGAIN = 1 }; /* try again later; otherwise 0 or a negative errno */

/* --- connecting ------------------------------------------------------------------------------- */

static uint32_t client_first_node(const struct hil_rendezvous *r)
{
    uint32_t node = 0;

    while (r->count && !rendezvous_has(r->here, node))
        node++;
    return node;
}

/* Calls until the first node's process lets this one in. It may send messages of `most` bytes. */
static int client_find(struct hil_rendezvous *r, size_t most)
{
    const struct loco_party own = rendezvous_party(r, client_first_node(r), most);
    char why[LOCO_WHY_BYTES], text[600];
    uint32_t count;
    int rc;

    do {
        rc = loco_connection_call(&r->connection, &own, r->place.host, r->place.port, &count, why);
        if (!rc)
            return 0;
        if (rc == -EPROTO) {
            rendezvous_explain_count(r, count);
            return rc;
        }
        snprintf(text, sizeof text, "%s at %s: %s", r->first, r->where, why);
        poll(NULL, 0, rc == -ECONNREFUSED ? CLIENT_RETRY_MS : CLIENT_RETRY_LATER_MS);
        rc = rendezvous_wait_on(r, text);
    } while (!rc);
    return rc;
}

/* --- registering ------------------------------------------------------------------------------ */

static bool client_post_nodes(const struct hil_rendezvous *r, struct rendezvous_address other)
{
    const struct rendezvous_registration own = {.hash = r->listing.hash, .other = other};
    unsigned char *body = malloc(sizeof own + rendezvous_bits(r));

    if (!body)
        return false;
    memcpy(body, &own, sizeof own);
    memcpy(body + sizeof own, r->here, rendezvous_bits(r));
    const bool posted =
        rendezvous_post(r->connection, RENDEZVOUS_REGISTER, body, sizeof own + rendezvous_bits(r));
    free(body);
    return posted;
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
    short events;
    const int own = loco_connection_socket(r->connection, &events);

    if (rendezvous_address_of(&to).family == client_own_address(own).family)
        return -EBADMSG;
    const int fd = loco_connect((const struct sockaddr *)&to, sizeof to);
    const bool posted = client_post_nodes(r, client_own_address(fd));
    if (fd >= 0)
        close(fd);
    return posted ? CLIENT_AGAIN : -ECONNRESET;
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

static int client_hear_table(struct hil_rendezvous *r, const unsigned char *body)
{
    memcpy(r->table, body, r->count * sizeof *r->table);
    for (uint32_t n = 0; n < r->count; n++)
        if (r->table[n].family != 4 && r->table[n].family != 6)
            return -EBADMSG;
    return 0;
}

static int client_hear(struct hil_rendezvous *r, const struct loco_control_message *m,
                       char missing[HIL_NODES_NAME_BYTES])
{
    struct rendezvous_address there;
    struct rendezvous_held held;

    if (m->kind == RENDEZVOUS_LINES && m->size == sizeof(struct rendezvous_lines)) {
        const int rc = rendezvous_hear_lines(r, r->connection, 0, m->body);
        return rc ? rc : CLIENT_AGAIN;
    }
    if (m->kind == RENDEZVOUS_ELSEWHERE && m->size == sizeof there)
        return client_hear_elsewhere(r, memcpy(&there, m->body, sizeof there));
    if (m->kind == RENDEZVOUS_HELD && m->size == sizeof held)
        return client_hear_held(r, memcpy(&held, m->body, sizeof held));
    if (m->kind == RENDEZVOUS_TABLE && m->size == r->count * sizeof *r->table)
        return client_hear_table(r, m->body);
    if (m->kind != RENDEZVOUS_MISSING || m->size != rendezvous_bits(r))
        return -EBADMSG;
    rendezvous_names(r, m->body, missing);
    return CLIENT_AGAIN;
}

/* Returns 1 for a message, -EAGAIN for none, -EBADMSG or -ECONNRESET. */
static int client_await(struct loco_connection *connection, struct loco_control_message *m,
                        uint64_t most_ns)
{
    const int rc = loco_connection_await(connection, m, hil_clock_monotonic() + most_ns);

    return rc > 0 || rc == -EAGAIN || rc == -EBADMSG ? rc : -ECONNRESET;
}

static int client_await_table(struct hil_rendezvous *r)
{
    char missing[HIL_NODES_NAME_BYTES] = "others", text[HIL_NODES_NAME_BYTES + 350];
    struct loco_control_message m;
    int rc;

    do {
        snprintf(text, sizeof text, "%s to register at %s", missing, r->where);
        rc = rendezvous_wait_on(r, text);
        if (!rc)
            rc = client_await(r->connection, &m, CLIENT_LOOK_NS);
        if (rc > 0)
            rc = client_hear(r, &m, missing);
    } while (rc > 0 || rc == -EAGAIN);
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
    const int rc = client_find(r, r->count * sizeof *r->table);

    if (rc)
        return rc;
    const bool posted = client_post_nodes(r, (struct rendezvous_address){0});
    return client_end(r, posted ? client_await_table(r) : -ECONNRESET);
}

/* --- the scenario ----------------------------------------------------------------------------- */

static int client_take_scenario(struct loco_connection *connection, char **text)
{
    struct loco_control_message m;
    const int rc = client_await(connection, &m, CLIENT_SCENARIO_NS);

    if (rc < 0)
        return rc == -EAGAIN ? -ECONNRESET : rc;
    if (m.kind != RENDEZVOUS_SCENARIO)
        return -EBADMSG;
    *text = strndup((const char *)m.body, m.size);
    return *text ? 0 : -ENOMEM;
}

int rendezvous_ask_scenario(struct hil_rendezvous *r, char **text)
{
    const int rc = client_find(r, CLIENT_SCENARIO_MOST);

    return rc ? rc : client_end(r, client_take_scenario(r->connection, text));
}

/* --- afterwards ------------------------------------------------------------------------------- */

/* Nothing comes that was not asked for. */
bool rendezvous_is_lost(struct hil_rendezvous *r)
{
    struct loco_control_message m;

    if (loco_connection_hear(r->connection, &m) >= 0)
        return false;
    client_end(r, -ECONNRESET);
    return true;
}

/* --- the clock -------------------------------------------------------------------------------- */

static int client_ask_once(struct loco_connection *connection, struct hil_machine_clock *clock)
{
    const uint64_t asked_ns = hil_clock_monotonic();
    struct hil_clock_reading there = {0};
    struct loco_control_message m;

    if (!rendezvous_post(connection, RENDEZVOUS_CLOCK, &there, sizeof there) ||
        client_await(connection, &m, CLIENT_ANSWER_NS) < 0)
        return -ECONNRESET;
    const uint64_t heard_ns = hil_clock_monotonic();
    if (m.kind != RENDEZVOUS_CLOCK || m.size != sizeof there)
        return -EBADMSG;
    memcpy(&there, m.body, sizeof there);
    const struct hil_clock_reading here = hil_clock_read();
    hil_machine_clock_take(clock, asked_ns, &there, heard_ns, &here);
    return 0;
}

int rendezvous_ask_clock(struct hil_rendezvous *r, struct hil_machine_clock *clock)
{
    int rc = 0;

    *clock = (struct hil_machine_clock){0};
    for (int i = 0; !rc && i < CLIENT_TRIPS; i++)
        rc = client_ask_once(r->connection, clock);
    return clock->known ? 0 : rc;
}
