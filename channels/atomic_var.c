#include "loco/atomic_var.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "core.h"
#include "thread_links.h"

/* --- setup -------------------------------------------------------------------------------- */

/* The member index of a node that does not take part. No member has it, so operations return
 * -ERANGE. */
enum { NOBODY = LOCO_SELF - 1 };

static void atomic_find_homes(struct loco_atomic_array *a)
{
    const struct loco_manager *m = a->channel.mgr;
    const bool cpu_atomics = m->fabric->capabilities & LOCO_CPU_ATOMICS;

    for (uint32_t node = 0; node < a->node_count; node++) {
        int member = loco_channel_member(&a->channel, node);
        a->homes[node].member = member < 0 ? NOBODY : (unsigned)member;
        a->homes[node].slot = m->slot;
    }
    a->homes[m->id].member = LOCO_SELF;
    a->homes[m->id].words = cpu_atomics ? a->region->memory : NULL;
}

/* From now on this CPU uses the peer's words directly, if it can reach them. */
static void atomic_on_connect(struct loco_channel *c, uint32_t node)
{
    struct loco_atomic_array *a = (struct loco_atomic_array *)c;
    struct loco_atomic_home *home = &a->homes[node];

    home->words = loco_region_direct(a->region, home->member);
}

/* From now on operations go through the fabric, which says that the peer is lost. */
static void atomic_on_lost(struct loco_channel *c, uint32_t node)
{
    ((struct loco_atomic_array *)c)->homes[node].words = NULL;
}

/* Behind the words of an array, each participant has one more word for every node. It becomes 1
 * when the participant has lost that node, so that nothing of that node is placed there any more.
 */
static size_t atomic_gone_at(const struct loco_atomic_array *a, uint32_t node)
{
    return a->count + node;
}

static void atomic_on_array_lost(struct loco_channel *c, uint32_t node)
{
    struct loco_atomic_array *a = (struct loco_atomic_array *)c;
    uint64_t *words = a->region->memory;

    atomic_on_lost(c, node);
    __atomic_store_n(&words[atomic_gone_at(a, node)], 1, __ATOMIC_RELEASE);
}

/* An array does not take back a participant that restarted: its words are gone, and it may have
 * been changing any other word when it died. */
static const struct loco_channel_ops array_ops = {.on_connect = atomic_on_connect,
                                                  .on_lost = atomic_on_array_lost};

/* A variable does: its host has all of it, and the other participants have only caches. */
static const struct loco_channel_ops host_ops = {
    .on_connect = atomic_on_connect, .on_lost = atomic_on_lost, .takes_back = true};
static const struct loco_channel_ops guest_ops = {.on_connect = atomic_on_connect,
                                                  .on_lost = atomic_on_lost};

static bool atomic_is_lost_at(const struct loco_atomic_array *a, const struct loco_member *member,
                              uint32_t node, uint64_t timeout_ns)
{
    struct loco_atomic_word word = {.home = &a->homes[member->node], .region = a->region};
    uint64_t gone = 0;

    word.offset = atomic_gone_at(a, node) * sizeof(uint64_t);
    word.member = word.home->member;
    int rc = loco_atomic_look(word, &gone, timeout_ns);
    return gone || (rc && loco_member_lost(member));
}

/* Whether all participants have lost the node, except those that this one has lost itself. */
static bool atomic_is_lost_at_all(const struct loco_atomic_array *a, uint32_t node,
                                  uint64_t timeout_ns)
{
    const struct loco_channel *c = &a->channel;

    for (unsigned m = 0; m < c->member_count; m++)
        if (!loco_member_lost(&c->members[m]) &&
            !atomic_is_lost_at(a, &c->members[m], node, timeout_ns))
            return false;
    return true;
}

/* A participant that this one has lost may live, and still be connected with the node. So the
 * others must have lost that participant as well: then nothing of either is placed at any of them.
 */
