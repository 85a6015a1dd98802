#include "summary_reader.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../base/foreign.h"
#include "../h5/run_files.h"

static const json_t *told_get(const struct hil_summary_reader *told, const char *key)
{
    return json_object_get(told->root, key);
}

double hil_summary_reader_number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    return json_is_number(value) ? json_number_value(value) : NAN;
}

static const char *told_text(const json_t *value)
{
    const char *text = json_string_value(value);

    return text ? text : "";
}

/* --- measures --------------------------------------------------------------------------------- */

static struct hil_summary_reader_figures told_figures(const json_t *measure)
{
    const json_t *window = json_object_get(measure, "window");

    return (struct hil_summary_reader_figures){
        .settled = json_is_true(json_object_get(measure, "settled")),
        .settling_ms = hil_summary_reader_number(measure, "settling_ms"),
        .overshoot_pct = hil_summary_reader_number(measure, "overshoot_pct"),
        .rise_time_ms = hil_summary_reader_number(measure, "rise_time_ms"),
        .steady_error = hil_summary_reader_number(measure, "steady_error"),
        .mean = hil_summary_reader_number(measure, "mean"),
        .pp = hil_summary_reader_number(measure, "pp"),
        .band = hil_summary_reader_number(measure, "band"),
        .deviation_pct = hil_summary_reader_number(measure, "deviation_pct"),
        .from_s = hil_summary_reader_number(window, "from_s"),
        .to_s = hil_summary_reader_number(window, "to_s"),
    };
}

static const json_t *told_event_json(const struct hil_summary_reader *told, int number)
{
    return number < 0 ? NULL : json_array_get(told_get(told, "events"), (size_t)number);
}

static struct hil_summary_reader_event told_event(const struct hil_summary_reader *told,
                                                  double number)
{
    const int i = hil_foreign_index(number, INT_MAX);
    const json_t *json = told_event_json(told, i);

    return (struct hil_summary_reader_event){
        json_is_object(json) ? i : -1, told_text(json_object_get(json, "name")),
        hil_summary_reader_number(json, "time_s"), hil_summary_reader_number(json, "over_s")};
}

unsigned hil_summary_reader_event_count(const struct hil_summary_reader *told)
{
    return (unsigned)json_array_size(told_get(told, "events"));
}

bool hil_summary_reader_after(const struct hil_summary_reader *told, int number,
                              const char *measure, struct hil_summary_reader_event *event,
                              struct hil_summary_reader_figures *figures)
{
    const json_t *measures = json_object_get(told_event_json(told, number), "measures");
    const json_t *json = json_object_get(measures, measure),
                 *worst = json_object_get(json, "worst");

    *event = told_event(told, number);
    *figures = told_figures(json_is_object(worst) ? worst : json);
    return json_is_object(json);
}

void hil_summary_reader_event_words(const struct hil_summary_reader_event *event,
                                    char words[HIL_EVENT_WORDS_BYTES])
{
    size_t used = 0;

    words[0] = '\0';
    if (event->number < 0)
        return;
    used = (size_t)snprintf(words, HIL_EVENT_WORDS_BYTES, "%.160s",
                            event->name[0] ? event->name : "event");
    if (isfinite(event->time_s) && event->time_s != 0)
        snprintf(words + used, HIL_EVENT_WORDS_BYTES - used, " at %.9g s", event->time_s);
}

static double told_startup_ms(const struct hil_summary_reader *told, const char *name)
{
    const json_t *startup = json_array_get(told_get(told, "events"), 0);
    const json_t *measure = json_object_get(json_object_get(startup, "measures"), name);

    return 1e3 * fmax(hil_summary_reader_number(startup, "over_s"), 0) +
           hil_summary_reader_number(measure, "settling_ms");
}

