#include "figure_scripts.h"

#include <stddef.h>
#include <string.h>

#include "../base/embed.h"

EMBED(script_style, "traces/style.gp");
EMBED(script_series_panels, "traces/series-panels.gp");
EMBED(script_series_grid, "traces/series-grid.gp");
EMBED(script_series_overlay, "traces/series-overlay.gp");
EMBED(script_series_beside, "traces/series-beside.gp");
EMBED(script_series_round_trip, "traces/series-round-trip.gp");
EMBED(script_series_map, "traces/series-map.gp");
EMBED(script_run_bode, "traces/run-bode.gp");
EMBED(script_run_poles, "traces/run-poles.gp");
EMBED(script_run_measure, "traces/run-measure.gp");
EMBED(script_run_array, "traces/run-array.gp");
EMBED(script_run_node, "traces/run-node.gp");
EMBED(script_run_latency, "traces/run-latency.gp");
EMBED(script_run_compare, "traces/run-compare.gp");
EMBED(script_steps_time, "traces/steps-time.gp");
EMBED(script_steps_histogram, "traces/steps-histogram.gp");
EMBED(script_steps_tail, "traces/steps-tail.gp");
EMBED(script_run_tail, "traces/run-tail.gp");

static const struct {
    const char *name, *text;
} scripts[] = {
    {"style.gp", script_style},
    {"run-bode.gp", script_run_bode},
    {"run-poles.gp", script_run_poles},
    {"run-compare.gp", script_run_compare},
    {"series-panels.gp", script_series_panels},
    {"series-grid.gp", script_series_grid},
    {"series-overlay.gp", script_series_overlay},
    {"series-beside.gp", script_series_beside},
    {"series-round-trip.gp", script_series_round_trip},
    {"series-map.gp", script_series_map},
    {"run-measure.gp", script_run_measure},
    {"run-array.gp", script_run_array},
    {"run-node.gp", script_run_node},
    {"run-latency.gp", script_run_latency},
    {"steps-time.gp", script_steps_time},
    {"steps-histogram.gp", script_steps_histogram},
    {"steps-tail.gp", script_steps_tail},
    {"run-tail.gp", script_run_tail},
};

const char *hil_figure_script(const char *name)
{
    for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++)
        if (strcmp(scripts[i].name, name) == 0)
            return scripts[i].text;
    return NULL;
}
