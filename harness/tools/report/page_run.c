#include "page_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/foreign.h"
#include "../../base/json_number.h"
#include "../../base/result_file.h"
#include "../../h5/run_files.h"
#include "../../h5/trace_events.h"
#include "../../record/summary_reader.h"
#include "curves.h"

/* --- files ------------------------------------------------------------------------------------ */

enum { PAGE_SCENARIO_BYTES = 1 << 20 };

/* The scenario's text. If it is not UTF-8, bytes that are not ASCII become question marks. */
json_t *hil_page_scenario(const char *dir)
{
    char path[HIL_PATH_BYTES], *text = NULL;
    FILE *file = hil_run_path(path, dir, "scenario.yaml") ? NULL : hil_result_read(path);
    json_t *json = NULL;
    size_t size = 0;

    if (file)
        text = calloc(1, PAGE_SCENARIO_BYTES + 1);
    if (text)
        size = fread(text, 1, PAGE_SCENARIO_BYTES, file);
    if (text && ferror(file)) {
        free(text);
        text = NULL;
    }
    if (file)
        fclose(file);
    if (text)
        json = json_string(text);
    for (size_t i = 0; text && !json && i < size; i++)
        text[i] = (unsigned char)text[i] < 0x80 ? text[i] : '?';
    if (text && !json)
        json = json_string(text);
    free(text);
    return json ? json : json_null();
}

/* The results of `hiloco trace`. */
static json_t *run_trace(const char *dir)
{
    char path[HIL_PATH_BYTES];
    json_error_t error;
    json_t *trace = hil_run_path(path, dir, "trace.json") ? NULL : hil_foreign_json(path, &error);

    return trace ? trace : json_null();
}

/* --- the record ------------------------------------------------------------------------------- */

/* [[from_us, to_us, count] ...] for the buckets that are not empty. */
static json_t *histogram_bars(const struct hil_histogram *h)
{
    json_t *bars = json_array();

    for (unsigned i = 0; i < HIL_HISTOGRAM_BUCKETS; i++)
        if (h->buckets[i])
            json_array_append_new(bars, json_pack("[f, f, I]",
                                                  (double)hil_histogram_bucket_start(i) * 1e-3,
                                                  (double)hil_histogram_bucket_start(i + 1) * 1e-3,
                                                  (json_int_t)h->buckets[i]));
    return bars;
}

static json_t *histogram_json(const char *name, const struct hil_histogram *h)
{
    static const struct {
        const char *name;
        double quantile;
    } of[] = {{"p50", 0.5}, {"p99", 0.99}, {"p999", 0.999}, {"p9999", 0.9999}, {"max", 1}};
    json_t *json = json_pack("{s:o, s:I, s:o}", "name", hil_curves_text(name), "count",
                             (json_int_t)h->count, "bars", histogram_bars(h));

    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++)
        json_object_set_new(json, of[i].name,
                            json_real((double)hil_histogram_quantile(h, of[i].quantile) * 1e-3));
    return json;
}

/* A damaged histogram keeps its name, but has no bars. */
static json_t *record_histograms(const struct hil_trace_reader *trace)
{
    struct hil_histogram *h = malloc(sizeof *h);
    json_t *all = json_array();
    const char *name;

    for (unsigned i = 0; h && (name = hil_trace_histogram_name(trace, i)); i++)
        if (hil_trace_read_histogram(trace, name, h) == 0 && h->max > 0)
            json_array_append_new(all, histogram_json(name, h));
    free(h);
    return all;
}

/* The most events of a record in the page: [{time_s, step, node, kind, of, value}]. */
enum { PAGE_EVENTS_MOST = 10000 };

static json_t *event_json(const struct hil_trace_event *e)
{
    return json_pack("{s:f, s:f, s:o, s:o, s:o, s:o}", "time_s", e->time_s, "step", e->step, "node",
                     hil_curves_text(e->node), "kind", hil_curves_text(e->kind), "of",
                     hil_curves_text(e->of), "value", hil_json_number(e->value));
}

static json_t *record_events(const struct hil_trace_reader *trace)
{
    struct hil_trace_events events;
    json_t *all = json_array();

    if (hil_trace_events_read(&events, trace))
        return all;
    for (size_t i = 0; i < events.count && i < PAGE_EVENTS_MOST; i++)
        json_array_append_new(all, event_json(&events.at[i]));
    hil_trace_events_free(&events);
    return all;
}

/* Reads a part of a record. */
typedef json_t *record_fn(const struct plot_run *run, size_t most);

static json_t *record_of_measures(const struct plot_run *run, size_t most)
{
    json_t *figures = hil_curves(run, true, most);

    return figures ? json_pack("{s:f, s:o}", "duration_s", run->duration_s, "figures", figures)
                   : NULL;
}

static json_t *record_of_all(const struct plot_run *run, size_t most)
{
    json_t *figures = hil_curves(run, false, most);

    return figures ? json_pack("{s:f, s:o, s:o, s:o}", "duration_s", run->duration_s, "figures",
                               figures, "histograms", record_histograms(run->trace), "events",
                               record_events(run->trace))
                   : NULL;
}

/* If the record cannot be read, *why is the first line of the error message. NULL: memory ran
 * out. */
static json_t *record_read(const char *dir, const struct hil_summary_reader *told, record_fn *read,
                           size_t most, json_t **why)
{
    size_t size;
    char *said = NULL;
    FILE *messages = open_memstream(&said, &size);
    json_t *record = NULL;
    struct plot_run run;

    if (!messages)
        return NULL;
    if (plot_run_open(&run, dir, told, messages) == 0) {
        record = read(&run, most);
        plot_run_close(&run);
    }
    fclose(messages);
    said[strcspn(said, "\n")] = '\0';
    *why = hil_curves_text(said);
    free(said);
    return record ? record : json_null();
}

json_t *hil_page_measures(const char *dir, size_t most, json_t **why)
{
    return record_read(dir, NULL, record_of_measures, most, why);
}

/* --- the run ---------------------------------------------------------------------------------- */

void hil_page_run_free(struct hil_page_run *run)
{
    free(run->dir);
    free(run->label);
}

/* A test has only the curves of its measures, unless it failed, because its limits also refer to
 * other figures. */
static record_fn *run_read(const struct hil_page_run *page, const struct hil_summary_reader *told)
{
    const char *verdict = json_string_value(json_object_get(told->root, "verdict"));

    return !page->point || (verdict && strcmp(verdict, "failed") == 0) ? record_of_all
                                                                       : record_of_measures;
}

json_t *hil_page_run_json(const struct hil_page_run *page, size_t most)
{
    struct hil_summary_reader told = hil_summary_reader_read(page->dir, stderr);
    json_t *why = NULL, *record = record_read(page->dir, &told, run_read(page, &told), most, &why);
    json_t *json = NULL;

    if (record)
        json = json_pack("{s:o, s:o, s:b, s:O?, s:O?, s:o, s:o, s:o, s:o}", "label",
                         hil_curves_text(page->label), "dir", hil_curves_text(page->dir), "tested",
                         page->point != NULL, "status", json_object_get(page->point, "status"),
                         "summary", told.root, "scenario", hil_page_scenario(page->dir), "trace",
                         run_trace(page->dir), "record", record, "no_record", why);
    hil_summary_reader_close(&told);
    return json;
}
