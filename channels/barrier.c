#include "loco/barrier.h"

#include <errno.h>

#include "core.h"
#include "loco/fence.h"
#include "thread_links.h"
#include "trace_internal.h"

int loco_barrier_init(struct loco_barrier *b, struct loco_manager *manager,
                      const struct loco_channel *parent, const char *name,
                      struct loco_members members)
{
    *b = (struct loco_barrier){0};
    int rc = loco_channel_init(&b->channel, manager, parent, name, members, NULL);
    if (!rc)
        rc = loco_sst_init(&b->sst, manager, &b->channel, "sst", members, sizeof b->count);
    if (rc)
        loco_barrier_fini(b);
    else
        loco_channel_join(&b->channel);
    return rc;
}

void loco_barrier_fini(struct loco_barrier *b)
{
    loco_sst_fini(&b->sst);
    loco_channel_fini(&b->channel);
}

/* Returns 0 if each member sees this node's arrivals and is seen here, or -ENOTCONN; or -ETIMEDOUT.
 */
static int barrier_check_connected(const struct loco_barrier *b, uint64_t timeout_ns)
{
    struct loco_manager *m = b->channel.mgr;
    const struct loco_wait wait = loco_wait_for(m, timeout_ns);

    if (loco_manager_lock(m, &wait))
        return -ETIMEDOUT;
    const bool met = !b->sst.channel.missing && !b->sst.mine->channel.missing;
    pthread_mutex_unlock(&m->lock);
    return met ? 0 : -ENOTCONN;
}

static bool barrier_has_arrived(int rc)
{
    return !rc || rc == -ECONNRESET;
}

/* Arrives at the next round, after a global fence. After -ECONNRESET it has arrived, too. */
static int barrier_come(struct loco_barrier *b, uint64_t timeout_ns)
{
    int rc = loco_fence_global_timed(b->channel.mgr, timeout_ns);

    if (rc == -EPERM)
        return rc;
    if (barrier_has_arrived(rc) && b->count == 0) {
        const int connected = barrier_check_connected(b, timeout_ns);
        rc = connected ? connected : rc;
    }
    b->arrived = rc;
    if (!barrier_has_arrived(rc))
        return rc;
    b->count++;
    b->come = 0;
    loco_sst_store_mine(&b->sst, &b->count);
    loco_sst_push_broadcast(&b->sst);
    LOCO_TRACE(barrier_enter, b->channel.mgr->id, b->channel.name, b->count);
    return rc;
}

int loco_barrier_arrive(struct loco_barrier *b)
{
    return barrier_come(b, UINT64_MAX);
}

/* Whether the member has arrived: 1, 0, or -ECONNRESET. */
static int barrier_has_come(const struct loco_barrier *b, const struct loco_owned_var *row)
{
    bool lost = loco_channel_check(&row->channel); /* first: it may arrive and then leave */
    uint32_t theirs;

    loco_owned_var_load(row, &theirs);
    if ((int32_t)(theirs - b->count) >= 0) /* the signed difference survives a wrap */
        return 1;
    return lost ? -ECONNRESET : 0;
}

int loco_barrier_passed(struct loco_barrier *b)
{
    if (!barrier_has_arrived(b->arrived))
        return 0;
    for (; b->come < b->channel.member_count; b->come++) {
        const struct loco_owned_var *row = b->sst.rows[1 + b->come];
        int come = row ? barrier_has_come(b, row) : 0;
        if (come != 1)
            return come;
    }
    LOCO_TRACE(barrier_leave, b->channel.mgr->id, b->channel.name, b->count);
    return 1;
}

int loco_barrier_wait(struct loco_barrier *b)
{
    return loco_barrier_timed(b, UINT64_MAX);
}

int loco_barrier_timed(struct loco_barrier *b, uint64_t timeout_ns)
{
    struct loco_wait wait = loco_wait_for(b->channel.mgr, timeout_ns);
    int passed;

    if (!loco_self(b->channel.mgr))
        return -EPERM;
    if (!b->waits)
        barrier_come(b, timeout_ns);
    if (b->arrived == -ENOTCONN && loco_channel_check(&b->channel))
        return -ECONNRESET; /* that member never will connect */
    if (!barrier_has_arrived(b->arrived))
        return b->arrived;
    while (!(passed = loco_barrier_passed(b))) {
        b->waits = loco_relax(b->channel.mgr, &wait) != 0;
        if (b->waits)
            return -ETIMEDOUT;
    }
    b->waits = false;
    return passed < 0 ? passed : b->arrived;
}
