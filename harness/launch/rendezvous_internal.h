/*
 * The protocol of a rendezvous's connections, and the data structures that both ends share.
 *
 * They are connections of loco/control.h, which begin with proofs. These messages follow:
 *
 * register   the hash of the sender's scenario's listing, its other address, and its nodes, a bit
 *            each
 * lines      lines of the listing, sent where the hashes differ: agreement.h
 * held       a node that another process has registered, and where that process is
 * missing    the nodes that have not registered, a bit each
 * table      the addresses of all nodes
 * clock      a request for the time, and its answer
 * scenario   the first node's scenario, for a process that says that it has 0 nodes: such a process
 *            has no scenario yet. It is sent after the welcome, and ends the connection
 * elsewhere  an address of the first node's process, of the other family than the connection's. The
 *            receiver tries to connect there, and registers again, with the address from which it
 *            can
 */
#ifndef RENDEZVOUS_INTERNAL_H
#define RENDEZVOUS_INTERNAL_H

#include <netinet/in.h>
#include <pthread.h>

#include "../../channels/loco/agreement.h"
#include "../../channels/loco/control.h"
#include "../run/node_name.h"
#include "rendezvous.h"

enum { RENDEZVOUS_MAGIC = 0x5644525a, RENDEZVOUS_VERSION = 3, RENDEZVOUS_PURPOSE = 0x5200 };

enum rendezvous_kind {
    RENDEZVOUS_REGISTER = 1,
    RENDEZVOUS_LINES,
    RENDEZVOUS_HELD,
    RENDEZVOUS_MISSING,
    RENDEZVOUS_TABLE,
    RENDEZVOUS_CLOCK,
    RENDEZVOUS_SCENARIO,
    RENDEZVOUS_ELSEWHERE
};

struct rendezvous_address {
    uint32_t family; /* 4 or 6; 0: not known */
    unsigned char bytes[16];
};

/* Its nodes follow, a bit each. */
struct rendezvous_registration {
    uint64_t hash;
    struct rendezvous_address other; /* its address of the other family; family 0: none */
    uint32_t zero;
};

struct rendezvous_held {
    uint32_t node;
    struct rendezvous_address at;
};

struct rendezvous_lines {
    uint64_t offset;
    char text[1024]; /* ends with a zero */
};

_Static_assert(sizeof(struct rendezvous_address) == 20, "crosses the network");
_Static_assert(sizeof(struct rendezvous_registration) == 32, "crosses the network");
_Static_assert(sizeof(struct rendezvous_held) == 24, "crosses the network");
_Static_assert(sizeof(struct rendezvous_lines) == 1032, "crosses the network");

struct rendezvous_guest;

struct hil_rendezvous {
    struct hil_rendezvous_config config;
    char *why; /* HIL_RENDEZVOUS_WHY; NULL once all have met */
    struct hil_rendezvous_place place;
    char first[HIL_NODE_NAME_BYTES]; /* the first node */
    uint32_t count;                  /* 0: there is no scenario yet */
    struct loco_agreement listing;
    unsigned char *here; /* this process's nodes, a bit each */
    struct rendezvous_address *table;
    int listener;                       /* in the serving process */
    struct loco_connection *connection; /* to it, in the others */

    char where[300]; /* "HOST, port PORT" */
    char since[16];
    uint64_t until_ns, look_ns;
    char said[600];

    bool alone; /* all nodes are in this process */

    /* For the serving process. */
    bool serves, complete, running;
    int wrong;       /* a negative errno: waiting longer is useless */
    int wake[2];     /* ends the thread */
    uint32_t family; /* of the addresses in the table, once it is complete */
    /* Our addresses as others see them, of IPv4 and IPv6; family 0: no process came over it. */
    struct rendezvous_address own[2];
    struct rendezvous_guest *guests;
    unsigned guest_count, strangers, refusals;
    pthread_t thread;
};

/* --- rendezvous.c */

static inline bool rendezvous_has(const unsigned char *bits, uint32_t node)
{
    return bits[node / 8] >> node % 8 & 1;
}

static inline size_t rendezvous_bits(const struct hil_rendezvous *r)
{
    return (r->count + 7) / 8;
}

struct rendezvous_address rendezvous_address_of(const struct sockaddr_storage *address);
struct sockaddr_storage rendezvous_address_with_port(const struct rendezvous_address *address,
                                                     uint16_t port);
bool rendezvous_is_loopback(const struct rendezvous_address *address);
void rendezvous_address_text(const struct rendezvous_address *address, char text[INET6_ADDRSTRLEN]);

void rendezvous_say(const struct hil_rendezvous *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Says which nodes are missing, after two seconds and whenever they change. Returns 0, -ETIMEDOUT,
 * or -EINTR. */
int rendezvous_wait_on(struct hil_rendezvous *r, const char *for_what);

/* Says why the wait ended. */
void rendezvous_explain(struct hil_rendezvous *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void rendezvous_explain_count(struct hil_rendezvous *r, uint32_t there);

/* Lists the nodes whose bits are set: "controller, converter[0-9]". */
void rendezvous_names(const struct hil_rendezvous *r, const unsigned char *bits,
                      char text[HIL_NODES_NAME_BYTES]);

/* What this process says of itself; `node`: its first node. */
struct loco_party rendezvous_party(const struct hil_rendezvous *r, uint32_t node, size_t most);

bool rendezvous_post(struct loco_connection *connection, enum rendezvous_kind kind,
                     const void *body, size_t size);
bool rendezvous_post_lines(const struct hil_rendezvous *r, struct loco_connection *connection,
                           uint64_t offset);
/* Compares lines of the listings as channels do: sends its own first. Returns 0; -EPROTO when they
 * differ, after an explanation that names the other end's node; or -ECONNRESET. */
int rendezvous_hear_lines(struct hil_rendezvous *r, struct loco_connection *connection,
                          uint32_t node, const unsigned char *body);

/* --- rendezvous_server.c: the process with the first node */

int rendezvous_listen(struct hil_rendezvous *r);
/* Serves until all nodes have registered. */
int rendezvous_gather(struct hil_rendezvous *r);
int rendezvous_serve(struct hil_rendezvous *r);
void rendezvous_end_serving(struct hil_rendezvous *r);

/* --- rendezvous_client.c: the other processes */

int rendezvous_register(struct hil_rendezvous *r);
int rendezvous_ask_scenario(struct hil_rendezvous *r, char **text);
bool rendezvous_is_lost(struct hil_rendezvous *r);
int rendezvous_ask_clock(struct hil_rendezvous *r, struct hil_machine_clock *clock);

#endif
