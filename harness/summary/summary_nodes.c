#include "summary_nodes.h"

#include <errno.h>
#include <stdlib.h>

#include "../run/node_name.h"
#include "../scenario/limits.h"
#include "summary_values.h"

/* The sums over an array's nodes, or links. They are too large for the stack. */
struct sums {
    struct hil_node_state nodes;
    struct hil_link_figures links;
};

/* --- JSON ------------------------------------------------------------------------------------ */

static json_t *distribution(const struct hil_histogram *h)
{
    const bool any = h->count > 0;
    json_t *d = json_object();

    json_object_set_new(d, "mean",
                        hil_json_number(any ? summary_us(h->sum) / (double)h->count : NAN));
    for (unsigned i = 0; i < HIL_LIMIT_TIMES; i++) {
        const struct hil_limit_time *time = &hil_limit_times[i];
        json_object_set_new(
            d, time->key,
            hil_json_number(any ? summary_us(hil_histogram_quantile(h, time->quantile)) : NAN));
    }
    return d;
}

/* Virtual time measures none of these, because its steps take no time. */
static void add_times(const struct hil_node_state *n, json_t *loop)
{
    if (n->late.count == 0)
        return;
    json_object_set_new(loop, "late_us", distribution(&n->late));
    json_object_set_new(loop, "step_us", distribution(&n->busy));
    json_object_set_new(loop, "first_step_us", hil_json_number(summary_us(n->first_ns)));
    json_object_set_new(loop, "measured_period_us", distribution(&n->period));
}

/* Adds the figures of a node's steps, or of several nodes' together. */
static void add_loop(const struct hil_node_state *n, uint64_t torn, double period_us, json_t *loop)
{
    json_object_set_new(loop, "period_us", hil_json_number(period_us));
    json_object_set_new(loop, "steps", summary_whole(n->steps));
    json_object_set_new(loop, "missed", summary_whole(hil_missed(n)));
    json_object_set_new(loop, "run_late", summary_whole(n->run_late));
    json_object_set_new(loop, "left_out", summary_whole(n->left_out));
    json_object_set_new(loop, "resyncs", summary_whole(n->resyncs));
    json_object_set_new(loop, "torn_inputs", summary_whole(torn));
    add_times(n, loop);
}

/* Adds the figures of an array, and how many of its nodes make their steps together. */
static void add_array(const struct hil_node_state *sum, double period_us, json_t *array)
{
    add_loop(sum, sum->torn, period_us, array);
    if (sum->late.count)
        json_object_set_new(array, "batch", json_integer(1 + (json_int_t)sum->place));
}

/* The common period of the array's nodes; NAN if they differ. */
static double common_period_us(const struct hil_system *s, const struct hil_array *array)
{
    const struct hil_node_config *nodes = &s->nodes[array->first];

    for (unsigned i = 1; i < array->count; i++)
        if (nodes[i].timing.period_ns != nodes[0].timing.period_ns)
            return NAN;
    return summary_us(nodes[0].timing.period_ns);
}

static json_t *each_node(const struct hil_summary *sum, const struct hil_array *array)
{
    json_t *each = json_array();

    for (unsigned i = array->first; i < array->first + array->count; i++) {
        const struct hil_node_state *n = &sum->state->nodes[i];
        char name[HIL_NODE_NAME_BYTES];
        if (!n->here)
            continue;
        hil_node_name(sum->scenario->system, i, name);
        json_t *one = json_pack("{s:s}", "node", name);
        add_loop(hil_node_figures(sum->state, i), n->torn, summary_us(n->period_ns), one);
        json_array_append_new(each, one);
    }
    return each;
}

static json_t *nodes_json(const struct hil_summary *sum, struct sums *all)
{
    const struct hil_system *s = sum->scenario->system;
    json_t *nodes = json_object();

    for (unsigned i = 0; i < s->node_array_count; i++) {
        const struct hil_array *array = &s->node_arrays[i];
        hil_state_add_up(sum->state, i, &all->nodes);
        json_t *one = all->nodes.here ? json_pack("{s:i}", "count", array->count) : json_null();
        if (all->nodes.here)
            add_array(&all->nodes, common_period_us(s, array), one);
        if (all->nodes.here && array->of)
            json_object_set_new(one, "each", each_node(sum, array));
        json_object_set_new(nodes, array->name, one);
    }
    return nodes;
}

/* "hub", "cell[*]" */
static json_t *array_name(const struct hil_array *array)
{
    return json_sprintf("%s%s", array->name, array->of ? "[*]" : "");
}

static json_t *links_json(const struct hil_summary *sum, struct sums *all)
{
    const struct hil_system *s = sum->scenario->system;
    json_t *links = json_array();

    for (unsigned i = 0; i < s->link_array_count; i++) {
        const struct hil_link_array *array = &s->link_arrays[i];
        hil_state_add_up_links(sum->state, i, &all->links);
        json_t *one = json_pack("{s:o, s:o, s:o}", "from", array_name(&s->node_arrays[array->from]),
                                "to", array_name(&s->node_arrays[array->to]), "age_us",
                                distribution(&all->links.input_age));
        if (all->links.round_trip.count)
            json_object_set_new(one, "round_trip_us", distribution(&all->links.round_trip));
        json_array_append_new(links, one);
    }
    return links;
}

