/* Calls of the code's functions, with an argument for each of their parameters. */
#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "wrap.h"

/* A parameter of a function. */
struct parameter {
    char type[200], name[200], dimensions[60]; /* the type is plain */
    unsigned pointers;
};

/* "const double in[3]" */
static void calls_parse(struct parameter *p, const char *text, size_t length)
{
    char all[400];

    *p = (struct parameter){0};
    snprintf(all, sizeof all, "%.*s", (int)length, text);
    char *dimensions = strchr(all, '[');
    if (dimensions) {
        snprintf(p->dimensions, sizeof p->dimensions, "%s", dimensions);
        *dimensions = '\0';
    }
    size_t end = strlen(all), begin;
    while (end && !isalnum((unsigned char)all[end - 1]) && all[end - 1] != '_')
        end--;
    for (begin = end; begin && (isalnum((unsigned char)all[begin - 1]) || all[begin - 1] == '_');)
        begin--;
    snprintf(p->name, sizeof p->name, "%.*s", (int)(end - begin), &all[begin]);
    all[begin] = '\0';
    p->pointers = wrap_plain_type(all, p->type, sizeof p->type);
}

/* --- objects: what the code needs for an instance ------------------------------------------- */

/* The object of a structure's type: one that was added, or a variable of the code. */
static const char *calls_object_of_type(const struct wrap *wrap, const char *type)
{
    char plain[300];

    for (unsigned i = 0; i < wrap->object_count; i++)
        if (strcmp(wrap->objects[i].type, type) == 0)
            return wrap->objects[i].name;
    for (unsigned i = 0; i < wrap->tags.count; i++) {
        const struct wrap_tag *tag = &wrap->tags.at[i];
        if (strcmp(tag->kind, "externvar") == 0 && !strchr(tag->type, '[') &&
            wrap_plain_type(tag->type, plain, sizeof plain) == 0 && strcmp(plain, type) == 0)
            return tag->name;
    }
    return NULL;
}

static bool calls_has_object(const struct wrap *wrap, const char *name)
{
    for (unsigned i = 0; i < wrap->object_count; i++)
        if (strcmp(wrap->objects[i].name, name) == 0)
            return true;
    return false;
}

static bool calls_add_object(struct wrap *wrap, const char *type, const char *name,
                             const char *dimensions)
{
    if (wrap->object_count == WRAP_OBJECTS_MAX) {
        wrap_say(wrap, "the functions have too many parameters");
        return false;
    }
    struct wrap_object *object = &wrap->objects[wrap->object_count++];
    snprintf(object->type, sizeof object->type, "%s", type);
    snprintf(object->name, sizeof object->name, "%s", name);
    fprintf(wrap->parts[WRAP_OBJECTS].to, "static %s %s%s;\n", type, name, dimensions);
    return true;
}

static const char *calls_structure(struct wrap *wrap, const char *type, const char *name);

/* The code reaches its parts by pointers, which its main program would set. */
static void calls_set_pointers(struct wrap *wrap, const char *type, const char *name)
{
    const char *scope = wrap_structure(&wrap->tags, type);
    char target[300], target_name[300];

    for (unsigned i = 0; i < wrap->tags.count && !wrap->failed; i++) {
        const struct wrap_tag *tag = &wrap->tags.at[i];
        if (strcmp(tag->kind, "member") != 0 || strcmp(tag->scope, scope) != 0)
            continue;
        if (strcmp(tag->name, "errorStatus") == 0)
            snprintf(wrap->error, sizeof wrap->error, "%s.errorStatus", name);
        if (wrap_plain_type(tag->type, target, sizeof target) != 1 ||
            !wrap_structure(&wrap->tags, target) || strcmp(target, type) == 0)
            continue;
        snprintf(target_name, sizeof target_name, "%s_%s", wrap->name, tag->name);
        const char *object = calls_structure(wrap, target, target_name);
        if (object)
            fprintf(wrap->parts[WRAP_INITIALIZE].to, "    %s.%s = &%s;\n", name, tag->name, object);
    }
}

/* The object of a structure's type: the code's own, or one that is added. */
static const char *calls_structure(struct wrap *wrap, const char *type, const char *name)
{
    const char *found = calls_object_of_type(wrap, type);
    const enum wrap_part part = wrap_part_of(wrap, name, type);

    if (found)
        return found;
    if (!calls_add_object(wrap, type, name, ""))
        return NULL;
    const char *object = wrap->objects[wrap->object_count - 1].name;
    if (part != WRAP_OBJECTS)
        wrap_rows(wrap, part, object, "", type, "");
    else
        calls_set_pointers(wrap, type, object);
    return object;
}

