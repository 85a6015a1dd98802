#include "network.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "algebra.h"

static void *allocate(struct cir_network *n, size_t count, size_t size)
{
    return cir_allocate(&n->blocks, (count + 1) * size);
}

/* --- gates ------------------------------------------------------------------------------------ */

/* Counts the ends of elements at each node, apart from the control ends of switches. */
static void count_ends(const struct cir_network *n, unsigned *ends, unsigned *controls)
{
    for (unsigned i = 0; i < n->netlist->element_count; i++) {
        const struct cir_element *e = &n->netlist->elements[i];
        const bool by_voltage = e->kind == CIR_VCVS || e->kind == CIR_VCCS;
        if (e->kind == CIR_COUPLING)
            continue;
        for (unsigned k = 0; k < 2; k++) {
            ends[e->node[k]]++;
            ends[e->node[2 + k]] += by_voltage;
            controls[e->node[2 + k]] += e->kind == CIR_SWITCH;
        }
    }
}

/* The end of a source that no element but the source meets, except as a control; or -1. */
static int free_end(const struct cir_element *e, const unsigned *ends, const unsigned *controls)
{
    for (int k = 0; k < 2; k++)
        if (e->node[k] != 0 && ends[e->node[k]] == 1 && controls[e->node[k]])
            return k;
    return CIR_NOWHERE;
}

static bool controls_by_current(const struct cir_netlist *netlist, unsigned source)
{
    for (unsigned i = 0; i < netlist->element_count; i++) {
        const struct cir_element *e = &netlist->elements[i];
        if ((e->kind == CIR_CCCS || e->kind == CIR_CCVS) && e->of[0] == source)
            return true;
    }
    return false;
}

/* Takes the sources that drive control nodes only out of the network, and these nodes with them. A
 * source may stand on another one. */
static void take_gates_out(struct cir_network *n, unsigned *ends, const unsigned *controls,
                           bool *outside)
{
    bool again = true;

    while (again) {
        again = false;
        for (unsigned i = 0; i < n->netlist->element_count; i++) {
            const struct cir_element *e = &n->netlist->elements[i];
            if (e->kind != CIR_VOLTAGE_SOURCE || n->is_gate[i] || e->node[0] == e->node[1] ||
                controls_by_current(n->netlist, i))
                continue;
            const int end = free_end(e, ends, controls);
            if (end < 0)
                continue;
            n->is_gate[i] = again = true;
            outside[e->node[end]] = true;
            ends[e->node[0]]--;
            ends[e->node[1]]--;
        }
    }
}

unsigned cir_node_behind(const struct cir_network *n, unsigned node, double t_s, double *volts)
{
    for (unsigned i = 0; i < n->netlist->element_count; i++) {
        const struct cir_element *e = &n->netlist->elements[i];
        if (node == 0 || n->unknown_of_node[node] != CIR_NOWHERE)
            return node;
        for (unsigned k = 0; n->is_gate[i] && k < 2; k++)
            if (e->node[k] == node) {
                const double value = t_s < 0 ? 0 : cir_wave_value(&e->wave, t_s);
                *volts += k ? -value : value;
                node = e->node[1 - k];
                i = (unsigned)-1; /* its own source may come earlier in the list */
                break;
            }
    }
    return node;
}

/* A path of voltage sources from one node to another, by a search that spreads from the first. */
struct path {
    int *source; /* of each node: the source over which the search came, with its sign in `sign` */
    double *sign;
    bool *reached;
};

static void spread(const struct cir_netlist *netlist, const struct path *p, unsigned from)
{
    bool again = true;

    p->reached[from] = true;
    while (again) {
        again = false;
        for (unsigned i = 0; i < netlist->element_count; i++) {
            const struct cir_element *e = &netlist->elements[i];
            if (e->kind != CIR_VOLTAGE_SOURCE || p->reached[e->node[0]] == p->reached[e->node[1]])
                continue;
            const unsigned to = e->node[p->reached[e->node[0]]];
            p->source[to] = (int)i;
            p->sign[to] = to == e->node[0] ? 1 : -1;
            p->reached[to] = again = true;
        }
    }
}

/* Follows the path back from the positive control node: at most one source may turn the switch. */
static int follow(struct cir_network *n, const struct path *p, struct cir_gate *gate,
                  const struct cir_said *said)
{
    const struct cir_element *s = &n->netlist->elements[gate->element];

    for (unsigned node = s->node[2]; node != s->node[3];) {
        const struct cir_element *e = &n->netlist->elements[p->source[node]];
        const double sign = p->sign[node];
        if (e->wave.kind == CIR_SINE)
            return cir_refuse(said, s->at,
                              "%s is controlled by %s, a sine; allowed: pulse, pwl, dc, external",
                              s->name, e->name);
        if (e->wave.kind != CIR_CONSTANT && gate->source != CIR_NOWHERE)
            return cir_refuse(said, s->at,
                              "%s is controlled by both %s and %s; allowed: one source that is not "
                              "dc",
                              s->name, n->netlist->elements[gate->source].name, e->name);
        if (e->wave.kind == CIR_CONSTANT) {
            gate->offset += sign * e->wave.constant;
        } else {
            gate->source = p->source[node];
            gate->sign = sign;
        }
        node = sign > 0 ? e->node[1] : e->node[0];
    }
    return 0;
}

