#include "stage.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "comparators.h"
#include "energies.h"
#include "events.h"

/* A test is 0 below this share of the greatest voltage or current. */
#define ROUNDING 1e-12

/* The share that is more than rounding can make of it. */
#define EXACT 1e-7

/* What a period may need in virtual time, where only what never ends is too much, and in real time.
 */
enum { EVENTS_MOST = 200000, MAKES_MOST = 200000, TIMED_EVENTS_MOST = 1000, TIMED_MAKES_MOST = 16 };

static void *allocate(struct cir_stage *s, size_t count, size_t size)
{
    return cir_allocate(&s->blocks, (count + CIR_LANES) * size);
}

static const struct cir_element *element(const struct cir_stage *s, unsigned i)
{
    return &s->network->netlist->elements[i];
}

/* How long a rehearsal may be, in periods of the loop and in time. */
enum { REHEARSED_PERIODS = 2000, REHEARSAL_MS = 100 };

/* --- edges of switches ------------------------------------------------------------------------ */

static bool is_on(const struct cir_gate *gate, const struct cir_element *e, double value,
                  bool before)
{
    const double control = gate->sign * value + gate->offset;

    return control > e->on_above ||
           (before && control >= e->off_below && e->on_above != e->off_below);
}

/* Adds the edge on the straight piece from one point of the source to the next, if there is one. */
static void add_edge(struct cir_wave *edges, const struct cir_gate *gate,
                     const struct cir_element *e, const struct cir_point *from,
                     const struct cir_point *to, bool *on)
{
    const bool after = is_on(gate, e, to->value, *on);
    const double threshold = (after ? e->on_above : e->off_below) - gate->offset;
    const double rise = gate->sign * (to->value - from->value);

    if (after == *on)
        return;
    const double share = fmin(fmax((threshold - gate->sign * from->value) / rise, 0), 1);
    edges->points[edges->count++] =
        (struct cir_point){from->t_s + share * (to->t_s - from->t_s), after};
    *on = after;
}

/* The edges in one period of the source, or in all of it. With a period the edges are those of a
 * later one, as the level at its beginning is that at its end. */
static int find_edges(struct cir_stage *s, struct cir_timer *timer, const struct cir_gate *gate)
{
    const struct cir_element *e = element(s, gate->element);
    const struct cir_wave *wave = &element(s, (unsigned)gate->source)->wave;
    const struct cir_point first = {wave->points[0].t_s, wave->constant};
    bool on = is_on(gate, e, wave->constant, false);

    timer->edges = (struct cir_wave){
        .kind = CIR_PIECES, .constant = on, .delay_s = wave->delay_s, .period_s = wave->period_s};
    timer->edges.points = allocate(s, wave->count + 2, sizeof *timer->edges.points);
    if (!timer->edges.points)
        return -ENOMEM;
    add_edge(&timer->edges, gate, e, &first, &wave->points[0], &on);
    for (unsigned i = 1; i < wave->count; i++)
        add_edge(&timer->edges, gate, e, &wave->points[i - 1], &wave->points[i], &on);
    if (wave->period_s > 0) { /* the value jumps to that of the next period */
        const struct cir_point last = {wave->period_s, wave->points[wave->count - 1].value};
        const struct cir_point next = {wave->period_s, wave->points[0].value};
        add_edge(&timer->edges, gate, e, &last, &next, &on);
    }
    timer->wave = &timer->edges;
    return 0;
}

/* --- timers ----------------------------------------------------------------------------------- */

static void set_bit(struct cir_stage *s, const struct cir_position *p, bool on)
{
    const uint64_t bit = (uint64_t)1 << p->device;

    s->key = on ? s->key | bit : s->key & ~bit;
}

/* Does what is due at the timer's corner. */
static void ring(struct cir_stage *s, struct cir_timer *timer)
{
    double slope;
    const double value = cir_piece(timer->wave, timer->place, &slope);

    if (timer->position->device >= 0) {
        set_bit(s, timer->position, value > 0.5);
        return;
    }
    s->w[timer->position->state] = value;
    s->w[timer->position->other] = slope;
}

