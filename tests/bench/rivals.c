#include "rivals.h"

#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "hiloco.h"
#include "tests/temporary.h"

/* Two builds are measured without rivals. */
static bool is_left_out(const struct bench_options *o, struct bench_sample *sample)
{
    if (o->serve)
        sample->absent = "not measured";
    return o->serve;
}

static void sleep_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

/* Gets the last line that a command prints. (system() would not let a signal end this program
 * meanwhile.) Returns -EIO when the command fails. */
static int last_line(const char *command, char *line, int size)
{
    FILE *f = popen(command, "r");

    if (!f)
        return -errno;
    line[0] = '\0';
    while (fgets(line, size, f))
        ;
    return pclose(f) == 0 ? 0 : -EIO;
}

static bool is_in_path(const char *program)
{
    char command[128], unused[256];

    snprintf(command, sizeof command, "command -v %s", program);
    return last_line(command, unused, sizeof unused) == 0;
}

/* --- OpenMPI -------------------------------------------------------------------------------- */

/* rivals/`program`, beside this one. */
static void path_of(const char *program, char *path, size_t size)
{
    char self[256];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);

    self[length < 0 ? 0 : length] = '\0';
    char *slash = strrchr(self, '/');
    if (slash)
        *slash = '\0';
    snprintf(path, size, "%s/rivals/%s", self, program);
}

static int parse_numbers(const char *line, double *numbers, unsigned count)
{
    char *end;

    for (unsigned i = 0; i < count; i++, line = end) {
        numbers[i] = strtod(line, &end);
        if (end == line)
            return -EIO;
    }
    return 0;
}

int rival_mpi(const struct bench_options *o, struct bench_sample *sample, unsigned ranks,
              double *numbers, unsigned count, const char *program, const char *arguments, ...)
{
    char path[320], text[128], command[640], line[128];
    va_list list;

    if (is_left_out(o, sample))
        return 0;
    path_of(program, path, sizeof path);
    if (access(path, X_OK) || !is_in_path("mpirun")) {
        sample->absent = "not installed";
        return 0;
    }
    va_start(list, arguments);
    vsnprintf(text, sizeof text, arguments, list);
    va_end(list);
    snprintf(command, sizeof command,
             "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout 60"
             " mpirun -n %u --oversubscribe --bind-to none '%s' %s 2>/dev/null",
             ranks, path, text);
    int rc = last_line(command, line, sizeof line);
    return rc ? rc : parse_numbers(line, numbers, count);
}

/* --- perftest ------------------------------------------------------------------------------- */

int rival_perftest(const struct bench_options *o, struct bench_sample *sample, double *number,
                   unsigned column, const char *program, const char *arguments, ...)
{
    char text[128], command[320], line[128];
    va_list list;

    if (is_left_out(o, sample))
        return 0;
    if (!is_in_path(program)) {
        sample->absent = "not installed";
        return 0;
    }
    va_start(list, arguments);
    vsnprintf(text, sizeof text, arguments, list);
    va_end(list);
    snprintf(command, sizeof command, "tests/bench/rivals/perftest.sh %u %d %d %s %s", column,
             o->cpus[0], o->cpus[1], program, text);
    int rc = last_line(command, line, sizeof line);
    return rc ? rc : parse_numbers(line, number, 1);
}

/* --- Redis: the servers --------------------------------------------------------------------- */

enum { MASTERS = 2, SLOTS = 16384, BUS = 10000 /* above a port: the cluster's own */ };

static struct {
    bool tried;
    int error;
    char directory[TEMPORARY_SIZE];
    pid_t pids[MASTERS];
    int port; /* the first master's; the others follow */
} redis;

static void stop_redis(void)
{
    for (int i = 0; i < MASTERS; i++) {
        if (redis.pids[i] <= 0)
            continue;
        kill(redis.pids[i], SIGTERM);
        waitpid(redis.pids[i], NULL, 0);
    }
    bench_remove(redis.directory);
}

static bool is_free(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int s = socket(AF_INET, SOCK_STREAM, 0);
    bool ok = bind(s, (struct sockaddr *)&address, sizeof address) == 0;

    close(s);
    return ok;
}

static int find_ports(void)
{
    for (int port = 20000 + getpid() % 10000; port < 50000; port += MASTERS) {
        bool ok = true;
        for (int i = 0; i < MASTERS; i++)
            ok = ok && is_free(port + i) && is_free(port + i + BUS);
        if (ok)
            return port;
    }
    return -EADDRINUSE;
}

static void become_master(int i)
{
    char port[16], nodes[16];

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (chdir(redis.directory) || !freopen("/dev/null", "w", stdout))
        _exit(1);
    snprintf(port, sizeof port, "%d", redis.port + i);
    snprintf(nodes, sizeof nodes, "nodes-%d", i);
    execlp("redis-server", "redis-server", "--port", port, "--bind", "127.0.0.1", "--save", "",
           "--appendonly", "no", "--cluster-enabled", "yes", "--cluster-config-file", nodes, NULL);
    _exit(1);
}

/* Runs redis-cli until it answers with `expected`. */
static int ask(int i, const char *request, const char *expected)
{
    char command[160], unused[256];

    snprintf(command, sizeof command, "redis-cli -p %d %s 2>/dev/null | grep '%s'", redis.port + i,
             request, expected);
    for (int tries = 0; tries < 200; tries++) {
        if (last_line(command, unused, sizeof unused) == 0)
            return 0;
        sleep_ms(50);
    }
    return -ETIMEDOUT;
}

