#include "summary.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/json_file.h"
#include "../run/node_name.h"
#include "../scenario/system.h"
#include "summary_ages.h"
#include "summary_clocks.h"
#include "summary_components.h"
#include "summary_faults.h"
#include "summary_measures.h"
#include "summary_nodes.h"
#include "summary_values.h"

static json_t *loss(const struct hil_summary *sum, const struct hil_loss *l)
{
    char link[HIL_LINK_NAME_BYTES];

    hil_link_name(sum->scenario->system, l->from, l->to, link);
    return json_pack("{s:s, s:o, s:o}", "link", link, "lost_s", summary_seconds(l->lost_ns),
                     "back_s", l->back_ns ? summary_seconds(l->back_ns) : json_null());
}

/* Adds the losses that all executors saw; keeps the details of the first ones. */
static void add_up_losses(const struct hil_state *s, struct hil_loss_log *all)
{
    *all = (struct hil_loss_log){0};
    for (unsigned i = 0; i < s->executor_count; i++) {
        const struct hil_loss_log *log = &s->executors[i].losses;
        for (uint64_t k = 0; k < log->count && k < HIL_LOSSES_MAX; k++)
            if (all->count + k < HIL_LOSSES_MAX)
                all->at[all->count + k] = log->at[k];
        all->count += log->count;
        all->back_count += log->back_count;
    }
}

static uint64_t listed_losses(const struct hil_loss_log *log)
{
    return log->count < HIL_LOSSES_MAX ? log->count : HIL_LOSSES_MAX;
}

static json_t *losses(const struct hil_summary *sum)
{
    json_t *each = json_array();
    struct hil_loss_log log;

    add_up_losses(sum->state, &log);
    for (uint64_t i = 0; i < listed_losses(&log); i++)
        json_array_append_new(each, loss(sum, &log.at[i]));
    return json_pack("{s:o, s:o, s:o}", "lost", summary_whole(log.count), "back",
                     summary_whole(log.back_count), "each", each);
}

/* Processes that stood still, and were killed for it. */
static json_t *hung(const struct hil_summary *sum)
{
    json_t *each = json_array();

    for (unsigned i = 0; i < sum->scenario->executor_count; i++) {
        char who[HIL_NODES_NAME_BYTES];
        if (!sum->state->executors[i].hangs)
            continue;
        hil_executor_name(sum->scenario, i, who);
        json_array_append_new(each, json_pack("{s:s, s:o}", "process", who, "times",
                                              summary_whole(sum->state->executors[i].hangs)));
    }
    return each;
}

static json_t *stale_input(const struct hil_summary *sum, const struct hil_stale *s)
{
    char link[HIL_LINK_NAME_BYTES];

    hil_link_name(sum->scenario->system, s->from, s->to, link);
    return json_pack("{s:s, s:o, s:o, s:o, s:o}", "link", link, "limit_us",
                     hil_json_number(summary_us(s->limit_ns)), "found_s",
                     summary_seconds(s->found_ns), "fresh_s",
                     s->fresh_ns ? summary_seconds(s->fresh_ns) : json_null(), "oldest_us",
                     hil_json_number(summary_us(s->oldest_ns)));
}

static json_t *stale_inputs(const struct hil_summary *sum)
{
    uint64_t count = 0, oldest_ns = 0;
    json_t *each = json_array();

    for (unsigned i = 0; i < sum->scenario->executor_count; i++) {
        const struct hil_stale_log *log = &sum->state->executors[i].stale;
        count += log->count;
        oldest_ns = log->oldest_ns > oldest_ns ? log->oldest_ns : oldest_ns;
        for (uint64_t k = 0; k < log->count && k < HIL_STALE_LISTED; k++)
            json_array_append_new(each, stale_input(sum, &log->at[k]));
    }
    return json_pack("{s:o, s:o, s:o}", "count", summary_whole(count), "oldest_us",
                     hil_json_number(summary_us(oldest_ns)), "each", each);
}

/* Inputs that were not numbers, by link. */
static json_t *bad_inputs(const struct hil_summary *sum)
{
    json_t *each = json_array();
    uint64_t count = 0;

    for (unsigned i = 0; i < sum->state->link_count; i++) {
        const struct hil_link *l = &sum->scenario->system->links[i];
        const uint64_t bad = sum->state->links[i].bad;
        char link[HIL_LINK_NAME_BYTES];
        if (!bad)
            continue;
        count += bad;
        hil_link_name(sum->scenario->system, l->from, l->to, link);
        json_array_append_new(each,
                              json_pack("{s:s, s:o}", "link", link, "count", summary_whole(bad)));
    }
    return json_pack("{s:o, s:o}", "count", summary_whole(count), "each", each);
}

