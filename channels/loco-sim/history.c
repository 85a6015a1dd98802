#include "history.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const struct kind {
    const char *name;
    unsigned arguments;
    bool gives_value;
    const char *refusal;
} kinds[] = {
    [LOCO_SIM_LOAD] = {"load", 0, true, "refused"},
    [LOCO_SIM_STORE] = {"store", 1, false, "refused"},
    [LOCO_SIM_FETCH_ADD] = {"fetch_add", 1, true, "refused"},
    [LOCO_SIM_EXCHANGE] = {"exchange", 1, true, "refused"},
    [LOCO_SIM_CAS] = {"cas", 2, true, "missing"},
    [LOCO_SIM_PUSH] = {"push", 1, false, "full"},
    [LOCO_SIM_POP] = {"pop", 0, true, "empty"},
    [LOCO_SIM_ACQUIRE] = {"acquire", 1, false, "refused"},
    [LOCO_SIM_TRY_ACQUIRE] = {"try_acquire", 1, false, "busy"},
    [LOCO_SIM_RELEASE] = {"release", 1, false, "not the holder"},
    [LOCO_SIM_INSERT] = {"insert", 1, false, "exists"},
    [LOCO_SIM_UPDATE] = {"update", 1, false, "missing"},
    [LOCO_SIM_DELETE] = {"delete", 0, false, "missing"},
    [LOCO_SIM_READ] = {"read", 0, true, "missing"},
};

int loco_sim_history_init(struct loco_sim_history *history, uint32_t ops_max)
{
    /* An event's number is twice an index, and an index is an int. */
    if (ops_max == 0 || ops_max > INT32_MAX / 2)
        return -EINVAL;
    *history = (struct loco_sim_history){.ops_max = ops_max};
    history->op = calloc(ops_max, sizeof(*history->op));
    history->event = calloc(2 * (size_t)ops_max, sizeof(*history->event));
    if (history->op && history->event)
        return 0;
    loco_sim_history_fini(history);
    return -ENOMEM;
}

void loco_sim_history_fini(struct loco_sim_history *history)
{
    free(history->op);
    free(history->event);
    *history = (struct loco_sim_history){0};
}

void loco_sim_history_clear(struct loco_sim_history *history)
{
    history->ops = 0;
    history->events = 0;
    history->overflowed = false;
}

/* Copies the operation; its invocation is the next event. */
static uint32_t append(struct loco_sim_history *history, const struct loco_sim_history_op *op)
{
    const uint32_t index = history->ops++;

    history->op[index] = *op;
    history->op[index].invoked = history->events;
    history->op[index].returned = LOCO_SIM_PENDING;
    history->event[history->events++] = 2 * index;
    return index;
}

static void history_append_return(struct loco_sim_history *history, uint32_t index)
{
    history->op[index].returned = history->events;
    history->event[history->events++] = 2 * index + 1;
}

static void history_lock(const struct loco_sim_history *history)
{
    if (history->lock)
        pthread_mutex_lock(history->lock);
}

static void history_unlock(const struct loco_sim_history *history)
{
    if (history->lock)
        pthread_mutex_unlock(history->lock);
}

int loco_sim_history_invoke(struct loco_sim_history *history, uint32_t thread,
                            enum loco_sim_history_code code, uint64_t key, uint64_t a, uint64_t b)
{
    struct loco_sim_history_op op = {.key = key, .a = a, .b = b, .thread = thread, .code = code};
    int index = -ENOSPC;

    history_lock(history);
    op.id = history->ops;
    if (history->ops == history->ops_max)
        history->overflowed = true;
    else
        index = (int)append(history, &op);
    history_unlock(history);
    return index;
}

void loco_sim_history_return(struct loco_sim_history *history, int index, bool ok, uint64_t value)
{
    if (index < 0)
        return;
    struct loco_sim_history_op *op = &history->op[index];

    history_lock(history);
    assert((uint32_t)index < history->ops && loco_sim_history_pending(op));
    op->ok = ok;
    op->value = value;
    history_append_return(history, (uint32_t)index);
    history_unlock(history);
}

void loco_sim_history_select(struct loco_sim_history *out, const struct loco_sim_history *in,
                             const uint8_t *choice, uint32_t events)
{
    assert(out->ops_max >= in->ops && events <= in->events);
    loco_sim_history_clear(out);
    out->overflowed = in->overflowed;

    for (uint32_t e = 0; e < events; e++) {
        const uint32_t index = in->event[e] / 2;
        const bool returns = in->event[e] & 1;

        if (choice[index] == LOCO_SIM_DROP)
            continue;
        if (!returns) {
            append(out, &in->op[index]);
            continue;
        }
        uint32_t copy = out->ops - 1; /* mostly among the newest */
        while (out->op[copy].id != in->op[index].id)
            copy--;
        if (choice[index] == LOCO_SIM_LOOSEN)
            out->op[copy].returned = LOCO_SIM_OPTIONAL;
        else
            history_append_return(out, copy);
    }
}

void loco_sim_history_print_op(FILE *file, const struct loco_sim_history_op *op)
{
    const struct kind *kind = &kinds[op->code];

    fprintf(file, "#%-3" PRIu32 " t%-2" PRIu32 " [%4" PRIu32 ", ", op->id, op->thread, op->invoked);
    if (op->returned >= LOCO_SIM_OPTIONAL)
        fputs("   -]", file);
    else
        fprintf(file, "%4" PRIu32 "]", op->returned);

    fprintf(file, "  key %" PRIu64 "  %s(", op->key, kind->name);
    if (kind->arguments > 0)
        fprintf(file, "%" PRIu64, op->a);
    if (kind->arguments > 1)
        fprintf(file, ", %" PRIu64, op->b);

    if (loco_sim_history_pending(op))
        fputs(")  pending\n", file);
    else if (!op->ok)
        fprintf(file, ") -> %s\n", kind->refusal);
    else if (kind->gives_value)
        fprintf(file, ") -> %" PRIu64 "\n", op->value);
    else
        fputs(")\n", file);
}

void loco_sim_history_print(FILE *file, const struct loco_sim_history *history)
{
    for (uint32_t i = 0; i < history->ops; i++)
        loco_sim_history_print_op(file, &history->op[i]);
    if (history->overflowed)
        fputs("(more operations than the history had room for)\n", file);
}
