/* Writes sweep.json: the keys of the sweep, and the results of each run. docs/sweep.md lists its
 * keys. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "../../base/json_file.h"
#include "../../scenario/yaml/key_units.h"
#include "sweep.h"

/* A point that was not run has no status; a run without a summary has no results. */
static json_t *sweep_point_json(const struct sweep *s, unsigned point)
{
    const struct sweep_point *p = &s->points[point];
    const struct hil_job *job = &s->jobs.at[point];
    json_t *values = json_array();

    for (unsigned k = 0; k < s->axis_count; k++)
        json_array_append_new(values, json_string(strchr(p->sets[k], '=') + 1));
    return json_pack("{s:s, s:o, s:o, s:O?}", "dir", p->name, "values", values, "status",
                     job->done ? json_integer(job->status) : json_null(), "summary", p->told.root);
}

/* The data needed to draw the same values again. */
static json_t *drawn_json(const struct sweep *s)
{
    json_t *keys = json_object();

    for (unsigned i = 0; i < s->axis_count; i++) {
        const struct sweep_draw *draw = &s->axes[i].draw;
        if (s->axes[i].drawn)
            json_object_set_new(keys, s->axes[i].key,
                                json_pack("{s:f, s:f, s:s}", "nominal", draw->nominal, "spread",
                                          draw->spread, "distribution",
                                          draw->normal ? "normal" : "uniform"));
    }
    return json_pack("{s:i, s:I, s:o}", "runs", s->runs, "seed", (json_int_t)s->arguments->seed,
                     "keys", keys);
}

int sweep_write_index(const struct sweep *s, bool ended)
{
    char path[4400];
    json_t *keys = json_array(), *units = json_array(), *points = json_array();

    for (unsigned i = 0; i < s->axis_count; i++) {
        json_array_append_new(keys, json_string(s->axes[i].key));
        json_array_append_new(units, json_string(hil_scenario_unit(s->axes[i].key)));
    }
    for (unsigned i = 0; i < s->point_count; i++)
        json_array_append_new(points, sweep_point_json(s, i));
    json_t *root = json_pack("{s:o, s:o, s:o}", "keys", keys, "units", units, "points", points);
    if (s->arguments->runs)
        json_object_set_new(root, "drawn", drawn_json(s));
    if (ended && sweep_has_distribution(s))
        json_object_set_new(root, "distributions", sweep_distributions_json(s));
    if (ended && s->arguments->bisect)
        json_object_set_new(root, "bisection", sweep_bisection_json(s));
    snprintf(path, sizeof path, "%s/sweep.json", s->out);
    int rc = hil_json_file_write(root, path, 0);
    json_decref(root);
    if (rc)
        fprintf(stderr, "%s: cannot be written: %s\n", path, strerror(-rc));
    return rc;
}
