/* Makes the data that a node's steps work on, and looks up all places once. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../models/component.h"
#include "../models/models.h"
#include "faults.h"
#include "node_name.h"
#include "shards.h"
#include "step_parts.h"
#include "tuner.h"

/* --- places in values[] ----------------------------------------------------------------------- */

static const struct hil_system *make_system(const struct hil_step *s)
{
    return s->node->run->scenario->system;
}

/* Index of the system's link among the node's arrivals, which are in the order of links. */
static unsigned make_arrival_of(const struct hil_step *s, unsigned link)
{
    unsigned first = 0, last = s->arrival_count;

    while (last - first > 1) {
        const unsigned middle = first + (last - first) / 2;
        if (s->arrivals[middle].link <= link)
            first = middle;
        else
            last = middle;
    }
    return first;
}

/* The shadow of a signal that faults act on; 0: no faults act on it. The signal's own place has an
 * input without the faults, and an output with them. The shadow has the other value. */
static unsigned make_shadow_of(const struct hil_step *s, const struct hil_signal *signal)
{
    const struct hil_node_config *c = s->node->config;
    struct hil_signal faulted = *signal;

    faulted.original = false;
    for (unsigned i = 0; i < c->faulted_count; i++)
        if (hil_signal_is(&c->faulted[i], &faulted))
            return s->shadowed + i;
    return 0;
}

unsigned hil_step_signal_at(const struct hil_step *s, const struct hil_signal *signal)
{
    const unsigned shadow = signal->place == HIL_AT_LINK ? 0 : make_shadow_of(s, signal);

    switch (signal->place) {
    case HIL_AT_INPUT:
        return shadow && !signal->original ? shadow : signal->at;
    case HIL_AT_OUTPUT:
        return shadow && signal->original ? shadow : s->out + signal->at;
    default:
        return s->arrivals[make_arrival_of(s, signal->link)].at + signal->at;
    }
}

/* A linear search: a node has few sources. */
static unsigned make_feed_of(const struct hil_step *s, unsigned source)
{
    unsigned i = 0;

    while (s->node->config->sources[i] != source)
        i++;
    return i;
}

static void make_feeds(struct hil_step *s)
{
    for (unsigned i = 0; i < s->feed_count; i++)
        s->feeds[i] = (struct step_feed){
            .source = &make_system(s)->sources[s->node->config->sources[i]], .at = s->sourced + i};
}

/* --- copies ----------------------------------------------------------------------------------- */

/* Copies are in lists, by what triggers them: for each arrival those to sampled components, then
 * those to continuous ones; the same for each feed; for each component those from this node's
 * outputs; and one list of those to continuous components. */
static unsigned make_list_count(const struct hil_step *s)
{
    return 2 * s->arrival_count + 2 * s->feed_count + s->part_count + 1;
}

/* The list that has the copy to an input that is fed like this; -1: it needs no copy. */
static int make_list_of(const struct hil_step *s, const struct hil_feed *feed, unsigned part)
{
    const unsigned late = part < s->continuous;

    switch (feed->kind) {
    case HIL_FEED_LINK:
        return (int)(2 * make_arrival_of(s, feed->from) + late);
    case HIL_FEED_SOURCE:
        return (int)(2 * s->arrival_count + 2 * make_feed_of(s, feed->from) + late);
    case HIL_FEED_OUTPUT:
        return (int)(2 * s->arrival_count + 2 * s->feed_count + (late ? s->part_count : part));
    default:
        return -1;
    }
}

static unsigned make_copied_from(const struct hil_step *s, const struct hil_feed *feed)
{
    switch (feed->kind) {
    case HIL_FEED_LINK:
        return s->arrivals[make_arrival_of(s, feed->from)].at + feed->at;
    case HIL_FEED_SOURCE:
        return s->feeds[make_feed_of(s, feed->from)].at;
    default:
        return s->out + feed->at;
    }
}

/* Calls `each` for every input that something feeds, component by component. */
static void make_each_input(struct hil_step *s, unsigned *lists,
                            void (*each)(struct hil_step *s, unsigned *lists, unsigned list,
                                         const struct hil_feed *feed, unsigned input))
{
    for (unsigned p = 0; p < s->part_count; p++) {
        const struct hil_component *c = s->parts[p].config;
        for (unsigned i = c->in; i < c->in + c->in_count; i++) {
            const int list = make_list_of(s, &s->node->config->feeds[i], p);
            if (list >= 0)
                each(s, lists, (unsigned)list, &s->node->config->feeds[i], i);
        }
    }
}

