/*
 * Parses the names of nodes, components and signals in a scenario: converter[3], motor.speed_rad_s,
 * cell[*].current_a, mixer.input[2].
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/list.h"
#include "general.h"

enum { REFERENCE_NAMES = 64 }; /* the most names in a message */

/* Parses "[2]", "[0-9]" or "[*]" in the text; an empty text is also allowed. */
static bool reference_index(const char **text, const char *end, struct general_index *index)
{
    char digits[32];

    *index = (struct general_index){0};
    if (*text == end || **text != '[')
        return true;
    const char *close = memchr(*text, ']', (size_t)(end - *text));
    const size_t length = close ? (size_t)(close - *text) - 1 : 0;
    if (length == 0 || length >= sizeof digits)
        return false;
    memcpy(digits, *text + 1, length);
    digits[length] = '\0';
    *text = close + 1;
    index->given = true;
    index->all = strcmp(digits, "*") == 0;
    return index->all || scenario_ids_parse(digits, &index->first, &index->last);
}

/* "NAME, or NAME[0] to NAME[9]", or the name alone. */
static void reference_allowed(const char *name, unsigned of, char *text, size_t size)
{
    if (of == 0)
        snprintf(text, size, "%s", name);
    else
        snprintf(text, size, "%s, or %s[0] to %s[%u]", name, name, name, of - 1);
}

bool general_index_in(struct general_index *index, unsigned of)
{
    if (!index->given || index->all)
        index->first = 0, index->last = of == 0 ? 0 : of - 1;
    return index->last < (of == 0 ? 1 : of);
}

/* The message for an unknown name; these names of its `kind` exist. */
static void reference_unknown(const char *kind, const char *const *names, unsigned count,
                              const char *text, size_t length, char message[HIL_REFERENCE_BYTES])
{
    char word[80], choice[SCENARIO_CHOICE_BYTES];

    snprintf(word, sizeof word, "%.*s", (int)length, text);
    scenario_say_choice(word, names, count, choice);
    snprintf(message, HIL_REFERENCE_BYTES, "there is no %s '%s'%s", kind, word, choice);
}

/* Finds which elements of the array the text refers to. The text begins with the array's name. */
static bool reference_pick(const char *kind, const struct hil_array *of, const char *text,
                           size_t length, unsigned *first, unsigned *last,
                           char message[HIL_REFERENCE_BYTES])
{
    const char *end = text + length, *at = text + strlen(of->name);
    char allowed[256];
    struct general_index index;

    if (reference_index(&at, end, &index) && at == end && general_index_in(&index, of->of)) {
        *first = of->first + index.first;
        *last = of->first + index.last;
        return true;
    }
    reference_allowed(of->name, of->of, allowed, sizeof allowed);
    snprintf(message, HIL_REFERENCE_BYTES, "'%.*s' is none of the %u %s%s called %s; allowed: %s",
             (int)length, text, of->count, kind, of->count == 1 ? "" : "s", of->name, allowed);
    return false;
}

static size_t reference_name_length(const char *text, size_t length)
{
    const char *bracket = memchr(text, '[', length);

    return bracket ? (size_t)(bracket - text) : length;
}

bool general_find(const struct general *g, const struct general_groups *groups,
                  const struct scenario_node *node, size_t length, unsigned *first, unsigned *last)
{
    const size_t name = reference_name_length(node->text, length);
    const int found = hil_names_find(&groups->names, node->text, name);
    const char *names[REFERENCE_NAMES];
    char message[HIL_REFERENCE_BYTES];
    unsigned count = 0;

    if (found >= 0) {
        const struct general_group *group = &groups->at[found];
        const struct hil_array of = {group->name, group->first, group->count, group->of};
        if (reference_pick(groups->kind, &of, node->text, length, first, last, message))
            return true;
    } else {
        for (; count < groups->count && count < REFERENCE_NAMES; count++)
            names[count] = groups->at[count].name;
        reference_unknown(groups->kind, names, count, node->text, name, message);
    }
    scenario_mistake(g->report, &node->at, "%s", message);
    return false;
}

bool hil_system_find_nodes(const struct hil_system *s, const char *text, size_t length,
                           unsigned *first, unsigned *last, char message[HIL_REFERENCE_BYTES])
{
    const size_t name = reference_name_length(text, length);
    const char *names[REFERENCE_NAMES];
    unsigned count = 0;

    for (unsigned i = 0; i < s->node_array_count; i++) {
        const struct hil_array *of = &s->node_arrays[i];
        if (strlen(of->name) == name && memcmp(of->name, text, name) == 0)
            return reference_pick("node", of, text, length, first, last, message);
    }
    for (; count < s->node_array_count && count < REFERENCE_NAMES; count++)
        names[count] = s->node_arrays[count].name;
    reference_unknown("node", names, count, text, name, message);
    return false;
}

bool general_find_measures(const struct general *g, const struct scenario_node *node,
                           unsigned *first, unsigned *last)
{
    const size_t length = strlen(node->text), name = reference_name_length(node->text, length);
    const struct hil_measure *m = g->system->measures;
    const char *names[REFERENCE_NAMES];
    char message[HIL_REFERENCE_BYTES];
    unsigned count = 0;

    for (unsigned i = 0; i < g->system->measure_count; i += m[i].is.of ? m[i].is.of : 1) {
        const struct hil_array of = {m[i].is.name, i, m[i].is.of ? m[i].is.of : 1, m[i].is.of};
        if (count < REFERENCE_NAMES)
            names[count++] = of.name;
        if (strlen(of.name) != name || memcmp(of.name, node->text, name) != 0)
            continue;
        if (reference_pick("measure", &of, node->text, length, first, last, message))
            return true;
        scenario_mistake(g->report, &node->at, "%s", message);
        return false;
    }
    reference_unknown("measure", names, count, node->text, name, message);
    scenario_mistake(g->report, &node->at, "%s", message);
    return false;
}