bool loco_atomic_gone(const struct loco_atomic_array *a, uint32_t node, uint64_t timeout_ns)
{
    const struct loco_channel *c = &a->channel;
    const int lost = loco_channel_member(c, node);

    if (lost < 0 || !loco_member_lost(&c->members[lost]))
        return false;
    if (c->mgr->fabric->capabilities & LOCO_COHERENT)
        return true; /* it has ended, and so have its stores */
    for (unsigned m = 0; m < c->member_count; m++)
        if (loco_member_lost(&c->members[m]) && !c->members[m].away &&
            !atomic_is_lost_at_all(a, c->members[m].node, timeout_ns))
            return false;
    return true;
}

static int atomic_make_words(struct loco_atomic_array *a, unsigned flags)
{
    struct loco_channel *c = &a->channel;

    const size_t count = c->ops == &array_ops ? atomic_gone_at(a, a->node_count) : a->count;

    int rc = loco_channel_region(c, "words", count * sizeof(uint64_t), &a->region);
    if (rc)
        return rc;
    atomic_find_homes(a);
    if (flags & LOCO_ATOMIC_DEVICE)
        loco_log(c->mgr, LOCO_WARNING,
                 "channel %s: fabric %s has no device memory: the words are in main memory",
                 c->name, c->mgr->fabric->ops->name);
    loco_channel_join(c);
    return 0;
}

static int atomic_words_init(struct loco_atomic_array *a, struct loco_manager *manager,
                             const struct loco_channel *parent, const char *name, size_t count,
                             struct loco_members members, unsigned flags,
                             const struct loco_channel_ops *ops, const char *options)
{
    *a = (struct loco_atomic_array){.count = count, .node_count = manager->count};
    if (count == 0 || count > SIZE_MAX / sizeof(uint64_t) - manager->count)
        return -EINVAL;
    a->homes = calloc(manager->count, sizeof a->homes[0]); /* before any callback */
    if (!a->homes)
        return -ENOMEM;
    int rc = loco_channel_init(&a->channel, manager, parent, name, members, ops);
    if (rc) {
        free(a->homes);
        *a = (struct loco_atomic_array){0};
        return rc;
    }
    if (options)
        loco_channel_agree_on(&a->channel, "%s", options);
    rc = atomic_make_words(a, flags);
    if (rc)
        loco_atomic_array_fini(a);
    return rc;
}

int loco_atomic_array_init(struct loco_atomic_array *a, struct loco_manager *manager,
                           const struct loco_channel *parent, const char *name, size_t count,
                           struct loco_members members, unsigned flags)
{
    return atomic_words_init(a, manager, parent, name, count, members, flags, &array_ops, NULL);
}

int loco_atomic_words_init(struct loco_atomic_array *a, struct loco_manager *manager,
                           const struct loco_channel *parent, const char *name, size_t count,
                           struct loco_members members, const char *options)
{
    return atomic_words_init(a, manager, parent, name, count, members, 0, &array_ops, options);
}

void loco_atomic_array_fini(struct loco_atomic_array *a)
{
    loco_channel_fini(&a->channel);
    free(a->homes);
    *a = (struct loco_atomic_array){0};
}

int loco_atomic_var_init(struct loco_atomic_var *v, struct loco_manager *manager,
                         const struct loco_channel *parent, const char *name, uint32_t host,
                         struct loco_members members, unsigned flags)
{
    const struct loco_members host_only = {.nodes = &host, .count = 1};

    const bool is_host = manager->id == host;
    char options[LOCO_OPTIONS_MAX];

    v->host = host;
    snprintf(options, sizeof options, "host=%u\n", host);
    return atomic_words_init(&v->words, manager, parent, name, 1, is_host ? members : host_only,
                             flags, is_host ? &host_ops : &guest_ops, options);
}

void loco_atomic_var_fini(struct loco_atomic_var *v)
{
    loco_atomic_array_fini(&v->words);
}

/* --- the cached copies -------------------------------------------------------------------- */

