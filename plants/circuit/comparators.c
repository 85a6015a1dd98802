#include "comparators.h"

static const struct cir_element *element(const struct cir_stage *s, unsigned i)
{
    return &s->network->netlist->elements[s->network->diodes[i]];
}

static const struct cir_position *position(const struct cir_stage *s, unsigned i)
{
    return &s->network->positions[s->network->diodes[i]];
}

void cir_comparators_find(struct cir_stage *s)
{
    for (unsigned i = 0; i < s->network->diode_count; i++)
        if (cir_is_comparator(element(s, i)))
            s->comparators |= (uint64_t)1 << position(s, i)->device;
}

void cir_comparators_set(struct cir_stage *s, double t_s)
{
    for (unsigned i = 0; s->comparators && i < s->network->diode_count; i++) {
        const struct cir_element *e = element(s, i);
        const struct cir_position *p = position(s, i);
        if (!cir_is_comparator(e))
            continue;
        const struct cir_pwm *unit = &s->units[e->of[1]];
        s->w[p->state] = cir_pwm_level(unit, e->kind == CIR_PEAK, s->inputs, t_s, &s->w[p->other]);
    }
}

bool cir_comparators_act(struct cir_stage *s, double t_s)
{
    bool changed = false;

    for (unsigned i = 0; s->comparators && i < s->network->diode_count; i++) {
        const struct cir_element *e = element(s, i);
        const bool above = s->key >> position(s, i)->device & 1;
        if (!cir_is_comparator(e) || !above)
            continue;
        if (e->kind == CIR_PEAK)
            changed |= cir_pwm_cut(&s->units[e->of[1]], s->inputs, t_s);
        else
            for (unsigned k = 0; k < s->network->netlist->unit_count; k++)
                changed |= cir_pwm_trip(&s->units[k]);
    }
    return changed;
}
