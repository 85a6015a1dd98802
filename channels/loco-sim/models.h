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

enum { LOCO_SIM_MODEL_WORDS = 32 };

struct loco_sim_model_state {
    uint64_t count; /* words in use; the others mean nothing */
    uint64_t word[LOCO_SIM_MODEL_WORDS];
};

struct loco_sim_model {
    const char *name;
    struct loco_sim_model_state initial;
    uint32_t capacity; /* of the queue */

    /*
     * Performs op. False when op cannot take effect in this state or would not have given
     * the result it did; the state is then undefined. A pending operation has no result
     * to compare.
     */
    bool (*step)(const struct loco_sim_model *model, struct loco_sim_model_state *state,
                 const struct loco_sim_history_op *op);
};

struct loco_sim_model loco_sim_model_word(uint64_t initial);
struct loco_sim_model
loco_sim_model_queue(uint32_t capacity); /* at most LOCO_SIM_MODEL_WORDS: more is cut to that */
struct loco_sim_model loco_sim_model_lock(void);
struct loco_sim_model loco_sim_model_map(void);

/* Only the words in use are copied, hashed or compared: most states are a single one. */
void loco_sim_model_state_copy(struct loco_sim_model_state *to,
                               const struct loco_sim_model_state *from);
bool loco_sim_model_state_equal(const struct loco_sim_model_state *a,
                                const struct loco_sim_model_state *b);
uint64_t loco_sim_model_state_hash(const struct loco_sim_model_state *state, uint64_t seed);

#endif
