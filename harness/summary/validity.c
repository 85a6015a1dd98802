#include "validity.h"

#include <stdarg.h>
#include <string.h>

#include "../run/node_name.h"
#include "../scenario/faults.h"
#include "../scenario/system.h"
#include "absent_faults.h"

/* The run that is judged, and the verdict. */
struct trial {
    const struct hil_scenario *scenario;
    const struct hil_validity_config *bounds;
    const struct hil_state *state;
    struct hil_verdict *verdict;
    bool complete; /* everything that ran here came to its end */
};

/* The worst loop in one respect; `share` is the value relative to the loop's bound. */
struct worst_loop {
    bool any;
    unsigned node;
    double value, bound, share;
};

static struct hil_check *add_check(struct trial *t, const char *name, double value, double bound)
{
    struct hil_check *check = &t->verdict->checks[t->verdict->count++];

    *check =
        (struct hil_check){.name = name, .value = value, .bound = bound, .passed = value <= bound};
    t->verdict->valid &= check->passed;
    return check;
}

__attribute__((format(printf, 2, 3))) static void give_reason(struct hil_check *check,
                                                              const char *format, ...)
{
    va_list args;

    if (check->passed)
        return;
    va_start(args, format);
    vsnprintf(check->reason, sizeof check->reason, format, args);
    va_end(args);
}

static double us(uint64_t ns)
{
    return (double)ns * 1e-3;
}

/* 1.23 ms is easier to read than 1234.5 us. */
static const char *say_us(double value, char text[24])
{
    if (value < 1e3)
        snprintf(text, 24, "%.3g us", value);
    else if (value < 1e6)
        snprintf(text, 24, "%.3g ms", value * 1e-3);
    else
        snprintf(text, 24, "%.3g s", value * 1e-6);
    return text;
}

/* --- faults of the scenario ------------------------------------------------------------------ */

/* Effects of the scenario's own faults do not make a run invalid. */

static bool has_crashed(const struct hil_fault *fault)
{
    return fault->kind == HIL_FAULT_CRASH;
}

static bool is_of_nodes(const struct hil_fault *fault)
{
    return fault->of == HIL_FAULT_OF_NODES;
}

/* Whether such a fault began at the node. */
static bool is_provoked(const struct trial *t, unsigned node, bool (*is)(const struct hil_fault *))
{
    const struct hil_system *s = t->scenario->system;
    const struct hil_node_config *n = &s->nodes[node];

    for (unsigned i = n->first_fault; i < n->first_fault + n->fault_count; i++)
        if (is(&s->faults[s->faults_here[i].fault]) && t->state->faults[i].begun)
            return true;
    return false;
}

/* Whether such a fault began at one of the executor's nodes. */
static bool is_provoked_here(const struct trial *t, unsigned executor,
                             bool (*is)(const struct hil_fault *))
{
    const struct hil_executor_config *e = &t->scenario->executors[executor];

    for (unsigned i = 0; i < e->count; i++)
        if (is_provoked(t, e->nodes[i], is))
            return true;
    return false;
}

/* Whether the fault at a node blocks messages of the link. */
static bool is_of_link(const struct hil_system *s, const struct hil_fault_here *here,
                       const struct hil_stale *stale)
{
    if (s->faults[here->fault].of == HIL_FAULT_OF_NODES)
        return here->node == stale->from || here->node == stale->to;
    for (unsigned i = 0; s->faults[here->fault].of == HIL_FAULT_OF_LINK && i < here->act_count; i++)
        if (s->links[here->acts[i].link].from == stale->from &&
            s->links[here->acts[i].link].to == stale->to)
            return true;
    return false;
}

/* Whether an input became stale during such a fault, or before it recovered from one. */
static bool is_provoked_stale(const struct trial *t, const struct hil_stale *stale)
{
    const struct hil_system *s = t->scenario->system;

    for (unsigned i = 0; i < s->here_count; i++) {
        const struct hil_fault_state *state = &t->state->faults[i];
        if (state->begun && is_of_link(s, &s->faults_here[i], stale) &&
            state->begin_ns <= stale->found_ns &&
            (state->ended < state->begun || stale->found_ns <= state->end_ns + stale->limit_ns))
            return true;
    }
    return false;
}

/* --- loops ---------------------------------------------------------------------------------- */

/* For nodes in processes that share no memory with this one, only what they reported is known. */
static bool is_here(const struct trial *t, unsigned node)
{
    return t->state->nodes[node].here;
}

static double share_percent(double missed, double due)
{
    return due > 0 ? 100 * missed / due : 0;
}

double hil_missed_percent(const struct hil_node_state *n)
{
    return share_percent((double)hil_missed(n), (double)(n->steps + n->left_out));
}

