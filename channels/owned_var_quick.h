/*
 * Owned variables of three words, many in a row: what a loop over them needs of each lies in a
 * record of the caller's, and a value is loaded and put inline, in registers. owned_var.c has the
 * general way, and says what the word after the value is.
 */
#ifndef LOCO_OWNED_VAR_QUICK_H
#define LOCO_OWNED_VAR_QUICK_H

#include "loco/owned_var.h"

/* A value. */
struct loco_triple {
    uint64_t first, second, third;
};

/* A reader's variable. */
struct loco_quick_reader {
    const uint64_t *copy; /* this node's */
    bool counted;         /* the word after the value is a count */
};

/* An owner's. */
struct loco_quick_owner {
    uint64_t *copy;  /* this node's */
    uint64_t *there; /* the only reader's */
    uint32_t life;   /* in which that is there; 0: in none */
    bool counted;
};

/* Whether the variable's loads can be quick; *reader says how. */
bool loco_quick_reader_init(struct loco_quick_reader *reader, const struct loco_owned_var *var);

/* The same of its puts in this life; *owner says how. It can be so after its first push, once the
 * reader has connected. */
bool loco_quick_owner_init(struct loco_quick_owner *owner, const struct loco_owned_var *var,
                           uint32_t life);

/* Before quick puts of variables of this manager in a row. Returns the life of the manager: with
 * each loss of a peer another one begins, in which a reader's copy may be elsewhere. 0: puts cannot
 * be quick now, as while somebody traces pushes. */
uint32_t loco_quick_begin(const struct loco_manager *manager);

/* Whether *to is one value, whole. */
static inline bool loco_quick_load(const struct loco_quick_reader *r, struct loco_triple *to)
{
    const uint64_t *count = &r->copy[3];
    const uint64_t before = r->counted ? __atomic_load_n(count, __ATOMIC_ACQUIRE) : 0;

    to->first = __atomic_load_n(&r->copy[0], __ATOMIC_RELAXED);
    to->second = __atomic_load_n(&r->copy[1], __ATOMIC_RELAXED);
    to->third = __atomic_load_n(&r->copy[2], __ATOMIC_RELAXED);
    atomic_thread_fence(memory_order_acquire);
    return !r->counted || (before % 2 == 0 && __atomic_load_n(count, __ATOMIC_RELAXED) == before);
}

static inline void loco_quick_store(uint64_t *to, struct loco_triple value)
{
    __atomic_store_n(&to[0], value.first, __ATOMIC_RELAXED);
    __atomic_store_n(&to[1], value.second, __ATOMIC_RELAXED);
    __atomic_store_n(&to[2], value.third, __ATOMIC_RELAXED);
}

/* In the life for which the owner was made. */
static inline void loco_quick_put(const struct loco_quick_owner *o, struct loco_triple value)
{
    if (!o->counted) {
        loco_quick_store(o->copy, value);
        loco_quick_store(o->there, value);
        return;
    }
    const uint64_t odd = o->copy[3] | 1;
    __atomic_store_n(&o->copy[3], odd, __ATOMIC_RELAXED);
    __atomic_store_n(&o->there[3], odd, __ATOMIC_RELAXED);
    atomic_thread_fence(memory_order_release);
    loco_quick_store(o->copy, value);
    loco_quick_store(o->there, value);
    __atomic_store_n(&o->there[3], odd + 1, __ATOMIC_RELEASE);
    __atomic_store_n(&o->copy[3], odd + 1, __ATOMIC_RELEASE);
}

#endif
