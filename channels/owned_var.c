/*
 * The region, at the owner and at each reader:
 *
 *      record      the value. Pushes and pulls copy the record. A value that is not one machine
 *                  word is followed by a check word, which says whether the value is whole (except
 *                  on a LOCO_WHOLE fabric)
 *      claims      at the owner two words: `pushes`, which the owner sets, and `pulls`, which
 *                  readers write
 *      landing     in their place at a reader, room for one more record: reads that must not touch
 *                  its copy land here
 *
 * So a value of three words is one cache line with all that belongs to it.
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
 *
 * Whole or torn. In general the words of a write arrive in any order, and the check word is a
 * checksum of the value. On a LOCO_COHERENT fabric the CPU writes the members' memory itself, by
 * stores that are seen in order; there the check word is a count, as of a seqlock. It is odd from
 * before the first word of a value is stored until after the last, and then even and two higher. A
 * value that was read between two equal even counts is whole. A pushed copy gets the count of the
 * owner's copy, so that the owner need not read the reader's. The count starts at the time in ns,
 * so an owner that restarts counts on from above its former counts, and a reader that is in the
 * middle of a load meanwhile sees the count change.
 */
#include "loco/owned_var.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "core.h"
#include "fabric/words.h"
#include "operation.h"
#include "owned_var_quick.h"
#include "thread_links.h"
#include "trace_internal.h"

enum { WORD = sizeof(uint64_t), ON_STACK = 256 };

/* What the check word is. */
enum check { NO_CHECK, COUNT, CHECKSUM };

static enum check var_check_of(const struct loco_manager *m, size_t size)
{
    const unsigned fabric = m->fabric->capabilities;

    if (size == 1 || size == 2 || size == 4 || size == 8 || fabric & LOCO_WHOLE)
        return NO_CHECK;
    return fabric & LOCO_COHERENT ? COUNT : CHECKSUM;
}

static size_t var_whole_words(size_t size)
{
    return (size + WORD - 1) / WORD * WORD;
}

static size_t var_record_size(size_t size, enum check check)
{
    return check == NO_CHECK ? size : var_whole_words(size) + WORD;
}

static size_t var_pushes_at(const struct loco_owned_var *v)
{
    return var_whole_words(v->record);
}

static size_t var_pulls_at(const struct loco_owned_var *v)
{
    return var_pushes_at(v) + WORD;
}

static size_t var_landing_at(const struct loco_owned_var *v)
{
    return var_pushes_at(v);
}

/* Values of different sizes must give regions of different sizes, so that endpoints that disagree
 * about the size refuse each other. The record is rounded up to whole words, so the bytes that the
 * rounding added to the value are added once more. */
static size_t var_region_size(const struct loco_owned_var *v)
{
    const size_t claims = 2 * WORD, record = var_whole_words(v->record);

    return record + (record > claims ? record : claims) + var_whole_words(v->size) - v->size;
}

static void *var_here(const struct loco_owned_var *v, size_t offset)
{
    return (unsigned char *)v->region->memory + offset;
}

/* A value of 4 bytes has a short way of its own. It is for a barrier's count, which waiting threads
 * load all the time. */
static void var_copy_value(const struct loco_owned_var *v, void *to, const void *from)
{
    if (v->size != sizeof(uint32_t) || ((uintptr_t)to | (uintptr_t)from) % sizeof(uint32_t)) {
        loco_copy(to, from, v->size);
        return;
    }
    const uint32_t value = __atomic_load_n((const uint32_t *)from, __ATOMIC_RELAXED);
    __atomic_store_n((uint32_t *)to, value, __ATOMIC_RELAXED);
}

/* Whether the value is a few whole words, as most are. There is a short way for these. */
static inline bool var_is_words(const struct loco_owned_var *v, const void *value)
{
    return v->size < LOCO_CACHE_LINE && (v->size | (uintptr_t)value) % WORD == 0;
}

static inline void var_copy_words(uint64_t *to, const uint64_t *from, size_t size)
{
    size_t i = 0;

    do
        __atomic_store_n(&to[i], __atomic_load_n(&from[i], __ATOMIC_RELAXED), __ATOMIC_RELAXED);
    while (++i < size / WORD);
}

/* --- whether a value is whole ---------------------------------------------------------------- */

/* The check word of a copy. */
static uint64_t *var_check_word(const struct loco_owned_var *v, const unsigned char *copy)
{
    return (uint64_t *)(void *)(copy + v->record - WORD);
}

static uint64_t var_checksum(const void *value, size_t size)
{
    return XXH3_64bits(value, size);
}

static void var_begin_counted(uint64_t *count, uint64_t odd)
{
    __atomic_store_n(count, odd, __ATOMIC_RELAXED);
    atomic_thread_fence(memory_order_release);
}

