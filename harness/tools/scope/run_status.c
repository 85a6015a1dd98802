#include "run_status.h"

#include <math.h>
#include <string.h>

#include "../../base/json_number.h"

enum { NEWS_PART = HIL_HISTOGRAM_HALF / 2 /* buckets */ };

int hil_run_status_open(struct hil_run_status *t, const struct hil_run_entry *run)
{
    memset(t, 0, sizeof *t);
    return hil_watch_open(&t->watch, run);
}

void hil_run_status_close(struct hil_run_status *t)
{
    hil_watch_close(&t->watch);
}

/* --- times ------------------------------------------------------------------------------------ */

static void status_add(uint64_t counts[HIL_NEWS_PARTS], const struct hil_histogram *from)
{
    for (unsigned i = 0; i < HIL_HISTOGRAM_BUCKETS; i++)
        counts[i / NEWS_PART] += from->buckets[i];
}

/* The times since the last message. The memory changes while it is read, but no count may be
 * negative. */
static json_t *status_times(struct hil_run_status_times *last,
                            const uint64_t counts[HIL_NEWS_PARTS])
{
    json_t *edges = json_array(), *new = json_array();

    for (unsigned i = 0; i <= HIL_NEWS_PARTS; i++)
        json_array_append_new(edges,
                              json_real((double)hil_histogram_bucket_start(i * NEWS_PART) * 1e-3));
    for (unsigned i = 0; i < HIL_NEWS_PARTS; i++)
        json_array_append_new(new, json_integer(counts[i] > last->counts[i]
                                                    ? (json_int_t)(counts[i] - last->counts[i])
                                                    : 0));
    memcpy(last->counts, counts, sizeof last->counts);
    return json_pack("{s:o, s:o}", "edges_us", edges, "counts", new);
}

static json_t *status_late(struct hil_run_status *t)
{
    const struct hil_attached *run = &t->watch.run->attached;
    uint64_t counts[HIL_NEWS_PARTS] = {0};

    for (unsigned i = 0; i < run->node_count; i++)
        if (run->state->nodes[i].here)
            status_add(counts, &hil_node_figures(run->state, i)->late);
    return status_times(&t->late, counts);
}

static json_t *status_round_trip(struct hil_run_status *t)
{
    const struct hil_attached *run = &t->watch.run->attached;
    uint64_t counts[HIL_NEWS_PARTS] = {0};

    for (unsigned i = 0; i < run->figures_count; i++)
        status_add(counts, &run->figures[i].round_trip);
    return status_times(&t->round_trip, counts);
}

/* --- nodes ------------------------------------------------------------------------------------ */

static json_t *status_us(uint64_t ns)
{
    return json_real((double)ns * 1e-3);
}

static json_t *status_node(const struct hil_node_sample *n)
{
    const struct hil_progress *p = &n->told;

    return json_pack("{s:s, s:s, s:I, s:I, s:o, s:o, s:o, s:o}", "name", n->name, "state",
                     hil_sample_state(n), "steps", (json_int_t)p->steps, "missed",
                     (json_int_t)p->missed, "input_age_us", status_us(p->input_age_ns),
                     "late_p99_us", hil_json_number(n->late_p99_ns * 1e-3), "late_recent_max_us",
                     status_us(p->late_recent_ns), "late_max_us", status_us(p->late_max_ns));
}

json_t *hil_run_status_state(struct hil_run_status *t, bool paused, uint64_t now_ns)
{
    json_t *nodes = json_array();

    hil_watch_look(&t->watch, now_ns);
    for (unsigned i = 0; i < t->watch.sample->count; i++)
        json_array_append_new(nodes, status_node(&t->watch.sample->nodes[i]));
    return json_pack("{s:s, s:f, s:b, s:o, s:o, s:o}", "kind", "state", "elapsed_s",
                     (double)t->watch.sample->elapsed_ns * 1e-9, "paused", paused, "nodes", nodes,
                     "late", status_late(t), "round_trip", status_round_trip(t));
}
