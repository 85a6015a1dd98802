/*
 * Connections between processes that are not nodes of one network, or not yet: each end proves to
 * the other that it knows a secret, without sending it, and then they exchange messages. They go
 * over TCP, on IPv4 or IPv6. The processes of hiloco find each other with it.
 *
 *      called:   loco_listen; loco_connection_accept; hear until a message LOCO_PROVEN;
 *                loco_connection_welcome, or loco_connection_refuse
 *      calling:  loco_connection_call
 *      then:     loco_connection_post and hear, loco_connection_close
 *
 * What the other end says before it has proven itself is heard for two seconds at most, has no
 * effect, and takes no memory. What it says afterwards is neither encrypted nor signed.
 *
 * Functions that return an int return 0, or a negative errno, unless they say otherwise. Sizes are
 * in bytes, times in ns of CLOCK_MONOTONIC. A connection is used by one thread at a time. Only
 * loco_connection_call, loco_connection_await and loco_connect wait.
 */
#ifndef LOCO_CONTROL_H
#define LOCO_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fabric/fabric.h"
#include "fabric/language.h"

LOCO_DECLARATIONS

/* What an end says of itself. Programs of another protocol or version are refused. */
struct loco_party {
    uint32_t protocol; /* a number that other programs do not begin with */
    uint32_t version;  /* at most 65535 */
    uint32_t purpose;  /* no other protocol with the same secret has it; a multiple of 256, not 0 */
    uint32_t id,
        count; /* what the other end is told: for a node's, its id, and how many there are */
    const char *program; /* what messages call a program of this protocol */
    size_t most;         /* of the longest message that the other end may send */
    struct loco_secret secret;
    uint64_t room[4];
};

struct loco_connection;
struct sockaddr;
struct sockaddr_storage;

/* A message of kind LOCO_PROVEN was not sent: it says that the caller knows the secret. */
enum { LOCO_PROVEN = 0 };

struct loco_control_message {
    uint32_t kind; /* the users' own, from 1 */
    uint32_t size;
    const unsigned char *body; /* until the next call for the connection; aligned to nothing */
};

enum { LOCO_WHY_BYTES = 128 };

/*
 * Connects to the program at this host, 0 as the called end's id, and waits until both ends are
 * proven: at most one second for each of the host's addresses, and two seconds for all greetings.
 * When it fails, `why` has a sentence without a subject's capital and a full stop. -EPROTO: the
 * other end knows the secret, and refuses this one's count; *count is its own. -EACCES: what is
 * there does not know the secret, is another program, or refuses, which it has not proven. Another
 * negative errno: nothing is there, or it does not answer. -EINVAL: what `own` asks for only later
 * versions know.
 */
int loco_connection_call(struct loco_connection **connection, const struct loco_party *own,
                         const char *host, uint16_t port, uint32_t *count,
                         char why[LOCO_WHY_BYTES]);

/* Accepts a connection at the socket that loco_listen returned. -EAGAIN: nobody calls. */
int loco_connection_accept(struct loco_connection **connection, int listener,
                           const struct loco_party *own);
void loco_connection_close(struct loco_connection *connection); /* NULL: does nothing */

/* Sends what waits, and hears the next message. Returns 1 for a message, 0 for none; -EACCES when
 * the other end was refused, and loco_connection_why() has the words; -ETIMEDOUT when its greetings
 * take too long; -EBADMSG for a message that is too long; or another negative errno when the
 * connection has ended. After an error it is to be closed. */
int loco_connection_hear(struct loco_connection *connection, struct loco_control_message *message);
const char *loco_connection_why(const struct loco_connection *connection);
/* The same, and waits for a message until then. Returns 1 or a negative errno, here -EAGAIN when
 * none came. */
int loco_connection_await(struct loco_connection *connection, struct loco_control_message *message,
                          uint64_t until);

/* What the caller said of itself, and says truly once it is proven. */
uint32_t loco_connection_other(const struct loco_connection *connection, uint32_t *count);
/* Lets a caller in, after LOCO_PROVEN; or refuses it because of its count. */
int loco_connection_welcome(struct loco_connection *connection);
void loco_connection_refuse(struct loco_connection *connection);

/* Posts a message of at most 16 MiB. It is sent in order, by this and later calls. -ENOBUFS or
 * -ENOMEM: it is not posted, as too much waits already. */
int loco_connection_post(struct loco_connection *connection, uint32_t kind, const void *body,
                         size_t size);

/* The socket, and in *events what poll() is to wait for before the next hear. */
int loco_connection_socket(const struct loco_connection *connection, short *events);

/* --- addresses ----------------------------------------------------------------------------------
 */

/* Finds the address of a host name, or converts a numeric address. Link-local addresses of IPv6 do
 * not count, because they mean another host on each machine. Returns NULL, or why there is none. */
const char *loco_address_find(const char *name, struct sockaddr_storage *address);
bool loco_address_is_loopback(const struct sockaddr_storage *address);

/* Connects a socket within a second, without greetings. Returns it, or a negative errno. It does
 * not block. Its end is noticed within ten seconds, also when the other machine falls silent. */
int loco_connect(const struct sockaddr *to, uint32_t size);

/* Listens at an address. With `also_four`, a socket at IPv6's unspecified address takes IPv4, too.
 * Returns a socket that does not block, or a negative errno. */
int loco_listen(const struct sockaddr *at, uint32_t size, bool also_four);

LOCO_DECLARATIONS_END

#endif
