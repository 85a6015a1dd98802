#include "energies.h"

#include <math.h>

static void apply(const struct cir_stage *s, double *to, const double *w)
{
    const struct cir_maker *m = &s->pool.maker;

    cir_apply(to, s->now->powers, m->power_rows, m->network->w_count, w);
}

/* Adds the energies of the way to the trial: Simpson's rule, with a cubic's values in the middle.
 */
void cir_energies_add(struct cir_stage *s, double length_s)
{
    const struct cir_maker *m = &s->pool.maker;
    const unsigned count = 2 * m->power_count;
    double *const from = s->powers[0], *const to = s->powers[1];

    if (!count)
        return;
    apply(s, from, s->w);
    apply(s, to, s->trial);
    for (unsigned i = 0; i < count; i += 2) {
        double middle[2];
        for (unsigned k = 0; k < 2; k++)
            middle[k] = (from[i + k] + to[i + k]) / 2 +
                        length_s / 8 * (from[count + i + k] - to[count + i + k]);
        s->energies[i / 2] +=
            length_s / 6 * (from[i] * from[i + 1] + 4 * middle[0] * middle[1] + to[i] * to[i + 1]);
    }
}

/* Straight lines between the points, and beyond the last. */
static double joules_of(const struct cir_loss_line *l, bool on, double amperes)
{
    const double *x = l->amperes[on], *y = l->joules[on];
    unsigned i = 0;

    while (i + 2 < l->count[on] && amperes > x[i + 1])
        i++;
    return fmax(y[i] + (amperes - x[i]) * (y[i + 1] - y[i]) / (x[i + 1] - x[i]), 0);
}

void cir_energies_before(struct cir_stage *s)
{
    if (s->pool.maker.power_count && s->now)
        apply(s, s->powers[0], s->w);
}

/* A switch that turns on takes the voltage before and the current after, and one that turns off the
 * current before and the voltage after. */
void cir_energies_after(struct cir_stage *s, uint64_t key_before)
{
    const struct cir_maker *m = &s->pool.maker;
    unsigned power = 0;

    if (!m->power_count)
        return;
    apply(s, s->powers[1], s->w);
    for (unsigned i = 0; i < m->probe_count; i++) {
        const struct cir_probe *p = &m->probes[i];
        if (!p->is_power)
            continue;
        const int bit = m->network->positions[p->element].device;
        const unsigned at = 2 * power++;
        if (!p->losses || ((key_before ^ s->key) >> bit & 1) == 0)
            continue;
        const bool on = s->key >> bit & 1;
        const double volts = fabs(s->powers[!on][at]), amperes = fabs(s->powers[on][at + 1]);
        s->energies[power - 1] += joules_of(p->losses, on, amperes) * volts / p->losses->volts;
    }
}
