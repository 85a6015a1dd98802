/*
 * An owned_var: its setup, and its owner's side: store, push, put. owned_var_record.h has the
 * record, owned_var_read.c the readers' side.
 *
 * Push or pull. A push and a pull that are in flight at the same time arrive at a reader's copy in
 * any order, and nothing in a single word says which value is newer. So a variable is either pushed
 * or pulled. Each side first writes what it wants, and then looks whether the other side wants the
 * opposite:
 *
 *      the owner, at its first push:       pushes = 1      a full barrier      pulls == 0?
 *      a reader, at its first pull:        pulls = 1       on one link         pushes == 0?
 *
 * They cannot both find a zero: if the owner does, `pulls` was written after the owner looked,
 * hence after it wrote `pushes`, and the reader reads `pushes` after writing `pulls`. A side that
 * finds a one is refused. A refused owner clears `pushes` again. A refused reader leaves `pulls`,
 * as other readers may have set it too; that does no harm, since an owner that has pushed once does
 * not look again.
 */
#include "loco/owned_var.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "loco/owned_var_quick.h"
#include "operation.h"
#include "owned_var_record.h"
#include "thread_links.h"
#include "trace_internal.h"

/* --- setup ------------------------------------------------------------------------------------ */

_Static_assert(offsetof(struct loco_owned_var, copy) >= 64 &&
                   offsetof(struct loco_owned_var, pull) <= 128,
               "a load touches one line");

/* From now on this CPU uses the member's copy directly, if it can reach it. */
static void var_on_connect(struct loco_channel *c, uint32_t node)
{
    struct loco_owned_var *v = (struct loco_owned_var *)c;
    const unsigned m = (unsigned)loco_channel_member(c, node);

    if (v->direct)
        atomic_store_explicit(&v->direct[m], loco_region_reach(v->region, m), memory_order_release);
}

/* A value that the owner left half-written when it died becomes zero: nobody will complete it, and
 * loads would retry in vain.
 *
 * On a coherent fabric a pull is a copy by a thread of this node, which may be in the middle of it.
 * This waits for the end of the copy, which comes soon, as a copy waits for nobody. The next pull
 * finds the owner gone. On other fabrics nothing is in flight any more after a loss. */
static void var_mend_after_pull(struct loco_owned_var *v)
{
    struct loco_wait wait = {.until = UINT64_MAX};

    loco_var_begin_reading(v, &wait);
    loco_var_mend(v);
    loco_var_end_reading(v);
}

static void var_on_lost(struct loco_channel *c, uint32_t node)
{
    struct loco_owned_var *v = (struct loco_owned_var *)c;

    if (v->direct)
        atomic_store_explicit(&v->direct[loco_channel_member(c, node)], NULL, memory_order_relaxed);
    if (node == v->owner && var_is_coherent(v))
        var_mend_after_pull(v);
    else if (node == v->owner)
        loco_var_mend(v);
}

static const struct loco_channel_ops var_ops = {
    .on_connect = var_on_connect, .on_lost = var_on_lost, .takes_back = true};

static int var_make_direct(struct loco_owned_var *v)
{
    if (!v->channel.mgr->fabric->ops->reach)
        return 0;
    v->direct = &v->direct_one;
    if (v->channel.member_count > 1)
        v->direct = calloc(v->channel.member_count, sizeof *v->direct);
    return v->direct ? 0 : -ENOMEM;
}

static int var_make_routes(struct loco_owned_var *v)
{
    if (var_is_coherent(v) || v->channel.mgr->id != v->owner || v->channel.member_count == 0)
        return 0;
    const size_t size = v->channel.member_count * sizeof *v->routes;
    v->routes = aligned_alloc(_Alignof(struct loco_route), size);
    if (!v->routes)
        return -ENOMEM;
    memset(v->routes, 0, size);
    v->routes[0].only = v->channel.member_count == 1 && !v->direct;
    return 0;
}

