#include "fix.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../base/cpus.h"
#include "../base/detached.h"
#include "../base/list.h"
#include "../base/reap.h"
#include "checks.h"
#include "files.h"
#include "interrupts.h"

enum { TEXT_SIZE = 1024 };

/* A file that is changed temporarily. */
struct loan {
    char path[160]; /* below the root */
    char before[TEXT_SIZE], during[TEXT_SIZE];
    bool is_interrupt; /* there are many, some of which cannot be moved; they are reported
                        * together */
};

struct loans {
    const struct hil_machine *machine;
    struct loan *at;
    unsigned count;
    bool no_memory;
};

/* --- settings to change ------------ */

static struct loan *new_loan(struct loans *l)
{
    struct loan *more = hil_list_more(l->at, l->count, sizeof *more);

    if (!more) {
        l->no_memory = true;
        return NULL;
    }
    l->at = more;
    l->at[l->count] = (struct loan){0};
    return &l->at[l->count];
}

/* Changes nothing in a file that cannot be read, since the old value would be unknown. */
__attribute__((format(printf, 3, 4))) static void lend(struct loans *l, const char *during,
                                                       const char *path, ...)
{
    struct loan *loan = new_loan(l);
    va_list values;

    if (!loan)
        return;
    va_start(values, path);
    vsnprintf(loan->path, sizeof loan->path, path, values);
    va_end(values);
    if (hil_file_text(l->machine->root, loan->before, sizeof loan->before, "%s", loan->path) ||
        strlen(loan->before) == sizeof loan->before - 1)
        return;
    hil_chosen_word(loan->before);
    snprintf(loan->during, sizeof loan->during, "%s", during);
    if (strcmp(loan->before, during) != 0)
        l->count++;
}

static void lend_interrupt(const struct hil_interrupt *i, void *arg)
{
    struct loans *l = arg;
    char spare[TEXT_SIZE];
    unsigned before = l->count;
    cpu_set_t both;

    CPU_AND(&both, &i->cpus, &l->machine->loops);
    if (CPU_COUNT(&both) == 0)
        return;
    hil_cpus_format(&l->machine->spare, spare, sizeof spare);
    lend(l, spare, "/proc/irq/%d/smp_affinity_list", i->number);
    if (l->count > before)
        l->at[before].is_interrupt = true;
}

static void lend_transparent_huge(struct loans *l)
{
    static const char path[] = "/sys/kernel/mm/transparent_hugepage/enabled";
    char text[128];

    if (hil_file_text(l->machine->root, text, sizeof text, path))
        return;
    hil_chosen_word(text);
    if (strcmp(text, "always") == 0)
        lend(l, "madvise", path);
}

static void lend_huge_pages(struct loans *l)
{
    char pages[16];

    snprintf(pages, sizeof pages, "%d", HIL_HUGE_PAGES);
    if (hil_needs_huge_pages(l->machine->root))
        lend(l, pages, "/proc/sys/vm/nr_hugepages");
}

static void choose(struct loans *l)
{
    const struct hil_machine *p = l->machine;

    if (p->priority > 0 && hil_throttled_ms(p->root) > 0 && hil_may_lift_throttling(p))
        lend(l, "-1", "/proc/sys/kernel/sched_rt_runtime_us");
    for (int cpu = hil_cpus_next(&p->loops, -1); cpu >= 0; cpu = hil_cpus_next(&p->loops, cpu))
        lend(l, "performance", "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor", cpu);
    if (CPU_COUNT(&p->spare) > 0)
        hil_interrupts_each(p->root, lend_interrupt, l);
    lend_transparent_huge(l);
    lend_huge_pages(l);
}

/* --- writing ---------------- */

static int write_file(const char *root, const char *path, const char *text)
{
    char full[4096];

    snprintf(full, sizeof full, "%s%s", root, path);
    int file = open(full, O_WRONLY | O_TRUNC | O_CLOEXEC);
    if (file < 0)
        return -errno;
    ssize_t n = write(file, text, strlen(text));
    int rc = n == (ssize_t)strlen(text) ? 0 : n < 0 ? -errno : -EIO;
    close(file);
    return rc;
}

