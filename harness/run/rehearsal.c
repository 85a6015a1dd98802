#include "rehearsal.h"

#include <errno.h>

#include "../../channels/loco/trace.h"

/* The pause between two rounds, so that a network can deliver what the rounds push. */
static const uint64_t PACE_NS = 20000;

/* Time kept free before time 0, besides the time to begin anew. */
static const uint64_t MARGIN_NS = 20000;

int hil_rehearsal_open(struct hil_rehearsal *h, const struct hil_run *run)
{
    *h = (struct hil_rehearsal){.run = *run};
    int rc = hil_state_open_rehearsal(&h->state, run->scenario);
    h->run.state = h->state;
    return rc;
}

void hil_rehearsal_close(struct hil_rehearsal *h)
{
    if (h->state)
        hil_state_close(h->state);
    h->state = NULL;
}

/* A first step takes some microseconds, and so does beginning anew. */
uint64_t hil_rehearsal_lead_ns(unsigned loops)
{
    return 2000000 + 20000 * (uint64_t)loops;
}

/* What a node puts aside during the rehearsal. */
struct put_aside {
    const struct hil_run *run;
    struct hil_node_state *state;
    struct hil_stream *stream;
    struct hil_live live;
};

static struct put_aside rehearsal_enter(struct hil_node *r, const struct hil_rehearsal *h)
{
    const struct put_aside real = {r->run, r->state, r->stream, r->live};

    r->run = &h->run;
    r->state = &h->state->nodes[r->id];
    r->stream = NULL;
    r->rehearsed = true;
    r->live.tell_ns = r->live.look_ns = UINT64_MAX;
    hil_step_count_in_run(r->step);
    return real;
}

static void rehearsal_leave(struct hil_node *r, const struct put_aside *real)
{
    r->run = real->run;
    r->state = real->state;
    r->stream = real->stream;
    r->rehearsed = false;
    r->live = real->live;
    hil_step_count_in_run(r->step);
}

/* Loads the cache lines in which a step in time will be counted, without adding values. */
static void touch_figures(const struct hil_node *r)
{
    struct hil_node_state *n = r->loop.state;
    struct hil_state *s = r->run->state;

    hil_histogram_add_many(&n->late, 50, 0);
    hil_histogram_add_many(&n->busy, 150, 0);
    hil_histogram_add_many(&n->period, r->loop.timing.period_ns, 0);
    for (unsigned i = 0; i < s->figures_count; i++) {
        if (s->figures[i].executor != r->run->executor)
            continue;
        hil_histogram_add_many(&s->figures[i].input_age, r->loop.timing.period_ns, 0);
        hil_histogram_add_many(&s->figures[i].round_trip, r->loop.timing.period_ns, 0);
    }
    hil_worst_in_time(r->loop.worst);
}

static int rehearse_node(struct hil_node *r, const struct hil_rehearsal *h)
{
    const struct put_aside real = rehearsal_enter(r, h);
    int rc = r->loop.step(r->loop.arg, HIL_REHEARSED_STEP, 0);

    rehearsal_leave(r, &real);
    touch_figures(r);
    return rc == -ENOTRECOVERABLE ? 0 : rc; /* the component will fail in the run, too */
}

static int rehearse_all(const struct hil_rehearsal *h, const struct hil_group *g)
{
    int rc = 0;

    for (unsigned i = 0; !rc && i < g->count; i++)
        if (hil_step_may_rehearse(g->nodes[i]->step))
            rc = rehearse_node(g->nodes[i], h);
    return rc;
}

static int begin_all(const struct hil_group *g)
{
    int rc = 0;

    for (unsigned i = 0; !rc && i < g->count; i++)
        if (hil_step_may_rehearse(g->nodes[i]->step))
            rc = hil_step_begin(g->nodes[i]->step);
    return rc;
}

static void pause_until(const struct hil_clock *clock, uint64_t t_ns)
{
    while (hil_clock_now(clock) < t_ns)
        hil_clock_pause();
}

int hil_rehearse(const struct hil_rehearsal *h, const struct hil_group *g,
                 const struct hil_clock *clock, uint64_t start_ns)
{
    uint64_t now = hil_clock_now(clock), before = now, round = 0;

    if (now >= start_ns || g->nodes[0]->loop.first > 0)
        return 0;
    const struct loco_tracer *tracer = loco_trace_set(NULL); /* rehearsed steps are not traced */
    int rc = begin_all(g);                                   /* to measure how long it takes */
    now = hil_clock_now(clock);
    uint64_t anew = now - before;
    while (!rc && now + PACE_NS + round + 2 * anew + MARGIN_NS < start_ns) {
        pause_until(clock, now + PACE_NS);
        before = hil_clock_now(clock);
        rc = rehearse_all(h, g);
        now = hil_clock_now(clock);
        round = now - before;
    }
    loco_trace_set(tracer);
    return rc ? rc : begin_all(g);
}
