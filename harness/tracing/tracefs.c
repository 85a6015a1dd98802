#include "tracefs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const events[] = {
    "irq/irq_handler_entry",
    "irq/irq_handler_exit",
    "irq/softirq_entry",
    "irq/softirq_exit",
    "irq_vectors/local_timer_entry",
    "irq_vectors/local_timer_exit",
    "irq_vectors/reschedule_entry",
    "irq_vectors/reschedule_exit",
    "irq_vectors/call_function_entry",
    "irq_vectors/call_function_exit",
    "irq_vectors/call_function_single_entry",
    "irq_vectors/call_function_single_exit",
    "irq_vectors/irq_work_entry",
    "irq_vectors/irq_work_exit",
};

/* --- files ------------------------------------------------------------------------------------ */

__attribute__((format(printf, 3, 4))) static int put(int dir, const char *path, const char *format,
                                                     ...)
{
    char text[1200]; /* room for a mask of 4096 cpus */
    va_list args;
    int file = openat(dir, path, O_WRONLY | O_TRUNC | O_CLOEXEC);

    if (file < 0)
        return -errno;
    va_start(args, format);
    int length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    const ssize_t done = write(file, text, (size_t)length);
    int rc = done == length ? 0 : done < 0 ? -errno : -EIO;
    close(file);
    return rc;
}

static int open_text(FILE **text, int dir, const char *path)
{
    int file = openat(dir, path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return -errno;
    *text = fdopen(file, "r");
    if (*text)
        return 0;
    const int rc = -errno;
    close(file);
    return rc;
}

static int open_dir(int at, const char *path)
{
    int dir = openat(at, path, O_DIRECTORY | O_RDONLY | O_CLOEXEC);

    return dir < 0 ? -errno : dir;
}

/* --- finding tracefs -------------------------------------------------------------------------- */

static int mount_unseen(void)
{
    int fs = fsopen("tracefs", FSOPEN_CLOEXEC);

    if (fs < 0)
        return -errno;
    int rc = fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) ? -errno : 0;
    if (!rc)
        rc = fsmount(fs, FSMOUNT_CLOEXEC, 0);
    rc = rc == -1 ? -errno : rc;
    close(fs);
    return rc;
}

static int find_root(const char *given)
{
    static const char *const places[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};

    if (given)
        return open_dir(AT_FDCWD, given);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        int root = open_dir(AT_FDCWD, places[i]);
        if (root >= 0 && faccessat(root, "trace_clock", F_OK, 0) == 0)
            return root;
        if (root == -EACCES)
            return root;
        if (root >= 0)
            close(root);
    }
    return mount_unseen();
}

/* --- the instance ----------------------------------------------------------------------------- */

/* Removes instances of launchers that have ended. */
static void remove_abandoned(int root)
{
    int copy = open_dir(root, "instances");
    DIR *instances = copy < 0 ? NULL : fdopendir(copy);
    struct dirent *entry;
    int pid;

    while (instances && (entry = readdir(instances)))
        if (sscanf(entry->d_name, "hiloco-%d", &pid) == 1 && kill(pid, 0) && errno == ESRCH)
            unlinkat(dirfd(instances), entry->d_name, AT_REMOVEDIR);
    if (instances)
        closedir(instances);
}

/* A hexadecimal mask of the cpus that loops are pinned to, or of all cpus if a loop is not pinned.
 * It has words of 32 bits, beginning with the last cpus. */
static void describe_cpus(const struct hil_executor_config *executors, unsigned executor_count,
                          char text[1152])
{
    uint32_t words[CPU_SETSIZE / 32] = {0};
    long count = sysconf(_SC_NPROCESSORS_CONF);
    size_t used = 0;

    if (count > CPU_SETSIZE)
        count = CPU_SETSIZE;
    for (unsigned i = 0; i < executor_count; i++)
        for (unsigned k = 0; k < hil_executor_threads(&executors[i]); k++)
            for (long cpu = 0, is = hil_executor_cpu(&executors[i], k); cpu < count; cpu++)
                if (is < 0 || is == cpu)
                    words[cpu / 32] |= 1u << (cpu % 32);
    for (long word = (count - 1) / 32; word >= 0; word--)
        used += (size_t)snprintf(text + used, 1152 - used, "%08x%s", words[word], word ? "," : "");
}

