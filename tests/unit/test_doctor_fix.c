/* "--fix applies the reversible ones for the run's duration and restores them": however it ends. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "folder.h"
#include "harness/doctor/fix.h"
#include "harness/scenario/system.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool holds(const char *path, const char *text)
{
    char is[128] = "";
    FILE *file = fopen(in_folder("%s", path), "r");

    cr_assert(file, "%s", path);
    if (!fgets(is, sizeof is, file))
        is[0] = '\0';
    fclose(file);
    is[strcspn(is, "\n")] = '\0';
    return strcmp(is, text) == 0;
}

static void expect_held(const char *path, const char *text)
{
    cr_expect(holds(path, text), "%s does not hold %s", path, text);
}

#define THROTTLING "/proc/sys/kernel/sched_rt_runtime_us"
#define GOVERNOR   "/sys/devices/system/cpu/cpu3/cpufreq/scaling_governor"
#define INTERRUPT  "/proc/irq/36/smp_affinity_list"
#define PAGES      "/proc/sys/vm/nr_hugepages"
#define THP        "/sys/kernel/mm/transparent_hugepage/enabled"

static const char *const lent[][3] = {
    {THROTTLING, "950000", "-1"}, {GOVERNOR, "powersave", "performance"},
    {INTERRUPT, "0-3", "0-1"},    {PAGES, "0", "64"},
    {THP, "always", "madvise"},
};

static void put_machine(void)
{
    folder_open();
    put("/sys/devices/system/cpu/online", "0-3");
    put("/proc/sys/kernel/sched_rt_period_us", "1000000");
    put("/proc/sys/kernel/osrelease", "6.0.9");
    put("/proc/meminfo", "HugePages_Free: 0");
    put("/proc/interrupts",
        "  CPU0 CPU1 CPU2 CPU3\n 36: 1 2 3 4 PCI-MSIX nvme\n 37: 1 1 1 1 IO eth");
    put("/proc/irq/37/smp_affinity_list", "0"); /* not on a loop's core, so it stays */
    put("/dev/cpu_dma_latency", "");
    for (size_t i = 0; i < COUNT(lent); i++)
        put(lent[i][0], lent[i][1]);
}

TestSuite(fix, .init = put_machine, .fini = folder_close);

static struct hil_executor_config executors[] = {{.cpu = 2, .priority = 80, .scheduler = HIL_FIFO},
                                                 {.cpu = 3, .priority = 80, .scheduler = HIL_FIFO}};
static struct hil_node_config node = {.timing = {.period_ns = 10000}};
static struct hil_system one = {.nodes = &node, .node_count = 1};
static const struct hil_scenario scenario = {
    .system = &one, .executors = executors, .executor_count = 2};

static struct hil_machine patient;
static struct hil_fix fix;

static void begin(void)
{
    cr_assert_eq(hil_machine_open(&patient, folder, &scenario), 0);
    cr_assert_eq(hil_fix_begin(&fix, &patient, NULL), 0);
}

static void expect_all(int column)
{
    for (size_t i = 0; i < COUNT(lent); i++)
        expect_held(lent[i][0], lent[i][column]);
    expect_held("/proc/irq/37/smp_affinity_list", "0");
}

Test(fix, all_is_lent_and_put_back)
{
    begin();
    expect_all(2);
    cr_expect_eq(hil_fix_end(&fix), 0);
    expect_all(1);
}

Test(fix, it_says_what_it_does)
{
    char said[2000] = "";
    FILE *to = fmemopen(said, sizeof said, "w");

    cr_assert_eq(hil_machine_open(&patient, folder, &scenario), 0);
    cr_assert_eq(hil_fix_begin(&fix, &patient, to), 0);
    fclose(to);
    cr_expect(strstr(said, "fix: " THROTTLING " is now -1, and was 950000\n"), "%s", said);
    cr_expect(strstr(said, GOVERNOR " is now performance, and was powersave"), "%s", said);
    cr_expect(
        strstr(said, "fix: 1 interrupts are moved away from the loops' cpus; 0 cannot be moved"),
        "%s", said);
    cr_expect_eq(hil_fix_end(&fix), 0);
}

Test(fix, latency_is_held)
{
    struct stat held;

    begin();
    for (int i = 0; i < 5000 && (stat(in_folder("dev/cpu_dma_latency"), &held) || held.st_size < 4);
         i++)
        usleep(1000); /* waits for the guardian to do it */
    cr_expect_geq(held.st_size, 4);
    cr_expect_eq(hil_fix_end(&fix), 0);
}

/* A setting that is fine already is not touched, and so not restored over changes that others make
 * meanwhile. */
Test(fix, what_is_well_is_left_alone)
{
    put(THROTTLING, "-1");
    put(GOVERNOR, "performance");
    begin();
    put(THROTTLING, "900000");
    cr_expect_eq(hil_fix_end(&fix), 0);
    expect_held(THROTTLING, "900000");
    expect_held(GOVERNOR, "performance");
}

Test(fix, the_chosen_word_of_a_choice_is_put_back)
{
    put(THP, "[always] madvise never");
    begin();
    expect_held(THP, "madvise");
    cr_expect_eq(hil_fix_end(&fix), 0);
    expect_held(THP, "always");
}

/* Nobody could end loops that are never throttled on all cores, or the fair server would stop them.
 */
Test(fix, throttling_stays_where_loops_fill_all_cores)
{
    put("/sys/devices/system/cpu/online", "2-3");
    begin();
    expect_held(THROTTLING, "950000");
    expect_held(INTERRUPT, "0-3");
    cr_expect_eq(hil_fix_end(&fix), 0);
    put("/proc/sys/kernel/osrelease", "6.12.3"); /* this version has the fair server */
    begin();
    expect_held(THROTTLING, "950000");
    cr_expect_eq(hil_fix_end(&fix), 0);
}

/* --- sudden ends ---------------- */

static bool comes_back(void)
{
    for (int i = 0; i < 20000; i++, usleep(1000))
        if (holds(THROTTLING, "950000") && holds(THP, "always"))
            return true;
    return false;
}

static pid_t start_mended(void)
{
    int ready[2];
    char byte = 0;

    cr_assert_eq(pipe(ready), 0);
    pid_t pid = fork();
    if (pid == 0) {
        begin();
        cr_assert_eq(write(ready[1], &byte, 1), 1);
        pause();
        _exit(0);
    }
    cr_assert_eq(read(ready[0], &byte, 1), 1);
    return pid;
}

static void expect_back_after(int signal)
{
    pid_t pid = start_mended();

    expect_all(2);
    kill(pid, signal);
    waitpid(pid, NULL, 0);
    cr_expect(comes_back(), "after signal %d it stays mended", signal);
    expect_all(1);
}

Test(fix, who_is_interrupted_leaves_it_as_it_was)
{
    expect_back_after(SIGINT);
}

Test(fix, who_is_told_to_end_leaves_it_as_it_was)
{
    expect_back_after(SIGTERM);
}

Test(fix, who_is_killed_leaves_it_as_it_was)
{
    expect_back_after(SIGKILL);
}

/* The terminal's interrupt, or a signal that ends the whole process group. */
Test(fix, the_guardian_does_not_end_with_the_others)
{
    begin();
    kill(fix.guardian, SIGINT);
    kill(fix.guardian, SIGTERM);
    kill(fix.guardian, SIGHUP);
    expect_all(2);
    cr_expect_eq(hil_fix_end(&fix), 0);
    expect_all(1);
}
