#include "configuration.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "modes.h"

enum { SERIES_TERMS = 14 };

static unsigned padded(unsigned rows)
{
    return (rows + CIR_LANES - 1) / CIR_LANES * CIR_LANES;
}

/* --- memory ----------------------------------------------------------------------------------- */

static void *allocate(struct cir_maker *m, size_t count, size_t size)
{
    return cir_allocate(&m->blocks, (count + 1) * size);
}

int cir_maker_open(struct cir_maker *m, const struct cir_network *network,
                   const struct cir_probe *probes, unsigned probe_count, double period_s)
{
    const size_t unknowns = network->unknown_count, w = network->w_count;
    const size_t states = network->state_count;

    *m = (struct cir_maker){.network = network,
                            .probes = probes,
                            .probe_count = probe_count,
                            .period_s = period_s,
                            .moving_rows = padded(network->moving_count),
                            .test_rows = padded(2 * network->diode_count),
                            .output_rows = padded(probe_count),
                            .factors.n = network->unknown_count};
    for (unsigned i = 0; i < probe_count; i++)
        m->power_count += probes[i].is_power;
    m->power_rows = padded(4 * m->power_count);
    do
        m->rung_s[m->rung_count] = ldexp(period_s, -(int)m->rung_count);
    while (m->rung_s[m->rung_count++] > CIR_SHORTEST_S && m->rung_count < CIR_RUNGS_MAX);
    m->factors.a = allocate(m, unknowns * unknowns, sizeof(double));
    m->factors.row_scale = allocate(m, unknowns, sizeof(double));
    m->factors.column_scale = allocate(m, unknowns, sizeof(double));
    m->factors.scratch = allocate(m, unknowns, sizeof(double));
    m->factors.row = allocate(m, unknowns, sizeof(unsigned));
    m->factors.column = allocate(m, unknowns, sizeof(unsigned));
    m->solutions = allocate(m, (unknowns + 1) * w, sizeof(double));
    m->rates = allocate(m, w * w, sizeof(double));
    m->tests = allocate(m, (network->diode_count + 1) * w, sizeof(double));
    m->powers = allocate(m, (2 * m->power_count + 1) * w, sizeof(double));
    m->power = allocate(m, w * w, sizeof(double));
    m->term = allocate(m, w * w, sizeof(double));
    m->product = allocate(m, w * w, sizeof(double));
    m->modes = allocate(m, states * states, sizeof *m->modes);
    m->mode_work = allocate(m, 2 * states, sizeof *m->mode_work);
    if (m->factors.a && m->factors.row_scale && m->factors.column_scale && m->factors.scratch &&
        m->factors.row && m->factors.column && m->solutions && m->rates && m->tests && m->powers &&
        m->power && m->term && m->product && m->modes && m->mode_work)
        return 0;
    cir_maker_close(m);
    return -ENOMEM;
}

void cir_maker_close(struct cir_maker *m)
{
    cir_free_all(&m->blocks);
}

size_t cir_configuration_numbers(const struct cir_maker *m)
{
    return ((size_t)m->rung_count * m->moving_rows + m->test_rows + m->output_rows +
            m->power_rows) *
           m->network->w_count;
}

/* --- the static network ----------------------------------------------------------------------- */

static bool conducts(const struct cir_configuration *c, const struct cir_position *p)
{
    return c->key >> p->device & 1;
}

static double conductance(const struct cir_configuration *c, const struct cir_element *e,
                          const struct cir_position *p)
{
    if (e->kind == CIR_RESISTOR)
        return 1 / e->value;
    return 1 / (conducts(c, p) ? e->ron : e->roff);
}

/* Adds to the entry at two unknowns, unless one of them is nowhere. */
static void stamp(struct cir_maker *m, int row, int column, double value)
{
    if (row >= 0 && column >= 0)
        m->factors.a[(unsigned)row * m->factors.n + (unsigned)column] += value;
}

/* A current of value * (voltage between `from` and `to`) flows from node[0] to node[1]. */
static void stamp_conductance(struct cir_maker *m, const int node[2], const int control[2],
                              double value)
{
    for (unsigned i = 0; i < 2; i++)
        for (unsigned k = 0; k < 2; k++)
            stamp(m, node[i], control[k], i == k ? value : -value);
}

/* The current of a branch flows from node[0] to node[1]. */
static void stamp_current(struct cir_maker *m, const int node[2], int branch, double value)
{
    stamp(m, node[0], branch, value);
    stamp(m, node[1], branch, -value);
}

