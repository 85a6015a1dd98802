#include "session.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../base/reap.h"
#include "../base/tool.h"
#include "../run/loop_cores.h"
#include "../scenario/system.h"
#include "tracefs.h"

struct hil_session {
    const struct hil_scenario *scenario;
    const char *out; /* the results' folder */
    char name[40];
    char filter[40]; /* the option that selects the run's events; "": all events */
    pid_t daemon;    /* our session daemon; 0: another one was running */
    bool created;
    bool tracks;         /* it traces some processes rather than all of this user's */
    bool stuck;          /* it could not be stopped in an orderly way */
    bool kernel_modules; /* LTTng's kernel modules are used: the kernel's events are in the
                          * session */
    struct hil_tracefs tracefs;
    char kernel[160];
};

enum { SAID = 4096, LTTNG_S = 20, DESTROY_S = 10 };

static const struct timespec MOMENT = {.tv_nsec = 10000000};
enum { PATIENCE = 1000 }; /* number of short waits */

/* --- lttng ------------------------------------------------------------------------------------ */

/* Runs `lttng` with these words, separated by blanks. */
static int lttng(char *said, const char *format, va_list values)
{
    char line[2048], *words[32] = {"lttng", "--no-sessiond"}, *rest = line;
    unsigned count = 2;

    if (vsnprintf(line, sizeof line, format, values) >= (int)sizeof line)
        return -E2BIG;
    while (count < 31 && (words[count] = strsep(&rest, " ")))
        count++;
    return hil_tool_run(NULL, words, LTTNG_S, said, SAID);
}

/* Whether the command succeeds; failures are not reported. */
__attribute__((format(printf, 1, 2))) static bool can(const char *format, ...)
{
    char said[SAID];
    va_list values;

    va_start(values, format);
    int rc = lttng(said, format, values);
    va_end(values);
    return rc == 0;
}

static int explain(int rc, const char *said)
{
    if (rc == -ENOENT)
        fprintf(stderr, "trace: lttng is not installed: sudo apt install lttng-tools\n");
    else if (rc < 0)
        fprintf(stderr, "trace: lttng: %s\n", strerror(-rc));
    else if (rc > 0)
        fprintf(stderr, "trace: lttng: %s%s", said, said[0] ? "" : "failed\n");
    return rc > 0 ? -EPROTO : rc;
}

/* Runs the command, and reports a failure. */
__attribute__((format(printf, 1, 2))) static int must(const char *format, ...)
{
    char said[SAID] = "";
    va_list values;

    va_start(values, format);
    int rc = lttng(said, format, values);
    va_end(values);
    return explain(rc, said);
}

/* --- its daemon ------------------------------------------------------------------------------- */

/* The daemon ends with this process, for whatever reason. */
static _Noreturn void become_daemon(const struct hil_scenario *s, pid_t parent)
{
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(1);
    hil_leave_loops_cores(s);
    setpriority(PRIO_PROCESS, 0, HIL_TRACING_NICE);
    close_range(3, ~0u, 0); /* HDF5 holds a lock on the recorder's file */
    if (!freopen("/dev/null", "r+", stdout) || !freopen("/dev/null", "r+", stderr))
        _exit(1);
    hil_signals_default();
    execlp("lttng-sessiond", "lttng-sessiond", (char *)NULL);
    _exit(errno == ENOENT ? 127 : 126);
}

static int explain_daemon(int status)
{
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
        fprintf(stderr, "trace: lttng-sessiond is not installed: sudo apt install lttng-tools\n");
    else
        fprintf(stderr, "trace: lttng-sessiond ended at once; run it by hand to see why\n");
    return -ENOPKG;
}