/* Sets a timer to an instant: what was last due is done. */
static void wind(struct cir_stage *s, struct cir_timer *timer, double t_s)
{
    const struct cir_wave *wave = timer->wave;
    const double cycles = wave->period_s > 0 ? floor((t_s - wave->delay_s) / wave->period_s) : 0;

    timer->place = -1;
    timer->next_s = INFINITY;
    if (wave->count) {
        if (cycles > 1)
            timer->place = (long long)(cycles - 1) * wave->count - 1;
        while ((timer->next_s = cir_corner_s(wave, (unsigned long long)(timer->place + 1))) <=
               t_s + CIR_SAME_S(t_s))
            timer->place++;
    }
    ring(s, timer);
    if (timer->position->device < 0 && timer->place >= 0) { /* t_s may be within a piece */
        const double since_s = t_s - cir_corner_s(wave, (unsigned long long)timer->place);
        s->w[timer->position->state] += since_s * s->w[timer->position->other];
    }
}

/* The switch that an input or a PWM unit turns, or that stands. */
static void set_switch(struct cir_stage *s, const struct cir_gate *gate)
{
    const struct cir_element *e = element(s, gate->element);
    const struct cir_position *p = &s->network->positions[gate->element];
    double value = 0;

    if (gate->source != CIR_NOWHERE) {
        const struct cir_wave *wave = &element(s, (unsigned)gate->source)->wave;
        value = wave->kind == CIR_PWM ? cir_pwm_is_on(&s->units[wave->input], wave->gate)
                                      : s->inputs[wave->input];
    }
    set_bit(s, p, is_on(gate, e, value, s->key >> p->device & 1));
}

static bool is_timed(const struct cir_stage *s, const struct cir_gate *gate)
{
    return gate->source != CIR_NOWHERE &&
           element(s, (unsigned)gate->source)->wave.kind == CIR_PIECES;
}

/* The switches that no source of the netlist turns. */
static void set_switches(struct cir_stage *s)
{
    for (unsigned i = 0; i < s->network->gate_count; i++)
        if (!is_timed(s, &s->network->gates[i]))
            set_switch(s, &s->network->gates[i]);
}

static int make_timers(struct cir_stage *s)
{
    const struct cir_network *n = s->network;
    int rc = 0;

    s->timers = allocate(s, n->gate_count + n->ramp_count, sizeof *s->timers);
    if (!s->timers)
        return -ENOMEM;
    for (unsigned i = 0; !rc && i < n->gate_count; i++)
        if (is_timed(s, &n->gates[i])) {
            s->timers[s->timer_count].position = &n->positions[n->gates[i].element];
            rc = find_edges(s, &s->timers[s->timer_count++], &n->gates[i]);
        }
    for (unsigned i = 0; !rc && i < n->netlist->element_count; i++)
        if (n->positions[i].other >= 0 && element(s, i)->wave.kind == CIR_PIECES)
            s->timers[s->timer_count++] =
                (struct cir_timer){.position = &n->positions[i], .wave = &element(s, i)->wave};
    return rc;
}

/* --- sources ---------------------------------------------------------------------------------- */

/* A sine stands still before its delay, with all of its value in the offset. */
static void set_sine(struct cir_stage *s, const struct cir_wave *wave, const struct cir_position *p,
                     double t_s)
{
    double *state = &s->w[p->state];

    s->w[p->other] = wave->constant;
    if (t_s >= wave->delay_s - CIR_SAME_S(t_s)) {
        cir_sine_state(wave, t_s, state);
        return;
    }
    cir_sine_state(wave, wave->delay_s, state);
    s->w[p->other] += wave->amplitude * state[0];
    state[0] = state[1] = 0;
}

/* The sines are set anew in each period, so that their rounding does not add up. */
static void set_sources(struct cir_stage *s, const double *inputs)
{
    const struct cir_network *n = s->network;

    for (unsigned i = 0; i < n->netlist->element_count; i++) {
        const struct cir_element *e = element(s, i);
        const struct cir_position *p = &n->positions[i];
        if (!cir_is_source(e) || n->is_gate[i])
            continue;
        if (e->wave.kind == CIR_CONSTANT)
            s->w[p->state] = e->wave.constant;
        if (e->wave.kind == CIR_EXTERNAL)
            s->w[p->state] = inputs[e->wave.input];
        if (e->wave.kind == CIR_SINE)
            set_sine(s, &e->wave, p, s->start_s);
    }
}

/* The next instant in the period at which a sine begins; infinity: none does. */
static double next_sine_s(const struct cir_stage *s)
{
    const struct cir_network *n = s->network;
    double next_s = INFINITY;

    for (unsigned i = 0; n->sine_count && i < n->netlist->element_count; i++) {
        const struct cir_element *e = element(s, i);
        if (cir_is_source(e) && e->wave.kind == CIR_SINE &&
            e->wave.delay_s > s->start_s + s->at_s + CIR_SAME_S(s->start_s))
            next_s = fmin(next_s, e->wave.delay_s);
    }
    return next_s;
}

