/*
 * atomic_var: a word of 8 bytes that any participant may read, write and change atomically.
 * Its one official copy is at the host. Each other participant has a cached copy, which is as old
 * as its last pull.
 *
 * atomic_array: `count` such words at each participant, without cached copies. One endpoint serves
 * as many words as fit in memory.
 *
 * The operations take a struct loco_atomic_word, which names a word of either:
 *
 *      loco_atomic_fetch_add(loco_atomic_of(&counter), 1, &old);
 *      loco_atomic_fetch_add(loco_atomic_at(&accounts, node, index), amount, &old);
 *
 * The operations on one word are linearizable, except loco_atomic_write and those on cached copies.
 * On a fabric whose atomics compose with the CPU's (LOCO_CPU_ATOMICS) the host uses the CPU's own
 * atomic instructions. On other fabrics the host, too, goes through the network, over its link to
 * itself.
 *
 * A variable lives as long as its host. When the host is lost, operations of the others return
 * -ECONNRESET, also after the host has restarted. Any other participant that restarts is taken
 * back; an operation that it was in when it died may or may not have taken effect. An array takes
 * no participant back.
 *
 * Threads: any attached thread.
 */
#ifndef LOCO_ATOMIC_VAR_H
#define LOCO_ATOMIC_VAR_H

#include "channel.h"
#include "fabric/language.h"

LOCO_DECLARATIONS

/* Asks for official copies in the memory of the network card, which is nearer to the network than
 * main memory. No fabric supports that yet: the copies are in main memory, and a warning says so.
 */
enum { LOCO_ATOMIC_DEVICE = 1 << 0 };

