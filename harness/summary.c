#include "summary.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "json_file.h"
#include "run/node_name.h"
#include "scenario/system.h"
#include "summary_output.h"

/* jansson has no NaN; what could not be measured is null. */
static json_t *number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *whole(uint64_t value)
{
    return json_integer((json_int_t)value);
}

static double us(uint64_t ns)
{
    return (double)ns * 1e-3;
}

static json_t *distribution(const struct hil_histogram *h)
{
    static const struct {
        const char *name;
        double quantile;
    } percentiles[] = {{"p50", 0.5}, {"p99", 0.99}, {"p999", 0.999}, {"p9999", 0.9999}};
    bool any = h->count > 0;
    json_t *d = json_object();

    json_object_set_new(d, "mean", number(any ? us(h->sum) / (double)h->count : NAN));
    for (size_t i = 0; i < sizeof percentiles / sizeof percentiles[0]; i++)
        json_object_set_new(
            d, percentiles[i].name,
            number(any ? us(hil_histogram_quantile(h, percentiles[i].quantile)) : NAN));
    json_object_set_new(d, "max", number(any ? us(h->max) : NAN));
    return d;
}

/* Virtual time measures none of these: its steps take no time. */
static void add_times(const struct hil_node_state *n, json_t *loop)
{
    if (n->late.count == 0)
        return;
    json_object_set_new(loop, "late_us", distribution(&n->late));
    json_object_set_new(loop, "step_us", distribution(&n->busy));
    json_object_set_new(loop, "first_step_us", number(us(n->first_ns)));
    json_object_set_new(loop, "measured_period_us", distribution(&n->period));
}

/* A loop, or some together. */
static json_t *loop(const struct hil_node_state *n, double period_us)
{
    json_t *one = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "period_us", number(period_us),
                            "steps", whole(n->steps), "missed", whole(hil_missed(n)), "run_late",
                            whole(n->run_late), "left_out", whole(n->left_out), "resyncs",
                            whole(n->resyncs), "torn_inputs", whole(n->torn));

    add_times(n, one);
    return one;
}

/* The period that all share; NAN where they differ. */
static double common_period_us(const struct hil_scenario *s)
{
    for (unsigned i = 1; i < s->converter_count; i++)
        if (s->converters[i].timing.period_ns != s->converters[0].timing.period_ns)
            return NAN;
    return us(s->converters[0].timing.period_ns);
}

static json_t *each_converter(const struct hil_summary *sum)
{
    json_t *each = json_array();

    for (unsigned i = 0; i < sum->scenario->converter_count; i++) {
        const struct hil_node_state *n = &sum->state->nodes[1 + i];
        if (!n->here)
            continue;
        json_t *one = loop(n, us(sum->scenario->converters[i].timing.period_ns));
        json_object_set_new(one, "id", whole(i));
        json_array_append_new(each, one);
    }
    return each;
}

static json_t *converters(const struct hil_summary *sum)
{
    struct {
        struct hil_node_state loops;
        struct hil_link_figures down;
    } *all = malloc(sizeof *all);

    if (!all)
        return NULL;
    hil_state_add_up(sum->state, 1, &all->loops);
    hil_state_add_up_links(sum->state, 0, &all->down);
    json_t *together = loop(&all->loops, common_period_us(sum->scenario));
    json_object_set_new(together, "input_age_us", distribution(&all->down.input_age));
    json_object_set_new(together, "count", whole(sum->scenario->converter_count));
    json_object_set_new(together, "each", each_converter(sum));
    free(all);
    return together;
}

static json_t *loss(const struct hil_loss *l)
{
    return json_pack("{s:o, s:o, s:o}", "converter", whole(l->from - 1), "lost_s",
                     number((double)l->lost_ns * 1e-9), "back_s",
                     l->back_ns ? number((double)l->back_ns * 1e-9) : json_null());
}

/* What all executors saw together, the first ones in full. */
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

static json_t *losses(const struct hil_state *s)
{
    json_t *each = json_array();
    struct hil_loss_log log;

    add_up_losses(s, &log);
    for (uint64_t i = 0; i < listed_losses(&log); i++)
        json_array_append_new(each, loss(&log.at[i]));
    return json_pack("{s:o, s:o, s:o}", "lost", whole(log.count), "back", whole(log.back_count),
                     "each", each);
}

/* Processes that stood still, and were killed for that. */
static json_t *hung(const struct hil_summary *sum)
{
    json_t *each = json_array();

    for (unsigned i = 0; i < sum->scenario->executor_count; i++) {
        char who[HIL_NODES_NAME_BYTES];
        if (!sum->state->executors[i].hangs)
            continue;
        hil_executor_name(sum->scenario, i, who);
        json_array_append_new(each, json_pack("{s:s, s:o}", "process", who, "times",
                                              whole(sum->state->executors[i].hangs)));
    }
    return each;
}

