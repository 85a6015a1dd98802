/* The rendezvous in the process with the first node. */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../run/clock.h"
#include "rendezvous_internal.h"

enum {
    SERVER_LOOK_MS = 100,
    SERVER_STRANGERS = 64,   /* most connections without a proof at one time */
    SERVER_REFUSALS_SAID = 8 /* most warnings about strangers */
};

static const uint64_t SERVER_TELL_NS = 1000000000;

/* Another process, from the time that it connects. */
struct rendezvous_guest {
    struct loco_connection *connection;
    bool proven;
    struct rendezvous_address address, elsewhere; /* the other family's; family 0: not known */
    bool asked, answered;                         /* for the address elsewhere */
    unsigned char *nodes;                         /* a bit each; NULL: it has not registered */
    uint64_t tell_ns;                             /* when to tell it which nodes are missing */
    struct rendezvous_guest *next;
};

/* --- the listener ----------------------------------------------------------------------------- */

static bool server_is_numbers(const char *host)
{
    const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST};
    struct addrinfo *found;

    if (getaddrinfo(host, NULL, &hints, &found))
        return false;
    freeaddrinfo(found);
    return true;
}

/* On a host, its own name often resolves to loopback (127.0.1.1), unlike on other hosts. Therefore,
 * given a name, it listens on all of its addresses. */
static int server_listen_by_name(uint16_t port)
{
    const struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    const struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(port)};
    const int fd = loco_listen((const struct sockaddr *)&six, sizeof six, true);

    return fd >= 0 || fd == -EADDRINUSE
               ? fd
               : loco_listen((const struct sockaddr *)&four, sizeof four, false);
}

static int server_listen_by_number(const struct hil_rendezvous_place *place)
{
    struct addrinfo *found, hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
    char port[8];

    snprintf(port, sizeof port, "%u", place->port);
    if (getaddrinfo(place->host, port, &hints, &found))
        return -EADDRNOTAVAIL;
    const int fd = loco_listen(found->ai_addr, found->ai_addrlen, true);
    freeaddrinfo(found);
    return fd;
}

/* It listens in any case: the others may know the name. */
static void server_look_up_own_name(struct hil_rendezvous *r, const char *host)
{
    struct sockaddr_storage address;
    const char *why = loco_address_find(host, &address);

    if (why)
        rendezvous_say(r,
                       "the first node's host finds no address for its own name, %s: %s; if the "
                       "others find none either, rendezvous must be an address",
                       host, why);
}

int rendezvous_listen(struct hil_rendezvous *r)
{
    const struct hil_rendezvous_place *place = &r->place;
    const bool here = server_is_numbers(place->host) || strcmp(place->host, "localhost") == 0;

    r->listener = here ? server_listen_by_number(place) : server_listen_by_name(place->port);
    if (r->listener < 0)
        rendezvous_explain(r, "the first node's process cannot listen at %s: %s%s", r->where,
                           strerror(-r->listener),
                           r->listener == -EADDRINUSE ? "; rendezvous: HOST:PORT names another port"
                                                      : "");
    if (r->listener >= 0 && !here)
        server_look_up_own_name(r, place->host);
    return r->listener < 0 ? r->listener : 0;
}

/* --- guests ----------------------------------------------------------------------------------- */

static void server_drop(struct hil_rendezvous *r, struct rendezvous_guest *guest)
{
    struct rendezvous_guest **at = &r->guests;

    while (*at != guest)
        at = &(*at)->next;
    *at = guest->next;
    r->guest_count--;
    r->strangers -= !guest->proven;
    loco_connection_close(guest->connection);
    free(guest->nodes);
    free(guest);
}

/* The oldest guest is the last in the list. */
static void server_drop_oldest_stranger(struct hil_rendezvous *r)
{
    struct rendezvous_guest *oldest = NULL;

    for (struct rendezvous_guest *g = r->guests; g; g = g->next)
        if (!g->proven)
            oldest = g;
    if (oldest)
        server_drop(r, oldest);
}

