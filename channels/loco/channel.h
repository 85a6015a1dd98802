/*
 * A channel: an object whose state lives across nodes. This is the base of them all: names,
 * regions, joining and connecting. A channel type embeds struct loco_channel as its first
 * member; channels/barrier.c is the shortest example.
 *
 * Setup (the paper's section "Channel setup"). An endpoint
 *      1. is constructed with a name                               loco_channel_init
 *      2. cuts its regions, and expects the same of each member    loco_channel_region
 *      3. joins                                                    loco_channel_join
 * Joining sends each member a message: the endpoint's name, and the regions that the member must
 * have. A member that has an endpoint of that name answers with the places of its regions. A member
 * that has none yet ignores the message, and sends its own join later. A callback runs when a
 * member's join or connect arrives, on the thread that carries the fabric's control messages and
 * with the manager's lock held. Callbacks may construct sub-channels; they must not wait.
 *
 * The endpoints of a channel may have to agree on lines of text, such as the settings of a program.
 * A join carries the lines' hash. Endpoints that do not agree refuse each other; each learns the
 * first line that differs, and loco_manager_ready returns -EPROTO at both nodes.
 *
 * The full name of a sub-channel is parent/child, that of a region is channel.region.
 *
 * An endpoint may be ended and another constructed under its name. Endpoints that have met belong
 * together; an endpoint ignores messages of the other's successor. To construct a channel again,
 * all members end their endpoints once none uses the channel any more, and then construct new ones,
 * in any order. A member that was lost may also restart after the others have done so.
 *
 * A member that was lost may restart: a new process with the same node id constructs the same
 * channels. The type of a channel decides what happens then.
 *      - A channel that takes members back joins and connects with the new endpoint, while the
 *        endpoint here stays. Until that is done, operations on the member return -ECONNRESET.
 *      - For any other channel, operations on the member keep returning -ECONNRESET, and the
 *        endpoint here does not answer the new one. All the others must end their endpoints; then
 *        all construct the channel again.
 * A sub-channel takes members back only if all its parents do.
 */
#ifndef LOCO_CHANNEL_H
#define LOCO_CHANNEL_H

#include "ack.h"
#include "fabric/language.h"
#include "manager.h"

LOCO_DECLARATIONS

/* The callbacks of a channel's type; NULL: none. */
struct loco_channel_ops {
    /* The member's join arrived: it has an endpoint. */
    void (*on_join)(struct loco_channel *channel, uint32_t node);
    /* The member's regions are known here: operations on it succeed from now on. */
    void (*on_connect)(struct loco_channel *channel, uint32_t node);
    /* The member was lost: operations on it already return -ECONNRESET. */
    void (*on_lost)(struct loco_channel *channel, uint32_t node);
    /* The member is refused. `here` and `there` are the first lines that differ, "" for none. */
    void (*on_disagree)(struct loco_channel *channel, uint32_t node, const char *here,
                        const char *there);
    /* Members that restart are taken back: on_join and on_connect are called again. */
    bool takes_back;
    uint64_t room[4];
};

/* The other nodes that take part; this node is never among them. */
struct loco_members {
    const uint32_t *nodes; /* ids in ascending order; NULL: every node but this one */
    unsigned count;        /* of `nodes` */
};

#ifdef __cplusplus
#define LOCO_ALL (loco_members{})
#else
#define LOCO_ALL ((struct loco_members){0})
#endif

struct loco_member {
    uint32_t node;
    uint32_t endpoint; /* the number of the member's endpoint, once it joined or connected */
    bool joined;       /* its join has arrived */
    bool met;          /* it has joined and connected; also while it is lost, until it is back up */
    bool refused;      /* it does not agree, and was told so */
    bool away;         /* it was lost before this endpoint was constructed, and is not back yet */
    /* 0: not connected yet. Afterwards odd while it is connected, and even while it is lost. */
    LOCO_ATOMIC(uint32_t) incarnation;
    uint64_t room[1];
};

static inline bool loco_member_connected(const struct loco_member *member)
{
    return atomic_load_explicit(&member->incarnation, memory_order_acquire) & 1;
}

static inline bool loco_member_lost(const struct loco_member *member)
{
    uint32_t incarnation = atomic_load_explicit(&member->incarnation, memory_order_acquire);

    return incarnation && !(incarnation & 1);
}

/* A named piece of network memory, of which this node and each member have a copy. */
struct loco_region {
    struct loco_channel *channel;
    const char *name;
    size_t size;               /* bytes; the same at each member */
    void *memory;              /* this node's copy, aligned to a cache line, zero at first */
    struct loco_remote where;  /* its address, as peers use it */
    struct loco_remote *peers; /* by member index: its copy's address, once it has connected */
    struct loco_region *next;
};

