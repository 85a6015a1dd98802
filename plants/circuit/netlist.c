#include "netlist.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expander.h"

enum { SUBCIRCUIT_DEPTH = 20, ELEMENTS_MAX = 4000 };

static const char elements_allowed[] =
    "R L C K V I E F G H S D X, and .param .model .subckt .ends .include .ic .global .end";

/* --- names ------------------------------------------------------------------------------------ */

static const char *prefixed(struct cir_expander *x, const char *name)
{
    const size_t length = strlen(x->scope->prefix) + strlen(name) + 1;
    char *whole = cir_allocate(&x->netlist->blocks, length);

    if (whole)
        snprintf(whole, length, "%s%s", x->scope->prefix, name);
    return whole;
}

int cir_node_find(const struct cir_netlist *netlist, const char *name)
{
    if (strcmp(name, "gnd") == 0)
        return 0;
    for (unsigned i = 0; i < netlist->node_count; i++)
        if (strcmp(netlist->nodes[i], name) == 0)
            return (int)i;
    return -1;
}

int cir_element_find(const struct cir_netlist *netlist, const char *name)
{
    for (unsigned i = 0; i < netlist->element_count; i++)
        if (strcmp(netlist->elements[i].name, name) == 0)
            return (int)i;
    /* ngspice puts the letter in front: l.x1.l1 */
    return name[0] && name[1] == '.' ? cir_element_find(netlist, name + 2) : -1;
}

static int add_node(struct cir_expander *x, const char *name, unsigned *node)
{
    struct cir_netlist *n = x->netlist;
    const int found = cir_node_find(n, name);

    if (found >= 0) {
        *node = (unsigned)found;
        return 0;
    }
    if (cir_grow(&n->nodes, n->node_count, sizeof *n->nodes))
        return cir_say_no_memory(x->said);
    *node = n->node_count;
    n->nodes[n->node_count++] = name;
    return 0;
}

/* Whether .global names a node: then it is the same in all subcircuits. */
static bool is_global(const struct cir_scope *scope, const char *name)
{
    while (scope->outer)
        scope = scope->outer;
    for (unsigned i = 0; i < scope->statement_count; i++)
        for (unsigned k = 1; k < scope->statements[i].count; k++)
            if (strcmp(scope->statements[i].at[0].text, ".global") == 0 &&
                strcmp(scope->statements[i].at[k].text, name) == 0)
                return true;
    return false;
}

int cir_node_of(struct cir_expander *x, const struct cir_token *token, unsigned *node)
{
    const struct cir_scope *scope = x->scope;

    if (strchr("()={", token->text[0]))
        return cir_refuse(x->said, token, "found %s; allowed: the name of a node", token->text);
    for (unsigned i = 0; i < scope->node_count; i++)
        if (strcmp(scope->formal[i]->text, token->text) == 0) {
            *node = scope->actual[i];
            return 0;
        }
    const bool ground = strcmp(token->text, "0") == 0 || strcmp(token->text, "gnd") == 0;
    const char *name = ground                          ? "0"
                       : is_global(scope, token->text) ? token->text
                                                       : prefixed(x, token->text);
    return name ? add_node(x, name, node) : cir_say_no_memory(x->said);
}

/* --- elements --------------------------------------------------------------------------------- */

int cir_need(struct cir_expander *x, const struct cir_statement *s, unsigned count,
             const char *form)
{
    if (s->count >= count)
        return 0;
    return cir_refuse(x->said, &s->at[0], "found %s with %u words; allowed: %s", s->at[0].text,
                      s->count, form);
}

static int number_of(struct cir_expander *x, const struct cir_token *token, double *value)
{
    return cir_scope_number(x->scope, token, value);
}

/* R, L and C: VALUE, also NAME=VALUE with the element's letter; then ic= for L and C. */
static int passive(struct cir_expander *x, struct cir_element *e, const struct cir_statement *s)
{
    static const char *const forms[] = {[CIR_RESISTOR] = "R NODE NODE OHM",
                                        [CIR_INDUCTOR] = "L NODE NODE HENRY [ic=A]",
                                        [CIR_CAPACITOR] = "C NODE NODE FARAD [ic=V]"};
    const char letter[] = {s->at[0].text[0], '\0'};
    const struct cir_token *value;
    unsigned next = 3;
    int rc = cir_need(x, s, 4, forms[e->kind]);

    if (rc)
        return rc;
    if (s->count > 5 && strcmp(s->at[3].text, letter) == 0 && strcmp(s->at[4].text, "=") == 0)
        next = 5;
    value = &s->at[next++];
    rc = number_of(x, value, &e->value);
    if (!rc && !(e->value > 0))
        return cir_refuse(x->said, value, "found %s with the value %g; allowed: above 0", e->name,
                          e->value);
    while (!rc && next < s->count) {
        if (e->kind == CIR_RESISTOR || next + 2 >= s->count ||
            strcmp(s->at[next].text, "ic") != 0 || strcmp(s->at[next + 1].text, "=") != 0)
            return cir_refuse(x->said, &s->at[next], "found %s; allowed: %s", s->at[next].text,
                              forms[e->kind]);
        rc = number_of(x, &s->at[next + 2], &e->initial);
        e->has_initial = true;
        next += 3;
    }
    return rc;
}