/* The variable of a parameter that is a number: read by the code, or written. */
static void calls_number(struct wrap *wrap, const struct parameter *p, enum wrap_part part)
{
    static const char *const before[] = {"_U_", "_Y_", "arg_"};
    char type[300];
    const char *row = p->name;

    if (calls_has_object(wrap, p->name) || !calls_add_object(wrap, p->type, p->name, p->dimensions))
        return;
    for (unsigned i = 0; i < 3; i++)
        if (strstr(p->name, before[i]))
            row = strstr(p->name, before[i]) + strlen(before[i]);
    snprintf(type, sizeof type, "%s%s", p->type, p->dimensions);
    wrap_rows(wrap, part, p->name, row, type, "");
}

/* --- calls ---------------------------------------------------------------------------------------
 */

static bool calls_is_task(const struct parameter *p)
{
    return strcmp(p->name, "tid") == 0 || strcmp(p->name, "task_id") == 0;
}

static void calls_argument(struct wrap *wrap, FILE *to, const struct parameter *p, bool writes,
                           unsigned task, bool begins)
{
    if (!p->pointers && calls_is_task(p)) {
        fprintf(to, "%u", task);
    } else if (p->pointers == 1 && wrap_structure(&wrap->tags, p->type)) {
        const char *object = calls_structure(wrap, p->type, p->name);
        fprintf(to, "&%s", object ? object : "");
    } else if (p->pointers > 1) {
        wrap_say(wrap, "%s is a pointer to a pointer", p->name);
    } else if (begins && !p->pointers && !p->dimensions[0]) {
        fprintf(to, "%d", strcmp(p->name, "firstTime") == 0); /* of PLECS: the time, 0 */
    } else {
        calls_number(wrap, p, writes ? WRAP_OUTPUTS : WRAP_INPUTS);
        fprintf(to, "%s%s", p->pointers ? "&" : "", p->name);
    }
}

/* Whether the code writes through the parameter. Names of generators say it, or else const. */
static bool calls_writes(const char *text, size_t length, const struct parameter *p)
{
    if (strstr(p->name, "_U_"))
        return false;
    return p->pointers || (p->dimensions[0] && !memmem(text, length, "const", 5));
}

static void calls_add(struct wrap *wrap, enum wrap_part part, const struct wrap_tag *function,
                      unsigned task, const char *before)
{
    const char *at = function->signature + 1;
    char *text = NULL;
    size_t size = 0;
    FILE *call = open_memstream(&text, &size); /* an argument may add lines before the call */

    fprintf(call, "    %s%s(", before, function->name);
    while (*at && *at != ')' && strncmp(at, "void)", 5) != 0) {
        const size_t length = strcspn(at, ",)");
        struct parameter p;
        calls_parse(&p, at, length);
        calls_argument(wrap, call, &p, calls_writes(at, length, &p), task, part == WRAP_INITIALIZE);
        at += length;
        if (*at == ',')
            at++, fputs(", ", call);
    }
    fclose(call);
    fprintf(wrap->parts[part].to, "%s);\n", text);
    free(text);
}

static const struct wrap_tag *calls_find(const struct wrap *wrap, const char *format, ...)
{
    char ending[60], name[200];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(ending, sizeof ending, format, arguments);
    va_end(arguments);
    snprintf(name, sizeof name, "%s_%s", wrap->name, ending);
    return wrap_tag_find(&wrap->tags, "prototype", name);
}

/* The functions of a task, or of all: step(), or output() and then update(). */
static bool calls_task(struct wrap *wrap, unsigned task, const char *number, const char *before)
{
    static const char *const names[] = {"step", "output", "update"};
    const struct wrap_tag *function;
    bool found = false;

    for (unsigned i = 0; i < 3; i++) {
        function = calls_find(wrap, "%s%s", names[i], number);
        if (!function || (found && i == 0))
            continue;
        if (strcmp(function->type, "void") != 0) {
            wrap_say(wrap, "%s returns %s; allowed: void", function->name, function->type);
            return false;
        }
        calls_add(wrap, WRAP_STEP, function, task, before);
        found = true;
        if (i == 0)
            break;
    }
    return found;
}

