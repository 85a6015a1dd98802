/* `hiloco export-fmu` as a command; tests/unit/test_export_fmu.c tries what it makes. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "process.h"
#include "workspace.h"

TestSuite(export_fmu, .init = workspace_open, .fini = workspace_close, .timeout = 120);

Test(export_fmu, of_each_version)
{
    for (int version = 2; version <= 3; version++) {
        struct ended e = run_command("hiloco export-fmu buck --fmi %d --period-us 25 --out %s",
                                     version, in_workspace("b.fmu"));
        expect_status(&e, 0);
        cr_expect(strstr(e.out, "b.fmu: buck, FMI "), "%s", e.out);
        cr_expect(exists(in_workspace("b.fmu")));
    }
}

/* A mistake is told, with what is allowed, and leaves what was there. */
static void expect_refused(const char *arguments, int status, const char *said)
{
    write_text(in_workspace("b.fmu"), "as it was");
    struct ended e = run_command("hiloco export-fmu %s --out %s", arguments, in_workspace("b.fmu"));
    expect_status(&e, status);
    expect_said(&e, said);
    char *text = read_text(in_workspace("b.fmu"));
    cr_expect_str_eq(text, "as it was");
    free(text);
}

Test(export_fmu, mistakes_are_told)
{
    expect_refused("ohm", 2, "there is no model ohm; allowed: one that hiloco models lists");
    expect_refused("./none.so", 2, "./none.so: ");
    expect_refused("buck --fmi 1", 2, "--fmi 1: 2 or 3 is allowed");
    expect_refused("buck --period-us 0.0001", 2, "in whole nanoseconds, is allowed");
    expect_refused("buck --width 2", 2, "--width 2: of buck, 1 to 1 is allowed");
    expect_refused("switched_buck --period-us 10.007", 2, "switched_buck: ");
}

Test(export_fmu, a_file_that_cannot_be_written_is_told)
{
    struct ended e =
        run_command("hiloco export-fmu buck --out %s", in_workspace("no/such/folder.fmu"));

    expect_status(&e, 1);
    expect_said(&e, "No such file or directory");
}
