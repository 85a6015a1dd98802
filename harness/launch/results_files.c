/*
 * A folder of results holds:
 *
 *      of a run        scenario.yaml summary.json trace.h5; ctf/ and kernel.txt if it was traced
 *      while it runs   trace.h5.journal, and NAME.part of unfinished files; also in a killed run
 *      of a sweep      sweep.json, sweep.csv, distribution.csv, and a folder of a run for each of
 *                      its points; sweep.json.part if it was killed
 *      of tests        tests.json, and a folder of a run for each
 *      of either       plot/, and NAME.png and NAME.svg for each plot/NAME.gp; report.html
 *      of parts        part.state in a part's; parts/ has a folder of a run for each
 *      of hiloco bode  bode.csv and bode.json, beside the run that measured
 *      made of a run   NODE.csv and trace.mcap by export, trace.json by trace
 *      of all          verdicts as JUnit XML or TAP, whatever their names are
 */
#include "results_files.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/foreign.h"
#include "../h5/run_files.h"
#include "../record/export.h"
#include "../record/export_mcap.h"
#include "../summary/verdicts.h"
#include "part.h"

/* The file that each kind has from its beginning. */
static const char *const mark[HIL_RESULTS_KINDS] = {
    [HIL_OF_A_RUN] = "trace.h5", [HIL_OF_A_SWEEP] = "sweep.json", [HIL_OF_TESTS] = "tests.json"};
static const char *const kind_name[HIL_RESULTS_KINDS] = {
    [HIL_OF_A_RUN] = "run", [HIL_OF_A_SWEEP] = "sweep", [HIL_OF_TESTS] = "test"};

static bool is_there(const char *path, const char *name)
{
    char file[HIL_PATH_BYTES];

    return hil_run_path(file, path, "%s", name) == 0 && access(file, F_OK) == 0;
}

static bool is_figure(const char *path, const char *name)
{
    static const char *const ends[] = {".png", ".svg", ".png.part", ".svg.part"};
    const char *dot = strchr(name, '.');
    char script[NAME_MAX + 16];
    bool is_picture = false;

    for (size_t i = 0; dot && i < sizeof ends / sizeof ends[0]; i++)
        is_picture |= strcmp(dot, ends[i]) == 0;
    if (!is_picture)
        return false;
    snprintf(script, sizeof script, "plot/%.*s.gp", (int)(dot - name), name);
    return is_there(path, script);
}

/* "output-value-1.dat" for a figure "output", the figure's script, or one that scripts share. */
static bool is_of_plot(const char *path, const char *name)
{
    const size_t length = strlen(name);
    char script[NAME_MAX + 8];

    if (length > 3 && strcmp(name + length - 3, ".gp") == 0)
        return true;
    if (length <= 4 || strcmp(name + length - 4, ".dat") != 0)
        return false;
    for (const char *dash = strchr(name, '-'); dash; dash = strchr(dash + 1, '-')) {
        snprintf(script, sizeof script, "%.*s.gp", (int)(dash - name), name);
        if (is_there(path, script))
            return true;
    }
    return false;
}

/* What LTTng writes in ust/uid/0/64-bit/ and its index/: "metadata", "loops_0", "loops_0.idx". */
static bool is_of_ctf(const char *name)
{
    return strncmp(name, "metadata", 8) == 0 || strncmp(name, "loops_", 6) == 0 ||
           strncmp(name, "names_", 6) == 0 || strncmp(name, "kernel_", 7) == 0;
}

static const char *const run_names[] = {"scenario.yaml",
                                        "summary.json",
                                        "trace.h5",
                                        "trace.h5.journal",
                                        "trace.h5.part",
                                        "trace.h5.journal.part",
                                        HIL_EXPORT_MCAP,
                                        HIL_EXPORT_MCAP ".part",
                                        "summary.json.part",
                                        "kernel.txt",
                                        "bode.csv",
                                        "bode.csv.part",
                                        "bode.json",
                                        "bode.json.part",
                                        "trace.json",
                                        "trace.json.part",
                                        "report.html",
                                        "report.html.part",
                                        "plot",
                                        HIL_PART_FILE,
                                        HIL_PART_FILE ".part",
                                        "ctf",
                                        NULL};
static const char *const several_names[] = {
    "sweep.csv", "distribution.csv", "report.html", "report.html.part", "plot", NULL};

