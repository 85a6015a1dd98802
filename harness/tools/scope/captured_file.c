#include "captured_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/csv.h"
#include "../../base/digits.h"
#include "../../base/file_save.h"
#include "../../base/foreign.h"
#include "../../base/json_file.h"
#include "../../base/json_number.h"

static bool captured_ends(const char *path, const char *end)
{
    const size_t length = strlen(path), tail = strlen(end);

    return length > tail && strcmp(path + length - tail, end) == 0;
}

bool hil_captured_is_file(const char *path)
{
    return captured_ends(path, ".csv") || captured_ends(path, ".json");
}

/* --- CSV -------------------------------------------------------------------------------------- */

/* The earliest next time of all traces; INFINITY: no more. */
static double captured_next(const struct hil_captured *c, const unsigned *at)
{
    double next = INFINITY;

    for (unsigned i = 0; i < c->count; i++)
        if (at[i] < c->traces[i].count)
            next = fmin(next, c->traces[i].times_s[at[i]]);
    return next;
}

static int captured_put(const void *captured, FILE *to)
{
    const struct hil_captured *c = captured;
    unsigned at[HIL_TRACES_MAX] = {0};
    char text[HIL_NUMBER_BYTES];
    double t;

    fputs("time_s", to);
    for (unsigned i = 0; i < c->count; i++) {
        putc(',', to);
        hil_csv_text(to, c->traces[i].signal->name);
    }
    while (isfinite(t = captured_next(c, at))) {
        fprintf(to, "\n%s", hil_number(text, t));
        for (unsigned i = 0; i < c->count; i++) {
            const struct hil_captured_trace *trace = &c->traces[i];
            putc(',', to);
            if (at[i] < trace->count && trace->times_s[at[i]] == t)
                fputs(hil_number(text, trace->values[at[i]++]), to);
        }
    }
    putc('\n', to);
    return 0;
}

/* --- JSON ------------------------------------------------------------------------------------- */

static json_t *captured_numbers(const double *at, unsigned count)
{
    json_t *all = json_array();

    for (unsigned i = 0; i < count; i++)
        json_array_append_new(all, hil_json_number(at[i]));
    return all;
}

static json_t *captured_node(const struct hil_run_entry *run, unsigned node)
{
    char name[HIL_NODE_NAME_BYTES];

    return json_string(
        hil_foreign_text(name, sizeof name, run->attached.state->nodes[node].name, sizeof name));
}

static json_t *captured_trace(const struct hil_captured_trace *trace,
                              const struct hil_run_entry *run)
{
    json_t *steps = json_array();

    for (unsigned i = 0; i < trace->count; i++)
        json_array_append_new(steps, json_integer((json_int_t)trace->steps[i]));
    return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o}", "name", trace->signal->name, "unit",
                     trace->signal->unit, "node", captured_node(run, trace->signal->node), "steps",
                     steps, "times_s", captured_numbers(trace->times_s, trace->count), "values",
                     captured_numbers(trace->values, trace->count));
}

static int captured_json(const struct hil_captured *c, const char *path,
                         const struct hil_run_entry *run, const char *on)
{
    json_t *traces = json_array(), *trigger = json_null();

    for (unsigned i = 0; i < c->count; i++)
        json_array_append_new(traces, captured_trace(&c->traces[i], run));
    if (c->triggered)
        trigger = json_pack("{s:s, s:f, s:I, s:o}", "on", on, "time_s", c->time_s, "step",
                            (json_int_t)c->step, "node", captured_node(run, c->node));
    json_t *root = json_pack("{s:s, s:o, s:f, s:f, s:I, s:o}", "run", run->attached.card.name,
                             "trigger", trigger, "from_s", c->from_s, "to_s", c->to_s, "lost",
                             (json_int_t)c->lost, "traces", traces);
    int rc = hil_json_file_write(root, path, JSON_COMPACT);
    json_decref(root);
    return rc;
}

int hil_captured_write(const struct hil_captured *c, const char *path,
                       const struct hil_run_entry *run, const char *on)
{
    return captured_ends(path, ".csv") ? hil_file_save(path, captured_put, c)
                                       : captured_json(c, path, run, on);
}
