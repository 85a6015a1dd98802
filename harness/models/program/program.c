#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "../../base/foreign.h"
#include "../provider/native.h"
#include "child.h"
#include "program_tables.h"

static const char program_prefix[] = "program:";

/* The longest number in a line. */
enum { PROGRAM_NUMBER_BYTES = 26 };

struct program {
    struct hil_model model; /* first member: a component finds it by this */
    struct hil_program_tables tables;
    char **argv;
    char *folder;             /* of its file; names of files are relative to it */
    double start_s, answer_s; /* longest time to start, and to answer */
};

/* --- a component ------------------------------------------------------------------------------ */

struct running {
    const struct program *program;
    struct hil_child *child;
    hil_log_fn *log;
    void *log_arg;
    char *line; /* the line to send */
    bool real_time;
    bool asked;        /* an answer has not come yet */
    uint64_t asked_ns; /* time of the question */
    double *newest;    /* outputs of the newest answer */
};

__attribute__((format(printf, 3, 4))) static int running_fails(const struct running *r, int rc,
                                                               const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    r->log(r->log_arg, text);
    return rc;
}

static int running_lost(const struct running *r, int rc)
{
    char text[80];

    if (rc != -EPIPE)
        return running_fails(r, rc, "%s", rc == -EMSGSIZE ? "its line is too long" : strerror(-rc));
    hil_child_ended(r->child, text, sizeof text);
    return running_fails(r, rc, "%s", text);
}

/* Appends numbers to a line, without loss. */
static char *running_add(char *to, const double *values, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        to += snprintf(to, PROGRAM_NUMBER_BYTES, " %.17g", values[i]);
    return to;
}

static int running_send(const struct running *r, char *end)
{
    *end++ = '\n';
    const int rc = hil_child_send(r->child, r->line, (size_t)(end - r->line));
    return rc ? running_lost(r, rc) : 0;
}

/* Whether the line consists of exactly this many numbers. */
static bool running_numbers(const char *line, double *out, unsigned count)
{
    char *end;

    for (unsigned i = 0; i < count; i++, line = end) {
        out[i] = strtod(line, &end);
        if (end == line)
            return false;
    }
    return line[strspn(line, " \t\r")] == '\0';
}

static int running_read(const struct running *r, const char *line, double *out)
{
    const unsigned count = r->program->model.outputs.count;
    char shown[200];

    if (running_numbers(line, out, count))
        return 0;
    hil_foreign_text(shown, sizeof shown, line, strlen(line));
    if (strncmp(line, "error ", 6) == 0)
        return running_fails(r, -EIO, "%s", shown + 6);
    return running_fails(r, -EPROTO, "it answers '%.60s'; allowed: %u number%s", shown, count,
                         count == 1 ? "" : "s");
}

static int running_wait(const struct running *r, double *out)
{
    char *line;
    const int rc = hil_child_line(r->child, &line, -1);

    return rc ? running_lost(r, rc) : running_read(r, line, out);
}

static char *running_step_line(const struct running *r, uint64_t t_ns, const double *in)
{
    char *at = r->line + sprintf(r->line, "step %llu", (unsigned long long)t_ns);

    return running_add(at, in, r->program->model.inputs.count);
}

/* In real time a step does not wait: it uses the newest answer, and asks again once an answer has
 * come. */
static int running_step_now(struct running *r, uint64_t t_ns, const double *in, double *out)
{
    const unsigned count = r->program->model.outputs.count;
    char *line;
    int rc = r->asked ? hil_child_line(r->child, &line, 0) : 0;

    if (rc && rc != -ETIMEDOUT)
        return running_lost(r, rc);
    if (r->asked && !rc) {
        rc = running_read(r, line, r->newest);
        r->asked = false;
    }
    if (!r->asked && !rc) {
        rc = running_send(r, running_step_line(r, t_ns, in));
        r->asked_ns = t_ns;
        r->asked = true;
    }
    if (rc && rc != -ETIMEDOUT)
        return rc;
    memcpy(out, r->newest, count * sizeof *out);
    if ((double)(t_ns - r->asked_ns) * 1e-9 <= r->program->answer_s)
        return 0;
    return running_fails(r, -ETIMEDOUT, "it has not answered for %g s", r->program->answer_s);
}

static int program_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    struct running *r = self;

    if (r->real_time)
        return running_step_now(r, t_ns, in, out);
    const int rc = running_send(r, running_step_line(r, t_ns, in));
    return rc ? rc : running_wait(r, out);
}

static int program_output(const void *self, const double *in, double *out)
{
    const struct running *r = self;
    char *at = r->line + sprintf(r->line, "output");
    int rc = running_send(r, running_add(at, in, r->program->model.inputs.count));

    if (!rc)
        rc = running_wait(r, out);
    if (!rc)
        memcpy(r->newest, out, r->program->model.outputs.count * sizeof *out);
    return rc;
}

static void program_destroy(void *self)
{
    struct running *r = self;

    if (r->child)
        hil_child_stop(r->child);
    free(r->line);
    free(r->newest);
    free(r);
}

