/*
 * Scenarios in the general form: that of a shipped one gives the same record, and every command
 * takes one that has no controller and no converters.
 */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "process.h"
#include "results.h"
#include "workspace.h"

TestSuite(general, .init = workspace_open, .fini = workspace_close, .timeout = 240);

/* --- the same as the short form ------------------------------------------------------------ */

static void simulate_into(const char *scenario, const char *folder)
{
    struct ended e = run_command("hiloco run %s --mode virtual --quiet --out %s", scenario, folder);

    expect_status(&e, 0);
}

static void expect_same_file(const char *a, const char *b, const char *name)
{
    struct ended e = run_command("cmp %s/%s %s/%s", a, name, b, name);

    expect_status(&e, 0);
}

enum { PATH_BYTES = 80 };

ParameterizedTestParameters(general, a_shipped_scenario_expanded_gives_the_same_record)
{
    static char paths[32][PATH_BYTES];
    glob_t found;

    cr_assert_eq(glob("configs/*.yaml", 0, NULL, &found), 0);
    cr_assert_leq(found.gl_pathc, sizeof paths / sizeof paths[0]);
    for (size_t i = 0; i < found.gl_pathc; i++)
        snprintf(paths[i], PATH_BYTES, "%s", found.gl_pathv[i]);
    const size_t count = found.gl_pathc;
    globfree(&found);
    return cr_make_param_array(char[PATH_BYTES], paths, count);
}

ParameterizedTest(char (*path)[PATH_BYTES], general,
                  a_shipped_scenario_expanded_gives_the_same_record)
{
    const char *shorter = in_workspace("short"), *longer = in_workspace("long");
    const char *expanded = in_workspace("expanded.yaml");
    struct ended e = run_command("hiloco check --expand --mode virtual %s", *path);

    expect_status(&e, 0);
    cr_assert_not_null(strstr(e.out, "\ncomponents:\n"));
    write_text(expanded, e.out);
    simulate_into(*path, shorter);
    simulate_into(expanded, longer);
    expect_same_file(shorter, longer, "trace.h5");
    expect_same_file(shorter, longer, "summary.json");
}