static void make_count_copy(struct hil_step *s, unsigned *lists, unsigned list,
                            const struct hil_feed *feed, unsigned input)
{
    (void)s, (void)feed, (void)input;
    lists[list + 1]++;
}

static void make_add_copy(struct hil_step *s, unsigned *lists, unsigned list,
                          const struct hil_feed *feed, unsigned input)
{
    s->copies[lists[list]++] = (struct step_copy){
        .to = input,
        .from = make_copied_from(s, feed),
        .scaled = feed->scale != 1 || feed->offset != 0,
        .scale = feed->scale,
        .offset = feed->offset,
    };
}

/* The copies in a list. lists[i] is by now the end of list i. */
static struct step_range make_range(const unsigned *lists, unsigned list)
{
    const unsigned first = list ? lists[list - 1] : 0;

    return (struct step_range){first, lists[list] - first};
}

static int make_copies(struct hil_step *s)
{
    const unsigned count = make_list_count(s);
    unsigned *lists = calloc(count + 1, sizeof *lists);
    unsigned list = 0;

    if (!lists)
        return -ENOMEM;
    make_each_input(s, lists, make_count_copy);
    for (unsigned i = 0; i < count; i++)
        lists[i + 1] += lists[i];
    make_each_input(s, lists, make_add_copy);
    for (unsigned i = 0; i < s->arrival_count; i++) {
        s->arrivals[i].early = make_range(lists, list++);
        s->arrivals[i].late = make_range(lists, list++);
    }
    for (unsigned i = 0; i < s->feed_count; i++) {
        s->feeds[i].early = make_range(lists, list++);
        s->feeds[i].late = make_range(lists, list++);
    }
    for (unsigned i = 0; i < s->part_count; i++)
        s->parts[i].local = make_range(lists, list++);
    const struct step_range late = make_range(lists, list);
    s->local.first = s->part_count ? s->parts[0].local.first : 0;
    s->local.count = late.first - s->local.first;
    s->late_count = late.count;
    free(lists);
    return 0;
}

/* Lists the arrivals that each component takes, each once. */
static void make_needs(struct hil_step *s)
{
    unsigned count = 0;

    for (unsigned p = 0; p < s->part_count; p++) {
        const struct hil_component *c = s->parts[p].config;
        struct step_range *needs = &s->parts[p].arrivals;
        *needs = (struct step_range){count, 0};
        for (unsigned i = c->in; i < c->in + c->in_count; i++) {
            const struct hil_feed *feed = &s->node->config->feeds[i];
            if (feed->kind != HIL_FEED_LINK)
                continue;
            const unsigned arrival = make_arrival_of(s, feed->from);
            if (needs->count && s->needs[count - 1] == arrival)
                continue;
            s->needs[count++] = arrival;
            needs->count++;
        }
    }
}

/* --- before the first step -------------------------------------------------------------------- */

/* The value for which the feed gives the initial value of its input. */
static double make_unscaled(const struct hil_feed *feed)
{
    return feed->scale != 0 ? (feed->initial - feed->offset) / feed->scale : feed->initial;
}

/* Until it is computed, an output has the value that its first receiver begins with, since that is
 * in force. */
static void make_output_begin(struct hil_step *s, unsigned out, const struct hil_feed *feed,
                              bool *known)
{
    if (known[out])
        return;
    known[out] = true;
    s->beginning[s->out + out] = make_unscaled(feed);
}

/* Sets the initial outputs from the receivers on other nodes. */
static void make_sent_begin(struct hil_step *s, bool *known)
{
    const struct hil_system *system = make_system(s);

    for (unsigned d = 0; d < s->departure_count; d++) {
        const struct hil_link *link = &system->links[s->node->config->first_link + d];
        const struct hil_node_config *to = &system->nodes[link->to];
        for (unsigned i = 0; i < to->in_count; i++) {
            const struct hil_feed *feed = &to->feeds[i];
            if (feed->kind == HIL_FEED_LINK && &system->links[feed->from] == link)
                make_output_begin(s, link->values[feed->at], feed, known);
        }
    }
}