int loco_owned_var_init(struct loco_owned_var *v, struct loco_manager *manager,
                        const struct loco_channel *parent, const char *name, uint32_t owner,
                        struct loco_members readers, size_t size)
{
    const struct loco_members owner_only = {.nodes = &owner, .count = 1};
    struct loco_members members = manager->id == owner ? readers : owner_only;

    *v = (struct loco_owned_var){.size = size, .owner = owner};
    if (size == 0 || size > SIZE_MAX / 4)
        return -EINVAL;
    loco_var_lay_out(v, manager);
    int rc = loco_channel_init(&v->channel, manager, parent, name, members, &var_ops);
    if (rc)
        return rc;
    rc = var_make_direct(v);
    if (!rc)
        rc = var_make_routes(v);
    if (!rc)
        rc = loco_channel_region(&v->channel, "v", loco_var_region_size(v), &v->region);
    if (rc) {
        loco_owned_var_fini(v);
        return rc;
    }
    v->copy = v->region->memory;
    if (v->check == COUNT && manager->id == owner)
        *var_check_word(v, v->copy) = loco_clock(manager) & ~1ull;
    loco_var_store_zero(v);
    loco_channel_join(&v->channel);
    return 0;
}

void loco_owned_var_fini(struct loco_owned_var *v)
{
    loco_channel_fini(&v->channel);
    if (v->direct != &v->direct_one)
        free((void *)v->direct);
    v->direct = NULL;
    free(v->routes);
    v->routes = NULL;
}

/* --- store, push ------------------------------------------------------------------------------ */

/* Stores the value into a copy between two steps of its count. */
static void var_store_counted(const struct loco_owned_var *v, unsigned char *copy,
                              const void *value, uint64_t odd)
{
    uint64_t *count = var_check_word(v, copy);

    var_begin_counted(count, odd);
    loco_copy(copy, value, v->size);
    var_end_counted(count, odd);
}

__attribute__((noinline)) static void var_store_any(const struct loco_owned_var *v,
                                                    const void *value)
{
    if (v->check == COUNT) {
        var_store_counted(v, v->copy, value, *var_check_word(v, v->copy) | 1);
        return;
    }
    var_copy_value(v, v->copy, value);
    if (v->check == CHECKSUM)
        __atomic_store_n(var_check_word(v, v->copy), loco_var_checksum(value, v->size),
                         __ATOMIC_RELAXED);
}

static inline void var_store(const struct loco_owned_var *v, const void *value)
{
    if (v->check == NO_CHECK && var_is_words(v, value))
        var_copy_words((uint64_t *)(void *)v->copy, value, v->size);
    else
        var_store_any(v, value);
}

int loco_var_refuse(struct loco_owned_var *v, const char *why)
{
    if (!v->refused)
        loco_log(v->channel.mgr, LOCO_ERROR, "channel %s: %s", v->channel.name, why);
    v->refused = true;
    return -EOPNOTSUPP;
}

void loco_owned_var_store(struct loco_owned_var *v, const void *value)
{
    var_store(v, value);
}

__attribute__((cold, noinline)) static int var_begin_pushes(struct loco_owned_var *v)
{
    uint64_t *pushes = var_here(v, var_pushes_at(v)), *pulls = var_here(v, var_pulls_at(v));

    if (v->channel.mgr->id != v->owner)
        return -EINVAL;
    __atomic_store_n(pushes, 1, __ATOMIC_RELAXED);
    atomic_thread_fence(memory_order_seq_cst);
    v->pushes = !__atomic_load_n(pulls, __ATOMIC_RELAXED);
    if (v->pushes)
        return 0;
    __atomic_store_n(pushes, 0, __ATOMIC_RELAXED);
    return loco_var_refuse(v, "its readers pull it, so it cannot be pushed");
}

/* Writes a member's copy directly. */
static void var_push_direct(const struct loco_owned_var *v, unsigned char *to)
{
    atomic_thread_fence(memory_order_release); /* after every earlier write of the thread */
    if (v->check == COUNT)
        var_store_counted(v, to, v->copy, *var_check_word(v, v->copy) - 1);
    else
        var_copy_value(v, to, v->copy);
}

