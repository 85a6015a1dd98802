#include "metrics.h"

#include <math.h>

static const double BAND = 0.02;
static const uint64_t LAST_NS = 1000000000;

void hil_metrics_init(struct hil_metrics *m, uint64_t duration_ns, uint64_t last_change_ns)
{
    *m = (struct hil_metrics){.duration_ns = duration_ns, .last_change_ns = last_change_ns};
    m->peak_v = -INFINITY;
}

/* A block's index counts how many whole blocks lie between it and the planned end. */
static uint64_t block_index(const struct hil_metrics *m, uint64_t t_ns)
{
    return t_ns < m->duration_ns ? (m->duration_ns - 1 - t_ns) / HIL_BLOCK_NS : 0;
}

static void add_to_block(struct hil_metrics *m, uint64_t t_ns, double reference, double value)
{
    uint64_t index = block_index(m, t_ns);
    struct hil_block *b = &m->blocks[index % HIL_METRICS_BLOCKS];
    double distance = value - reference;

    if (b->index != index || b->count == 0)
        *b = (struct hil_block){.index = index, .min = value, .max = value};
    b->count++;
    b->min = value < b->min ? value : b->min;
    b->max = value > b->max ? value : b->max;
    b->sum += distance;
    b->sum_squares += distance * distance;
}

void hil_metrics_add(struct hil_metrics *m, uint64_t t_ns, double reference, double value)
{
    bool outside = !(fabs(value - reference) <= BAND * fabs(reference));

    if (m->outside && !outside)
        m->settled_ns = t_ns;
    if (outside)
        m->outside_ns = t_ns;
    m->outside = outside;
    m->count++;
    m->end_ns = t_ns;
    m->reference_v = reference;
    m->value_v = value;
    if (!(value <= m->peak_v))
        m->peak_v = value;
    double over = reference > 0 ? (value - reference) / reference : 0;
    if (!(over <= m->overshoot))
        m->overshoot = over;
    add_to_block(m, t_ns, reference, value);
}

/* The last second is the planned one; of a run that ended early, the last that there is. */
static void last_second(const struct hil_metrics *m, struct hil_results *r)
{
    uint64_t newest = block_index(m, m->end_ns), count = 0;
    double min = INFINITY, max = -INFINITY, sum = 0, squares = 0;

    for (unsigned i = 0; i < HIL_METRICS_BLOCKS; i++) {
        const struct hil_block *b = &m->blocks[i];
        if (b->count == 0 || b->index < newest || b->index >= newest + LAST_NS / HIL_BLOCK_NS)
            continue;
        count += b->count;
        min = fmin(min, b->min);
        max = fmax(max, b->max);
        sum += b->sum;
        squares += b->sum_squares;
    }
    double n = (double)count, mean = sum / n;
    r->mean_v = m->reference_v + mean;
    r->pp_v = max - min;
    r->rms_deviation_v = sqrt(fmax(squares / n - mean * mean, 0));
}

void hil_metrics_results(const struct hil_metrics *m, struct hil_results *r)
{
    *r = (struct hil_results){
        .settling_ms = NAN, .mean_v = NAN, .pp_v = NAN, .rms_deviation_v = NAN};
    if (m->count == 0)
        return;
    r->reference_v = m->reference_v;
    r->final_v = m->value_v;
    r->peak_v = m->peak_v;
    r->overshoot_pct = 100 * m->overshoot;
    uint64_t at = m->settled_ns > m->last_change_ns ? m->settled_ns : m->last_change_ns;
    r->settled = !m->outside && at <= m->end_ns - m->end_ns / 10;
    if (r->settled)
        r->settling_ms = (double)(at - m->last_change_ns) * 1e-6;
    last_second(m, r);
}