static int source(struct cir_expander *x, struct cir_element *e, const struct cir_statement *s)
{
    const struct cir_wave_reader reader = {.statement = s,
                                           .first = 3,
                                           .lookup = cir_scope_lookup,
                                           .arg = x->scope,
                                           .tran = x->tran,
                                           .blocks = &x->netlist->blocks,
                                           .said = x->said};

    return cir_wave_read(&e->wave, &reader);
}

/* Another element of the same scope, which a statement names. It may come later in the text, so it
 * is looked up when all are there: see find_named(). */
static int linear_source(struct cir_expander *x, struct cir_element *e,
                         const struct cir_statement *s)
{
    const bool by_voltage = e->kind == CIR_VCVS || e->kind == CIR_VCCS;
    const unsigned count = by_voltage ? 6 : 5;
    int rc =
        cir_need(x, s, count, by_voltage ? "NODE NODE NODE NODE GAIN" : "NODE NODE SOURCE GAIN");

    if (!rc && s->count > count)
        return cir_refuse(x->said, &s->at[count], "found %s; allowed: %s, and nothing more",
                          s->at[count].text,
                          by_voltage ? "NODE NODE NODE NODE GAIN" : "NODE NODE SOURCE GAIN");
    for (unsigned i = 0; !rc && by_voltage && i < 2; i++)
        rc = cir_node_of(x, &s->at[3 + i], &e->node[2 + i]);
    return rc ? rc : number_of(x, &s->at[count - 1], &e->value);
}

/* --- one statement ---------------------------------------------------------------------------- */

static int coupling(struct cir_expander *x, struct cir_element *e, const struct cir_statement *s)
{
    int rc = cir_need(x, s, 4, "K INDUCTOR INDUCTOR ... COEFFICIENT");
    const struct cir_token *last = &s->at[s->count - 1];

    if (!rc)
        rc = number_of(x, last, &e->value);
    if (!rc && !(fabs(e->value) < 1))
        return cir_refuse(x->said, last,
                          "found a coupling of %g; allowed: between -1 and 1. For an ideal "
                          "transformer, E and F",
                          e->value);
    return rc;
}

static int read_element(struct cir_expander *x, struct cir_element *e,
                        const struct cir_statement *s)
{
    switch (e->kind) {
    case CIR_RESISTOR:
    case CIR_INDUCTOR:
    case CIR_CAPACITOR:
        return passive(x, e, s);
    case CIR_COUPLING:
        return coupling(x, e, s);
    case CIR_VOLTAGE_SOURCE:
    case CIR_CURRENT_SOURCE:
        return source(x, e, s);
    case CIR_SWITCH:
        return cir_read_switch(x, e, s);
    case CIR_DIODE:
        return cir_read_diode(x, e, s);
    default:
        return linear_source(x, e, s);
    }
}

static int take_element(struct cir_expander *x, const struct cir_statement *s, enum cir_kind kind)
{
    struct cir_netlist *n = x->netlist;
    struct cir_element e = {.kind = kind, .name = prefixed(x, s->at[0].text), .at = &s->at[0]};
    int rc = e.name ? 0 : cir_say_no_memory(x->said);

    if (!rc && cir_element_find(n, e.name) >= 0)
        rc = cir_refuse(x->said, &s->at[0], "found %s again; allowed: another name", e.name);
    if (!rc && n->element_count == ELEMENTS_MAX)
        rc = cir_refuse(x->said, &s->at[0], "found more than %d elements; allowed: no more",
                        ELEMENTS_MAX);
    if (!rc && kind != CIR_COUPLING) {
        rc = cir_need(x, s, 3, "NAME NODE NODE ...");
        for (unsigned i = 0; !rc && i < 2; i++)
            rc = cir_node_of(x, &s->at[1 + i], &e.node[i]);
    }
    if (!rc)
        rc = read_element(x, &e, s);
    if (rc)
        return rc;
    if (cir_grow(&n->elements, n->element_count, sizeof *n->elements))
        return cir_say_no_memory(x->said);
    n->elements[n->element_count++] = e;
    return 0;
}

