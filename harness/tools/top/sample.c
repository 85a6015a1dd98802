#include "sample.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../../channels/loco/fabric/atomic_copy.h"
#include "../../base/foreign.h"
#include "../../base/json_number.h"
#include "../../launch/launcher.h"

enum { LAST_SECOND = 1000000000 / HIL_BLOCK_NS };

static const uint64_t SILENT_NS = 500000000, LATELY_NS = 2000000000;

int hil_watch_open(struct hil_watch *w, const struct hil_run_entry *run)
{
    *w = (struct hil_watch){.run = run};
    unsigned count = run->attached.node_count;
    w->names = calloc(count, sizeof *w->names);
    w->seen = calloc(count, sizeof *w->seen);
    w->sample = calloc(1, sizeof *w->sample + count * sizeof w->sample->nodes[0]);
    if (!w->names || !w->seen || !w->sample)
        return -ENOMEM;
    for (unsigned i = 0; i < count; i++)
        hil_foreign_text(w->names[i], sizeof w->names[i], run->attached.state->nodes[i].name,
                         sizeof w->names[i]);
    return 0;
}

void hil_watch_close(struct hil_watch *w)
{
    free(w->names);
    free(w->seen);
    free(w->sample);
}

static double late_p99(const struct hil_state *s, unsigned node)
{
    const struct hil_node_state *n = hil_node_figures(s, node);

    return s->nodes[node].here && n->late.count ? (double)hil_histogram_quantile(&n->late, 0.99)
                                                : NAN;
}

/* Whether a node's figures reach this process; those of nodes elsewhere come through node 0's
 * loop. */
static bool is_heard(const struct hil_state *s, unsigned node)
{
    return !hil_state_is_paused(s) &&
           (s->nodes[node].here || hil_stage_runs(s->nodes[0].progress.stage));
}

/* Judges by the time on the watcher's clock when the node's figures last changed. */
static void judge(struct hil_node_sample *n, struct hil_node_seen *seen, bool heard,
                  uint64_t now_ns)
{
    uint64_t patience = SILENT_NS + 2 * n->period_ns;
    bool known = seen->stepped_ns != 0;

    if (known && n->told.missed > seen->missed)
        seen->missed_ns = now_ns;
    if (!known || n->told.steps != seen->steps)
        seen->stepped_ns = now_ns;
    seen->steps = n->told.steps;
    seen->missed = n->told.missed;
    n->silent = heard && hil_stage_runs(n->told.stage) && now_ns - seen->stepped_ns > patience;
    n->misses = seen->missed_ns && now_ns - seen->missed_ns < LATELY_NS;
}

static void look_at_node(struct hil_watch *w, unsigned node, uint64_t now_ns)
{
    const struct hil_node_state *from = &w->run->attached.state->nodes[node];
    struct hil_node_sample *n = &w->sample->nodes[w->sample->count++];

    *n = (struct hil_node_sample){.node = node,
                                  .name = w->names[node],
                                  .array = from->array,
                                  .period_ns = from->period_ns,
                                  .late_p99_ns = late_p99(w->run->attached.state, node)};
    hil_progress_copy(&n->told, &from->progress);
    judge(n, &w->seen[node], is_heard(w->run->attached.state, node), now_ns);
    w->sample->missed += n->told.missed;
}

/* A launcher without node 0 gets no figures of nodes elsewhere. */
void hil_watch_look(struct hil_watch *w, uint64_t now_ns)
{
    const struct hil_state *s = w->run->attached.state;
    struct hil_sample *to = w->sample;

    to->elapsed_ns = atomic_load_explicit(&s->elapsed_ns, memory_order_relaxed);
    to->value = atomic_load_explicit(&s->recent.value, memory_order_relaxed);
    to->reference = atomic_load_explicit(&s->recent.reference, memory_order_relaxed);
    hil_history_take(&w->history, &s->recent);
    to->pp = hil_history_span(&w->history, LAST_SECOND);
    to->count = 0;
    to->missed = 0;
    for (unsigned i = 0; i < w->run->attached.node_count; i++)
        if (s->nodes[0].here || s->nodes[i].here)
            look_at_node(w, i, now_ns);
}

struct hil_sample *hil_sample_copy(const struct hil_sample *sample)
{
    size_t size = sizeof *sample + sample->count * sizeof sample->nodes[0];
    struct hil_sample *copy = malloc(size);

    return copy ? memcpy(copy, sample, size) : NULL;
}

/* --- JSON ----------------------------------------------------------------------------------- */

static json_t *us(double ns)
{
    return hil_json_number(ns * 1e-3);
}