/* What endpoints must agree on. Any hash will do; all nodes use the same function. */
struct loco_agreement {
    const char *lines; /* each ends with '\n' */
    size_t length;     /* bytes of them */
    uint64_t hash;     /* of them */
};

struct loco_channel {
    struct loco_manager *mgr;
    const struct loco_channel_ops *ops; /* NULL: no callbacks */
    char *name;                         /* the full name */
    uint32_t endpoint;                  /* its number among this node's endpoints; from 1 */
    bool joined;                        /* loco_channel_join was called */
    bool takes_back;                    /* so do all its parents */
    bool failed;                        /* its setup met an error, for loco_manager_ready */
    struct loco_member *members;        /* by member index: ascending node ids */
    unsigned member_count;
    unsigned missing;            /* members that it has not met */
    struct loco_region *regions; /* newest first */
    struct loco_agreement agreement;
    uint64_t room[1];
};

/*
 * Constructs an endpoint called `name` under `parent` (NULL: at the top). `name` is text of 1 to 63
 * bytes without '/', '.' and control characters; the full name has at most 231 bytes. `ops` must
 * stay valid while the endpoint lives. Returns
 *      0
 *      -EEXIST  this node has a channel of that name
 *      -EINVAL  the name is not as above; a member is this node, or none of the network, or the
 *               members are not in ascending order; or the room of `ops` is not zero
 *      -ENOMEM
 *      or the fabric's error when it cannot begin to connect with a member
 * The channel is all zero after an error. Any thread may make this and the other setup calls, one
 * at a time for each endpoint.
 */
int loco_channel_init(struct loco_channel *channel, struct loco_manager *manager,
                      const struct loco_channel *parent, const char *name,
                      struct loco_members members, const struct loco_channel_ops *ops);

/* Cuts a region of `size` zeroed bytes here, and expects one of the same name and size of every
 * member. `name` has 1 to 15 bytes and must stay valid while the endpoint lives; a string literal
 * does. A channel has at most 16 regions. Returns 0, -ENOMEM, or -EINVAL for a bad name, a 17th
 * region, or an endpoint that has joined, since the join lists the regions. */
int loco_channel_region(struct loco_channel *channel, const char *name, size_t size,
                        struct loco_region **region);

/* Sets what the endpoint must agree on with its members. Called before it joins. The lines must
 * stay valid while the endpoint lives. */
static inline void loco_channel_agree(struct loco_channel *channel,
                                      const struct loco_agreement *agreement)
{
    channel->agreement = *agreement;
}

/* Announces the endpoint to its members, with its regions. Called once. */
void loco_channel_join(struct loco_channel *channel);

/* Ends the endpoint: its name is free again, and its regions are given back. The caller makes sure
 * that no operation on it is in flight. Does nothing on a zeroed channel. */
void loco_channel_fini(struct loco_channel *channel);

/* Returns the index of `node` among the members, or -1. O(log members). Any thread. */
int loco_channel_member(const struct loco_channel *channel, uint32_t node);

/* Returns -ECONNRESET while any member is lost and not taken back, else 0. A loop that waits for
 * members asks this. O(members). Any thread. */
int loco_channel_check(const struct loco_channel *channel);

/*
 * One-sided operations on member `m`'s copy of a region. `m` is a member's index, or LOCO_SELF;
 * `offset` and `size` are in bytes. Sources and results lie in network memory (a region or a
 * mem_ref); a write's source of at most LOCO_INLINE_MAX bytes may lie anywhere. A post waits only
 * while the queue of its link is full. Errors come in the ack:
 *      -ENOTCONN    the member has not connected yet
 *      -ECONNRESET  the member is lost, and not taken back
 *      -ERANGE      outside the region, or no such member
 *      -EPERM       the calling thread is not attached
 * fabric/fabric.h says how operations are ordered; fences order them further. Any attached thread.
 */
struct loco_ack loco_region_write(struct loco_region *region, unsigned m, size_t offset,
                                  const void *from, size_t size);
struct loco_ack loco_region_read(struct loco_region *region, unsigned m, size_t offset, void *to,
                                 size_t size);

/* Atomic operations on the 8-byte word at `offset`, a multiple of 8. *old lies in network memory
 * and has the word's former value once the operation is done. The operations are atomic with each
 * other; not with writes, and with the CPU's own only on a fabric that says LOCO_CPU_ATOMICS. The
 * new value is placed later, as a write's, except on a fabric that says LOCO_ATOMICS_PLACED. */
struct loco_ack loco_region_fetch_add(struct loco_region *region, unsigned m, size_t offset,
                                      uint64_t add, uint64_t *old);
struct loco_ack loco_region_compare_swap(struct loco_region *region, unsigned m, size_t offset,
                                         uint64_t expected, uint64_t desired, uint64_t *old);

/* In place of a member's index: this node's own copy, reached through the fabric. */
#define LOCO_SELF (~0u)

LOCO_DECLARATIONS_END

#endif
