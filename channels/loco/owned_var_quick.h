/*
 * Quick access to many owned variables, one after another, whose values have three words. The
 * caller keeps a small record of each variable, with only what a load or a put needs. Values are
 * loaded and put inline, in registers. owned_var.c has the general way, and explains the word after
 * the value.
 */
#ifndef LOCO_OWNED_VAR_QUICK_H
#define LOCO_OWNED_VAR_QUICK_H

#include "owned_var.h"

LOCO_DECLARATIONS

/* A value of three words. */
struct loco_triple {
    uint64_t first, second, third;
};

/* The record of a reader's variable. */
struct loco_quick_reader {
    const uint64_t *copy;  /* this node's */
    const uint64_t *count; /* the word after the value; if that is no count, a word that is 0 */
};

/* The record of an owner's variable. */
struct loco_quick_owner {
    uint64_t *copy;  /* this node's */
    uint64_t *there; /* the only reader's copy */
    uint32_t life;   /* life in which `there` is valid; 0: none */
    bool counted;
};

/* Fills in *reader, and returns whether the variable's loads can be quick. */
bool loco_quick_reader_init(struct loco_quick_reader *reader, const struct loco_owned_var *var);

/* Returns whether the calling thread's puts of the variable can be quick in this life, and then
 * fills in *owner. They can after the first push, once the reader has connected. */
bool loco_quick_owner_init(struct loco_quick_owner *owner, const struct loco_owned_var *var,
                           uint32_t life);

/* Must be called before a series of quick puts on this fabric. Returns the fabric's life. Each loss
 * of a peer begins another life, in which a reader's copy may be elsewhere. Returns 0 if puts
 * cannot be quick now, for example while somebody traces pushes. A life is the fabric's and not a
 * manager's, because a thread that steps a thousand nodes has a thousand managers. */
uint32_t loco_quick_begin(const struct loco_fabric *fabric);

/* Loads the value. Returns whether *to is whole. */
static inline bool loco_quick_load(const struct loco_quick_reader *r, struct loco_triple *to)
{
    const uint64_t *const copy = r->copy, *const count = r->count;
    const uint64_t before = __atomic_load_n(count, __ATOMIC_ACQUIRE);

    to->first = __atomic_load_n(&copy[0], __ATOMIC_RELAXED);
    to->second = __atomic_load_n(&copy[1], __ATOMIC_RELAXED);
    to->third = __atomic_load_n(&copy[2], __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return before % 2 == 0 && __atomic_load_n(count, __ATOMIC_RELAXED) == before;
}

static inline void loco_quick_store(uint64_t *to, struct loco_triple value)
{
    __atomic_store_n(&to[0], value.first, __ATOMIC_RELAXED);
    __atomic_store_n(&to[1], value.second, __ATOMIC_RELAXED);
    __atomic_store_n(&to[2], value.third, __ATOMIC_RELAXED);
}

/* Stores and pushes a value. Must be called only in the life for which the record was filled in. */
static inline void loco_quick_put(const struct loco_quick_owner *o, struct loco_triple value)
{
    uint64_t *const copy = o->copy, *const there = o->there;

    if (!o->counted) {
        loco_quick_store(copy, value);
        loco_quick_store(there, value);
        return;
    }
    const uint64_t odd = copy[3] | 1;
    __atomic_store_n(&copy[3], odd, __ATOMIC_RELAXED);
    __atomic_store_n(&there[3], odd, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    loco_quick_store(copy, value);
    loco_quick_store(there, value);
    __atomic_store_n(&there[3], odd + 1, __ATOMIC_RELEASE);
    __atomic_store_n(&copy[3], odd + 1, __ATOMIC_RELEASE);
}

LOCO_DECLARATIONS_END

#endif