static int join_masters(void)
{
    char request[64];
    int rc = 0;

    for (int i = 0; !rc && i < MASTERS; i++) {
        rc = ask(i, "ping", "PONG");
        snprintf(request, sizeof request, "cluster addslotsrange %d %d", SLOTS / MASTERS * i,
                 SLOTS / MASTERS * (i + 1) - 1);
        if (!rc)
            rc = ask(i, request, "OK");
    }
    for (int i = 1; !rc && i < MASTERS; i++) {
        snprintf(request, sizeof request, "cluster meet 127.0.0.1 %d", redis.port);
        rc = ask(i, request, "OK");
    }
    for (int i = 0; !rc && i < MASTERS; i++)
        rc = ask(i, "cluster info", "cluster_state:ok");
    return rc;
}

/* --- Redis: its load ------------------------------------------------------------------------ */

/* The keys for each master have a tag in braces whose hash is one of that master's slots. */
static const char *const tags[MASTERS] = {"loco-0", "loco-2"};

static unsigned long long keys_each(const struct bench_options *o)
{
    return o->keys * 4 / 5 / MASTERS;
}

/* Runs one redis-benchmark for each master, all at the same time. In its cluster mode a run would
 * last for multiples of a quarter of a second. */
static int load_redis(const struct bench_options *o, const char *act, unsigned window,
                      double requests, double *per_second)
{
    char command[1024], line[256];
    int used = 0;

    for (int i = 0; i < MASTERS; i++)
        used +=
            snprintf(command + used, sizeof command - (size_t)used,
                     "redis-benchmark -p %d -r %llu -P %u -n %.0f --csv %s 'key:{%s}:__rand_int__'"
                     " %s 2>/dev/null | tail -n 1 & ",
                     redis.port + i, keys_each(o), window, requests / MASTERS, act, tags[i],
                     act[0] == 's' ? "12345678" : "");
    FILE *f = popen(strcat(command, "wait"), "r");
    if (!f)
        return -errno;
    int lines = 0;
    *per_second = 0;
    while (fgets(line, sizeof line, f)) { /* "get key:...","123456.78",... */
        char *rate = strstr(line, "\",\"");
        if (rate && ++lines)
            *per_second += strtod(rate + 3, NULL);
    }
    return pclose(f) == 0 && lines == MASTERS && *per_second > 0 ? 0 : -EIO;
}

/* Sets the keys that redis-benchmark draws from. The server runs a script at once, so each sets
 * only some: it must answer the other server in time. */
static int fill_master(const struct bench_options *o, int i)
{
    enum { SOME = 50000 };
    const unsigned long long count = keys_each(o);
    char command[512], line[64];
    int rc = 0;

    for (unsigned long long from = 0; !rc && from < count; from += SOME) {
        snprintf(command, sizeof command,
                 "redis-cli -p %d eval \"for i = %llu, %llu do redis.call('set',"
                 " string.format('key:{%s}:%%012d', i), '12345678') end return 'filled'\" 0",
                 redis.port + i, from, (from + SOME < count ? from + SOME : count) - 1, tags[i]);
        rc = last_line(command, line, sizeof line);
        if (!rc && strcmp(line, "filled\n") != 0)
            rc = -EIO;
    }
    return rc;
}

static int start_redis(const struct bench_options *o)
{
    if (!temporary_folder(redis.directory))
        return -errno;
    atexit(stop_redis);
    redis.port = find_ports();
    if (redis.port < 0)
        return redis.port;
    for (int i = 0; i < MASTERS; i++) {
        redis.pids[i] = fork();
        if (redis.pids[i] == 0)
            become_master(i);
    }
    int rc = join_masters();
    for (int i = 0; !rc && i < MASTERS; i++)
        rc = fill_master(o, i);
    return rc;
}

/* Measures for about as long as a run. */
static int load_for(const struct bench_options *o, const char *act, unsigned window, double seconds,
                    double *per_second)
{
    static double guesses[2][2] = {{1.5e5, 1.5e5}, {1.5e6, 1.5e6}};
    double *guess = &guesses[window > 16][act[0] == 's'];
    int rc = load_redis(o, act, window, *guess * seconds + 1000, per_second);

    if (!rc)
        *guess = *per_second;
    return rc;
}

int rival_redis(const struct bench_options *o, struct bench_sample *sample, unsigned window,
                double writes, double *per_second)
{
    double gets = 1, sets = 1;
    int rc = 0;

    if (is_left_out(o, sample))
        return 0;
    if (!is_in_path("redis-server") || !is_in_path("redis-benchmark")) {
        sample->absent = "not installed";
        return 0;
    }
    if (!redis.tried) {
        const uint64_t begin = bench_now();
        redis.error = start_redis(o);
        sample->set_up_s += (double)(bench_now() - begin) * 1e-9;
    }
    redis.tried = true;
    if (redis.error)
        return redis.error;
    if (writes < 1)
        rc = load_for(o, "get", window, o->seconds * (1 - writes), &gets);
    if (!rc && writes > 0)
        rc = load_for(o, "set", window, o->seconds * writes, &sets);
    *per_second = 1 / (writes / sets + (1 - writes) / gets);
    return rc;
}