static void begin_sines(struct cir_stage *s, double t_s)
{
    const struct cir_network *n = s->network;

    for (unsigned i = 0; n->sine_count && i < n->netlist->element_count; i++) {
        const struct cir_element *e = element(s, i);
        if (cir_is_source(e) && e->wave.kind == CIR_SINE &&
            fabs(e->wave.delay_s - t_s) <= CIR_SAME_S(t_s))
            set_sine(s, &e->wave, &n->positions[i], t_s);
    }
}

static void set_tolerance(struct cir_stage *s)
{
    const struct cir_network *n = s->network;
    double greatest = 1;

    for (unsigned i = 0; i < n->state_count; i++)
        greatest = fmax(greatest, fabs(s->w[i]));
    for (unsigned i = n->moving_count + n->ramp_count; i < n->w_count; i++)
        greatest = fmax(greatest, fabs(s->w[i]));
    s->tolerance = ROUNDING * greatest;
    s->widest = EXACT * greatest;
}

/* --- the stage -------------------------------------------------------------------------------- */

static unsigned unit_count(const struct cir_stage *s)
{
    return s->network->netlist->unit_count;
}

static void set_initial(struct cir_stage *s)
{
    const struct cir_network *n = s->network;

    for (unsigned i = 0; i < n->netlist->element_count; i++)
        if (n->positions[i].state >= 0 && !cir_is_source(element(s, i)))
            s->w[n->positions[i].state] = element(s, i)->initial;
    s->w[n->one] = 1;
}

static int begin(struct cir_stage *s, const double *inputs, const struct cir_said *said)
{
    cir_comparators_find(s);
    set_initial(s);
    for (unsigned i = 0; i < s->timer_count; i++)
        wind(s, &s->timers[i], 0);
    for (unsigned i = 0; i < unit_count(s); i++)
        cir_pwm_begin(&s->units[i], &s->network->netlist->units[i], inputs);
    if (cir_stage_latch(s, inputs) == 0)
        return 0;
    return cir_say_singular(&s->pool.maker, said);
}

int cir_stage_rewind(struct cir_stage *s, const double *inputs, const struct cir_said *said)
{
    memset(s->w, 0, s->network->w_count * sizeof *s->w);
    s->start_s = s->at_s = 0;
    s->key = 0;
    s->now = NULL;
    return begin(s, inputs, said);
}

static int allocate_vectors(struct cir_stage *s)
{
    const struct cir_maker *m = &s->pool.maker;

    s->w = allocate(s, s->network->w_count, sizeof(double));
    s->trial = allocate(s, s->network->w_count, sizeof(double));
    s->change = allocate(s, m->moving_rows, sizeof(double));
    s->tests = allocate(s, m->test_rows, sizeof(double));
    s->trial_tests = allocate(s, m->test_rows, sizeof(double));
    s->floors = allocate(s, m->test_rows, sizeof(double));
    s->outputs = allocate(s, m->output_rows, sizeof(double));
    for (unsigned i = 0; i < 3; i++)
        s->course[i] = allocate(s, m->moving_rows, sizeof(double));
    s->powers[0] = allocate(s, m->power_rows, sizeof(double));
    s->powers[1] = allocate(s, m->power_rows, sizeof(double));
    s->energies = allocate(s, m->power_count, sizeof(double));
    s->units = allocate(s, unit_count(s), sizeof *s->units);
    return s->w && s->trial && s->change && s->tests && s->trial_tests && s->floors && s->outputs &&
                   s->course[0] && s->course[1] && s->course[2] && s->units && s->powers[0] &&
                   s->powers[1] && s->energies
               ? 0
               : -ENOMEM;
}

int cir_stage_open(struct cir_stage *s, const struct cir_network *network,
                   const struct cir_probe *probes, unsigned probe_count, double period_s,
                   const double *inputs, const struct cir_said *said)
{
    *s = (struct cir_stage){
        .network = network, .events_most = EVENTS_MOST, .makes_most = MAKES_MOST};
    int rc = cir_pool_open(&s->pool, network, probes, probe_count, period_s);
    if (rc)
        return cir_say_no_memory(said);
    rc = allocate_vectors(s);
    if (!rc)
        rc = make_timers(s);
    rc = rc ? cir_say_no_memory(said) : begin(s, inputs, said);
    if (rc)
        cir_stage_close(s);
    return rc;
}

void cir_stage_close(struct cir_stage *s)
{
    cir_pool_close(&s->pool);
    cir_free_all(&s->blocks);
}