static int start_daemon(struct hil_session *s)
{
    pid_t self = getpid();
    int status;

    fflush(NULL);
    pid_t daemon = fork();
    if (daemon < 0)
        return -errno;
    if (daemon == 0)
        become_daemon(s->scenario, self);
    s->daemon = daemon; /* never a value that makes kill() signal many processes */
    for (int i = 0; i < PATIENCE; i++) {
        if (hil_reap(s->daemon, WNOHANG, &status)) {
            s->daemon = 0;
            return explain_daemon(status);
        }
        if (can("list"))
            return 0;
        nanosleep(&MOMENT, NULL);
    }
    fprintf(stderr, "trace: lttng-sessiond does not answer\n");
    return -ETIMEDOUT;
}

static int find_daemon(struct hil_session *s)
{
    char said[SAID];
    char *const ask[] = {"lttng", "--version", NULL};

    if (hil_tool_run(NULL, ask, LTTNG_S, said, sizeof said) == -ENOENT)
        return must("list"); /* which prints the reason */
    return can("list") ? 0 : start_daemon(s);
}

/* Others may use our session daemon. Our own session may still be listed while it is being
 * destroyed. */
static bool has_others(const struct hil_session *s, const char *sessions)
{
    char ours[80];

    snprintf(ours, sizeof ours, "<session><name>%s</name>", s->name);
    const char *first = strstr(sessions, "<session>");
    if (first && strncmp(first, ours, strlen(ours)) == 0)
        first = strstr(first + 1, "<session>");
    return first != NULL;
}

static void end_daemon(struct hil_session *s)
{
    char said[SAID];
    char *const ask[] = {"lttng", "--no-sessiond", "--mi", "xml", "list", NULL};
    int status;

    if (!s->daemon)
        return;
    if (hil_tool_run(NULL, ask, LTTNG_S, said, sizeof said) == 0 && has_others(s, said)) {
        fprintf(stderr, "trace: lttng-sessiond (process %d) keeps running: it has other sessions\n",
                (int)s->daemon);
        return;
    }
    kill(s->daemon, SIGTERM);
    for (int i = 0; i < (s->stuck ? PATIENCE / 10 : PATIENCE); i++) {
        if (hil_reap(s->daemon, WNOHANG, &status))
            return;
        nanosleep(&MOMENT, NULL);
    }
    /* the whole process group */
    kill(-s->daemon, SIGKILL);
    hil_reap(s->daemon, 0, &status);
}

static bool is_recent(const struct hil_session *s)
{
    return s->scenario->trace.keep == HIL_KEEP_RECENT;
}

/* --- the session ------------------------------------------------------------------------------ */

/* The LTTng names of the selected events, separated by commas. */
static void name_events(const struct hil_tracing_events *e, char *text, size_t size)
{
    const struct {
        bool chosen;
        const char *names;
    } all[] = {
        {e->step, "hiloco:loop_step,hiloco:loop_links"},
        {e->miss, "hiloco:loop_miss,hiloco:loop_left_out"},
        {e->push, "hiloco:push"},
        {e->pull, "hiloco:pull"},
        {e->fence, "hiloco:fence"},
        {e->lock, "hiloco:lock_acquire,hiloco:lock_release"},
        {e->state, "hiloco:event"},
        {e->barrier, "hiloco:barrier_enter,hiloco:barrier_leave"},
        {e->peer, "hiloco:peer_join,hiloco:peer_lost"},
    };
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (all[i].chosen && used < size)
            used +=
                (size_t)snprintf(text + used, size - used, "%s%s", used ? "," : "", all[i].names);
}

uint32_t hil_session_run(const char *place)
{
    char folder[PATH_MAX], whole[PATH_MAX];
    const char *name = strrchr(place, '/');
    uint32_t run = 2166136261; /* FNV-1a */

    name = name ? name : place;
    snprintf(folder, sizeof folder, "%.*s", (int)(name - place), place);
    if (!realpath(folder[0] ? folder : *place == '/' ? "/" : ".", whole))
        whole[0] = '\0';
    for (const char *c = whole; *c; c++)
        run = (run ^ (unsigned char)*c) * 16777619;
    for (const char *c = name + (*name == '/'); *c; c++)
        run = (run ^ (unsigned char)*c) * 16777619;
    return run;
}