static int server_socket(const struct rendezvous_guest *guest)
{
    short events;

    return loco_connection_socket(guest->connection, &events);
}

/* Learns the address by which guests reach us; prefers one that other machines can use, if a guest
 * came from there. */
static void server_learn_own(struct hil_rendezvous *r, int fd)
{
    struct sockaddr_storage here = {0};
    socklen_t size = sizeof here;

    if (getsockname(fd, (struct sockaddr *)&here, &size))
        return;
    const struct rendezvous_address own = rendezvous_address_of(&here);
    struct rendezvous_address *known = &r->own[own.family == 6];
    if (!known->family || rendezvous_is_loopback(known))
        *known = own;
}

static size_t server_room(const struct hil_rendezvous *r)
{
    return sizeof(struct rendezvous_registration) + rendezvous_bits(r);
}

static void server_accept(struct hil_rendezvous *r)
{
    const struct loco_party own = rendezvous_party(r, 0, server_room(r));
    struct rendezvous_guest *guest = calloc(1, sizeof *guest);
    struct sockaddr_storage from = {0};
    socklen_t size = sizeof from;
    const int rc = guest ? loco_connection_accept(&guest->connection, r->listener, &own) : -ENOMEM;

    if (rc) {
        free(guest);
        if (rc == -EMFILE || rc == -ENFILE || rc == -ENOMEM || rc == -ENOBUFS)
            poll(NULL, 0, SERVER_LOOK_MS); /* until a guest has left */
        return;
    }
    if (r->strangers == SERVER_STRANGERS)
        server_drop_oldest_stranger(r);
    getpeername(server_socket(guest), (struct sockaddr *)&from, &size);
    guest->address = rendezvous_address_of(&from);
    guest->next = r->guests;
    r->guests = guest;
    r->guest_count++;
    r->strangers++;
}

/* --- who is let in: each of these returns whether the guest stays ------------------------------
 */

/* A client that connects again and again must not flood the log. */
static bool server_warn(struct hil_rendezvous *r, const struct rendezvous_guest *guest,
                        const char *why)
{
    char from[INET6_ADDRSTRLEN];

    rendezvous_address_text(&guest->address, from);
    if (r->refusals++ < SERVER_REFUSALS_SAID)
        rendezvous_say(r, "a process from %s is refused at %s: %s", from, r->where, why);
    return false;
}

/* The guest has proven itself. One without nodes gets the scenario, and comes again with nodes. */
static bool server_admit(struct hil_rendezvous *r, struct rendezvous_guest *guest)
{
    const char *text = r->config.scenario->resolved;
    uint32_t count;
    const uint32_t from = loco_connection_other(guest->connection, &count);

    if (count && (count != r->count || from >= r->count)) {
        rendezvous_explain_count(r, count);
        r->wrong = -EPROTO;
        loco_connection_refuse(guest->connection);
        return server_warn(r, guest, "it has another scenario");
    }
    guest->proven = true;
    r->strangers--;
    return !loco_connection_welcome(guest->connection) &&
           (count || rendezvous_post(guest->connection, RENDEZVOUS_SCENARIO, text, strlen(text)));
}

/* --- registering ------------------------------------------------------------------------------ */

static const struct rendezvous_guest *server_holder(const struct hil_rendezvous *r, uint32_t node)
{
    for (const struct rendezvous_guest *g = r->guests; g; g = g->next)
        if (g->nodes && rendezvous_has(g->nodes, node))
            return g;
    return NULL;
}

/* The guest's address of that family; family 0: not known. A client on loopback is on this machine.
 */
static struct rendezvous_address server_place_in(const struct hil_rendezvous *r,
                                                 const struct rendezvous_guest *guest,
                                                 uint32_t family)
{
    if (rendezvous_is_loopback(&guest->address))
        return r->own[family == 6];
    return guest->address.family == family ? guest->address : guest->elsewhere;
}

static struct rendezvous_address server_place_of(const struct hil_rendezvous *r,
                                                 const struct rendezvous_guest *guest)
{
    return server_place_in(r, guest, r->complete ? r->family : guest->address.family);
}