/* Does all that is due in the units at an instant. */
static void ring_units(struct cir_stage *s, double t_s)
{
    for (unsigned i = 0; i < unit_count(s); i++)
        while (cir_pwm_next_s(&s->units[i]) <= t_s + CIR_SAME_S(t_s))
            cir_pwm_ring(&s->units[i], s->inputs, t_s);
}

/* --- a period --------------------------------------------------------------------------------- */

static bool act(struct cir_stage *s, double t_s)
{
    const bool changed = cir_comparators_act(s, t_s);

    if (changed)
        set_switches(s);
    return changed;
}

/* Finds what conducts after an event. Each round of comparators turns gates off, so they end. */
static int settle(struct cir_stage *s, double t_s)
{
    const bool is_first = !s->now;
    const uint64_t before = is_first ? 0 : s->now->key;
    int rc;

    cir_energies_before(s);
    memcpy(s->trial, s->w, s->network->w_count * sizeof *s->w);
    do
        rc = cir_resolve(s, 0);
    while (!rc && act(s, t_s));
    if (!rc && !is_first)
        cir_energies_after(s, before);
    s->compared = false;
    return rc;
}

int cir_stage_latch(struct cir_stage *s, const double *inputs)
{
    s->inputs = inputs;
    set_sources(s, inputs);
    for (unsigned i = 0; i < unit_count(s); i++)
        cir_pwm_latch(&s->units[i], inputs, s->start_s);
    ring_units(s, s->start_s);
    set_switches(s);
    cir_comparators_set(s, s->start_s);
    set_tolerance(s);
    s->at_s = 0;
    s->events = s->unresolved = 0;
    s->trials = 0;
    s->made = s->pool.count;
    memset(s->energies, 0, s->pool.maker.power_count * sizeof *s->energies);
    return settle(s, s->start_s);
}

/* Does all that is due at an instant. */
static void ring_all(struct cir_stage *s, double t_s)
{

    for (unsigned i = 0; i < s->timer_count; i++) {
        struct cir_timer *timer = &s->timers[i];
        while (timer->next_s <= t_s + CIR_SAME_S(t_s)) {
            timer->place++;
            timer->next_s = cir_corner_s(timer->wave, (unsigned long long)(timer->place + 1));
            ring(s, timer);
        }
    }
    if (unit_count(s)) {
        ring_units(s, t_s);
        set_switches(s);
        cir_comparators_set(s, t_s);
    }
}

/* There are too many events: the others of the period all act at its end. */
static int give_up(struct cir_stage *s)
{
    const double period_s = s->pool.maker.period_s, end_s = s->start_s + period_s;
    const int rc = cir_hold_on(s, period_s);

    ring_all(s, end_s - 2 * CIR_SAME_S(end_s));
    s->at_s = period_s;
    return rc ? rc : settle(s, end_s);
}

/* What is due at the end of the period is done at the beginning of the next: a sample on an edge
 * shows what was before it. */
int cir_stage_advance(struct cir_stage *s)
{
    const double period_s = s->pool.maker.period_s, same_s = CIR_SAME_S(s->start_s + period_s);
    int rc = 0;

    while (!rc && s->at_s < period_s) {
        double next_s = next_sine_s(s);
        for (unsigned i = 0; i < s->timer_count; i++)
            next_s = fmin(next_s, s->timers[i].next_s);
        for (unsigned i = 0; i < unit_count(s); i++)
            next_s = fmin(next_s, cir_pwm_next_s(&s->units[i]));
        const double target_s = fmax(next_s - s->start_s, 0);
        if (s->events++ >= s->events_most)
            return give_up(s);
        const bool is_last = target_s >= period_s - same_s;
        rc = cir_advance_to(s, is_last ? period_s : target_s);
        if (!rc && s->compared) {
            next_s = s->start_s + s->at_s;
        } else if (!rc && !is_last) {
            begin_sines(s, next_s);
            ring_all(s, next_s);
        }
        if (!rc && (s->compared || !is_last))
            rc = s->compared && !act(s, next_s) ? 0 : settle(s, next_s);
        s->compared = false;
    }
    return rc;
}

/* --- real time -------------------------------------------------------------------------------- */

/* Runs from the present instant on, so that what is met then is made. */
static void rehearse(struct cir_stage *s, const double *inputs)
{
    const clock_t end = clock() + REHEARSAL_MS * (CLOCKS_PER_SEC / 1000);
    const double from_s = s->start_s;
    int rc = 0;

    for (unsigned n = 0; !rc && n < REHEARSED_PERIODS && clock() < end; n++) {
        s->start_s = from_s + n * s->pool.maker.period_s;
        rc = cir_stage_latch(s, inputs);
        if (!rc)
            rc = cir_stage_advance(s);
    }
}

