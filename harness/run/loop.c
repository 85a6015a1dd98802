#include "loop.h"

#include <errno.h>

/* The first step that is due at `now` or after. */
static uint64_t first_from(const struct hil_loop *l, uint64_t now)
{
    const struct hil_timing *t = &l->timing;

    return now <= t->phase_ns ? 0 : (now - t->phase_ns + t->period_ns - 1) / t->period_ns;
}

int hil_loop_account(const struct hil_loop *l, uint64_t n, uint64_t begin, uint64_t end,
                     uint64_t *next)
{
    struct hil_node_state *s = l->state;
    uint64_t due = hil_loop_due(l, n);

    s->steps++;
    hil_histogram_add(&s->late, begin - due);
    hil_histogram_add(&s->busy, end - begin);
    *next = n + 1;
    if (end <= due + l->timing.period_ns)
        return 0;

    s->missed++;
    if (l->timing.overrun == HIL_HALT)
        return -ETIME;
    if (l->timing.overrun == HIL_SKIP) {
        *next = first_from(l, end);
        s->missed += *next - (n + 1);
    }
    return 0;
}
