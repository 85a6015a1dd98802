#include "step_stop.h"

#include <math.h>
#include <string.h>

#include "faults.h"
#include "rehearsal.h"
#include "step_parts.h"

/* The part computes no more. Its safe values are from now on the ones that the ramp has reached. */
static void stop_begin_part(struct hil_step *s, struct step_part *p)
{
    unsigned count;
    const double *values = hil_step_safe_places(p, &count);
    const size_t place = (size_t)(values - s->values);

    memcpy(s->stop_from + place, values, count * sizeof *values);
    p->safe = s->stop_at + place;
    p->aged = true;
    p->old++;
    s->old++;
}

/* A law of which nothing but the default is known continues. */
static bool stop_has_ramp(const struct step_part *p)
{
    return p->config->safe && (p->config->safe_given || p->model->kind == HIL_CONTINUOUS);
}

static void stop_begin(struct hil_step *s, uint64_t due)
{
    s->stopping = s->has_ages = true;
    s->plain = false;
    s->stop_first_ns = due;
    for (unsigned i = 0; i < s->part_count; i++)
        if (stop_has_ramp(&s->parts[i]))
            stop_begin_part(s, &s->parts[i]);
}

static double stop_reached(double from, double safe, double share)
{
    return share >= 1 || !isfinite(from) ? safe : from + share * (safe - from);
}

static void stop_move_part(const struct hil_step *s, struct step_part *p, double share)
{
    unsigned count;
    const size_t place = (size_t)(hil_step_safe_places(p, &count) - s->values);

    for (unsigned i = 0; i < count; i++)
        s->stop_at[place + i] = stop_reached(s->stop_from[place + i], p->config->safe[i], share);
    if (p->model->kind != HIL_SAMPLED)
        return;
    p->rests = true;
    hil_step_make_safe(p);
}

/* How much of the ramp is done at this step, since its first one. The last step before the ramp's
 * end counts as its end. */
static double stop_share(const struct hil_step *s, uint64_t due)
{
    const struct hil_loop *loop = &s->node->loop;
    const uint64_t reached = due - s->stop_first_ns + loop->timing.period_ns;

    return (double)reached / (double)(loop->end_ns - s->stop_first_ns);
}

static void stop_move(struct hil_step *s, uint64_t due)
{
    if (!s->stopping)
        stop_begin(s, due);
    const double share = stop_share(s, due);
    for (unsigned i = 0; i < s->part_count; i++)
        if (stop_has_ramp(&s->parts[i]))
            stop_move_part(s, &s->parts[i], share);
}

int hil_step_run_to_stop(void *arg, uint64_t n, uint64_t now)
{
    struct hil_node *node = arg;
    const uint64_t due = hil_loop_due(&node->loop, n);

    if (n != HIL_REHEARSED_STEP && due >= hil_loop_stops_at(&node->loop))
        stop_move(node->step, due);
    return node->config->fault_count ? hil_faults_run(node, n, now) : hil_step_run(node, n, now);
}
