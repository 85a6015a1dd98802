/*
 * atomic_var: a word of 8 bytes that any participant may read, write and change atomically.
 * Its one official copy is at the host; the other participants hold cached copies, as old as
 * their last pull.
 *
 * atomic_array: `count` such words at each participant, without cached copies: one endpoint
 * for as many words as fit in memory.
 *
 * Both name a word by a struct loco_atomic_word, and the operations are on that:
 *
 *      loco_atomic_fetch_add(loco_atomic_of(&counter), 1, &old);
 *      loco_atomic_fetch_add(loco_atomic_at(&accounts, node, index), amount, &old);
 *
 * The operations on one word are linearizable, loco_atomic_write and the cached copies
 * excepted. Where the fabric's atomics and the CPU's compose (LOCO_CPU_ATOMICS) the host uses
 * the CPU's own; elsewhere it, too, goes through the network, over its link to itself.
 *
 * A variable lives as long as its host: operations of the others return -ECONNRESET from then on,
 * even when the host restarts. Any other participant that restarts is taken back; what it was
 * doing when it died may or may not have taken effect. An array takes nobody back.
 *
 * Threads: any attached thread.
 */
#ifndef LOCO_ATOMIC_VAR_H
#define LOCO_ATOMIC_VAR_H

#include "channel.h"
#include "language.h"

LOCO_DECLARATIONS

/* Asks for official copies in the memory of the network card, which is nearer to the network
 * than main memory. No fabric has such memory yet: a warning says so, and they are in main
 * memory. */
enum { LOCO_ATOMIC_DEVICE = 1 << 0 };

/* Where a participant's words are, seen from this node. */
struct loco_atomic_home {
    LOCO_ATOMIC(uint64_t *)
    words;           /* where this CPU may use them itself; NULL: through the fabric */
    unsigned member; /* its index, or LOCO_SELF */
    unsigned slot;   /* the manager's, by which a thread knows whether it is attached */
};

struct loco_atomic_array {
    struct loco_channel channel;
    struct loco_region *region;
    size_t count;                   /* of words at each participant */
    uint32_t node_count;            /* of homes */
    struct loco_atomic_home *homes; /* by node id */
    uint64_t room[2];
};

struct loco_atomic_var {
    struct loco_atomic_array words; /* the host's is official, the others' are the caches */
    uint32_t host;
    uint64_t room[2];
};

/* One word. Cheap to make. One that is kept is good for as long as its channel. */
struct loco_atomic_word {
    uint64_t *own; /* one that is no channel's, in this process's memory; else NULL, and: */
    const struct loco_atomic_home *home; /* NULL: there is no such word */
    struct loco_region *region;
    size_t offset;
    unsigned member;
};

/*
 * Constructs and joins an endpoint of the variable whose official copy is at node `host`,
 * zero at first. At the host `members` are the others that take part; elsewhere the host is
 * the only member, and `members` is not looked at. `flags`: LOCO_ATOMIC_DEVICE or 0. Errors
 * as of loco_channel_init.
 */
int loco_atomic_var_init(struct loco_atomic_var *var, struct loco_manager *manager,
                         const struct loco_channel *parent, const char *name, uint32_t host,
                         struct loco_members members, unsigned flags);
void loco_atomic_var_fini(struct loco_atomic_var *var);

/* The same for `count` words at this node and at each of the members, all zero. `count` is
 * the same everywhere, and above 0. */
int loco_atomic_array_init(struct loco_atomic_array *array, struct loco_manager *manager,
                           const struct loco_channel *parent, const char *name, size_t count,
                           struct loco_members members, unsigned flags);
void loco_atomic_array_fini(struct loco_atomic_array *array);

/* The word `index` at `node`. Operations on one that is not there return -ERANGE. */
static inline struct loco_atomic_word loco_atomic_at(const struct loco_atomic_array *array,
                                                     uint32_t node, size_t index)
{
    struct loco_atomic_word word = {NULL, NULL, array->region, SIZE_MAX, 0};

    if (node >= array->node_count || index >= array->count)
        return word;
    word.home = &array->homes[node];
    word.offset = index * sizeof(uint64_t);
    word.member = word.home->member;
    return word;
}

/* The word itself, where this CPU and this thread may use it now; else NULL: the fabric does it, or
 * says why not. */
static inline uint64_t *loco_atomic_reach(struct loco_atomic_word word)
{
    if (word.own)
        return word.own;
    if (!word.home || !loco_context_at(word.home->slot))
        return NULL;
    uint64_t *words = atomic_load_explicit(&word.home->words, memory_order_relaxed);
    return words ? words + word.offset / sizeof(uint64_t) : NULL;
}

/* The official copy of a variable. */
static inline struct loco_atomic_word loco_atomic_of(const struct loco_atomic_var *var)
{
    return loco_atomic_at(&var->words, var->host, 0);
}

/* --- the cached copies -------------------------------------------------------------------- */

/* What this node's copy holds: elsewhere than at the host, what the last pull to be done
 * found. Never waits. */
uint64_t loco_atomic_var_cached(const struct loco_atomic_var *var);

/* Reads the official copy into this node's. Nothing to do at the host. */
struct loco_ack loco_atomic_var_pull(struct loco_atomic_var *var);

/* --- operations that post ------------------------------------------------------------------ *
 *
 * They never wait. The result is in network memory (a region or a mem_ref), and there when the
 * ack is done. Operations of one thread that are not done may execute in any order, but for
 * what fabric/fabric.h says of writes. Errors, in the ack, as of loco_region_write. */

