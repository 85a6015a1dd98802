#include "models.h"

#include <string.h>
#include <xxhash.h>

void loco_sim_model_state_copy(struct loco_sim_model_state *to,
                               const struct loco_sim_model_state *from)
{
    to->count = from->count;
    for (uint64_t i = 0; i < from->count; i++)
        to->word[i] = from->word[i];
}

bool loco_sim_model_state_equal(const struct loco_sim_model_state *a,
                                const struct loco_sim_model_state *b)
{
    return a->count == b->count && memcmp(a->word, b->word, a->count * sizeof(a->word[0])) == 0;
}

uint64_t loco_sim_model_state_hash(const struct loco_sim_model_state *state, uint64_t seed)
{
    return XXH3_64bits_withSeed(state->word, state->count * sizeof(state->word[0]), seed);
}

/* The result that the model gives, against the one recorded. */
static bool model_gave(const struct loco_sim_history_op *op, bool ok)
{
    return loco_sim_history_pending(op) || op->ok == ok;
}

static bool model_gave_value(const struct loco_sim_history_op *op, uint64_t value)
{
    return loco_sim_history_pending(op) || (op->ok && op->value == value);
}

static void model_become(struct loco_sim_model_state *state, uint64_t word)
{
    state->count = 1;
    state->word[0] = word;
}

static bool word_step(const struct loco_sim_model *model, struct loco_sim_model_state *state,
                      const struct loco_sim_history_op *op)
{
    const uint64_t old = state->word[0];

    (void)model;
    switch (op->code) {
    case LOCO_SIM_LOAD:
        return model_gave_value(op, old);
    case LOCO_SIM_STORE:
        model_become(state, op->a);
        return model_gave(op, true);
    case LOCO_SIM_FETCH_ADD:
        model_become(state, old + op->a);
        return model_gave_value(op, old);
    case LOCO_SIM_EXCHANGE:
        model_become(state, op->a);
        return model_gave_value(op, old);
    case LOCO_SIM_CAS:
        model_become(state, old == op->a ? op->b : old);
        return model_gave_value(op, old);
    default:
        return false;
    }
}

struct loco_sim_model loco_sim_model_word(uint64_t initial)
{
    return (struct loco_sim_model){
        .name = "word", .initial = {.count = 1, .word = {initial}}, .step = word_step};
}

static bool queue_push(const struct loco_sim_model *model, struct loco_sim_model_state *state,
                       const struct loco_sim_history_op *op)
{
    if (state->count == model->capacity)
        return model_gave(op, false);
    state->word[state->count++] = op->a;
    return model_gave(op, true);
}

static bool queue_pop(struct loco_sim_model_state *state, const struct loco_sim_history_op *op)
{
    if (state->count == 0)
        return model_gave(op, false);

    const uint64_t oldest = state->word[0];
    state->count--;
    memmove(&state->word[0], &state->word[1], state->count * sizeof(state->word[0]));
    return model_gave_value(op, oldest);
}

static bool queue_step(const struct loco_sim_model *model, struct loco_sim_model_state *state,
                       const struct loco_sim_history_op *op)
{
    if (op->code == LOCO_SIM_PUSH)
        return queue_push(model, state, op);
    return op->code == LOCO_SIM_POP && queue_pop(state, op);
}

struct loco_sim_model loco_sim_model_queue(uint32_t capacity)
{
    return (struct loco_sim_model){
        .name = "queue",
        .capacity = capacity < LOCO_SIM_MODEL_WORDS ? capacity : LOCO_SIM_MODEL_WORDS,
        .step = queue_step};
}

/* The holder is the one word; there is none while the lock is free. */
static bool lock_step(const struct loco_sim_model *model, struct loco_sim_model_state *state,
                      const struct loco_sim_history_op *op)
{
    const bool held = state->count == 1;

    (void)model;
    switch (op->code) {
    case LOCO_SIM_ACQUIRE:
        model_become(state, op->a);
        return !held && model_gave(op, true);
    case LOCO_SIM_TRY_ACQUIRE:
        if (held)
            return model_gave(op, false);
        model_become(state, op->a);
        return model_gave(op, true);
    case LOCO_SIM_RELEASE:
        if (!held || state->word[0] != op->a)
            return model_gave(op, false);
        state->count = 0;
        return model_gave(op, true);
    default:
        return false;
    }
}

struct loco_sim_model loco_sim_model_lock(void)
{
    return (struct loco_sim_model){.name = "lock", .step = lock_step};
}

/* The value is the one word; there is none while the key is absent. */
static bool map_step(const struct loco_sim_model *model, struct loco_sim_model_state *state,
                     const struct loco_sim_history_op *op)
{
    const bool present = state->count == 1;

    switch (op->code) {
    case LOCO_SIM_INSERT:
        if (present)
            return model_gave(op, false);
        model_become(state, op->a);
        return model_gave(op, true);
    case LOCO_SIM_UPDATE:
        if (!present)
            return model_gave(op, false);
        model_become(state, op->a);
        return model_gave(op, true);
    case LOCO_SIM_DELETE:
        state->count = 0;
        return model_gave(op, present);
    case LOCO_SIM_CAS:
        if (!present)
            return model_gave(op, false);
        return word_step(model, state, op);
    case LOCO_SIM_READ:
        return present ? model_gave_value(op, state->word[0]) : model_gave(op, false);
    default:
        return false;
    }
}

struct loco_sim_model loco_sim_model_map(void)
{
    return (struct loco_sim_model){.name = "map", .step = map_step};
}
