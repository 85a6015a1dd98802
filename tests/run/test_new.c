/* hiloco new: each kind of project runs at once, by the commands that it prints. */
#include <criterion/criterion.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "process.h"
#include "python.h"
#include "results.h"
#include "workspace.h"

TestSuite(new_project, .init = workspace_open, .fini = workspace_close, .timeout = 600);

/* Makes a project, and runs what is printed after "next:". */
static struct ended make_and_run(const char *kind, const char *python)
{
    char text[2000], path[9000], *package = realpath(program_path("python"), NULL);
    const char *folder = in_workspace("my-%s", kind);
    struct ended e = run_command("hiloco new %s --kind %s", folder, kind);

    expect_status(&e, 0);
    const char *next = strstr(e.out, "next:\n");
    cr_assert_not_null(next, "%s", e.out);
    cr_assert_eq(mkdir(in_workspace("bin"), 0700), 0);
    if (python) {
        snprintf(text, sizeof text, "#!/bin/sh\nexec %s \"$@\" -p no:cacheprovider\n", python);
        write_text(in_workspace("bin/python3"), text);
        cr_assert_eq(chmod(in_workspace("bin/python3"), 0700), 0);
        setenv("PYTHONPATH", package, 1);
    }
    free(package);
    snprintf(path, sizeof path, "%s/bin:%s:%s", workspace, program_path(""), getenv("PATH"));
    setenv("PATH", path, 1);
    snprintf(text, sizeof text, "set -e\nunset MAKEFLAGS MAKELEVEL\n%s", next + strlen("next:\n"));
    write_text(in_workspace("next.sh"), text);
    return run_command("sh %s", in_workspace("next.sh"));
}

static void expect_passed(const char *kind, const char *scenario)
{
    struct ended e = make_and_run(kind, NULL);

    cr_expect_eq(e.status, 0, "%s%s", e.out, e.err);
    glob_t results;
    cr_assert_eq(glob(in_workspace("my-%s/results/%s-*", kind, scenario), 0, NULL, &results), 0);
    json_t *summary = summary_of(results.gl_pathv[0]);
    globfree(&results);
    const json_t *verdict = json_object_get(summary, "verdict");
    cr_expect_str_eq(verdict ? json_string_value(verdict) : "none", "passed");
}

Test(new_project, loop)
{
    expect_passed("loop", "my-loop");
}

Test(new_project, c_plant)
{
    expect_passed("c-plant", "my-c-plant");
}

Test(new_project, python_plant)
{
    expect_passed("python-plant", "my-python-plant");
}

Test(new_project, circuit)
{
    expect_passed("circuit", "circuit");
}

Test(new_project, pytest)
{
    const char *python = python_with("pytest,h5py");

    if (!python)
        cr_skip_test("there is no python3-pytest, or no python3-h5py");
    struct ended e = make_and_run("pytest", python);
    cr_expect_eq(e.status, 0, "%s%s", e.out, e.err);
}

/* --- what is refused ------------------------------------------------------------------------- */

static void expect_refused(const char *name, const char *said)
{
    struct ended e = run_command("hiloco new %s", name);

    expect_status(&e, 2);
    expect_said(&e, said);
    cr_expect_str_empty(e.out);
}

Test(new_project, nothing_is_overwritten)
{
    write_text(in_workspace("file"), "mine");
    cr_assert_eq(mkdir(in_workspace("folder"), 0700), 0);
    cr_assert_eq(symlink("nowhere", in_workspace("link")), 0);
    expect_refused(in_workspace("file"), "is there already; allowed: a name that nothing has");
    expect_refused(in_workspace("folder"), "is there already");
    expect_refused(in_workspace("folder/"), "is there already");
    expect_refused(in_workspace("link"), "is there already");
    cr_expect_str_eq(read_text(in_workspace("file")), "mine");
    cr_expect(is_empty(in_workspace("folder")));
}

Test(new_project, wrong_names)
{
    expect_refused(in_workspace("a+b"), "is no name for a project");
    expect_refused(in_workspace(".hidden"), "is no name for a project");
    expect_refused(in_workspace("null"), "is no name for a project");
    expect_refused("..", "is no name for a project");
    expect_refused("/", "is no name for a project");
    expect_refused(in_workspace("missing/loop"), "cannot be made: No such file or directory");
}

Test(new_project, a_wrong_kind_makes_nothing)
{
    struct ended e = run_command("hiloco new %s --kind cplant", in_workspace("x"));

    expect_status(&e, 2);
    expect_said(&e, "hiloco new: --kind cplant (did you mean 'c-plant'?); allowed: loop, c-plant, "
                    "python-plant, circuit, pytest");
    cr_expect_not(exists(in_workspace("x")));
}

/* When a file cannot be written, nothing is left. */
Test(new_project, nothing_half_done)
{
    cr_assert_eq(mkdir(in_workspace("empty"), 0700), 0);
    write_text(in_workspace("full.sh"), "ulimit -f 0\nexec \"$1\" new \"$2\" --kind c-plant\n");
    struct ended e = run_command("sh %s %s %s", in_workspace("full.sh"), program_path("hiloco"),
                                 in_workspace("empty/x"));
    expect_status(&e, 1);
    cr_expect(is_empty(in_workspace("empty")));
}