/* How many steps of the run were due. For a node elsewhere, this is as far as the run got. */
static double due_steps(const struct trial *t, unsigned node)
{
    const struct hil_node_state *n = hil_node_figures(t->state, node);

    if (is_here(t, node))
        return (double)(n->steps + n->left_out);
    return (double)atomic_load(&t->state->elapsed_ns) / (double)t->state->nodes[node].period_ns;
}

static double missed_percent(const struct trial *t, unsigned node)
{
    const struct hil_progress *told = &t->state->nodes[node].progress;

    return is_here(t, node) ? hil_missed_percent(hil_node_figures(t->state, node))
                            : share_percent((double)told->missed, due_steps(t, node));
}

/* The longest time between the beginnings of two steps, or from the last step to the end. */
static double gap_us(const struct trial *t, unsigned node)
{
    const struct hil_node_state *n = hil_node_figures(t->state, node);
    const bool ended = hil_state_ended_by(t->state, t->scenario->system);
    const uint64_t end = ended ? t->state->ended_ns : t->scenario->duration_ns;
    uint64_t last =
        t->complete && due_steps(t, node) > 0 && end > n->begin_ns ? end - n->begin_ns : 0;

    if (!is_here(t, node))
        return 0;
    return us(last > n->period.max ? last : n->period.max);
}

static double behind_us(const struct trial *t, unsigned node)
{
    if (t->scenario->system->nodes[node].timing.overrun != HIL_CATCH_UP)
        return 0;
    return us(is_here(t, node) ? hil_node_figures(t->state, node)->late.max
                               : t->state->nodes[node].progress.late_max_ns);
}

/* A bound of 0 means ten periods of the loop, but at least 1 ms. */
static double bound_us(const struct trial *t, unsigned node, uint64_t bound_ns)
{
    uint64_t periods = 10 * t->scenario->system->nodes[node].timing.period_ns;

    if (bound_ns)
        return us(bound_ns);
    return us(periods > 1000000 ? periods : 1000000);
}

static void look_at(struct worst_loop *worst, unsigned node, double value, double bound)
{
    double share = bound > 0 ? value / bound : value * 1e9;

    if (!worst->any || share > worst->share)
        *worst = (struct worst_loop){true, node, value, bound, share};
}

static unsigned process_count(const struct hil_scenario *s)
{
    return s->mode == HIL_VIRTUAL ? 1 : s->executor_count;
}

/* Time for which the executor stood still, as a share of the run. */
static double lost_percent(const struct trial *t, unsigned executor)
{
    return share_percent((double)t->state->executors[executor].stalls.total_ns,
                         (double)atomic_load(&t->state->elapsed_ns));
}

static void judge_lost_time(struct trial *t)
{
    struct worst_loop lost = {0};
    char name[HIL_NODES_NAME_BYTES];

    for (unsigned i = 0; i < process_count(t->scenario); i++)
        if (!is_provoked_here(t, i, is_of_nodes))
            look_at(&lost, i, lost_percent(t, i), t->bounds->lost_percent);
    hil_executor_name(t->scenario, lost.node, name);
    give_reason(add_check(t, "lost_percent", lost.value, lost.bound),
                "%.200s stood still for %.3g %% of the run; allowed: at most %g %%", name,
                lost.value, lost.bound);
}

static void judge_loops(struct trial *t)
{
    struct worst_loop missed = {0}, gap = {0}, behind = {0};
    char name[HIL_NODE_NAME_BYTES], value[24], bound[24];

    for (unsigned i = 0; i < t->state->node_count; i++) {
        if (is_provoked(t, i, is_of_nodes))
            continue;
        look_at(&missed, i, missed_percent(t, i), t->bounds->missed_percent);
        look_at(&gap, i, gap_us(t, i), bound_us(t, i, t->bounds->gap_ns));
        look_at(&behind, i, behind_us(t, i), bound_us(t, i, t->bounds->behind_ns));
    }
    hil_node_name(t->scenario->system, missed.node, name);
    give_reason(add_check(t, "missed_percent", missed.value, missed.bound),
                "%s missed %.3g %% of its steps; allowed: at most %g %%", name, missed.value,
                missed.bound);
    hil_node_name(t->scenario->system, gap.node, name);
    give_reason(add_check(t, "gap_us", gap.value, gap.bound),
                "%s stood still for %s; allowed: at most %s", name, say_us(gap.value, value),
                say_us(gap.bound, bound));
    hil_node_name(t->scenario->system, behind.node, name);
    give_reason(add_check(t, "behind_us", behind.value, behind.bound),
                "%s was behind the clock by %s; allowed: at most %s", name,
                say_us(behind.value, value), say_us(behind.bound, bound));
}

/* --- the rest ------------------------------------------------------------------------------- */

