/*
 * Sequential models: how an object behaves when one thread uses it alone. The checker asks whether
 * a model can explain a concurrent history.
 *
 * A model is an initial state and a step. Its state is a short list of words, in a form where equal
 * states have equal lists, so that states of all models are hashed and compared in one way.
 *
 *      word     one 64-bit variable: load, store, fetch_add, exchange, cas (old is returned)
 *      queue    bounded, first in first out: push may be full, pop empty
 *      lock     acquire, try_acquire and release by an owner
 *      map      the value of one key, or none: insert, update, delete, read, cas
 *
 * All are strict: a try_acquire that is busy needs a holder, a pop that is empty needs an empty
 * queue. A model knows nothing of keys; the checker keeps a state for each key.
 */
#ifndef LOCO_SIM_MODELS_H
#define LOCO_SIM_MODELS_H

#include "history.h"

LOCO_DECLARATIONS

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
     * Performs op. Returns false when op cannot take effect in this state or would give another
     * result than the recorded one; the state is then undefined. A pending operation has no result
     * to compare.
     */
    bool (*step)(const struct loco_sim_model *model, struct loco_sim_model_state *state,
                 const struct loco_sim_history_op *op);
};

struct loco_sim_model loco_sim_model_word(uint64_t initial);
/* `capacity` is cut to LOCO_SIM_MODEL_WORDS. */
struct loco_sim_model loco_sim_model_queue(uint32_t capacity);
struct loco_sim_model loco_sim_model_lock(void);
struct loco_sim_model loco_sim_model_map(void);

/* Only the words in use are copied, hashed or compared: most states are a single one. */
void loco_sim_model_state_copy(struct loco_sim_model_state *to,
                               const struct loco_sim_model_state *from);
bool loco_sim_model_state_equal(const struct loco_sim_model_state *a,
                                const struct loco_sim_model_state *b);
uint64_t loco_sim_model_state_hash(const struct loco_sim_model_state *state, uint64_t seed);

LOCO_DECLARATIONS_END

#endif
