/*
 * As many nodes as a scenario may have: they start, or it is said what is missing.
 */
#include <criterion/criterion.h>
#include <unistd.h>

#include "process.h"
#include "workspace.h"

TestSuite(many_nodes, .init = workspace_open, .fini = workspace_close);

/* A line that runs many converters by the clock, with periods that two busy cores can hold. */
#define SLOWLY                                                                                     \
    "run configs/dcdc20-nominal.yaml --mode realtime --quiet --set duration_s=0.2 "                \
    "--set nodes.converter.period_us=20000 --set nodes.controller.period_us=40000 "                \
    "--set nodes.controller.realtime_phase_us=5000 --set validity.required=false "

Test(many_nodes, too_few_open_files_are_said_before_anything_starts)
{
    struct ended e =
        run_command("prlimit --nofile=50:50 %s " SLOWLY "--set nodes.converter.count=1000 --out %s",
                    program_path("hiloco"), in_workspace("out"));

    expect_status(&e, 2);
    expect_said(&e, "1001 nodes need 76 open files");
    expect_said(&e, "the hard limit is 50");
    expect_said(&e, "ulimit -n 76");
    cr_expect(access(in_workspace("out"), F_OK) != 0,
              "a folder was made for a run that cannot start");
}

Test(many_nodes, the_soft_limit_of_open_files_is_raised)
{
    struct ended e =
        run_command("prlimit --nofile=50:4096 %s " SLOWLY "--set nodes.converter.count=42 --out %s",
                    program_path("hiloco"), in_workspace("out"));

    expect_ran(&e);
}

/* All of them in one process, which needs no more of them than a process of a few. */
Test(many_nodes, three_hundred_start_by_the_clock_with_few_open_files)
{
    struct ended e =
        run_command("prlimit --nofile=80:80 %s " SLOWLY "--set nodes.converter.count=300 --out %s",
                    program_path("hiloco"), in_workspace("out"));

    expect_ran(&e);
}

Test(many_nodes, thousands_run_in_virtual_time)
{
    struct ended e =
        run_command("hiloco run configs/dcdc20-nominal.yaml --mode virtual --quiet "
                    "--set duration_s=0.0001 --set nodes.converter.count=3000 --out %s",
                    in_workspace("out"));

    expect_status(&e, 0);
}
