/*
 * Converts connections to what a step needs: the places of inputs and outputs in their node's
 * arrays, the links between nodes, the feed of each input, and the order in which components are
 * stepped.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "general.h"

/* --- places -------------------------------------------------------------------------------- */

/* Lists each node's components in the order of the file, and assigns their ranges in its arrays. */
static int wiring_places(struct general *g)
{
    struct hil_system *s = g->system;
    unsigned *lists = hil_pool_get(s->pool, s->component_count, sizeof *lists);
    unsigned at = 0;

    if (!lists)
        return -ENOMEM;
    for (unsigned i = 0; i < s->component_count; i++)
        s->nodes[s->components[i].node].component_count++;
    for (unsigned n = 0; n < s->node_count; n++) {
        s->nodes[n].components = lists + at;
        at += s->nodes[n].component_count;
        s->nodes[n].component_count = 0;
    }
    for (unsigned i = 0; i < s->component_count; i++) {
        struct hil_component *c = &s->components[i];
        struct hil_node_config *node = &s->nodes[c->node];
        ((unsigned *)node->components)[node->component_count++] = i;
        c->in = node->in_count;
        c->out = node->out_count;
        node->in_count += c->in_count;
        node->out_count += c->out_count;
    }
    for (unsigned n = 0; n < g->nodes.count; n++)
        for (unsigned i = 0; i < g->nodes.at[n].count; i++) {
            char name[HIL_SIGNAL_NAME_BYTES];
            const struct hil_node_config *node = &s->nodes[g->nodes.at[n].first + i];
            if (node->component_count)
                continue;
            hil_instance_name(&node->is, name);
            scenario_mistake(g->report, &g->nodes.at[n].block->at,
                             "the node %s has no component; allowed: at least one", name);
            break;
        }
    return 0;
}

/* --- the order of steps -------------------------------------------------------------------- */

/* For each sampled component, the components whose outputs it uses in the same step. */
struct wiring_needs {
    unsigned *first; /* component i needs of[first[i]] to of[first[i + 1] - 1] */
    unsigned *of;
};

static bool wiring_in_one_step(const struct hil_system *s, const struct general_edge *e)
{
    const struct hil_component *from = &s->components[e->from.component];
    const struct hil_component *to = &s->components[e->to.component];

    return from->node == to->node && from->model->kind == HIL_SAMPLED &&
           to->model->kind == HIL_SAMPLED && !from->computation_delay;
}

static int wiring_find_needs(const struct general *g, struct wiring_needs *needs)
{
    const struct hil_system *s = g->system;
    unsigned *next = calloc(s->component_count + 1, sizeof *next);

    needs->first = calloc(s->component_count + 1, sizeof *needs->first);
    needs->of = calloc(g->edge_count + 1, sizeof *needs->of);
    if (!next || !needs->first || !needs->of) {
        free(next);
        return -ENOMEM;
    }
    for (unsigned i = 0; i < g->edge_count; i++)
        if (wiring_in_one_step(s, &g->edges[i]))
            needs->first[g->edges[i].to.component + 1]++;
    for (unsigned i = 0; i < s->component_count; i++)
        next[i + 1] = needs->first[i + 1] += needs->first[i];
    for (unsigned i = 0; i < g->edge_count; i++)
        if (wiring_in_one_step(s, &g->edges[i]))
            needs->of[next[g->edges[i].to.component]++] = g->edges[i].from.component;
    free(next);
    return 0;
}

enum wiring_mark { WIRING_NEW, WIRING_OPEN, WIRING_DONE };

/* A depth-first walk through a component's needs. */
struct wiring_walk {
    struct wiring_needs needs;
    unsigned char *mark;
    unsigned *path, *looked; /* the components on the path, and how many needs of each were
                              * visited */
};

/* Reports a cycle: "a -> b -> a compute on each other". */
static void wiring_cycle(const struct general *g, const struct wiring_walk *w, unsigned depth,
                         unsigned again)
{
    char text[600] = "", name[HIL_SIGNAL_NAME_BYTES];
    size_t used = 0;
    unsigned first = 0;

    while (w->path[first] != again)
        first++;
    for (unsigned i = depth + 1; i-- > first && used < sizeof text - 200;) {
        hil_instance_name(&g->system->components[w->path[i]].is, name);
        used += (size_t)snprintf(text + used, sizeof text - used, "%s -> ", name);
    }
    hil_instance_name(&g->system->components[w->path[depth]].is, name);
    const struct general_group *group =
        &g->components.at[hil_names_find(&g->components.names, g->system->components[again].is.name,
                                         strlen(g->system->components[again].is.name))];
    scenario_mistake(g->report, &group->block->at,
                     "%s%s is a cycle of sampled components in one step; allowed: "
                     "computation_delay: true of one of them",
                     text, name);
}

/* Appends the component to its node's order, after everything that it needs. Returns false if there
 * is a cycle. */
