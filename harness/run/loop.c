#include "loop.h"

#include <errno.h>

#include "tracer.h"

uint64_t hil_loop_first_from(const struct hil_loop *l, uint64_t now)
{
    const struct hil_timing *t = &l->timing;

    return now <= t->phase_ns ? 0 : (now - t->phase_ns + t->period_ns - 1) / t->period_ns;
}

/* Steps are sampled in spans that are long enough for round trips, the same for all nodes. */
static const uint64_t SPAN_NS = 10000000;

/* Whether the step, which took until `over_ns` after it was due, is traced. A missed one is. */
static bool in_sample(const struct hil_loop *l, uint64_t n, uint64_t over_ns)
{
    return l->trace_every <= 1 || hil_loop_due(l, n) / SPAN_NS % l->trace_every == 0 ||
           over_ns > l->timing.period_ns;
}

static uint32_t traced_age(const struct hil_loop *l)
{
    if (!l->has_input)
        return HIL_NO_AGE;
    return l->input_age_ns < HIL_NO_AGE ? (uint32_t)l->input_age_ns : HIL_NO_AGE - 1;
}

static void trace_step(const struct hil_loop *batch, uint64_t n, uint64_t late_ns,
                       uint64_t duration_ns)
{
    struct hil_traced_step step;

    if (!HIL_TRACED(step) || !in_sample(batch, n, late_ns + duration_ns))
        return;
    step.node = batch->node;
    step.step = n + 1;
    step.late_ns = late_ns;
    step.duration_ns = duration_ns;
    step.nodes = step.newer_count = 0;
    for (const struct hil_loop *l = batch; l; l = l->beside) {
        step.ages_ns[step.nodes++] = traced_age(l);
        if (l->trace_newer)
            l->trace_newer(l->arg, &step);
    }
    HIL_TRACE(step, &step);
}

static unsigned batch_length(const struct hil_loop *batch)
{
    unsigned length = 0;

    for (const struct hil_loop *l = batch; l; l = l->beside)
        length++;
    return length;
}

/* Both are called before a value is counted. They keep the time of the latest step, and of the
 * worst miss. */
static inline void loop_keep_latest(struct hil_node_state *s, uint64_t late_ns, uint64_t at_ns)
{
    if (late_ns > s->late.max)
        s->late_at_ns = at_ns;
}

static void loop_keep_miss(struct hil_node_state *s, uint64_t over_ns, uint64_t at_ns)
{
    if (over_ns < s->over_max_ns)
        return;
    s->over_max_ns = over_ns;
    s->over_at_ns = at_ns;
}

static void show_missed(const struct hil_loop *batch, uint64_t count)
{
    for (const struct hil_loop *l = batch; l; l = l->beside)
        if (l->tap)
            hil_tap_miss(l->tap, count);
}

/* The steps of the batch that may be left out end before this one: the last one of a ramp is made
 * in any case. */
static uint64_t may_leave_out(const struct hil_loop *l)
{
    return hil_loop_first_from(l, l->end_ns) - (l->ramp_ns ? 1 : 0);
}

/* Leaves out the batch's steps from n up to, but not including, `next`; `now` is when this was
 * found out. Returns their number for each loop. */
static uint64_t leave_out(const struct hil_loop *l, uint64_t n, uint64_t next, uint64_t now)
{
    uint64_t end = may_leave_out(l);

    next = next < end ? next : end;
    if (n >= next)
        return 0;
    const struct hil_traced_left_out left_out = {
        .node = l->node,
        .nodes = batch_length(l),
        .step = n + 1,
        .count = next - n,
        .late_ns = now - hil_loop_due(l, next - 1),
        .period_ns = l->timing.period_ns,
    };
    l->state->left_out += left_out.count;
    loop_keep_latest(l->state, now - hil_loop_due(l, n), now);
    loop_keep_miss(l->state, left_out.late_ns, now);
    show_missed(l, left_out.count);
    hil_histogram_add_series(&l->state->late, left_out.late_ns, left_out.period_ns, left_out.count);
    HIL_TRACE(left_out, &left_out);
    return left_out.count;
}

static void account_miss(const struct hil_loop *l, uint64_t n, uint64_t begin, uint64_t end,
                         uint64_t next)
{
    uint64_t due = hil_loop_due(l, n), over = end - (due + l->timing.period_ns);

    HIL_TRACE(miss, &(struct hil_traced_miss){
                        .node = l->node, .nodes = batch_length(l), .step = n + 1, .over_ns = over});
    loop_keep_miss(l->state, over, begin);
    uint64_t left_out = leave_out(l, n + 1, next, end);
    l->state->run_late++;
    show_missed(l, 1);
    hil_worst_add(l->worst, &(struct hil_miss){.begin_ns = begin,
                                               .step = n,
                                               .over_ns = over,
                                               .late_ns = begin - due,
                                               .busy_ns = end - begin,
                                               .missed = batch_length(l) * (1 + left_out),
                                               .node = l->node});
}

/* Whether the loop is so far behind at step n that it gives up the steps it owes. */
static bool resynchronises(const struct hil_loop *l, uint64_t n, uint64_t now)
{
    const struct hil_timing *t = &l->timing;

    if (t->overrun != HIL_CATCH_UP || !t->resync_ns || now - hil_loop_due(l, n) <= t->resync_ns)
        return false;
    l->state->resyncs++;
    return true;
}

/* How late the batch's steps began, at most. If it took long, its nodes have that to tell. */
static uint64_t batch_lateness(struct hil_loop *batch, uint64_t due, uint64_t begin, uint64_t end)
{
    if (!batch->beside || end - begin <= HIL_BATCH_LONG_NS)
        return begin - due;
    for (struct hil_loop *l = batch; l; l = l->beside)
        if (end - due > l->late_ns)
            l->late_ns = end - due;
    return end - due;
}

/* The next step of a loop that leaves out those that are due by `now`. */
static uint64_t next_after(const struct hil_loop *l, uint64_t n, uint64_t now)
{
    const uint64_t next = hil_loop_first_from(l, now), kept = may_leave_out(l);

    return l->ramp_ns && n < kept && next > kept ? kept : next;
}

int hil_loop_account(struct hil_loop *l, uint64_t n, uint64_t begin, uint64_t end, uint64_t *next)
{
    struct hil_node_state *s = l->state;
    uint64_t due = hil_loop_due(l, n), late = batch_lateness(l, due, begin, end);

    trace_step(l, n, begin - due, end - begin);
    if (s->steps++)
        hil_histogram_add(&s->period, begin - s->begin_ns);
    else
        s->first_ns = end - begin;
    s->begin_ns = begin;
    loop_keep_latest(s, late, begin);
    if (end - begin > s->busy.max)
        s->busy_at_ns = begin;
    hil_histogram_add(&s->late, late);
    hil_histogram_add(&s->busy, end - begin);
    *next = n + 1;
    if (end <= due + l->timing.period_ns) {
        hil_worst_in_time(l->worst);
        return 0;
    }
    if (l->timing.overrun == HIL_SKIP || resynchronises(l, n + 1, end))
        *next = next_after(l, n, end);
    account_miss(l, n, begin, end, *next);
    return l->timing.overrun == HIL_HALT ? -ETIME : 0;
}

uint64_t hil_loop_give_up(const struct hil_loop *l, uint64_t n, uint64_t now)
{
    return n + leave_out(l, n, UINT64_MAX, now);
}
