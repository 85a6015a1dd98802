#include "pwm.h"

#include <math.h>

#include "wave.h"

static double quantity(const struct cir_pwm *p, enum cir_pwm_quantity q, const double *inputs)
{
    return p->line->input[q] < 0 ? p->line->value[q] : inputs[p->line->input[q]];
}

/* Turns one gate off at once, and the other on after the dead time. */
static void set_raw(struct cir_pwm *p, bool raw, const double *inputs, double t_s)
{
    if (raw == p->raw)
        return;
    p->raw = raw;
    p->dead_end_s = t_s + fmax(quantity(p, CIR_DEAD_TIME, inputs), 0);
    p->waiting = p->dead_end_s > t_s + CIR_SAME_S(t_s);
}

/* The level at the beginning of the half or period that begins, and the edge within it. */
static bool first_level(struct cir_pwm *p)
{
    const double duty = p->duty;
    const bool has_edge = duty > 0 && duty < 1;

    p->edge_s = INFINITY;
    if (!p->line->centred || p->second) {
        if (has_edge)
            p->edge_s = p->start_s + duty * p->length_s;
        return duty > 0;
    }
    if (has_edge)
        p->edge_s = p->start_s + (1 - duty) * p->length_s;
    return duty >= 1;
}

/* How much longer a period of this phase is than one of the phase before, as a share. */
static double phase_change(const struct cir_pwm *p, double phase)
{
    const double change = phase - p->phase;

    return change - round(change);
}

static void take_period(struct cir_pwm *p, const double *inputs)
{
    const double phase = quantity(p, CIR_PHASE, inputs);
    const double whole_s = (1 + phase_change(p, phase)) / quantity(p, CIR_FREQUENCY, inputs);

    p->phase = phase;
    p->length_s = p->line->centred ? whole_s / 2 : whole_s;
}

static void begin_segment(struct cir_pwm *p, const double *inputs, double t_s)
{
    p->start_s += p->length_s;
    p->second = p->line->centred && !p->second;
    if (!p->second)
        take_period(p, inputs);
    if (!p->second || p->line->twice)
        p->duty = quantity(p, CIR_DUTY, inputs);
    set_raw(p, first_level(p), inputs, t_s);
}

void cir_pwm_begin(struct cir_pwm *p, const struct cir_pwm_line *line, const double *inputs)
{
    *p = (struct cir_pwm){.line = line, .edge_s = INFINITY};
    p->phase = quantity(p, CIR_PHASE, inputs);
    p->enabled = quantity(p, CIR_ENABLE, inputs) >= 0.5;
    p->duty = quantity(p, CIR_DUTY, inputs);
    take_period(p, inputs);
    /* At t = 0 the carrier is in the period that began `phase` periods after some other. */
    const double since = 1 - p->phase - floor(1 - p->phase);
    const double whole_s = p->line->centred ? 2 * p->length_s : p->length_s;
    p->start_s = -since * whole_s;
    if (p->line->centred && p->start_s + p->length_s <= CIR_SAME_S(0)) {
        p->start_s += p->length_s;
        p->second = true;
    }
    p->raw = first_level(p);
    if (p->edge_s <= CIR_SAME_S(0)) {
        p->edge_s = INFINITY;
        p->raw = !p->raw;
    }
}

void cir_pwm_latch(struct cir_pwm *p, const double *inputs, double t_s)
{
    const bool enabled = quantity(p, CIR_ENABLE, inputs) >= 0.5;

    if (enabled && !p->enabled) { /* as after an edge */
        p->raw = !p->raw;
        set_raw(p, !p->raw, inputs, t_s);
    }
    p->enabled = enabled;
}

double cir_pwm_next_s(const struct cir_pwm *p)
{
    const double next_s = fmin(p->start_s + p->length_s, p->edge_s);

    return p->waiting ? fmin(next_s, p->dead_end_s) : next_s;
}

void cir_pwm_ring(struct cir_pwm *p, const double *inputs, double t_s)
{
    const double due_s = t_s + CIR_SAME_S(t_s);

    if (p->edge_s <= due_s) {
        p->edge_s = INFINITY;
        set_raw(p, !p->raw, inputs, t_s);
    }
    if (p->start_s + p->length_s <= due_s)
        begin_segment(p, inputs, t_s);
    if (p->waiting && p->dead_end_s <= due_s)
        p->waiting = false;
}

bool cir_pwm_is_on(const struct cir_pwm *p, unsigned gate)
{
    return p->enabled && !p->waiting && p->raw == (gate == 0);
}
