/*
 * What the processes of a run left in folders of their own, as one run: `hiloco merge`. In real
 * time, on machines that may be busy: nothing here depends on how fast anything was.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "../sets.h"
#include "process.h"
#include "results.h"
#include "tests/nodes.h"
#include "workspace.h"

static void open_parts(void)
{
    workspace_open();
    skip_on_one_core();
    setenv("HILOCO_SECRET", "0123456789abcdef0123456789abcdef", 1);
    setenv("HILOCO_RENDEZVOUS", own_loopback(), 1);
}

TestSuite(merge, .init = open_parts, .fini = workspace_close, .timeout = 240);

/* Slow, so that any machine is fast enough for it. */
#define SLOW                                                                                       \
    "configs/dcdc20.yaml --set fabric=tcp --set nodes.converter.count=3 "                          \
    "--set components.converter.tolerance={} --set " RECORD_CONVERTERS(                            \
        "1") " "                                                                                   \
             "--set nodes.controller.priority=0 --set nodes.converter.priority=0 --set "           \
             "nodes.controller.cpu=-1 "                                                            \
             "--set nodes.converter.cpu=-1 --set nodes.controller.period_us=20000 --set "          \
             "nodes.converter.period_us=5000 "                                                     \
             "--set duration_s=0.2 --set validity.required=false --wait 100 --quiet "

static struct process start_part(const char *program, const char *folder, const char *more)
{
    struct arguments a =
        command("%s " SLOW "--out %s %s", program, in_workspace("%s", folder), more);

    return start(&a);
}

/* Runs it in two processes, whose results are in the folders FIRST and OTHERS. */
static void run_in_parts(const char *first, const char *others, const char *more)
{
    struct process parts[] = {
        start_part("controller", first, more),
        start_part("hiloco node converter[*]", others, more),
    };

    for (int i = 0; i < 2; i++) {
        struct ended e = finish(&parts[i]);
        expect_status(&e, 0);
    }
}

/* Into the folder `whole`. */
static struct ended merge(const char *one, const char *other, const char *options)
{
    static char folders[3][200];
    const char *const names[] = {one, other, "whole"};

    for (int i = 0; i < 3; i++)
        snprintf(folders[i], sizeof folders[i], "%s",
                 *names[i] ? in_workspace("%s", names[i]) : "");
    return run_command("hiloco merge %s %s --out %s %s", folders[0], folders[1], folders[2],
                       options);
}

static void expect_refused(struct ended e, const char *why)
{
    expect_status(&e, 2);
    expect_said(&e, why);
    cr_expect_not(exists(in_workspace("whole")));
}

static void expect_same_rows(const char *part, const char *dataset)
{
    const struct column in_part = column_of(in_workspace("%s", part), dataset);
    const struct column in_all = column_of(in_workspace("whole"), dataset);

    cr_assert_gt(in_part.rows, 0);
    cr_assert_eq(in_all.rows, in_part.rows, "%s: %zu of %zu", dataset, in_all.rows, in_part.rows);
    cr_expect_arr_eq(in_all.at, in_part.at, in_part.rows * in_part.width * sizeof(double));
}

/* What that part alone measured; a busy machine may have had no turn for it. */
static void expect_same_number(json_t *summary, const char *part, const char *path)
{
    const double all = number_at(summary, path);
    const double in_part = number_at(summary_of(in_workspace("%s", part)), path);

    cr_expect(all == in_part || (isnan(all) && isnan(in_part)), "%s: %g, not %g", path, all,
              in_part);
}

static bool is_in_order(const struct column *c)
{
    for (size_t i = 1; i < c->rows; i++)
        if (c->at[i] < c->at[i - 1])
            return false;
    return true;
}

static size_t events_of(const char *folder)
{
    return column_of(in_workspace("%s", folder), "events/time_s").rows;
}

