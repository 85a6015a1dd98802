/*
 * One end of a connection that begins with greetings (wire.h). Its owner waits for the socket,
 * decides who is welcome, and ends greetings that take too long.
 */
#ifndef LOCO_CONTROL_GREET_H
#define LOCO_CONTROL_GREET_H

#include "wire.h"

/* All greetings of a connection take less, ns. */
static const uint64_t CONTROL_GREETING_NS = 2000000000;

/* What this end says of itself. */
struct control_self {
    uint32_t magic;
    uint16_t version;
    uint32_t purpose; /* is added to the purposes of the proofs */
    uint32_t id, count;
    uint64_t process;
    struct loco_key key; /* of the network */
};

struct control_greet {
    const struct control_self *self;
    bool active;                    /* this end called */
    bool right;                     /* the other end has proven that it knows the secret */
    bool proven;                    /* the same, and it is welcome */
    uint8_t step;                   /* the greeting that is expected */
    uint32_t other_id, other_count; /* as the other end says */
    uint64_t process;               /* as the other end says */
    struct loco_nonce own, other;
    struct loco_key links; /* a key that only the two ends have, once they are proven */
    size_t in;
    struct control_greeting heard; /* the newest greeting, perhaps in part */
};

enum control_event {
    CONTROL_NOTHING,  /* so far */
    CONTROL_CALLED,   /* by who says hello: control_greet_challenge() goes on */
    CONTROL_PROVEN,   /* the other end knows the secret; if it called: control_greet_welcome() */
    CONTROL_UNPROVEN, /* its proof is wrong */
    CONTROL_REFUSED,  /* by the other end; `heard` says why */
    CONTROL_LINKED,   /* the greeting of a link */
    CONTROL_STRANGE,  /* another version, another program, or a greeting out of turn */
    CONTROL_ENDED     /* the connection */
};

/* Begins as the end that calls `other`. Returns 0 or a negative errno. */
int control_greet_call(struct control_greet *greet, const struct control_self *self,
                       uint32_t other);
/* Begins as the end that is called. */
void control_greet_await(struct control_greet *greet, const struct control_self *self);

/* The steps of this end. The first three return whether the socket has taken the greeting, for
 * which it always has room. A refusal
 * because of another count is proven to who has proven itself; then the connection is to be
 * closed. */
bool control_greet_hello(const struct control_greet *greet, int fd);
bool control_greet_challenge(struct control_greet *greet, int fd);
bool control_greet_welcome(struct control_greet *greet, int fd);
void control_greet_refuse(const struct control_greet *greet, int fd, enum loco_refusal why);

/* Hears the other end, and answers a challenge. Receives nothing that follows the greetings. */
enum control_event control_greet_hear(struct control_greet *greet, int fd);

/* Whether the greeting is of this protocol and version. */
bool control_is_alike(const struct control_self *self, const struct control_greeting *greeting);

/* Whether an end that was refused knows for sure that the other has another number of nodes. */
bool control_greet_is_foreign(const struct control_greet *greet);

struct control_greeting control_greeting_make(const struct control_self *self, uint32_t to,
                                              enum control_step step);
bool control_greeting_send(int fd, const struct control_greeting *greeting);

#endif
