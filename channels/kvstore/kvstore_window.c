/*
 * The kvstore's windows: how their operations are moved on, by the window's thread, by one that
 * looks for it, or by the tracker's once the window was closed.
 */
#include "../loco/kvstore.h"

#include <errno.h>
#include <stdlib.h>

#include "../loco/memory.h"
#include "../thread_links.h"
#include "kvstore_chain.h"
#include "kvstore_left.h"
#include "kvstore_slots.h"

/* --- the window's thread -----------------------------------------------------------------------
 */

/* Moves an operation on, which another thread may have moved last. Returns whether it is done. */
static inline bool window_move(const struct loco_kv_window *w, struct loco_kv_op *op)
{
    return !op->step || (w->lent ? kv_op_move_on(op) : kv_op_take_steps(op));
}

/* Moves the next operation on. It may hold a lock that another one waits for. */
static struct loco_kv_op *window_move_next(struct loco_kv_window *w, bool *done)
{
    struct loco_kv_op *op = &w->ops[w->next];

    *done = window_move(w, op);
    w->next = w->next + 1 < w->size ? w->next + 1 : 0;
    return op;
}

bool loco_kv_poll(struct loco_kv_op *op)
{
    struct loco_kv_window *w = op->window;
    bool done;

    if (window_move(w, op)) {
        op->unreported = false;
        return true;
    }
    /* It may wait for another operation of this window ... */
    window_move_next(w, &done);
    /* ... or for a node that waits for this one's acknowledgement. On coherent memory it costs
     * little to send that. */
    if (w->coherent && op->kind != LOCO_KV_READ)
        loco_kvstore_serve(w->store);
    return false;
}

struct loco_kv_op *loco_kv_window_next(struct loco_kv_window *w)
{
    for (unsigned i = 0; i < w->size; i++) {
        bool done;
        struct loco_kv_op *op = window_move_next(w, &done);
        if (done && op->unreported) {
            op->unreported = false;
            return op;
        }
    }
    if (w->coherent)
        loco_kvstore_serve(w->store);
    return NULL;
}

bool loco_kv_window_look(struct loco_kv_window *w)
{
    bool found = false;

    w->lent |= loco_self(w->store->channel.mgr) != w->thread;
    for (unsigned i = 0; i < w->size; i++)
        found |= window_move(w, &w->ops[i]) && w->ops[i].unreported;
    if (w->coherent)
        loco_kvstore_serve(w->store);
    return found;
}

static int window_look(struct loco_pollable *self)
{
    return loco_kv_window_look((struct loco_kv_window *)self);
}

struct loco_poll_item loco_poll_operation(struct loco_kv_window *w)
{
    return loco_poll_other(&w->pollable);
}

void loco_kv_cancel(struct loco_kv_op *op)
{
    op->left = true;
}

/* --- another thread, such as the tracker's -----------------------------------------------------
 */

/* Makes the operation this thread's. Returns false while this thread's writes could still overtake
 * those that another thread posted for the operation. */
static bool op_comes_after_writes(struct loco_kv_op *op)
{
    struct loco_manager *m = kv_op_manager(op);
    struct loco_thread *self = loco_self(m);
    struct loco_link *link = loco_thread_link(op->thread, op->wrote);

    if (op->thread != self && link && !(m->fabric->capabilities & LOCO_COHERENT)) {
        if (!op->flush)
            op->flush = m->fabric->ops->flush(link);
        loco_poll_inline(link, m);
        if (atomic_load_explicit(&link->flushed, memory_order_acquire) < op->flush &&
            !kv_op_has_lost(op, op->wrote))
            return false;
    }
    op->thread = self;
    op->flush = 0;
    return true;
}

bool kv_op_move_on(struct loco_kv_op *op)
{
    return op_comes_after_writes(op) && kv_op_take_steps(op);
}

/* --- setup and end ---------------------------------------------------------------------------- */

