/*
 * A netlist as a program (docs/writing-a-program.md): ngspice as a library, in a separate process
 * because it can have only one circuit per process. hiloco starts this program for a model such as
 * stage.cir. docs/netlists.md describes the declarations in a netlist.
 *
 * A single transient analysis runs during the whole life of the component. Before each time step
 * ngspice asks how long it may be. The step is cut so that it ends with the period, and the
 * analysis is held there until the next line comes. Thus no breakpoints are needed.
 */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ngspice/sharedspice.h>

#include "../base/text_mark.h"

enum { ROWS_MAX = 64, ELEMENT_BYTES = 64, MESSAGE_BYTES = 256 };

/* The circuit element of a row in a table. */
struct element {
    char name[ELEMENT_BYTES]; /* name of a source, a vector, or a parameter */
    double value;             /* current value */
    bool found;
};

struct elements {
    struct element at[ROWS_MAX];
    unsigned count;
};

static struct elements parameters, inputs, outputs;
static char **lines; /* of the netlist, ended by NULL */
static unsigned line_count;

static FILE *in, *out;
static double period_s, max_step_s;
static uint64_t period_count;       /* the number of periods up to which the analysis may run */
static char message[MESSAGE_BYTES]; /* the last error of ngspice */

__attribute__((format(printf, 1, 2), noreturn)) static void die(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fprintf(out, "error ");
    vfprintf(out, format, args);
    fprintf(out, "\n");
    va_end(args);
    fflush(out);
    exit(1);
}

/* --- the netlist ------------------------------------------------------------------------------ */

static void read_netlist(const char *path)
{
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t size = 0;

    if (!file)
        die("it cannot be opened (%s)", strerror(errno));
    while (getline(&line, &size, file) >= 0) {
        line[strcspn(line, "\r\n")] = '\0';
        lines = realloc(lines, (line_count + 2) * sizeof *lines);
        if (lines)
            lines[line_count] = strdup(line + (line_count ? 0 : hil_text_mark(line, strlen(line))));
        if (!lines || !lines[line_count])
            die("there is no memory for it");
        lines[++line_count] = NULL;
    }
    if (ferror(file))
        die("it cannot be read (%s)", strerror(errno));
    free(line);
    fclose(file);
    if (line_count == 0)
        die("it is empty");
}

/* Declares the row, and remembers its element. */
static void declare(const char *element, const char *row)
{
    static const struct {
        const char *word;
        struct elements *list;
    } kinds[] = {{"parameter ", &parameters}, {"input ", &inputs}, {"output ", &outputs}};

    for (unsigned i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strncmp(row, kinds[i].word, strlen(kinds[i].word)) != 0)
            continue;
        struct elements *list = kinds[i].list;
        if (list->count == ROWS_MAX)
            die("it declares more than %d of one kind", ROWS_MAX);
        snprintf(list->at[list->count++].name, ELEMENT_BYTES, "%s", element);
        break;
    }
    fprintf(out, "%s\n", row);
}

/* Parses a number in netlist notation, such as 100n. */
static double number(const char *text)
{
    static const char scales[] = "fpnumkgt";
    static const double values[] = {1e-15, 1e-12, 1e-9, 1e-6, 1e-3, 1e3, 1e9, 1e12};
    char *end;
    const double value = strtod(text, &end);
    const char *scale = *end ? strchr(scales, tolower((unsigned char)*end)) : NULL;

    if (strncasecmp(end, "meg", 3) == 0)
        return value * 1e6;
    return scale ? value * values[scale - scales] : value;
}

/* Whether the line "NAME A B external" is there, for the name at `text`. */
static bool is_external(const char *text)
{
    char name[ELEMENT_BYTES], fourth[ELEMENT_BYTES];
    const size_t length = strcspn(text, " \t");

    for (unsigned i = 0; i < line_count; i++)
        if (sscanf(lines[i], "%63s %*s %*s %63s", name, fourth) == 2 &&
            strncasecmp(name, text, length) == 0 && !name[length])
            return strcasecmp(fourth, "external") == 0;
    return true;
}