static json_t *whole(uint64_t value)
{
    return json_integer((json_int_t)value);
}

const char *hil_sample_state(const struct hil_node_sample *n)
{
    return n->silent ? "silent" : hil_stage_name(n->told.stage);
}

static json_t *node_json(const struct hil_node_sample *n)
{
    const struct hil_progress *p = &n->told;

    return json_pack("{s:s, s:o, s:o, s:o, s:{s:o, s:o, s:o}, s:o}", "state", hil_sample_state(n),
                     "period_us", us((double)n->period_ns), "steps", whole(p->steps), "missed",
                     whole(p->missed), "late_us", "p99", us(n->late_p99_ns), "recent_max",
                     us((double)p->late_recent_ns), "max", us((double)p->late_max_ns),
                     "input_age_us", us((double)p->input_age_ns));
}

/* The number of nodes from `first` on that belong to its array. */
static unsigned array_count(const struct hil_sample *s, unsigned first)
{
    unsigned count = 1;

    while (first + count < s->count && s->nodes[first + count].array == s->nodes[first].array)
        count++;
    return count;
}

static uint64_t greater(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* The figures of an array's nodes together; for times, the worst. */
static json_t *array_json(const struct hil_node_sample *nodes, unsigned count)
{
    struct hil_progress all = {0};
    json_t *each = json_array();

    for (unsigned i = 0; i < count; i++) {
        const struct hil_progress *p = &nodes[i].told;
        all.steps += p->steps;
        all.missed += p->missed;
        all.late_recent_ns = greater(all.late_recent_ns, p->late_recent_ns);
        all.late_max_ns = greater(all.late_max_ns, p->late_max_ns);
        all.input_age_ns = greater(all.input_age_ns, p->input_age_ns);
        json_t *one = node_json(&nodes[i]);
        json_object_set_new(one, "node", json_string(nodes[i].name));
        json_array_append_new(each, one);
    }
    return json_pack("{s:i, s:o, s:o, s:{s:o, s:o}, s:o, s:o}", "count", count, "steps",
                     whole(all.steps), "missed", whole(all.missed), "late_us", "recent_max",
                     us((double)all.late_recent_ns), "max", us((double)all.late_max_ns),
                     "input_age_us", us((double)all.input_age_ns), "each", each);
}

/* By arrays, as in the summary: a node "hub", an array "cell". */
static json_t *nodes_json(const struct hil_sample *s)
{
    json_t *nodes = json_object();

    for (unsigned i = 0, count; i < s->count; i += count) {
        const struct hil_node_sample *first = &s->nodes[i];
        const size_t length = strcspn(first->name, "[");
        count = array_count(s, i);
        json_object_setn_new(nodes, first->name, length,
                             first->name[length] ? array_json(first, count) : node_json(first));
    }
    return nodes;
}

static const char *how_it_is(const struct hil_run_entry *run)
{
    int status;

    if (!hil_run_ended(run, &status))
        return hil_state_is_paused(run->attached.state) ? "paused" : "running";
    return status == HIL_EXIT_OK || status == HIL_EXIT_INVALID ? "ended"
           : hil_exit_by_signal(status)                        ? "interrupted"
                                                               : "failed";
}

bool hil_watch_measures(const struct hil_watch *w)
{
    return w->run->attached.card.measure[0] && w->history.end > 0;
}

static json_t *measure_json(const struct hil_watch *w)
{
    const struct hil_sample *s = w->sample;
    const struct hil_card *card = &w->run->attached.card;
    const bool any = hil_watch_measures(w);

    if (!card->measure[0])
        return json_null();
    return json_pack("{s:s, s:s, s:o, s:o, s:o}", "name", card->measure, "unit", card->unit,
                     "value", hil_json_number(any ? s->value : NAN), "reference",
                     hil_json_number(any ? s->reference : NAN), "pp_last_s",
                     hil_json_number(s->pp));
}

json_t *hil_sample_json(const struct hil_watch *w)
{
    const struct hil_sample *s = w->sample;
    const struct hil_card *card = &w->run->attached.card;

    return json_pack("{s:s, s:i, s:s, s:s, s:o, s:o, s:o, s:o, s:o}", "scenario", card->name, "pid",
                     (int)w->run->pid, "mode", card->virtual_time ? "virtual" : "realtime", "state",
                     how_it_is(w->run), "duration_s",
                     hil_json_number((double)card->duration_ns * 1e-9), "elapsed_s",
                     hil_json_number((double)s->elapsed_ns * 1e-9), "measure", measure_json(w),
                     "missed", whole(s->missed), "nodes", nodes_json(s));
}