uint64_t loco_atomic_var_cached(const struct loco_atomic_var *v)
{
    return __atomic_load_n((const uint64_t *)v->words.region->memory, __ATOMIC_ACQUIRE);
}

struct loco_ack loco_atomic_var_pull(struct loco_atomic_var *v)
{
    if (v->host == v->words.channel.mgr->id)
        return (struct loco_ack){0};
    return loco_atomic_post_load(loco_atomic_of(v), v->words.region->memory);
}

/* --- operations that post ------------------------------------------------------------------ */

static const struct loco_ack done;

/* Whether an atomic on the word is placed when it is done. */
static bool atomic_is_placed(struct loco_atomic_word w)
{
    return w.region->channel->mgr->fabric->capabilities & LOCO_ATOMICS_PLACED;
}

/* A read may come before the write of an atomic that is done already, of another link. An atomic
 * does not. This one leaves the word as it is, as it fails, or else sets it to what it was. */
struct loco_ack loco_atomic_post_load(struct loco_atomic_word w, uint64_t *value)
{
    static const uint64_t unlikely = UINT64_C(0x9fb21c651e98df25);

    if (loco_atomic_reach(w) || atomic_is_placed(w))
        return loco_atomic_post_look(w, value);
    return loco_region_compare_swap(w.region, w.member, w.offset, unlikely, unlikely, value);
}

struct loco_ack loco_atomic_post_look(struct loco_atomic_word w, uint64_t *value)
{
    const uint64_t *reached = loco_atomic_reach(w);

    if (!reached)
        return loco_region_read(w.region, w.member, w.offset, value, sizeof *value);
    loco_place_stores();
    __atomic_store_n(value, __atomic_load_n(reached, __ATOMIC_SEQ_CST), __ATOMIC_RELAXED);
    return done;
}

struct loco_ack loco_atomic_post_fetch_add(struct loco_atomic_word w, uint64_t add, uint64_t *old)
{
    if (!loco_atomic_reach(w))
        return loco_region_fetch_add(w.region, w.member, w.offset, add, old);
    loco_atomic_fetch_add(w, add, old);
    return done;
}

struct loco_ack loco_atomic_post_compare_swap(struct loco_atomic_word w, uint64_t expected,
                                              uint64_t desired, uint64_t *old)
{
    if (!loco_atomic_reach(w))
        return loco_region_compare_swap(w.region, w.member, w.offset, expected, desired, old);
    loco_atomic_compare_swap(w, expected, desired, old);
    return done;
}

int loco_atomic_post_replace(struct loco_atomic_word w, uint64_t from, uint64_t to)
{
    uint64_t *unread = loco_mem_unread(w.region->channel->mgr);

    if (atomic_is_placed(w))
        return loco_region_write(w.region, w.member, w.offset, &to, sizeof to).error;
    return unread ? loco_region_fetch_add(w.region, w.member, w.offset, to - from, unread).error
                  : -EPERM;
}

struct loco_ack loco_atomic_write(struct loco_atomic_word w, uint64_t value)
{
    uint64_t *reached = loco_atomic_reach(w);

    if (!reached)
        return loco_region_write(w.region, w.member, w.offset, &value, sizeof value);
    __atomic_store_n(reached, value, __ATOMIC_RELEASE);
    loco_stored();
    return done;
}

/* --- operations that wait for their result --------------------------------------------------- */

/* Where a result is placed: in the caller's variable if the fabric reaches any memory, else in a
 * mem_ref; NULL when none is left. */
static uint64_t *atomic_landing(struct loco_manager *m, uint64_t *result)
{
    if (m->fabric->capabilities & LOCO_COHERENT)
        return result;
    return loco_self(m) ? loco_mem_ref_take(m) : NULL;
}