/* An operation's part of the memory: a word, and a slot's copy. */
static size_t window_pitch(const struct loco_kv_window *w)
{
    return sizeof(uint64_t) + kv_slot_size(w->store->slots);
}

static void window_lay_out(struct loco_kv_window *w)
{
    const size_t value_size = w->store->config.value_size;

    for (unsigned i = 0; i < w->size; i++) {
        unsigned char *at = (unsigned char *)w->memory + i * window_pitch(w);
        w->ops[i].window = w;
        w->ops[i].word = (uint64_t *)(void *)at;
        w->ops[i].copy = at + sizeof(uint64_t);
        w->ops[i].value = w->ops[i].copy + KV_VALUE_AT;
        w->ops[i].expected = w->swaps + 2 * i * value_size;
        w->ops[i].desired = w->ops[i].expected + value_size;
    }
}

static void window_free(struct loco_kv_window *w)
{
    free(w->ops);
    free(w->swaps);
    free(w);
}

int loco_kv_window_open(struct loco_kv_window **window, struct loco_kvstore *store, unsigned size)
{
    struct loco_manager *m = store->channel.mgr;
    struct loco_kv_window *w = calloc(1, sizeof *w);

    if (!w)
        return -ENOMEM;
    w->pollable.look = window_look;
    w->store = store;
    w->thread = loco_self(m);
    w->coherent = m->fabric->capabilities & LOCO_COHERENT;
    w->size = size;
    w->ops = calloc(size, sizeof *w->ops);
    w->swaps = calloc(size, 2 * store->config.value_size);
    w->memory_size = size * window_pitch(w);
    pthread_mutex_lock(&m->lock);
    int rc =
        w->ops && w->swaps ? loco_memory_cut(m, w->memory_size, &w->memory, &w->where) : -ENOMEM;
    pthread_mutex_unlock(&m->lock);
    if (rc) {
        window_free(w);
        return rc;
    }
    window_lay_out(w);
    *window = w;
    return 0;
}

void kv_window_end(struct loco_kv_window *w)
{
    struct loco_manager *m = w->store->channel.mgr;

    pthread_mutex_lock(&m->lock);
    loco_memory_return(m, w->memory, w->memory_size, w->where);
    pthread_mutex_unlock(&m->lock);
    window_free(w);
}

static void windows_left_put(struct loco_kvstore *s, struct loco_kv_window *w)
{
    w->behind = atomic_load(&s->windows_left);
    while (!atomic_compare_exchange_weak(&s->windows_left, &w->behind, w))
        ;
}

void loco_kv_window_close(struct loco_kv_window *w)
{
    bool in_flight = false;

    if (!w)
        return;
    for (unsigned i = 0; i < w->size; i++) {
        in_flight |= w->ops[i].step != NULL;
        loco_kv_cancel(&w->ops[i]);
    }
    if (!in_flight) {
        kv_window_end(w);
        return;
    }
    loco_place_stores();
    windows_left_put(w->store, w);
}

/* Whether all operations of a window that was closed are done. */
static bool window_move_on(struct loco_kv_window *w)
{
    bool done = true;

    for (unsigned i = 0; i < w->size; i++)
        done &= !w->ops[i].step || kv_op_move_on(&w->ops[i]);
    return done;
}

void kv_windows_move_on(struct loco_kvstore *s)
{
    struct loco_kv_window *w = NULL, *next;

    if (atomic_load_explicit(&s->windows_left, memory_order_relaxed))
        w = atomic_exchange(&s->windows_left, NULL);
    for (; w; w = next) {
        next = w->behind;
        if (window_move_on(w))
            kv_window_end(w);
        else
            windows_left_put(s, w);
    }
}

void kv_windows_drop(struct loco_kvstore *s)
{
    struct loco_kv_window *w = atomic_exchange(&s->windows_left, NULL), *next;

    for (; w; w = next) {
        next = w->behind;
        kv_window_end(w);
    }
}

struct loco_kv_op *loco_kv_window_op(struct loco_kv_window *w, unsigned i)
{
    return &w->ops[i];
}