static void stamp_element(struct cir_maker *m, const struct cir_configuration *c, unsigned i)
{
    const struct cir_network *n = m->network;
    const struct cir_element *e = &n->netlist->elements[i];
    const struct cir_position *p = &n->positions[i];
    const int node[] = {n->unknown_of_node[e->node[0]], n->unknown_of_node[e->node[1]]};
    const int control[] = {n->unknown_of_node[e->node[2]], n->unknown_of_node[e->node[3]]};

    if (e->kind == CIR_RESISTOR || e->kind == CIR_SWITCH || e->kind == CIR_DIODE)
        stamp_conductance(m, node, node, conductance(c, e, p));
    if (e->kind == CIR_VCCS)
        stamp_conductance(m, node, control, e->value);
    if (e->kind == CIR_CCCS)
        stamp_current(m, node, n->positions[e->of[0]].branch, e->value);
    if (p->branch < 0)
        return;
    stamp_current(m, node, p->branch, 1);
    stamp(m, p->branch, node[0], 1);
    stamp(m, p->branch, node[1], -1);
    if (e->kind == CIR_VCVS) {
        stamp(m, p->branch, control[0], -e->value);
        stamp(m, p->branch, control[1], e->value);
    }
    if (e->kind == CIR_CCVS)
        stamp(m, p->branch, n->positions[e->of[0]].branch, -e->value);
}

/* Adds to the right-hand side of an unknown's equation. */
static void drive(struct cir_maker *m, int row, int of_w, double value)
{
    if (row >= 0 && of_w >= 0)
        m->solutions[(size_t)of_w * m->factors.n + (unsigned)row] += value;
}

static void drive_current(struct cir_maker *m, const int node[2], int of_w, double value)
{
    drive(m, node[0], of_w, -value);
    drive(m, node[1], of_w, value);
}

/* The current of a conducting diode is (v - vf) / ron: a conductance, and a constant. */
static void drive_element(struct cir_maker *m, const struct cir_configuration *c, unsigned i)
{
    const struct cir_network *n = m->network;
    const struct cir_element *e = &n->netlist->elements[i];
    const struct cir_position *p = &n->positions[i];
    const int node[] = {n->unknown_of_node[e->node[0]], n->unknown_of_node[e->node[1]]};
    const double size = cir_is_source(e) && e->wave.kind == CIR_SINE ? e->wave.amplitude : 1;

    if (e->kind == CIR_DIODE && conducts(c, p))
        drive_current(m, node, (int)n->one, -e->vf / e->ron);
    if (e->kind == CIR_CAPACITOR)
        drive(m, p->branch, p->state, 1);
    if (e->kind == CIR_INDUCTOR)
        drive_current(m, node, p->state, 1);
    if (e->kind == CIR_VOLTAGE_SOURCE)
        drive(m, p->branch, p->state, size);
    if (e->kind == CIR_CURRENT_SOURCE)
        drive_current(m, node, p->state, size);
    if (cir_is_source(e) && e->wave.kind == CIR_SINE) {
        if (e->kind == CIR_VOLTAGE_SOURCE)
            drive(m, p->branch, p->other, 1);
        else
            drive_current(m, node, p->other, 1);
    }
}

static bool solve_network(struct cir_maker *m, const struct cir_configuration *c)
{
    const struct cir_network *n = m->network;
    const size_t unknowns = n->unknown_count;

    memset(m->factors.a, 0, unknowns * unknowns * sizeof(double));
    memset(m->solutions, 0, unknowns * n->w_count * sizeof(double));
    for (unsigned i = 0; i < n->netlist->element_count; i++)
        if (!n->is_gate[i]) {
            stamp_element(m, c, i);
            drive_element(m, c, i);
        }
    cir_factor(&m->factors);
    if (m->factors.rank < m->factors.n)
        return false;
    for (unsigned k = 0; k < n->w_count; k++)
        cir_solve(&m->factors, &m->solutions[k * unknowns]);
    return true;
}

/* --- rows over w ------------------------------------------------------------------------------ */

/* row += factor * the unknown. */
static void add_unknown(const struct cir_maker *m, double *row, int unknown, double factor)
{
    for (unsigned k = 0; unknown >= 0 && k < m->network->w_count; k++)
        row[k] += factor * m->solutions[(size_t)k * m->factors.n + (unsigned)unknown];
}

static void add_voltage(const struct cir_maker *m, double *row, const unsigned node[2],
                        double factor)
{
    const int *unknown = m->network->unknown_of_node;

    add_unknown(m, row, unknown[node[0]], factor);
    add_unknown(m, row, unknown[node[1]], -factor);
}

