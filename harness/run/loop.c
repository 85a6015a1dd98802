#include "loop.h"

#include <errno.h>

#include "tracer.h"

uint64_t hil_loop_first_from(const struct hil_loop *l, uint64_t now)
{
    const struct hil_timing *t = &l->timing;

    return now <= t->phase_ns ? 0 : (now - t->phase_ns + t->period_ns - 1) / t->period_ns;
}

static void trace_step(const struct hil_loop *l, uint64_t n, uint64_t late_ns, uint64_t duration_ns)
{
    HIL_TRACE(step, &(struct hil_traced_step){
                        .node = l->node,
                        .step = n + 1,
                        .late_ns = late_ns,
                        .duration_ns = duration_ns,
                        .input_age_ns = l->input_age_ns,
                        .acted_on = l->acted_on,
                    });
}

static void account_miss(const struct hil_loop *l, uint64_t n, uint64_t begin, uint64_t end,
                         uint64_t missed)
{
    uint64_t due = hil_loop_due(l, n);

    l->state->missed += missed;
    hil_worst_add(l->worst, &(struct hil_miss){.begin_ns = begin,
                                               .step = n,
                                               .over_ns = end - (due + l->timing.period_ns),
                                               .late_ns = begin - due,
                                               .busy_ns = end - begin,
                                               .missed = missed,
                                               .node = l->node});
    HIL_TRACE(miss, &(struct hil_traced_miss){
                        .node = l->node,
                        .step = n + 1,
                        .over_ns = end - (due + l->timing.period_ns),
                        .skipped = missed - 1,
                    });
}

int hil_loop_account(const struct hil_loop *l, uint64_t n, uint64_t begin, uint64_t end,
                     uint64_t *next)
{
    struct hil_node_state *s = l->state;
    uint64_t due = hil_loop_due(l, n);

    trace_step(l, n, begin - due, end - begin);
    if (s->steps++)
        hil_histogram_add(&s->period, begin - s->begin_ns);
    s->begin_ns = begin;
    hil_histogram_add(&s->late, begin - due);
    hil_histogram_add(&s->busy, end - begin);
    *next = n + 1;
    if (end <= due + l->timing.period_ns) {
        hil_worst_in_time(l->worst);
        return 0;
    }
    if (l->timing.overrun == HIL_SKIP)
        *next = hil_loop_first_from(l, end);
    account_miss(l, n, begin, end, *next - n);
    return l->timing.overrun == HIL_HALT ? -ETIME : 0;
}