static bool is_complete(const struct trial *t)
{
    if ((atomic_load(&t->state->stop) && !hil_state_ended_by(t->state, t->scenario->system)) ||
        t->state->absent[0])
        return false;
    for (unsigned i = 0; i < process_count(t->scenario); i++)
        if (atomic_load(&t->state->executors[i].stage) != HIL_DONE &&
            !is_provoked_here(t, i, has_crashed))
            return false;
    return true;
}

static void judge_length(struct trial *t)
{
    double duration = (double)t->scenario->duration_ns * 1e-9;
    double elapsed = (double)atomic_load(&t->state->elapsed_ns) * 1e-9;
    struct hil_check *check = add_check(t, "incomplete", !t->complete, 0);

    if (t->state->absent[0])
        give_reason(check, "a part is missing: nothing tells how %s ended", t->state->absent);
    else
        give_reason(check, "it did not finish: %.4g of %.4g s", elapsed, duration);
}

/* Removes those that a fault provoked from the count. Returns the first remaining one, or NULL. */
static const struct hil_stale *drop_provoked(const struct trial *t, const struct hil_stale_log *log,
                                             uint64_t *count)
{
    const struct hil_stale *first = NULL;

    for (uint64_t k = 0; k < log->count && k < HIL_STALE_LISTED; k++)
        if (is_provoked_stale(t, &log->at[k]))
            --*count;
        else if (!first)
            first = &log->at[k];
    return first;
}

static void judge_inputs(struct trial *t)
{
    char link[HIL_LINK_NAME_BYTES] = "", oldest[24];
    uint64_t count = 0, oldest_ns = 0;
    const struct hil_stale *first = NULL;

    for (unsigned i = 0; i < process_count(t->scenario); i++) {
        const struct hil_stale_log *log = &t->state->executors[i].stale;
        count += log->count;
        oldest_ns = log->oldest_ns > oldest_ns ? log->oldest_ns : oldest_ns;
        const struct hil_stale *of_log = drop_provoked(t, log, &count);
        if (of_log && (!first || of_log->found_ns < first->found_ns))
            first = of_log;
    }
    struct hil_check *check = add_check(t, "stale_inputs", (double)count, t->bounds->stale_inputs);
    if (!first)
        return;
    hil_link_name(t->scenario->system, first->from, first->to, link);
    give_reason(
        check,
        "an input was stale %llu time%s; allowed: at most %u; the first was %s at %.6f s%s%s%s",
        (unsigned long long)count, count == 1 ? "" : "s", t->bounds->stale_inputs, link,
        (double)first->found_ns * 1e-9, oldest_ns ? "; the oldest was " : "",
        oldest_ns ? say_us(us(oldest_ns), oldest) : "", oldest_ns ? " old" : "");
}

static void judge_numbers(struct trial *t)
{
    const struct hil_link *links = t->scenario->system->links;
    char link[HIL_LINK_NAME_BYTES] = "";
    uint64_t count = 0;

    for (unsigned i = 0; i < t->state->link_count; i++) {
        count += t->state->links[i].bad;
        if (!link[0] && t->state->links[i].bad)
            hil_link_name(t->scenario->system, links[i].from, links[i].to, link);
    }
    give_reason(add_check(t, "bad_inputs", (double)count, t->bounds->bad_inputs),
                "%llu inputs were not numbers; allowed: at most %u; some came over %s",
                (unsigned long long)count, t->bounds->bad_inputs, link);
}

/* Steps whose outputs may be wrong, by what the components themselves found. */
static void judge_components(struct trial *t)
{
    const struct hil_system *s = t->scenario->system;
    char name[HIL_SIGNAL_NAME_BYTES] = "";
    uint64_t count = 0;

    for (unsigned i = 0; i < s->component_count; i++) {
        const uint64_t steps = t->state->costs[i].counts.unresolved;
        if (!name[0] && steps)
            hil_instance_name(&s->components[i].is, name);
        count += steps;
    }
    give_reason(add_check(t, "unresolved", (double)count, 0),
                "%llu step%s could not be resolved, the first of them of %.200s; allowed: none",
                (unsigned long long)count, count == 1 ? "" : "s", name);
}

static void judge_faults(struct trial *t)
{
    const struct hil_system *s = t->scenario->system;
    char why[HIL_ABSENT_BYTES], first_why[HIL_ABSENT_BYTES] = "", more[32] = "";
    const char *first = "";
    unsigned count = 0;

    for (unsigned i = 0; i < s->fault_count; i++) {
        if (!hil_fault_is_absent(t->scenario, t->state, i, why) || count++)
            continue;
        first = s->faults[i].name;
        memcpy(first_why, why, sizeof first_why);
    }
    if (count > 1)
        snprintf(more, sizeof more, "; nor did %u others", count - 1);
    give_reason(add_check(t, "absent_faults", count, t->bounds->absent_faults),
                "the fault %.100s never began: %s%s", first, first_why, more);
}

