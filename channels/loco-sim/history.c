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
    [OP_LOAD] = {"load", 0, true, "refused"},
    [OP_STORE] = {"store", 1, false, "refused"},
    [OP_FETCH_ADD] = {"fetch_add", 1, true, "refused"},
    [OP_EXCHANGE] = {"exchange", 1, true, "refused"},
    [OP_CAS] = {"cas", 2, true, "refused"},
    [OP_PUSH] = {"push", 1, false, "full"},
    [OP_POP] = {"pop", 0, true, "empty"},
    [OP_ACQUIRE] = {"acquire", 1, false, "refused"},
    [OP_TRY_ACQUIRE] = {"try_acquire", 1, false, "busy"},
    [OP_RELEASE] = {"release", 1, false, "not the holder"},
    [OP_INSERT] = {"insert", 1, false, "exists"},
    [OP_UPDATE] = {"update", 1, false, "missing"},
    [OP_DELETE] = {"delete", 0, false, "missing"},
    [OP_READ] = {"read", 0, true, "missing"},
};

int history_init(struct history *history, uint32_t ops_max)
{
    /* An event's number is twice an index, and an index is an int. */
    if (ops_max == 0 || ops_max > INT32_MAX / 2)
        return -EINVAL;
    *history = (struct history){.ops_max = ops_max};
    history->op = calloc(ops_max, sizeof(*history->op));
    history->event = calloc(2 * (size_t)ops_max, sizeof(*history->event));
    if (history->op && history->event)
        return 0;
    history_fini(history);
    return -ENOMEM;
}

void history_fini(struct history *history)
{
    free(history->op);
    free(history->event);
    *history = (struct history){0};
}

void history_clear(struct history *history)
{
    history->ops = 0;
    history->events = 0;
    history->overflowed = false;
}

/* Copies the operation; its invocation is the next event. */
static uint32_t append(struct history *history, const struct history_op *op)
{
    const uint32_t index = history->ops++;

    history->op[index] = *op;
    history->op[index].invoked = history->events;
    history->op[index].returned = HISTORY_PENDING;
    history->event[history->events++] = 2 * index;
    return index;
}

static void append_return(struct history *history, uint32_t index)
{
    history->op[index].returned = history->events;
    history->event[history->events++] = 2 * index + 1;
}

static void lock(const struct history *history)
{
    if (history->lock)
        pthread_mutex_lock(history->lock);
}

static void unlock(const struct history *history)
{
    if (history->lock)
        pthread_mutex_unlock(history->lock);
}

int history_invoke(struct history *history, uint32_t thread, enum history_code code, uint64_t key,
                   uint64_t a, uint64_t b)
{
    struct history_op op = {.key = key, .a = a, .b = b, .thread = thread, .code = code};
    int index = -ENOSPC;

    lock(history);
    op.id = history->ops;
    if (history->ops == history->ops_max)
        history->overflowed = true;
    else
        index = (int)append(history, &op);
    unlock(history);
    return index;
}

void history_return(struct history *history, int index, bool ok, uint64_t value)
{
    if (index < 0)
        return;
    struct history_op *op = &history->op[index];

    lock(history);
    assert((uint32_t)index < history->ops && history_pending(op));
    op->ok = ok;
    op->value = value;
    append_return(history, (uint32_t)index);
    unlock(history);
}

void history_select(struct history *out, const struct history *in, const uint8_t *choice,
                    uint32_t events)
{
    assert(out->ops_max >= in->ops && events <= in->events);
    history_clear(out);
    out->overflowed = in->overflowed;

    for (uint32_t e = 0; e < events; e++) {
        const uint32_t index = in->event[e] / 2;
        const bool returns = in->event[e] & 1;

        if (choice[index] == HISTORY_DROP)
            continue;
        if (!returns) {
            append(out, &in->op[index]);
            continue;
        }
        uint32_t copy = out->ops - 1; /* mostly among the newest */
        while (out->op[copy].id != in->op[index].id)
            copy--;
        if (choice[index] == HISTORY_LOOSEN)
            out->op[copy].returned = HISTORY_OPTIONAL;
        else
            append_return(out, copy);
    }
}

void history_print_op(FILE *file, const struct history_op *op)
{
    const struct kind *kind = &kinds[op->code];

    fprintf(file, "#%-3" PRIu32 " t%-2" PRIu32 " [%4" PRIu32 ", ", op->id, op->thread, op->invoked);
    if (op->returned >= HISTORY_OPTIONAL)
        fputs("   -]", file);
    else
        fprintf(file, "%4" PRIu32 "]", op->returned);

    fprintf(file, "  key %" PRIu64 "  %s(", op->key, kind->name);
    if (kind->arguments > 0)
        fprintf(file, "%" PRIu64, op->a);
    if (kind->arguments > 1)
        fprintf(file, ", %" PRIu64, op->b);

    if (history_pending(op))
        fputs(")  pending\n", file);
    else if (!op->ok)
        fprintf(file, ") -> %s\n", kind->refusal);
    else if (kind->gives_value)
        fprintf(file, ") -> %" PRIu64 "\n", op->value);
    else
        fputs(")\n", file);
}

void history_print(FILE *file, const struct history *history)
{
    for (uint32_t i = 0; i < history->ops; i++)
        history_print_op(file, &history->op[i]);
    if (history->overflowed)
        fputs("(more operations than the history had room for)\n", file);
}