static bool calls_takes_task(const struct wrap_tag *function)
{
    const char *at = function->signature;
    struct parameter p;

    while (*at && *at != ')') {
        const size_t length = strcspn(++at, ",)");
        calls_parse(&p, at, length);
        if (calls_is_task(&p))
            return true;
        at += length;
    }
    return false;
}

/* How many tasks step() has by its parameter. */
static unsigned calls_tasks_by_argument(const struct wrap *wrap)
{
    const struct wrap_tag *step = calls_find(wrap, "step");

    if (!step)
        step = calls_find(wrap, "output");
    return step && calls_takes_task(step) && wrap->rates.count ? wrap->rates.count : 1;
}

static void calls_steps(struct wrap *wrap)
{
    const bool numbered = calls_find(wrap, "step0") || calls_find(wrap, "output0");
    unsigned tasks = numbered ? 0 : calls_tasks_by_argument(wrap);
    char number[20] = "", before[100];

    while (numbered && (calls_find(wrap, "step%u", tasks) || calls_find(wrap, "output%u", tasks)))
        tasks++;
    if (tasks > 1)
        fprintf(wrap->parts[WRAP_OBJECTS].to, "static unsigned long steps;\n");
    for (unsigned i = 0; i < tasks && !wrap->failed; i++) {
        const struct wrap_rate *rate = &wrap->rates.at[i < WRAP_RATES_MAX ? i : 0];
        before[0] = '\0';
        if (i > 0 && rate->every == 0)
            wrap_say(wrap,
                     "no main program says how often task %u of %u runs; allowed: --rates, or an "
                     "ert_main.c with taskCounter[%u] == N",
                     i, tasks, i);
        if (i > 0 && rate->start)
            snprintf(before, sizeof before, "if ((steps + %u) %% %u == 0)\n        ", rate->start,
                     rate->every);
        else if (i > 0)
            snprintf(before, sizeof before, "if (steps %% %u == 0)\n        ", rate->every);
        if (numbered)
            snprintf(number, sizeof number, "%u", i);
        if (!calls_task(wrap, i, number, before) && !wrap->failed)
            wrap_say(wrap, "there is no function %s_step%s", wrap->name, number);
    }
    if (tasks > 1)
        fprintf(wrap->parts[WRAP_STEP].to, "    steps++;\n");
}

/* Where the code says what went wrong, if no object of its has that already. */
static void calls_error(struct wrap *wrap)
{
    char name[120], plain[300];
    const struct wrap_tag *tag;

    snprintf(name, sizeof name, "%s_errorStatus", wrap->name);
    if (wrap->generator == WRAP_PLECS && wrap_tag_find(&wrap->tags, "externvar", name))
        snprintf(wrap->error, sizeof wrap->error, "%s", name);
    snprintf(name, sizeof name, "%s_M", wrap->name);
    tag = wrap_tag_find(&wrap->tags, "externvar", name);
    if (!tag)
        tag = wrap_tag_find(&wrap->tags, "externvar", "rtM");
    if (wrap->error[0] || !tag || wrap_plain_type(tag->type, plain, sizeof plain) != 1)
        return;
    const char *scope = wrap_structure(&wrap->tags, plain);
    for (unsigned i = 0; scope && i < wrap->tags.count; i++)
        if (strcmp(wrap->tags.at[i].scope, scope) == 0 &&
            strcmp(wrap->tags.at[i].name, "errorStatus") == 0)
            snprintf(wrap->error, sizeof wrap->error, "%s->errorStatus", tag->name);
}

/* The code may say its period itself. */
static void calls_period(struct wrap *wrap)
{
    char name[120];

    snprintf(name, sizeof name, "%s_sampleTime", wrap->name);
    if (wrap->generator == WRAP_PLECS && wrap->rates.period_s <= 0 &&
        wrap_tag_find(&wrap->tags, "externvar", name))
        fprintf(wrap->parts[WRAP_INITIALIZE].to, "    code.period_s = %s;\n", name);
}

void wrap_calls(struct wrap *wrap)
{
    const struct wrap_tag *initialize = calls_find(wrap, "initialize");
    const struct wrap_tag *terminate = calls_find(wrap, "terminate");

    if (initialize)
        calls_add(wrap, WRAP_INITIALIZE, initialize, 0, "");
    calls_period(wrap);
    calls_steps(wrap);
    if (terminate && !wrap->failed)
        calls_add(wrap, WRAP_TERMINATE, terminate, 0, "");
    calls_error(wrap);
}