static uint32_t server_other_family(const struct rendezvous_guest *guest)
{
    return guest->address.family == 6 ? 4 : 6;
}

/* Asks the guest once for its other address, if there is an address of ours where it can try.
 * Returns whether its answer is outstanding. */
static bool server_ask(const struct hil_rendezvous *r, struct rendezvous_guest *guest)
{
    const struct rendezvous_address *own = &r->own[server_other_family(guest) == 6];

    if (!guest->asked && own->family && !rendezvous_is_loopback(own)) {
        guest->asked = true;
        rendezvous_post(guest->connection, RENDEZVOUS_ELSEWHERE, own, sizeof *own);
    }
    return guest->asked && !guest->answered;
}

/* Whether another process has the node. Once all have met, a node cannot move to another address,
 * by which the others know it. */
static bool server_is_held(const struct hil_rendezvous *r, const struct rendezvous_guest *guest,
                           uint32_t node, struct rendezvous_address *at)
{
    const struct rendezvous_address place = server_place_of(r, guest);

    *at = r->complete ? r->table[node] : r->own[guest->address.family == 6];
    if (rendezvous_has(r->here, node))
        return true;
    const struct rendezvous_guest *holder = server_holder(r, node);
    if (holder)
        *at = server_place_of(r, holder);
    return holder || (r->complete && memcmp(at, &place, sizeof place) != 0);
}

static void server_post_table(struct hil_rendezvous *r, const struct rendezvous_guest *guest)
{
    rendezvous_post(guest->connection, RENDEZVOUS_TABLE, r->table, r->count * sizeof *r->table);
}

static bool server_register(struct hil_rendezvous *r, struct rendezvous_guest *guest,
                            const unsigned char *nodes)
{
    struct rendezvous_held held = {0};

    server_learn_own(r, server_socket(guest));
    if (server_place_of(r, guest).family == 0 && server_ask(r, guest))
        return true; /* it registers again */
    for (; held.node < r->count; held.node++)
        if (rendezvous_has(nodes, held.node) && server_is_held(r, guest, held.node, &held.at)) {
            rendezvous_post(guest->connection, RENDEZVOUS_HELD, &held, sizeof held);
            return server_warn(r, guest, "one of its nodes has already registered");
        }
    guest->nodes = malloc(rendezvous_bits(r));
    if (!guest->nodes)
        return false;
    memcpy(guest->nodes, nodes, rendezvous_bits(r));
    if (r->complete)
        server_post_table(r, guest);
    return true;
}

static bool server_hear_register(struct hil_rendezvous *r, struct rendezvous_guest *guest,
                                 const unsigned char *body, size_t size)
{
    struct rendezvous_registration its;
    const bool answers = guest->asked && !guest->answered;

    if ((guest->nodes && !answers) || size != sizeof its + rendezvous_bits(r))
        return false;
    memcpy(&its, body, sizeof its);
    if (answers && its.other.family == server_other_family(guest))
        guest->elsewhere = its.other;
    guest->answered |= answers;
    if (guest->nodes)
        return true;
    if (its.hash != r->listing.hash)
        return rendezvous_post_lines(r, guest->connection, 0);
    return server_register(r, guest, body + sizeof its);
}

static bool server_hear_lines(struct hil_rendezvous *r, struct rendezvous_guest *guest,
                              const unsigned char *body, size_t size)
{
    uint32_t count;
    const uint32_t from = loco_connection_other(guest->connection, &count);

    if (guest->nodes || size != sizeof(struct rendezvous_lines))
        return false;
    const int rc = rendezvous_hear_lines(r, guest->connection, from, body);
    if (rc != -EPROTO)
        return !rc;
    r->wrong = rc;
    return server_warn(r, guest, "it has another scenario");
}

static bool server_hear_clock(const struct rendezvous_guest *guest, size_t size)
{
    const struct hil_clock_reading now = hil_clock_read();

    return size == sizeof now &&
           rendezvous_post(guest->connection, RENDEZVOUS_CLOCK, &now, sizeof now);
}

