#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../base/json_number.h"
#include "../figures/plot.h"
#include "../h5/compare_events.h"
#include "../h5/run_files.h"
#include "commands.h"

static const char help[] =
    "usage: hiloco compare A B [--abs X] [--rel PERCENT] [--within S] [--from S] [--until S]\n"
    "                  [--to DIR] [--json]\n"
    "\n"
    "Compares the records of the runs in A and B, signal by signal. It prints a table of the\n"
    "differences, and plots the six signals that differ most into B, as compare.png and .svg.\n"
    "\n"
    "Signals and measures are matched by name. B's values are interpolated at the times of A's\n"
    "rows; two runs of one scenario in virtual time have the same times. Two values agree if "
    "their\n"
    "difference is at most the sum of X and PERCENT of A's value. Events are matched by node, "
    "kind\n"
    "and subject, and agree if they are at most S seconds apart. Events that are missing, or that\n"
    "came at another time, are printed.\n"
    "\n"
    "  --abs X        allowed difference, in the unit of each signal (default 0)\n"
    "  --rel PERCENT  allowed difference, in percent of A's value (default 0)\n"
    "  --within S     allowed difference in the times of events, in seconds (default 0)\n"
    "  --from S, --until S\n"
    "                 compare only rows and events from S to S seconds after the start\n"
    "  --to DIR       plot into this folder instead of B\n"
    "  --json         print all differences as JSON instead of the tables\n"
    "\n"
    "Exit status: 0 if all agree; 1 if a signal or an event differs, or is in one record only, or\n"
    "if one record ends earlier; 2 if A or B is not the folder of a run. A figure that cannot be\n"
    "drawn is reported, but does not change the exit status.\n";

/* --- the table ------------------------------------------------------------------------------- */

static void print_difference(const struct hil_difference *d)
{
    if (!d->in_first || !d->in_second)
        printf("%-32s only in %c\n", d->name, d->in_first ? 'A' : 'B');
    else if (d->rows == 0)
        printf("%-32s no rows of the same time\n", d->name);
    else if (d->greatest == 0)
        printf("%-32s %10zu  equal\n", d->name, d->rows);
    else
        printf("%-32s %10zu %10zu  %12.6g %12.6g %-6s at %.9g s: %.9g, %.9g\n", d->name, d->rows,
               d->apart, d->greatest, d->rms, d->unit, d->at_s, d->a, d->b);
}

static void print_table(const struct hil_comparison *c)
{
    printf("%-32s %10s %10s  %12s %12s\n", "signal", "rows", "apart", "greatest", "rms");
    for (unsigned i = 0; i < c->count; i++)
        print_difference(&c->at[i]);
    if (c->first_end_s != c->second_end_s)
        printf("A ends at %.9g s, B at %.9g s\n", c->first_end_s, c->second_end_s);
    printf("%u of %u signals differ\n", c->differ, c->count);
}

enum { EVENTS_PRINTED = 40 };

static void print_time(const struct hil_trace_event *e)
{
    if (e)
        printf(" %12.9g", e->time_s);
    else
        printf(" %12s", "-");
}

static void print_event(const struct hil_event_difference *d)
{
    const struct hil_trace_event *e = d->a ? d->a : d->b;
    char what[64 + HIL_EVENT_OF_BYTES];

    snprintf(what, sizeof what, "%s%s%s", e->kind, *e->of ? " " : "", e->of);
    printf("%-32s %-16s", what, e->node);
    print_time(d->a);
    print_time(d->b);
    if (d->a && d->b)
        printf("  %.6g s %s\n", fabs(d->b->time_s - d->a->time_s),
               d->b->time_s > d->a->time_s ? "later" : "earlier");
    else
        printf("  only in %c\n", d->a ? 'A' : 'B');
}

static void print_events(const struct hil_event_comparison *c)
{
    if (!c->known) {
        printf("events are not compared: a record has none\n");
        return;
    }
    if (c->differ)
        printf("%-32s %-16s %12s %12s\n", "event", "node", "A, s", "B, s");
    for (size_t i = 0; i < c->differ && i < EVENTS_PRINTED; i++)
        print_event(&c->at[i]);
    if (c->differ > EVENTS_PRINTED)
        printf("and %zu more\n", c->differ - EVENTS_PRINTED);
    printf("%zu of %zu events differ\n", c->differ, c->count);
}

/* --- JSON ------------------------------------------------------------------------------------ */

static json_t *difference_json(const struct hil_difference *d)
{
    if (!d->in_first || !d->in_second)
        return json_pack("{s:s, s:s}", "signal", d->name, "only_in", d->in_first ? "A" : "B");
    return json_pack("{s:s, s:s, s:I, s:I, s:o, s:o, s:o, s:o, s:o}", "signal", d->name, "unit",
                     d->unit, "rows", (json_int_t)d->rows, "apart", (json_int_t)d->apart,
                     "greatest", hil_json_number(d->greatest), "rms", hil_json_number(d->rms),
                     "at_s", hil_json_number(d->rows ? d->at_s : NAN), "a",
                     hil_json_number(d->rows ? d->a : NAN), "b",
                     hil_json_number(d->rows ? d->b : NAN));
}