/* "*hiloco ELEMENT: REST" */
static void take_comment(char *text)
{
    char *colon = strchr(text, ':');

    if (!colon)
        die("a line *hiloco %.60s has no ':'; allowed: *hiloco ELEMENT: ROW", text);
    *colon = '\0';
    const bool is_unit = strncasecmp(text, "pwm ", 4) == 0 || strncasecmp(text, "gate ", 5) == 0;
    if (is_unit && !is_external(text + strcspn(text, " ") + 1))
        return; /* its source has a time function */
    if (is_unit)
        die("a line *hiloco %s is for the solver of circuits alone; allowed: the model without "
            "ngspice:, or sources of the netlist",
            text);
    char *element = text + strspn(text, " \t"), *rest = colon + 1 + strspn(colon + 1, " \t");
    if (strcmp(element, "name") == 0)
        fprintf(out, "name %s\n", rest);
    else if (strcmp(element, "step") == 0)
        max_step_s = number(rest);
    else if (strncasecmp(element, "diode ", 6) != 0 && strncasecmp(element, "switching ", 10) != 0)
        /* those are for the solver of circuits only */
        declare(element, rest);
}

/* The longest time step is the fourth time of .tran, unless a comment gives one. */
static void take_tran(const char *line)
{
    char longest[ELEMENT_BYTES];

    if (max_step_s == 0 && strncasecmp(line, ".tran", 5) == 0 &&
        sscanf(line, "%*s %*s %*s %*s %63s", longest) == 1 && isdigit((unsigned char)longest[0]))
        max_step_s = number(longest);
}

static void say_tables(const char *path)
{
    const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;

    fprintf(out, "hiloco 1\nname %.*s\ndoc %s\nkind continuous\n", (int)strcspn(base, "."), base,
            lines[0]);
    for (unsigned i = 0; i < line_count; i++)
        if (strncasecmp(lines[i], "*hiloco ", 8) == 0) {
            char *copy = strdup(lines[i] + 8);
            if (!copy)
                die("there is no memory for it");
            take_comment(copy);
            free(copy);
        }
    for (unsigned i = 0; i < line_count; i++)
        take_tran(lines[i]);
}

/* --- the protocol ----------------------------------------------------------------------------- */

/* Reads numbers into the elements' values. */
static char *take_values(char *text, struct elements *list)
{
    for (unsigned i = 0; i < list->count; i++)
        list->at[i].value = strtod(text, &text);
    return text;
}

static void answer(void)
{
    for (unsigned i = 0; i < outputs.count; i++)
        fprintf(out, "%s%.17g", i ? " " : "", outputs.at[i].value);
    fputc('\n', out);
    fflush(out);
}

/* Waits for the next line with inputs. Returns false at the end of input. */
static bool take_line(void)
{
    static char *line;
    static size_t size;

    if (getline(&line, &size, in) < 0)
        _exit(0);
    char *rest = line + strcspn(line, " ");
    const bool step = strncmp(line, "step", 4) == 0;
    if (step)
        strtoull(rest, &rest, 10);
    take_values(rest, &inputs);
    return step;
}

/* --- ngspice's callbacks ---------------------------------------------------------------------- */

static int on_text(char *text, int id, void *arg)
{
    (void)id, (void)arg;
    if (strncmp(text, "stderr ", 7) == 0 && strncmp(text + 7, "Note:", 5) != 0) {
        if (strstr(text, "rror") || message[0] == '\0')
            snprintf(message, sizeof message, "%s", text + 7);
        fprintf(stderr, "%s\n", text + 7);
    }
    return 0;
}

static int on_exit_asked(int status, NG_BOOL now, NG_BOOL quit, int id, void *arg)
{
    (void)status, (void)now, (void)quit, (void)id, (void)arg;
    die("ngspice gives up: %s", message);
}

/* Without this callback ngspice does not call on_data(). */
static int on_no_vectors(pvecinfoall all, int id, void *arg)
{
    (void)all, (void)id, (void)arg;
    return 0;
}