static void told_read_measure(const struct hil_summary_reader *told, const char *name,
                              const json_t *json, struct hil_summary_reader_measure *m)
{
    const json_t *each = json_object_get(json, "each");
    const int worst = hil_foreign_index(hil_summary_reader_number(json, "worst"), INT_MAX);
    const json_t *one = each ? json_array_get(each, (size_t)worst) : json;

    *m = (struct hil_summary_reader_measure){
        .name = name,
        .unit = told_text(json_object_get(json, "unit")),
        .array = json_is_array(each),
        .judged = json_is_boolean(json_object_get(json, "settled")),
        .settled = json_is_true(json_object_get(json, "settled")),
        .worst = worst,
        .figures = told_figures(one),
        .settling_event = told_event(told, hil_summary_reader_number(one, "settling_event")),
        .overshoot_event = told_event(told, hil_summary_reader_number(one, "overshoot_event")),
        .startup_ms = told_startup_ms(told, name),
    };
}

bool hil_summary_reader_measure(const struct hil_summary_reader *told, const char *name,
                                struct hil_summary_reader_measure *m)
{
    const json_t *json = json_object_get(told_get(told, "measures"), name);

    told_read_measure(told, name, json, m);
    return json;
}

bool hil_summary_reader_first(const struct hil_summary_reader *told, bool array,
                              struct hil_summary_reader_measure *m)
{
    json_t *measures = json_object_get(told->root, "measures"), *json;
    const char *name;

    json_object_foreach(measures, name, json)
    {
        told_read_measure(told, name, json, m);
        if (json_is_object(json) && m->array == array)
            return true;
    }
    told_read_measure(told, "", NULL, m);
    return false;
}

/* --- the rest --------------------------------------------------------------------------------- */

bool hil_summary_reader_nodes(const struct hil_summary_reader *told, unsigned i,
                              struct hil_summary_reader_nodes *nodes)
{
    json_t *all = json_object_get(told->root, "nodes"), *json;
    const char *name;

    json_object_foreach(all, name, json)
    {
        if (i-- > 0)
            continue;
        *nodes = (struct hil_summary_reader_nodes){
            .name = name,
            .missed = hil_summary_reader_number(json, "missed"),
            .due = hil_summary_reader_number(json, "steps") +
                   hil_summary_reader_number(json, "left_out"),
            .period_us = hil_summary_reader_number(json, "period_us"),
        };
        return true;
    }
    return false;
}

void hil_summary_reader_round_trip(const struct hil_summary_reader *told, double us[3])
{
    const json_t *links = told_get(told, "links"), *round_trip = NULL;

    for (size_t i = 0; i < json_array_size(links) && !json_is_object(round_trip); i++)
        round_trip = json_object_get(json_array_get(links, i), "round_trip_us");
    us[0] = hil_summary_reader_number(round_trip, "p50");
    us[1] = hil_summary_reader_number(round_trip, "p99");
    us[2] = hil_summary_reader_number(round_trip, "p999");
}

int hil_summary_reader_valid(const struct hil_summary_reader *told)
{
    const json_t *valid = json_object_get(told_get(told, "validity"), "valid");

    return json_is_boolean(valid) ? json_is_true(valid) : -1;
}

const char *hil_summary_reader_invalid(const struct hil_summary_reader *told)
{
    return told_text(json_array_get(json_object_get(told_get(told, "validity"), "reasons"), 0));
}

bool hil_summary_reader_held(const struct hil_summary_reader *told)
{
    const json_t *checks = json_object_get(told_get(told, "validity"), "checks");

    return !json_is_false(json_object_get(json_object_get(checks, "missed_percent"), "passed"));
}

/* --- opening ---------------------------------------------------------------------------------- */

struct hil_summary_reader hil_summary_reader_of_run(const char *dir)
{
    return hil_summary_reader_read(dir, NULL);
}

struct hil_summary_reader hil_summary_reader_read(const char *dir, FILE *messages)
{
    char path[HIL_PATH_BYTES], text[JSON_ERROR_TEXT_LENGTH];
    json_error_t error;
    const int rc = hil_run_path(path, dir, "summary.json");
    const struct hil_summary_reader told = {rc ? NULL : hil_foreign_json(path, &error)};

    if (messages && !rc && !told.root && access(path, F_OK) == 0) {
        hil_foreign_text(text, sizeof text, error.text, sizeof error.text);
        fprintf(messages, "%s:%d:%d: %s\n", path, error.line, error.column, text);
    }
    return told;
}

void hil_summary_reader_close(struct hil_summary_reader *told)
{
    json_decref(told->root);
}