/* --- components that failed ------------------------------------------------------------------ */

static void each_failure(const struct hil_summary *sum,
                         void (*each)(const struct hil_failure *, void *), void *arg)
{
    for (unsigned i = 0; i < sum->scenario->executor_count; i++) {
        const struct hil_failure_log *log = &sum->state->executors[i].failures;
        for (unsigned k = 0; k < hil_failures_listed(log); k++)
            each(&log->at[k], arg);
    }
}

static uint64_t failure_count(const struct hil_summary *sum)
{
    uint64_t count = 0;

    for (unsigned i = 0; i < sum->scenario->executor_count; i++)
        count += sum->state->executors[i].failures.count;
    return count;
}

static void append_failure(const struct hil_failure *f, void *array)
{
    char what[HIL_FAILURE_WORDS_BYTES];

    hil_failure_say(f, what);
    json_array_append_new(array, json_pack("{s:s, s:s, s:o, s:s, s:o, s:o}", "component",
                                           f->component, "model", f->model, "signal",
                                           f->signal[0] ? json_string(f->signal) : json_null(),
                                           "what", what, "time_s", summary_seconds(f->time_ns),
                                           "step", summary_whole(f->step)));
}

static json_t *failures(const struct hil_summary *sum)
{
    json_t *each = json_array();

    each_failure(sum, append_failure, each);
    return json_pack("{s:o, s:o}", "count", summary_whole(failure_count(sum)), "each", each);
}

static void print_failure(const struct hil_failure *f, void *to)
{
    char what[HIL_FAILURE_WORDS_BYTES];

    hil_failure_say(f, what);
    fprintf(to, "  failed      %s\n", what);
}

static bool is_virtual(const struct hil_summary *sum)
{
    return sum->scenario->mode == HIL_VIRTUAL;
}

/* Number of events in the record, by kind. */
static json_t *event_counts(const struct hil_summary *sum)
{
    json_t *counts = json_object();

    for (unsigned kind = 0; kind < HIL_EVENT_KIND_COUNT; kind++) {
        uint64_t count = 0;
        for (unsigned i = 0; i < sum->scenario->executor_count; i++)
            count += sum->state->executors[i].events[kind];
        if (count)
            json_object_set_new(counts, hil_event_kind_name(kind), summary_whole(count));
    }
    return counts;
}

static const char *mode_name(const struct hil_summary *sum)
{
    return is_virtual(sum) ? "virtual" : "realtime";
}

/* Calls `each` once with every reason, however many executors have it. */
static void each_reason(const struct hil_summary *sum, void (*each)(const char *, void *),
                        void *arg)
{
    char seen[8192] = "\n";

    for (unsigned i = 0; i < sum->scenario->executor_count; i++) {
        char copy[sizeof sum->state->executors[i].degraded], *rest = copy, *line;
        snprintf(copy, sizeof copy, "%s", sum->state->executors[i].degraded);
        while ((line = strsep(&rest, "\n")) && *line) {
            char whole_line[sizeof copy + 2];
            snprintf(whole_line, sizeof whole_line, "\n%s\n", line);
            if (strstr(seen, whole_line))
                continue;
            size_t used = strlen(seen);
            snprintf(seen + used, sizeof seen - used, "%s\n", line);
            each(line, arg);
        }
    }
}

static void append_reason(const char *reason, void *array)
{
    json_array_append_new(array, json_string(reason));
}

/* The scheduler that all executors got, or "mixed". */
static const char *scheduler_name(const struct hil_summary *sum)
{
    static const char *const names[] = {"SCHED_OTHER", "SCHED_FIFO", "SCHED_DEADLINE"};
    const struct hil_executor_state *e = sum->state->executors;

    if (is_virtual(sum))
        return "virtual";
    for (unsigned i = 1; i < sum->scenario->executor_count; i++)
        if (e[i].scheduler != e[0].scheduler)
            return "mixed";
    return names[e[0].scheduler];
}