/* While held open, the file keeps all cores out of idle states that take longer to leave. */
static bool hold_latency(const char *root)
{
    const int32_t none = 0;
    char path[4096];

    snprintf(path, sizeof path, "%s/dev/cpu_dma_latency", root);
    int file = open(path, O_WRONLY | O_CLOEXEC);
    return file >= 0 && write(file, &none, sizeof none) == sizeof none;
}

static void apply(const struct loans *l, FILE *to)
{
    unsigned moved = 0, stay = 0;

    for (unsigned i = 0; i < l->count; i++) {
        const struct loan *loan = &l->at[i];
        int rc = write_file(l->machine->root, loan->path, loan->during);
        if (loan->is_interrupt) {
            moved += rc == 0;
            stay += rc != 0;
        } else if (rc) {
            fprintf(stderr, "fix: %s cannot be set: %s\n", loan->path, strerror(-rc));
        } else if (to) {
            fprintf(to, "fix: %s is now %s, and was %s\n", loan->path, loan->during, loan->before);
        }
    }
    if (to && moved + stay > 0)
        fprintf(to, "fix: %u interrupts are moved away from the loops' cpus; %u cannot be moved\n",
                moved, stay);
}

/* Restores in reverse order. A file that still has its old value is not written, because the change
 * was refused. */
static int put_back(const struct loans *l)
{
    char now[TEXT_SIZE];
    int failed = 0;

    for (unsigned i = l->count; i-- > 0;) {
        const struct loan *loan = &l->at[i];
        int rc = hil_file_text(l->machine->root, now, sizeof now, "%s", loan->path);
        hil_chosen_word(now);
        if (!rc && strcmp(now, loan->before) == 0)
            continue;
        rc = write_file(l->machine->root, loan->path, loan->before);
        if (rc)
            fprintf(stderr, "fix: %s cannot be restored to %s: %s\n", loan->path, loan->before,
                    strerror(-rc));
        failed |= rc;
    }
    return failed;
}

/* --- the guardian ---------------- */

/* Runs until every process that holds the other end of the pipe has ended, for whatever reason. */
static void guard(const struct loans *l, int life)
{
    char nothing;

    prctl(PR_SET_NAME, "hl-fix");
    hold_latency(l->machine->root);
    while (read(life, &nothing, 1) < 0 && errno == EINTR)
        ;
    int failed = put_back(l);
    fflush(stderr);
    _exit(failed ? 1 : 0);
}

enum { PUT_BACK_MS = 30000 };

static int start_guardian(struct hil_fix *fix, const struct loans *l)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC))
        return -errno;
    fflush(NULL);
    fix->guardian = hil_fork_detached();
    int rc = fix->guardian < 0 ? -errno : 0;
    if (fix->guardian == 0) {
        close(ends[1]);
        guard(l, ends[0]);
    }
    close(ends[0]);
    fix->life = ends[1];
    if (!rc)
        return 0;
    close(fix->life);
    fix->guardian = 0;
    return rc;
}

int hil_fix_begin(struct hil_fix *fix, const struct hil_machine *machine, FILE *to)
{
    struct loans loans = {.machine = machine};

    *fix = (struct hil_fix){.life = -1};
    choose(&loans);
    int rc = loans.no_memory ? -ENOMEM : start_guardian(fix, &loans); /* start the guardian before
                                                                       * the first change */
    if (!rc)
        apply(&loans, to);
    free(loans.at);
    return rc;
}

int hil_fix_end(struct hil_fix *fix)
{
    int status = 0;

    if (fix->guardian <= 0)
        return 0;
    close(fix->life);
    hil_reap_within(fix->guardian, PUT_BACK_MS, "hl-fix", &status);
    fix->guardian = 0;
    return status ? -EIO : 0;
}