/* Called for each computed point in time. */
static int on_data(pvecvaluesall all, int count, int id, void *arg)
{
    (void)count, (void)id, (void)arg;
    for (int i = 0; i < all->veccount; i++)
        for (unsigned k = 0; k < outputs.count; k++)
            if (strcasecmp(all->vecsa[i]->name, outputs.at[k].name) == 0) {
                outputs.at[k].value = all->vecsa[i]->creal;
                outputs.at[k].found = true;
            }
    return 0;
}

static int on_source(double *value, double time, char *name, int id, void *arg)
{
    (void)time, (void)id, (void)arg;
    for (unsigned i = 0; i < inputs.count; i++)
        if (strcasecmp(inputs.at[i].name, name) == 0) {
            *value = inputs.at[i].value;
            inputs.at[i].found = true;
        }
    return 0;
}

/* Every declared element must be in the circuit. */
static void check_found(void)
{
    for (unsigned i = 0; i < outputs.count; i++)
        if (!outputs.at[i].found)
            die("the circuit has no %s", outputs.at[i].name);
    for (unsigned i = 0; i < inputs.count; i++)
        if (!inputs.at[i].found)
            die("the circuit has no source %s that is external", inputs.at[i].name);
}

/* Called before a time step from `time` on, which is cut to end no later than the period. */
static int on_step(double time, double *delta, double old, int redo, int id, int place, void *arg)
{
    static bool checked;
    double end = (double)period_count * period_s;

    (void)old, (void)redo, (void)id, (void)arg;
    if (place != 0)
        return 0;
    if (time == 0) { /* there are no values yet: initial values exist only after a tiny step */
        *delta = fmin(*delta, 1e-6 * period_s);
        return 0;
    }
    while (time >= end - 1e-9 * period_s) {
        if (!checked)
            check_found();
        checked = true;
        answer();
        if (take_line())
            end = (double)++period_count * period_s;
    }
    if (time + *delta > end)
        *delta = end - time;
    return 0;
}

/* --- the circuit ------------------------------------------------------------------------------ */

/* The vector for a v(x) or an i(x). */
static void name_vectors(void)
{
    for (unsigned i = 0; i < outputs.count; i++) {
        char *name = outputs.at[i].name, inner[ELEMENT_BYTES];
        const size_t length = strlen(name);
        if (length < 4 || name[1] != '(' || name[length - 1] != ')')
            continue;
        snprintf(inner, sizeof inner, "%.*s", (int)(length - 3), name + 2);
        if (tolower((unsigned char)name[0]) == 'v')
            snprintf(name, ELEMENT_BYTES, "%s", inner);
        else
            snprintf(name, ELEMENT_BYTES, "%.50s#branch", inner);
    }
}

/* Refuses a source that has a second value, which would crash ngspice 39. */
static void check_sources(void)
{
    char name[ELEMENT_BYTES], fourth[ELEMENT_BYTES];

    for (unsigned i = 0; i < line_count; i++)
        for (unsigned k = 0; k < inputs.count; k++)
            if (sscanf(lines[i], "%63s %*s %*s %63s", name, fourth) == 2 &&
                strcasecmp(name, inputs.at[k].name) == 0 && strcasecmp(fourth, "external") != 0)
                die("the source %s is not external alone; allowed: %s NODE NODE external", name,
                    name);
}

/* Adds the values of the first `set` parameters before the end of the netlist, because later lines
 * take precedence. */
static void load_circuit(unsigned set, SendInitData *on_vectors)
{
    char **all = calloc(line_count + set + 3, sizeof *all);
    unsigned count = 0;

    if (!all)
        die("there is no memory for it");
    for (unsigned i = 0; i < line_count && strcasecmp(lines[i], ".end") != 0; i++)
        all[count++] = lines[i];
    for (unsigned i = 0; i < set; i++)
        if (asprintf(&all[count++], ".param %s=%.17g", parameters.at[i].name,
                     parameters.at[i].value) < 0)
            die("there is no memory for it");
    all[count++] = strdup(".end");
    ngSpice_Init(on_text, NULL, on_exit_asked, on_data, on_vectors, NULL, NULL);
    ngSpice_Init_Sync(on_source, on_source, on_step, NULL, NULL);
    if (ngSpice_Circ(all))
        die("ngspice does not take it: %s", message);
}