static void judge_record(struct trial *t, uint64_t dropped)
{
    give_reason(add_check(t, "lost_records", (double)dropped, t->bounds->lost_records),
                "the recorder lost %llu rows; allowed: at most %u", (unsigned long long)dropped,
                t->bounds->lost_records);
}

static void judge_machine(struct trial *t)
{
    const char *why = NULL;
    unsigned degraded = 0;

    for (unsigned i = 0; i < process_count(t->scenario); i++) {
        const char *reasons = t->state->executors[i].degraded;
        degraded += reasons[0] != '\0';
        if (!why && reasons[0])
            why = reasons;
    }
    struct hil_check *check = add_check(t, "degraded", degraded,
                                        t->bounds->allow_degraded ? process_count(t->scenario) : 0);
    if (why)
        give_reason(check, "degraded: %.*s", (int)strcspn(why, "\n"), why);
}

/* --- why loops stood still ------------------------------------------------------------------- */

enum { FAULT_BYTES = 128 };

/* The reason, if it explains most of the time. */
static const char *say_whose_fault(const struct hil_stalls *s, int cpu, char text[FAULT_BYTES])
{
    char time[24], core[24] = "its core";

    if (cpu >= 0)
        snprintf(core, sizeof core, "cpu %d", cpu);
    text[0] = '\0';
    if (2 * s->waited_ns > s->total_ns && s->waited_ns >= s->stolen_ns)
        snprintf(text, FAULT_BYTES, "; %.27s%sother threads had %s for %s", s->other,
                 s->other[0] ? " and " : "", core, say_us(us(s->waited_ns), time));
    else if (2 * s->stolen_ns > s->total_ns)
        snprintf(text, FAULT_BYTES, "; the host took %s away for %s", core,
                 say_us(us(s->stolen_ns), time));
    return text;
}

static void judge_stalls(struct trial *t)
{
    const struct hil_stalls *worst = NULL;
    char name[HIL_NODES_NAME_BYTES], longest[24], all[24], fault[FAULT_BYTES];
    unsigned executor = 0;

    for (unsigned i = 0; i < process_count(t->scenario); i++) {
        const struct hil_stalls *s = &t->state->executors[i].stalls;
        if (!s->count || (worst && s->total_ns <= worst->total_ns))
            continue;
        worst = s;
        executor = i;
    }
    if (!worst)
        return;
    hil_executor_name(t->scenario, executor, name);
    snprintf(t->verdict->stalls, sizeof t->verdict->stalls,
             "%.200s stood still %llu time%s, %s at most, %s in all, %.2g %% of the run%s", name,
             (unsigned long long)worst->count, worst->count == 1 ? "" : "s",
             say_us(us(worst->longest_ns), longest), say_us(us(worst->total_ns), all),
             lost_percent(t, executor),
             say_whose_fault(worst, t->scenario->executors[executor].cpu, fault));
}

void hil_validity_judge(struct hil_verdict *verdict, const struct hil_scenario *scenario,
                        const struct hil_state *state, uint64_t dropped)
{
    struct trial t = {
        .scenario = scenario, .bounds = &scenario->validity, .state = state, .verdict = verdict};

    *verdict = (struct hil_verdict){.valid = true};
    t.complete = is_complete(&t);
    judge_length(&t);
    judge_loops(&t);
    judge_lost_time(&t);
    judge_inputs(&t);
    judge_numbers(&t);
    judge_components(&t);
    judge_faults(&t);
    judge_record(&t, dropped);
    judge_machine(&t);
    judge_stalls(&t);
}

/* --- telling -------------------------------------------------------------------------------- */

json_t *hil_validity_json(const struct hil_verdict *v)
{
    json_t *reasons = json_array(), *checks = json_object();

    for (unsigned i = 0; i < v->count; i++) {
        const struct hil_check *c = &v->checks[i];
        json_object_set_new(checks, c->name,
                            json_pack("{s:f, s:f, s:b}", "value", c->value, "bound", c->bound,
                                      "passed", c->passed));
        if (!c->passed)
            json_array_append_new(reasons, json_string(c->reason));
    }
    return json_pack("{s:b, s:s?, s:o, s:o}", "valid", v->valid, "stalls",
                     v->stalls[0] ? v->stalls : NULL, "reasons", reasons, "checks", checks);
}

void hil_validity_print(const struct hil_verdict *v, FILE *to)
{
    const char *before = "NOT VALID: ";

    if (v->valid)
        fprintf(to, "  run         valid\n");
    if (!v->valid && v->stalls[0]) {
        fprintf(to, "  %-11s %s%s\n", "run", before, v->stalls);
        before = "";
    }
    for (unsigned i = 0; i < v->count; i++) {
        if (v->checks[i].passed)
            continue;
        fprintf(to, "  %-11s %s%s\n", before[0] ? "run" : "", before, v->checks[i].reason);
        before = "";
    }
}