static int find_named(struct cir_expander *x, const struct cir_token *token, enum cir_kind kind,
                      const char *what, unsigned *element)
{
    const char *name = prefixed(x, token->text);
    const int found = name ? cir_element_find(x->netlist, name) : -1;

    if (!name)
        return cir_say_no_memory(x->said);
    if (found < 0 || x->netlist->elements[found].kind != kind)
        return cir_refuse(x->said, token, "found %s, which is no %s here; allowed: the name of one",
                          token->text, what);
    *element = (unsigned)found;
    return 0;
}

/* Couples two of the inductors that a statement names. */
static int couple(struct cir_expander *x, const struct cir_statement *s, unsigned first,
                  unsigned second, struct cir_element *k)
{
    int rc = find_named(x, &s->at[first], CIR_INDUCTOR, "inductor", &k->of[0]);

    if (!rc)
        rc = find_named(x, &s->at[second], CIR_INDUCTOR, "inductor", &k->of[1]);
    if (!rc && k->of[0] == k->of[1])
        return cir_refuse(x->said, &s->at[second],
                          "found %s coupled to itself; allowed: another inductor",
                          s->at[second].text);
    return rc;
}

/* One element for each pair: the first is there already. */
static int couple_all(struct cir_expander *x, const struct cir_statement *s, unsigned place)
{
    struct cir_netlist *n = x->netlist;
    int rc = couple(x, s, 1, 2, &n->elements[place]);

    for (unsigned second = 3; !rc && second + 1 < s->count; second++)
        for (unsigned first = 1; !rc && first < second; first++) {
            if (cir_grow(&n->elements, n->element_count, sizeof *n->elements))
                return cir_say_no_memory(x->said);
            n->elements[n->element_count] = n->elements[place];
            rc = couple(x, s, first, second, &n->elements[n->element_count++]);
        }
    return rc;
}

/* Elements that name others. */
static int connect(struct cir_expander *x, const struct cir_statement *s)
{
    const char *name = prefixed(x, s->at[0].text);
    const int found = name ? cir_element_find(x->netlist, name) : -1;

    if (found < 0 || x->netlist->elements[found].at != &s->at[0])
        return 0;
    struct cir_element *e = &x->netlist->elements[found];
    if (e->kind == CIR_CCCS || e->kind == CIR_CCVS)
        return find_named(x, &s->at[3], CIR_VOLTAGE_SOURCE, "voltage source", &e->of[0]);
    return e->kind == CIR_COUPLING ? couple_all(x, s, (unsigned)found) : 0;
}

/* --- subcircuits ------------------------------------------------------------------------------ */

static int expand_scope(struct cir_expander *x);

/* The count of words before the parameters NAME=VALUE, and before "params:". */
static unsigned plain_words(const struct cir_statement *s, unsigned *parameters)
{
    unsigned count = s->count;

    for (unsigned i = 1; i < s->count; i++)
        if (strcmp(s->at[i].text, "=") == 0) {
            count = i - 1;
            break;
        }
    *parameters = count;
    for (unsigned i = 1; i < count; i++)
        if (strcmp(s->at[i].text, "params:") == 0) {
            *parameters = i + 1;
            return i;
        }
    return count;
}

static int give_nodes(struct cir_expander *x, struct cir_scope *inner,
                      const struct cir_statement *call, unsigned words,
                      const struct cir_statement *definition, unsigned formals)
{
    int rc = 0;

    if (words - 2 != formals - 2)
        return cir_refuse(x->said, &call->at[0], "found %u nodes; allowed: the %u of .subckt %s",
                          words - 2, formals - 2, definition->at[1].text);
    inner->formal = calloc(formals, sizeof *inner->formal);
    inner->actual = calloc(formals, sizeof *inner->actual);
    if (!inner->formal || !inner->actual)
        return cir_say_no_memory(x->said);
    for (unsigned i = 2; !rc && i < formals; i++) {
        inner->formal[inner->node_count] = &definition->at[i];
        rc = cir_node_of(x, &call->at[i - 1], &inner->actual[inner->node_count++]);
    }
    return rc;
}

