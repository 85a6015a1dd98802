/*
 * owned_var: a single-writer, multi-reader register. The owner holds the one authoritative
 * copy; each reader holds a cached copy, brought up to date by the owner's pushes or by its
 * own pulls.
 *
 * A variable is either pushed or pulled: the first use decides, and the other one is refused with
 * -EOPNOTSUPP. With both in flight, the older value could arrive last. In either case a reader can
 * also read the owner's copy without changing its own.
 *
 * A value of 1, 2, 4 or 8 bytes is one word and never torn. A value of another size carries a check
 * word, which tells whether the value is whole. It is a checksum; or, on a fabric whose writes are
 * a CPU's stores and so seen in order (LOCO_COHERENT), a count that is odd while the value is being
 * written. A load that finds a half-written value tries again. On a fabric where nothing is ever
 * half-written (LOCO_WHOLE) there is no check word.
 *
 * A participant that restarts is taken back, and its copy is zero. A reader has the value again
 * with the owner's next push or its own pull; loco_owned_var_read gets it at once. When the owner
 * restarts, the readers keep their copies until it pushes or they pull; a copy that the owner had
 * left half-written becomes zero.
 *
 * Threads: one thread at a time stores and pushes. Any thread may load. Any attached thread may
 * pull or read. Order: a reader that loads a value also sees everything that the owner had placed
 * (fenced) before it pushed the value.
 */
#ifndef LOCO_OWNED_VAR_H
#define LOCO_OWNED_VAR_H

#include "channel.h"
#include "fabric/language.h"

LOCO_DECLARATIONS

struct loco_route;

/* If the structure begins at a cache line, a load touches only its second line, and a push only its
 * first two. That matters with a thousand variables. */
struct loco_owned_var {
    struct loco_channel channel;
    unsigned char *copy; /* this node's */
    size_t size;         /* of the value, bytes */
    /* By member: its copy's address, if this CPU may write there directly (and read there, on
     * LOCO_COHERENT fabrics); else NULL. */
    LOCO_ATOMIC(unsigned char *) * direct;
    LOCO_ATOMIC(unsigned char *) direct_one; /* the same for an only member */
    uint8_t check;                           /* the kind of check word */
    bool pushes;                             /* owner: it may push */
    bool refused;                            /* a refused push or pull was logged */
    LOCO_ATOMIC(bool) reading; /* reader: a thread reads from the owner, and uses the acks below */
    uint32_t pulls;            /* reader: the incarnation of the owner that it may pull from */

    struct loco_ack pull;       /* the newest pull */
    struct loco_ack landing;    /* the newest loco_owned_var_read */
    struct loco_region *region; /* owned_var.c describes its content */
    size_t record;              /* bytes of the value and the check word */
    uint32_t owner;
    struct loco_route *routes; /* owner: by member, where it cannot always write directly */
    uint64_t room[2];
};

/*
 * Constructs and joins an endpoint of the variable that node `owner` owns. The value has `size`
 * bytes and is zero at first. At the owner `readers` are the members. At any other node the owner
 * is the only member, and `readers` is ignored. Returns 0 or an error of loco_channel_init; -EINVAL
 * also when `size` is 0 or above SIZE_MAX / 4.
 */
int loco_owned_var_init(struct loco_owned_var *var, struct loco_manager *manager,
                        const struct loco_channel *parent, const char *name, uint32_t owner,
                        struct loco_members readers, size_t size);
void loco_owned_var_fini(struct loco_owned_var *var);

/* At the owner: stores a value into its copy, and tells no reader yet. If the value with its check
 * word is longer than LOCO_INLINE_MAX, the last push must be done, since it may still be reading
 * the copy. */
void loco_owned_var_store(struct loco_owned_var *var, const void *value);

/* At the owner: writes its copy to every reader that has connected, without waiting. Errors in the
 * ack are those of loco_region_write, -EOPNOTSUPP when a reader has pulled, and -EINVAL at a
 * reader.
 */
struct loco_ack loco_owned_var_push(struct loco_owned_var *var);

/* At the owner: stores a value and pushes it, in one pass over the value. Errors as with
 * loco_owned_var_push. */
struct loco_ack loco_owned_var_put(struct loco_owned_var *var, const void *value);

/* At a reader: posts a read of the owner's copy into its own. It first waits until the last pull is
 * done. The first pull also asks the owner's memory whether pulling is allowed, and waits for the
 * answer. Errors in the ack are those of loco_region_read, -EOPNOTSUPP when the owner has pushed,
 * and -EINVAL at the owner. */
struct loco_ack loco_owned_var_pull(struct loco_owned_var *var);

/* Does the same, but waits for at most `timeout_ns`. After that the ack says -ETIMEDOUT, and no new
 * read was posted. */
struct loco_ack loco_owned_var_pull_timed(struct loco_owned_var *var, uint64_t timeout_ns);

/* Reads the owner's copy into *value, and waits for it. This node's copy, which may be older, does
 * not change. Returns 0, -EAGAIN as loco_owned_var_load does, or an error of loco_region_read. */
int loco_owned_var_read(struct loco_owned_var *var, void *value);

/* Does the same, but waits for at most `timeout_ns`; -ETIMEDOUT after that. */
int loco_owned_var_read_timed(struct loco_owned_var *var, void *value, uint64_t timeout_ns);

/* Loads this node's copy. Returns 0, or -EAGAIN when it was half-written at LOCO_LOAD_TRIES looks
 * in a row; *value is then a mixture. Never waits for another node. */
int loco_owned_var_load(const struct loco_owned_var *var, void *value);

enum { LOCO_LOAD_TRIES = 1000 };

/* Returns the first word of this node's copy, of a value of at least 8 bytes. The rest of a newer
 * value may still be on its way. It is for a program that numbers its values in that word: while
 * the number stays the same, there is nothing new to load. */
static inline uint64_t loco_owned_var_peek(const struct loco_owned_var *var)
{
    return __atomic_load_n((const uint64_t *)(const void *)var->copy, __ATOMIC_RELAXED);
}

/* A hint that this CPU will soon write the cache line, which is fetched without waiting. */
static inline void loco_prefetch_to_write(const void *line)
{
#ifdef __x86_64__
    __asm__ volatile("prefetchw %0"
                     :
                     : "m"(*(const char *)line)); /* the builtin's instruction is for reading */
#else
    __builtin_prefetch(line, 1);
#endif
}

/* At the owner, a hint that it will soon push: fetches, without waiting, the cache line that the
 * push will write at the first reader. Useful when something else is to be done before. */
static inline void loco_owned_var_prefetch(const struct loco_owned_var *var)
{
    const unsigned char *line =
        var->direct ? atomic_load_explicit(&var->direct[0], memory_order_relaxed) : NULL;

    if (line)
        loco_prefetch_to_write(line);
}

LOCO_DECLARATIONS_END

#endif