static bool server_hear_message(struct hil_rendezvous *r, struct rendezvous_guest *guest,
                                const struct loco_control_message *m)
{
    uint32_t count;

    loco_connection_other(guest->connection, &count);
    if (!count)
        return false; /* it has no nodes */
    switch (m->kind) {
    case RENDEZVOUS_REGISTER:
        return server_hear_register(r, guest, m->body, m->size);
    case RENDEZVOUS_LINES:
        return server_hear_lines(r, guest, m->body, m->size);
    case RENDEZVOUS_CLOCK:
        return server_hear_clock(guest, m->size);
    default:
        return false;
    }
}

/* Returns whether the guest stays. */
static bool server_hear(struct hil_rendezvous *r, struct rendezvous_guest *guest)
{
    struct loco_control_message m;
    bool stays = true;
    int rc = 0;

    while (stays && (rc = loco_connection_hear(guest->connection, &m)) > 0)
        stays = m.kind == LOCO_PROVEN && !guest->proven ? server_admit(r, guest)
                                                        : server_hear_message(r, guest, &m);
    if (rc == -EACCES)
        return server_warn(r, guest, loco_connection_why(guest->connection));
    if (rc == -EBADMSG)
        return server_warn(r, guest, "it sent what no process of a run sends");
    return stays && !rc;
}

/* --- turns ------------------------------------------------------------------------------------ */

/* Finds the nodes that have not registered. Returns their number. */
static uint32_t server_missing(const struct hil_rendezvous *r, unsigned char *bits)
{
    uint32_t missing = 0;

    for (uint32_t n = 0; n < r->count; n++)
        if (!rendezvous_has(r->here, n) && !server_holder(r, n)) {
            bits[n / 8] |= (unsigned char)(1 << n % 8);
            missing++;
        }
    return missing;
}

static void server_tell_missing(struct hil_rendezvous *r, const unsigned char *bits)
{
    const uint64_t now = hil_clock_monotonic();

    for (struct rendezvous_guest *g = r->guests; g; g = g->next) {
        if (!g->nodes || now < g->tell_ns)
            continue;
        rendezvous_post(g->connection, RENDEZVOUS_MISSING, bits, rendezvous_bits(r));
        g->tell_ns = now + SERVER_TELL_NS;
    }
}

/* Strangers are looked at in each turn, because their time ends. */
static void server_attend(struct hil_rendezvous *r, const struct pollfd *look)
{
    const struct pollfd *at = look + 2;

    for (struct rendezvous_guest *g = r->guests, *next; g; g = next, at++) {
        next = g->next;
        if ((at->revents || !g->proven) && !server_hear(r, g))
            server_drop(r, g);
    }
    if (look[0].revents)
        server_accept(r); /* last, because it puts new guests at the front */
}

/* Waits up to the timeout for messages. */
static int server_turn(struct hil_rendezvous *r, int timeout_ms)
{
    struct pollfd *look = calloc(r->guest_count + 2, sizeof *look), *at = look + 2;

    if (!look)
        return -ENOMEM;
    look[0] = (struct pollfd){.fd = r->listener, .events = POLLIN};
    look[1] = (struct pollfd){.fd = r->wake[0], .events = POLLIN};
    for (const struct rendezvous_guest *g = r->guests; g; g = g->next, at++)
        at->fd = loco_connection_socket(g->connection, &at->events);
    if (poll(look, r->guest_count + 2, timeout_ms) >= 0)
        server_attend(r, look);
    const bool told_to_end = look[1].revents;
    free(look);
    return told_to_end ? -ECANCELED : 0;
}

/* --- gathering -------------------------------------------------------------------------------- */

static void server_complete(struct hil_rendezvous *r, uint32_t family)
{
    r->family = family;
    r->complete = true;
    for (uint32_t n = 0; n < r->count; n++) {
        const struct rendezvous_guest *holder = server_holder(r, n);
        r->table[n] = holder ? server_place_of(r, holder) : r->own[family == 6];
    }
    for (const struct rendezvous_guest *g = r->guests; g; g = g->next)
        if (g->nodes)
            server_post_table(r, g);
}

