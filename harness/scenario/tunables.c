#include "tunables.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/pool.h"

/* --- parameters ------------------------------------------------------------------------------ */

static int tunables_add(struct hil_system *s, const struct hil_tunable *one)
{
    struct hil_tunable *more = hil_pool_more(s->pool, s->tunables, s->tunable_count, sizeof *more);

    if (!more)
        return -ENOMEM;
    s->tunables = more;
    s->tunables[s->tunable_count++] = *one;
    return 0;
}

static int tunables_of_component(struct hil_system *s, unsigned number)
{
    const struct hil_component *c = &s->components[number];
    const unsigned places = c->model->tune ? hil_places_before(&c->model->parameters, c->width,
                                                               c->model->parameters.count)
                                           : 0;
    int rc = 0;

    for (unsigned place = 0; !rc && place < places; place++) {
        const struct hil_quantity *row = hil_place_row(&c->model->parameters, c->width, place);
        if (!hil_may_tune(c->model, row))
            continue;
        const struct hil_tunable one = {.component = number,
                                        .place = place,
                                        .min = row->min,
                                        .max = row->max,
                                        .nodes = &c->node,
                                        .node_count = 1};
        rc = tunables_add(s, &one);
        s->nodes[c->node].tuned = true;
    }
    return rc;
}

/* --- sources --------------------------------------------------------------------------------- */

/* Narrows the range so that scale x + offset stays in the input's range. */
static void tunables_narrow(struct hil_tunable *one, const struct hil_feed *feed,
                            const struct hil_quantity *row)
{
    const double a = (row->min - feed->offset) / feed->scale;
    const double b = (row->max - feed->offset) / feed->scale;

    if (feed->scale == 0)
        return;
    one->min = fmax(one->min, fmin(a, b));
    one->max = fmin(one->max, fmax(a, b));
}

/* The component that owns the node's input at this position. */
static const struct hil_component *tunables_owner(const struct hil_system *s, unsigned node,
                                                  unsigned input)
{
    const struct hil_node_config *n = &s->nodes[node];
    unsigned i = 0;

    while (input - s->components[n->components[i]].in >= s->components[n->components[i]].in_count)
        i++;
    return &s->components[n->components[i]];
}

static bool tunables_feeds(const struct hil_feed *feed, unsigned source)
{
    return feed->kind == HIL_FEED_SOURCE && feed->from == source;
}

/* Whether the source feeds the node; narrows the range to that of the inputs. */
static bool tunables_look_at_node(const struct hil_system *s, unsigned node,
                                  struct hil_tunable *one)
{
    const struct hil_node_config *n = &s->nodes[node];
    bool feeds = false;

    for (unsigned i = 0; i < n->in_count; i++) {
        if (!tunables_feeds(&n->feeds[i], one->source))
            continue;
        const struct hil_component *c = tunables_owner(s, node, i);
        tunables_narrow(one, &n->feeds[i], hil_place_row(&c->model->inputs, c->width, i - c->in));
        feeds = true;
    }
    return feeds;
}

static int tunables_of_source(struct hil_system *s, unsigned source)
{
    struct hil_tunable one = {
        .is_source = true, .source = source, .min = -INFINITY, .max = INFINITY};
    unsigned *nodes = NULL;

    for (unsigned n = 0; n < s->node_count; n++) {
        if (!tunables_look_at_node(s, n, &one))
            continue;
        nodes = hil_pool_more(s->pool, nodes, one.node_count, sizeof *nodes);
        if (!nodes)
            return -ENOMEM;
        nodes[one.node_count++] = n;
        s->nodes[n].tuned = true;
    }
    one.nodes = nodes;
    return one.node_count ? tunables_add(s, &one) : 0;
}

int hil_tunables_make(struct hil_system *s)
{
    int rc = 0;

    for (unsigned i = 0; !rc && i < s->component_count; i++)
        rc = tunables_of_component(s, i);
    for (unsigned i = 0; !rc && i < s->source_count; i++)
        rc = tunables_of_source(s, i);
    return rc;
}

/* --- asking ---------------------------------------------------------------------------------- */

/* Sources of one entry have the same name, and are consecutive. */
static void tunables_source_name(const struct hil_system *s, unsigned source,
                                 char text[HIL_SIGNAL_NAME_BYTES])
{
    const char *name = s->sources[source].name;
    unsigned first = source, end = source + 1;

    while (first > 0 && strcmp(s->sources[first - 1].name, name) == 0)
        first--;
    while (end < s->source_count && strcmp(s->sources[end].name, name) == 0)
        end++;
    const struct hil_instance is = {name, source - first, end - first > 1 ? end - first : 0};
    hil_instance_name(&is, text);
}

void hil_tunable_name(const struct hil_system *s, const struct hil_tunable *t,
                      char text[HIL_SIGNAL_NAME_BYTES])
{
    char place[HIL_SIGNAL_NAME_BYTES];

    if (t->is_source) {
        tunables_source_name(s, t->source, text);
        return;
    }
    const struct hil_component *c = &s->components[t->component];
    hil_instance_name(&c->is, text);
    hil_place_name(&c->model->parameters, c->width, t->place, place);
    const size_t used = strlen(text);
    snprintf(text + used, HIL_SIGNAL_NAME_BYTES - used, ".%s", place);
}

const struct hil_quantity *hil_tunable_row(const struct hil_system *s, const struct hil_tunable *t)
{
    const struct hil_component *c = &s->components[t->component];

    return t->is_source ? NULL : hil_place_row(&c->model->parameters, c->width, t->place);
}

const char *hil_tunable_unit(const struct hil_system *s, const struct hil_tunable *t)
{
    return t->is_source ? s->sources[t->source].unit : hil_tunable_row(s, t)->unit;
}

static int tunables_compare(const void *a, const void *b)
{
    const unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;

    return (x > y) - (x < y);
}

bool hil_tunable_concerns(const struct hil_tunable *t, unsigned node)
{
    return bsearch(&node, t->nodes, t->node_count, sizeof *t->nodes, tunables_compare) != NULL;
}

/* Whether this is the name of a node's input that a source feeds without scale or offset. */
static bool tunables_input_is(const struct hil_system *s, unsigned node, unsigned input,
                              const char *name)
{
    const struct hil_feed *feed = &s->nodes[node].feeds[input];
    char is[HIL_SIGNAL_NAME_BYTES];

    if (feed->kind != HIL_FEED_SOURCE || feed->scale != 1 || feed->offset != 0)
        return false;
    const struct hil_component *c = tunables_owner(s, node, input);
    const struct hil_signal signal = {.component = (unsigned)(c - s->components),
                                      .number = input - c->in};
    hil_signal_name(s, &signal, is);
    return strcmp(is, name) == 0;
}

int hil_tunable_of_input(const struct hil_system *s, const char *name)
{
    for (unsigned n = 0; n < s->node_count; n++)
        for (unsigned i = 0; i < s->nodes[n].in_count; i++) {
            if (!tunables_input_is(s, n, i, name))
                continue;
            for (unsigned t = 0; t < s->tunable_count; t++)
                if (s->tunables[t].is_source && s->tunables[t].source == s->nodes[n].feeds[i].from)
                    return (int)t;
        }
    return -1;
}
