#include "executor.h"

#include <errno.h>

/* This close to a step's time the wait only reads the clock, so that no turn takes longer than
 * reading it. */
static const uint64_t NEAR_NS = 500;

/* This close to a step's time the wait no longer receives, because receiving may take this long. */
static const uint64_t RECEIVE_NS = 20000;

/* Before a step that takes longer than this, held messages of other steps are sent. */
static const uint64_t LONG_NS = 20000;

/* A thread that is later than this and than its shortest period, or takes so much longer for a step
 * than for the one before, stood still. */
static const uint64_t STALL_NS = 100000;

__attribute__((cold)) static void count_stall(struct hil_executor *e, uint64_t ns)
{
    e->stalls.count++;
    e->stalls.total_ns += ns;
    if (ns > e->stalls.longest_ns)
        e->stalls.longest_ns = ns;
}

/* --- the batches in the order of their next steps ----------------------------------------------
 */

static bool comes_before(const struct hil_pending *a, const struct hil_pending *b)
{
    return a->at < b->at || (a->at == b->at && a < b);
}

/* Searches from the end, because a batch that made its step is mostly the one to wait longest. */
static void queue(struct hil_executor *e, struct hil_pending *p)
{
    struct hil_pending *before = TAILQ_LAST(&e->queue, hil_queue);

    while (before && comes_before(p, before))
        before = TAILQ_PREV(before, hil_queue, link);
    if (before)
        TAILQ_INSERT_AFTER(&e->queue, before, p, link);
    else
        TAILQ_INSERT_HEAD(&e->queue, p, link);
}

static void queue_all(struct hil_executor *e)
{
    TAILQ_INIT(&e->queue);
    for (unsigned i = 0; i < e->count; i++)
        queue(e, &e->batches[i]);
}

/* The batch's next step begins at another time. */
static void put_off(struct hil_executor *e, struct hil_pending *p, uint64_t at)
{
    TAILQ_REMOVE(&e->queue, p, link);
    p->at = at;
    queue(e, p);
}

static struct hil_pending *most_urgent(const struct hil_executor *e)
{
    return TAILQ_FIRST(&e->queue);
}

/* --- waiting -------------------------------------------------------------------------------- */

/* Called at each turn of a wait, and before each step. */
static bool told_to_stop(const struct hil_executor *e)
{
    hil_beat(e->heartbeat);
    return !e->stopping && atomic_load_explicit(e->stop, memory_order_relaxed);
}

static void sleep_until_near(const struct hil_executor *e, uint64_t t_ns)
{
    uint64_t until = t_ns - HIL_HYBRID_NS;

    if (e->crew)
        hil_crew_rest(e->crew, until);
    while (hil_clock_now(&e->clock) < until && !told_to_stop(e))
        hil_clock_nap(&e->clock, until);
}

static uint64_t spin_on_kernel_clock(const struct hil_executor *e, uint64_t t_ns)
{
    uint64_t now;

    while ((now = hil_clock_monotonic()) < t_ns && !told_to_stop(e))
        hil_clock_pause();
    return now;
}

/* Receives messages while it waits, so that no other thread needs the core for that. */
static void wait_a_turn(const struct hil_executor *e, uint64_t left)
{
    struct loco_wait wait = {0};

    if (e->network && left > e->receive_ticks)
        loco_relax(e->network, &wait);
    else
        hil_clock_pause();
}

/* The deadline is converted to counter ticks, so that nothing is computed between the last look at
 * the counter and the end of the wait. */
static uint64_t spin_on_counter(const struct hil_executor *e, uint64_t t_ns)
{
    const uint64_t deadline = hil_clock_ticks_at(&e->clock, t_ns);
    const uint64_t near = hil_clock_scaled(NEAR_NS, e->clock.ticks_per_ns);
    uint64_t ticks;

    while ((ticks = hil_clock_ticks()) + near < deadline) {
        if (told_to_stop(e))
            return hil_clock_ns(&e->clock, ticks);
        wait_a_turn(e, deadline - ticks);
    }
    while ((ticks = hil_clock_ticks()) < deadline)
        ;
    uint64_t now = hil_clock_ns(&e->clock, ticks);
    return now > t_ns ? now : t_ns; /* rounding may give an earlier time */
}

