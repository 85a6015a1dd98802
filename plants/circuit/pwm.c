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

static void blank(struct cir_pwm *p, const double *inputs)
{
    const bool has_peak =
        p->line->input[CIR_PEAK_LEVEL] >= 0 || !isnan(p->line->value[CIR_PEAK_LEVEL]);

    if (has_peak)
        p->blank_end_s = p->start_s + fmax(quantity(p, CIR_BLANKING, inputs), 0);
}

static void begin_segment(struct cir_pwm *p, const double *inputs, double t_s)
{
    p->start_s += p->length_s;
    p->second = p->line->centred && !p->second;
    if (!p->second)
        take_period(p, inputs);
    if (!p->second || p->line->twice)
        p->duty = quantity(p, CIR_DUTY, inputs);
    blank(p, inputs);
    set_raw(p, first_level(p), inputs, t_s);
}

void cir_pwm_begin(struct cir_pwm *p, const struct cir_pwm_line *line, const double *inputs)
{
    *p = (struct cir_pwm){.line = line,
                          .length_s = INFINITY,
                          .edge_s = INFINITY,
                          .blank_end_s = INFINITY,
                          .on_s = INFINITY,
                          .off_s = INFINITY};
    p->enabled = quantity(p, CIR_ENABLE, inputs) >= 0.5;
    if (line->stamped)
        return;
    p->phase = quantity(p, CIR_PHASE, inputs);
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
    blank(p, inputs);
    p->raw = first_level(p);
    if (p->edge_s <= CIR_SAME_S(0)) {
        p->edge_s = INFINITY;
        p->raw = !p->raw;
    }
}

/* The stamps of the loop's period that begins; what was due at its beginning is done. */
static void take_stamps(struct cir_pwm *p, const double *inputs, double t_s)
{
    const double on_s = quantity(p, CIR_ON, inputs), off_s = quantity(p, CIR_OFF, inputs);

    cir_pwm_ring(p, inputs, t_s);
    p->on_s = on_s >= 0 ? t_s + on_s : INFINITY;
    p->off_s = off_s >= 0 ? t_s + off_s : INFINITY;
}

void cir_pwm_latch(struct cir_pwm *p, const double *inputs, double t_s)
{
    const bool enabled = quantity(p, CIR_ENABLE, inputs) >= 0.5;

    if (p->line->stamped)
        take_stamps(p, inputs, t_s);
    if (enabled && !p->enabled) { /* as after an edge */
        p->tripped = false;
        p->raw = !p->raw;
        set_raw(p, !p->raw, inputs, t_s);
    }
    p->enabled = enabled;
}

double cir_pwm_next_s(const struct cir_pwm *p)
{
    const double next_s = fmin(fmin(p->start_s + p->length_s, p->edge_s),
                               fmin(p->blank_end_s, fmin(p->on_s, p->off_s)));

    return p->waiting ? fmin(next_s, p->dead_end_s) : next_s;
}

void cir_pwm_ring(struct cir_pwm *p, const double *inputs, double t_s)
{
    const double due_s = t_s + CIR_SAME_S(t_s);

    if (p->on_s <= due_s) {
        p->on_s = INFINITY;
        set_raw(p, true, inputs, t_s);
    }
    if (p->off_s <= due_s) {
        p->off_s = INFINITY;
        set_raw(p, false, inputs, t_s);
    }
    if (p->blank_end_s <= due_s)
        p->blank_end_s = INFINITY;
    if (p->edge_s <= due_s) {
        p->edge_s = INFINITY;
        set_raw(p, !p->raw, inputs, t_s);
    }
    if (p->start_s + p->length_s <= due_s)
        begin_segment(p, inputs, t_s);
    if (p->waiting && p->dead_end_s <= due_s)
        p->waiting = false;
}

double cir_pwm_level(const struct cir_pwm *p, bool peak, const double *inputs, double t_s,
                     double *slope)
{
    *slope = peak ? -quantity(p, CIR_SLOPE, inputs) : 0;
    if (!peak)
        return quantity(p, CIR_TRIP_LEVEL, inputs);
    return quantity(p, CIR_PEAK_LEVEL, inputs) + *slope * (t_s - p->start_s);
}

bool cir_pwm_cut(struct cir_pwm *p, const double *inputs, double t_s)
{
    if (!p->raw || p->blank_end_s < INFINITY)
        return false;
    p->edge_s = INFINITY;
    set_raw(p, false, inputs, t_s);
    return true;
}

bool cir_pwm_trip(struct cir_pwm *p)
{
    const bool was_on = p->enabled && !p->tripped;

    p->tripped = true;
    return was_on;
}

bool cir_pwm_is_on(const struct cir_pwm *p, unsigned gate)
{
    return p->enabled && !p->tripped && !p->waiting && p->raw == (gate == 0);
}