static void var_end_counted(uint64_t *count, uint64_t odd)
{
    __atomic_store_n(count, odd + 1, __ATOMIC_RELEASE);
}

/* Stores the value into a copy between two steps of its count. */
static void var_store_counted(const struct loco_owned_var *v, unsigned char *copy,
                              const void *value, uint64_t odd)
{
    uint64_t *count = var_check_word(v, copy);

    var_begin_counted(count, odd);
    loco_copy(copy, value, v->size);
    var_end_counted(count, odd);
}

/* Loads the value; returns whether *value is whole. */
static bool var_load_counted(const struct loco_owned_var *v, const unsigned char *copy, void *value)
{
    const uint64_t *count = var_check_word(v, copy);
    const uint64_t before = __atomic_load_n(count, __ATOMIC_ACQUIRE);

    if (var_is_words(v, value))
        var_copy_words(value, (const uint64_t *)(const void *)copy, v->size);
    else
        loco_copy(value, copy, v->size);
    atomic_thread_fence(memory_order_acquire);
    return before % 2 == 0 && __atomic_load_n(count, __ATOMIC_RELAXED) == before;
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
        __atomic_store_n(var_check_word(v, v->copy), var_checksum(value, v->size),
                         __ATOMIC_RELAXED);
}

static inline void var_store(const struct loco_owned_var *v, const void *value)
{
    if (v->check == NO_CHECK && var_is_words(v, value))
        var_copy_words((uint64_t *)(void *)v->copy, value, v->size);
    else
        var_store_any(v, value);
}

/* Stores the checksum of a value of zeros, so that a load before the first push succeeds. */
static void var_store_zero(const struct loco_owned_var *v)
{
    XXH3_state_t state;
    static const unsigned char zeros[ON_STACK];

    if (v->check != CHECKSUM)
        return;
    XXH3_64bits_reset(&state);
    for (size_t left = v->size; left > 0;) {
        size_t part = left < sizeof zeros ? left : sizeof zeros;
        XXH3_64bits_update(&state, zeros, part);
        left -= part;
    }
    uint64_t sum = XXH3_64bits_digest(&state);
    memcpy(var_check_word(v, v->copy), &sum, sizeof sum);
}

static bool var_is_whole(const struct loco_owned_var *v)
{
    if (v->check == NO_CHECK)
        return true;
    const uint64_t told = __atomic_load_n(var_check_word(v, v->copy), __ATOMIC_ACQUIRE);
    return v->check == COUNT ? told % 2 == 0 : told == var_checksum(v->copy, v->size);
}

static void var_make_zero(const struct loco_owned_var *v)
{
    memset(v->copy, 0, v->size);
    if (v->check == COUNT)
        var_end_counted(var_check_word(v, v->copy), *var_check_word(v, v->copy));
    else
        var_store_zero(v);
}

/* --- setup ------------------------------------------------------------------------------------ */

_Static_assert(offsetof(struct loco_owned_var, copy) >= 64 &&
                   offsetof(struct loco_owned_var, pull) <= 128,
               "a load touches one line");

static bool var_is_coherent(const struct loco_owned_var *v)
{
    return v->channel.mgr->fabric->capabilities & LOCO_COHERENT;
}

/* One thread of a reader at a time reads from the owner. */
static int var_begin_reading(struct loco_owned_var *v, struct loco_wait *wait)
{
    while (atomic_exchange_explicit(&v->reading, true, memory_order_acquire))
        if (loco_relax(v->channel.mgr, wait))
            return -ETIMEDOUT;
    return 0;
}

static void var_end_reading(struct loco_owned_var *v)
{
    atomic_store_explicit(&v->reading, false, memory_order_release);
}

/* From now on this CPU uses the member's copy directly, if it can reach it. */
static void var_on_connect(struct loco_channel *c, uint32_t node)
{
    struct loco_owned_var *v = (struct loco_owned_var *)c;
    const unsigned m = (unsigned)loco_channel_member(c, node);

    if (v->direct)
        atomic_store_explicit(&v->direct[m], loco_region_reach(v->region, m), memory_order_release);
}

/* A value that the owner left half-written when it died becomes zero: nobody will complete it, and
 * loads would retry in vain. */
static void var_mend(struct loco_owned_var *v)
{
    if (!var_is_whole(v))
        var_make_zero(v);
}

/* On a coherent fabric a pull is a copy by a thread of this node, which may be in the middle of it.
 * This waits for the end of the copy, which comes soon, as a copy waits for nobody. The next pull
 * finds the owner gone. On other fabrics nothing is in flight any more after a loss. */
static void var_mend_after_pull(struct loco_owned_var *v)
{
    struct loco_wait wait = {.until = UINT64_MAX};

    var_begin_reading(v, &wait);
    var_mend(v);
    var_end_reading(v);
}