/* The number of statements between .subckt and its .ends. */
static unsigned definition_length(const struct cir_scope *owner, unsigned place)
{
    unsigned depth = 1, i = place + 1;

    for (; i < owner->statement_count; i++) {
        const char *word = owner->statements[i].at[0].text;
        depth += strcmp(word, ".subckt") == 0;
        depth -= strcmp(word, ".ends") == 0;
        if (!depth)
            break;
    }
    return i - place - 1;
}

static int expand_call(struct cir_expander *x, const struct cir_statement *s)
{
    unsigned parameters, words = plain_words(s, &parameters), place, defaults;
    struct cir_scope *owner;

    if (words < 2)
        return cir_refuse(x->said, &s->at[0],
                          "found %s without a subcircuit; allowed: X NODE ... SUBCIRCUIT",
                          s->at[0].text);
    const struct cir_token *name = &s->at[words - 1];
    const struct cir_statement *definition =
        cir_scope_find(x->scope, ".subckt", name->text, &owner, &place);
    if (!definition)
        return cir_refuse(x->said, name,
                          "there is no .subckt %s; allowed: one that is in the netlist or included",
                          name->text);
    if (x->scope->depth == SUBCIRCUIT_DEPTH)
        return cir_refuse(x->said, name,
                          "found subcircuits that are more than %d deep; allowed: no more",
                          SUBCIRCUIT_DEPTH);
    struct cir_scope inner = {.outer = owner, .depth = x->scope->depth + 1, .said = x->said};
    const size_t length = strlen(x->scope->prefix) + strlen(s->at[0].text) + 2;
    char *prefix = cir_allocate(&x->netlist->blocks, length);
    if (!prefix)
        return cir_say_no_memory(x->said);
    snprintf(prefix, length, "%s%s.", x->scope->prefix, s->at[0].text);
    inner.prefix = prefix;
    inner.statements = definition + 1;
    inner.statement_count = definition_length(owner, place);
    const unsigned formals = plain_words(definition, &defaults);
    int rc = give_nodes(x, &inner, s, words, definition, formals);
    if (!rc)
        rc = cir_scope_add(&inner, definition, defaults, &inner);
    if (!rc)
        rc = cir_scope_add_all(&inner);
    if (!rc)
        rc = cir_scope_add(&inner, s, parameters, x->scope);
    struct cir_expander in = *x;
    in.scope = &inner;
    if (!rc)
        rc = expand_scope(&in);
    cir_scope_close(&inner);
    return rc;
}

/* --- statements ------------------------------------------------------------------------------- */

/* Statements that say nothing about the circuit, or that others have read. */
static bool is_passed_over(const char *word)
{
    static const char *const words[] = {
        "*hiloco", ".param",   ".params", ".model",   ".ends",   ".subckt",  ".ic",
        ".tran",   ".options", ".option", ".opt",     ".print",  ".plot",    ".save",
        ".probe",  ".title",   ".meas",   ".measure", ".global", ".nodeset", ".width",
        ".four",   ".op",      ".ac",     ".dc",      ".noise",  ".temp",    ".tf",
    };

    for (unsigned i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(words[i], word) == 0)
            return true;
    return false;
}

/* What to write instead of a statement that is not taken. */
static const char *instead_of(const char *word)
{
    if (strcmp(word, ".lib") == 0)
        return ". Instead of .lib write .include FILE";
    if (strcmp(word, ".func") == 0)
        return ". Instead of .func write the expression where it is needed";
    if (word[0] == 'w')
        return ". Instead of w write a switch S that a gate turns; or take ngspice, as "
               "ngspice:FILE";
    if (strchr("mqjbz", word[0]))
        return ". Instead of a transistor write a switch and a diode; instead of a nonlinear "
               "source, a linear one; or take ngspice, as ngspice:FILE";
    return "";
}

static int expand_statement(struct cir_expander *x, const struct cir_statement *s)
{
    static const char letters[] = "rlckviefghsd";
    static const enum cir_kind kinds[] = {
        CIR_RESISTOR,       CIR_INDUCTOR,       CIR_CAPACITOR, CIR_COUPLING,
        CIR_VOLTAGE_SOURCE, CIR_CURRENT_SOURCE, CIR_VCVS,      CIR_CCCS,
        CIR_VCCS,           CIR_CCVS,           CIR_SWITCH,    CIR_DIODE,
    };
    const char *word = s->at[0].text;
    const char *letter = strchr(letters, word[0]);

    if (is_passed_over(word))
        return 0;
    if (word[0] == 'x')
        return expand_call(x, s);
    if (!letter)
        return cir_refuse(x->said, &s->at[0], "found %s; allowed: %s%s", word, elements_allowed,
                          instead_of(word));
    return take_element(x, s, kinds[letter - letters]);
}

