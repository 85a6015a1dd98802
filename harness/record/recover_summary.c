#include "recover_summary.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/json_file.h"
#include "../base/json_number.h"
#include "../h5/run_files.h"
#include "../scenario/yaml/scenario_tree.h"

double hil_recover_end_s(const struct hil_trace_reader *trace, unsigned stream)
{
    unsigned count;
    const struct hil_stream_config *config = &hil_trace_streams(trace, &count)[stream];
    const int time = hil_trace_column_find(config, "time_s");
    double end_s = NAN;

    if (time >= 0 && config->rows > 0 &&
        hil_trace_read(trace, stream, (unsigned)time, config->rows - 1, 1, &end_s, 1))
        return NAN;
    return end_s;
}

/* The duration in the run's scenario. Its models are code, and are not loaded for this. */
static double asked_s(const char *dir)
{
    char path[HIL_PATH_BYTES], mistakes[256];
    struct scenario_report report;
    struct scenario_node *root = NULL;

    scenario_report_open(&report, mistakes, sizeof mistakes);
    if (hil_run_path(path, dir, "scenario.yaml") || scenario_tree_read(&root, path, &report))
        return NAN;
    const struct scenario_node *duration = scenario_node_get(root, "duration_s");
    const double asked = duration && duration->text ? strtod(duration->text, NULL) : NAN;
    scenario_node_free(root);
    return asked;
}

/* The time of the last row in any stream. */
static double reached_s(const struct hil_trace_reader *trace)
{
    unsigned count;
    double reached = NAN;

    hil_trace_streams(trace, &count);
    for (unsigned i = 0; i < count; i++)
        reached = fmax(reached, hil_recover_end_s(trace, i));
    return reached;
}

/* Converts untrusted text to JSON; null if there is none. */
static json_t *recover_text(const char *text)
{
    json_t *string = json_string(text);

    return string ? string : json_null();
}

static json_t *recover_validity(void)
{
    return json_pack("{s:b, s:[s], s:{}}", "valid", false, "reasons",
                     "it was recovered: what its processes had not written when they were killed "
                     "is lost, and so is the lateness of its loops",
                     "checks");
}

static json_t *recover_describe(const char *dir, struct hil_trace_reader *trace)
{
    json_t *summary = json_object();

    json_object_set_new(summary, "recovered", json_true());
    json_object_set_new(summary, "scenario", recover_text(hil_trace_attribute(trace, "scenario")));
    json_object_set_new(summary, "mode", recover_text(hil_trace_attribute(trace, "mode")));
    json_object_set_new(summary, "fabric", recover_text(hil_trace_attribute(trace, "fabric")));
    json_object_set_new(summary, "duration_s", hil_json_number(asked_s(dir)));
    json_object_set_new(summary, "elapsed_s", hil_json_number(reached_s(trace)));
    json_object_set_new(
        summary, "recorder",
        json_pack("{s:n, s:s}", "dropped", "cut_off", "all of the run's processes were killed"));
    json_object_set_new(summary, "validity", recover_validity());
    return summary;
}

int hil_recover_summary(const char *dir, struct hil_trace_reader *trace, FILE *messages)
{
    char path[HIL_PATH_BYTES];
    int rc = hil_run_path(path, dir, "summary.json");

    if (!rc && access(path, F_OK) == 0)
        return 0;
    json_t *summary = rc ? NULL : recover_describe(dir, trace);
    if (!rc)
        rc = hil_json_file_write(summary, path, 0);
    json_decref(summary);
    if (rc)
        fprintf(messages, "%s/summary.json: %s\n", dir, strerror(-rc));
    else
        fprintf(messages, "%s: written from the record\n", path);
    return rc;
}
