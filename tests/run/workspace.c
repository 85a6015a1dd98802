#include "workspace.h"

#include <criterion/criterion.h>
#include <criterion/hooks.h>
#include <criterion/internal/ordered-set.h>
#include <criterion/options.h>
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

char workspace[80], workspace_meeting[96], workspace_shared[TEMPORARY_SIZE];

const char workspace_alone[] = "alone";

static bool is_alone(const struct criterion_suite *suite)
{
    return suite->data && suite->data->data == workspace_alone;
}

/* --- the order of the suites, and how many tests run at a time ---------------- */

/* Many tests wait for processes and clocks: one more than there are cores keeps these busy.
 * The option --jobs is read later, and wins. */
__attribute__((constructor)) static void choose_jobs(void)
{
    criterion_options.jobs = (size_t)sysconf(_SC_NPROCESSORS_ONLN) + 1;
}

/* Which suites run: with HILOCO_SUITES=alone those that are alone, with HILOCO_SUITES=others the
 * others, which is how `make test` has them in two stages. Without it all run, and those that are
 * alone come last: among the others, each of their tests would stop all jobs but one until the
 * tests that are under way have ended. */
ReportHook(PRE_ALL)(struct criterion_test_set *tests)
{
    struct criterion_ordered_set_node **link = &tests->suites->first, *alone = NULL, **end = &alone;
    const char *chosen = getenv("HILOCO_SUITES");

    while (*link) {
        struct criterion_ordered_set_node *node = *link;
        if (!is_alone(&((struct criterion_suite_set *)(node + 1))->suite)) {
            link = &node->next;
            continue;
        }
        *link = node->next;
        node->next = NULL;
        *end = node;
        end = &node->next;
    }
    if (!chosen)
        *link = alone;
    else if (strcmp(chosen, "alone") == 0)
        tests->suites->first = alone;
}

/* --- the folder of the whole run: made before, removed after all tests -------------------- */

static const char variable[] = "HILOCO_TEST_WORKSPACE";

ReportHook(PRE_ALL)(struct criterion_test_set *tests)
{
    char path[TEMPORARY_SIZE], written[TEMPORARY_SIZE + 16];

    (void)tests;
    cr_assert_not_null(temporary_folder(path));
    setenv(variable, path, 1);
    snprintf(written, sizeof written, "%s/written", path);
    cr_assert_eq(mkdir(written, 0700), 0);
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *where)
{
    (void)status, (void)type, (void)where;
    return remove(path);
}

