#include "kvstore_view.h"

#include <errno.h>
#include <stdlib.h>

#include "../core.h"

uint32_t kv_view_limit(const struct loco_manager *m)
{
    return m->fabric->capabilities & LOCO_COHERENT ? m->count - 1 : (m->count - 1) / 2;
}

int kv_view_open(struct kv_view **view, struct loco_channel *c)
{
    const uint32_t count = c->mgr->count;
    struct kv_view *v = calloc(1, sizeof *v);

    if (!v)
        return -ENOMEM;
    v->node = c->mgr->id;
    v->count = count;
    v->limit = kv_view_limit(c->mgr);
    v->lost = calloc(count, sizeof *v->lost);
    v->told = calloc(count, sizeof *v->told);
    int rc = v->lost && v->told ? 0 : -ENOMEM;
    if (!rc)
        rc = loco_channel_region(c, "left", (size_t)count * count * sizeof(uint64_t), &v->left);
    if (rc)
        kv_view_close(v);
    else
        *view = v;
    return rc;
}

void kv_view_close(struct kv_view *v)
{
    if (!v)
        return;
    free(v->lost);
    free(v->told);
    free(v);
}

/* The number changes before the node counts as lost. So an operation that has found the node lost
 * also finds that its view is over. */
void kv_view_lose(struct kv_view *v, uint32_t node)
{
    if (kv_view_has_lost(v, node))
        return; /* it came back, without this store, and is lost again */
    const uint64_t next = (kv_view_now(v) & ~(uint64_t)KV_VIEW_CHANGING) + KV_VIEW_NEXT;

    atomic_store(&v->now, next | KV_VIEW_CHANGING);
    atomic_store(&v->lost[node], true);
    atomic_fetch_add(&v->lost_count, 1);
    atomic_store(&v->now, next | KV_VIEW_UNSETTLED);
}

int kv_view_enter(struct loco_kv_op *op)
{
    const struct loco_kvstore *s = kv_op_store(op);
    const uint64_t number = kv_view_now(s->view);

    if (op->left)
        return -ETIMEDOUT;
    if (kv_view_lost_count(s->view) > s->view->limit)
        return -ECONNRESET;
    if (!kv_view_is_settled(number))
        return kv_op_has_waited(op, s->config.owner_ns) ? -ECONNRESET : -EAGAIN;
    op->since = 0;
    op->view = number;
    return 0;
}

/* The order of its two accesses, and of those in kv_view_lose and kv_view_move_on, makes sure that
 * either the operation finds the new view, or the tracker finds the holder. */
bool kv_view_hold(struct kv_view *v, uint64_t number)
{
    atomic_fetch_add(&v->holders, 1);
    if (atomic_load(&v->now) == number)
        return true;
    kv_view_release(v);
    return false;
}

void kv_view_release(struct kv_view *v)
{
    atomic_fetch_sub(&v->holders, 1);
}

static size_t view_word(const struct kv_view *v, uint32_t who, uint32_t whom)
{
    return (size_t)who * v->count + whom;
}

static uint64_t *view_words(const struct kv_view *v)
{
    return v->left->memory;
}

/* Tells all others that this node has left `node`. The word only ever becomes 1, so it does not
 * matter in which order these writes arrive, nor whether a lost node is told. */
static void view_leave(struct kv_view *v, uint32_t node)
{
    static const uint64_t left = 1;
    const size_t word = view_word(v, v->node, node);

    v->told[node] = true;
    __atomic_store_n(&view_words(v)[word], left, __ATOMIC_RELEASE);
    for (unsigned m = 0; m < v->count - 1; m++)
        loco_region_write(v->left, m, word * sizeof left, &left, sizeof left);
}

static void view_leave_all(struct kv_view *v)
{
    for (uint32_t node = 0; node < v->count; node++)
        if (kv_view_has_lost(v, node) && !v->told[node])
            view_leave(v, node);
}

/* Whether `node` has left every node that this one has lost. */
static bool view_has_left(const struct kv_view *v, uint32_t node)
{
    for (uint32_t lost = 0; lost < v->count; lost++)
        if (kv_view_has_lost(v, lost) &&
            !__atomic_load_n(&view_words(v)[view_word(v, node, lost)], __ATOMIC_ACQUIRE))
            return false;
    return true;
}

static bool view_all_have_left(const struct kv_view *v)
{
    for (uint32_t node = 0; node < v->count; node++)
        if (!kv_view_has_lost(v, node) && !view_has_left(v, node))
            return false;
    return true;
}

bool kv_view_move_on(struct kv_view *v, uint64_t number)
{
    if ((number & KV_VIEW_CHANGING) != KV_VIEW_UNSETTLED || atomic_load(&v->holders) > 0 ||
        atomic_load(&v->now) != number)
        return false;
    view_leave_all(v);
    return view_all_have_left(v) &&
           atomic_compare_exchange_strong(&v->now, &number, number & ~(uint64_t)KV_VIEW_CHANGING);
}
