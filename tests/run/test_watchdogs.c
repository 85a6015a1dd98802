/*
 * Events in the record of a run.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "process.h"
#include "results.h"
#include "workspace.h"

TestSuite(watchdogs, .init = workspace_open, .fini = workspace_close, .timeout = 120);

/* Voltages are 100 to 200 us old, so some of them are too old. */
#define STALE                                                                                      \
    "hiloco run configs/quickstart.yaml --set duration_s=0.01 --set network.latency_up_us=100 "    \
    "--set network.jitter_us=100 --set controller.input_age_limit_us=180 "                         \
    "--set controller.on_stale_input=safe --set validity.stale_inputs=1000 --out %s"

Test(watchdogs, events_are_recorded_counted_and_exported)
{
    const char *out = in_workspace("out");
    struct ended e = run_command(STALE, out);
    expect_status(&e, 0);
    e = run_command("hiloco export %s --csv", out);
    expect_status(&e, 0);

    const struct column time = column_of(out, "events/time_s");
    json_t *summary = summary_of(out);
    const double stale = number_at(summary, "recorder.events.stale");
    char *csv = read_text(in_workspace("out/events.csv"));
    size_t lines = 0, stales = 0;
    for (char *line = strtok(csv, "\n"); line; line = strtok(NULL, "\n"), lines++)
        stales += strstr(line, ",controller,stale,converter[0],0.000") != NULL;
    cr_expect_gt(stale, 10);
    cr_expect_eq(stale, number_at(summary, "stale_inputs.count"));
    cr_expect_eq(stales, stale);
    cr_expect_eq(lines, 1 + time.rows);
    for (size_t i = 1; i < time.rows; i++)
        cr_expect_geq(time.at[i], time.at[i - 1]);
    cr_expect(strstr(column_text(out, "events/kind", "names"), "stale\nfresh\n"));
    cr_expect_str_eq(column_text(out, "events/node", "names"), "controller\nconverter[0]");
}

Test(watchdogs, events_of_virtual_time_are_the_same_each_time)
{
    struct ended e = run_command(STALE, in_workspace("one"));
    expect_status(&e, 0);
    e = run_command(STALE, in_workspace("other"));
    expect_status(&e, 0);
    e = run_command("cmp %s %s", in_workspace("one/trace.h5"), in_workspace("other/trace.h5"));
    expect_status(&e, 0);
}