static json_t *realtime(const struct hil_summary *sum)
{
    uint64_t faults = 0, involuntary = 0, voluntary = 0;
    bool locked = !is_virtual(sum), counter = true;
    json_t *degraded = json_array();

    for (unsigned i = 0; i < sum->scenario->executor_count; i++) {
        const struct hil_executor_state *e = &sum->state->executors[i];
        faults += e->page_faults;
        involuntary += e->involuntary_switches;
        voluntary += e->voluntary_switches;
        locked &= e->locked;
        counter &= e->counter;
    }
    each_reason(sum, append_reason, degraded);
    return json_pack(
        "{s:s, s:s, s:b, s:o, s:o, s:o, s:o, s:o}", "scheduler", scheduler_name(sum), "clock",
        is_virtual(sum) ? "virtual"
        : counter       ? "tsc"
                        : "clock_gettime",
        "locked", locked, "start_monotonic_s",
        hil_json_number(is_virtual(sum) ? NAN : (double)sum->state->executors[0].start_ns * 1e-9),
        "page_faults_in_loop", summary_whole(faults), "context_switches_involuntary",
        summary_whole(involuntary), "context_switches_voluntary", summary_whole(voluntary),
        "degraded", degraded);
}

static json_t *trace(const struct hil_traced *traced)
{
    if (!traced)
        return json_null();
    return json_pack("{s:s, s:o, s:o, s:o, s:s}", "keep", traced->recent ? "recent" : "all",
                     "saved", traced->recent ? summary_whole(traced->saved) : json_null(), "lost",
                     summary_whole(traced->lost), "kernel_lost", summary_whole(traced->kernel_lost),
                     "kernel", traced->kernel);
}

/* How times in this record relate to the first node's. Both count from the common start, as far as
 * it is known here. null: they were recorded on one machine's clock, or the relation is unknown. */
static json_t *clocks(const struct hil_summary *sum)
{
    const struct hil_machine_clock *c = &sum->first_clock;

    return !c->known || c->by == HIL_CLOCK_OWN ? json_null()
                                               : hil_clock_json(c, &sum->first_clock_after);
}

static void print_clocks(const struct hil_summary *sum, FILE *to)
{
    const struct hil_machine_clock *c = &sum->first_clock;

    if (!c->known || c->by == HIL_CLOCK_OWN)
        return;
    fprintf(to, "  clocks      the first node's is known within %.1f us, by %s",
            (double)c->about_ns * 1e-3, hil_clock_by_name(c->by));
    if (sum->first_clock_after.known)
        fprintf(to, "; it drifted by %.1f us", hil_clock_drift_us(c, &sum->first_clock_after));
    fprintf(to, "\n");
}

static json_t *ended_by(const struct hil_summary *sum)
{
    const struct hil_component *c = hil_state_ended_by(sum->state, sum->scenario->system);
    char name[HIL_SIGNAL_NAME_BYTES];

    if (!c)
        return json_null();
    hil_instance_name(&c->is, name);
    return json_pack("{s:s, s:s, s:o}", "component", name, "model", c->model->name, "time_s",
                     summary_seconds(sum->state->ended_ns));
}

int hil_summary_write(const struct hil_summary *sum, const char *path)
{
    const struct hil_scenario *s = sum->scenario;
    json_t *root = json_pack("{s:s, s:s, s:s, s:o, s:o}", "scenario", s->name, "mode",
                             mode_name(sum), "fabric", hil_fabric_name(s->fabric), "duration_s",
                             summary_seconds(s->duration_ns), "elapsed_s",
                             summary_seconds(atomic_load(&sum->state->elapsed_ns)));

    if (!root || hil_summary_add_nodes(sum, root)) {
        json_decref(root);
        return -ENOMEM;
    }
    json_object_set_new(root, "ended_by", ended_by(sum));
    if (sum->judgement)
        hil_judgement_add(sum->judgement, root);
    hil_summary_add_components(sum, root);
    hil_summary_add_measures(sum, root);
    json_object_set_new(root, "losses", losses(sum));
    json_object_set_new(root, "recorder",
                        json_pack("{s:o, s:s?, s:o}", "dropped", summary_whole(sum->dropped),
                                  "cut_off", sum->cut_off, "events", event_counts(sum)));
    json_object_set_new(root, "realtime", realtime(sum));
    json_object_set_new(root, "first_clock", clocks(sum));
    json_object_update(root, (json_t *)sum->merged);
    json_object_set(root, "machine", sum->machine ? sum->machine : json_null());
    json_object_set_new(root, "trace", trace(sum->traced));
    json_object_set_new(root, "stale_inputs", stale_inputs(sum));
    hil_summary_add_ages(sum, root);
    json_object_set_new(root, "bad_inputs", bad_inputs(sum));
    json_object_set_new(root, "failures", failures(sum));
    hil_summary_add_faults(sum, root);
    json_object_set_new(root, "hung", hung(sum));
    json_object_set_new(root, "validity", hil_validity_json(sum->verdict));
    int rc = hil_json_file_write(root, path, 0);
    json_decref(root);
    return rc;
}