/* --- signals ------------------------------------------------------------------------------- */

void general_name(const struct general *g, struct general_element element, bool output,
                  char text[HIL_SIGNAL_NAME_BYTES])
{
    const struct hil_signal signal = {
        .component = element.component, .output = output, .number = element.number};

    hil_signal_name(g->system, &signal, text);
}

static int reference_add(struct general_elements *elements, struct general_element element)
{
    struct general_element *more = hil_list_more(elements->at, elements->count, sizeof *more);

    if (!more)
        return -ENOMEM;
    elements->at = more;
    elements->at[elements->count++] = element;
    return 0;
}

/* The place of a signal in a model. */
struct signal_row {
    const struct hil_quantities *table;
    unsigned row;
    bool output;
};

static bool reference_row(const struct hil_model *m, const char *name, enum general_side side,
                          struct signal_row *found)
{
    const int output = side & GENERAL_OUTPUTS ? hil_quantity_find(&m->outputs, name) : -1;
    const int input = side & GENERAL_INPUTS ? hil_quantity_find(&m->inputs, name) : -1;

    if (output >= 0)
        *found = (struct signal_row){&m->outputs, (unsigned)output, true};
    else if (input >= 0)
        *found = (struct signal_row){&m->inputs, (unsigned)input, false};
    return output >= 0 || input >= 0;
}

static void reference_names(const struct hil_quantities *table, const char **names, unsigned *count)
{
    for (unsigned i = 0; i < table->count; i++)
        names[(*count)++] = table->at[i].name;
}

static void reference_no_signal(const struct general *g, const struct scenario_node *node,
                                const struct hil_component *c, const char *name,
                                enum general_side side)
{
    const char *names[2 * HIL_QUANTITIES_MAX];
    char choice[SCENARIO_CHOICE_BYTES];
    unsigned count = 0;

    if (side & GENERAL_OUTPUTS)
        reference_names(&c->model->outputs, names, &count);
    if (side & GENERAL_INPUTS)
        reference_names(&c->model->inputs, names, &count);
    scenario_say_choice(name, names, count, choice);
    scenario_mistake(g->report, &node->at, "%s, %s %s, has no %s '%s'%s", c->is.name,
                     scenario_article(c->model->name), c->model->name,
                     side == GENERAL_EITHER    ? "signal"
                     : side == GENERAL_OUTPUTS ? "output"
                                               : "input",
                     name, choice);
}

/* Finds the signal of one component. */
static int reference_of(const struct general *g, const struct scenario_node *node, unsigned i,
                        const char *name, struct general_index index, enum general_side side,
                        struct general_elements *elements)
{
    const struct hil_component *c = &g->system->components[i];
    struct signal_row found;

    if (!reference_row(c->model, name, side, &found)) {
        reference_no_signal(g, node, c, name, side);
        return -EINVAL;
    }
    const unsigned of = found.table->at[found.row].flags & HIL_WIDE ? c->width : 0;
    if (!general_index_in(&index, of)) {
        char allowed[256];
        reference_allowed(name, of, allowed, sizeof allowed);
        scenario_mistake(g->report, &node->at,
                         "'%.100s' is none of the %u places of %s; allowed: %s", node->text,
                         of ? of : 1, name, allowed);
        return -EINVAL;
    }
    const unsigned shift = side == GENERAL_EITHER && !found.output ? c->out_count : 0;
    const unsigned base = hil_places_before(found.table, c->width, found.row) + shift;
    for (unsigned k = index.first; k <= index.last; k++) {
        int rc = reference_add(elements, (struct general_element){i, base + k});
        if (rc)
            return rc;
    }
    return 0;
}

int general_split(const struct general *g, const struct scenario_node *node, const char *thing,
                  const char *allowed, struct general_named *named)
{
    const char *dot = strchr(node->text, '.');

    if (!dot) {
        scenario_mistake(g->report, &node->at, "'%.100s' names no %s; allowed: %s", node->text,
                         thing, allowed);
        return -EINVAL;
    }
    if (!general_find(g, &g->components, node, (size_t)(dot - node->text), &named->first,
                      &named->last))
        return -EINVAL;
    const size_t length = strcspn(dot + 1, "[");
    const char *rest = dot + 1 + length, *end = rest + strlen(rest);
    snprintf(named->name, sizeof named->name, "%.*s", (int)(length < 79 ? length : 79), dot + 1);
    if (reference_index(&rest, end, &named->index) && rest == end)
        return 0;
    scenario_mistake(g->report, &node->at,
                     "'%.100s' does not end in the number of a %s; allowed: [2], [0-3] or [*]",
                     node->text, thing);
    return -EINVAL;
}

int general_signals(const struct general *g, const struct scenario_node *node,
                    enum general_side side, struct general_elements *elements)
{
    struct general_named named;
    int rc =
        general_split(g, node, "signal",
                      "COMPONENT.SIGNAL, as in motor.speed_rad_s or cell[*].current_a", &named);

    for (unsigned i = named.first; !rc && i <= named.last; i++)
        rc = reference_of(g, node, i, named.name, named.index, side, elements);
    return rc;
}

unsigned general_text_count(const struct scenario_node *node)
{
    return !node ? 0 : node->kind == SCENARIO_SEQUENCE ? (unsigned)node->count : 1;
}

const struct scenario_node *general_text_at(const struct scenario_node *node, unsigned i)
{
    return node->kind == SCENARIO_SEQUENCE ? node->entries[i].value : node;
}