static int find_gate(struct cir_network *n, unsigned element, const struct path *p,
                     const struct cir_said *said)
{
    const struct cir_netlist *netlist = n->netlist;
    const struct cir_element *s = &netlist->elements[element];
    struct cir_gate *gate = &n->gates[n->gate_count++];

    *gate = (struct cir_gate){.element = element, .source = CIR_NOWHERE, .sign = 1};
    memset(p->reached, 0, netlist->node_count * sizeof *p->reached);
    spread(netlist, p, s->node[3]);
    if (!p->reached[s->node[2]])
        return cir_refuse(said, s->at,
                          "%s is controlled by the network (%s, %s); allowed: control nodes with "
                          "voltage sources alone between them",
                          s->name, netlist->nodes[s->node[2]], netlist->nodes[s->node[3]]);
    return follow(n, p, gate, said);
}

/* A switch right across voltage sources shorts them. */
static int check_short(const struct cir_netlist *netlist, unsigned element, const struct path *p,
                       const struct cir_said *said)
{
    const struct cir_element *s = &netlist->elements[element];

    memset(p->reached, 0, netlist->node_count * sizeof *p->reached);
    spread(netlist, p, s->node[0]);
    if (!p->reached[s->node[1]])
        return 0;
    return cir_refuse(
        said, s->at, "%s shorts %s; allowed: a resistance or an inductance between them", s->name,
        s->node[0] == s->node[1] ? "itself" : netlist->elements[p->source[s->node[1]]].name);
}

static int find_gates(struct cir_network *n, const struct cir_said *said)
{
    const struct cir_netlist *netlist = n->netlist;
    const struct path p = {allocate(n, netlist->node_count, sizeof *p.source),
                           allocate(n, netlist->node_count, sizeof *p.sign),
                           allocate(n, netlist->node_count, sizeof *p.reached)};
    int rc = p.source && p.sign && p.reached ? 0 : cir_say_no_memory(said);

    for (unsigned i = 0; !rc && i < netlist->element_count; i++) {
        if (netlist->elements[i].kind != CIR_SWITCH)
            continue;
        rc = check_short(netlist, i, &p, said);
        if (!rc)
            rc = find_gate(n, i, &p, said);
    }
    return rc;
}

/* --- places ----------------------------------------------------------------------------------- */

static void place_unknowns(struct cir_network *n, const bool *outside)
{
    const struct cir_netlist *netlist = n->netlist;

    for (unsigned i = 0; i < netlist->node_count; i++)
        n->unknown_of_node[i] = i == 0 || outside[i] ? CIR_NOWHERE : (int)n->unknown_count++;
    for (unsigned i = 0; i < netlist->element_count; i++) {
        const enum cir_kind kind = netlist->elements[i].kind;
        const bool has_branch = (kind == CIR_VOLTAGE_SOURCE && !n->is_gate[i]) ||
                                kind == CIR_VCVS || kind == CIR_CCVS || kind == CIR_CAPACITOR;
        n->positions[i] = (struct cir_position){CIR_NOWHERE, CIR_NOWHERE, CIR_NOWHERE, CIR_NOWHERE};
        if (has_branch)
            n->positions[i].branch = (int)n->unknown_count++;
    }
}

/* Gives the elements of one sort `size` places of w each, in the order of the netlist. */
static void place_sort(struct cir_network *n, bool (*is_of)(const struct cir_element *),
                       size_t member, unsigned size, unsigned *count)
{
    for (unsigned i = 0; i < n->netlist->element_count; i++) {
        const struct cir_element *e = &n->netlist->elements[i];
        if (n->is_gate[i] || !is_of(e))
            continue;
        *(int *)((char *)&n->positions[i] + member) = (int)n->w_count;
        n->w_count += size;
        if (count)
            ++*count;
    }
}

static bool is_state(const struct cir_element *e)
{
    return e->kind == CIR_CAPACITOR || e->kind == CIR_INDUCTOR;
}

static bool is_sine(const struct cir_element *e)
{
    return cir_is_source(e) && e->wave.kind == CIR_SINE;
}

static bool is_ramp(const struct cir_element *e)
{
    return (cir_is_source(e) && e->wave.kind == CIR_PIECES) || cir_is_comparator(e);
}

static bool is_constant(const struct cir_element *e)
{
    return cir_is_source(e) && (e->wave.kind == CIR_CONSTANT || e->wave.kind == CIR_EXTERNAL);
}