static int make_beginning(struct hil_step *s)
{
    const struct hil_node_config *config = s->node->config;
    bool *known = calloc(config->out_count + 1, sizeof *known);

    if (!known)
        return -ENOMEM;
    for (unsigned i = 0; i < s->part_count; i++) {
        const struct hil_component *c = s->parts[i].config;
        for (unsigned o = 0; o < c->out_count; o++)
            s->beginning[s->out + c->out + o] =
                hil_place_row(&c->model->outputs, c->width, o)->value;
    }
    for (unsigned i = 0; i < config->in_count; i++) {
        const struct hil_feed *feed = &config->feeds[i];
        s->beginning[i] = feed->initial;
        if (feed->kind == HIL_FEED_OUTPUT)
            make_output_begin(s, feed->at, feed, known);
        if (feed->kind == HIL_FEED_LINK)
            s->beginning[make_copied_from(s, feed)] = make_unscaled(feed);
    }
    make_sent_begin(s, known);
    free(known);
    return 0;
}

/* --- links ------------------------------------------------------------------------------------ */

static void make_arrivals(struct hil_step *s)
{
    const struct hil_system *system = make_system(s);
    const struct hil_run *run = s->node->run;
    unsigned at = s->arrived;

    for (unsigned i = 0; i < s->arrival_count; i++) {
        const unsigned link = s->node->config->incoming[i];
        const struct hil_link *l = &system->links[link];
        s->arrivals[i] = (struct step_arrival){
            .var = &s->node->links.in[i],
            .at = at,
            .count = l->count,
            .link = link,
            .figures = (unsigned)(hil_state_figures(run->state, run->executor, l->array) -
                                  run->state->figures),
            /* Only one end of a pair counts its round trips: the one with the lower number. */
            .answers = l->from > l->to && hil_link_find(system, l->to, l->from) >= 0,
            .ends_array = i + 1 == s->arrival_count ||
                          system->links[s->node->config->incoming[i + 1]].array != l->array,
        };
        loco_quick_reader_init(&s->arrivals[i].quick, s->arrivals[i].var);
        at += l->count;
    }
}

/* Call when the copies are known. */
static void make_general(const struct hil_step *s, struct step_arrival *a)
{
    const struct step_copy *copy = &s->copies[a->early.first];
    struct loco_quick_reader unused;

    a->general = a->count > 1 || !loco_quick_reader_init(&unused, a->var) || a->early.count > 1 ||
                 (a->early.count == 1 && copy->scaled);
    a->to = a->early.count ? copy->to : a->at;
}

/* Whether continuous components give none of the link's values. */
static bool make_is_computed(const struct hil_system *system, const struct hil_link *link)
{
    for (unsigned i = 0; i < link->count; i++)
        if (system->components[link->components[i]].model->kind == HIL_CONTINUOUS)
            return false;
    return true;
}

static struct step_departure make_departure(const struct hil_step *s, unsigned i)
{
    static const struct step_arrival none;
    const struct hil_system *system = make_system(s);
    const struct hil_link *l = &system->links[s->node->config->first_link + i];
    const int back = hil_link_find(system, l->to, l->from);

    return (struct step_departure){
        .var = &s->node->links.out[i],
        .value = l->count == 1 ? &s->values[s->out + l->values[0]] : NULL,
        .from = l->values,
        .count = l->count,
        .computed = make_is_computed(system, l),
        .back = back < 0 ? &none : &s->arrivals[make_arrival_of(s, (unsigned)back)],
    };
}

/* The departures that are sent before the sampled components compute come first. */
static void make_departures(struct hil_step *s)
{
    const struct hil_link *links = make_system(s)->links + s->node->config->first_link;
    unsigned at = 0;

    for (unsigned i = 0; i < s->departure_count; i++)
        if (!links[i].late)
            s->departures[at++] = make_departure(s, i);
    s->early = at;
    for (unsigned i = 0; i < s->departure_count; i++)
        if (links[i].late)
            s->departures[at++] = make_departure(s, i);
}

/* --- parts, measures, record ------------------------------------------------------------------ */

static void make_parts(struct hil_step *s)
{
    unsigned first = UINT_MAX, end = 0, delayed = 0; /* of outputs with a delay */

    for (unsigned i = 0; i < s->part_count; i++) {
        const struct hil_component *c = &make_system(s)->components[s->node->config->components[i]];
        struct step_part *p = &s->parts[i];
        *p = (struct step_part){.config = c,
                                .model = c->model,
                                .parameters = c->parameters,
                                .out_count = c->out_count,
                                .number = s->node->config->components[i],
                                .apart = hil_model_is_apart(c->model)};
        p->in = s->values + c->in;
        p->out = s->values + s->out + c->out;
        p->next = c->computation_delay ? s->next + c->out : p->out;
        s->delays |= c->computation_delay;
        if (c->computation_delay) {
            first = c->out < first ? c->out : first;
            end = c->out + c->out_count > end ? c->out + c->out_count : end;
            delayed += c->out_count;
        }
        s->applies |= i < s->continuous && c->model->apply;
    }
    if (delayed && end - first == delayed)
        s->delayed = (struct step_range){first, delayed};
}

