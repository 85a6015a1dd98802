#include "rendezvous.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../base/pool.h"
#include "../run/clock.h"
#include "../run/links.h"
#include "rendezvous_internal.h"
#include "signals.h"

static const uint64_t SECOND_NS = 1000000000;

/* --- the place -------------------------------------------------------------------------------- */

/* The first host of "node[01-04,7]" or "a,b". */
int hil_rendezvous_first_host(const char *list, char *host, size_t size)
{
    const size_t name = strcspn(list, "[,");
    const size_t first = list[name] == '[' ? strspn(list + name + 1, "0123456789") : 0;
    const char *rest = list + name;

    if (first > 0)
        rest = strchr(list + name, ']') ? strchr(list + name, ']') + 1 : "";
    const size_t end = first > 0 ? strcspn(rest, "[,") : 0;
    if (name + first + end == 0 || (list[name] == '[' && !first) || rest[end] == '[')
        return -EINVAL;
    const int length = snprintf(host, size, "%.*s%.*s%.*s", (int)name, list, (int)first,
                                list + name + 1, (int)end, rest);
    return (size_t)length < size ? 0 : -EINVAL;
}

int hil_rendezvous_given(const char **place, FILE *messages)
{
    static char host[256];
    struct hil_rendezvous_place parsed;
    const char *given = getenv("HILOCO_RENDEZVOUS"), *list = getenv("SLURM_STEP_NODELIST");

    *place = given && *given ? given : NULL;
    if (*place && !hil_rendezvous_place_parse(*place, &parsed)) {
        fprintf(messages, "HILOCO_RENDEZVOUS is '%s'; allowed: " HIL_RENDEZVOUS_ALLOWED "\n",
                *place);
        return -EINVAL;
    }
    if (!*place && list && !hil_rendezvous_first_host(list, host, sizeof host))
        *place = host;
    return 0;
}

/* --- addresses -------------------------------------------------------------------------------- */

/* An IPv4 address is recognized even if the listener uses IPv6. */
struct rendezvous_address rendezvous_address_of(const struct sockaddr_storage *address)
{
    const struct in6_addr *six = &((const struct sockaddr_in6 *)address)->sin6_addr;
    const struct in_addr *four = &((const struct sockaddr_in *)address)->sin_addr;
    struct rendezvous_address a = {.family = 6};

    if (address->ss_family == AF_INET6 && !IN6_IS_ADDR_V4MAPPED(six)) {
        memcpy(a.bytes, six, 16);
        return a;
    }
    a.family = 4;
    memcpy(a.bytes, address->ss_family == AF_INET6 ? six->s6_addr + 12 : (const uint8_t *)four, 4);
    return a;
}

struct sockaddr_storage rendezvous_address_with_port(const struct rendezvous_address *a,
                                                     uint16_t port)
{
    struct sockaddr_storage address = {.ss_family = a->family == 6 ? AF_INET6 : AF_INET};
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)&address;
    struct sockaddr_in *four = (struct sockaddr_in *)&address;

    if (a->family == 6) {
        six->sin6_port = htons(port);
        memcpy(&six->sin6_addr, a->bytes, 16);
    } else {
        four->sin_port = htons(port);
        memcpy(&four->sin_addr, a->bytes, 4);
    }
    return address;
}

bool rendezvous_is_loopback(const struct rendezvous_address *a)
{
    struct in6_addr six;

    memcpy(&six, a->bytes, sizeof six);
    return a->family == 4 ? a->bytes[0] == 127 : IN6_IS_ADDR_LOOPBACK(&six);
}

void rendezvous_address_text(const struct rendezvous_address *a, char text[INET6_ADDRSTRLEN])
{
    if (!inet_ntop(a->family == 6 ? AF_INET6 : AF_INET, a->bytes, text, INET6_ADDRSTRLEN))
        text[0] = '\0';
}

/* --- saying ----------------------------------------------------------------------------------- */

void rendezvous_say(const struct hil_rendezvous *r, const char *format, ...)
{
    char line[1000];
    va_list values;

    va_start(values, format);
    vsnprintf(line, sizeof line, format, values);
    va_end(values);
    if (r->config.say)
        r->config.say(r->config.arg, line);
}

void rendezvous_explain(struct hil_rendezvous *r, const char *format, ...)
{
    va_list values;

    if (!r->why || r->why[0])
        return;
    va_start(values, format);
    vsnprintf(r->why, HIL_RENDEZVOUS_WHY, format, values);
    va_end(values);
}