static bool wiring_visit(const struct general *g, struct wiring_walk *w, unsigned component,
                         unsigned *order, unsigned *count)
{
    unsigned depth = 0;

    w->path[0] = component;
    w->looked[0] = 0;
    w->mark[component] = WIRING_OPEN;
    for (;;) {
        const unsigned at = w->path[depth], next = w->needs.first[at] + w->looked[depth]++;
        if (next == w->needs.first[at + 1]) {
            w->mark[at] = WIRING_DONE;
            order[(*count)++] = at;
            if (depth-- == 0)
                return true;
            continue;
        }
        const unsigned need = w->needs.of[next];
        if (w->mark[need] == WIRING_OPEN) {
            wiring_cycle(g, w, depth, need);
            return false;
        }
        if (w->mark[need] == WIRING_DONE)
            continue;
        w->mark[need] = WIRING_OPEN;
        w->path[++depth] = need;
        w->looked[depth] = 0;
    }
}

static void wiring_order_node(const struct general *g, struct wiring_walk *w,
                              struct hil_node_config *node, unsigned *order)
{
    unsigned count = 0;

    for (unsigned i = 0; i < node->component_count; i++)
        if (g->system->components[node->components[i]].model->kind == HIL_CONTINUOUS)
            order[count++] = node->components[i];
    node->continuous = count;
    for (unsigned i = 0; i < node->component_count; i++)
        if (g->system->components[node->components[i]].model->kind == HIL_SAMPLED &&
            w->mark[node->components[i]] == WIRING_NEW &&
            !wiring_visit(g, w, node->components[i], order, &count))
            return;
    node->components = order;
}

static int wiring_order(const struct general *g)
{
    const unsigned count = g->system->component_count;
    unsigned *order = hil_pool_get(g->system->pool, count, sizeof *order);
    struct wiring_walk w = {.mark = calloc(count + 1, 1),
                            .path = calloc(count + 1, sizeof *w.path),
                            .looked = calloc(count + 1, sizeof *w.looked)};
    int rc = order && w.mark && w.path && w.looked ? wiring_find_needs(g, &w.needs) : -ENOMEM;

    for (unsigned n = 0; !rc && n < g->system->node_count; n++) {
        wiring_order_node(g, &w, &g->system->nodes[n], order);
        order += g->system->nodes[n].component_count;
    }
    free(w.needs.first);
    free(w.needs.of);
    free(w.mark);
    free(w.path);
    free(w.looked);
    return rc;
}

/* --- links --------------------------------------------------------------------------------- */

/* A value that one node sends to another. */
struct wiring_value {
    unsigned from, to, out, component;
};

static int wiring_compare(const void *a, const void *b)
{
    const struct wiring_value *x = a, *y = b;

    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    return (x->out > y->out) - (x->out < y->out);
}

static struct wiring_value wiring_value_of(const struct hil_system *s, const struct general_edge *e)
{
    const struct hil_component *from = &s->components[e->from.component];

    return (struct wiring_value){from->node, s->components[e->to.component].node,
                                 from->out + e->from.number, e->from.component};
}

/* Collects all sent values, each once, in the order of links. */
static unsigned wiring_values(const struct general *g, struct wiring_value *values)
{
    unsigned count = 0, kept = 0;

    for (unsigned i = 0; i < g->edge_count; i++) {
        values[count] = wiring_value_of(g->system, &g->edges[i]);
        count += values[count].from != values[count].to;
    }
    qsort(values, count, sizeof *values, wiring_compare);
    for (unsigned i = 0; i < count; i++)
        if (i == 0 || wiring_compare(&values[i], &values[i - 1]) != 0)
            values[kept++] = values[i];
    return kept;
}

static int wiring_make_links(struct general *g, const struct wiring_value *values, unsigned count)
{
    struct hil_system *s = g->system;
    unsigned *outs = hil_pool_get(s->pool, count, sizeof *outs);
    unsigned *components = hil_pool_get(s->pool, count, sizeof *components);

    s->links = hil_pool_get(s->pool, count, sizeof s->links[0]);
    if (!outs || !components || !s->links)
        return -ENOMEM;
    for (unsigned i = 0; i < count; i++) {
        const struct wiring_value *v = &values[i];
        outs[i] = v->out;
        components[i] = v->component;
        if (i == 0 || v->from != values[i - 1].from || v->to != values[i - 1].to) {
            struct hil_node_config *sender = &s->nodes[v->from];
            if (sender->link_count++ == 0)
                sender->first_link = s->link_count;
            s->nodes[v->to].incoming_count++;
            s->links[s->link_count++] = (struct hil_link){
                .from = v->from, .to = v->to, .values = &outs[i], .components = &components[i]};
        }
        s->links[s->link_count - 1].count++;
    }
    return 0;
}

static int wiring_incoming(struct hil_system *s)
{
    unsigned *lists = hil_pool_get(s->pool, s->link_count, sizeof *lists);

    if (!lists)
        return -ENOMEM;
    for (unsigned n = 0; n < s->node_count; n++) {
        s->nodes[n].incoming = lists;
        lists += s->nodes[n].incoming_count;
        s->nodes[n].incoming_count = 0;
    }
    for (unsigned l = 0; l < s->link_count; l++) {
        struct hil_node_config *to = &s->nodes[s->links[l].to];
        ((unsigned *)to->incoming)[to->incoming_count++] = l;
    }
    return 0;
}