/* --- for a person ---------------------------------------------------------------------------- */

/* Nodes that share a process are lost and return together, so one line is enough. */
static void print_losses(const struct hil_state *s, FILE *to)
{
    uint64_t first = UINT64_MAX, last = 0;
    struct hil_loss_log log;

    add_up_losses(s, &log);
    if (!log.count)
        return;
    for (uint64_t i = 0; i < listed_losses(&log); i++) {
        first = log.at[i].lost_ns < first ? log.at[i].lost_ns : first;
        last = log.at[i].back_ns > last ? log.at[i].back_ns : last;
    }
    fprintf(to, "  losses      %llu, the first at %.3f s; %llu came back",
            (unsigned long long)log.count, (double)first * 1e-9,
            (unsigned long long)log.back_count);
    if (last)
        fprintf(to, ", the last at %.3f s", (double)last * 1e-9);
    fputc('\n', to);
}

static void print_hung(const struct hil_summary *sum, FILE *to)
{
    for (unsigned i = 0; i < sum->scenario->executor_count; i++) {
        const unsigned times = sum->state->executors[i].hangs;
        char who[HIL_NODES_NAME_BYTES];
        if (!times)
            continue;
        hil_executor_name(sum->scenario, i, who);
        fprintf(to, "  hung        %s, %u time%s for %g s, and killed\n", who, times,
                times > 1 ? "s" : "", (double)sum->scenario->hang_limit_ns * 1e-9);
    }
}

static void print_ended(const struct hil_summary *sum, FILE *to)
{
    const struct hil_component *c = hil_state_ended_by(sum->state, sum->scenario->system);
    char name[HIL_SIGNAL_NAME_BYTES];

    if (!c)
        return;
    hil_instance_name(&c->is, name);
    fprintf(to, "  ended       by %s (%s), at %.6f s\n", name, c->model->name,
            (double)sum->state->ended_ns * 1e-9);
}

static void print_reason(const char *reason, void *to)
{
    fprintf(to, "  degraded    %s\n", reason);
}

static void print_trace(const struct hil_summary *sum, FILE *to)
{
    const struct hil_traced *t = sum->traced;

    fprintf(to, "  trace       %s/ctf, ", sum->out);
    if (t->recent)
        fprintf(to, "the newest events, saved %u time%s, ", t->saved, t->saved == 1 ? "" : "s");
    fprintf(to, "%llu events lost; kernel: %s\n", (unsigned long long)t->lost, t->kernel);
}

void hil_summary_print(const struct hil_summary *sum, FILE *to)
{
    const struct hil_scenario *s = sum->scenario;

    fprintf(to, "%s: ", s->name);
    hil_summary_print_arrays(sum, to);
    fprintf(to, ", %.4g of %.4g s in %s time over %s\n",
            (double)atomic_load(&sum->state->elapsed_ns) * 1e-9, (double)s->duration_ns * 1e-9,
            is_virtual(sum) ? "virtual" : "real", hil_fabric_name(s->fabric));
    print_ended(sum, to);
    hil_validity_print(sum->verdict, to);
    if (sum->judgement)
        hil_judgement_print(sum->judgement, to);
    hil_summary_print_measures(sum, to);
    hil_summary_print_nodes(sum, to);
    hil_summary_print_components(sum, to);
    hil_summary_print_faults(sum, to);
    print_losses(sum->state, to);
    hil_summary_print_ages(sum, to);
    each_failure(sum, print_failure, to);
    print_hung(sum, to);
    if (sum->dropped)
        fprintf(to, "  recorder    dropped %llu rows\n", (unsigned long long)sum->dropped);
    if (sum->cut_off)
        fprintf(to, "  record      CUT OFF: %s\n", sum->cut_off);
    if (sum->traced)
        print_trace(sum, to);
    each_reason(sum, print_reason, to); /* each once */
    print_clocks(sum, to);
    fprintf(to, "  results     %s\n", sum->out);
}
