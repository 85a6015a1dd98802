#include "judge.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "judge_parts.h"
#include "summary_values.h"

/* "passed" */
static const char *judge_outcome_name(enum hil_outcome outcome)
{
    static const char *const names[] = {[HIL_OUTCOME_PASSED] = "passed",
                                        [HIL_OUTCOME_FAILED] = "failed",
                                        [HIL_OUTCOME_INCONCLUSIVE] = "inconclusive",
                                        [HIL_OUTCOME_ERROR] = "error",
                                        [HIL_OUTCOME_SKIPPED] = "skipped"};

    return names[outcome];
}

/* --- findings -------------------------------------------------------------------------------- */

struct hil_finding *trial_add(struct trial *t, enum hil_bound bound, const char *part,
                              const char *unit)
{
    struct hil_finding *f = &t->at[t->count++];

    *f = (struct hil_finding){
        .outcome = HIL_OUTCOME_SKIPPED, .time_s = NAN, .greatest = NAN, .stream = -1};
    snprintf(f->unit, sizeof f->unit, "%s", unit);
    snprintf(f->name, sizeof f->name, "%s.%s%s%s", t->limit->name, hil_bound_keys[bound].key,
             part ? "." : "", part ? part : "");
    return f;
}

struct look look_at_most(double value, double bound, double time_s)
{
    return (struct look){value, bound, isnan(value) ? INFINITY : value - bound, time_s, false};
}

struct look look_at_least(double value, double bound, double time_s)
{
    return (struct look){value, bound, isnan(value) ? INFINITY : bound - value, time_s, true};
}

bool finding_look(struct finding_sum *sum, const struct look *look)
{
    struct hil_finding *f = sum->finding;
    const bool fails = look->beyond > 0;

    if (!f->judged)
        f->outcome = HIL_OUTCOME_PASSED;
    f->failures += fails;
    if (fails)
        f->outcome = HIL_OUTCOME_FAILED;
    if (f->judged && !(look->beyond > sum->beyond))
        return false;
    f->judged = true;
    sum->beyond = look->beyond;
    f->value = look->value;
    f->bound = look->bound;
    f->time_s = look->time_s;
    f->from_below = look->from_below;
    return true;
}

void finding_leave(struct hil_finding *f, enum hil_outcome outcome, const char *format, ...)
{
    va_list args;

    f->outcome = outcome;
    va_start(args, format);
    vsnprintf(f->words, sizeof f->words, format, args);
    va_end(args);
}

/* "output_v: 3.1 ms at 0.0031 s, after start-up; allowed: at most 2 ms", "output_v: has not settled
 * at 0.05 s, after start-up; ..." */
static void finding_say(struct hil_finding *f)
{
    const char *space = *f->unit ? " " : "";
    size_t used = 0;
    char value[48], when[40] = "", more[128] = "";

    if (f->outcome != HIL_OUTCOME_PASSED && f->outcome != HIL_OUTCOME_FAILED)
        return;
    if (isfinite(f->value))
        snprintf(value, sizeof value, "%.6g%s%.16s", f->value, space, f->unit);
    else
        snprintf(value, sizeof value, "%s", f->no_value ? f->no_value : "is not a number");
    if (isfinite(f->time_s))
        snprintf(when, sizeof when, " at %.9g s", f->time_s);
    if (f->failures > 1)
        used = (size_t)snprintf(more, sizeof more, "; %u times in all", f->failures);
    if (isfinite(f->greatest)) { /* a percentile belongs to no single time */
        snprintf(more + used, sizeof more - used, "; the greatest was %.6g%s%.16s%s", f->greatest,
                 space, f->unit, when);
        when[0] = 0;
    }
    snprintf(f->words, sizeof f->words, "%s: %s%s%s%s; allowed: at %s %.6g%s%.16s%s", f->signal,
             value, when, f->event[0] ? ", after " : "", f->event, f->from_below ? "least" : "most",
             f->bound, space, f->unit, more);
}

/* --- the whole ------------------------------------------------------------------------------- */

static unsigned count_times(const struct hil_limit *limit, enum hil_bound bound)
{
    unsigned count = 0;

    for (unsigned i = 0; limit->given[bound] && i < HIL_LIMIT_TIMES; i++)
        count += isnan(limit->times[bound][i]) ? 0 : 1;
    return count;
}

static unsigned count_findings(const struct hil_limit *limit)
{
    unsigned count = 0;

    for (unsigned bound = 0; bound < HIL_BOUNDS; bound++)
        count +=
            bound >= HIL_BOUND_LATE ? count_times(limit, bound) : (limit->given[bound] ? 1u : 0u);
    return count;
}

