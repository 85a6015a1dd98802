/* docs/examples/record: programs that read a run's record, held against the run's summary. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "process.h"
#include "python.h"
#include "results.h"
#include "workspace.h"

TestSuite(record_examples, .init = workspace_open, .fini = workspace_close);

static struct ended run_and_read(const char *python, const char *setting)
{
    struct ended e = run_command("hiloco run configs/quickstart.yaml --quiet --set %s --out %s",
                                 setting, in_workspace("out"));

    expect_status(&e, 0);
    e = run_command("%s docs/examples/record/start_up.py %s", python, in_workspace("out"));
    expect_status(&e, 0);
    return e;
}

/* The reference goes to 10 V later, and that is not part of the start. */
Test(record_examples, python_finds_the_figures_of_the_summary)
{
    const char *python = python_with("h5py");
    char expected[200];

    if (!python)
        cr_skip_test("python3-h5py is not installed");
    struct ended e = run_and_read(python, "components.control.parameters.setpoint_weight=1");
    json_t *summary = summary_of(in_workspace("out"));
    const double overshoot = number_at(summary, "events.0.measures.output_v.overshoot_pct");

    cr_expect_gt(overshoot, 1);
    snprintf(expected, sizeof expected,
             "quickstart in virtual time\n"
             "output_v: from 0 to 12 V, overshoot %.6g %%, settled after %.6g ms\n",
             overshoot, number_at(summary, "events.0.measures.output_v.settling_ms"));
    cr_expect_str_eq(e.out, expected);
    json_decref(summary);
}

Test(record_examples, python_says_what_does_not_settle)
{
    const char *python = python_with("h5py");

    if (!python)
        cr_skip_test("python3-h5py is not installed");
    struct ended e = run_and_read(python, "components.control.parameters.duty_max=0.1");
    json_t *summary = summary_of(in_workspace("out"));

    cr_expect(json_is_null(json_at(summary, "events.0.measures.output_v.settling_ms")));
    cr_expect(strstr(e.out, "overshoot 0 %, not settled\n"), "%s", e.out);
    json_decref(summary);
}