static json_t *event_json(const struct hil_event_difference *d)
{
    const struct hil_trace_event *e = d->a ? d->a : d->b;

    return json_pack("{s:s, s:s, s:s, s:o, s:o}", "kind", e->kind, "of", e->of, "node", e->node,
                     "a_s", hil_json_number(d->a ? d->a->time_s : NAN), "b_s",
                     hil_json_number(d->b ? d->b->time_s : NAN));
}

/* Returns an exit status. */
static int print_json(const struct hil_comparison *c, const struct hil_event_comparison *e)
{
    json_t *signals = json_array(), *events = e->known ? json_array() : json_null();

    for (unsigned i = 0; i < c->count; i++)
        json_array_append_new(signals, difference_json(&c->at[i]));
    for (size_t i = 0; e->known && i < e->differ; i++)
        json_array_append_new(events, event_json(&e->at[i]));
    json_t *root =
        json_pack("{s:b, s:o, s:o, s:o, s:o}", "equal", !c->differs && !e->differ, "a_ends_s",
                  hil_json_number(c->first_end_s), "b_ends_s", hil_json_number(c->second_end_s),
                  "signals", signals, "events", events);
    const int rc = root ? json_dumpf(root, stdout, JSON_INDENT(2)) : -1;

    json_decref(root);
    return rc || putchar('\n') == EOF ? HIL_EXIT_FAILED : HIL_EXIT_OK;
}

/* --- the command ----------------------------------------------------------------------------- */

struct compare_arguments {
    struct hil_arguments given;
    struct hil_plot_span span;
    double absolute, percent, within_s; /* tolerances */
    const char *to;
    bool json;
};

static const struct hil_option options[] = {
    HIL_SPAN_OPTIONS(struct compare_arguments, span),
    HIL_OPTION("abs", hil_read_number, struct compare_arguments, absolute),
    HIL_OPTION("rel", hil_read_number, struct compare_arguments, percent),
    HIL_OPTION("within", hil_read_number, struct compare_arguments, within_s),
    HIL_OPTION("to", hil_read_text, struct compare_arguments, to),
    HIL_FLAG("json", struct compare_arguments, json),
    {0},
};

static int compare_records(const struct compare_arguments *a, const struct hil_trace_reader *first,
                           const struct hil_trace_reader *second)
{
    const struct hil_tolerance tolerance = {a->absolute, a->percent, a->span.from_s, a->span.to_s,
                                            a->within_s};
    struct hil_event_comparison events = {0};
    struct hil_comparison c;
    int rc = hil_compare(&c, first, second, &tolerance);
    if (!rc)
        rc = hil_compare_events(&events, first, second, &tolerance);
    int status = c.differs || events.differ ? HIL_EXIT_FAILED : HIL_EXIT_OK;

    if (rc) {
        fprintf(stderr, "the records cannot be compared: %s\n", strerror(-rc));
        status = HIL_EXIT_FAILED;
    } else {
        if (!a->json) {
            print_table(&c);
            print_events(&events);
        } else if (print_json(&c, &events)) {
            status = HIL_EXIT_FAILED;
        }
        hil_plot_compare(a->given.scenarios[0], a->given.scenarios[1], a->to, first, second, &c,
                         &events, stderr);
    }
    hil_event_comparison_free(&events);
    hil_comparison_free(&c);
    return status;
}

static int compare(const void *arguments)
{
    const struct compare_arguments *a = arguments;
    struct hil_trace_reader *first, *second;
    int status = HIL_EXIT_USAGE;

    if (hil_run_open_trace(&first, a->given.scenarios[0], stderr))
        return status;
    if (!hil_run_open_trace(&second, a->given.scenarios[1], stderr)) {
        status = compare_records(a, first, second);
        hil_trace_reader_close(second);
    }
    hil_trace_reader_close(first);
    return status;
}

int hil_command_compare(int argc, char **argv)
{
    struct compare_arguments a = {.span = HIL_ALL};
    int rc = hil_arguments_parse(&a.given, &(struct hil_command){help, options, 1, 2}, argc, argv);
    int status = HIL_EXIT_USAGE;

    if (rc)
        status = hil_arguments_status(rc);
    else if (hil_check_span(argv[0], &a.span, a.to))
        status = HIL_EXIT_USAGE;
    else if (a.given.scenario_count < 2)
        fprintf(stderr, "%s: two runs are compared; %s --help explains\n", argv[0], argv[0]);
    else
        status = hil_make_of_results(compare, &a.given, a.to, false);
    hil_arguments_free(&a.given);
    return status;
}