static int judge_limit(struct trial *t)
{
    switch (t->limit->of) {
    case HIL_OF_MEASURE:
        judge_measure(t);
        return 0;
    case HIL_OF_SIGNAL:
        return judge_signals(t);
    case HIL_OF_NODES:
        return judge_nodes(t);
    default:
        return judge_link(t);
    }
}

static int judge_limits(struct hil_judgement *j, const struct hil_judge_run *run)
{
    const struct hil_system *s = run->scenario->system;
    struct trial t = {.run = run, .system = s};
    unsigned most = 0;
    int rc = 0;

    for (unsigned i = 0; i < s->limit_count; i++)
        most += count_findings(&s->limits[i]);
    t.at = j->at = calloc(most ? most : 1, sizeof *j->at);
    if (!j->at)
        return -ENOMEM;
    for (unsigned i = 0; !rc && i < s->limit_count; i++) {
        t.limit = &s->limits[i];
        rc = judge_limit(&t);
    }
    j->count = t.count;
    return rc;
}

static bool any(const struct hil_judgement *j, enum hil_outcome outcome)
{
    for (unsigned i = 0; i < j->count; i++)
        if (j->at[i].outcome == outcome)
            return true;
    return false;
}

int hil_judge(struct hil_judgement *j, const struct hil_judge_run *run)
{
    *j = (struct hil_judgement){
        .outcome = HIL_OUTCOME_ERROR,
        .believed = run->validity->valid || !run->scenario->validity.required,
    };
    if (run->failed)
        return 0;
    const int rc = judge_limits(j, run);
    if (rc)
        return rc;
    for (unsigned i = 0; i < j->count; i++)
        finding_say(&j->at[i]);
    judge_find_figures(run->dir, j->at, j->count);
    j->outcome = !j->believed                       ? HIL_OUTCOME_INCONCLUSIVE
                 : any(j, HIL_OUTCOME_FAILED)       ? HIL_OUTCOME_FAILED
                 : any(j, HIL_OUTCOME_INCONCLUSIVE) ? HIL_OUTCOME_INCONCLUSIVE
                                                    : HIL_OUTCOME_PASSED;
    return 0;
}

void hil_judgement_free(struct hil_judgement *j)
{
    free(j->at);
    *j = (struct hil_judgement){0};
}

/* --- telling --------------------------------------------------------------------------------- */

static json_t *finding_json(const struct hil_finding *f)
{
    json_t *json =
        json_pack("{s:s, s:s}", "name", f->name, "verdict", judge_outcome_name(f->outcome));

    if (f->judged)
        json_object_update_new(
            json, json_pack("{s:s, s:s, s:o, s:o, s:o, s:s, s:i, s:s*, s:s*}", "signal", f->signal,
                            "unit", f->unit, "time_s", hil_json_number(f->time_s), "value",
                            hil_json_number(f->value), f->from_below ? "at_least" : "at_most",
                            hil_json_number(f->bound), "words", f->words, "failures", f->failures,
                            "figure", f->figure[0] ? f->figure : NULL, "event",
                            f->event[0] ? f->event : NULL));
    else
        json_object_set_new(json, "words", json_string(f->words));
    return json;
}

void hil_judgement_add(const struct hil_judgement *j, json_t *summary)
{
    json_t *limits = json_array();

    for (unsigned i = 0; i < j->count; i++)
        json_array_append_new(limits, finding_json(&j->at[i]));
    json_object_set_new(summary, "verdict", json_string(judge_outcome_name(j->outcome)));
    json_object_set_new(summary, "limits", limits);
}

static void print_finding(const struct hil_finding *f, FILE *to)
{
    const char *beside = f->outcome == HIL_OUTCOME_FAILED && f->figure[0] ? f->figure : NULL;

    fprintf(to, "  %-11s %s: %s%s%s%s\n",
            f->outcome == HIL_OUTCOME_FAILED    ? "failed"
            : f->outcome == HIL_OUTCOME_SKIPPED ? "skipped"
                                                : "unjudged",
            f->name, f->words, beside ? " (" : "", beside ? beside : "", beside ? ")" : "");
}

void hil_judgement_print(const struct hil_judgement *j, FILE *to)
{
    unsigned passed = 0;

    if (j->count == 0)
        return;
    for (unsigned i = 0; i < j->count; i++)
        passed += j->at[i].outcome == HIL_OUTCOME_PASSED;
    fprintf(to, "  %-11s %s: %u of %u limits kept%s\n", "verdict",
            j->outcome == HIL_OUTCOME_FAILED ? "FAILED" : judge_outcome_name(j->outcome), passed,
            j->count, j->believed ? "" : ", by a run that is not valid");
    for (unsigned i = 0; i < j->count; i++)
        if (j->at[i].outcome != HIL_OUTCOME_PASSED)
            print_finding(&j->at[i], to);
}
