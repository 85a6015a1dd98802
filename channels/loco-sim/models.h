/*
 * Sequential models: what one thread alone would see of an object. The checker asks
 * whether a concurrent history can be explained by one.
 *
 * A model's state is a short list of words in a form where equal states have equal lists,
 * so that hashing and comparing them is the same for all models. A model is then an
 * initial state and a step.
 *
 *      word     one 64-bit variable: load, store, fetch_add, exchange, cas (old is returned)
 *      queue    bounded, first in first out: push may be full, pop empty
 *      lock     acquire, try_acquire and release by an owner
 *      map      the value of one key, or none: insert, update, delete, read
 *
 * All are strict: a try_acquire that is busy needs a holder, a pop that is empty needs an
 * empty queue. A model knows nothing of keys; the checker gives each its own state.
 */
#ifndef LOCO_SIM_MODELS_H
#define LOCO_SIM_MODELS_H

#include "history.h"

enum { MODEL_WORDS = 32 };

struct model_state {
    uint64_t count; /* words in use; the others mean nothing */
    uint64_t word[MODEL_WORDS];
};

struct model {
    const char *name;
    struct model_state initial;
    uint32_t capacity; /* of the queue */

    /*
     * Performs op. False when op cannot take effect in this state or would not have given
     * the result it did; the state is then undefined. A pending operation has no result
     * to compare.
     */
    bool (*step)(const struct model *model, struct model_state *state, const struct history_op *op);
};

struct model model_word(uint64_t initial);
struct model model_queue(uint32_t capacity); /* at most MODEL_WORDS: more is cut to that */
struct model model_lock(void);
struct model model_map(void);

/* Only the words in use are copied, hashed or compared: most states are a single one. */
void model_state_copy(struct model_state *to, const struct model_state *from);
bool model_state_equal(const struct model_state *a, const struct model_state *b);
uint64_t model_state_hash(const struct model_state *state, uint64_t seed);

#endif