/* --- its buffers ------------------------------------------------------------------------------ */

/* In all, if the scenario leaves it open; and of each core. */
enum {
    LOOPS_ALL_KIB = 262144,
    LOOPS_MOST_KIB = 65536,
    KERNEL_ALL_KIB = 131072,
    KERNEL_MOST_KIB = 8192
};

unsigned hil_session_buffer_kib(unsigned asked, unsigned most, unsigned all, unsigned cores)
{
    unsigned kib = most;

    if (asked)
        return asked;
    while (kib > 32 && (uint64_t)kib * cores > all)
        kib /= 2;
    return kib;
}

/* LTTng makes a buffer for each core that the machine may have. */
static unsigned core_count(void)
{
    const long count = sysconf(_SC_NPROCESSORS_CONF);

    return count > 0 ? (unsigned)count : 1;
}

static unsigned loops_kib(const struct hil_session *s)
{
    return hil_session_buffer_kib(s->scenario->trace.buffer_kib, LOOPS_MOST_KIB, LOOPS_ALL_KIB,
                                  core_count());
}

static unsigned kernel_kib(const struct hil_session *s)
{
    return hil_session_buffer_kib(s->scenario->trace.kernel_buffer_kib, KERNEL_MOST_KIB,
                                  KERNEL_ALL_KIB, core_count());
}

/* Number of sub-buffers: while one is written to disk the next one takes events. Both their number
 * and their size are powers of two. */
enum { PARTS = 8 };

enum { NAMES_BYTES = 65536 }; /* for changes of states */

static uint64_t part_bytes(uint64_t all)
{
    uint64_t bytes = 4096;

    while (bytes * PARTS < all)
        bytes *= 2;
    return bytes;
}

/* What the numbers in other events mean is said once. It has buffers of its own, which no other
 * event fills or overwrites. */
static int enable_names(const struct hil_session *s)
{
    const struct hil_system *system = s->scenario->system;
    const uint64_t of_nodes = system ? 256 * (uint64_t)system->node_count : 0;
    const uint64_t of_links = system ? 128 * (uint64_t)system->link_count : 0;
    int rc = must("enable-channel --userspace --session=%s --discard --num-subbuf=%d "
                  "--subbuf-size=%" PRIu64 " --read-timer=10000 --switch-timer=0 names",
                  s->name, PARTS, part_bytes(NAMES_BYTES + of_nodes + of_links));

    if (!rc)
        rc = must(
            "enable-event --userspace --session=%s --channel=names%s hiloco:node,hiloco:link%s",
            s->name, s->filter, s->scenario->trace.events.state ? ",hiloco:state" : "");
    return rc;
}

/*
 * With a read timer the daemon looks for full sub-buffers by itself. Without it, the traced program
 * would have to wake the daemon by a system call in the loop.
 */
static int enable_events(const struct hil_session *s)
{
    const struct hil_tracing_config *t = &s->scenario->trace;
    char events[512];
    int rc = must("enable-channel --userspace --session=%s --%s --num-subbuf=%d "
                  "--subbuf-size=%" PRIu64 " --read-timer=10000 --switch-timer=0 loops",
                  s->name, is_recent(s) ? "overwrite" : "discard", PARTS,
                  part_bytes((uint64_t)loops_kib(s) * 1024));

    name_events(&t->events, events, sizeof events);
    if (!rc)
        rc = must("enable-event --userspace --session=%s --channel=loops%s %s", s->name, s->filter,
                  events);
    return rc;
}

