#include "beside.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "ending.h"
#include "json.h"
#include "passes.h"
#include "rows.h"

static const char ready[] = "ready\n";

/* --- the process that answers ----------------------------------------------------------------- */

struct server {
    const struct bench_options *options;
    FILE *names, *answers;
};

static void answer(const struct server *s, const char *name)
{
    static struct result result;
    const struct benchmark *b = rows_find(name);

    result = (struct result){.benchmark = {.name = name, .unit = ""}};
    if (b) {
        result.benchmark = *b;
        passes_run(&result, s->options);
    } else {
        result_skip(&result, false, "there is no such benchmark");
    }
    json_t *j = json_of_result(&result);
    json_dumpf(j, s->answers, JSON_COMPACT);
    fputs("\n", s->answers);
    fflush(s->answers);
    json_decref(j);
}

static int serve(void *arg)
{
    const struct server *s = arg;
    char name[256];

    fputs(ready, s->answers);
    fflush(s->answers);
    while (fgets(name, sizeof name, s->names)) {
        name[strcspn(name, "\n")] = '\0';
        answer(s, name);
    }
    return 0;
}

/* The pipes are of this process alone, and what benchmarks print does not get into the answers. */
int beside_serve(const struct bench_options *o)
{
    struct server s = {o, fdopen(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3), "r"),
                       fdopen(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3), "w")};

    if (!s.names || !s.answers || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        return 1;
    return ending_run(serve, NULL, &s) ? 1 : 0;
}

/* --- the process that asks -------------------------------------------------------------------- */

struct build {
    FILE *names, *answers;
};

enum { OURS, THEIRS, BUILDS };

static struct build builds[BUILDS];

static void become_server(const char *program, const struct bench_options *o, const int names[2],
                          const int answers[2])
{
    char seconds[32], accounts[32], keys[32];

    snprintf(seconds, sizeof seconds, "%g", o->seconds);
    snprintf(accounts, sizeof accounts, "%llu", (unsigned long long)o->accounts);
    snprintf(keys, sizeof keys, "%llu", (unsigned long long)o->keys);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    signal(SIGPIPE, SIG_DFL);
    if (dup2(names[0], STDIN_FILENO) < 0 || dup2(answers[1], STDOUT_FILENO) < 0)
        _exit(127);
    execl(program, program, "--serve", "--seconds", seconds, "--accounts", accounts, "--keys", keys,
          "--configs", o->configs, NULL);
    _exit(127);
}

static int start(struct build *b, const char *program, const struct bench_options *o)
{
    int names[2], answers[2];
    char line[sizeof ready];

    if (pipe2(names, O_CLOEXEC) || pipe2(answers, O_CLOEXEC))
        return -errno;
    fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0)
        become_server(program, o, names, answers);
    close(names[0]);
    close(answers[1]);
    b->names = fdopen(names[1], "w");
    b->answers = fdopen(answers[0], "r");
    if (pid > 0 && b->names && b->answers && fgets(line, sizeof line, b->answers) &&
        strcmp(line, ready) == 0)
        return 0;
    fprintf(stderr, "bench: %s does not answer: it is no build of this program, or one too old\n",
            program);
    return -EPROTO;
}

int beside_open(const struct bench_options *o)
{
    signal(SIGPIPE, SIG_IGN); /* whoever has died does not answer */
    const int rc = start(&builds[OURS], "/proc/self/exe", o);

    return rc ? rc : start(&builds[THEIRS], o->beside, o);
}

/* Returns -ENODATA if it has no result, and says on stderr why. */
static int ask(const struct build *b, const char *name, double *value, double *left_out)
{
    const char *why = "it has ended";
    json_t *j = NULL;

    fprintf(b->names, "%s\n", name);
    if (!fflush(b->names))
        j = json_loadf(b->answers, JSON_DISABLE_EOF_CHECK, NULL);
    json_unpack(j, "{s?F, s?s}", "left_out", left_out, "skipped", &why);
    const int rc = json_unpack(j, "{s:F}", "value", value) ? -ENODATA : 0;
    if (rc)
        fprintf(stderr, "bench: %s of %s: %s\n", name,
                b == &builds[OURS] ? "this build" : "the other build", why);
    json_decref(j);
    return rc;
}

/* Which one comes first is drawn. */
static int measure_both(const struct benchmark *self, const struct bench_options *o,
                        struct bench_sample *sample)
{
    static uint64_t random = 88172645463325252u;
    double *const values[BUILDS] = {&sample->value, &sample->against}, left_out[BUILDS] = {0};
    const unsigned first = (unsigned)(bench_random(&random) >> 63);
    int rc[BUILDS];

    (void)o;
    for (unsigned i = 0; i < BUILDS; i++) {
        const unsigned build = i ^ first;
        rc[build] = ask(&builds[build], self->name, values[build], &left_out[build]);
    }
    if (rc[THEIRS])
        sample->absent = "no result";
    sample->left_out = left_out[left_out[THEIRS] > left_out[OURS]];
    return rc[OURS];
}

void beside_describe(struct benchmark *b, const struct bench_options *o)
{
    b->against = o->beside;
    b->target_ratio = 0;
    b->cores = 0;
    b->measure = measure_both;
}