static void remove_tree(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* A result's copy is written/SUITE.TEST.PROCESS-NUMBER.NAME. What is wrong with one is said as of a
 * test that failed, and anything else as it is. */
static void say_misfit(const char *said)
{
    char suite[100], test[200], rest[700];
    const char *name = strstr(said, "/written/");

    if (name &&
        sscanf(name, "/written/%99[^.].%199[^.].%*[0-9-].%699[^\n]", suite, test, rest) == 3)
        fprintf(stderr, "  FAILED: %s/%s: its result does not fit the schema: %s\n", suite, test,
                rest);
    else
        fputs(said, stderr);
}

/* All results that the tests' runs have written fit their schemas. */
static bool results_fit(const char *folder, const char *name)
{
    char line[1000], said[2000];
    FILE *misfits;

    snprintf(line, sizeof line,
             "export NODE_PATH=/usr/share/nodejs; '%s/hiloco' schema %s >'%s/schema.json' && "
             "{ ! node -e 'require(\"ajv\")' 2>/dev/null || "
             "find '%s/written' -name '*.%s.json' -exec "
             "node tests/schema/validate.js '%s/schema.json' {} +; }",
             getenv("HILOCO_BUILD") ? getenv("HILOCO_BUILD") : "build", name, folder, folder, name,
             folder);
    misfits = popen(line, "r");
    while (misfits && fgets(said, sizeof said, misfits))
        say_misfit(said);
    return misfits && pclose(misfits) == 0;
}

ReportHook(POST_ALL)(struct criterion_global_stats *stats)
{
    if (!results_fit(getenv(variable), "summary") || !results_fit(getenv(variable), "sweep")) {
        fprintf(stderr, "results of tests do not fit the schemas that hiloco schema prints\n");
        stats->tests_failed++;
    }
    remove_tree(getenv(variable));
}

/* --- each test's ---------------- */

/* Held until the test's process ends. The folder of the tests stands for the machine's cores:
 * a lock on it leaves nothing behind, and holds between two runs of the tests as well. */
static void take_cores(int how)
{
    int folder = open("tests/run", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    cr_assert(folder >= 0, "the tests run in the root of the project");
    cr_assert_eq(flock(folder, how), 0);
}

static void open_with(int lock)
{
    const char *shared = getenv(variable);

    cr_assert_not_null(shared);
    take_cores(lock);
    snprintf(workspace_shared, sizeof workspace_shared, "%s", shared);
    snprintf(workspace, sizeof workspace, "%.63s/XXXXXX", shared);
    cr_assert_not_null(mkdtemp(workspace));
    snprintf(workspace_meeting, sizeof workspace_meeting, "%s/m", workspace);
    cr_assert_eq(mkdir(workspace_meeting, 0700), 0);
    setenv("XDG_RUNTIME_DIR", workspace_meeting, 1);
}

void workspace_open(void)
{
    open_with(LOCK_SH);
}

void workspace_open_alone(void)
{
    open_with(LOCK_EX);
}

void skip_on_one_core(void)
{
    if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
        cr_skip_test("real time needs two cores");
}

void workspace_open_for_real_time(void)
{
    workspace_open_alone();
    skip_on_one_core();
}

/* Keeps what the test's runs have written, for POST_ALL. */
static int keep_results(const char *path, const struct stat *status, int type, struct FTW *where)
{
    static unsigned kept;
    const char *name = path + where->base;
    char copy[400];

    (void)status;
    if (type != FTW_F || (strcmp(name, "summary.json") != 0 && strcmp(name, "sweep.json") != 0))
        return 0;
    snprintf(copy, sizeof copy, "%s/written/%s.%s.%d-%u.%s", workspace_shared,
             criterion_current_test->category, criterion_current_test->name, (int)getpid(), kept++,
             name);
    return link(path, copy) == 0 ? 0 : -1;
}

void workspace_close(void)
{
    cr_expect_eq(nftw(workspace, keep_results, 16, FTW_PHYS), 0);
    remove_tree(workspace);
}

const char *in_workspace(const char *format, ...)
{
    static char paths[8][300];
    static unsigned next;
    char *path = paths[next++ % 8];
    int length = snprintf(path, sizeof paths[0], "%s/", workspace);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(path + length, sizeof paths[0] - (size_t)length, format, arguments);
    va_end(arguments);
    return path;
}

const char *own_name(void)
{
    static char name[40];

    snprintf(name, sizeof name, "test-%d", (int)getpid());
    return name;
}

void expect_nothing_left(void)
{
    cr_expect(is_empty(workspace_meeting), "the nodes left something where they met");
}

/* --- files ---------------- */

bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

bool is_empty(const char *folder)
{
    DIR *entries = opendir(folder);
    unsigned count = 0;

    cr_assert_not_null(entries, "%s is not there", folder);
    while (readdir(entries))
        count++;
    closedir(entries);
    return count == 2; /* itself and its parent */
}

char *read_text(const char *path)
{
    FILE *file = fopen(path, "r");
    char *text = NULL;
    size_t size = 0;

    cr_assert_not_null(file, "%s is not there", path);
    if (getdelim(&text, &size, '\0', file) < 0)
        text = strcpy(realloc(text, 1), "");
    fclose(file);
    return text;
}

void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    cr_assert_not_null(file, "%s", path);
    fputs(text, file);
    fclose(file);
}

glob_t files_of(const char *pattern)
{
    glob_t files;

    cr_assert_eq(glob(pattern, 0, NULL, &files), 0, "no %s", pattern);
    return files;
}

struct criterion_test_params each_file_of(const char *pattern)
{
    static size_t at[100];
    glob_t files = files_of(pattern);
    const size_t count = files.gl_pathc;

    globfree(&files);
    cr_assert_leq(count, sizeof at / sizeof at[0]);
    for (size_t i = 0; i < count; i++)
        at[i] = i;
    return cr_make_param_array(size_t, at, count);
}