static void rendezvous_explain_difference(struct hil_rendezvous *r, uint32_t node,
                                          const struct loco_difference *d)
{
    char name[HIL_NODE_NAME_BYTES], text[600];

    hil_node_name(r->config.scenario->system, node, name);
    hil_links_say_difference(d->here, d->there, text, sizeof text);
    rendezvous_explain(r, "%s has another scenario: %s", name, text);
}

void rendezvous_explain_count(struct hil_rendezvous *r, uint32_t there)
{
    rendezvous_explain(r, "a node has another scenario: there are %u nodes here and %u there",
                       r->count, there);
}

void rendezvous_names(const struct hil_rendezvous *r, const unsigned char *bits,
                      char text[HIL_NODES_NAME_BYTES])
{
    const struct hil_system *s = r->config.scenario->system;

    text[0] = '\0';
    for (uint32_t n = 0; n < r->count; n++) {
        const uint32_t first = n;
        if (!rendezvous_has(bits, n))
            continue;
        while (n + 1 < r->count && rendezvous_has(bits, n + 1) &&
               s->nodes[n + 1].array == s->nodes[first].array)
            n++;
        hil_nodes_name_add(s, first, n, text);
    }
}

int rendezvous_wait_on(struct hil_rendezvous *r, const char *for_what)
{
    const uint64_t now = hil_clock_monotonic();

    if (hil_signal_status())
        return -EINTR;
    if (now >= r->until_ns) {
        rendezvous_explain(r, "the other nodes did not come: waited since %s for %s", r->since,
                           for_what);
        return -ETIMEDOUT;
    }
    if (now < r->look_ns)
        return 0;
    r->look_ns = now + SECOND_NS;
    if (strcmp(for_what, r->said) == 0)
        return 0;
    snprintf(r->said, sizeof r->said, "%s", for_what);
    rendezvous_say(r, "waiting since %s for %s", r->since, for_what);
    return 0;
}

/* --- speaking --------------------------------------------------------------------------------- */

struct loco_party rendezvous_party(const struct hil_rendezvous *r, uint32_t node, size_t most)
{
    return (struct loco_party){
        .protocol = RENDEZVOUS_MAGIC,
        .version = RENDEZVOUS_VERSION,
        .purpose = RENDEZVOUS_PURPOSE,
        .id = node,
        .count = r->count,
        .program = "hiloco",
        .most = most > sizeof(struct rendezvous_lines) ? most : sizeof(struct rendezvous_lines),
        .secret = r->config.secret};
}

bool rendezvous_post(struct loco_connection *connection, enum rendezvous_kind kind,
                     const void *body, size_t size)
{
    return !loco_connection_post(connection, kind, body, size);
}

bool rendezvous_post_lines(const struct hil_rendezvous *r, struct loco_connection *connection,
                           uint64_t offset)
{
    struct rendezvous_lines lines = {.offset = offset};

    loco_agreement_take(&r->listing, offset, lines.text, sizeof lines.text - 1);
    return rendezvous_post(connection, RENDEZVOUS_LINES, &lines, sizeof lines);
}

int rendezvous_hear_lines(struct hil_rendezvous *r, struct loco_connection *connection,
                          uint32_t node, const unsigned char *body)
{
    struct rendezvous_lines lines;
    struct loco_difference difference;

    memcpy(&lines, body, sizeof lines);
    lines.text[sizeof lines.text - 1] = '\0';
    uint64_t offset = lines.offset;
    const bool differs = loco_agreement_differs(&r->listing, &offset, lines.text, &difference);
    const bool posted = rendezvous_post_lines(r, connection, offset);
    if (differs)
        rendezvous_explain_difference(r, node, &difference);
    return differs ? -EPROTO : posted ? 0 : -ECONNRESET;
}

/* --- meeting ---------------------------------------------------------------------------------- */

static void rendezvous_begin(struct hil_rendezvous *r, const struct hil_rendezvous_place *place)
{
    const time_t now = time(NULL);
    struct tm local;

    r->place = *place;
    snprintf(r->where, sizeof r->where, "%s, port %u", place->host, place->port);
    strftime(r->since, sizeof r->since, "%H:%M:%S", localtime_r(&now, &local));
    r->look_ns = hil_clock_monotonic() + 2 * SECOND_NS;
    r->until_ns = hil_clock_monotonic() + r->config.wait_s * SECOND_NS;
}