/* Waits until `t_ns`. Returns the time at the end of the wait. */
static uint64_t wait_until(const struct hil_executor *e, uint64_t t_ns)
{
    if (e->wait == HIL_HYBRID)
        sleep_until_near(e, t_ns);
    return e->clock.refused ? spin_on_kernel_clock(e, t_ns) : spin_on_counter(e, t_ns);
}

/* --- running -------------------------------------------------------------------------------- */

/* When the batch's ramp begins, after the start: at the moment that the executors share. One that
 * sees the stop later than a period has a whole ramp all the same, so that no value moves too fast.
 */
static uint64_t stop_time(const struct hil_executor *e, const struct hil_loop *batch)
{
    const uint64_t stop = atomic_load(e->stop), now = hil_clock_now(&e->clock);
    const uint64_t begin = now > stop + batch->timing.period_ns ? now : stop;

    return begin > e->start_ns ? begin - e->start_ns : 0;
}

static void stop_all(struct hil_executor *e)
{
    e->stopping = true;
    e->ended_ns = 0; /* no step begins before now */
    for (unsigned i = 0; i < e->count; i++) {
        const uint64_t stop = stop_time(e, e->batches[i].loop);
        for (struct hil_loop *l = e->batches[i].loop; l; l = l->beside)
            hil_loop_stop(l, stop, e->batches[i].n);
    }
}

/* When the step begins, after the start. Waits until it is due, unless it was due when the step
 * before it ended: then it begins at that time. */
static uint64_t await_step(struct hil_executor *e, const struct hil_pending *p)
{
    if (e->ended_ns > p->at)
        return e->ended_ns;
    const uint64_t begin = wait_until(e, e->start_ns + p->at) - e->start_ns;
    if (begin > p->at + e->stall_ns)
        count_stall(e, begin - p->at);
    return begin;
}

/* Steps the loops of the batch, up to one that fails. Sets *any if at least one made its step. */
static int step_batch(const struct hil_pending *p, uint64_t n, uint64_t begin, bool *any)
{
    int rc = p->loop->step(p->loop->arg, n, begin);

    *any = !rc;
    for (const struct hil_loop *l = p->loop->beside; !rc && l; l = l->beside)
        rc = l->step(l->arg, n, begin);
    return rc;
}

/* Whether a clean stop has begun by `now`, after the start. */
static bool is_stopping(const struct hil_executor *e, const struct hil_loop *loop, uint64_t now)
{
    return atomic_load(e->stop) || now >= hil_loop_stops_at(loop);
}

/* Counts the batch's step, which has ended, and finds the next one. A run that stops is not halted.
 */
static int count_step(struct hil_executor *e, struct hil_pending *p, uint64_t begin)
{
    const uint64_t end = hil_clock_now(&e->clock) - e->start_ns;

    if (p->took_ns && end - begin > p->took_ns + e->stall_ns)
        count_stall(e, end - begin - p->took_ns);
    p->took_ns = end - begin;
    e->ended_ns = end;
    const int rc = hil_loop_account(p->loop, p->n, begin, end, &p->n);
    put_off(e, p, hil_loop_begin_at(p->loop, p->n, begin, end));
    return rc && is_stopping(e, p->loop, begin) ? 0 : rc;
}

/* Runs the batch's step, and finds the next one. If a later loop of the batch fails, the step still
 * counts, because the loops before it have made it. */
static int make_step(struct hil_executor *e, struct hil_pending *p, uint64_t begin)
{
    bool any;
    const int rc = step_batch(p, p->n, begin, &any);

    if (!any)
        return rc;
    const int counted = count_step(e, p, begin);
    return rc ? rc : counted;
}

