/* hiloco schema, and what ajv makes of the schemas: which scenarios fit, and which mistakes a
 * schema sees that `hiloco check` finds. */
#include <criterion/criterion.h>
#include <glob.h>
#include <stdlib.h>

#include "process.h"
#include "workspace.h"

TestSuite(schema, .init = workspace_open, .fini = workspace_close);

/* Debian's folder for libraries of node; a node from elsewhere does not look there. */
static void need_ajv(void)
{
    setenv("NODE_PATH", "/usr/share/nodejs", 1);
    if (run_command("node -e require('ajv');require('js-yaml')").status != 0)
        cr_skip_test("there is no node-ajv, or no node-js-yaml");
}

static const char *written(const char *kind)
{
    const char *path = in_workspace("%s.json", kind);
    struct ended e = run_command("hiloco schema %s", kind);

    expect_status(&e, 0);
    write_text(path, e.out);
    return path;
}

Test(schema, scenarios_fit)
{
    need_ajv();
    struct arguments a = command("node tests/schema/validate.js %s", written("scenario"));
    glob_t files;

    cr_assert_eq(glob("configs/*.yaml", 0, NULL, &files), 0);
    cr_assert_eq(glob("docs/examples/*/*.yaml", GLOB_APPEND, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++)
        add(&a, "%s", files.gl_pathv[i]);
    struct ended e = run(&a);
    cr_expect_eq(e.status, 0, "%s%s", e.out, e.err);
    globfree(&files);
}

/* So does a scenario with every key spelled out. */
Test(schema, what_check_prints_fits)
{
    static const char *const names[] = {"servo", "battery", "dcdc20-verbs"};

    need_ajv();
    const char *schema = written("scenario");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct ended e = run_command("hiloco check configs/%s.yaml", names[i]);
        expect_status(&e, 0);
        write_text(in_workspace("%s.yaml", names[i]), e.out);
        e = run_command("node tests/schema/validate.js %s %s", schema,
                        in_workspace("%s.yaml", names[i]));
        cr_expect_eq(e.status, 0, "%s%s", e.out, e.err);
    }
}

Test(schema, mistakes_are_seen)
{
    need_ajv();
    struct ended e =
        run_command("node tests/schema/validate.js %s --mistakes tests/schema/mistakes.yaml %s %s",
                    written("scenario"), program_path("hiloco"), workspace);

    cr_expect_eq(e.status, 0, "%s%s", e.out, e.err);
}

Test(schema, without_an_argument_it_is_that_of_scenarios)
{
    struct ended one = run_command("hiloco schema"), other = run_command("hiloco schema scenario");

    expect_status(&one, 0);
    cr_expect_str_eq(one.out, other.out);
}

Test(schema, of_something_else)
{
    struct ended e = run_command("hiloco schema sweeps");

    expect_status(&e, 2);
    cr_expect_str_empty(e.out);
    expect_said(&e, "hiloco schema: there is no schema of sweeps (did you mean 'sweep'?)");
}