/* row += the current from the element's first node through it to its second. */
static void add_current(const struct cir_maker *m, const struct cir_configuration *c, double *row,
                        unsigned element)
{
    const struct cir_network *n = m->network;
    const struct cir_element *e = &n->netlist->elements[element];
    const struct cir_position *p = &n->positions[element];

    if (p->branch >= 0)
        add_unknown(m, row, p->branch, 1);
    else if (e->kind == CIR_INDUCTOR)
        row[p->state] += 1;
    else if (e->kind == CIR_CURRENT_SOURCE) {
        row[p->state] += e->wave.kind == CIR_SINE ? e->wave.amplitude : 1;
        if (e->wave.kind == CIR_SINE)
            row[p->other] += 1;
    } else if (e->kind == CIR_CCCS)
        add_unknown(m, row, n->positions[e->of[0]].branch, e->value);
    else if (e->kind == CIR_VCCS)
        add_voltage(m, row, &e->node[2], e->value);
    else if (e->kind == CIR_RESISTOR || p->device >= 0) {
        add_voltage(m, row, e->node, conductance(c, e, p));
        if (e->kind == CIR_DIODE && conducts(c, p))
            row[n->one] -= e->vf / e->ron;
    }
}

/* --- the dynamic network ---------------------------------------------------------------------- */

static void rate_of_state(struct cir_maker *m, unsigned element)
{
    const struct cir_network *n = m->network;
    const struct cir_element *e = &n->netlist->elements[element];
    const struct cir_position *p = &n->positions[element];

    if (e->kind == CIR_CAPACITOR)
        add_unknown(m, &m->rates[(unsigned)p->state * n->w_count], p->branch, 1 / e->value);
    for (unsigned i = 0; e->kind == CIR_INDUCTOR && i < n->state_count; i++) {
        const double per_l = n->per_inductance[i * n->state_count + (unsigned)p->state];
        if (per_l != 0)
            add_voltage(m, &m->rates[i * n->w_count], e->node, per_l);
    }
}

static void rate_of_source(struct cir_maker *m, const struct cir_wave *wave,
                           const struct cir_position *p)
{
    const unsigned w = m->network->w_count, at = (unsigned)p->state;

    if (wave->kind == CIR_PIECES)
        m->rates[at * w + (unsigned)p->other] = 1;
    if (wave->kind != CIR_SINE)
        return;
    m->rates[at * w + at] = m->rates[(at + 1) * w + at + 1] = -wave->damping;
    m->rates[at * w + at + 1] = 2 * M_PI * wave->hertz;
    m->rates[(at + 1) * w + at] = -2 * M_PI * wave->hertz;
}

static void make_rates(struct cir_maker *m)
{
    const struct cir_network *n = m->network;

    memset(m->rates, 0, (size_t)n->moving_count * n->w_count * sizeof(double));
    for (unsigned i = 0; i < n->netlist->element_count; i++) {
        const struct cir_element *e = &n->netlist->elements[i];
        if (n->positions[i].state < 0)
            continue;
        if (cir_is_comparator(e))
            m->rates[(unsigned)n->positions[i].state * n->w_count +
                     (unsigned)n->positions[i].other] = 1;
        else if (cir_is_source(e))
            rate_of_source(m, &e->wave, &n->positions[i]);
        else
            rate_of_state(m, i);
    }
}

/* product = x times y, where only the first rows of y are not 0: those of what moves. */
static void multiply_moving(const struct cir_maker *m, double *product, const double *x,
                            const double *y)
{
    const unsigned rows = m->network->moving_count, w = m->network->w_count;

    memset(product, 0, (size_t)rows * w * sizeof *product);
    for (unsigned i = 0; i < rows; i++)
        for (unsigned k = 0; k < rows; k++) {
            const double factor = x[i * w + k];
            for (unsigned j = 0; factor != 0 && j < w; j++)
                product[i * w + j] += factor * y[k * w + j];
        }
}

static double greatest_sum(const struct cir_maker *m, const double *x)
{
    double greatest = 0;

    for (unsigned i = 0; i < m->network->moving_count; i++) {
        double sum = 0;
        for (unsigned j = 0; j < m->network->w_count; j++)
            sum += fabs(x[i * m->network->w_count + j]);
        greatest = fmax(greatest, sum);
    }
    return greatest;
}

static void put_in_columns(double *to, unsigned to_rows, const double *from, unsigned rows,
                           unsigned columns)
{
    memset(to, 0, (size_t)to_rows * columns * sizeof *to);
    for (unsigned i = 0; i < rows; i++)
        for (unsigned j = 0; j < columns; j++)
            to[(size_t)j * to_rows + i] = from[i * columns + j];
}