Test(merge, two_parts_are_one_run)
{
    run_in_parts("first", "others",
                 "--set limits.output.signal=output_v --set limits.output.max=1e9");
    struct ended e = merge("others", "first", "");
    expect_status(&e, 0);
    json_t *summary = summary_of(in_workspace("whole"));

    expect_same_rows("first", "controller/output_v");
    expect_same_rows("first", "controller/time_s");
    expect_same_rows("others", "converter/000/voltage_v");
    expect_same_rows("others", "converter/002/step");
    cr_expect_eq(events_of("whole"), events_of("first") + events_of("others"));
    const struct column times = column_of(in_workspace("whole"), "events/time_s");
    cr_expect(is_in_order(&times));

    cr_expect_eq(number_at(summary, "nodes.controller.steps"),
                 number_at(summary_of(in_workspace("first")), "nodes.controller.steps"));
    cr_expect_eq(number_at(summary, "nodes.converter.steps"),
                 number_at(summary_of(in_workspace("others")), "nodes.converter.steps"));
    expect_same_number(summary, "others", "links.0.age_us.max");
    expect_same_number(summary, "first", "links.1.age_us.max");
    cr_expect(json_is_null(json_at(summary, "missing")));
    cr_expect_str_eq(json_string_value(json_at(summary, "parts.0.nodes")), "converter[0-2]");
    cr_expect_str_eq(json_string_value(json_at(summary, "verdict")), "passed");
    cr_expect_str_eq(json_string_value(json_at(summary, "limits.0.verdict")), "passed");
}

Test(merge, each_nodes_clock_is_told)
{
    run_in_parts("first", "others", "");
    merge("first", "others", "");
    const char *whole = in_workspace("whole");
    json_t *clocks = json_at(summary_of(whole), "clocks");
    const double about_us = group_number(whole, "converter/001", "clock_uncertainty_us");

    cr_expect_eq(group_number(whole, "controller", "clock_ahead_s"), 0);
    cr_expect_eq(group_number(whole, "controller", "clock_uncertainty_us"), 0);
    cr_expect_gt(about_us, 0);
    cr_expect_leq(fabs(group_number(whole, "converter/001", "clock_ahead_s")), about_us * 1e-6,
                  "it is one clock");
    group_number(whole, "converter/001", "clock_drift_us");
    cr_expect_eq(number_at(json_object_get(clocks, "converter[1]"), "uncertainty_us"), about_us);
    cr_expect_str_eq(json_string_value(json_at(json_object_get(clocks, "converter[1]"), "by")),
                     "round trips");
}

Test(merge, what_is_not_one_run_is_refused)
{
    run_in_parts("first", "others", "");
    run_in_parts("first_again", "others_again", "");
    run_in_parts("first_longer", "others_longer", "--set duration_s=0.3");

    expect_refused(merge("first", "others_again", ""),
                   "belong to different runs: on the first node's clock");
    expect_refused(merge("first", "others_longer", ""),
                   "part.state belongs to another scenario: duration_s is 0.2 here and 0.3 there");
    expect_refused(merge("first", "first", ""), "both have controller");
    expect_refused(merge("first", "", ""), "a part is missing: none of these has converter[0-2]");
    expect_refused(merge("first", "nowhere", ""), "nowhere: No such file or directory");
}

Test(merge, a_part_that_cannot_be_read_is_refused)
{
    run_in_parts("first", "others", "");
    char *state = strdup(in_workspace("others/part.state"));

    cr_assert_eq(truncate(state, 1000), 0);
    expect_refused(merge("first", "others", ""),
                   "others/part.state is damaged, or not part of a run");
    unlink(state);
    expect_refused(merge("first", "others", ""), "others has no part.state");
    struct ended e =
        run_command("hiloco merge %s --out %s", in_workspace("first"), in_workspace("first"));
    expect_status(&e, 2);
    expect_said(&e, "and its contents would be replaced");
    cr_expect(exists(in_workspace("first/trace.h5")));
    free(state);
}

/* Writes over some bytes of the unpacked state of a part; `at` is in thousandths of it. */
static void change_state(const char *part, unsigned at, const void *with, size_t length)
{
    char *state = strdup(in_workspace("%s/part.state", part));
    FILE *file = fopen(state, "r+");
    static char packed[1 << 20], bytes[16 << 20];

    cr_assert_not_null(file);
    const size_t read = fread(packed, 1, sizeof packed, file);
    const size_t size = ZSTD_decompress(bytes, sizeof bytes, packed, read);
    cr_assert_not(ZSTD_isError(size) || size < 32);
    memcpy(at ? bytes + size / 1000 * at / 8 * 8 : bytes + 8 /* behind the magic */, with, length);
    const size_t repacked = ZSTD_compress(packed, sizeof packed, bytes, size, 3);
    cr_assert_not(ZSTD_isError(repacked));
    rewind(file);
    cr_assert_eq(fwrite(packed, 1, repacked, file), repacked);
    cr_assert_eq(ftruncate(fileno(file), (off_t)repacked), 0);
    fclose(file);
    free(state);
}