static bool use_kernel_modules(const struct hil_session *s)
{
    static const char events[] = "sched_switch,irq_handler_entry,irq_handler_exit,"
                                 "irq_softirq_entry,irq_softirq_exit";

    return geteuid() == 0 && can("list --kernel") &&
           can("enable-channel --kernel --session=%s --num-subbuf=%d --subbuf-size=%" PRIu64
               " kernel",
               s->name, PARTS, part_bytes((uint64_t)kernel_kib(s) * 1024)) &&
           can("enable-event --kernel --session=%s --channel=kernel %s", s->name, events);
}

/* The run continues without the kernel's events, and reports that. */
static void open_kernel(struct hil_session *s)
{
    if (!s->scenario->trace.kernel) {
        snprintf(s->kernel, sizeof s->kernel, "not asked for");
        return;
    }
    s->kernel_modules = use_kernel_modules(s);
    if (s->kernel_modules) {
        snprintf(s->kernel, sizeof s->kernel, "lttng-modules");
        return;
    }
    int rc = hil_tracefs_open(&s->tracefs, NULL, s->scenario->executors,
                              s->scenario->executor_count, kernel_kib(s));
    snprintf(s->kernel, sizeof s->kernel,
             rc ? "not traced: no lttng-modules, and tracefs: %s%s" : "tracefs", strerror(-rc),
             rc == -EPERM || rc == -EACCES ? " (run as root)" : "");
}

/* LTTng needs an absolute path, because its daemon has another working directory. */
static int create(struct hil_session *s)
{
    char said[SAID] = "", out[PATH_MAX], output[PATH_MAX + 20];
    char *const words[] = {"lttng", "--no-sessiond", "create",
                           s->name, output,          is_recent(s) ? "--snapshot" : NULL,
                           NULL};

    if (!realpath(s->out, out))
        return -errno;
    snprintf(output, sizeof output, "--output=%s/ctf", out);
    int rc = explain(hil_tool_run(NULL, words, LTTNG_S, said, sizeof said), said);
    s->created = rc == 0;
    return rc;
}

static int open_session(struct hil_session *s)
{
    int rc = find_daemon(s);

    if (!rc)
        rc = create(s);
    if (!rc)
        rc = enable_names(s);
    if (!rc)
        rc = enable_events(s);
    if (!rc)
        open_kernel(s);
    return rc;
}

bool hil_session_wanted(const struct hil_scenario *scenario)
{
    return scenario->trace.enable && scenario->mode == HIL_REALTIME;
}

int hil_session_open(struct hil_session **session, const struct hil_scenario *scenario,
                     const char *out, const char *place)
{
    struct hil_session *s = calloc(1, sizeof *s);

    if (!s)
        return -ENOMEM;
    s->scenario = scenario;
    s->out = out;
    s->tracefs = (struct hil_tracefs){.root = -1, .instance = -1};
    snprintf(s->name, sizeof s->name, "hiloco-%d", (int)getpid());
    if (place)
        snprintf(s->filter, sizeof s->filter, " --filter=run==%" PRIu32, hil_session_run(place));
    int rc = open_session(s);
    if (rc) {
        hil_session_close(s);
        return rc;
    }
    *session = s;
    return 0;
}

int hil_session_track(const struct hil_session *s, pid_t process)
{
    if (!s->tracks)
        return 0;
    return must("track --userspace --session=%s --vpid=%d", s->name, (int)process);
}

int hil_session_start(struct hil_session *s, const pid_t *processes, unsigned count)
{
    int rc = 0;

    s->tracks = count > 0;
    for (unsigned i = 0; !rc && i < count; i++)
        if (processes[i])
            rc = hil_session_track(s, processes[i]);
    if (!rc)
        rc = must("start %s", s->name);
    if (!rc && s->tracefs.root >= 0)
        rc = hil_tracefs_start(&s->tracefs);
    return rc;
}

