/* loco-conform on shared memory: the report, and what is refused. tests/rdma has it on a device,
 * and tests/sim shows that its programs find what they look for. */
#include <criterion/criterion.h>
#include <jansson.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "process.h"
#include "workspace.h"

TestSuite(conform, .init = workspace_open, .fini = workspace_close, .timeout = 240);

static void expect_line(const struct ended *e, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void expect_line(const struct ended *e, const char *format, ...)
{
    char line[200];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    cr_expect(strstr(e->out, line), "'%s' is not in\n%s", line, e->out);
}

Test(conform, the_report_has_the_machine_and_a_count_for_each_outcome)
{
    struct ended e = run_command("loco-conform shm --trials 50");

    expect_status(&e, 0);
    expect_line(&e, "  %-28s %s\n", "device", "none: shared memory of this machine");
    expect_line(&e, "\n  %-28s Linux ", "kernel");
    expect_line(&e, "%-58s %10s %10s  libloco\n", "What was looked for", "trials", "seen");
    expect_line(&e, "  %-56s %10d %10d  excludes it\n", "a later put of the link is seen first", 50,
                0);
    expect_line(&e, "  %-56s %10d %10d  excludes it\n",
                "of adds of the network and of the CPU, one is lost", 50, 0);
    expect_line(&e, "  %-56s %10d ", "a get of 8 bytes", 50);
    expect_line(&e, "It proves nothing");
}

/* The number of rows with this key, each with that many trials. */
static unsigned rows_with(json_t *report, const char *key, json_int_t trials)
{
    unsigned count = 0;
    size_t i;
    json_t *row;

    json_array_foreach(json_object_get(report, "rows"), i, row)
    {
        if (!json_object_get(row, key))
            continue;
        cr_expect_eq(json_integer_value(json_object_get(row, "trials")), trials);
        count++;
    }
    return count;
}

Test(conform, the_report_as_json)
{
    struct ended e = run_command("loco-conform shm --trials 20 --json");
    expect_status(&e, 0);
    json_t *report = json_loads(e.out, 0, NULL);

    cr_assert(report, "no JSON: %s", e.out);
    cr_expect_eq(json_integer_value(json_object_get(report, "excluded")), 0);
    cr_expect_null(json_object_get(report, "there"));
    cr_expect_gt(rows_with(report, "seen", 20), 20);
    cr_expect_gt(rows_with(report, "p99_ns", 20), 5);
    json_decref(report);
}

static void expect_refused(const char *line, const char *why)
{
    struct ended e = run_command("%s", line);

    expect_status(&e, 2);
    expect_said(&e, why);
    cr_expect_str_empty(e.out);
}

Test(conform, what_it_cannot_use_is_refused)
{
    expect_refused("loco-conform", "which device?");
    expect_refused("loco-conform shm shm", "which device?");
    expect_refused("loco-conform no_such_card", "'no_such_card' is neither an address nor an RDMA");
    expect_refused("loco-conform shm --trials 0",
                   "--trials takes a number from 1 to 10000000, not '0'");
    expect_refused("loco-conform shm --trials -1", "not '-1'");
    expect_refused("loco-conform shm --port 65535", "--port takes a number from 1 to 65532");
    expect_refused("loco-conform shm --with 10.0.0.1", "it takes no --with");
    expect_refused("loco-conform 10.0.0.1 --with 10.0.0.1", "this machine's own address");
    expect_refused("loco-conform 10.0.0.1 --with host", "address, not 'host'");
    expect_refused("loco-conform 10.0.0.1 --with fd00::1", "of different kinds");
}

/* --- the target dies ---------------- */

static pid_t child_of(pid_t parent)
{
    char path[60];
    int child = 0;

    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)parent, (int)parent);
    FILE *file = fopen(path, "r");
    if (file && fscanf(file, "%d", &child) != 1)
        child = 0;
    if (file)
        fclose(file);
    return child;
}

static bool has_printed_a_count(void *process)
{
    const struct process *p = process;

    if (!exists(p->out_path))
        return has_ended(p);
    char *text = read_text(p->out_path);
    const bool has = strstr(text, "excludes it");
    free(text);
    return has || has_ended(p);
}

Test(conform, a_target_that_dies_ends_the_measurement)
{
    const struct arguments a = command("loco-conform shm --trials 100000");

    setenv("TMPDIR", workspace, 1); /* the folder where they met may stay */
    struct process p = start(&a);
    cr_assert(wait_until(has_printed_a_count, &p, 60));
    const pid_t target = child_of(p.pid);
    cr_assert_gt(target, 0);
    kill(target, SIGKILL);
    struct ended e = finish(&p);
    expect_status(&e, 2);
    expect_said(&e, "loco-conform: ");
    cr_expect_null(strstr(e.out, "It proves nothing"));
}