static void place_w(struct cir_network *n)
{
    const size_t state = offsetof(struct cir_position, state);
    const size_t other = offsetof(struct cir_position, other);

    place_sort(n, is_state, state, 1, &n->state_count);
    place_sort(n, is_sine, state, 2, &n->sine_count);
    place_sort(n, is_ramp, state, 1, &n->ramp_count);
    n->moving_count = n->w_count;
    place_sort(n, is_ramp, other, 1, NULL);
    place_sort(n, is_sine, other, 1, NULL);
    place_sort(n, is_constant, state, 1, NULL);
    n->one = n->w_count++;
}

static int place_devices(struct cir_network *n, const struct cir_said *said)
{
    int count = 0;

    for (unsigned i = 0; i < n->netlist->element_count; i++) {
        const struct cir_element *e = &n->netlist->elements[i];
        if (e->kind != CIR_SWITCH && e->kind != CIR_DIODE && !cir_is_comparator(e))
            continue;
        if (count == CIR_DEVICES_MAX)
            return cir_refuse(said, e->at, "found %s, a further switch or diode; allowed: %d",
                              e->name, CIR_DEVICES_MAX);
        n->positions[i].device = count++;
        if (e->kind != CIR_SWITCH)
            n->diodes[n->diode_count++] = i;
    }
    return 0;
}

/* --- inductances ------------------------------------------------------------------------------ */

static int invert_inductances(struct cir_network *n, const struct cir_said *said)
{
    const struct cir_netlist *netlist = n->netlist;
    const unsigned size = n->state_count;
    double *l = n->per_inductance, *work = allocate(n, size * size, sizeof *work);
    const struct cir_element *last = NULL;

    if (!work)
        return cir_say_no_memory(said);
    for (unsigned i = 0; i < netlist->element_count; i++) /* capacitors fill the other places */
        if (n->positions[i].state >= 0 && is_state(&netlist->elements[i])) {
            const unsigned at = (unsigned)n->positions[i].state;
            l[at * size + at] =
                netlist->elements[i].kind == CIR_INDUCTOR ? netlist->elements[i].value : 1;
        }
    for (unsigned i = 0; i < netlist->element_count; i++) {
        const struct cir_element *k = &netlist->elements[i];
        if (k->kind != CIR_COUPLING)
            continue;
        const unsigned a = (unsigned)n->positions[k->of[0]].state;
        const unsigned b = (unsigned)n->positions[k->of[1]].state;
        const double m = k->value * __builtin_sqrt(l[a * size + a] * l[b * size + b]);
        l[a * size + b] += m;
        l[b * size + a] += m;
        last = k;
    }
    if (cir_invert_symmetric(l, size, work))
        return 0;
    return cir_refuse(said, last->at,
                      "%s and the other couplings together store less than no energy; allowed: "
                      "coefficients that are possible together",
                      last->name);
}

/* --- the network ------------------------------------------------------------------------------ */

static int make(struct cir_network *n, const struct cir_said *said)
{
    const struct cir_netlist *netlist = n->netlist;
    const size_t elements = netlist->element_count, nodes = netlist->node_count;
    unsigned *ends = allocate(n, nodes, sizeof *ends);
    unsigned *controls = allocate(n, nodes, sizeof *controls);
    bool *outside = allocate(n, nodes, sizeof *outside);

    n->positions = allocate(n, elements, sizeof *n->positions);
    n->unknown_of_node = allocate(n, nodes, sizeof *n->unknown_of_node);
    n->is_gate = allocate(n, elements, sizeof *n->is_gate);
    n->gates = allocate(n, elements, sizeof *n->gates);
    n->diodes = allocate(n, elements, sizeof *n->diodes);
    if (!ends || !controls || !outside || !n->positions || !n->unknown_of_node || !n->is_gate ||
        !n->gates || !n->diodes)
        return cir_say_no_memory(said);
    count_ends(n, ends, controls);
    take_gates_out(n, ends, controls, outside);
    place_unknowns(n, outside);
    place_w(n);
    n->per_inductance =
        allocate(n, (size_t)n->state_count * n->state_count, sizeof *n->per_inductance);
    if (!n->per_inductance)
        return cir_say_no_memory(said);
    int rc = place_devices(n, said);
    if (!rc)
        rc = find_gates(n, said);
    return rc ? rc : invert_inductances(n, said);
}

int cir_network_make(struct cir_network *network, const struct cir_netlist *netlist,
                     const struct cir_said *said)
{
    *network = (struct cir_network){.netlist = netlist};
    const int rc = make(network, said);
    if (rc)
        cir_network_close(network);
    return rc;
}

void cir_network_close(struct cir_network *network)
{
    cir_free_all(&network->blocks);
    *network = (struct cir_network){0};
}