void cir_stage_prepare(struct cir_stage *s)
{
    const int64_t size = cir_stage_save(s, NULL, 0);
    void *state = malloc((size_t)size);

    cir_pool_fill(&s->pool);
    if (state && s->network->gate_count + s->network->diode_count > CIR_FILLED) {
        cir_stage_save(s, state, (size_t)size);
        rehearse(s, s->inputs);
        cir_stage_restore(s, state, (size_t)size);
    }
    free(state);
    s->events_most = TIMED_EVENTS_MOST;
    s->makes_most = TIMED_MAKES_MOST;
}

void cir_stage_continue(struct cir_stage *s, const struct cir_stage *from)
{
    memcpy(s->w, from->w, s->network->state_count * sizeof *s->w);
    s->key = from->key;
    s->start_s = from->start_s;
    s->at_s = from->at_s;
    for (unsigned i = 0; i < unit_count(s); i++) {
        s->units[i] = from->units[i];
        s->units[i].line = &s->network->netlist->units[i];
    }
    for (unsigned i = 0; i < s->timer_count; i++)
        wind(s, &s->timers[i], from->start_s + from->at_s);
}

void cir_stage_output(const struct cir_stage *s)
{
    const struct cir_maker *m = &s->pool.maker;

    unsigned power = 0;

    cir_apply(s->outputs, s->now->outputs, m->output_rows, s->network->w_count, s->w);
    for (unsigned i = 0; power < m->power_count; i++)
        if (m->probes[i].is_power)
            s->outputs[i] = s->energies[power++] / m->period_s;
}

/* --- saved states ----------------------------------------------------------------------------- */

/* Then come w, the timers and the PWM units. */
struct saved {
    uint64_t key;
    double start_s, at_s;
};

struct saved_timer {
    long long place;
    double next_s;
};

static size_t saved_bytes(const struct cir_stage *s)
{
    return sizeof(struct saved) + s->network->w_count * sizeof *s->w +
           s->timer_count * sizeof(struct saved_timer) + unit_count(s) * sizeof *s->units;
}

int64_t cir_stage_save(const struct cir_stage *s, void *bytes, size_t size)
{
    const struct saved saved = {s->key, s->start_s, s->at_s};
    char *to = bytes;

    if (size < saved_bytes(s))
        return (int64_t)saved_bytes(s);
    memcpy(to, &saved, sizeof saved);
    to += sizeof saved;
    memcpy(to, s->w, s->network->w_count * sizeof *s->w);
    to += s->network->w_count * sizeof *s->w;
    for (unsigned i = 0; i < s->timer_count; i++) {
        const struct saved_timer timer = {s->timers[i].place, s->timers[i].next_s};
        memcpy(to, &timer, sizeof timer);
        to += sizeof timer;
    }
    for (unsigned i = 0; i < unit_count(s); i++) { /* a pointer is no state */
        struct cir_pwm unit = s->units[i];
        unit.line = NULL;
        memcpy(to + i * sizeof unit, &unit, sizeof unit);
    }
    return (int64_t)saved_bytes(s);
}

int cir_stage_restore(struct cir_stage *s, const void *bytes, size_t size)
{
    const char *from = bytes;
    struct saved saved;

    if (size != saved_bytes(s))
        return -EINVAL;
    memcpy(&saved, from, sizeof saved);
    from += sizeof saved;
    s->key = saved.key;
    s->start_s = saved.start_s;
    s->at_s = saved.at_s;
    memcpy(s->w, from, s->network->w_count * sizeof *s->w);
    memcpy(s->trial, s->w, s->network->w_count * sizeof *s->w);
    from += s->network->w_count * sizeof *s->w;
    for (unsigned i = 0; i < s->timer_count; i++) {
        struct saved_timer timer;
        memcpy(&timer, from, sizeof timer);
        from += sizeof timer;
        s->timers[i].place = timer.place;
        s->timers[i].next_s = timer.next_s;
    }
    for (unsigned i = 0; i < unit_count(s); i++) {
        memcpy(&s->units[i], from + i * sizeof *s->units, sizeof *s->units);
        s->units[i].line = &s->network->netlist->units[i];
    }
    s->now = cir_pool_get(&s->pool, s->key, NULL);
    return s->now ? 0 : -EINVAL;
}