/* exp(F d) - 1 by its series for a d so short that F d is small, then by doubling d: e + e becomes
 * 2 e + e e. The rungs are kept on the way. */
static void make_ladder(struct cir_maker *m, struct cir_configuration *c)
{
    const unsigned w = m->network->w_count, cells = m->network->moving_count * w;
    const double norm = greatest_sum(m, m->rates);
    unsigned rung = m->rung_count - 1;

    while (norm * ldexp(m->period_s, -(int)rung) > 0.5 && rung < 1000)
        rung++;
    const double d = ldexp(m->period_s, -(int)rung);
    for (unsigned i = 0; i < cells; i++)
        m->power[i] = m->term[i] = m->rates[i] * d;
    for (int k = 2; k <= SERIES_TERMS; k++) {
        multiply_moving(m, m->product, m->term, m->rates);
        for (unsigned i = 0; i < cells; i++) {
            m->term[i] = m->product[i] * d / k;
            m->power[i] += m->term[i];
        }
    }
    for (;; rung--) {
        if (rung < m->rung_count)
            put_in_columns(&c->rungs[(size_t)rung * m->moving_rows * w], m->moving_rows, m->power,
                           m->network->moving_count, w);
        if (rung == 0)
            return;
        multiply_moving(m, m->product, m->power, m->power);
        for (unsigned i = 0; i < cells; i++)
            m->power[i] = 2 * m->power[i] + m->product[i];
    }
}

/* The root of the energy of a state per its square: in these units a passive circuit is balanced.
 */
static double root_of_energy(const struct cir_network *n, unsigned element)
{
    return sqrt(n->netlist->elements[element].value);
}

/* The fastest sine of the sources, in radians a second. */
static double fastest_sine(const struct cir_network *n)
{
    double hertz = 0;

    for (unsigned i = 0; i < n->netlist->element_count; i++) {
        const struct cir_element *e = &n->netlist->elements[i];
        if (cir_is_source(e) && e->wave.kind == CIR_SINE && !n->is_gate[i])
            hertz = fmax(hertz, e->wave.hertz);
    }
    return 2 * M_PI * hertz;
}

/* A rung may be no longer than a sixth of the period of a sine, or of a mode that rings. */
static unsigned longest_rung(struct cir_maker *m)
{
    const struct cir_network *n = m->network;
    const unsigned states = n->state_count;
    unsigned rung = 0;

    for (unsigned i = 0; i < n->netlist->element_count; i++)
        for (unsigned k = 0; k < n->netlist->element_count; k++) {
            const int row = n->positions[i].state, column = n->positions[k].state;
            if (row >= 0 && column >= 0 && (unsigned)row < states && (unsigned)column < states)
                m->modes[(unsigned)row * states + (unsigned)column] =
                    m->rates[(unsigned)row * n->w_count + (unsigned)column] * root_of_energy(n, i) /
                    root_of_energy(n, k);
        }
    const double ringing = fmax(cir_ringing(m->modes, states, m->mode_work), fastest_sine(n));
    while (rung + 1 < m->rung_count && ringing * m->rung_s[rung] > M_PI / 3)
        rung++;
    return rung;
}

/* --- tests and outputs ------------------------------------------------------------------------ */

/* Of a diode: v - v* if it conducts, and v* - v if it does not; v* is where its two lines meet. Of
 * a comparator: likewise with the current and its level. */
static void make_tests(struct cir_maker *m, struct cir_configuration *c)
{
    const struct cir_network *n = m->network;
    const unsigned w = n->w_count, count = n->diode_count;

    memset(m->tests, 0, (size_t)count * w * sizeof(double));
    for (unsigned i = 0; i < count; i++) {
        const struct cir_element *e = &n->netlist->elements[n->diodes[i]];
        const bool is_above = conducts(c, &n->positions[n->diodes[i]]);
        double *row = &m->tests[i * w];
        if (e->kind == CIR_DIODE) {
            add_voltage(m, row, e->node, 1);
            row[n->one] -= e->vf * e->roff / (e->roff - e->ron);
        } else {
            add_current(m, c, row, e->of[0]);
            for (unsigned k = 0; e->value < 0 && k < w; k++)
                row[k] = -row[k];
            row[n->positions[n->diodes[i]].state] -= 1;
        }
        for (unsigned k = 0; !is_above && k < w; k++)
            row[k] = -row[k];
    }
    put_in_columns(c->tests, m->test_rows, m->tests, count, w);
}