static int expand_scope(struct cir_expander *x)
{
    const struct cir_scope *scope = x->scope;
    int rc = 0;

    for (unsigned i = cir_scope_next(scope, 0); !rc && i < scope->statement_count;
         i = cir_scope_next(scope, i + 1))
        rc = expand_statement(x, &scope->statements[i]);
    for (unsigned i = cir_scope_next(scope, 0); !rc && i < scope->statement_count;
         i = cir_scope_next(scope, i + 1))
        rc = connect(x, &scope->statements[i]);
    return rc;
}

/* .ic v(NODE)=V ...: the voltage of a capacitor that has no ic of its own. */
static int take_ic(struct cir_expander *x, const struct cir_statement *s, double *volts)
{
    int rc = 0;

    for (unsigned i = 1; !rc && i < s->count; i += 6) {
        if (i + 5 >= s->count || strcmp(s->at[i].text, "v") != 0 ||
            strcmp(s->at[i + 4].text, "=") != 0)
            return cir_refuse(x->said, &s->at[i], "found %s; allowed: .ic v(NODE)=V",
                              s->at[i].text);
        const int node = cir_node_find(x->netlist, s->at[i + 2].text);
        if (node < 0)
            return cir_refuse(x->said, &s->at[i + 2],
                              "there is no node %s; allowed: one of the circuit",
                              s->at[i + 2].text);
        rc = number_of(x, &s->at[i + 5], &volts[node]);
    }
    return rc;
}

static int take_all_ic(struct cir_expander *x)
{
    struct cir_netlist *n = x->netlist;
    double *volts = cir_allocate(&n->blocks, n->node_count * sizeof *volts);
    int rc = volts ? 0 : cir_say_no_memory(x->said);

    for (unsigned i = 0; !rc && i < x->scope->statement_count; i++)
        if (strcmp(x->scope->statements[i].at[0].text, ".ic") == 0)
            rc = take_ic(x, &x->scope->statements[i], volts);
    for (unsigned i = 0; !rc && i < n->element_count; i++) {
        struct cir_element *e = &n->elements[i];
        if (e->kind == CIR_CAPACITOR && !e->has_initial)
            e->initial = volts[e->node[0]] - volts[e->node[1]];
    }
    return rc;
}

static int take_tran(struct cir_expander *x)
{
    double *const to[] = {&x->tran.step_s, &x->tran.stop_s};
    int rc = 0;

    for (unsigned i = 0; i < x->scope->statement_count; i++) {
        const struct cir_statement *s = &x->scope->statements[i];
        for (unsigned k = 0;
             !rc && k < 2 && strcmp(s->at[0].text, ".tran") == 0 && k + 1 < s->count; k++)
            rc = number_of(x, &s->at[k + 1], to[k]);
    }
    return rc;
}

static int set_declared(struct cir_expander *x, const double *values)
{
    const struct cir_table *table = &x->declarations->parameters;

    for (unsigned i = 0; i < table->count; i++) {
        const struct cir_link *link = &table->links[i];
        if (!cir_scope_has(x->scope, link->name))
            return cir_refuse(x->said, link->at,
                              "there is no .param %s; allowed: one of the netlist", link->name);
        const int rc = cir_scope_set(x->scope, link->name, values[i]);
        if (rc)
            return rc;
    }
    return 0;
}

int cir_netlist_expand(struct cir_netlist *netlist, const struct cir_text *text,
                       const struct cir_declarations *declarations, const double *values,
                       const struct cir_said *said)
{
    struct cir_scope scope = {
        .prefix = "", .statements = text->at, .statement_count = text->count, .said = said};
    struct cir_expander x = {netlist, declarations, &scope, said, {0, 0}};
    unsigned ground;

    *netlist = (struct cir_netlist){0};
    int rc = add_node(&x, "0", &ground);
    if (!rc)
        rc = cir_scope_add_all(&scope);
    if (!rc)
        rc = set_declared(&x, values);
    if (!rc)
        rc = take_tran(&x);
    netlist->tran = x.tran;
    netlist->units = declarations->units;
    netlist->unit_count = declarations->unit_count;
    if (!rc)
        rc = expand_scope(&x);
    if (!rc)
        rc = take_all_ic(&x);
    cir_scope_close(&scope);
    if (rc)
        cir_netlist_close(netlist);
    return rc;
}

void cir_netlist_close(struct cir_netlist *netlist)
{
    free(netlist->elements);
    free(netlist->nodes);
    cir_free_all(&netlist->blocks);
    *netlist = (struct cir_netlist){0};
}