/* Waits for the operation, and copies its result from the mem_ref. */
static int atomic_land(struct loco_manager *m, struct loco_ack ack, uint64_t *at, uint64_t *result,
                       uint64_t timeout_ns)
{
    int rc = loco_ack_wait(&ack, timeout_ns);

    if (at == result)
        return rc;
    if (!rc)
        *result = __atomic_load_n(at, __ATOMIC_ACQUIRE);
    if (rc == -ETIMEDOUT)
        loco_mem_ref_put_after(m, at, ack);
    else
        loco_mem_ref_put(m, at);
    return rc;
}

static int atomic_no_landing(const struct loco_manager *m)
{
    return loco_self(m) ? -ENOBUFS : -EPERM;
}

int loco_atomic_far_load(struct loco_atomic_word w, uint64_t *value, uint64_t timeout_ns)
{
    struct loco_manager *m = w.region->channel->mgr;
    uint64_t *at = atomic_landing(m, value);

    return at ? atomic_land(m, loco_atomic_post_load(w, at), at, value, timeout_ns)
              : atomic_no_landing(m);
}

int loco_atomic_look(struct loco_atomic_word w, uint64_t *value, uint64_t timeout_ns)
{
    struct loco_manager *m = w.region->channel->mgr;
    uint64_t *at = atomic_landing(m, value);

    return at ? atomic_land(m, loco_atomic_post_look(w, at), at, value, timeout_ns)
              : atomic_no_landing(m);
}

int loco_atomic_fetch_add_timed(struct loco_atomic_word w, uint64_t add, uint64_t *old,
                                uint64_t timeout_ns)
{
    if (loco_atomic_reach(w))
        return loco_atomic_fetch_add(w, add, old);
    struct loco_manager *m = w.region->channel->mgr;
    uint64_t *at = atomic_landing(m, old);

    return at ? atomic_land(m, loco_atomic_post_fetch_add(w, add, at), at, old, timeout_ns)
              : atomic_no_landing(m);
}

int loco_atomic_compare_swap_timed(struct loco_atomic_word w, uint64_t expected, uint64_t desired,
                                   uint64_t *old, uint64_t timeout_ns)
{
    if (loco_atomic_reach(w))
        return loco_atomic_compare_swap(w, expected, desired, old);
    struct loco_manager *m = w.region->channel->mgr;
    uint64_t *at = atomic_landing(m, old);

    return at ? atomic_land(m, loco_atomic_post_compare_swap(w, expected, desired, at), at, old,
                            timeout_ns)
              : atomic_no_landing(m);
}

int loco_atomic_exchange_timed(struct loco_atomic_word w, uint64_t value, uint64_t *old,
                               uint64_t timeout_ns)
{
    if (loco_atomic_reach(w))
        return loco_atomic_exchange(w, value, old);
    const struct loco_manager *m = w.region->channel->mgr;
    const struct loco_wait wait = loco_wait_for(m, timeout_ns);
    uint64_t expected, seen;
    int rc = loco_atomic_look(w, &expected, timeout_ns);

    while (!rc) {
        rc = loco_atomic_compare_swap_timed(w, expected, value, &seen, loco_time_left(m, &wait));
        if (rc)
            break;
        if (seen == expected) {
            *old = seen;
            break;
        }
        expected = seen;
    }
    return rc;
}

int loco_atomic_store_timed(struct loco_atomic_word w, uint64_t value, uint64_t timeout_ns)
{
    uint64_t old;

    return loco_atomic_exchange_timed(w, value, &old, timeout_ns);
}

int loco_atomic_far_fetch_add(struct loco_atomic_word w, uint64_t add, uint64_t *old)
{
    return loco_atomic_fetch_add_timed(w, add, old, UINT64_MAX);
}

int loco_atomic_far_compare_swap(struct loco_atomic_word w, uint64_t expected, uint64_t desired,
                                 uint64_t *old)
{
    return loco_atomic_compare_swap_timed(w, expected, desired, old, UINT64_MAX);
}

int loco_atomic_far_exchange(struct loco_atomic_word w, uint64_t value, uint64_t *old)
{
    return loco_atomic_exchange_timed(w, value, old, UINT64_MAX);
}