static json_t *worst_misses(const struct hil_summary *sum)
{
    json_t *list = json_array();
    struct hil_worst all;

    hil_state_worst(sum->state, &all);
    for (unsigned i = 0; i < all.count; i++) {
        const struct hil_miss *m = &all.at[i];
        char node[HIL_NODE_NAME_BYTES];
        hil_node_name(sum->scenario->system, m->node, node);
        json_array_append_new(list, json_pack("{s:o, s:s, s:o, s:o, s:o, s:o, s:o}", "time_s",
                                              summary_seconds(m->begin_ns), "node", node, "step",
                                              summary_whole(m->step), "over_us",
                                              hil_json_number(summary_us(m->over_ns)), "late_us",
                                              hil_json_number(summary_us(m->late_ns)), "step_us",
                                              hil_json_number(summary_us(m->busy_ns)),
                                              "steps_missed", summary_whole(m->missed)));
    }
    return list;
}

int hil_summary_add_nodes(const struct hil_summary *sum, json_t *root)
{
    struct sums *all = malloc(sizeof *all);

    if (!all)
        return -ENOMEM;
    json_object_set_new(root, "nodes", nodes_json(sum, all));
    json_object_set_new(root, "links", links_json(sum, all));
    json_object_set_new(root, "worst_misses", worst_misses(sum));
    free(all);
    return 0;
}

/* --- for a person ---------------------------------------------------------------------------- */

enum { PRINTED_ARRAYS = 6 };

void hil_summary_print_arrays(const struct hil_summary *sum, FILE *to)
{
    const struct hil_system *s = sum->scenario->system;

    for (unsigned i = 0; i < s->node_array_count && i < PRINTED_ARRAYS; i++) {
        const struct hil_array *array = &s->node_arrays[i];
        const double period_us = common_period_us(s, array);
        char name[HIL_NODES_NAME_BYTES] = "";
        hil_nodes_name_add(s, array->first, array->first + array->count - 1, name);
        fprintf(to, "%s%s", i ? ", " : "", name);
        if (isfinite(period_us))
            fprintf(to, " at %g us", period_us);
    }
    if (s->node_array_count > PRINTED_ARRAYS)
        fprintf(to, " and %u more", s->node_array_count - PRINTED_ARRAYS);
}

static void print_loop(const struct hil_node_state *n, const char *name, FILE *to)
{
    fprintf(to, "  %-11s %llu steps, %llu missed", name, (unsigned long long)n->steps,
            (unsigned long long)hil_missed(n));
    if (hil_missed(n))
        fprintf(to, " (%llu run late, %llu left out)", (unsigned long long)n->run_late,
                (unsigned long long)n->left_out);
    if (n->late.max)
        fprintf(to, "; late p50 %.2f us, p99 %.2f us, max %.0f us",
                summary_us(hil_histogram_quantile(&n->late, 0.5)),
                summary_us(hil_histogram_quantile(&n->late, 0.99)), summary_us(n->late.max));
    fputc('\n', to);
}

static void print_worst(const struct hil_summary *sum, FILE *to)
{
    struct hil_worst all;
    char node[HIL_NODE_NAME_BYTES];

    hil_state_worst(sum->state, &all);
    if (all.count == 0)
        return;
    hil_node_name(sum->scenario->system, all.at[0].node, node);
    fprintf(to, "  worst miss  %.0f us over at %.6f s: %s, step %llu, which began %.0f us late\n",
            summary_us(all.at[0].over_ns), (double)all.at[0].begin_ns * 1e-9, node,
            (unsigned long long)all.at[0].step, summary_us(all.at[0].late_ns));
}

/* With a single round trip the nodes are obvious; with several, each names its nodes. */
static void print_round_trip(const struct hil_system *s, const struct hil_link_array *array,
                             const struct hil_histogram *h, FILE *to)
{
    fprintf(to, "  round trip  p50 %.1f us, p99 %.1f us, max %.0f us",
            summary_us(hil_histogram_quantile(h, 0.5)), summary_us(hil_histogram_quantile(h, 0.99)),
            summary_us(h->max));
    if (s->link_array_count > 2)
        fprintf(to, ": %s to %s and back", s->node_arrays[array->to].name,
                s->node_arrays[array->from].name);
    fputc('\n', to);
}

void hil_summary_print_nodes(const struct hil_summary *sum, FILE *to)
{
    const struct hil_system *s = sum->scenario->system;
    struct sums *all = malloc(sizeof *all);

    if (!all)
        return;
    for (unsigned i = 0; i < s->node_array_count; i++) {
        hil_state_add_up(sum->state, i, &all->nodes);
        if (all->nodes.here)
            print_loop(&all->nodes, s->node_arrays[i].name, to);
    }
    print_worst(sum, to);
    for (unsigned i = 0; i < s->link_array_count; i++) {
        hil_state_add_up_links(sum->state, i, &all->links);
        if (all->links.round_trip.count)
            print_round_trip(s, &s->link_arrays[i], &all->links.round_trip, to);
    }
    free(all);
}
