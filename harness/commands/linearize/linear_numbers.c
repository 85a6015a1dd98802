#include "linear_numbers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/list.h"
#include "../../run/step_parts.h"

static struct linear_quantity *numbers_add(struct linear_numbers *n, double *at, unsigned component)
{
    double **more = hil_list_more(n->at, n->count, sizeof *more);

    n->at = more ? more : n->at;
    struct linear_quantity *is = more ? hil_list_more(n->is, n->count, sizeof *is) : NULL;
    n->is = is ? is : n->is;
    if (!is) {
        n->rc = -ENOMEM;
        return NULL;
    }
    n->at[n->count] = at;
    is[n->count] = (struct linear_quantity){.component = component};
    return &is[n->count++];
}

/* A number that belongs to a signal: "what motor.speed". */
static void numbers_add_signal(struct linear_numbers *n, double *at, const char *what,
                               const struct hil_signal *signal)
{
    struct linear_quantity *is = numbers_add(n, at, signal->component);
    char name[HIL_SIGNAL_NAME_BYTES];

    if (!is)
        return;
    hil_signal_name(n->system, signal, name);
    snprintf(is->name, sizeof is->name, "%s%s", what, name);
}

/* --- a component's own ------------------------------------------------------------------------ */

struct numbers_of {
    struct linear_numbers *numbers;
    const struct step_part *part;
    unsigned count;
};

static void numbers_of_state(void *arg, double *first, uint32_t count)
{
    struct numbers_of *of = arg;
    const struct hil_quantities *states = &of->part->model->states;
    char component[HIL_SIGNAL_NAME_BYTES];

    hil_instance_name(&of->part->config->is, component);
    for (uint32_t i = 0; i < count; i++, of->count++) {
        struct linear_quantity *is = numbers_add(of->numbers, first + i, of->part->number);
        if (is && of->count < states->count)
            snprintf(is->name, sizeof is->name, "%s.%s", component, states->at[of->count].name);
        else if (is)
            snprintf(is->name, sizeof is->name, "%s.state[%u]", component, of->count);
    }
}

/* Whether an input may still act on the next period. What a source gives to a sampled component
 * does not: it takes the newest in each step. */
static bool numbers_are_held(const struct step_part *p, enum hil_feed_kind feed)
{
    return feed == HIL_FEED_OUTPUT || feed == HIL_FEED_LINK ||
           (feed == HIL_FEED_SOURCE && p->model->kind == HIL_CONTINUOUS);
}

static void numbers_of_part(struct linear_numbers *n, const struct hil_step *s,
                            const struct step_part *p)
{
    const struct hil_component *c = p->config;
    struct numbers_of of = {n, p, 0};

    p->model->numbers(p->self, numbers_of_state, &of);
    for (unsigned i = 0; i < c->in_count; i++)
        if (numbers_are_held(p, s->node->config->feeds[c->in + i].kind))
            numbers_add_signal(n, p->in + i, "held ",
                               &(struct hil_signal){.component = p->number, .number = i});
    for (unsigned i = 0; i < p->out_count; i++) {
        const struct hil_signal out = {.component = p->number, .output = true, .number = i};
        numbers_add_signal(n, p->out + i, "", &out);
        if (p->next != p->out)
            numbers_add_signal(n, p->next + i, "next ", &out);
    }
}

/* --- what comes over links -------------------------------------------------------------------- */

/* The last message may be waiting to be taken. */
static void numbers_of_arrival(struct linear_numbers *n, const struct hil_step *s,
                               const struct step_arrival *a)
{
    const struct hil_link *link = &n->system->links[a->link];
    struct hil_message *waiting = (struct hil_message *)(void *)a->var->copy;

    for (unsigned i = 0; i < a->count; i++) {
        const struct hil_component *c = &n->system->components[link->components[i]];
        const struct hil_signal out = {
            .component = link->components[i], .output = true, .number = link->values[i] - c->out};
        numbers_add_signal(n, &s->values[a->at + i], "taken ", &out);
        numbers_add_signal(n, &waiting->values[i], "sent ", &out);
    }
}

static void numbers_of_node(struct linear_numbers *n, const struct hil_node *node)
{
    const struct hil_step *s = node->step;

    for (unsigned i = 0; i < s->part_count; i++)
        numbers_of_part(n, s, &s->parts[i]);
    for (unsigned i = 0; i < s->arrival_count; i++)
        numbers_of_arrival(n, s, &s->arrivals[i]);
}

/* --- outputs ---------------------------------------------------------------------------------- */

static struct linear_output *numbers_add_output(struct linear_numbers *n, unsigned count)
{
    struct linear_output *more = hil_list_more(n->outputs, n->output_count, sizeof *more);