/* Finds a registered guest without an address of that family. */
static struct rendezvous_guest *server_lacks(const struct hil_rendezvous *r, uint32_t family)
{
    struct rendezvous_guest *g = r->guests;

    while (g && (!g->nodes || server_place_in(r, g, family).family))
        g = g->next;
    return g;
}

static void server_name_guest(const struct hil_rendezvous *r, const struct rendezvous_guest *g,
                              char name[HIL_NODES_NAME_BYTES], char address[INET6_ADDRSTRLEN])
{
    rendezvous_names(r, g->nodes, name);
    rendezvous_address_text(&g->address, address);
}

static int server_refuse_families(struct hil_rendezvous *r)
{
    char four[HIL_NODES_NAME_BYTES], at_four[INET6_ADDRSTRLEN];
    char six[HIL_NODES_NAME_BYTES], at_six[INET6_ADDRSTRLEN];

    server_name_guest(r, server_lacks(r, 6), four, at_four);
    server_name_guest(r, server_lacks(r, 4), six, at_six);
    rendezvous_explain(r,
                       "only over IPv4 come %s from %s, and only over IPv6 %s from %s, so they "
                       "cannot reach each other: all machines need IPv4, or all need IPv6",
                       four, at_four, six, at_six);
    return -EPROTO;
}

/* A name may lead some processes here over IPv4, and others over IPv6. Then each is asked whether
 * it can come the other way as well. Returns 1 once all have an address of one family. */
static int server_settle(struct hil_rendezvous *r)
{
    bool waits = false;

    for (uint32_t family = 4; family <= 6; family += 2)
        if (!server_lacks(r, family)) {
            server_complete(r, family);
            return 1;
        }
    for (struct rendezvous_guest *g = r->guests; g; g = g->next)
        waits |= g->nodes && server_ask(r, g);
    if (!waits)
        return server_refuse_families(r);
    return rendezvous_wait_on(r, "the others to try IPv4 and IPv6");
}

/* Returns 1 when all have met. */
static int server_look(struct hil_rendezvous *r, unsigned char *missing)
{
    char names[HIL_NODES_NAME_BYTES], text[HIL_NODES_NAME_BYTES + 350];

    memset(missing, 0, rendezvous_bits(r));
    if (server_missing(r, missing) == 0)
        return server_settle(r);
    server_tell_missing(r, missing);
    rendezvous_names(r, missing, names);
    snprintf(text, sizeof text, "%s to register at %s", names, r->where);
    return rendezvous_wait_on(r, text);
}

int rendezvous_gather(struct hil_rendezvous *r)
{
    unsigned char *missing = malloc(rendezvous_bits(r));
    int rc = missing ? 0 : -ENOMEM;

    while (!rc) {
        rc = server_look(r, missing);
        if (!rc)
            rc = server_turn(r, SERVER_LOOK_MS);
        if (!rc)
            rc = r->wrong;
    }
    free(missing);
    return rc > 0 ? 0 : rc;
}

/* --- afterwards ------------------------------------------------------------------------------- */

static void *server_thread(void *rendezvous)
{
    const struct hil_rendezvous *r = rendezvous;

    while (!server_turn(rendezvous, r->strangers ? SERVER_LOOK_MS : -1))
        ;
    return NULL;
}

int rendezvous_serve(struct hil_rendezvous *r)
{
    sigset_t all, before;

    if (pipe2(r->wake, O_CLOEXEC))
        return -errno;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int rc = -pthread_create(&r->thread, NULL, server_thread, r);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    r->running = !rc;
    return rc;
}

void rendezvous_end_serving(struct hil_rendezvous *r)
{
    if (r->running && write(r->wake[1], "", 1) == 1)
        pthread_join(r->thread, NULL);
    for (int i = 0; i < 2; i++)
        if (r->wake[i] >= 0)
            close(r->wake[i]);
    while (r->guests)
        server_drop(r, r->guests);
}
