#include "circuit_drawn.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* --- numbers ---------------------------------------------------------------------------------- */

static unsigned long long next(struct drawn *d)
{
    unsigned long long z = d->random += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static double share(struct drawn *d)
{
    return (double)(next(d) >> 11) * 0x1p-53;
}

static unsigned below(struct drawn *d, unsigned end)
{
    return (unsigned)(share(d) * end);
}

static bool chance(struct drawn *d, double odds)
{
    return share(d) < odds;
}

/* The number that a netlist with three digits has. */
static double rounded(double x)
{
    char digits[32];

    snprintf(digits, sizeof digits, "%.3g", x);
    return strtod(digits, NULL);
}

static double between(struct drawn *d, double least, double most)
{
    return rounded(least + share(d) * (most - least));
}

/* A power of ten. */
static double power(struct drawn *d, double least, double most)
{
    return rounded(pow(10, least + share(d) * (most - least)));
}

/* --- text ------------------------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void write(struct drawn *d, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    d->length += (size_t)vsnprintf(d->text + d->length, sizeof d->text - d->length, format, args);
    va_end(args);
}

/* --- elements --------------------------------------------------------------------------------- */

/* Nothing may be connected inside a part of two ports, which would no longer be passive. */
static int open_nodes(const struct drawn *d)
{
    return d->open_nodes ? d->open_nodes : (int)d->oracle.nodes;
}

static int node(struct drawn *d)
{
    return (int)below(d, (unsigned)open_nodes(d));
}

static int new_node(struct drawn *d)
{
    return (int)d->oracle.nodes++;
}

static struct oracle_element *add(struct drawn *d, char kind, int from, int to)
{
    struct oracle *o = &d->oracle;
    struct oracle_element *e = &o->at[o->count];

    *e = (struct oracle_element){.kind = kind, .node = {from, to}};
    snprintf(d->names[o->count], sizeof d->names[0], "%c%u", kind | ' ', o->count);
    write(d, "%s %d %d", d->names[o->count], from, to);
    o->count++;
    return e;
}

static void add_value(struct drawn *d, struct oracle_element *e, double value)
{
    e->value = value;
    write(d, " %g\n", value);
}

static void resistor(struct drawn *d, int from, int to, double value)
{
    add_value(d, add(d, 'R', from, to), value);
}

static int other_node(struct drawn *d, int than)
{
    const int other = (int)below(d, (unsigned)open_nodes(d) - 1);

    return other + (other >= than);
}

static void storage(struct drawn *d, char kind, int from, int to, double value, double initial)
{
    struct oracle_element *e = add(d, kind, from, to);

    e->value = value;
    e->initial = initial;
    write(d, " %g ic=%g\n", value, initial);
}

static void inductor(struct drawn *d)
{
    static const double currents[] = {0, 0, 1, -2};
    const int from = node(d);

    storage(d, 'L', from, other_node(d, from), power(d, -6, -2), currents[below(d, 4)]);
}

static void capacitor(struct drawn *d)
{
    static const double voltages[] = {0, 0, 5, -5};
    const int from = node(d);

    if (chance(d, 0.2)) {
        storage(d, 'C', from, other_node(d, from), power(d, -9, -5), voltages[below(d, 4)]);
        return;
    }
    const int to = other_node(d, from), between_them = new_node(d);
    storage(d, 'C', from, between_them, power(d, -10, -5), voltages[below(d, 4)]);
    resistor(d, between_them, to, power(d, -3, 2));
}

/* --- sources ---------------------------------------------------------------------------------- */

static void sine(struct drawn *d, struct oracle_wave *w, double size)
{
    static const double hertz[] = {50, 1e3, 20e3, 150e3};
    const double degrees = rounded(share(d) * 360);

    *w = (struct oracle_wave){.offset = rounded((share(d) - 0.5) * size),
                              .amplitude = rounded(share(d) * size),
                              .hertz = hertz[below(d, 4)],
                              .delay_s = chance(d, 0.5) ? 0 : between(d, 0, 20e-6),
                              .damping = chance(d, 0.7) ? 0 : power(d, 2, 5),
                              .phase = degrees * M_PI / 180};
    write(d, " sin(%g %g %g %g %g %g)\n", w->offset, w->amplitude, w->hertz, w->delay_s, w->damping,
          degrees);
}

static void pulse(struct drawn *d, struct oracle_wave *w, double size)
{
    const double low = rounded(-share(d) * size), high = rounded(share(d) * size);
    const double delay = between(d, 0, 9e-6), rise = power(d, -9, -6), fall = power(d, -9, -6);
    const double width = between(d, 1e-6, 9e-6), period = between(d, 13e-6, 30e-6);

    *w = (struct oracle_wave){.points = 4,
                              .at_s = {0, rise, rise + width, rise + width + fall},
                              .value = {low, high, high, low},
                              .delay_s = delay,
                              .period_s = period};
    write(d, " pulse(%g %g %g %g %g %g %g)\n", low, high, delay, rise, fall, width, period);
}

static void piecewise(struct drawn *d, struct oracle_wave *w, double size)
{
    const unsigned points = 2 + below(d, ORACLE_POINTS - 1);
    double at_s = 0;

    *w = (struct oracle_wave){.points = points};
    write(d, " pwl(");
    for (unsigned i = 0; i < points; i++, at_s = rounded(at_s + power(d, -7, -5))) {
        w->at_s[i] = at_s;
        w->value[i] = rounded((share(d) - 0.5) * 2 * size);
        write(d, "%g %g ", w->at_s[i], w->value[i]);
    }
    write(d, ")");
    if (chance(d, 0.5)) {
        w->period_s = w->at_s[points - 1];
        write(d, " r=0");
    }
    if (chance(d, 0.3)) {
        w->delay_s = between(d, 0, 9e-6);
        write(d, " td=%g", w->delay_s);
    }
    write(d, "\n");
}

static void wave(struct drawn *d, struct oracle_element *e, double size)
{
    switch (below(d, 5)) {
    case 0:
        sine(d, &e->wave, size);
        break;
    case 1:
        pulse(d, &e->wave, size);
        break;
    case 2:
        piecewise(d, &e->wave, size);
        break;
    default:
        e->wave.offset = rounded((share(d) - 0.3) * size);
        write(d, " %g\n", e->wave.offset);
    }
}

static void voltage_source(struct drawn *d)
{
    const int from = node(d), to = other_node(d, from), inner = new_node(d);

    wave(d, add(d, 'V', from, inner), 50);
    resistor(d, inner, to, power(d, -3, 2));
}

static void current_source(struct drawn *d)
{
    const int from = node(d);

    wave(d, add(d, 'I', from, other_node(d, from)), 3);
}

/* --- elements of two ports -------------------------------------------------------------------- */

static void transformer(struct drawn *d)
{
    const int a = node(d), b = other_node(d, a), c = node(d), e = other_node(d, c);
    const int inner = new_node(d);
    const double ratio = between(d, 0.2, 3);
    const int source = (int)d->oracle.count;

    add(d, 'V', inner, c);
    write(d, " 0\n");
    struct oracle_element *out = add(d, 'E', inner, e);
    out->node[2] = a;
    out->node[3] = b;
    write(d, " %d %d", a, b);
    add_value(d, out, ratio);
    struct oracle_element *in = add(d, 'F', a, b);
    in->of[0] = source;
    write(d, " %s", d->names[source]);
    add_value(d, in, ratio);
}

static void gyrator(struct drawn *d)
{
    const int port[2][2] = {{node(d), 0}, {node(d), 0}};
    const double gain = power(d, -3, 0);
    int ends[2][2];

    for (int i = 0; i < 2; i++) {
        ends[i][0] = port[i][0];
        ends[i][1] = other_node(d, port[i][0]);
    }
    for (int i = 0; i < 2; i++) {
        struct oracle_element *g = add(d, 'G', ends[i][0], ends[i][1]);
        g->node[2] = ends[1 - i][0];
        g->node[3] = ends[1 - i][1];
        write(d, " %d %d", g->node[2], g->node[3]);
        add_value(d, g, i ? -gain : gain);
    }
}

/* The same with the currents of sources of no voltage. */
static void current_gyrator(struct drawn *d)
{
    const double gain = power(d, -1, 1);
    int outer[2][2], inner[2], source[2];

    for (int i = 0; i < 2; i++) {
        outer[i][0] = node(d);
        outer[i][1] = other_node(d, outer[i][0]);
    }
    for (int i = 0; i < 2; i++) {
        inner[i] = new_node(d);
        source[i] = (int)d->oracle.count;
        add(d, 'V', outer[i][0], inner[i]);
        write(d, " 0\n");
    }
    for (int i = 0; i < 2; i++) {
        struct oracle_element *h = add(d, 'H', inner[i], outer[i][1]);
        h->of[0] = source[1 - i];
        write(d, " %s", d->names[source[1 - i]]);
        add_value(d, h, i ? -gain : gain);
    }
}

static void coupling(struct drawn *d)
{
    const struct oracle *o = &d->oracle;
    int inductors[ORACLE_ELEMENTS], count = 0;

    for (unsigned i = 0; i < o->count; i++)
        if (o->at[i].kind == 'L')
            inductors[count++] = (int)i;
    if (count < 2)
        return;
    struct oracle_element *k = &d->oracle.at[o->count];
    *k = (struct oracle_element){.kind = 'K', .of = {inductors[0], inductors[1]}};
    k->value = rounded(chance(d, 0.3) ? 0.99 + share(d) * 0.0099 : share(d) * 1.9 - 0.95);
    snprintf(d->names[o->count], sizeof d->names[0], "k%u", o->count);
    write(d, "%s %s %s %g\n", d->names[o->count], d->names[inductors[0]], d->names[inductors[1]],
          k->value);
    d->oracle.count++;
}

/* --- switches and diodes ---------------------------------------------------------------------- */

static void diode(struct drawn *d, int from, int to)
{
    static const double drops[] = {0, 0.7, 0.03};
    struct oracle_element *e = add(d, 'D', from, to);
    const unsigned model = ++d->models;

    e->vf = drops[below(d, 3)];
    e->ron = power(d, -3, -1);
    e->roff = power(d, 5, 8);
    write(d, " m%u\n.model m%u d\n*hiloco diode m%u: vf=%g ron=%g roff=%g\n", model, model, model,
          e->vf, e->ron, e->roff);
}

static struct oracle_element *add_switch(struct drawn *d, int from, int to, const char *control)
{
    struct oracle_element *e = add(d, 'S', from, to);

    e->ron = power(d, -3, 0);
    e->roff = power(d, 5, 9);
    write(d, " %s m%u\n", control, ++d->models);
    return e;
}

static void write_model(struct drawn *d, const struct oracle_element *e, double vt, double vh)
{
    write(d, ".model m%u sw(vt=%g vh=%g ron=%g roff=%g)\n", d->models, vt, vh, e->ron, e->roff);
}

/* The edges are where the ramps of the pulse cross the two thresholds. */
static void pulsed_switch(struct drawn *d, int from, int to)
{
    static const double periods[] = {10e-6, 13.7e-6, 3.3e-6};
    const double low = chance(d, 0.5) ? 0 : -5, high = chance(d, 0.5) ? 1 : 12;
    const double vt = rounded(low + (high - low) * (0.3 + 0.4 * share(d)));
    const double vh = chance(d, 0.5) ? 0 : rounded((high - low) * 0.2 * share(d));
    const double rise = power(d, -9, -7.5), fall = power(d, -9, -7.5);
    const double period = periods[below(d, 3)];
    const double width = between(d, 0.02 * period, 0.9 * period);
    const bool turned = chance(d, 0.3); /* the control nodes are the other way round */
    const double delay = chance(d, 0.2) ? 0 : between(d, 0, 10e-6);
    const unsigned gate = ++d->gates;
    char control[32];

    snprintf(control, sizeof control, turned ? "0 g%u" : "g%u 0", gate);
    struct oracle_element *e = add_switch(d, from, to, control);
    e->delay_s = delay;
    e->period_s = period;
    e->inverted = turned;
    e->on_s = rise * (vt + vh - low) / (high - low);
    e->off_s = rise + width + fall * (high - (vt - vh)) / (high - low);
    write_model(d, e, turned ? -vt : vt, vh);
    write(d, "vg%u g%u 0 pulse(%g %g %g %g %g %g %g)\n", gate, gate, low, high, delay, rise, fall,
          width, period);
}

/* A half bridge with a PWM unit. At t = 0 the carrier may be anywhere in its period but in a dead
 * time: a unit begins without one. */
static void bridge(struct drawn *d, int from, int middle, int to)
{
    const double frequency = between(d, 40e3, 250e3), duty = between(d, 0.1, 0.85);
    const double dead = chance(d, 0.3) ? 0 : between(d, 50e-9, 300e-9);
    const bool centred = chance(d, 0.5);
    const double begin = centred ? (1 - duty) / 2 : 0, period = 1 / frequency;
    const double phase =
        1 - rounded(fmod(begin + duty + dead * frequency + 0.001 + share(d) / 20, 1));
    const unsigned gate = d->gates;

    d->gates += 2;
    for (unsigned i = 0; i < 2; i++) {
        char control[32];
        snprintf(control, sizeof control, "g%u 0", gate + 1 + i);
        struct oracle_element *e = add_switch(d, i ? middle : from, i ? to : middle, control);
        write_model(d, e, 0.5, 0);
        write(d, "vg%u g%u 0 external\n", gate + 1 + i, gate + 1 + i);
        e->period_s = period;
        e->delay_s = (phase - 1) * period;
        e->on_s = i ? (begin + duty) * period + dead : begin * period + dead;
        e->off_s = i ? begin * period : (begin + duty) * period;
        if (e->on_s >= period)
            e->on_s -= period;
    }
    write(d, "*hiloco pwm vg%u vg%u: frequency=%g duty=%g dead=%g phase=%g carrier=%s\n", gate + 1,
          gate + 2, frequency, duty, dead, phase, centred ? "centred" : "sawtooth");
}

/* --- a circuit -------------------------------------------------------------------------------- */

static void times(struct drawn *d, unsigned least, unsigned most, void (*draw)(struct drawn *))
{
    for (unsigned i = least + below(d, most - least + 1); i; i--)
        draw(d);
}

static void diode_anywhere(struct drawn *d)
{
    const int from = node(d);

    diode(d, from, other_node(d, from));
}

static void switch_anywhere(struct drawn *d)
{
    const int from = node(d), to = other_node(d, from);

    pulsed_switch(d, from, to);
    if (chance(d, 0.3))
        diode(d, to, from);
}

static void bridge_anywhere(struct drawn *d)
{
    const int from = node(d), to = other_node(d, from);
    int middle = node(d);

    while (middle == from || middle == to)
        middle = node(d);
    bridge(d, from, middle, to);
    if (chance(d, 0.7)) {
        diode(d, middle, from);
        diode(d, to, middle);
    }
}

void draw_circuit(struct drawn *d, unsigned number)
{
    *d = (struct drawn){.random = number * 0x632be59bd9b4e019u};
    write(d, "circuit %u\n", number);
    d->oracle.nodes = 2;
    wave(d, add(d, 'V', 1, 0), chance(d, 0.3) ? 300 : 30);
    for (unsigned i = 2 + below(d, 5); i; i--) {
        const int from = new_node(d);
        resistor(d, from, (int)below(d, (unsigned)from), power(d, -2, 5));
    }
    times(d, 0, 1, voltage_source);
    times(d, 0, 1, current_source);
    times(d, 1, 4, inductor);
    if (chance(d, 0.4))
        coupling(d);
    times(d, 1, 4, capacitor);
    times(d, 1, 7, diode_anywhere);
    times(d, 0, 3, switch_anywhere);
    if (chance(d, 0.3))
        bridge_anywhere(d);
    d->open_nodes = (int)d->oracle.nodes;
    if (chance(d, 0.2))
        transformer(d);
    if (chance(d, 0.15))
        gyrator(d);
    if (chance(d, 0.15))
        current_gyrator(d);
    write(d, ".end\n");
}