/* Where a participant's words are, seen from this node. */
struct loco_atomic_home {
    LOCO_ATOMIC(uint64_t *)
    words;           /* their address, if this CPU may use them itself; NULL: through the fabric */
    unsigned member; /* the participant's member index, or LOCO_SELF */
    unsigned slot;   /* the manager's slot: tells whether the calling thread is attached */
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

/* The name of one word. It is cheap to make, and valid as long as its channel. */
struct loco_atomic_word {
    uint64_t *own; /* a word of this process's memory that is no channel's; else NULL */
    const struct loco_atomic_home *home; /* of a channel's word; NULL: there is no such word */
    struct loco_region *region;
    size_t offset;
    unsigned member;
};

/*
 * Constructs and joins an endpoint of the variable whose official copy is at node `host`. It is
 * zero at first. At the host `members` are the other participants. At any other node the host is
 * the only member, and `members` is ignored. `flags` is LOCO_ATOMIC_DEVICE or 0. Returns 0 or an
 * error of loco_channel_init.
 */
int loco_atomic_var_init(struct loco_atomic_var *var, struct loco_manager *manager,
                         const struct loco_channel *parent, const char *name, uint32_t host,
                         struct loco_members members, unsigned flags);
void loco_atomic_var_fini(struct loco_atomic_var *var);

/* Does the same for `count` words at this node and at each of the members, all zero at first.
 * `count` is the same at every node; -EINVAL when it is 0. */
int loco_atomic_array_init(struct loco_atomic_array *array, struct loco_manager *manager,
                           const struct loco_channel *parent, const char *name, size_t count,
                           struct loco_members members, unsigned flags);
void loco_atomic_array_fini(struct loco_atomic_array *array);

/* Names the word `index` at `node`. Operations on a word that does not exist return -ERANGE. */
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

/* Returns the word's address, if this CPU and the calling thread may use it directly now. NULL: the
 * operation goes through the fabric, which also finds its errors. */
static inline uint64_t *loco_atomic_reach(struct loco_atomic_word word)
{
    if (word.own)
        return word.own;
    if (!word.home || !loco_context_at(word.home->slot))
        return NULL;
    uint64_t *words = atomic_load_explicit(&word.home->words, memory_order_relaxed);
    return words ? words + word.offset / sizeof(uint64_t) : NULL;
}

/* Names the official copy of a variable. */
static inline struct loco_atomic_word loco_atomic_of(const struct loco_atomic_var *var)
{
    return loco_atomic_at(&var->words, var->host, 0);
}

/* --- the cached copies -------------------------------------------------------------------- */

/* Returns this node's copy: at the host the official one, elsewhere what the last pull that is done
 * has read. Never waits. */
uint64_t loco_atomic_var_cached(const struct loco_atomic_var *var);

/* Reads the official copy into this node's copy, without waiting; at the host it does nothing.
 * Errors come in the ack, as with loco_region_read. */
struct loco_ack loco_atomic_var_pull(struct loco_atomic_var *var);

/* --- operations that post ------------------------------------------------------------------ *
 *
 * They wait only while the queue of their link is full. The result's place lies in network memory
 * (a region or a mem_ref) and has the result once the ack is done. Operations of one thread that
 * are in flight may execute in any order, except that writes come first as fabric/fabric.h says.
 * Where an atomic may be done before it is placed (no LOCO_ATOMICS_PLACED), a load is a
 * compare-and-swap that leaves the word as it is, so that it sees every operation that has ended.
 * Errors come in the ack, as with loco_region_write. */

struct loco_ack loco_atomic_post_load(struct loco_atomic_word word, uint64_t *value);
struct loco_ack loco_atomic_post_fetch_add(struct loco_atomic_word word, uint64_t add,
                                           uint64_t *old);
struct loco_ack loco_atomic_post_compare_swap(struct loco_atomic_word word, uint64_t expected,
                                              uint64_t desired, uint64_t *old);

/*
 * Writes the word at the cost of a plain write. It is placed after the thread's earlier writes to
 * the same node; a fence makes sure that it is placed. It is not atomic with a fetch-add, an
 * exchange or a compare-and-swap that succeeds at the same time: either of the two may be lost. Nor
 * with one that is done already, unless that was this thread's or a fence has placed it. So it
 * suits a word that no atomic changes, such as a claim of ticket_lock. For all other words there is
 * loco_atomic_store.
 */
struct loco_ack loco_atomic_write(struct loco_atomic_word word, uint64_t value);

/* --- operations that wait for their result --------------------------------------------------- *
 *
 * Each takes effect at one instant between call and return. The calling thread's earlier writes to
 * the word's node are placed before that instant; its writes to other nodes need a fence. Returns
 * 0, an error as above, or -ENOBUFS when the thread's mem_refs are all taken.
 *
 * A call waits for the word's node only, and at most until that is lost. The timed calls wait for
 * at most `timeout_ns`; -ETIMEDOUT after that. A change that was given up may still take effect at
 * any later moment, or never, and until then it keeps one of the thread's mem_refs. */

int loco_atomic_far_load(struct loco_atomic_word word, uint64_t *value, uint64_t timeout_ns);
int loco_atomic_far_fetch_add(struct loco_atomic_word word, uint64_t add, uint64_t *old);
int loco_atomic_far_compare_swap(struct loco_atomic_word word, uint64_t expected, uint64_t desired,
                                 uint64_t *old);
int loco_atomic_far_exchange(struct loco_atomic_word word, uint64_t value, uint64_t *old);

/* A copy of the word for the path through the fabric. Without it, and without the local variables
 * for results below, the compiler would keep the word and the result in memory on the direct path
 * too. */
static inline struct loco_atomic_word loco_atomic_from_afar(struct loco_atomic_word word)
{
    const struct loco_atomic_word copy = {NULL, NULL, word.region, word.offset, word.member};

    return copy;
}

/* A hint: the calling thread will soon change the word. If this CPU may use the word itself, its
 * cache line is fetched; otherwise nothing happens. */
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

/* Loads the word. */
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

/* Adds to the word, modulo 2^64. *old gets its former value. */
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

/* Sets the word to `desired` if it is `expected`. *old gets its former value: the swap took place
 * if that is `expected`. */
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

/* Sets the word to `value`. *old gets its former value. Network cards have no exchange, so through
 * the fabric this is a read, and then compare-and-swaps until one succeeds: lock-free, but not
 * wait-free. */
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

/* Sets the word to `value`, atomically with all the operations here. Costs as much as an exchange.
 */
static inline int loco_atomic_store(struct loco_atomic_word word, uint64_t value)
{
    uint64_t old;

    return loco_atomic_exchange(word, value, &old);
}

/* Do the same, but wait for at most `timeout_ns`. *old is set on success only. */
int loco_atomic_fetch_add_timed(struct loco_atomic_word word, uint64_t add, uint64_t *old,
                                uint64_t timeout_ns);
int loco_atomic_compare_swap_timed(struct loco_atomic_word word, uint64_t expected,
                                   uint64_t desired, uint64_t *old, uint64_t timeout_ns);
int loco_atomic_exchange_timed(struct loco_atomic_word word, uint64_t value, uint64_t *old,
                               uint64_t timeout_ns);
int loco_atomic_store_timed(struct loco_atomic_word word, uint64_t value, uint64_t timeout_ns);

LOCO_DECLARATIONS_END

#endif
