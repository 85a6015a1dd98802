/* An owned_var at its readers: pull, read, load. */
#include <errno.h>

#include "operation.h"
#include "owned_var_record.h"
#include "trace_internal.h"

int loco_var_begin_reading(struct loco_owned_var *v, struct loco_wait *wait)
{
    while (atomic_exchange_explicit(&v->reading, true, memory_order_acquire))
        if (loco_relax(v->channel.mgr, wait))
            return -ETIMEDOUT;
    return 0;
}

void loco_var_end_reading(struct loco_owned_var *v)
{
    atomic_store_explicit(&v->reading, false, memory_order_release);
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
        return loco_var_refuse(v, "its owner pushes it, so it cannot be pulled");
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
           loco_var_checksum(value, v->size);
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
    if (loco_var_begin_reading(v, &wait))
        return (struct loco_ack){.error = -ETIMEDOUT};
    struct loco_ack ack = var_pull_after_last(v, &wait);
    loco_var_end_reading(v);
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
    if (loco_var_begin_reading(v, &wait))
        return -ETIMEDOUT;
    for (int i = 0; rc == -EAGAIN && i < LOCO_LOAD_TRIES; i++)
        rc = var_read_once(v, value, &wait);
    loco_var_end_reading(v);
    return rc;
}
