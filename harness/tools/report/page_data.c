#include "page_data.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../base/foreign.h"
#include "../../base/list.h"
#include "../../base/version.h"
#include "../../h5/run_files.h"
#include "page_point.h"
#include "page_sweep.h"

/* The size of curves, such that the report of a run stays under 5 MB. The curves of a sweep's runs
 * overlap, so they share a smaller size. */
enum { PAGE_CURVE_BYTES = 4200000, PAGE_SWEEP_CURVE_BYTES = 1000000 };

struct runs {
    struct hil_page_run *at;
    unsigned count;
    json_t *indexes; /* owns the borrowed points */
    json_t *sweeps;
};

/* --- runs ------------------------------------------------------------------------------------- */

static int runs_add(struct runs *runs, const char *dir, const char *label, json_t *point, int sweep)
{
    struct hil_page_run *more = hil_list_more(runs->at, runs->count, sizeof *more);

    if (!more)
        return -ENOMEM;
    runs->at = more;
    struct hil_page_run *run = &runs->at[runs->count++];
    *run = (struct hil_page_run){strdup(dir), strdup(label), point, sweep, false};
    return run->dir && run->label ? 0 : -ENOMEM;
}

static void runs_free(struct runs *runs)
{
    for (unsigned i = 0; i < runs->count; i++)
        hil_page_run_free(&runs->at[i]);
    free(runs->at);
    json_decref(runs->indexes);
    json_decref(runs->sweeps);
}

/* --- sweeps and tests ------------------------------------------------------------------------- */

/* The label of a point is its folder's name, which has the values of the varying keys. */
static int add_points(struct runs *runs, const char *dir, const json_t *index, int sweep)
{
    const json_t *points = json_object_get(index, "points");
    char path[HIL_PATH_BYTES];
    int rc = 0;

    for (size_t i = 0; i < json_array_size(points) && !rc; i++) {
        json_t *point = json_array_get(points, i);
        const char *name = json_string_value(json_object_get(point, "dir"));
        if (!name || !hil_foreign_is_entry(name))
            continue;
        rc = hil_run_path(path, dir, "%s", name);
        if (!rc)
            rc = runs_add(runs, path, name, point, sweep);
    }
    return rc;
}

static int add_sweep(struct runs *runs, const char *dir, const json_t *index)
{
    const unsigned first = runs->count;
    int rc = add_points(runs, dir, index, (int)json_array_size(runs->sweeps));

    if (rc || runs->count == first)
        return rc;
    return json_array_append_new(
               runs->sweeps, hil_page_sweep_json(dir, index, &runs->at[first], runs->count - first))
               ? -ENOMEM
               : 0;
}

/* --- folders ---------------------------------------------------------------------------------- */

static bool has_file(const char *dir, const char *name, char path[HIL_PATH_BYTES])
{
    return hil_run_path(path, dir, "%s", name) == 0 && access(path, F_OK) == 0;
}

static int read_index(struct runs *runs, const char *path, FILE *messages, const json_t **index)
{
    json_error_t error;
    json_t *read = hil_foreign_json(path, &error);

    *index = read;
    if (read && json_array_append_new(runs->indexes, read) == 0)
        return 0;
    fprintf(messages, "%s:%d: %s\n", path, error.line, error.text);
    return -EBADMSG;
}

static int add_folder(struct runs *runs, const char *dir, FILE *messages)
{
    char path[HIL_PATH_BYTES];
    const json_t *index;
    const bool is_sweep = has_file(dir, "sweep.json", path);

    if (is_sweep || has_file(dir, "tests.json", path)) {
        const int rc = read_index(runs, path, messages, &index);
        return rc ? rc : is_sweep ? add_sweep(runs, dir, index) : add_points(runs, dir, index, -1);
    }
    if (has_file(dir, "trace.h5", path) || hil_run_has_journal(dir) ||
        has_file(dir, "summary.json", path))
        return runs_add(runs, dir, dir, NULL, -1);
    fprintf(messages, "%s has no results: neither of a run nor of a sweep or of tests\n", dir);
    return -ENOENT;
}

/* --- all -------------------------------------------------------------------------------------- */

/* The size of curves for each run: a single run, and a run of a sweep. */
struct shares {
    size_t alone, of_sweep;
};

static struct shares share_curves(const struct runs *runs)
{
    unsigned alone = 0, drawn = 0;

    for (unsigned i = 0; i < runs->count; i++) {
        alone += runs->at[i].sweep < 0;
        drawn += runs->at[i].is_drawn;
    }
    const size_t of_sweeps = drawn ? PAGE_SWEEP_CURVE_BYTES : 0;
    return (struct shares){(PAGE_CURVE_BYTES - of_sweeps) / (alone ? alone : 1),
                           of_sweeps / (drawn ? drawn : 1)};
}

static json_t *run_json(const struct hil_page_run *run, struct shares shares)
{
    return run->sweep < 0 ? hil_page_run_json(run, shares.alone)
                          : hil_page_point_json(run, shares.of_sweep);
}

static json_t *data_json(const struct runs *runs)
{
    const struct shares shares = share_curves(runs);
    const time_t now = time(NULL);
    json_t *list = json_array();
    struct tm utc;
    char made[32];

    strftime(made, sizeof made, "%Y-%m-%d %H:%M UTC", gmtime_r(&now, &utc));
    for (unsigned i = 0; i < runs->count; i++)
        if (json_array_append_new(list, run_json(&runs->at[i], shares)))
            break;
    if (json_array_size(list) == runs->count)
        return json_pack("{s:s, s:s, s:O, s:o}", "hiloco", hil_version, "made", made, "sweeps",
                         runs->sweeps, "runs", list);
    json_decref(list);
    return NULL;
}

int hil_page_data(json_t **data, const char *const *dirs, unsigned count, FILE *messages)
{
    struct runs runs = {.indexes = json_array(), .sweeps = json_array()};
    int rc = 0;

    for (unsigned i = 0; i < count && !rc; i++)
        rc = add_folder(&runs, dirs[i], messages);
    if (!rc && runs.count == 0) {
        fprintf(messages, "%s: nothing was run there\n", dirs[0]);
        rc = -ENOENT;
    }
    if (!rc) {
        *data = data_json(&runs);
        rc = *data ? 0 : -ENOMEM;
    }
    runs_free(&runs);
    return rc;
}