/* Waits until the batch's step is due, and makes it. */
static int run_step(struct hil_executor *e, struct hil_pending *p)
{
    const uint64_t begin = await_step(e, p);

    if (told_to_stop(e)) {
        stop_all(e);
        return 0;
    }
    if (begin >= p->loop->end_ns) { /* it is behind, and the others have ended */
        put_off(e, p, p->loop->end_ns);
        return 0;
    }
    return make_step(e, p, begin);
}

/* All loops of an executor belong to one run, and end with it. */
static bool is_over(const struct hil_pending *p)
{
    return p->at >= p->loop->end_ns;
}

/* Whether the step was due when the one before it ended. */
static bool is_due(const struct hil_executor *e, const struct hil_pending *p)
{
    return !is_over(p) && e->ended_ns > p->at;
}

/* Sends the held messages. That takes time, so the next step needs another look at the clock. */
static void send_held(struct hil_executor *e)
{
    loco_release(e->network);
    e->ended_ns = 0;
}

/* Runs the next step, and steps of other batches that are due when it has ended. Their messages go
 * out together at the end, but they do not wait for a step that takes long. */
static int run_together(struct hil_executor *e)
{
    struct hil_pending *p = most_urgent(e);
    unsigned left = e->count;

    loco_hold(e->network);
    int rc = run_step(e, p);
    while (!rc && --left > 0 && is_due(e, p = most_urgent(e))) {
        if (p->took_ns > LONG_NS) {
            send_held(e);
            loco_hold(e->network);
        }
        rc = run_step(e, p);
    }
    send_held(e);
    return rc;
}

/* Gives up the steps that the batch still owes. But a clean stop must end at the safe values,
 * however late: the last step of a ramp is made now. */
static int finish_batch(struct hil_executor *e, struct hil_pending *p, uint64_t now)
{
    uint64_t begin;

    p->n = hil_loop_give_up(p->loop, p->n, now);
    p->at = hil_loop_due(p->loop, p->n);
    if (is_over(p))
        return 0;
    do
        begin = await_step(e, p);
    while (begin < p->at); /* told to stop, which is what it does */
    return make_step(e, p, begin);
}

/* One that fails does not keep the others from their safe values. */
static int finish_batches(struct hil_executor *e, int rc)
{
    const uint64_t now = hil_clock_now(&e->clock), start = e->start_ns;
    const uint64_t past = now > start ? now - start : 0;

    if (told_to_stop(e))
        stop_all(e);
    if (rc && !is_stopping(e, e->batches[0].loop, past))
        return rc;
    e->ended_ns = 0;
    for (unsigned i = 0; i < e->count; i++) {
        const int last = finish_batch(e, &e->batches[i], past);
        rc = rc ? rc : last;
    }
    return rc;
}

uint64_t hil_executor_shortest_period_ns(const struct hil_executor *e)
{
    uint64_t least = e->batches[0].loop->timing.period_ns;

    for (unsigned i = 1; i < e->count; i++)
        if (e->batches[i].loop->timing.period_ns < least)
            least = e->batches[i].loop->timing.period_ns;
    return least;
}

int hil_executor_run(struct hil_executor *e)
{
    const bool several = e->count > 1 || e->batches[0].loop->beside;
    const uint64_t period = hil_executor_shortest_period_ns(e);
    int rc = 0;

    e->receive_ticks = hil_clock_scaled(RECEIVE_NS, e->clock.ticks_per_ns);
    e->stall_ns = period > STALL_NS ? period : STALL_NS;
    e->ended_ns = 0;
    queue_all(e);
    while (!rc && !is_over(most_urgent(e)))
        rc = e->network && several ? run_together(e) : run_step(e, most_urgent(e));
    rc = finish_batches(e, rc);
    return !rc && e->stopping ? -EINTR : rc;
}