static json_t *stale_input(const struct hil_summary *sum, const struct hil_stale *s)
{
    char link[HIL_LINK_NAME_BYTES];

    hil_link_name(sum->scenario->system, s->from, s->to, link);
    return json_pack("{s:s, s:o, s:o, s:o, s:o}", "link", link, "limit_us", number(us(s->limit_ns)),
                     "found_s", number((double)s->found_ns * 1e-9), "fresh_s",
                     s->fresh_ns ? number((double)s->fresh_ns * 1e-9) : json_null(), "oldest_us",
                     number(us(s->oldest_ns)));
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
    return json_pack("{s:o, s:o, s:o}", "count", whole(count), "oldest_us", number(us(oldest_ns)),
                     "each", each);
}

/* Inputs that were no number, by link. */
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
        json_array_append_new(each, json_pack("{s:s, s:o}", "link", link, "count", whole(bad)));
    }
    return json_pack("{s:o, s:o}", "count", whole(count), "each", each);
}

/* --- components that failed ------------------------------------------------------------------ */

static void each_fault(const struct hil_summary *sum,
                       void (*each)(const struct hil_fault *, void *), void *arg)
{
    for (unsigned i = 0; i < sum->scenario->executor_count; i++) {
        const struct hil_fault_log *log = &sum->state->executors[i].faults;
        for (unsigned k = 0; k < hil_faults_listed(log); k++)
            each(&log->at[k], arg);
    }
}

static uint64_t fault_count(const struct hil_summary *sum)
{
    uint64_t count = 0;

    for (unsigned i = 0; i < sum->scenario->executor_count; i++)
        count += sum->state->executors[i].faults.count;
    return count;
}

static void append_fault(const struct hil_fault *f, void *array)
{
    char what[HIL_FAULT_WORDS_BYTES];

    hil_fault_say(f, what);
    json_array_append_new(
        array,
        json_pack("{s:s, s:s, s:o, s:s, s:o, s:o}", "component", f->component, "model", f->model,
                  "signal", f->signal[0] ? json_string(f->signal) : json_null(), "what", what,
                  "time_s", number((double)f->time_ns * 1e-9), "step", whole(f->step)));
}

static json_t *faults(const struct hil_summary *sum)
{
    json_t *each = json_array();

    each_fault(sum, append_fault, each);
    return json_pack("{s:o, s:o}", "count", whole(fault_count(sum)), "each", each);
}

static void print_fault(const struct hil_fault *f, void *to)
{
    char what[HIL_FAULT_WORDS_BYTES];

    hil_fault_say(f, what);
    fprintf(to, "  failed      %s\n", what);
}

static bool is_virtual(const struct hil_summary *sum)
{
    return sum->scenario->mode == HIL_VIRTUAL;
}

static const char *mode_name(const struct hil_summary *sum)
{
    return is_virtual(sum) ? "virtual" : "realtime";
}

/* Calls `each` with every reason, once, however many executors have it. */
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

/* What all the executors got, or "mixed". */
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
        number(is_virtual(sum) ? NAN : (double)sum->state->executors[0].start_ns * 1e-9),
        "page_faults_in_loop", whole(faults), "context_switches_involuntary", whole(involuntary),
        "context_switches_voluntary", whole(voluntary), "degraded", degraded);
}

/* --- the worst misses ------------------------------------------------------------------------ */

static json_t *worst_misses(const struct hil_summary *sum)
{
    json_t *list = json_array();
    struct hil_worst all;

    hil_state_worst(sum->state, &all);
    for (unsigned i = 0; i < all.count; i++) {
        const struct hil_miss *m = &all.at[i];
        char node[HIL_NODE_NAME_BYTES];
        hil_node_name(sum->scenario->system, m->node, node);
        json_array_append_new(list,
                              json_pack("{s:o, s:s, s:o, s:o, s:o, s:o, s:o}", "time_s",
                                        number((double)m->begin_ns * 1e-9), "node", node, "step",
                                        whole(m->step), "over_us", number(us(m->over_ns)),
                                        "late_us", number(us(m->late_ns)), "step_us",
                                        number(us(m->busy_ns)), "steps_missed", whole(m->missed)));
    }
    return list;
}

static json_t *trace(const struct hil_traced *traced)
{
    if (!traced)
        return json_null();
    return json_pack("{s:o, s:o, s:s}", "lost", whole(traced->lost), "kernel_lost",
                     whole(traced->kernel_lost), "kernel", traced->kernel);
}

int hil_summary_write(const struct hil_summary *sum, const char *path)
{
    const struct hil_scenario *s = sum->scenario;
    const struct hil_node_state *controller = &sum->state->nodes[0];
    struct hil_link_figures *up = malloc(sizeof *up);

    if (!up)
        return -ENOMEM;
    hil_state_add_up_links(sum->state, 1, up);
    json_t *root = json_pack(
        "{s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:{s:o, s:s?}, s:o}", "scenario",
        s->name, "mode", mode_name(sum), "fabric", hil_fabric_name(s->fabric), "duration_s",
        number((double)s->duration_ns * 1e-9), "elapsed_s",
        number((double)atomic_load(&sum->state->elapsed_ns) * 1e-9), "controller",
        controller->here ? loop(controller, us(s->controller.timing.period_ns)) : json_null(),
        "converters", converters(sum), "round_trip_us", distribution(&up->round_trip),
        "input_age_us", distribution(&up->input_age), "worst_misses", worst_misses(sum), "losses",
        losses(sum->state), "recorder", "dropped", whole(sum->dropped), "cut_off", sum->cut_off,
        "realtime", realtime(sum));

    free(up);
    if (!root)
        return -ENOMEM;
    hil_summary_add_output(sum->state, root);
    json_object_set_new(root, "trace", trace(sum->traced));
    json_object_set_new(root, "stale_inputs", stale_inputs(sum));
    json_object_set_new(root, "bad_inputs", bad_inputs(sum));
    json_object_set_new(root, "faults", faults(sum));
    json_object_set_new(root, "hung", hung(sum));
    json_object_set_new(root, "validity", hil_validity_json(sum->verdict));
    int rc = hil_json_file_write(root, path, 0);
    json_decref(root);
    return rc;
}