static int rendezvous_open(struct hil_rendezvous *r)
{
    const struct hil_scenario *s = r->config.scenario;

    rendezvous_begin(r, &s->rendezvous);
    hil_node_name(s->system, 0, r->first);
    r->count = s->system->node_count;
    r->here = calloc(1, rendezvous_bits(r));
    r->table = calloc(r->count, sizeof *r->table);
    if (!r->here || !r->table)
        return -ENOMEM;
    for (unsigned i = 0; i < s->executor_count; i++)
        for (unsigned k = 0; k < s->executors[i].count; k++)
            r->here[s->executors[i].nodes[k] / 8] |=
                (unsigned char)(1 << s->executors[i].nodes[k] % 8);
    r->listing = (struct loco_agreement){s->listing.lines, s->listing.length, s->listing.hash};
    return 0;
}

/* Stores the addresses, once all are known. */
static int rendezvous_give_addresses(const struct hil_rendezvous *r)
{
    struct hil_system *s = r->config.scenario->system;
    char text[INET6_ADDRSTRLEN];

    for (uint32_t n = 0; n < r->count; n++) {
        rendezvous_address_text(&r->table[n], text);
        s->nodes[n].address = hil_pool_text(s->pool, text);
        if (!s->nodes[n].address)
            return -ENOMEM;
    }
    return 0;
}

static bool rendezvous_has_all(const struct hil_rendezvous *r)
{
    uint32_t n = 0;

    while (n < r->count && rendezvous_has(r->here, n))
        n++;
    return n == r->count;
}

/* Sets our own address, for fabrics that are reached by any address of this machine, or only by a
 * device's. */
static void rendezvous_give_own(const struct hil_rendezvous *r)
{
    const struct hil_scenario *s = r->config.scenario;

    for (uint32_t n = 0; n < r->count; n++)
        s->system->nodes[n].address =
            s->fabric == HIL_FABRIC_TCP ? "127.0.0.1" : s->rendezvous.host;
}

static int rendezvous_meet_others(struct hil_rendezvous *r)
{
    r->serves = rendezvous_has(r->here, 0);
    int rc = r->serves ? rendezvous_listen(r) : rendezvous_register(r);

    if (!rc && r->serves)
        rc = rendezvous_gather(r);
    return rc ? rc : rendezvous_give_addresses(r);
}

int hil_rendezvous_meet(struct hil_rendezvous **rendezvous,
                        const struct hil_rendezvous_config *config, char why[HIL_RENDEZVOUS_WHY])
{
    struct hil_rendezvous *r = calloc(1, sizeof *r);

    why[0] = '\0';
    if (!r)
        return -ENOMEM;
    *r = (struct hil_rendezvous){.config = *config, .why = why, .listener = -1, .wake = {-1, -1}};
    int rc = rendezvous_open(r);
    r->alone = !rc && rendezvous_has_all(r);
    if (r->alone)
        rendezvous_give_own(r);
    else if (!rc)
        rc = rendezvous_meet_others(r);
    if (rc) {
        rendezvous_explain(r, "%s", strerror(-rc));
        hil_rendezvous_close(r);
        return rc;
    }
    r->why = NULL;
    *rendezvous = r;
    return 0;
}

int hil_rendezvous_fetch(const struct hil_rendezvous_place *place,
                         const struct hil_rendezvous_config *config, char **text,
                         char why[HIL_RENDEZVOUS_WHY])
{
    struct hil_rendezvous r = {
        .config = *config, .why = why, .first = "the first node", .listener = -1, .wake = {-1, -1}};

    why[0] = '\0';
    rendezvous_begin(&r, place);
    const int rc = rendezvous_ask_scenario(&r, text);
    if (rc)
        rendezvous_explain(&r, "%s", strerror(-rc));
    loco_connection_close(r.connection);
    return rc;
}

int hil_rendezvous_serve(struct hil_rendezvous *r)
{
    return r->serves ? rendezvous_serve(r) : 0;
}

bool hil_rendezvous_is_lost(struct hil_rendezvous *r, char why[HIL_RENDEZVOUS_WHY])
{
    if (r->serves || r->alone)
        return false;
    why[0] = '\0';
    r->why = why;
    const bool lost = rendezvous_is_lost(r);
    r->why = NULL;
    return lost;
}

int hil_rendezvous_clock(struct hil_rendezvous *r, struct hil_machine_clock *clock)
{
    if (!r->serves && !r->alone)
        return rendezvous_ask_clock(r, clock);
    *clock = (struct hil_machine_clock){.known = true, .compared_ns = hil_clock_monotonic()};
    return 0;
}

void hil_rendezvous_close(struct hil_rendezvous *r)
{
    if (!r)
        return;
    rendezvous_end_serving(r);
    loco_connection_close(r->connection);
    if (r->listener >= 0)
        close(r->listener);
    free(r->here);
    free(r->table);
    free(r);
}
