/*
 * For tests: a node's part in the tcp fabric, played by hand, so that it may say what no node says.
 * It is node 1 of 2 to node 0, in a network without a secret.
 */
#ifndef TESTS_INTRUDER_H
#define TESTS_INTRUDER_H

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "channels/control/control.h"
#include "channels/fabric/tcp/tcp_wire.h"
#include "channels/loco/fabric/tcp.h"

struct intruder {
    int control;
    struct loco_key key, links;
    struct loco_nonce own, other;
    uint32_t link_number;
};

/* Returns a socket that is connected to node 0 at the address, or -1. */
static inline int intruder_call(const char *address)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(LOCO_TCP_PORT)};
    struct sockaddr_in from = {.sin_family = AF_INET};
    const struct timeval patience = {.tv_sec = 30};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    inet_pton(AF_INET, address, &to.sin_addr);
    from.sin_addr = to.sin_addr;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (!bind(fd, (struct sockaddr *)&from, sizeof from) &&
        !connect(fd, (struct sockaddr *)&to, sizeof to))
        return fd;
    close(fd);
    return -1;
}

static inline bool intruder_say(int fd, const void *data, size_t size)
{
    return send(fd, data, size, MSG_NOSIGNAL) == (ssize_t)size;
}

static inline bool intruder_hear(int fd, void *data, size_t size)
{
    return recv(fd, data, size, MSG_WAITALL) == (ssize_t)size;
}

/* Whether the other end closes the connection; what it says before does not count. */
static inline bool intruder_is_cut_off(int fd)
{
    char said[4096];
    ssize_t got;

    while ((got = recv(fd, said, sizeof said, 0)) > 0)
        ;
    close(fd);
    return got == 0 || got == -1;
}

static inline struct control_greeting intruder_greeting(enum control_step step)
{
    return (struct control_greeting){.magic = TCP_MAGIC,
                                     .version = TCP_VERSION,
                                     .step = (uint8_t)step,
                                     .from = 1,
                                     .to = 0,
                                     .count = 2};
}

/* Greets as a node does, up to the welcome. */
static inline bool intruder_greet(struct intruder *i, const char *address)
{
    struct control_greeting g = intruder_greeting(CONTROL_HELLO);
    const struct control_head here = {.kind = CONTROL_HERE};

    *i = (struct intruder){.control = intruder_call(address)};
    loco_key_of(&i->key, (struct loco_secret){0});
    if (loco_nonce_new(&i->own))
        return false;
    g.nonce = i->own;
    if (!intruder_say(i->control, &g, sizeof g) || !intruder_hear(i->control, &g, sizeof g) ||
        g.step != CONTROL_CHALLENGE)
        return false;
    i->other = g.nonce;
    const struct loco_claim request = loco_claim_of(LOCO_OF_REQUEST, 1, 0, 2, &i->other, &i->own);
    const struct loco_claim links = loco_claim_of(LOCO_OF_LINKS, 1, 0, 2, &i->other, &i->own);
    g = intruder_greeting(CONTROL_PROOF);
    g.nonce = i->own;
    g.proof = loco_prove(&i->key, &request);
    loco_key_between(&i->links, &i->key, &links);
    return intruder_say(i->control, &g, sizeof g) && intruder_hear(i->control, &g, sizeof g) &&
           g.step == CONTROL_WELCOME && intruder_say(i->control, &here, sizeof here);
}

static inline struct control_greeting intruder_link_greeting(const struct intruder *i,
                                                             uint32_t number)
{
    struct control_greeting g = intruder_greeting(CONTROL_LINK);

    g.number = number;
    memcpy(g.nonce.bytes, &number, sizeof number);
    const struct loco_claim claim =
        loco_claim_of(LOCO_OF_LINK, 1, 0, 2, &(struct loco_nonce){{0}}, &g.nonce);
    g.proof = loco_prove(&i->links, &claim);
    return g;
}

/* Opens a link of this number, on a lane of its own, and hears whether it is welcome. Returns its
 * socket. */
static inline int intruder_link(const struct intruder *i, const char *address, uint32_t number)
{
    struct control_greeting g = intruder_link_greeting(i, number);
    int fd = intruder_call(address);

    intruder_say(fd, &g, sizeof g);
    intruder_hear(fd, &g, sizeof g);
    return fd;
}

#endif
