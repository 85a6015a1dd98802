/*
 * A channel: an object whose state lives across nodes. This is the base of them all: names,
 * regions, joining and connecting. A channel type embeds struct loco_channel as its first
 * member; channels/barrier.c is the shortest example.
 *
 * Setup (the paper's section "Channel setup"). An endpoint
 *      1. is constructed with a name                       loco_channel_init
 *      2. cuts its regions, and expects the same of peers  loco_channel_region
 *      3. joins                                            loco_channel_join
 * Joining sends each member the endpoint's name and the regions expected of it. A member
 * that has an endpoint of the name answers with where its regions are; one that has not yet
 * ignores the message, and joins by itself when it has. The callbacks run, on whichever
 * thread carries the fabric's control messages and with the manager's lock held, when a
 * peer's join or connect arrives; they may construct sub-channels.
 *
 * An endpoint may have something to agree on with its members', such as the settings of a program:
 * lines of text. Its join carries their hash. Endpoints that do not agree refuse each other, both
 * with the first line that differs, and loco_manager_ready says -EPROTO.
 *
 * Full names: sub-channels as parent/child, regions as channel.region.
 *
 * An endpoint may be ended, and another constructed under its name. Two endpoints that have met
 * belong together: neither has anything to say to the other's successor. So all members end theirs
 * and construct the channel anew, in any order, once nobody uses the old one any more.
 *
 * A member that is lost may restart: another process, with the same node's id, that constructs
 * the same channels. What then holds is up to the channel's type. A channel that takes members
 * back does all of the above with it again, while its endpoint here goes on; until that is done,
 * operations on the member return -ECONNRESET. One that does not has -ECONNRESET for good, and
 * its endpoint does not answer the new member's: all the others end theirs, then all construct
 * the channel anew. A sub-channel takes members back only if its parents do.
 */
#ifndef LOCO_CHANNEL_H
#define LOCO_CHANNEL_H

#include "ack.h"
#include "language.h"
#include "manager.h"

LOCO_DECLARATIONS

/* What is left out is zero, and so not called. */
struct loco_channel_ops {
    void (*on_join)(struct loco_channel *channel, uint32_t node);
    void (*on_connect)(struct loco_channel *channel, uint32_t node);
    void (*on_lost)(struct loco_channel *channel, uint32_t node);
    /* A member is refused: `here` and `there` are the first lines that differ, "" for none. */
    void (*on_disagree)(struct loco_channel *channel, uint32_t node, const char *here,
                        const char *there);
    /* A member that restarts is taken back: on_join and on_connect are called again. */
    bool takes_back;
    uint64_t room[4];
};

/* Which peers take part; this node is never among them. */
struct loco_members {
    const uint32_t *nodes; /* ascending; NULL: every node but this one */
    unsigned count;
};

#define LOCO_ALL ((struct loco_members){0})

struct loco_member {
    uint32_t node;
    uint32_t endpoint; /* which of the member's endpoints: once it joined or connected */
    bool joined;       /* its join came */
    bool met;          /* both joined and connected, and not only lost since */
    bool refused;      /* it does not agree, and was told so */
    /* 0: not connected. Then odd, while its regions are known; even, while it is lost. */
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

/* A named piece of network memory: this node's copy, and where the members' copies are. */
struct loco_region {
    struct loco_channel *channel;
    const char *name;
    size_t size;
    void *memory;              /* this node's copy */
    struct loco_remote where;  /* and how peers name it */
    struct loco_remote *peers; /* by member index; known once the member connected */
    struct loco_region *next;
};

/* What endpoints agree on: lines that end with '\n', and the same hash of the same lines. */
struct loco_agreement {
    const char *lines;
    size_t length;
    uint64_t hash;
};

struct loco_channel {
    struct loco_manager *mgr;
    const struct loco_channel_ops *ops; /* NULL: no callbacks */
    char *name;                         /* the full one */
    uint32_t endpoint;                  /* which of this node's endpoints; from 1 */
    bool joined;
    bool takes_back;
    struct loco_member *members;
    unsigned member_count;
    unsigned missing;            /* members that have not met it yet */
    struct loco_region *regions; /* newest first */
    struct loco_agreement agreement;
    uint64_t room[1];
};

/*
 * Constructs an endpoint called `name`, under `parent` (NULL: at the top). Returns 0,
 * -EEXIST when this node has a channel of that name, -EINVAL for a bad name or member, or
 * -ENOMEM. Any thread; so are all the setup calls.
 */
int loco_channel_init(struct loco_channel *channel, struct loco_manager *manager,
                      const struct loco_channel *parent, const char *name,
                      struct loco_members members, const struct loco_channel_ops *ops);

/* Cuts a region here, and expects one of the same name and size of every member. `name` is
 * a string literal of at most 15 characters, and there are at most 16 regions. Returns 0; -EINVAL
 * beyond that, and once the endpoint has joined, as the join lists its regions; or -ENOMEM. */
int loco_channel_region(struct loco_channel *channel, const char *name, size_t size,
                        struct loco_region **region);

/* What the endpoint is to agree on with its members', before it joins. The lines stay where they
 * are as long as the endpoint. */
static inline void loco_channel_agree(struct loco_channel *channel,
                                      const struct loco_agreement *agreement)
{
    channel->agreement = *agreement;
}

/* Announces the endpoint; its regions are complete. */
void loco_channel_join(struct loco_channel *channel);

/* Ends the endpoint: its name is free, its regions go back. No operation is in flight. Safe
 * on a zeroed one. */
void loco_channel_fini(struct loco_channel *channel);

/* The index of `node` among the members, or -1. O(log members). */
int loco_channel_member(const struct loco_channel *channel, uint32_t node);

/* Whether any member was lost, and not taken back: -ECONNRESET or 0. What waits on members asks
 * this. */
int loco_channel_check(const struct loco_channel *channel);

/*
 * One-sided operations on member `m`'s copy of a region. Sources and results are network
 * memory (a region or a mem_ref), or at most LOCO_INLINE_MAX bytes for a write's source.
 * They never wait. Errors come in the ack: -ENOTCONN before the member connected, -ERANGE
 * outside the region, -ECONNRESET after the peer was lost (until it is taken back), -EPERM from
 * a thread that is not attached. They are ordered as fabric/fabric.h says and by fences.
 */
struct loco_ack loco_region_write(struct loco_region *region, unsigned m, size_t offset,
                                  const void *from, size_t size);
struct loco_ack loco_region_read(struct loco_region *region, unsigned m, size_t offset, void *to,
                                 size_t size);

/* Atomic operations on the 8-byte word at `offset`, aligned to its size. *old, in network
 * memory, gets the word's former value when the operation is done. They are atomic with one
 * another; with the CPU's own only where the fabric says LOCO_CPU_ATOMICS. */
struct loco_ack loco_region_fetch_add(struct loco_region *region, unsigned m, size_t offset,
                                      uint64_t add, uint64_t *old);
struct loco_ack loco_region_compare_swap(struct loco_region *region, unsigned m, size_t offset,
                                         uint64_t expected, uint64_t desired, uint64_t *old);

/* In place of a member's index: this node's own copy, through the fabric. */
#define LOCO_SELF (~0u)

LOCO_DECLARATIONS_END

#endif