static inline void var_trace_push(const struct loco_owned_var *v)
{
    LOCO_TRACE(push, v->channel.mgr->id, v->channel.name, v->record);
}

/* A member that has not connected gets the value with a later push. */
static struct loco_ack var_end_posted(struct loco_operation op, int rc)
{
    return rc == -ENOTCONN ? (struct loco_ack){0} : loco_operation_end(op, true, rc);
}

/* Writes a member's copy through the fabric. */
__attribute__((noinline)) static struct loco_ack var_push_posted(const struct loco_owned_var *v,
                                                                 unsigned m)
{
    struct loco_route *route = &v->routes[m];
    int rc = loco_route_leads(route) ? 0 : loco_route_find(route, v->region, m);

    if (!rc)
        rc = loco_route_write(route, v->copy, v->record);
    return var_end_posted(loco_route_operation(route), rc);
}

__attribute__((noinline)) static struct loco_ack var_push_all(const struct loco_owned_var *v)
{
    struct loco_ack all = {0};

    for (unsigned m = 0; m < v->channel.member_count; m++)
        all = loco_ack_union(all, var_push_posted(v, m));
    var_trace_push(v);
    return all;
}

__attribute__((noinline)) static struct loco_ack var_end_only(const struct loco_owned_var *v,
                                                              int rc)
{
    var_trace_push(v);
    return var_end_posted(loco_route_operation(v->routes), rc);
}

/* The route to the only reader, if it leads there; else NULL. */
static inline const struct loco_route *var_only_route(const struct loco_owned_var *v)
{
    const struct loco_route *r = v->direct ? NULL : v->routes;

    return r && r->only && loco_route_leads(r) ? r : NULL;
}

/* Pushes to the only reader. A write that is done at once needs no ack. */
static inline struct loco_ack var_push_only(const struct loco_owned_var *v,
                                            const struct loco_route *r)
{
    int rc = loco_route_write(r, v->copy, v->record);

    if (rc != LOCO_DONE)
        return var_end_only(v, rc);
    loco_operation_written(loco_route_operation(r));
    var_trace_push(v);
    return (struct loco_ack){0};
}

/* For a member whose copy cannot be written directly. On a coherent fabric nothing is written: the
 * empty write only returns the error that says why not. */
__attribute__((noinline)) static struct loco_ack var_push_instead(const struct loco_owned_var *v,
                                                                  unsigned m)
{
    if (v->routes)
        return var_push_posted(v, m);
    const struct loco_ack ack = loco_region_write(v->region, m, 0, v->copy, 0);
    return ack.error == -ENOTCONN ? (struct loco_ack){0} : ack;
}

static struct loco_ack var_push_all_direct(const struct loco_owned_var *v)
{
    const struct loco_channel *c = &v->channel;
    struct loco_ack all = {0};

    if (!loco_self(c->mgr))
        return (struct loco_ack){.error = -EPERM};
    for (unsigned m = 0; m < c->member_count; m++) {
        unsigned char *to = atomic_load_explicit(&v->direct[m], memory_order_acquire);
        if (to)
            var_push_direct(v, to);
        else
            all = loco_ack_union(all, var_push_instead(v, m));
    }
    loco_stored();
    var_trace_push(v);
    return all;
}

__attribute__((noinline)) static struct loco_ack var_push_any(struct loco_owned_var *v)
{
    int rc = v->pushes ? 0 : var_begin_pushes(v);

    if (rc)
        return (struct loco_ack){.error = rc};
    if (v->direct && !v->channel.mgr->fabric->busy)
        return var_push_all_direct(v);
    return var_push_all(v);
}

/* If there is a route, an earlier push has found it, so the owner may push. */
static inline struct loco_ack var_push(struct loco_owned_var *v)
{
    const struct loco_route *only = var_only_route(v);

    return only ? var_push_only(v, only) : var_push_any(v);
}

