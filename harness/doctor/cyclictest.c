#include "cyclictest.h"

#include "../base/reap.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* us: its wake-up interval, and the longest latency that its histogram counts separately */
enum { INTERVAL_US = 200, HISTOGRAM_US = 20000, NOT_INSTALLED = 127, PATIENCE_MS = 20000 };

static void become_cyclictest(int cpu, int priority, unsigned ms)
{
    char on[24], at[24], loops[24], interval[24], histogram[24];
    char *arguments[20] = {"cyclictest", "-q", "-m", "-t1", interval, loops, histogram};
    unsigned n = 7;

    snprintf(interval, sizeof interval, "-i%d", INTERVAL_US);
    snprintf(loops, sizeof loops, "-l%u", ms * 1000 / INTERVAL_US);
    snprintf(histogram, sizeof histogram, "-h%d", HISTOGRAM_US);
    snprintf(on, sizeof on, "-a%d", cpu);
    snprintf(at, sizeof at, "-p%d", priority);
    if (cpu >= 0)
        arguments[n++] = on;
    arguments[n] = priority > 0 ? at : "--policy=other";
    hil_signals_default();
    execvp(arguments[0], arguments);
    _exit(NOT_INSTALLED);
}

int hil_cyclictest_begin(struct hil_cyclictest *c, int cpu, int priority, unsigned ms)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC))
        return -errno;
    c->pid = fork();
    if (c->pid == 0) {
        int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(nowhere, STDIN_FILENO);
        dup2(ends[1], STDERR_FILENO);
        dup2(ends[1], STDOUT_FILENO);
        become_cyclictest(cpu, priority, ms);
    }
    int rc = c->pid < 0 ? -errno : 0;
    close(ends[1]);
    c->out = ends[0];
    if (rc)
        close(c->out);
    return rc;
}

/* Reads all its output until it closes the pipe; NULL if that takes too long. */
static char *read_output(int file)
{
    struct pollfd readable = {.fd = file, .events = POLLIN};
    size_t used = 0, room = 1 << 16;
    char *text = malloc(room);
    ssize_t n = 1;

    while (text && n > 0 && poll(&readable, 1, PATIENCE_MS) > 0) {
        n = read(file, text + used, room - used - 1);
        used += n > 0 ? (size_t)n : 0;
        if (room - used > 1)
            continue;
        char *more = realloc(text, room *= 2);
        if (!more)
            break;
        text = more;
    }
    if (text)
        text[used] = '\0';
    if (text && n == 0)
        return text;
    free(text);
    return NULL;
}

/* Adds `count` equal gaps at once. */
static void add_many(struct hil_gaps *seen, uint64_t ns, unsigned long count)
{
    while (count-- > 0)
        hil_gaps_add(seen, ns);
}

int hil_cyclictest_read(const char *text, struct hil_gaps *seen)
{
    const char *max = strstr(text, "# Max Latencies:"), *more = strstr(text, "Overflows:");
    unsigned long us, count, largest;

    if (!max || !more || sscanf(max, "# Max Latencies: %lu", &largest) != 1)
        return -EIO;
    for (const char *line = text; line < max; line = strchr(line, '\n') + 1)
        if (sscanf(line, "%lu %lu", &us, &count) == 2)
            add_many(seen, us * 1000 + 1, count); /* it rounds down to whole us */
    if (sscanf(more, "Overflows: %lu", &count) == 1 && count > 0) {
        add_many(seen, HISTOGRAM_US * 1000ull + 1, count - 1);
        hil_gaps_add(seen, largest * 1000 + 1);
    }
    return 0;
}

/* Whether a line is part of its histogram, a comment, or empty. */
static bool is_of_histogram(const char *line)
{
    unsigned long us, count;

    return *line == '#' || *line == '\n' || sscanf(line, "%lu %lu", &us, &count) == 2;
}

/* Its first output that is not part of the histogram; without any, its exit status. */
static void explain(const char *text, int status, char why[HIL_CYCLICTEST_WHY_BYTES])
{
    while (text && *text && is_of_histogram(text)) {
        text = strchr(text, '\n');
        text += text != NULL;
    }
    if (text && *text)
        snprintf(why, HIL_CYCLICTEST_WHY_BYTES, "%.*s", (int)strcspn(text, "\n"), text);
    else if (WIFSIGNALED(status))
        snprintf(why, HIL_CYCLICTEST_WHY_BYTES, "killed: %s", strsignal(WTERMSIG(status)));
    else
        snprintf(why, HIL_CYCLICTEST_WHY_BYTES, "exit status %d, and no histogram",
                 WEXITSTATUS(status));
}

int hil_cyclictest_end(struct hil_cyclictest *c, struct hil_gaps *seen,
                       char why[HIL_CYCLICTEST_WHY_BYTES])
{
    char *text = read_output(c->out);
    int status = 0, rc = -EIO;

    if (!text)
        kill(c->pid, SIGKILL);
    close(c->out);
    hil_reap(c->pid, 0, &status);
    if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_INSTALLED)
        rc = -ENOENT;
    else if (text && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        rc = hil_cyclictest_read(text, seen);
    if (!text)
        snprintf(why, HIL_CYCLICTEST_WHY_BYTES, "no end after %d s", PATIENCE_MS / 1000);
    else if (rc == -EIO)
        explain(text, status, why);
    free(text);
    return rc;
}