struct loco_ack loco_atomic_post_load(struct loco_atomic_word word, uint64_t *value);
struct loco_ack loco_atomic_post_fetch_add(struct loco_atomic_word word, uint64_t add,
                                           uint64_t *old);
struct loco_ack loco_atomic_post_compare_swap(struct loco_atomic_word word, uint64_t expected,
                                              uint64_t desired, uint64_t *old);

/*
 * Writes the word, for the price of a plain write: in order behind the thread's earlier
 * writes to the same node, and placed as they are, by a fence. It is not atomic with a
 * fetch-add, an exchange or a compare-and-swap that succeeds at the same time: either may be
 * lost. So it is for a word that, by the rules of its use, nobody else changes meanwhile
 * (ticket_lock's now_serving). Where that cannot be said, loco_atomic_store.
 */
struct loco_ack loco_atomic_write(struct loco_atomic_word word, uint64_t value);

/* --- operations that wait for their result --------------------------------------------------- *
 *
 * Each takes effect at one instant between call and return. What the calling thread wrote to
 * the word's node before is placed before that instant; to other nodes: fence. Returns 0, or
 * an error as above, or -ENOBUFS when the thread's mem_refs are all taken.
 *
 * They wait for the word's node alone, and no longer than until it is lost. A load may be given up,
 * and has a sibling for that. One that changes the word may not: whether it did would not be known.
 * Who can live with that posts it, and waits for the ack as long as it likes. */

int loco_atomic_far_load(struct loco_atomic_word word, uint64_t *value, uint64_t timeout_ns);
int loco_atomic_far_fetch_add(struct loco_atomic_word word, uint64_t add, uint64_t *old);
int loco_atomic_far_compare_swap(struct loco_atomic_word word, uint64_t expected, uint64_t desired,
                                 uint64_t *old);
int loco_atomic_far_exchange(struct loco_atomic_word word, uint64_t value, uint64_t *old);

/* A copy of the word for the rare way, as a local is for its result: else the compiler keeps both
 * in memory on the common way too. */
static inline struct loco_atomic_word loco_atomic_from_afar(struct loco_atomic_word word)
{
    const struct loco_atomic_word copy = {NULL, NULL, word.region, word.offset, word.member};

    return copy;
}

/* A hint: this CPU will soon change the word. It brings the word near where the CPU may use it
 * itself, and is nothing elsewhere. */
static inline void loco_atomic_prefetch(struct loco_atomic_word word)
{
    const uint64_t *reached = loco_atomic_reach(word);

#if defined(__x86_64__)
    if (reached)
        __asm__ volatile("prefetchw %0" : : "m"(*reached));
#else
    if (reached)
        __builtin_prefetch(reached, 1);
#endif
}

/* Waits for at most `timeout_ns`: -ETIMEDOUT after that. */
static inline int loco_atomic_load_timed(struct loco_atomic_word word, uint64_t *value,
                                         uint64_t timeout_ns)
{
    uint64_t *reached = loco_atomic_reach(word);

    if (!reached) {
        uint64_t far = 0;
        int rc = loco_atomic_far_load(loco_atomic_from_afar(word), &far, timeout_ns);
        *value = far;
        return rc;
    }
    loco_place_stores();
    *value = __atomic_load_n(reached, __ATOMIC_SEQ_CST);
    return 0;
}

static inline int loco_atomic_load(struct loco_atomic_word word, uint64_t *value)
{
    return loco_atomic_load_timed(word, value, UINT64_MAX);
}

/* *old gets the word's former value. */
static inline int loco_atomic_fetch_add(struct loco_atomic_word word, uint64_t add, uint64_t *old)
{
    uint64_t *reached = loco_atomic_reach(word);

    if (!reached) {
        uint64_t far = 0;
        int rc = loco_atomic_far_fetch_add(loco_atomic_from_afar(word), add, &far);
        *old = far;
        return rc;
    }
    loco_before_atomic();
    *old = __atomic_fetch_add(reached, add, __ATOMIC_SEQ_CST);
    loco_after_atomic();
    return 0;
}

/* Swaps where the word is `expected`: *old, its former value, says whether it was. */
static inline int loco_atomic_compare_swap(struct loco_atomic_word word, uint64_t expected,
                                           uint64_t desired, uint64_t *old)
{
    uint64_t *reached = loco_atomic_reach(word);

    if (!reached) {
        uint64_t far = 0;
        int rc = loco_atomic_far_compare_swap(loco_atomic_from_afar(word), expected, desired, &far);
        *old = far;
        return rc;
    }
    *old = expected;
    loco_before_atomic();
    __atomic_compare_exchange_n(reached, old, desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    loco_after_atomic();
    return 0;
}

/* No network card exchanges: through the fabric this is a read and then compare-and-swaps
 * until one succeeds, lock-free but not wait-free. */
static inline int loco_atomic_exchange(struct loco_atomic_word word, uint64_t value, uint64_t *old)
{
    uint64_t *reached = loco_atomic_reach(word);

    if (!reached) {
        uint64_t far = 0;
        int rc = loco_atomic_far_exchange(loco_atomic_from_afar(word), value, &far);
        *old = far;
        return rc;
    }
    loco_before_atomic();
    *old = __atomic_exchange_n(reached, value, __ATOMIC_SEQ_CST);
    loco_after_atomic();
    return 0;
}

/* An exchange without its result: atomic with all the others here. */
static inline int loco_atomic_store(struct loco_atomic_word word, uint64_t value)
{
    uint64_t old;

    return loco_atomic_exchange(word, value, &old);
}

LOCO_DECLARATIONS_END

#endif