struct loco_ack loco_owned_var_push(struct loco_owned_var *v)
{
    return var_push(v);
}

/* --- store and push at once ------------------------------------------------------------------- */

/* The only reader's copy, if there is one reader and this CPU may write its copy now; else NULL. */
static inline uint64_t *var_only_copy(const struct loco_owned_var *v)
{
    const struct loco_manager *m = v->channel.mgr;

    if (v->direct != &v->direct_one || !v->pushes || m->fabric->busy || !loco_self(m))
        return NULL;
    return (uint64_t *)(void *)atomic_load_explicit(&v->direct_one, memory_order_acquire);
}

static inline void var_put_words(const struct loco_owned_var *v, uint64_t *to,
                                 const uint64_t *value)
{
    uint64_t *mine = (uint64_t *)(void *)v->copy;

    for (size_t i = 0; i < v->size / WORD; i++) {
        const uint64_t word = value[i];
        __atomic_store_n(&mine[i], word, __ATOMIC_RELAXED);
        __atomic_store_n(&to[i], word, __ATOMIC_RELAXED);
    }
}

static inline void var_put_counted(const struct loco_owned_var *v, uint64_t *to,
                                   const uint64_t *value)
{
    uint64_t *count = &to[v->size / WORD], *mine = var_check_word(v, v->copy);
    const uint64_t odd = *mine | 1;

    var_begin_counted(mine, odd);
    var_begin_counted(count, odd);
    var_put_words(v, to, value);
    var_end_counted(count, odd);
    var_end_counted(mine, odd);
}

__attribute__((noinline)) static struct loco_ack var_put_any(struct loco_owned_var *v,
                                                             const void *value)
{
    uint64_t *to = var_only_copy(v);

    if (!to || !var_is_words(v, value) || v->check == CHECKSUM) {
        var_store(v, value);
        return var_push(v);
    }
    atomic_thread_fence(memory_order_release); /* after every earlier write of the thread */
    if (v->check == COUNT)
        var_put_counted(v, to, value);
    else
        var_put_words(v, to, value);
    loco_stored();
    var_trace_push(v);
    return (struct loco_ack){0};
}

struct loco_ack loco_owned_var_put(struct loco_owned_var *v, const void *value)
{
    const struct loco_route *only = var_only_route(v);

    if (!only || v->check != NO_CHECK || !var_is_words(v, value))
        return var_put_any(v, value);
    var_copy_words((uint64_t *)(void *)v->copy, value, v->size);
    return var_push_only(v, only);
}

/* --- many in a row ---------------------------------------------------------------------------- */

static bool var_is_quick(const struct loco_owned_var *v)
{
    return v->size == sizeof(struct loco_triple) && v->check != CHECKSUM;
}

bool loco_quick_reader_init(struct loco_quick_reader *r, const struct loco_owned_var *v)
{
    static const uint64_t never_odd = 0;

    r->copy = (const uint64_t *)(const void *)v->copy;
    r->count = v->check == COUNT ? var_check_word(v, v->copy) : &never_odd;
    return var_is_quick(v);
}

bool loco_quick_owner_init(struct loco_quick_owner *o, const struct loco_owned_var *v,
                           uint32_t life)
{
    void *there = atomic_load_explicit(&v->direct_one, memory_order_acquire);

    if (!var_is_quick(v) || !v->pushes || !there || !loco_self(v->channel.mgr))
        return false;
    *o = (struct loco_quick_owner){(uint64_t *)(void *)v->copy, there, life, v->check == COUNT};
    return true;
}

uint32_t loco_quick_begin(const struct loco_fabric *fabric)
{
    const struct loco_tracer *listens = atomic_load_explicit(&loco_tracer, memory_order_acquire);

    if (fabric->busy || (listens && loco_trace_wanted(listens->push_wanted)))
        return 0;
    atomic_thread_fence(memory_order_release); /* after every earlier write of the thread */
    loco_stored();
    return 1 + atomic_load_explicit(&fabric->lost, memory_order_acquire);
}