/* Starts a new run of consecutive values, or extends the last one. */
static void make_recorded(struct hil_step *s, unsigned at)
{
    struct step_range *next = s->recorded + s->recorded_count;

    if (s->recorded_count && next[-1].first + next[-1].count == at) {
        next[-1].count++;
        return;
    }
    *next = (struct step_range){at, 1};
    s->recorded_count++;
}

static void make_measure(struct hil_step *s, struct step_measured *to, unsigned measure,
                         unsigned first)
{
    const struct hil_measure *m = &make_system(s)->measures[measure];

    *to = (struct step_measured){
        .measure = measure,
        .signals = {first, m->count},
        .from = m->has_reference ? (int)hil_step_signal_at(s, &m->reference) : -1,
        .scale = m->reference_scale,
    };
    for (unsigned i = 0; i < m->count; i++)
        s->signals[first + i] = hil_step_signal_at(s, &m->signals[i]);
}

/* Makes the plain measures, or the others. `made` and `at` count measures and their signals. */
static void make_measures_of_kind(struct hil_step *s, bool plain, unsigned *made, unsigned *at)
{
    const unsigned *measures = s->node->config->measures;

    for (unsigned i = 0; i < s->measured_count; i++) {
        if (hil_step_measure_is_plain(s, measures[i]) != plain)
            continue;
        make_measure(s, &s->measures[*made], measures[i], *at);
        *at += s->measures[(*made)++].signals.count;
    }
}

static void make_measures(struct hil_step *s)
{
    const struct hil_node_config *config = s->node->config;
    unsigned made = 0, at = 0;

    make_measures_of_kind(s, false, &made, &at);
    s->samples.computed = made;
    s->samples.plain = s->signals + at;
    make_measures_of_kind(s, true, &made, &at);
    hil_step_make_samples(s);
    for (unsigned i = 0; i < config->recorded_count; i++)
        make_recorded(s, hil_step_signal_at(s, &config->recorded[i]));
}

/* --- memory: one block behind the node, so that data of a step is close together -------------- */

/* Cuts pieces from one block. `memory` is NULL while the total size is counted. */
struct make_cutter {
    char *memory;
    size_t used;
};

static void *make_cut(struct make_cutter *cutter, size_t count, size_t size)
{
    void *piece = cutter->memory ? cutter->memory + cutter->used : NULL;

    cutter->used += hil_whole_lines(count * size);
    return piece;
}

/* Upper bounds for the sizes of the parts. */
struct make_sizes {
    unsigned signals;
    size_t message;
    bool answers;
    unsigned ages;
};

static struct make_sizes make_find_sizes(const struct hil_node *node)
{
    const struct hil_system *system = node->run->scenario->system;
    const struct hil_node_config *c = node->config;
    struct make_sizes sizes = {.message = sizeof(struct hil_message),
                               .ages = hil_step_count_ages(node)};

    for (unsigned i = 0; i < c->measure_count; i++)
        sizes.signals += system->measures[c->measures[i]].count;
    for (unsigned i = 0; i < c->link_count + c->incoming_count; i++) {
        const struct hil_link *l =
            &system->links[i < c->link_count ? c->first_link + i : c->incoming[i - c->link_count]];
        if (hil_message_size(l) > sizes.message)
            sizes.message = hil_message_size(l);
        sizes.answers |= l->to == node->id && l->from > l->to;
    }
    return sizes;
}