/* --- the outputs of a netlist that declares none ---------------------------------------------- */

/* Tells the parent the names of what ngspice computes. */
static int on_vectors(pvecinfoall all, int id, void *arg)
{
    (void)id, (void)arg;
    for (int i = 0; i < all->veccount; i++)
        printf("%s\n", all->vecs[i]->vecname);
    fflush(stdout);
    _exit(0);
}

/* Declares v_NODE or i_ELEMENT for a vector NODE or ELEMENT#branch. */
static void declare_vector(char *vector)
{
    char *mark = strchr(vector, '#'), element[2 * ELEMENT_BYTES], row[4 * ELEMENT_BYTES];
    const bool is_current = mark && strcmp(mark, "#branch") == 0;

    if (strcmp(vector, "time") == 0 || (mark && !is_current))
        return;
    if (mark)
        *mark = '\0';
    snprintf(element, sizeof element, "%c(%s)", is_current ? 'i' : 'v', vector);
    /* the element l1 of x1 is l.x1.l1 */
    const char *name = is_current && vector[1] == '.' ? vector + 2 : vector;
    int length = snprintf(row, sizeof row, "output %c_%s", element[0], name);
    for (char *c = row + strlen("output "); *c; c++)
        if (!isalnum((unsigned char)*c))
            *c = '_';
    snprintf(row + length, sizeof row - (size_t)length, " %c %s of %s", is_current ? 'A' : 'V',
             is_current ? "current" : "voltage", name);
    declare(element, row);
}

/* ngspice has one circuit in a process, so another one looks. */
static void declare_all(void)
{
    char *line = NULL;
    size_t size = 0;
    int ends[2];

    const pid_t child = pipe(ends) ? -1 : fork();
    if (child < 0)
        die("there is no process to look at its nodes in (%s)", strerror(errno));
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        load_circuit(0, on_vectors);
        ngSpice_Command("tran 1n 1n uic");
        die("ngspice does not run it: %s", message[0] ? message : "it says no more");
    }
    close(ends[1]);
    FILE *names = fdopen(ends[0], "r");
    while (names && getline(&line, &size, names) >= 0) {
        line[strcspn(line, "\n")] = '\0';
        declare_vector(line);
    }
    free(line);
    waitpid(child, NULL, 0);
    if (outputs.count == 0)
        _exit(1); /* the child has said why */
}

static void make(char *text)
{
    period_s = strtod(text, &text);
    take_values(text, &parameters);
    if (!(max_step_s > 0) || max_step_s > period_s)
        max_step_s = period_s;
    name_vectors();
    check_sources();
    load_circuit(parameters.count, on_no_vectors);
    fprintf(out, "ok\n");
    fflush(out);
}

/* Runs the analysis for practically unlimited time. */
static void analyse(void)
{
    char command[200];

    ngSpice_Command("save none");
    snprintf(command, sizeof command, "tran %.17g 1e9 0 %.17g uic", max_step_s, max_step_s);
    ngSpice_Command(command);
    die("its analysis ended: %s", message[0] ? message : "ngspice says no more");
}

int main(int argc, char **argv)
{
    static char *line;
    static size_t size;
    const char *number_of_socket = getenv("HILOCO_FD");

    if (argc != 2 || !number_of_socket) {
        fprintf(stderr,
                "hiloco starts this program for a model that is a netlist (docs/netlists.md)\n");
        return 2;
    }
    const int socket = (int)strtol(number_of_socket, NULL, 10);
    in = fdopen(socket, "r");
    out = fdopen(dup(socket), "w");
    if (!in || !out)
        return 1;
    read_netlist(argv[1]);
    say_tables(argv[1]);
    if (outputs.count == 0)
        declare_all();
    fprintf(out, "ready\n");
    fflush(out);
    if (getline(&line, &size, in) < 0)
        return 0;
    make(line + strcspn(line, " "));
    take_line();
    analyse();
}