    n->outputs = more ? more : n->outputs;
    double **at = more ? calloc(count + 1, sizeof *at) : NULL;
    if (!at) {
        n->rc = -ENOMEM;
        return NULL;
    }
    more[n->output_count] = (struct linear_output){.at = at, .count = count};
    return &more[n->output_count++];
}

static void numbers_of_measure(struct linear_numbers *n, const struct hil_measure *m)
{
    const struct hil_step *s = n->nodes[m->node]->step;
    struct linear_output *output = numbers_add_output(n, m->count);

    if (!output)
        return;
    hil_instance_name(&m->is, output->name);
    for (unsigned i = 0; i < m->count; i++)
        output->at[i] = &s->values[hil_step_signal_at(s, &m->signals[i])];
}

/* Without measures they are all outputs of components. */
static void numbers_of_outputs(struct linear_numbers *n, unsigned component)
{
    const struct hil_component *c = &n->system->components[component];
    const struct hil_step *s = n->nodes[c->node]->step;

    for (unsigned i = 0; i < c->out_count; i++) {
        struct linear_output *output = numbers_add_output(n, 1);
        if (!output)
            return;
        hil_signal_name(n->system,
                        &(struct hil_signal){.component = component, .output = true, .number = i},
                        output->name);
        output->at[0] = &s->values[s->out + c->out + i];
    }
}

double linear_output_now(const struct linear_output *output)
{
    double sum = 0;

    for (unsigned i = 0; i < output->count; i++)
        sum += *output->at[i];
    return sum;
}

/* --- sources ---------------------------------------------------------------------------------- */

static void numbers_move(struct hil_source *s, double by)
{
    switch (s->kind) {
    case HIL_SOURCE_CONSTANT:
        s->constant += by;
        break;
    case HIL_SOURCE_STEPS:
        s->steps.initial += by;
        for (unsigned i = 0; i < s->steps.count; i++)
            s->steps.changes[i].value += by;
        break;
    case HIL_SOURCE_SINE:
        s->sine.mean += by;
        break;
    case HIL_SOURCE_PULSES:
        s->pulses.low += by;
        s->pulses.high += by;
        break;
    case HIL_SOURCE_CSV:
    case HIL_SOURCE_RECORD:
        for (unsigned i = 0; i < s->column.count; i++)
            s->column.values[i] += by;
        break;
    }
}

/* A step latches a source's value only if it has changed. */
void linear_renew_sources(const struct linear_numbers *n)
{
    for (unsigned i = 0; i < n->system->node_count; i++)
        for (unsigned k = 0; k < n->nodes[i]->step->feed_count; k++)
            n->nodes[i]->step->feeds[k].fresh = true;
}

/* A node whose sources can be tuned has its own. */
void linear_move_source(const struct linear_numbers *n, unsigned source, double by)
{
    struct hil_source *own = &n->system->sources[source];

    numbers_move(own, by);
    for (unsigned i = 0; i < n->system->node_count; i++) {
        const struct hil_step *s = n->nodes[i]->step;
        for (unsigned k = 0; k < s->feed_count; k++) {
            struct hil_source *of = (struct hil_source *)(uintptr_t)s->feeds[k].source;
            if (of != own && s->node->config->sources[k] == source)
                numbers_move(of, by);
        }
    }
}

/* --- all -------------------------------------------------------------------------------------- */

int linear_numbers_find(struct linear_numbers *n, const struct hil_system *system,
                        const struct hil_between *between)
{
    *n = (struct linear_numbers){.system = system};
    n->nodes = calloc(system->node_count, sizeof(struct hil_node *));
    if (!n->nodes)
        return -ENOMEM;
    for (unsigned g = 0; g < 2; g++)
        for (unsigned i = 0; between->groups[g] && i < between->groups[g]->count; i++)
            n->nodes[between->groups[g]->nodes[i]->id] = between->groups[g]->nodes[i];
    for (unsigned i = 0; !n->rc && i < system->node_count; i++)
        numbers_of_node(n, n->nodes[i]);
    for (unsigned i = 0; !n->rc && i < system->measure_count; i++)
        numbers_of_measure(n, &system->measures[i]);
    for (unsigned i = 0; !n->rc && !system->measure_count && i < system->component_count; i++)
        numbers_of_outputs(n, i);
    return n->rc;
}

void linear_numbers_free(struct linear_numbers *n)
{
    for (unsigned i = 0; i < n->output_count; i++)
        free(n->outputs[i].at);
    free(n->outputs);
    free(n->nodes);
    free(n->at);
    free(n->is);
    *n = (struct linear_numbers){0};
}