static bool is_one_of(const char *const *names, const char *name)
{
    while (*names && strcmp(name, *names) != 0)
        names++;
    return *names;
}

static bool is_of_a_run(const char *path, const char *name)
{
    return is_one_of(run_names, name) || is_figure(path, name) || hil_export_made(path, name) ||
           hil_verdict_made(path, name);
}

static bool is_point(const json_t *index, const char *name)
{
    const json_t *points = json_object_get(index, "points"), *point;
    size_t i;

    json_array_foreach(points, i, point)
    {
        const char *dir = json_string_value(json_object_get(point, "dir"));
        if (dir && strcmp(name, dir) == 0)
            return true;
    }
    return false;
}

/* Whether it is the index, possibly unfinished, or figures. */
static bool is_of_several(const char *path, const char *name, enum hil_results_kind kind)
{
    const size_t length = strlen(mark[kind]);

    if (strncmp(name, mark[kind], length) == 0 &&
        (name[length] == '\0' || strcmp(name + length, ".part") == 0))
        return true;
    return is_one_of(several_names, name) || is_figure(path, name) || hil_verdict_made(path, name);
}

bool hil_results_have_name(const char *name)
{
    bool has = strcmp(name, HIL_RESULTS_PARTS) == 0 || is_one_of(run_names, name) ||
               is_one_of(several_names, name);

    for (unsigned kind = 0; kind < HIL_RESULTS_KINDS; kind++)
        has |= strcmp(name, mark[kind]) == 0;
    return has;
}

/* A run that was killed at its beginning only has its journal. */
static bool is_kind(const char *path, enum hil_results_kind kind)
{
    return is_there(path, mark[kind]) ||
           (kind == HIL_OF_A_RUN &&
            (is_there(path, "trace.h5.journal") || is_there(path, "trace.h5.journal.part") ||
             is_there(path, HIL_RESULTS_PARTS)));
}

bool hil_results_are_in(const char *path)
{
    bool are = false;

    for (unsigned kind = 0; kind < HIL_RESULTS_KINDS; kind++)
        are |= is_kind(path, kind);
    return are;
}

/* --- foreign files ------------------- */

typedef int entry_fn(void *arg, const char *path, const char *name);