/* LTTng counts lost events by channel. */
static uint64_t count_lost(const struct hil_session *s)
{
    static const char tag[] = "<discarded_events>";
    char said[65536];
    char *const ask[] = {"lttng", "--no-sessiond", "--mi", "xml", "list", (char *)s->name, NULL};
    uint64_t lost = 0;

    if (hil_tool_run(NULL, ask, LTTNG_S, said, sizeof said))
        return 0;
    for (const char *at = strstr(said, tag); at; at = strstr(at, tag)) {
        at += sizeof tag - 1;
        lost += strtoull(at, NULL, 10);
    }
    return lost;
}

/* Adds what the kernel's buffers have to the file. *lost: NULL, or set when it has stopped. */
static int save_tracefs(const struct hil_session *s, uint64_t *lost)
{
    char path[PATH_MAX];

    if (s->tracefs.root < 0)
        return 0;
    snprintf(path, sizeof path, "%s/kernel.txt", s->out);
    FILE *to = fopen(path, "ae");
    int rc = to ? 0 : -errno;
    if (to) {
        rc = lost ? hil_tracefs_stop(&s->tracefs, to, lost) : hil_tracefs_save(&s->tracefs, to);
        if (fclose(to) && !rc)
            rc = -errno;
    }
    if (rc)
        fprintf(stderr, "trace: %s: %s\n", path, strerror(-rc));
    return rc;
}

static int save_loops(const struct hil_session *s, const char *name)
{
    return must("snapshot record --session=%s --name=%s", s->name, name);
}

int hil_session_save(const struct hil_session *s, const char *name)
{
    const int rc = save_loops(s, name), kernel_rc = save_tracefs(s, NULL);

    return rc ? rc : kernel_rc;
}

/* Waits until everything is written. If a loop was killed in the middle of an event, this would
 * wait forever, so there is a time limit. */
static int stop(struct hil_session *s)
{
    const unsigned seconds = 10 + (loops_kib(s) >> 15); /* for 32 MiB/s */
    char said[SAID] = "";
    char *const words[] = {"lttng", "--no-sessiond", "stop", s->name, NULL};
    int rc = hil_tool_run(NULL, words, seconds, said, sizeof said);

    s->stuck = rc == -ETIMEDOUT;
    if (!s->stuck)
        return explain(rc, said);
    fprintf(stderr,
            "trace: not everything could be written within %u s: a loop was killed in the middle "
            "of an event\n",
            seconds);
    return rc;
}

/* LTTng reports lost events together with later events. If the buffers were full when the session
 * was stopped, there are no later events for the last losses. But an empty sub-buffer, which is
 * possible now that everything was read, reports them too. */
static int count_the_last(struct hil_session *s)
{
    int rc = must("start %s", s->name);

    return rc ? rc : stop(s);
}

int hil_session_stop(struct hil_session *s, struct hil_traced *traced)
{
    *traced = (struct hil_traced){0};
    snprintf(traced->kernel, sizeof traced->kernel, "%s", s->kernel);
    traced->recent = is_recent(s);
    int kernel_rc = save_tracefs(s, &traced->kernel_lost);
    int rc = stop(s);
    if (!rc)
        rc = is_recent(s) ? save_loops(s, "end") : count_the_last(s);
    traced->lost = count_lost(s);
    return rc ? rc : kernel_rc;
}

/* Waits, because the daemon writes the rest of the metadata, but with a time limit like stop(). */
static void destroy(struct hil_session *s)
{
    char said[SAID] = "";
    char *const words[] = {
        "lttng", "--no-sessiond", "destroy", s->name, s->stuck ? "--no-wait" : NULL, NULL};
    int rc = hil_tool_run(NULL, words, DESTROY_S, said, sizeof said);

    s->stuck |= rc == -ETIMEDOUT;
    if (rc != -ETIMEDOUT)
        explain(rc, said);
}

void hil_session_close(struct hil_session *s)
{
    if (!s)
        return;
    hil_tracefs_close(&s->tracefs);
    if (s->created)
        destroy(s);
    end_daemon(s);
    free(s);
}