/* The array of links between two arrays of nodes; -1: none. */
static int wiring_find_array(const struct hil_system *s, unsigned from, unsigned to)
{
    for (unsigned i = 0; i < s->link_array_count; i++)
        if (s->link_arrays[i].from == from && s->link_arrays[i].to == to)
            return (int)i;
    return -1;
}

/* Sets each link's array, and creates new arrays. There are few arrays, and the links of one are
 * mostly consecutive. */
static int wiring_link_arrays(struct hil_system *s)
{
    s->link_arrays = hil_pool_get(s->pool, s->link_count, sizeof s->link_arrays[0]);
    if (!s->link_arrays)
        return -ENOMEM;
    for (unsigned l = 0; l < s->link_count; l++) {
        const unsigned from = s->nodes[s->links[l].from].array, to = s->nodes[s->links[l].to].array;
        int at = wiring_find_array(s, from, to);
        if (at < 0) {
            at = (int)s->link_array_count++;
            s->link_arrays[at] = (struct hil_link_array){.from = from, .to = to};
        }
        s->links[l].array = (unsigned)at;
    }
    for (unsigned i = 0; i < s->link_array_count; i++)
        s->link_arrays[i].back = wiring_find_array(s, s->link_arrays[i].to, s->link_arrays[i].from);
    return 0;
}

static int wiring_links(struct general *g)
{
    struct wiring_value *values = calloc(g->edge_count + 1, sizeof *values);
    int rc = values ? wiring_make_links(g, values, wiring_values(g, values)) : -ENOMEM;

    free(values);
    if (!rc)
        rc = wiring_incoming(g->system);
    return rc ? rc : wiring_link_arrays(g->system);
}

bool general_find_link(const struct hil_system *s, unsigned from, unsigned to, unsigned out,
                       unsigned *link, unsigned *at)
{
    const int l = hil_link_find(s, from, to);

    for (unsigned i = 0; l >= 0 && i < s->links[l].count; i++) {
        if (s->links[l].values[i] != out)
            continue;
        *link = (unsigned)l;
        *at = i;
        return true;
    }
    return false;
}

/* --- feeds --------------------------------------------------------------------------------- */

/* Stores the feeds of each node's inputs consecutively. */
static int wiring_node_feeds(struct general *g)
{
    struct hil_system *s = g->system;

    for (unsigned n = 0; n < s->node_count; n++) {
        struct hil_node_config *node = &s->nodes[n];
        struct hil_feed *feeds = hil_pool_get(s->pool, node->in_count, sizeof *feeds);
        if (!feeds)
            return -ENOMEM;
        for (unsigned i = 0; i < node->component_count; i++) {
            const struct hil_component *c = &s->components[node->components[i]];
            memcpy(feeds + c->in, g->feeds + g->first_input[node->components[i]],
                   c->in_count * sizeof *feeds);
        }
        node->feeds = feeds;
    }
    return 0;
}

/* Lists each source of the node once, in the order of the inputs that they feed. */
static int wiring_sources(struct general *g, struct hil_node_config *node)
{
    unsigned *sources = NULL;

    for (unsigned i = 0; i < node->in_count; i++) {
        const struct hil_feed *feed = &node->feeds[i];
        unsigned known = 0;
        if (feed->kind != HIL_FEED_SOURCE)
            continue;
        while (known < node->source_count && sources[known] != feed->from)
            known++;
        if (known < node->source_count)
            continue;
        sources = hil_pool_more(g->system->pool, sources, node->source_count, sizeof *sources);
        if (!sources)
            return -ENOMEM;
        sources[node->source_count++] = feed->from;
    }
    node->sources = sources;
    return 0;
}

static int wiring_all_sources(struct general *g)
{
    int rc = 0;

    for (unsigned n = 0; !rc && n < g->system->node_count; n++)
        rc = wiring_sources(g, &g->system->nodes[n]);
    return rc;
}

static void wiring_feeds(struct general *g)
{
    for (unsigned i = 0; i < g->edge_count; i++) {
        const struct general_edge *e = &g->edges[i];
        const struct hil_component *from = &g->system->components[e->from.component];
        const struct wiring_value v = wiring_value_of(g->system, e);
        struct hil_feed *feed = &g->feeds[g->first_input[e->to.component] + e->to.number];
        if (v.from == v.to) {
            feed->kind = HIL_FEED_OUTPUT;
            feed->at = v.out;
            continue;
        }
        general_find_link(g->system, v.from, v.to, v.out, &feed->from, &feed->at);
        if (from->model->kind == HIL_SAMPLED && !from->computation_delay)
            g->system->links[feed->from].late = true;
    }
}

int general_wiring(struct general *g)
{
    int rc = wiring_places(g);

    if (!rc)
        rc = wiring_order(g);
    if (!rc)
        rc = wiring_links(g);
    if (rc)
        return rc;
    wiring_feeds(g);
    rc = wiring_node_feeds(g);
    return rc ? rc : wiring_all_sources(g);
}