/* Calls `each` with the entries. Stops when a call does not return 0, and returns that value. */
static int each_entry(const char *path, entry_fn *each, void *arg)
{
    DIR *entries = opendir(path);
    const struct dirent *entry;
    int rc = 0;

    if (!entries)
        return -errno;
    while (!rc && (errno = 0, entry = readdir(entries)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            rc = each(arg, path, entry->d_name);
    if (!rc)
        rc = -errno; /* of readdir() */
    closedir(entries);
    return rc;
}

struct search {
    enum hil_results_kind kind;
    const json_t *index; /* of a sweep or of tests */
    FILE *messages;
};

static int refuse(const struct search *search, const char *path, const char *name)
{
    fprintf(search->messages,
            "%s holds %s, which is no result of a %s: name another folder, or move it away\n", path,
            name, kind_name[search->kind]);
    return -ENOTEMPTY;
}

static int refuse_foreign_of_point(void *of_several, const char *path, const char *name);

static int refuse_foreign_of_plot(void *search, const char *path, const char *name)
{
    return is_of_plot(path, name) ? 0 : refuse(search, path, name);
}

/* What the entry is: S_IFDIR, S_IFLNK, and the like; 0 if it is not there. */
static mode_t kind_of(const char *path, const char *name)
{
    char entry[HIL_PATH_BYTES];
    struct stat s;

    return hil_run_path(entry, path, "%s", name) || lstat(entry, &s) ? 0 : s.st_mode & S_IFMT;
}

static int each_below(void *search, const char *path, const char *name, entry_fn *each)
{
    char folder[HIL_PATH_BYTES];
    const int rc = hil_run_path(folder, path, "%s", name);

    return rc ? rc : each_entry(folder, each, search);
}

static int refuse_foreign_of_ctf(void *search, const char *path, const char *name)
{
    if (kind_of(path, name) == S_IFDIR)
        return each_below(search, path, name, refuse_foreign_of_ctf);
    return is_of_ctf(name) ? 0 : refuse(search, path, name);
}

/* A folder of ours may hold files of the user. A link in its place is only removed. */
static int refuse_foreign_below(void *search, const char *path, const char *name, entry_fn *each)
{
    const mode_t kind = kind_of(path, name);

    if (kind == S_IFDIR)
        return each_below(search, path, name, each);
    return kind == S_IFLNK ? 0 : refuse(search, path, name);
}

static int refuse_foreign_of_either(void *search, const char *path, const char *name, bool known)
{
    if (!known)
        return refuse(search, path, name);
    return strcmp(name, "plot") == 0
               ? refuse_foreign_below(search, path, name, refuse_foreign_of_plot)
           : strcmp(name, "ctf") == 0
               ? refuse_foreign_below(search, path, name, refuse_foreign_of_ctf)
               : 0;
}

static int refuse_foreign_of_run(void *search, const char *path, const char *name)
{
    if (strcmp(name, HIL_RESULTS_PARTS) == 0)
        return refuse_foreign_below(search, path, name, refuse_foreign_of_point);
    return refuse_foreign_of_either(search, path, name, is_of_a_run(path, name));
}

/* Each point or part is the folder of a run, and may be in use by a run of its own. */
static int refuse_foreign_of_point(void *of_several, const char *path, const char *name)
{
    const struct search *sweep = of_several;
    struct search search = {.kind = HIL_OF_A_RUN, .messages = sweep->messages};
    char point[HIL_PATH_BYTES];

    if (hil_run_path(point, path, "%s", name))
        return -ENAMETOOLONG;
    const int folder = hil_run_take(point);
    if (folder == -ENOTDIR)
        return refuse(sweep, path, name);
    if (folder == -EBUSY)
        fprintf(sweep->messages, "%s: a run is writing its results there now\n", point);
    if (folder < 0)
        return folder;
    close(folder);
    return each_entry(point, refuse_foreign_of_run, &search);
}

static int refuse_foreign_of_several(void *search, const char *path, const char *name)
{
    const struct search *s = search;

    if (is_point(s->index, name))
        return refuse_foreign_of_point(search, path, name);
    return refuse_foreign_of_either(search, path, name, is_of_several(path, name, s->kind));
}

static int refuse_any(void *arg, const char *path, const char *name)
{
    const struct search *search = arg;
    unsigned other = 0;

    while (other < HIL_RESULTS_KINDS && !is_kind(path, other))
        other++;
    if (other == HIL_RESULTS_KINDS)
        return refuse(search, path, name);
    fprintf(search->messages,
            "%s holds a %s, which a %s does not replace: name another folder, or remove it\n", path,
            kind_name[other], kind_name[search->kind]);
    return -ENOTEMPTY;
}

static int refuse_all_foreign(const char *path, enum hil_results_kind kind, FILE *messages)
{
    struct search search = {.kind = kind, .messages = messages};
    char file[HIL_PATH_BYTES];

    if (!is_kind(path, kind))
        return each_entry(path, refuse_any, &search);
    if (kind == HIL_OF_A_RUN)
        return each_entry(path, refuse_foreign_of_run, &search);

    json_error_t error;
    json_t *index =
        hil_run_path(file, path, "%s", mark[kind]) ? NULL : hil_foreign_json(file, &error);
    search.index = index; /* in a damaged index no point is known */
    const int rc = each_entry(path, refuse_foreign_of_several, &search);
    json_decref(index);
    return rc;
}

/* --- removing ---------------- */

/* Returns an errno. The walk's own failures are -1, and only these. */
static int remove_one(const char *path, const struct stat *status, int type, struct FTW *where)
{
    (void)status, (void)type, (void)where;
    return remove(path) == 0 ? 0 : errno;
}

static int remove_tree(void *arg, const char *path, const char *name)
{
    char tree[HIL_PATH_BYTES];
    int rc = hil_run_path(tree, path, "%s", name);

    (void)arg;
    if (rc)
        return rc;
    rc = nftw(tree, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return rc < 0 ? -errno : -rc;
}

int hil_results_clear(const char *path, enum hil_results_kind kind, FILE *messages)
{
    int rc = refuse_all_foreign(path, kind, messages);

    if (rc == -ENOTEMPTY || rc == -EBUSY)
        return rc;
    if (!rc)
        rc = each_entry(path, remove_tree, NULL);
    if (rc)
        fprintf(messages, "%s: %s\n", path, strerror(-rc));
    return rc;
}
