#include "page_point.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../record/summary_reader.h"
#include "curves.h"

/* --- parts of a summary ----------------------------------------------------------------------- */

/* Nine digits are enough for the page's tables and figures. */
static json_t *point_number(double value)
{
    char text[32];

    if (!isfinite(value))
        return json_null();
    snprintf(text, sizeof text, "%.9g", value);
    return json_real(strtod(text, NULL));
}

static void point_copy(json_t *to, const json_t *from, const char *const *keys)
{
    for (; *keys; keys++) {
        json_t *value = json_object_get(from, *keys);
        if (json_is_real(value))
            json_object_set_new(to, *keys, point_number(json_real_value(value)));
        else if (value)
            json_object_set(to, *keys, value);
    }
}

static void point_event(json_t *to, const char *key, const struct hil_summary_reader_event *event)
{
    char words[HIL_EVENT_WORDS_BYTES];

    hil_summary_reader_event_words(event, words);
    if (words[0])
        json_object_set_new(to, key, json_string(words));
}

/* The figures that are of an event. */
static json_t *point_figures(const struct hil_summary_reader_figures *f)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "settling_ms", point_number(f->settling_ms),
                     "overshoot_pct", point_number(f->overshoot_pct), "rise_time_ms",
                     point_number(f->rise_time_ms), "steady_error", point_number(f->steady_error),
                     "pp", point_number(f->pp));
}

/* The measure after each event. */
static json_t *point_after(const struct hil_summary_reader *told,
                           const struct hil_summary_reader_measure *m)
{
    const int count = (int)hil_summary_reader_event_count(told);
    json_t *list = json_array();
    struct hil_summary_reader_figures f;
    struct hil_summary_reader_event event;

    for (int i = 0; i < count; i++) {
        const bool there = hil_summary_reader_after(told, i, m->name, &event, &f);
        json_t *json = point_figures(&f);
        point_event(json, "event", &event);
        json_object_set_new(json, "deviation_pct", point_number(f.deviation_pct));
        if (there && m->judged)
            json_object_set_new(json, "settled", json_boolean(f.settled));
        json_array_append_new(list, json);
    }
    return list;
}

/* For an array of measures these are the figures of the worst. */
static json_t *point_measures(const struct hil_summary_reader *told)
{
    json_t *measures = json_object_get(told->root, "measures"), *one, *all = json_object();
    struct hil_summary_reader_measure m;
    const char *name;

    json_object_foreach(measures, name, one)
    {
        hil_summary_reader_measure(told, name, &m);
        json_t *json = point_figures(&m.figures);
        json_object_set_new(json, "unit", json_string(m.unit));
        json_object_set_new(json, "mean", point_number(m.figures.mean));
        point_event(json, "settling_event", &m.settling_event);
        point_event(json, "overshoot_event", &m.overshoot_event);
        if (m.judged)
            json_object_set_new(json, "settled", json_boolean(m.settled));
        if (json_object_size(all) == 0 &&
            hil_summary_reader_event_count(told) > 1) /* for the tables */
            json_object_set_new(json, "after", point_after(told, &m));
        json_object_set_new(all, name, json);
    }
    return all;
}

/* The explanation of a limit is only included if the limit was not kept. */
static json_t *point_limits(const json_t *summary)
{
    static const char *const all[] = {"name", "verdict", "signal",   "value",
                                      "unit", "at_most", "at_least", NULL};
    static const char *const more[] = {"time_s", "words", "figure", NULL};
    const json_t *limits = json_object_get(summary, "limits"), *limit;
    json_t *list = json_array();
    size_t i;

    json_array_foreach(limits, i, limit)
    {
        const char *verdict = json_string_value(json_object_get(limit, "verdict"));
        json_t *json = json_object();
        point_copy(json, limit, all);
        if (!verdict || strcmp(verdict, "passed") != 0)
            point_copy(json, limit, more);
        json_array_append_new(list, json);
    }
    return list;
}

static json_t *point_nodes(const json_t *summary)
{
    static const char *const keys[] = {"steps", "missed", "left_out", NULL};
    json_t *nodes = json_object_get(summary, "nodes"), *node, *all = json_object();
    const char *name;

    json_object_foreach(nodes, name, node)
    {
        json_t *json = json_object();
        point_copy(json, node, keys);
        json_object_set_new(all, name, json);
    }
    return all;
}

static json_t *point_summary(const struct hil_summary_reader told, bool has_curves)
{
    static const char *const keys[] = {"scenario", "mode", "elapsed_s", "verdict", NULL};
    static const char *const marks[] = {"events", "faults", NULL};
    static const char *const validity[] = {"valid", "reasons", NULL};

    if (!json_is_object(told.root))
        return json_null();
    json_t *json = json_pack("{s:{}, s:o, s:o, s:o}", "validity", "nodes", point_nodes(told.root),
                             "measures", point_measures(&told), "limits", point_limits(told.root));
    point_copy(json, told.root, keys);
    point_copy(json_object_get(json, "validity"), json_object_get(told.root, "validity"), validity);
    if (has_curves)
        point_copy(json, told.root, marks);
    return json;
}

/* --- the point -------------------------------------------------------------------------------- */

/* Removes missed steps of a single run, which are not marked in a figure of all runs. */
static void point_forget_missed(const json_t *record)
{
    const json_t *figures = json_object_get(record, "figures");

    for (size_t i = 0; i < json_array_size(figures); i++)
        json_object_del(json_array_get(figures, i), "missed");
}

/* A sweep that is running, or was killed, has not collected the summaries of its runs yet. */
static struct hil_summary_reader point_told(const struct hil_page_run *run)
{
    json_t *gathered = json_object_get(run->point, "summary");

    return gathered && !json_is_null(gathered) ? (struct hil_summary_reader){json_incref(gathered)}
                                               : hil_summary_reader_of_run(run->dir);
}

json_t *hil_page_point_json(const struct hil_page_run *run, size_t most)
{
    json_t *why = NULL, *record = run->is_drawn ? hil_page_measures(run->dir, most, &why) : NULL;

    if (run->is_drawn && !record)
        return NULL;
    point_forget_missed(record);
    struct hil_summary_reader told = point_told(run);
    json_t *json =
        json_pack("{s:o, s:i, s:O?, s:O?, s:o, s:o?, s:o?}", "label", hil_curves_text(run->label),
                  "sweep", run->sweep, "values", json_object_get(run->point, "values"), "status",
                  json_object_get(run->point, "status"), "summary",
                  point_summary(told, run->is_drawn), "record", record, "no_record", why);
    hil_summary_reader_close(&told);
    return json;
}
