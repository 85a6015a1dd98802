/*
 * The Python package of harness/python: each file of tests/python, run by Debian's pytest.
 * What the files share is in conftest.py.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "process.h"
#include "python.h"
#include "workspace.h"

TestSuite(python, .init = workspace_open, .fini = workspace_close, .timeout = 600);

/* Runs pytest on a file or a folder. */
static void run_pytest(const char *what)
{
    const char *python = python_with("pytest,h5py");
    const char *build = getenv("HILOCO_BUILD");
    char *package = realpath(build ? build : "build", NULL), path[4200];

    if (!python)
        cr_skip_test("there is no python3-pytest, or no python3-h5py");
    cr_assert_not_null(package);
    snprintf(path, sizeof path, "%s/python", package);
    free(package);
    setenv("PYTHONPATH", path, 1);
    setenv("PYTHONDONTWRITEBYTECODE", "1", 1);
    struct ended e = run_command("%s -m pytest -q -p no:cacheprovider --basetemp=%s %s", python,
                                 in_workspace("temporary"), what);
    cr_expect_eq(e.status, 0, "%s%s", e.out, e.err);
}

Test(python, runs)
{
    run_pytest("tests/python/test_runs.py");
}

Test(python, live_runs)
{
    run_pytest("tests/python/test_live.py");
}

Test(python, models)
{
    run_pytest("tests/python/test_models.py");
}

Test(python, the_plugin)
{
    run_pytest("tests/python/test_plugin.py");
}

Test(python, what_the_document_shows)
{
    run_pytest("tests/python/test_documents.py");
}
