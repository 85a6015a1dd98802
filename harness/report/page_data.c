#include "page_data.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../base/foreign.h"
#include "../base/version.h"
#include "page_run.h"

/* Of curves, in all: with the rest a report of a run stays under 5 MB. */
enum { PAGE_CURVE_BYTES = 4200000 };

struct runs {
    struct hil_page_run *at;
    unsigned count;
    json_t *indexes; /* keeps what points are borrowed from */
};

static struct hil_page_run *runs_add(struct runs *runs)
{
    struct hil_page_run *more = realloc(runs->at, (runs->count + 1) * sizeof *more);

    if (!more)
        return NULL;
    runs->at = more;
    memset(&more[runs->count], 0, sizeof *more);
    return &more[runs->count++];
}

/* --- sweeps and tests ------------------------------------------------------------------------- */

static const char *point_value(const json_t *point, size_t key)
{
    return json_string_value(json_array_get(json_object_get(point, "values"), key));
}

/* Whether it is not the same in all points. */
static bool key_varies(const json_t *points, size_t key)
{
    const char *first = point_value(json_array_get(points, 0), key);
    const json_t *point;
    size_t i;

    json_array_foreach(points, i, point)
    {
        const char *value = point_value(point, key);
        if (first && value && strcmp(first, value) != 0)
            return true;
    }
    return false;
}

/* "controller.period_us=20, seed=3" of a sweep; where nothing varies, and of tests, the folder. */
static void point_label(const json_t *index, const json_t *point, const char *dir, char *label,
                        size_t size)
{
    const json_t *keys = json_object_get(index, "keys"), *points = json_object_get(index, "points");
    size_t used = 0;

    snprintf(label, size, "%s", dir);
    for (size_t i = 0; i < json_array_size(keys) && used < size; i++) {
        const char *key = json_string_value(json_array_get(keys, i));
        const char *value = point_value(point, i);
        if (key && value && key_varies(points, i))
            used += (size_t)snprintf(label + used, size - used, "%s%s=%s", used ? ", " : "", key,
                                     value);
    }
}

static int add_points(struct runs *runs, const char *dir, const json_t *index)
{
    const json_t *points = json_object_get(index, "points");

    for (size_t i = 0; i < json_array_size(points); i++) {
        json_t *point = json_array_get(points, i);
        const char *name = json_string_value(json_object_get(point, "dir"));
        if (!name || !hil_foreign_is_entry(name))
            continue;
        struct hil_page_run *run = runs_add(runs);
        if (!run)
            return -ENOMEM;
        run->point = point;
        point_label(index, point, name, run->label, sizeof run->label);
        if (hil_run_path(run->dir, dir, "%s", name))
            return -ENAMETOOLONG;
    }
    return 0;
}

/* --- folders ---------------------------------------------------------------------------------- */

static bool has_file(const char *dir, const char *name, char path[HIL_PATH_BYTES])
{
    return hil_run_path(path, dir, "%s", name) == 0 && access(path, F_OK) == 0;
}

static int add_several(struct runs *runs, const char *dir, const char *path, FILE *messages)
{
    json_error_t error;
    json_t *index = hil_foreign_json(path, &error);

    if (!index || json_array_append_new(runs->indexes, index)) {
        fprintf(messages, "%s:%d: %s\n", path, error.line, error.text);
        return -EBADMSG;
    }
    return add_points(runs, dir, index);
}

static int add_folder(struct runs *runs, const char *dir, FILE *messages)
{
    char path[HIL_PATH_BYTES];

    if (has_file(dir, "sweep.json", path) || has_file(dir, "tests.json", path))
        return add_several(runs, dir, path, messages);
    if (!has_file(dir, "trace.h5", path) && !has_file(dir, "summary.json", path)) {
        fprintf(messages, "%s has no results: neither of a run nor of a sweep or of tests\n", dir);
        return -ENOENT;
    }
    struct hil_page_run *run = runs_add(runs);
    if (!run)
        return -ENOMEM;
    snprintf(run->label, sizeof run->label, "%s", dir);
    snprintf(run->dir, sizeof run->dir, "%s", dir);
    return 0;
}

/* --- all -------------------------------------------------------------------------------------- */

static json_t *data_json(const struct runs *runs)
{
    const time_t now = time(NULL);
    json_t *list = json_array();
    struct tm utc;
    char made[32];

    strftime(made, sizeof made, "%Y-%m-%d %H:%M UTC", gmtime_r(&now, &utc));
    for (unsigned i = 0; i < runs->count; i++)
        if (json_array_append_new(list,
                                  hil_page_run_json(&runs->at[i], PAGE_CURVE_BYTES / runs->count)))
            break;
    if (json_array_size(list) == runs->count)
        return json_pack("{s:s, s:s, s:o}", "hiloco", hil_version, "made", made, "runs", list);
    json_decref(list);
    return NULL;
}

int hil_page_data(json_t **data, const char *const *dirs, unsigned count, FILE *messages)
{
    struct runs runs = {.indexes = json_array()};
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
    free(runs.at);
    json_decref(runs.indexes);
    return rc;
}
