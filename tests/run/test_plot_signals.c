/*
 * `hiloco plot --signals`: what it draws is compared with the rows of trace.h5, read here with HDF5
 * alone, and so are the steps of held signals.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "process.h"
#include "results.h"
#include "workspace.h"

TestSuite(plot_signals, .init = workspace_open, .fini = workspace_close, .timeout = 120);

static char first[200], second[200];

/* Two servos, of which the second one's law is weaker. */
static void run_both(void)
{
    snprintf(first, sizeof first, "%s", in_workspace("first"));
    snprintf(second, sizeof second, "%s", in_workspace("second"));
    struct ended e =
        run_command("hiloco run configs/servo.yaml --quiet --set duration_s=0.1 --out %s", first);
    expect_status(&e, 0);
    e = run_command("hiloco run configs/servo.yaml --quiet --set duration_s=0.1 "
                    "--set components.position_control.parameters.kp=20 --out %s",
                    second);
    expect_status(&e, 0);
}

/* One place of the rows between two times, as lines in ms; a held value goes on to the next row's
 * time. */
static char *places_of(const char *out, const char *node, const char *column, size_t place,
                       double from_s, double to_s, bool held)
{
    char name[200], *text;
    size_t size, drawn = 0;
    FILE *to = open_memstream(&text, &size);

    snprintf(name, sizeof name, "%s/time_s", node);
    const struct column time_s = column_of(out, name);
    snprintf(name, sizeof name, "%s/%s", node, column);
    const struct column value = column_of(out, name);
    for (size_t i = 0; i < time_s.rows; i++) {
        if (time_s.at[i] < from_s || time_s.at[i] >= to_s)
            continue;
        if (held && drawn &&
            value.at[i * value.width + place] != value.at[(i - 1) * value.width + place])
            fprintf(to, "%.9g %.9g\n", time_s.at[i] * 1e3, value.at[(i - 1) * value.width + place]);
        fprintf(to, "%.9g %.9g\n", time_s.at[i] * 1e3, value.at[i * value.width + place]);
        drawn++;
    }
    cr_assert_gt(drawn, 10);
    fclose(to);
    return text;
}

static char *rows_of(const char *out, const char *node, const char *column, double from_s,
                     double to_s, bool held)
{
    return places_of(out, node, column, 0, from_s, to_s, held);
}

static void expect_drawn(unsigned line, const char *rows)
{
    char *drawn = read_text(in_workspace("to/plot/signals-signal-%u-1.dat", line));

    cr_expect_str_eq(drawn, rows, "line %u", line);
    free(drawn);
}

static void expect_text(const char *file, const char *text)
{
    char *all = read_text(in_workspace("to/%s", file));

    cr_expect(strstr(all, text), "%s does not have %s", file, text);
    free(all);
}

Test(plot_signals, are_the_rows_of_each_run)
{
    run_both();
    struct ended e =
        run_command("hiloco plot --signals motor.speed_rad_per_s,motor.current_a,"
                    "position_control.output %s %s --from 0.01005 --until 0.05 --to %s",
                    first, second, in_workspace("to"));
    expect_status(&e, 0);
    expect_said(&e, "/signals.png, signals.svg\n");
    expect_drawn(1, rows_of(first, "drive", "motor.speed_rad_per_s", 0.01005, 0.05, false));
    expect_drawn(2, rows_of(second, "drive", "motor.speed_rad_per_s", 0.01005, 0.05, false));
    expect_drawn(3, rows_of(first, "drive", "motor.current_a", 0.01005, 0.05, false));
    expect_drawn(4, rows_of(second, "drive", "motor.current_a", 0.01005, 0.05, false));
    expect_drawn(5, rows_of(first, "speed", "position_control.output", 0.01005, 0.05, true));
    expect_drawn(6, rows_of(second, "speed", "position_control.output", 0.01005, 0.05, true));
    expect_text("plot/signals.gp", "y_label[1] = 'rad/s'\n");
    expect_text("plot/signals.gp", "y_label[2] = 'A'\n");
    expect_text("plot/signals.gp", "panels = 3\n");
    for (unsigned i = 1; i <= 6; i++) { /* a colour for each run */
        char look[40];
        snprintf(look, sizeof look, "colour[%u] = %u\ndash[%u] = 1\n", i, 2 - i % 2, i);
        expect_text("plot/signals.gp", look);
    }
    expect_text("signals.svg", second);
}

Test(plot_signals, of_one_run_each_have_a_colour)
{
    run_both();
    struct ended e = run_command(
        "hiloco plot --signals motor.speed_rad_per_s,speed_rad_per_s,angle_rad %s --to %s", first,
        in_workspace("to"));
    expect_status(&e, 0);
    expect_text("plot/signals.gp", "colour[1] = 1\ndash[1] = 1\n");
    expect_text("plot/signals.gp", "colour[2] = 2\ndash[2] = 1\n");
    expect_text("plot/signals.gp", "panels = 2\n");
}

Test(plot_signals, of_an_array_are_one_or_all)
{
    const char *out = in_workspace("boost");
    struct ended e =
        run_command("hiloco run configs/boost.yaml --quiet --set duration_s=0.06 --out %s", out);

    expect_status(&e, 0);
    e = run_command("hiloco plot --signals control[3].duty,converter[*].voltage_v,output_v %s "
                    "--from 0.05001 --until 0.05051 --to %s",
                    out, in_workspace("to"));
    expect_status(&e, 0);
    expect_drawn(1, places_of(out, "controller", "duty", 3, 0.05001, 0.05051, true));
    for (unsigned i = 0; i < 4; i++)
        expect_drawn(2 + i, places_of(out, "controller", "voltage_v", i, 0.05001, 0.05051, false));
    expect_drawn(6, rows_of(out, "controller", "output_v", 0.05001, 0.05051, false));
    expect_text("plot/signals.gp", "panels = 2\n");
}

static void expect_refused(const char *arguments, const char *why)
{
    struct ended e = run_command("hiloco plot --signals %s", arguments);

    expect_status(&e, 2);
    expect_said(&e, why);
    cr_expect_not(exists(in_workspace("first/signals.png")));
}

Test(plot_signals, that_no_record_has_are_refused)
{
    char text[800];

    run_both();
    snprintf(text, sizeof text, "motor.sped_rad_per_s %s", first);
    expect_refused(text, "--signals: no record has motor.sped_rad_per_s (did you mean "
                         "'motor.speed_rad_per_s'?)");
    snprintf(text, sizeof text, "motor.current_a,x %s %s", first, second);
    expect_refused(text, "--signals: no record has x; allowed: ");
    snprintf(text, sizeof text, "motor.current_a %s %s", first, in_workspace("none"));
    expect_refused(text, "none: ");
    snprintf(text, sizeof text, "motor.current_a %s --from 3", first);
    expect_refused(text, "nothing to draw from 3 s on");
    struct ended e = run_command("hiloco plot %s %s", first, second);
    expect_status(&e, 2);
    expect_said(&e, "of several runs, --signals says what is drawn");
}

/* The model's kind says it: a law computes at its steps, a motor goes on. */
Test(plot_signals, that_are_held_are_marked_in_the_record)
{
    run_both();
    cr_expect_str_eq(column_text(first, "speed/position_control.output", "between_rows"), "held");
    cr_expect_str_eq(column_text(first, "position/reference", "between_rows"), "held");
}
