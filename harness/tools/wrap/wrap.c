#include "wrap.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void wrap_say(struct wrap *wrap, const char *format, ...)
{
    va_list arguments;

    if (!wrap->failed) {
        fprintf(stderr, "hiloco wrap: %s: ", wrap->folder);
        va_start(arguments, format);
        vfprintf(stderr, format, arguments);
        va_end(arguments);
        fputc('\n', stderr);
    }
    wrap->failed = true;
}

/* --- the code's name ------------------------------------------------------------------------- */

/* Of NAME_initialize, where there is also a step. */
static bool wrap_is_code(const struct wrap *wrap, const struct wrap_tag *tag, char name[100])
{
    static const char *const steps[] = {"step", "step0", "output", "output0"};
    const char *ending = strstr(tag->name, "_initialize");
    char step[120];

    if (strcmp(tag->kind, "prototype") != 0 || !ending || strcmp(ending, "_initialize") != 0 ||
        ending - tag->name > 90)
        return false;
    snprintf(name, 100, "%.*s", (int)(ending - tag->name), tag->name);
    for (unsigned i = 0; i < 4; i++) {
        snprintf(step, sizeof step, "%s_%s", name, steps[i]);
        if (wrap_tag_find(&wrap->tags, "prototype", step))
            return true;
    }
    return false;
}

static bool wrap_find_name(struct wrap *wrap, const char *wanted)
{
    char name[100], all[400] = "";
    unsigned found = 0;

    for (unsigned i = 0; i < wrap->tags.count; i++) {
        if (!wrap_is_code(wrap, &wrap->tags.at[i], name) || strcmp(name, wrap->name) == 0 ||
            (wanted && strcmp(name, wanted) != 0))
            continue;
        snprintf(wrap->name, sizeof wrap->name, "%s", name);
        snprintf(wrap->header, sizeof wrap->header, "%s", wrap->tags.at[i].file);
        const size_t length = strlen(all);
        snprintf(all + length, sizeof all - length, "%s%s", found++ ? ", " : "", name);
    }
    if (found == 0 && wanted)
        wrap_say(wrap, "no header declares %s_initialize() and %s_step()", wanted, wanted);
    else if (found == 0)
        wrap_say(wrap, "no header declares NAME_initialize() and NAME_step(); allowed: a folder "
                       "with generated code. For other code write the list by hand: "
                       "docs/generated-code.md");
    else if (found > 1)
        wrap_say(wrap, "several codes are there; allowed: the header of one of %s", all);
    return !wrap->failed;
}

/* --- reading ---------------------------------------------------------------------------------- */

/* The inputs, outputs and parameters that the code has as variables. */
static void wrap_variables(struct wrap *wrap)
{
    char plain[300];

    for (unsigned i = 0; i < wrap->tags.count && !wrap->failed; i++) {
        const struct wrap_tag *tag = &wrap->tags.at[i];
        if (strcmp(tag->kind, "externvar") != 0 || strstr(tag->type, "const ") ||
            wrap_plain_type(tag->type, plain, sizeof plain) != 0 ||
            !wrap_structure(&wrap->tags, plain))
            continue;
        const enum wrap_part part = wrap_part_of(wrap, tag->name, plain);
        if (part != WRAP_OBJECTS)
            wrap_rows(wrap, part, tag->name, "", tag->type, "");
    }
}

bool wrap_read(struct wrap *wrap, const char *name)
{
    wrap->names = json_object();
    for (unsigned i = 0; i < WRAP_PARTS; i++)
        wrap->parts[i].to = open_memstream(&wrap->parts[i].at, &wrap->parts[i].size);
    if (!wrap_find_name(wrap, name))
        return false;
    wrap_variables(wrap);
    if (!wrap->failed)
        wrap_calls(wrap);
    if (!wrap->failed && wrap->parts[WRAP_OUTPUTS].rows == 0)
        wrap_say(wrap,
                 "%s has no outputs that a header declares; write the list by hand: "
                 "docs/generated-code.md",
                 wrap->name);
    for (unsigned i = 0; i < WRAP_PARTS; i++)
        fflush(wrap->parts[i].to);
    return !wrap->failed;
}

void wrap_free(struct wrap *wrap)
{
    for (unsigned i = 0; i < WRAP_PARTS; i++) {
        if (wrap->parts[i].to)
            fclose(wrap->parts[i].to);
        free(wrap->parts[i].at);
    }
    json_decref(wrap->names);
    wrap_tags_free(&wrap->tags);
}

/* --- writing ---------------------------------------------------------------------------------- */

static void wrap_put_table(const struct wrap *wrap, FILE *to, const char *name, enum wrap_part part)
{
    fprintf(to, "static struct hil_variable %s[] = {%s%s};\n", name,
            wrap->parts[part].rows ? "\n" : "", wrap->parts[part].at);
}

static void wrap_put_body(const struct wrap *wrap, FILE *to, const char *name, enum wrap_part part)
{
    if (wrap->parts[part].size)
        fprintf(to, "\nstatic void %s(void)\n{\n%s}\n", name, wrap->parts[part].at);
}

int wrap_write(const void *arg, FILE *to)
{
    const struct wrap *wrap = arg;

    fprintf(to,
            "/* The code %s as a model. Units, ranges, and the slopes of fixed-point numbers are\n"
            " * yours to say: a row is name, unit, default, least, greatest (0, 0: those of the\n"
            " * type), flags, explanation; HIL_SCALED(variable, slope, bias). */\n"
            "#include \"%s\"\n\n#include <hiloco/code.h>\n\n%s%sstatic struct hil_code code;\n\n",
            wrap->name, wrap->header, wrap->parts[WRAP_OBJECTS].at,
            wrap->parts[WRAP_OBJECTS].size ? "\n" : "");
    wrap_put_table(wrap, to, "parameters", WRAP_PARAMETERS);
    wrap_put_table(wrap, to, "inputs", WRAP_INPUTS);
    wrap_put_table(wrap, to, "outputs", WRAP_OUTPUTS);
    wrap_put_body(wrap, to, "initialize", WRAP_INITIALIZE);
    wrap_put_body(wrap, to, "step", WRAP_STEP);
    wrap_put_body(wrap, to, "terminate", WRAP_TERMINATE);
    if (wrap->error[0])
        fprintf(to, "\nstatic const char *error(void)\n{\n    return %s;\n}\n", wrap->error);
    fprintf(to, "\nstatic struct hil_code code = {\n");
    if (wrap->rates.period_s > 0)
        fprintf(to, "    .period_s = %.12g,\n", wrap->rates.period_s);
    if (wrap->parts[WRAP_INITIALIZE].size)
        fprintf(to, "    .initialize = initialize,\n");
    fprintf(to, "    .step = step,\n");
    if (wrap->parts[WRAP_TERMINATE].size)
        fprintf(to, "    .terminate = terminate,\n");
    if (wrap->error[0])
        fprintf(to, "    .error = error,\n");
    fprintf(to, "};\n\nHIL_CODE_MODEL(code, HIL_SAMPLED, \"%s\", \"generated code\")\n",
            wrap->name);
    return 0;
}