static void var_on_lost(struct loco_channel *c, uint32_t node)
{
    struct loco_owned_var *v = (struct loco_owned_var *)c;

    if (v->direct)
        atomic_store_explicit(&v->direct[loco_channel_member(c, node)], NULL, memory_order_relaxed);
    if (node == v->owner && var_is_coherent(v))
        var_mend_after_pull(v);
    else if (node == v->owner)
        var_mend(v);
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
    const enum check check = var_check_of(manager, size);
    v->record = var_record_size(size, check);
    v->check = (uint8_t)check;
    int rc = loco_channel_init(&v->channel, manager, parent, name, members, &var_ops);
    if (rc)
        return rc;
    rc = var_make_direct(v);
    if (!rc)
        rc = var_make_routes(v);
    if (!rc)
        rc = loco_channel_region(&v->channel, "v", var_region_size(v), &v->region);
    if (rc) {
        loco_owned_var_fini(v);
        return rc;
    }
    v->copy = v->region->memory;
    if (v->check == COUNT && manager->id == owner)
        *var_check_word(v, v->copy) = loco_clock(manager) & ~1ull;
    var_store_zero(v);
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

void loco_owned_var_store(struct loco_owned_var *v, const void *value)
{
    var_store(v, value);
}

static int var_refuse(struct loco_owned_var *v, const char *what)
{
    if (!v->refused)
        loco_log(v->channel.mgr, LOCO_ERROR, "channel %s: %s", v->channel.name, what);
    v->refused = true;
    return -EOPNOTSUPP;
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
    return var_refuse(v, "its readers pull it, so it cannot be pushed");
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

/* --- pull, read, load ------------------------------------------------------------------------- */

static int var_wait_for_ack(const struct loco_owned_var *v, const struct loco_ack *ack,
                            const struct loco_wait *wait)
{
    return loco_ack_wait(ack, loco_time_left(v->channel.mgr, wait));
}

static struct loco_ack var_read_record(struct loco_owned_var *v)
{
    const struct loco_channel *c = &v->channel;

    LOCO_TRACE(pull, c->mgr->id, c->name, v->record);
    return loco_region_read(v->region, 0, 0, v->copy, v->record);
}

/* Reads into the landing and waits. An earlier read that was given up may still land there, so it
 * is waited for first. */
static int var_read_to_landing(struct loco_owned_var *v, size_t from, size_t size,
                               const struct loco_wait *wait)
{
    if (var_wait_for_ack(v, &v->landing, wait) == -ETIMEDOUT)
        return -ETIMEDOUT;
    v->landing = loco_region_read(v->region, 0, from, var_here(v, var_landing_at(v)), size);
    return var_wait_for_ack(v, &v->landing, wait);
}

/* Claims pulling at the owner, once for each incarnation of the owner, whose claims begin at zero.
 */
static int var_begin_pulls(struct loco_owned_var *v, const struct loco_wait *wait)
{
    static const uint64_t yes = 1;
    const uint64_t *pushes = var_here(v, var_landing_at(v));
    uint32_t life = atomic_load_explicit(&v->channel.members[0].incarnation, memory_order_acquire);

    if (v->pulls && v->pulls == life)
        return 0;
    int rc = loco_region_write(v->region, 0, var_pulls_at(v), &yes, WORD).error;
    if (rc)
        return rc;
    rc = var_read_to_landing(v, var_pushes_at(v), WORD, wait);
    if (rc)
        return rc;
    if (__atomic_load_n(pushes, __ATOMIC_RELAXED))
        return var_refuse(v, "its owner pushes it, so it cannot be pulled");
    v->pulls = life;
    return 0;
}

/* Finds the owner's copy, which this CPU reads directly. Returns 0 or an error of loco_region_read.
 */
static int var_find_owner(const struct loco_owned_var *v, const unsigned char **copy)
{
    const struct loco_channel *c = &v->channel;

    if (!loco_self(c->mgr))
        return -EPERM;
    *copy = atomic_load_explicit(&v->direct[0], memory_order_acquire);
    if (!*copy) {
        int rc = loco_region_read(v->region, 0, 0, v->copy, 0).error; /* says why not */
        return rc ? rc : -ENOTCONN;
    }
    LOCO_TRACE(pull, c->mgr->id, c->name, v->record);
    loco_place_stores(); /* the read comes after this thread's earlier writes */
    return 0;
}

static bool var_load_checked(const struct loco_owned_var *v, const unsigned char *copy, void *value)
{
    if (v->check == COUNT)
        return var_load_counted(v, copy, value);
    loco_copy(value, copy, v->size);
    return __atomic_load_n(var_check_word(v, copy), __ATOMIC_RELAXED) ==
           var_checksum(value, v->size);
}

/* The rest of a half-written value is usually there at the next look. If the writer was
 * interrupted, a look every RETRY_NS is enough. */
enum { LOOKS_AT_ONCE = 16, RETRY_NS = 100 };

__attribute__((cold, noinline)) static int var_load_again(const struct loco_owned_var *v,
                                                          const unsigned char *copy, void *value)
{
    const struct loco_manager *m = v->channel.mgr;

    for (int i = 1; i < LOCO_LOAD_TRIES; i++) {
        if (var_load_checked(v, copy, value))
            return 0;
        if (i < LOOKS_AT_ONCE)
            continue;
        struct loco_wait wait = loco_wait_for(m, RETRY_NS);
        loco_relax(m, &wait);
    }
    return -EAGAIN;
}

/* Loads from a copy that this CPU reads directly. */
static int var_load_from(const struct loco_owned_var *v, const unsigned char *copy, void *value)
{
    int rc = 0;

    if (v->check == NO_CHECK)
        var_copy_value(v, value, copy);
    else if (!var_load_checked(v, copy, value))
        rc = var_load_again(v, copy, value);
    /* So that what the owner placed before this value is visible now. */
    atomic_thread_fence(memory_order_acquire);
    return rc;
}

/* Copies the owner's copy. If that stays torn, this node's copy is left torn, too. */
static int var_pull_counted(const struct loco_owned_var *v)
{
    uint64_t *count = var_check_word(v, v->copy);
    const unsigned char *owners;
    int rc = var_find_owner(v, &owners);

    if (rc)
        return rc;
    const uint64_t odd = *count | 1;
    var_begin_counted(count, odd);
    if (var_load_from(v, owners, v->copy) == 0)
        var_end_counted(count, odd);
    return 0;
}

/* Only one pull is in flight at a time. Of two, the one with the older value could land last. */
static struct loco_ack var_pull_after_last(struct loco_owned_var *v, const struct loco_wait *wait)
{
    int rc = var_wait_for_ack(v, &v->pull, wait);

    if (rc != -ETIMEDOUT) /* after any other error the last pull is over, too */
        rc = var_begin_pulls(v, wait);
    if (rc)
        return (struct loco_ack){.error = rc};
    v->pull =
        v->check == COUNT ? (struct loco_ack){.error = var_pull_counted(v)} : var_read_record(v);
    return v->pull;
}

struct loco_ack loco_owned_var_pull_timed(struct loco_owned_var *v, uint64_t timeout_ns)
{
    struct loco_wait wait = loco_wait_for(v->channel.mgr, timeout_ns);

    if (v->channel.mgr->id == v->owner)
        return (struct loco_ack){.error = -EINVAL};
    if (var_begin_reading(v, &wait))
        return (struct loco_ack){.error = -ETIMEDOUT};
    struct loco_ack ack = var_pull_after_last(v, &wait);
    var_end_reading(v);
    return ack;
}

struct loco_ack loco_owned_var_pull(struct loco_owned_var *v)
{
    return loco_owned_var_pull_timed(v, UINT64_MAX);
}

int loco_owned_var_load(const struct loco_owned_var *v, void *value)
{
    if (v->check == NO_CHECK && var_is_words(v, value)) {
        var_copy_words(value, (const uint64_t *)(const void *)v->copy, v->size);
        atomic_thread_fence(memory_order_acquire);
        return 0;
    }
    return var_load_from(v, v->copy, value);
}

static int var_read_once(struct loco_owned_var *v, void *value, const struct loco_wait *wait)
{
    const unsigned char *landing = var_here(v, var_landing_at(v));

    LOCO_TRACE(pull, v->channel.mgr->id, v->channel.name, v->record);
    int rc = var_read_to_landing(v, 0, v->record, wait);
    if (rc)
        return rc;
    if (v->check == CHECKSUM)
        return var_load_checked(v, landing, value) ? 0 : -EAGAIN;
    loco_copy(value, landing, v->size);
    return 0;
}

int loco_owned_var_read(struct loco_owned_var *v, void *value)
{
    return loco_owned_var_read_timed(v, value, UINT64_MAX);
}

int loco_owned_var_read_timed(struct loco_owned_var *v, void *value, uint64_t timeout_ns)
{
    struct loco_wait wait = loco_wait_for(v->channel.mgr, timeout_ns);
    const unsigned char *owners;
    int rc = -EAGAIN;

    if (v->channel.mgr->id == v->owner)
        return loco_owned_var_load(v, value);
    if (var_is_coherent(v)) {
        rc = var_find_owner(v, &owners);
        return rc ? rc : var_load_from(v, owners, value);
    }
    if (var_begin_reading(v, &wait))
        return -ETIMEDOUT;
    for (int i = 0; rc == -EAGAIN && i < LOCO_LOAD_TRIES; i++)
        rc = var_read_once(v, value, &wait);
    var_end_reading(v);
    return rc;
}
