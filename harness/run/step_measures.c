/* Samples of a node's measures and their references. */
#include <math.h>

#include "step_parts.h"

/* --- the layout of samples -------------------------------------------------------------------- */

/* A value and a reference of each measure, and a NaN. */
static unsigned measures_width(unsigned count)
{
    return 2 * count + 1;
}

size_t hil_step_samples_count(const struct hil_node *node)
{
    const unsigned count = node->config->measure_count;

    return count ? STEP_SAMPLED_ROWS * (size_t)measures_width(count) : 0;
}

static const struct hil_measure *measures_config(const struct hil_step *s, unsigned i)
{
    return &s->node->run->scenario->system->measures[s->measures[i].measure];
}

/* Places the measures that are recorded, or the others. Returns the first place after them. */
static unsigned measures_place(struct hil_step *s, bool recorded, unsigned at)
{
    for (unsigned i = 0; i < s->measured_count; i++) {
        struct step_measured *m = &s->measures[i];
        if (hil_columns_has(measures_config(s, i)) != recorded)
            continue;
        m->value = at++;
        m->reference = m->from < 0 ? s->samples.width - 1 : at++;
    }
    return at;
}

void hil_step_make_samples(struct hil_step *s)
{
    struct step_samples *all = &s->samples;

    if (s->measured_count == 0)
        return;
    all->width = measures_width(s->measured_count);
    all->recorded = measures_place(s, true, 0);
    measures_place(s, false, all->recorded);
    for (unsigned i = 0; i < STEP_SAMPLED_ROWS; i++)
        all->rows[(i + 1) * all->width - 1] = NAN;
}

void hil_step_begin_samples(struct hil_step *s)
{
    struct step_samples *all = &s->samples;

    all->at = 0;
    all->count = 0;
    for (unsigned i = 0; i < STEP_SAMPLED_ROWS; i++)
        all->added[i] = 0;
}

/* --- adding to responses ---------------------------------------------------------------------- */

/* The rows from `first` on. */
static struct hil_response_series measures_series(const struct step_samples *all, uint64_t first)
{
    struct hil_response_series series;

    series.count = (unsigned)(all->count - first);
    for (unsigned i = 0; i < series.count; i++) {
        const unsigned slot = (first + i) % STEP_SAMPLED_ROWS;
        series.t_ns[i] = all->t_ns[slot];
        series.rows[i] = all->rows + slot * (size_t)all->width;
    }
    return series;
}

static void measures_add_share(struct hil_step *s, unsigned share)
{
    struct step_samples *all = &s->samples;
    const struct hil_response_series series = measures_series(all, all->added[share]);
    const unsigned first = s->measured_count * share / STEP_SAMPLED_ROWS;
    const unsigned end = s->measured_count * (share + 1) / STEP_SAMPLED_ROWS;

    for (const struct step_measured *m = s->measures + first; series.count && m < s->measures + end;
         m++)
        hil_response_add_series(&all->moment, m->measure, &series, m->reference, m->value);
    all->added[share] = all->count;
}

void hil_step_add_share(struct hil_step *s)
{
    measures_add_share(s, s->samples.count % STEP_SAMPLED_ROWS);
}

void hil_step_add_samples(struct hil_step *s)
{
    for (unsigned share = 0; share < STEP_SAMPLED_ROWS; share++)
        measures_add_share(s, share);
}

/* The first sample of a moment is added to all responses at once. */
static void measures_begin_moment(struct hil_step *s, const struct hil_moment *moment,
                                  const double *row)
{
    struct step_samples *all = &s->samples;

    hil_step_add_samples(s);
    for (unsigned i = 0; i < s->measured_count; i++) {
        const struct step_measured *m = &s->measures[i];
        hil_response_add(moment, m->measure, row[m->reference], row[m->value]);
    }
    all->moment = *moment;
    all->count++;
    for (unsigned i = 0; i < STEP_SAMPLED_ROWS; i++)
        all->added[i] = all->count;
}

static void measures_add(struct hil_step *s, const struct hil_moment *moment, const double *row)
{
    struct step_samples *all = &s->samples;
    const unsigned slot = all->count % STEP_SAMPLED_ROWS;

    if (all->count == 0 || !hil_moment_goes_on(&all->moment, moment)) {
        measures_begin_moment(s, moment, row);
        return;
    }
    all->t_ns[slot] = moment->t_ns;
    all->count++;
}

/* --- a step ----------------------------------------------------------------------------------- */

static double measures_sum(const struct hil_step *s, const struct step_measured *m)
{
    const unsigned *at = s->signals + m->signals.first;
    double sum = 0;

    for (unsigned i = 0; i < m->signals.count; i++)
        sum += s->values[at[i]];
    return sum;
}

static void measures_sample(const struct hil_step *s, double *row)
{
    for (unsigned i = 0; i < s->measured_count; i++) {
        const struct step_measured *m = &s->measures[i];
        row[m->value] = measures_sum(s, m);
        if (m->from >= 0)
            row[m->reference] = s->values[m->from] * m->scale;
    }
}

/* The first measure is also shown to programs that watch. */
void hil_step_measure(struct hil_step *s, uint64_t now)
{
    struct hil_state *state = s->node->run->state;
    const struct hil_moment moment =
        hil_responses_at(&state->responses, &s->node->state->measuring, now);
    const struct step_measured *first = &s->measures[0];

    hil_step_add_share(s); /* unless that was done ahead: its oldest row is overwritten now */
    s->samples.at = s->samples.count % STEP_SAMPLED_ROWS * s->samples.width;
    double *row = s->samples.rows + s->samples.at;
    measures_sample(s, row);
    if (__builtin_expect(s->stopping, 0))
        return; /* the run's time is over */
    measures_add(s, &moment, row);
    if (first->measure == 0)
        hil_recent_add(&state->recent, now, row[first->reference], row[first->value]);
}
