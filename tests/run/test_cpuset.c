/*
 * A cpuset, as of a container, keeps a process from cores that the machine has. Only the superuser
 * can make one.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "process.h"
#include "workspace.h"

static char group[100];

/* Version 1 of control groups has a hierarchy of cpusets; in version 2 they may be part of it. */
static bool make_group(const char *root)
{
    snprintf(group, sizeof group, "%s/hiloco-test-%d", root, (int)getpid());
    if (mkdir(group, 0755))
        return false;
    const struct ended e = run_command("sh %s %s", in_workspace("set.sh"), group);
    if (e.status == 0)
        return true;
    rmdir(group);
    return false;
}

static void cpuset_open(void)
{
    workspace_open();
    write_text(in_workspace("set.sh"),
               "cat \"$1\"/../cpuset.mems >\"$1\"/cpuset.mems 2>/dev/null\n"
               "echo 0 >\"$1\"/cpuset.cpus && grep -q 0 \"$1\"/cpuset.cpus\n");
    write_text(in_workspace("enter.sh"),
               "g=$1; shift; echo $$ >\"$g\"/cgroup.procs && exec \"$@\"\n");
    if (!make_group("/sys/fs/cgroup/cpuset") && !make_group("/sys/fs/cgroup"))
        group[0] = '\0';
}

static void cpuset_close(void)
{
    if (group[0])
        rmdir(group);
    workspace_close();
}

TestSuite(cpuset, .init = cpuset_open, .fini = cpuset_close);

static struct ended run_within(const char *line)
{
    return run_command("sh %s %s %s %s", in_workspace("enter.sh"), group, program_path("hiloco"),
                       line);
}

Test(cpuset, cores_outside_it_are_not_there)
{
    skip_on_one_core();
    if (!group[0])
        cr_skip_test("no cpuset can be made: it needs the superuser and the controller cpuset");
    struct ended e = run_within("check configs/quickstart.yaml --set nodes.controller.cpu=1");
    expect_status(&e, 2);
    expect_said(&e, "allowed: -1 (any) or a cpu that is allowed here: 0\n");
    char line[200];
    snprintf(line, sizeof line,
             "run configs/quickstart.yaml --mode realtime --set nodes.controller.cpu=-1 "
             "--set nodes.converter.cpu=-1 --out %s",
             in_workspace("none"));
    e = run_within(line);
    expect_status(&e, 2);
    expect_said(&e, "2 executors, 1 cores");
    e = run_within("doctor --json --measure 0");
    cr_expect(strstr(e.out, "2 executors that spin, but 1 cpus"), "%s%s", e.out, e.err);
}