static void make_cut_all(struct hil_step *s, struct make_cutter *cutter,
                         const struct hil_node_config *c, const struct make_sizes *sizes)
{
    s->parts = make_cut(cutter, c->component_count, sizeof *s->parts);
    s->selves = make_cut(cutter, c->component_count, sizeof *s->selves);
    s->arrivals = make_cut(cutter, c->incoming_count, sizeof *s->arrivals);
    s->departures = make_cut(cutter, c->link_count, sizeof *s->departures);
    s->values = make_cut(cutter, s->value_count, sizeof *s->values);
    s->copies = make_cut(cutter, c->in_count, sizeof *s->copies);
    s->feeds = make_cut(cutter, c->source_count, sizeof *s->feeds);
    s->ages = make_cut(cutter, sizes->ages, sizeof *s->ages);
    s->message = make_cut(cutter, 1, sizes->message);
    s->measures = make_cut(cutter, c->measure_count, sizeof *s->measures);
    s->samples.rows = make_cut(cutter, hil_step_samples_count(s->node), sizeof(double));
    s->samples.references = make_cut(cutter, c->measure_count, sizeof *s->samples.references);
    s->signals = make_cut(cutter, sizes->signals, sizeof *s->signals);
    s->recorded = make_cut(cutter, c->recorded_count, sizeof *s->recorded);
    s->came = make_cut(cutter, s->value_count - s->arrived, sizeof *s->came);
    s->needs = make_cut(cutter, c->in_count, sizeof *s->needs);
    s->sent_ns = make_cut(cutter, sizes->answers ? STEP_SENT_MAX : 0, sizeof *s->sent_ns);
    s->beginning = make_cut(cutter, s->value_count, sizeof *s->beginning);
    const unsigned stopped = s->node->run->scenario->stop_ramp_ns ? c->in_count + c->out_count : 0;
    s->stop_from = make_cut(cutter, stopped, sizeof *s->stop_from);
    s->stop_at = make_cut(cutter, stopped, sizeof *s->stop_at);
    s->next = make_cut(cutter, c->out_count, sizeof *s->next);
}

/* Order of values[]: inputs, outputs, sources, shadows of faulted signals, values of links. */
static void make_places(struct hil_step *s)
{
    const struct hil_node_config *c = s->node->config;

    s->out = c->in_count;
    s->sourced = s->out + c->out_count;
    s->shadowed = s->sourced + c->source_count;
    s->arrived = s->shadowed + c->faulted_count;
    s->value_count = s->arrived;
    for (unsigned i = 0; i < c->incoming_count; i++)
        s->value_count += make_system(s)->links[c->incoming[i]].count;
}

/* Cuts the step and its parts from `memory`, and returns their size. */
static size_t make_cut_step(char *memory, struct hil_node *node)
{
    const struct hil_node_config *c = node->config;
    const struct make_sizes sizes = make_find_sizes(node);
    struct make_cutter cutter = {.memory = memory};
    struct hil_step *to = make_cut(&cutter, 1, sizeof *to);
    struct hil_step s = {.node = node,
                         .continuous = c->continuous,
                         .part_count = c->component_count,
                         .arrival_count = c->incoming_count,
                         .departure_count = c->link_count,
                         .feed_count = c->source_count,
                         .measured_count = c->measure_count,
                         .told = &node->run->state->executors[node->run->executor],
                         .goes_on = node->run->scenario->on_lost == HIL_RESTART,
                         .answered = sizes.answers,
                         .tells_time = node->id == hil_first_node(node->run->scenario),
                         .row = hil_columns_places(node->run->scenario, node->id)};

    make_places(&s);
    make_cut_all(&s, &cutter, c, &sizes);
    if (to)
        *to = s;
    return cutter.used;
}

size_t hil_step_size(struct hil_node *node)
{
    return make_cut_step(NULL, node);
}

int hil_step_open(struct hil_step **step, struct hil_node *node)
{
    void *memory = hil_node_room(node);

    memset(memory, 0, hil_step_size(node));
    make_cut_step(memory, node);
    *step = memory;
    (*step)->fabric = node->mgr->fabric;
    (*step)->tap = hil_tap_open(&node->run->state->taps, node->run->state, node->id);
    make_parts(*step);
    make_arrivals(*step);
    make_departures(*step);
    make_feeds(*step);
    int rc = make_copies(*step);
    if (!rc)
        rc = make_beginning(*step);
    if (rc)
        return rc;
    for (unsigned i = 0; i < (*step)->arrival_count; i++)
        make_general(*step, &(*step)->arrivals[i]);
    make_needs(*step);
    make_measures(*step);
    hil_step_make_ages(*step);
    rc = hil_faults_open(*step);
    if (!rc)
        rc = hil_tuner_open(*step);
    if (rc)
        return rc;
    (*step)->tuned = (*step)->tuner != NULL;
    (*step)->split = node->config->shards > 1;
    if ((*step)->split)
        rc = hil_shards_open(*step, node->config->shards);
    if (rc)
        return rc;
    hil_step_count_in_run(*step);
    return 0;
}
