/*
 * owned_var: a single-writer, multi-reader register. The owner holds the one authoritative
 * copy; each reader holds a cached copy, brought up to date by the owner's pushes or by its
 * own pulls.
 *
 * A variable is either pushed or pulled: the first use decides, and the other one is refused
 * (-EOPNOTSUPP), since of a push and a pull in flight the older value could land last. A reader can
 * also read the owner's copy, in either case, without touching its own.
 *
 * Atomicity is by size. A value of 1, 2, 4 or 8 bytes is one word and never torn. A longer
 * one carries a word that tells whether it is whole: a checksum of it; or, on a fabric whose writes
 * are a processor's stores and so seen in order (LOCO_COHERENT), a count, odd while the value is
 * being written. A load that meets a half-written value sees that and tries again. Where nothing is
 * ever half-written (LOCO_WHOLE) there is no such word.
 *
 * A participant that restarts is taken back. A reader's copy is then zero again, until the owner's
 * next push or its own pull; if the owner pushes seldom, loco_owned_var_read gets the value at
 * once. An owner's copy is then zero, too, while the readers keep theirs until it pushes or they
 * pull; but a copy that the owner left half-written becomes zero.
 *
 * Threads: one thread at a time stores and pushes. Any thread may load, any attached one pull or
 * read.
 * Order: a reader that loads a value also sees everything that the owner placed (fenced)
 * before its push.
 */
#ifndef LOCO_OWNED_VAR_H
#define LOCO_OWNED_VAR_H

#include "channel.h"
#include "language.h"

LOCO_DECLARATIONS

/* In a struct at the beginning of a cache line, a load touches only the second line, and a push
 * only the first two. With a thousand variables that counts. */
struct loco_owned_var {
    struct loco_channel channel;
    unsigned char *copy; /* this node's */
    size_t size;         /* of the value, bytes */
    /* By member: its copy, where this CPU may write it directly (and read it, on LOCO_COHERENT
     * fabrics); else NULL. */
    LOCO_ATOMIC(unsigned char *) * direct;
    LOCO_ATOMIC(unsigned char *) direct_one; /* the same of the only member */
    uint8_t check;             /* what the check word is, which says whether the value is whole */
    bool pushes;               /* owner: it may push */
    bool refused;              /* a refused push or pull was logged */
    LOCO_ATOMIC(bool) reading; /* reader: a thread reads from the owner, and uses the acks below */
    uint32_t pulls;            /* reader: the incarnation of the owner that it may pull from */

    struct loco_ack pull;       /* the newest pull */
    struct loco_ack landing;    /* the newest read that leaves the copy as it is */
    struct loco_region *region; /* owned_var.c says what is in it */
    size_t record;              /* bytes of the value and the check word */
    uint32_t owner;
    uint64_t room[3];
};

/*
 * Constructs and joins an endpoint of the variable owned by node `owner`, zero at first. At
 * the owner `readers` are the members; elsewhere the owner is the only one, and `readers` is
 * not looked at. Errors as of loco_channel_init.
 */
int loco_owned_var_init(struct loco_owned_var *var, struct loco_manager *manager,
                        const struct loco_channel *parent, const char *name, uint32_t owner,
                        struct loco_members readers, size_t size);
void loco_owned_var_fini(struct loco_owned_var *var);

/* The owner's: stores into its copy, without telling anybody yet. The last push must be done if the
 * value with its checksum is longer than LOCO_INLINE_MAX, since it may still be read. */
void loco_owned_var_store(struct loco_owned_var *var, const void *value);

/* The owner's: writes its copy to every reader that has connected. Errors in the ack are those of
 * loco_region_write, -EOPNOTSUPP when a reader has pulled, and -EINVAL at a reader. */
struct loco_ack loco_owned_var_push(struct loco_owned_var *var);

/* The owner's: stores a value and pushes it, in one pass over it. Errors as of
 * loco_owned_var_push. */
struct loco_ack loco_owned_var_put(struct loco_owned_var *var, const void *value);

/* A reader's: reads the owner's copy into its own, after the last pull is done. The first pull asks
 * the owner's memory whether it is allowed, and waits for the answer. Errors in the ack are those
 * of loco_region_read, -EOPNOTSUPP when the owner has pushed, and -EINVAL at the owner. */
struct loco_ack loco_owned_var_pull(struct loco_owned_var *var);

/* Waits for at most `timeout_ns`: then the ack says -ETIMEDOUT, and nothing was asked for. */
struct loco_ack loco_owned_var_pull_timed(struct loco_owned_var *var, uint64_t timeout_ns);

/* Reads the owner's copy into *value and waits for it; this node's copy stays as it is, which may
 * be older. Returns 0; -EAGAIN as a load does; or an error of loco_region_read. */
int loco_owned_var_read(struct loco_owned_var *var, void *value);

/* The same for at most `timeout_ns`: -ETIMEDOUT after that. */
int loco_owned_var_read_timed(struct loco_owned_var *var, void *value, uint64_t timeout_ns);

/* Loads this node's copy. Returns 0, or -EAGAIN when it was torn LOCO_LOAD_TRIES times
 * over; *value is then a mixture. */
int loco_owned_var_load(const struct loco_owned_var *var, void *value);

enum { LOCO_LOAD_TRIES = 1000 };

/* The first word of this node's copy of a value of at least 8 bytes. The rest of a newer value may
 * still be on its way. For users who number their values in that word: if the number has not
 * changed, there is nothing new to load. */
static inline uint64_t loco_owned_var_peek(const struct loco_owned_var *var)
{
    return __atomic_load_n((const uint64_t *)(const void *)var->copy, __ATOMIC_RELAXED);
}

/* The owner's: lets this CPU fetch the cache line that the next push will write at the first
 * reader, without waiting. Useful when there is something else to do before the push. */
static inline void loco_owned_var_prefetch(const struct loco_owned_var *var)
{
    const unsigned char *line =
        var->direct ? atomic_load_explicit(&var->direct[0], memory_order_relaxed) : NULL;

    if (!line)
        return;
#ifdef __x86_64__
    __asm__ volatile("prefetchw %0" : : "m"(*line)); /* the builtin fetches it for reading */
#else
    __builtin_prefetch(line, 1);
#endif
}

LOCO_DECLARATIONS_END

#endif