static int set_up(int instance, const char *cpus, unsigned buffer_kib)
{
    char path[80];
    int rc = put(instance, "tracing_on", "0");

    if (!rc)
        rc = put(instance, "trace_clock", "mono"); /* the same clock as LTTng's */
    if (!rc)
        rc = put(instance, "tracing_cpumask", "%s", cpus);
    if (!rc)
        rc = put(instance, "buffer_size_kb", "%u", buffer_kib);
    if (!rc)
        rc = put(instance, "events/sched/sched_switch/enable", "1");
    for (size_t i = 0; !rc && i < sizeof events / sizeof events[0]; i++) {
        snprintf(path, sizeof path, "events/%s/enable", events[i]);
        rc = put(instance, path, "1");
        rc = rc == -ENOENT ? 0 : rc; /* other machines have other interrupts */
    }
    return rc;
}

int hil_tracefs_open(struct hil_tracefs *fs, const char *root,
                     const struct hil_executor_config *executors, unsigned count,
                     unsigned buffer_kib)
{
    char cpus[1152];

    describe_cpus(executors, count, cpus);
    *fs = (struct hil_tracefs){.root = find_root(root), .instance = -1};
    if (fs->root < 0)
        return fs->root == -ENOENT ? -ENODEV : fs->root;
    remove_abandoned(fs->root);
    snprintf(fs->name, sizeof fs->name, "instances/hiloco-%d", (int)gettid());
    int rc = mkdirat(fs->root, fs->name, 0700) && errno != EEXIST ? -errno : 0;
    if (!rc)
        rc = fs->instance = open_dir(fs->root, fs->name);
    if (rc >= 0)
        rc = set_up(fs->instance, cpus, buffer_kib);
    if (rc)
        hil_tracefs_close(fs);
    return rc;
}

int hil_tracefs_start(const struct hil_tracefs *fs)
{
    return put(fs->instance, "tracing_on", "1");
}

static const uint64_t SAVED_MAX = UINT64_C(1) << 28;

static uint64_t count_overruns(int instance)
{
    unsigned long long all = 0, one;
    char path[64], line[128];

    for (long cpu = 0; cpu < sysconf(_SC_NPROCESSORS_CONF); cpu++) {
        snprintf(path, sizeof path, "per_cpu/cpu%ld/stats", cpu);
        FILE *stats;
        if (open_text(&stats, instance, path))
            continue;
        while (fgets(line, sizeof line, stats))
            if (sscanf(line, "overrun: %llu", &one) == 1)
                all += one;
        fclose(stats);
    }
    return all;
}

/* A read of the pipe consumes what it returns. It ends when the pipe is empty, or after twice as
 * much text as an instance usually has, since the kernel goes on writing. */
int hil_tracefs_save(const struct hil_tracefs *fs, FILE *to)
{
    const int pipe = openat(fs->instance, "trace_pipe", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    char text[65536];
    ssize_t got = 1;

    if (pipe < 0)
        return -errno;
    for (uint64_t all = 0; got > 0 && all < SAVED_MAX; all += (uint64_t)got) {
        got = read(pipe, text, sizeof text);
        if (got > 0 && fwrite(text, 1, (size_t)got, to) != (size_t)got)
            got = -1;
    }
    const int rc = got < 0 && errno != EAGAIN ? -errno : 0;
    close(pipe);
    return rc;
}

int hil_tracefs_stop(const struct hil_tracefs *fs, FILE *to, uint64_t *lost)
{
    int rc = put(fs->instance, "tracing_on", "0");

    *lost = count_overruns(fs->instance);
    return rc ? rc : hil_tracefs_save(fs, to);
}

void hil_tracefs_close(struct hil_tracefs *fs)
{
    if (fs->instance >= 0)
        close(fs->instance);
    if (fs->root >= 0) {
        unlinkat(fs->root, fs->name, AT_REMOVEDIR);
        close(fs->root);
    }
    *fs = (struct hil_tracefs){.root = -1, .instance = -1};
}