/* The program first repeats its tables, which must be the same as before. */
static int running_greet(const struct running *r, int milliseconds)
{
    struct hil_program_tables *tables = calloc(1, sizeof *tables);
    char wrong[256], *line;
    int rc = tables ? 0 : -ENOMEM;

    while (!rc && !tables->complete) {
        rc = hil_child_line(r->child, &line, milliseconds);
        if (!rc &&
            hil_program_tables_take(tables, line, &(struct hil_said){wrong, sizeof wrong, NULL}))
            rc = running_fails(r, -EPROTO, "%s", wrong);
        else if (rc)
            running_lost(r, rc);
    }
    if (tables)
        hil_program_tables_free(tables);
    free(tables);
    return rc;
}

/* Sends the component's values, and gets the program's agreement. */
static int running_make(const struct running *r, const struct hil_config *config)
{
    const struct hil_model *m = &r->program->model;
    char *at = r->line + sprintf(r->line, "create %.17g", config->period_s), shown[200], *line;

    at = running_add(at, config->parameters, m->parameters.count);
    at = running_add(at, config->states, m->states.count);
    int rc = running_send(r, at);
    if (!rc) {
        rc = hil_child_line(r->child, &line, -1);
        if (rc)
            running_lost(r, rc);
    }
    if (rc || strcmp(line, "ok") == 0)
        return rc;
    hil_foreign_text(shown, sizeof shown, line, strlen(line));
    if (strncmp(line, "error ", 6) == 0)
        return running_fails(r, -EDOM, "%s", shown + 6);
    return running_fails(r, -EPROTO, "it answers '%.60s'; allowed: ok, or error TEXT", shown);
}

static int program_create(void **self, const struct hil_config *config)
{
    const struct program *p = (const struct program *)config->model;
    const unsigned numbers =
        p->model.parameters.count + p->model.states.count + p->model.inputs.count + 4;
    struct running *r = calloc(1, sizeof *r);

    if (!r)
        return -ENOMEM;
    *r = (struct running){.program = p,
                          .log = config->log,
                          .log_arg = config->log_arg,
                          .line = malloc(numbers * PROGRAM_NUMBER_BYTES),
                          .newest = calloc(p->model.outputs.count + 1, sizeof *r->newest),
                          .real_time = config->real_time};
    int rc = r->line && r->newest ? hil_child_start(&r->child, p->argv, p->folder) : -ENOMEM;
    if (rc)
        running_fails(r, rc, "it cannot be started (%s)", strerror(-rc));
    else
        rc = running_greet(r, -1);
    if (!rc)
        rc = running_make(r, config);
    for (unsigned i = 0; !rc && i < p->model.outputs.count; i++)
        r->newest[i] = p->model.outputs.at[i].value;
    if (rc)
        program_destroy(r);
    else
        *self = r;
    return rc;
}

/* --- the model -------------------------------------------------------------------------------- */

static struct hil_quantities program_table(const struct hil_program_tables *tables,
                                           enum hil_program_table which)
{
    return (struct hil_quantities){tables->rows[which], tables->counts[which],
                                   sizeof tables->rows[which][0]};
}

static void program_describe(struct program *p)
{
    const struct hil_program_tables *t = &p->tables;

    p->model = (struct hil_model){
        .abi = HIL_MODEL_ABI,
        .size = sizeof p->model,
        .name = t->name,
        .doc = t->doc,
        .kind = t->kind,
        .width_max = 1,
        .parameters = program_table(t, HIL_PROGRAM_PARAMETERS),
        .inputs = program_table(t, HIL_PROGRAM_INPUTS),
        .outputs = program_table(t, HIL_PROGRAM_OUTPUTS),
        .states = program_table(t, HIL_PROGRAM_STATES),
        .create = program_create,
        .output = t->kind == HIL_CONTINUOUS ? program_output : NULL,
        .step = program_step,
        .destroy = program_destroy,
    };
}

/* Starts the program to get its tables, whose text is hashed, too. */
static int program_ask(struct program *p, uint64_t *hash, const struct hil_said *said)
{
    struct hil_child *child;
    char *line, ended[80];
    int rc = hil_child_start(&child, p->argv, p->folder);

    if (rc)
        return hil_say(said, rc,
                       "it cannot be started (%s); allowed: a program, such as a script "
                       "with #! that is executable",
                       strerror(-rc));
    while (!rc && !p->tables.complete) {
        rc = hil_child_line(child, &line, (int)(p->start_s * 1e3));
        if (!rc) {
            *hash = XXH3_64bits_withSeed(line, strlen(line), *hash);
            rc = hil_program_tables_take(&p->tables, line, said);
            continue;
        }
        if (rc == -EPIPE) {
            hil_child_ended(child, ended, sizeof ended);
            hil_say(said, rc,
                    "it did not send its tables: %s; allowed: tables, which end with ready "
                    "(docs/writing-a-program.md)",
                    ended);
        } else if (rc == -ETIMEDOUT) {
            hil_say(said, rc,
                    "it did not send its tables within %g s; allowed: tables, which end with "
                    "ready, or more time (settings.start_s)",
                    p->start_s);
        } else {
            hil_say(said, rc, "it did not send its tables: %s", strerror(-rc));
        }
    }
    hil_child_stop(child);
    return rc;
}