/* --- for a person ---------------------------------------------------------------------------- */

static void print_loop(const struct hil_node_state *n, const char *name, FILE *to)
{
    fprintf(to, "  %-11s %llu steps, %llu missed", name, (unsigned long long)n->steps,
            (unsigned long long)hil_missed(n));
    if (hil_missed(n))
        fprintf(to, " (%llu run late, %llu left out)", (unsigned long long)n->run_late,
                (unsigned long long)n->left_out);
    if (n->late.max)
        fprintf(to, "; late p50 %.2f us, p99 %.2f us, max %.0f us",
                us(hil_histogram_quantile(&n->late, 0.5)),
                us(hil_histogram_quantile(&n->late, 0.99)), us(n->late.max));
    fputc('\n', to);
}

static void print_worst(const struct hil_summary *sum, const struct hil_miss *m, FILE *to)
{
    char node[HIL_NODE_NAME_BYTES];

    hil_node_name(sum->scenario->system, m->node, node);
    fprintf(to, "  worst miss  %.0f us over at %.6f s: %s, step %llu, which began %.0f us late\n",
            us(m->over_ns), (double)m->begin_ns * 1e-9, node, (unsigned long long)m->step,
            us(m->late_ns));
}

static void print_converters(const struct hil_summary *sum, FILE *to)
{
    struct hil_node_state *all = malloc(sizeof *all);
    struct hil_worst worst;

    if (!all)
        return;
    hil_state_add_up(sum->state, 1, all);
    if (all->steps)
        print_loop(all, "converters", to);
    hil_state_worst(sum->state, &worst);
    if (worst.count)
        print_worst(sum, &worst.at[0], to);
    free(all);
}

/* How long a value took from the controller to a converter and back. */
static void print_round_trip(const struct hil_summary *sum, FILE *to)
{
    struct hil_link_figures *up = malloc(sizeof *up);

    if (!up)
        return;
    hil_state_add_up_links(sum->state, 1, up);
    if (up->round_trip.count)
        fprintf(to, "  round trip  p50 %.1f us, p99 %.1f us, max %.0f us\n",
                us(hil_histogram_quantile(&up->round_trip, 0.5)),
                us(hil_histogram_quantile(&up->round_trip, 0.99)), us(up->round_trip.max));
    free(up);
}

/* Converters that share a process go and come together, so a line is enough. */
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

void hil_summary_print(const struct hil_summary *sum, FILE *to)
{
    const struct hil_scenario *s = sum->scenario;

    fprintf(to, "%s: 1 controller at %g us, %u converter%s, %.4g of %.4g s in %s time over %s\n",
            s->name, us(s->controller.timing.period_ns), s->converter_count,
            s->converter_count > 1 ? "s" : "", (double)atomic_load(&sum->state->elapsed_ns) * 1e-9,
            (double)s->duration_ns * 1e-9, is_virtual(sum) ? "virtual" : "real",
            hil_fabric_name(sum->scenario->fabric));
    hil_validity_print(sum->verdict, to);
    hil_summary_print_output(sum->state, to);
    if (sum->state->nodes[0].here)
        print_loop(&sum->state->nodes[0], "controller", to);
    print_converters(sum, to);
    print_round_trip(sum, to);
    print_losses(sum->state, to);
    each_fault(sum, print_fault, to);
    print_hung(sum, to);
    if (sum->dropped)
        fprintf(to, "  recorder    dropped %llu rows\n", (unsigned long long)sum->dropped);
    if (sum->cut_off)
        fprintf(to, "  record      CUT OFF: %s\n", sum->cut_off);
    if (sum->traced)
        fprintf(to, "  trace       %s/ctf, %llu events lost; kernel: %s\n", sum->out,
                (unsigned long long)sum->traced->lost, sum->traced->kernel);
    hil_summary_print_degraded(sum, "  degraded    ", to);
    fprintf(to, "  results     %s\n", sum->out);
}

struct lines {
    const char *prefix;
    FILE *to;
};

static void print_reason(const char *reason, void *arg)
{
    const struct lines *l = arg;

    fprintf(l->to, "%s%s\n", l->prefix, reason);
}

void hil_summary_print_degraded(const struct hil_summary *sum, const char *prefix, FILE *to)
{
    struct lines l = {prefix, to};

    each_reason(sum, print_reason, &l);
}