/* Puts the rates of `count` rows behind them, into columns of `to_rows`. */
static void put_rates(const struct cir_maker *m, double *to, unsigned to_rows, const double *rows,
                      unsigned count)
{
    const unsigned w = m->network->w_count;

    for (unsigned i = 0; i < count; i++)
        for (unsigned j = 0; j < w; j++) {
            double rate = 0;
            for (unsigned k = 0; k < m->network->moving_count; k++)
                rate += rows[i * w + k] * m->rates[k * w + j];
            to[(size_t)j * to_rows + count + i] = rate;
        }
}

/* The voltages and currents whose products are asked for. */
static void make_powers(struct cir_maker *m, struct cir_configuration *c)
{
    const unsigned w = m->network->w_count, count = 2 * m->power_count;
    double *row = m->powers;

    memset(row, 0, (size_t)count * w * sizeof *row);
    for (unsigned i = 0; i < m->probe_count; i++)
        if (m->probes[i].is_power) {
            const unsigned element = (unsigned)m->probes[i].element;
            add_voltage(m, row, m->network->netlist->elements[element].node, 1);
            add_current(m, c, row + w, element);
            row += (size_t)2 * w;
        }
    put_in_columns(c->powers, m->power_rows, m->powers, count, w);
    put_rates(m, c->powers, m->power_rows, m->powers, count);
}

static void make_outputs(struct cir_maker *m, struct cir_configuration *c)
{
    const unsigned w = m->network->w_count;
    double *row = m->term;

    memset(c->outputs, 0, (size_t)m->output_rows * w * sizeof(double));
    for (unsigned i = 0; i < m->probe_count; i++) {
        const struct cir_probe *p = &m->probes[i];
        memset(row, 0, w * sizeof *row);
        if (p->element < 0)
            add_voltage(m, row, p->node, 1);
        else if (p->is_power)
            continue; /* it is no linear function: cir_stage_output() */
        else if (p->is_state)
            row[m->network->one] = conducts(c, &m->network->positions[p->element]);
        else if (!m->network->is_gate[p->element])
            add_current(m, c, row, (unsigned)p->element);
        for (unsigned j = 0; j < w; j++)
            c->outputs[(size_t)j * m->output_rows + i] = row[j];
    }
}

bool cir_configure(struct cir_maker *m, struct cir_configuration *c, double *numbers)
{
    const size_t w = m->network->w_count;

    c->rungs = numbers;
    c->tests = &c->rungs[(size_t)m->rung_count * m->moving_rows * w];
    c->outputs = &c->tests[m->test_rows * w];
    c->powers = &c->outputs[m->output_rows * w];
    if (!solve_network(m, c))
        return false;
    make_rates(m);
    c->longest = longest_rung(m);
    make_tests(m, c);
    put_rates(m, c->tests, m->test_rows, m->tests, m->network->diode_count);
    make_powers(m, c);
    make_outputs(m, c);
    make_ladder(m, c);
    return true;
}

typedef double lanes __attribute__((vector_size(CIR_LANES * sizeof(double)), aligned(8)));

/* Two blocks of rows at a time, as one sum would wait for itself. */
static inline __attribute__((always_inline)) void apply(double *restrict y,
                                                        const double *restrict m, unsigned rows,
                                                        unsigned columns, const double *restrict x)
{
    unsigned i = 0;

    for (; i + 2 * CIR_LANES <= rows; i += 2 * CIR_LANES) {
        lanes first = {0}, second = {0};
        for (unsigned j = 0; j < columns; j++) {
            const lanes *column = (const lanes *)&m[(size_t)j * rows + i];
            first += column[0] * x[j];
            second += column[1] * x[j];
        }
        *(lanes *)&y[i] = first;
        *(lanes *)&y[i + CIR_LANES] = second;
    }
    for (; i < rows; i += CIR_LANES) {
        lanes sum = {0};
        for (unsigned j = 0; j < columns; j++)
            sum += *(const lanes *)&m[(size_t)j * rows + i] * x[j];
        *(lanes *)&y[i] = sum;
    }
}

#ifdef __x86_64__
/* The same operations in the same order, so the same bits: there are no fused ones. */
__attribute__((target("avx2"))) static void apply_wide(double *restrict y, const double *restrict m,
                                                       unsigned rows, unsigned columns,
                                                       const double *restrict x)
{
    apply(y, m, rows, columns, x);
}
#endif

void cir_apply(double *restrict y, const double *restrict m, unsigned rows, unsigned columns,
               const double *restrict x)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2")) {
        apply_wide(y, m, rows, columns, x);
        return;
    }
#endif
    apply(y, m, rows, columns, x);
}