static int program_hash(const char *file, uint64_t *hash, const struct hil_said *said)
{
    const int opened = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (opened < 0)
        return hil_say(said, -errno, "it cannot be opened (%s); allowed: a file that can",
                       strerror(errno));
    int rc = hil_model_file_hash(opened, hash, said);
    close(opened);
    return rc;
}

static int program_time(const struct hil_setting *setting, double *time_s,
                        const struct hil_said *said)
{
    char *end;

    *time_s = strtod(setting->text, &end);
    if (end != setting->text && *end == '\0' && *time_s > 0 && *time_s <= 1e6)
        return 0;
    return hil_say(said, -EINVAL, "its setting %s is '%.40s'; allowed: a time, above 0 to 1e6 s",
                   setting->key, setting->text);
}

static bool program_is_argument(const char *key)
{
    return strcmp(key, "args") == 0 || strncmp(key, "args.", 5) == 0;
}

static int program_settings(struct program *p, const struct hil_settings *settings,
                            const struct hil_said *said)
{
    int rc = 0;

    p->start_s = 10;
    p->answer_s = 1;
    for (unsigned i = 0; !rc && i < settings->count; i++) {
        const struct hil_setting *s = &settings->at[i];
        if (strcmp(s->key, "start_s") == 0)
            rc = program_time(s, &p->start_s, said);
        else if (strcmp(s->key, "answer_s") == 0)
            rc = program_time(s, &p->answer_s, said);
        else if (!program_is_argument(s->key))
            rc = hil_say(said, -EINVAL, "%s is no setting of it; allowed: args, start_s, answer_s",
                         s->key);
    }
    return rc;
}

static void program_arguments_free(char **argv)
{
    for (char **arg = argv; arg && *arg; arg++)
        free(*arg);
    free(argv);
}

static void program_free(struct program *p)
{
    program_arguments_free(p->argv);
    free(p->folder);
    hil_program_tables_free(&p->tables);
    free(p);
}

char **hil_program_arguments(const char *const *words, unsigned count,
                             const struct hil_settings *settings)
{
    char **argv = calloc(count + settings->count + 1, sizeof *argv);
    unsigned used = 0;
    bool complete = argv != NULL;

    for (unsigned i = 0; complete && i < count; i++)
        complete = (argv[used++] = strdup(words[i])) != NULL;
    for (unsigned i = 0; complete && i < settings->count; i++)
        if (program_is_argument(settings->at[i].key))
            complete = (argv[used++] = strdup(settings->at[i].text)) != NULL;
    if (complete)
        return argv;
    program_arguments_free(argv);
    return NULL;
}

int hil_program_load(struct hil_loaded *made, char **argv, const char *file,
                     const struct hil_said *said)
{
    struct program *p = calloc(1, sizeof *p);

    if (!p)
        return hil_say_no_memory(said);
    p->argv = argv;
    p->folder = strndup(file, (size_t)(strrchr(file, '/') + 1 - file)); /* `file` is a full path */
    int rc = p->folder ? program_settings(p, &made->settings, said) : hil_say_no_memory(said);
    if (!rc)
        rc = program_hash(file, &made->hash, said);
    if (!rc)
        rc = program_ask(p, &made->hash, said);
    if (rc) {
        program_free(p);
        return rc;
    }
    program_describe(p);
    made->model = &p->model;
    made->own = p;
    return 0;
}

void hil_program_unload(struct hil_loaded *made)
{
    program_free(made->own);
}

/* --- the provider ----------------------------------------------------------------------------- */

static bool program_takes(const char *name)
{
    return strncmp(name, program_prefix, strlen(program_prefix)) == 0;
}

static int program_locate(char **whole, const char *name, const char *folder,
                          const struct hil_said *said)
{
    char *path;
    int rc = hil_model_file(&path, name + strlen(program_prefix), folder, said);

    if (rc)
        return rc;
    if (asprintf(whole, "%s%s", program_prefix, path) < 0)
        rc = hil_say_no_memory(said);
    free(path);
    return rc;
}

static int program_load(struct hil_loaded *made, const struct hil_said *said)
{
    const char *path = made->name + strlen(program_prefix);
    char **argv = hil_program_arguments(&path, 1, &made->settings);

    if (!argv)
        return hil_say_no_memory(said);
    return hil_program_load(made, argv, path, said);
}

const struct hil_provider hil_program_provider = {
    .example = "a program such as program:./plant.py",
    .takes = program_takes,
    .locate = program_locate,
    .load = program_load,
    .unload = hil_program_unload,
    .not_real_time =
        "it is a process of its own: a step makes system calls, and uses the newest answer",
    .apart = true,
};