/* What another version wrote, whose scenario has a key that is not known here. */
static void make_another_version(const char *part)
{
    change_state(part, 0, "99.1", 5);
    FILE *file = fopen(in_workspace("%s/scenario.yaml", part), "a");
    cr_assert_not_null(file);
    fputs("of_version_99: true\n", file);
    fclose(file);
}

/* Any number may be wrong in a state from elsewhere. A crash would be status 1. */
Test(merge, a_state_with_wrong_numbers_is_refused_or_merged)
{
    static const unsigned char wrong[64] = {[0 ... 63] = 0xff};

    run_in_parts("first", "others", "");
    run_command("cp %s %s", in_workspace("others/part.state"), in_workspace("whole.state"));
    for (unsigned at = 20; at < 990; at += 20) {
        run_command("cp %s %s", in_workspace("whole.state"), in_workspace("others/part.state"));
        change_state("others", at, wrong, sizeof wrong);
        const struct ended e = merge("first", "others", "");
        cr_expect(e.status == 0 || e.status == 2, "%u: %d: %s", at, e.status, e.err);
        run_command("rm -rf %s", in_workspace("whole"));
    }
}

Test(merge, a_part_of_another_version_is_refused)
{
    run_in_parts("first", "others", "");
    make_another_version("others");
    expect_refused(merge("first", "others", ""),
                   "others/part.state was written by hiloco 99.1, but this is ");
    expect_refused(merge("others", "first", ""),
                   "others/part.state was written by hiloco 99.1, but this is ");
}

Test(merge, a_folder_of_others_is_not_replaced)
{
    run_in_parts("first", "others", "");
    cr_assert_eq(mkdir(in_workspace("whole"), 0700), 0);
    write_text(in_workspace("whole/letter.txt"), "keep me");
    struct ended e = merge("first", "others", "");
    expect_status(&e, 2);
    expect_said(&e, "whole");
    expect_said(&e, "letter.txt");
    cr_expect(exists(in_workspace("whole/letter.txt")));
    cr_expect_not(exists(in_workspace("whole/trace.h5")));
}

Test(merge, an_earlier_merge_is_replaced)
{
    run_in_parts("first", "others", "");
    struct ended e = merge("first", "others", "");
    expect_status(&e, 0);
    e = merge("others", "first", "");
    expect_status(&e, 0);
    cr_expect_str_eq(json_string_value(json_at(summary_of(in_workspace("whole")), "parts.0.nodes")),
                     "converter[0-2]");
}

/* Without a rendezvous nobody compares clocks. */
Test(merge, clocks_that_were_not_compared_are_told)
{
    char port[40];

    unsetenv("HILOCO_RENDEZVOUS");
    snprintf(port, sizeof port, "--set tcp.port=%d", 20000 + getpid() % 20000);
    run_in_parts("first", "others", port);
    struct ended e = merge("first", "others", "");
    expect_status(&e, 0);
    cr_expect(strstr(e.out, "others: not compared with the first node's"), "%s", e.out);
    const char *whole = in_workspace("whole");
    json_t *clocks = json_at(summary_of(whole), "clocks");
    cr_expect(json_is_null(json_object_get(clocks, "converter[1]")));
    expect_same_rows("others", "converter/002/time_s");
}

/* Its machine died: of it there is nothing, or its record. */
Test(merge, a_missing_part_is_told)
{
    run_in_parts("first", "others", "");
    unlink(in_workspace("others/part.state"));
    unlink(in_workspace("others/summary.json"));

    struct ended e = merge("first", "others", "--partial");
    expect_status(&e, 1);
    json_t *summary = summary_of(in_workspace("whole"));
    expect_same_rows("others", "converter/000/voltage_v");
    cr_expect(json_is_null(json_at(summary, "nodes.converter")));
    cr_expect_str_eq(json_string_value(json_at(summary, "missing")), "converter[0-2]");
    cr_expect_str_eq(json_string_value(json_at(summary, "verdict")), "error");
    cr_expect_str_eq(json_string_value(json_at(summary, "validity.reasons.0")),
                     "a part is missing: nothing tells how converter[0-2] ended");

    e = merge("first", "", "--partial");
    expect_status(&e, 1);
    cr_expect_str_eq(json_string_value(json_at(summary_of(in_workspace("whole")), "missing")),
                     "converter[0-2]");
}
