/* Samples of a node's measures and their references. */
#include <math.h>

#include "step_parts.h"

/* --- the layout of samples -------------------------------------------------------------------- */

/* Upper bound: a value and a reference of each measure, and a NaN. */
size_t hil_step_samples_count(const struct hil_node *node)
{
    const unsigned count = node->config->measure_count;

    return count ? STEP_SAMPLED_ROWS * (2 * (size_t)count + 1) : 0;
}

static const struct hil_measure *measures_config(const struct hil_step *s, unsigned measure)
{
    return &s->node->run->scenario->system->measures[measure];
}

/* The first measure is also shown to programs that watch (hil_step_measure). */
bool hil_step_measure_is_plain(const struct hil_step *s, unsigned measure)
{
    const struct hil_measure *m = measures_config(s, measure);

    return measure > 0 && m->count == 1 && !hil_columns_has(m) &&
           (!m->has_reference || m->reference_scale == 1);
}

/* Places the computed measures that are recorded, or the others. Returns the first place after
 * them. */
static unsigned measures_place(struct hil_step *s, bool recorded, unsigned at)
{
    for (unsigned i = 0; i < s->samples.computed; i++) {
        struct step_measured *m = &s->measures[i];
        if (hil_columns_has(measures_config(s, m->measure)) != recorded)
            continue;
        m->value = at++;
        m->reference = m->from < 0 ? s->samples.none : at++;
    }
    return at;
}

/* The reference's number among the plain measures' references. */
static unsigned measures_reference(struct step_samples *all, unsigned from)
{
    unsigned i = 0;

    while (i < all->reference_count && all->references[i] != from)
        i++;
    if (i == all->reference_count)
        all->references[all->reference_count++] = from;
    return i;
}

/* Places the plain measures. Returns the first place after them. */
static unsigned measures_place_plain(struct hil_step *s, unsigned at)
{
    struct step_samples *all = &s->samples;
    const unsigned references = at + s->measured_count - all->computed;

    for (unsigned i = all->computed; i < s->measured_count; i++) {
        struct step_measured *m = &s->measures[i];
        m->value = at++;
        m->reference =
            m->from < 0 ? all->none : references + measures_reference(all, (unsigned)m->from);
    }
    return references + all->reference_count;
}

void hil_step_make_samples(struct hil_step *s)
{
    struct step_samples *all = &s->samples;

    if (s->measured_count == 0)
        return;
    all->none = 2 * all->computed;
    all->recorded = measures_place(s, true, 0);
    measures_place(s, false, all->recorded);
    all->width = measures_place_plain(s, all->none + 1);
    for (unsigned i = 0; i < STEP_SAMPLED_ROWS; i++) {
        double *row = all->rows + i * (size_t)all->width;
        row[all->none] = NAN;
        all->row[i] = all->row[i + STEP_SAMPLED_ROWS] = row;
    }
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

static void measures_add_pending(struct hil_step *s, unsigned share)
{
    struct step_samples *all = &s->samples;
    const unsigned slot = all->added[share] % STEP_SAMPLED_ROWS;
    const struct hil_response_series series = {
        .count = (unsigned)(all->count - all->added[share]),
        .t_ns = all->t_ns + slot,
        .rows = all->row + slot,
    };
    const unsigned first = s->measured_count * share / STEP_SAMPLED_ROWS;
    const unsigned end = s->measured_count * (share + 1) / STEP_SAMPLED_ROWS;

    for (const struct step_measured *m = s->measures + first; m < s->measures + end; m++)
        hil_response_add_series(&all->moment, m->measure, &series, m->reference, m->value);
    all->added[share] = all->count;
}

static inline void measures_add_share(struct hil_step *s, unsigned share)
{
    if (s->samples.added[share] < s->samples.count)
        measures_add_pending(s, share);
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
    all->t_ns[slot] = all->t_ns[slot + STEP_SAMPLED_ROWS] = moment->t_ns;
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
    const struct step_samples *all = &s->samples;
    const unsigned plain = s->measured_count - all->computed;

    for (unsigned i = 0; i < all->computed; i++) {
        const struct step_measured *m = &s->measures[i];
        row[m->value] = measures_sum(s, m);
        if (m->from >= 0)
            row[m->reference] = s->values[m->from] * m->scale;
    }
    row += all->none + 1;
    for (unsigned i = 0; i < plain; i++)
        row[i] = 0 + s->values[all->plain[i]]; /* -0 becomes 0, as in a sum */
    row += plain;
    for (unsigned i = 0; i < all->reference_count; i++)
        row[i] = s->values[all->references[i]];
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
