/* Rows of the tables, from the types of the code's variables. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "wrap.h"

unsigned wrap_plain_type(const char *type, char *plain, size_t size)
{
    static const char *const words[] = {"const ", "volatile ", "const", "volatile"};
    unsigned pointers = 0;
    size_t n = 0;

    while (*type && *type != '[' && n + 1 < size) {
        size_t skip = 0;
        for (unsigned i = 0; !skip && i < 4; i++)
            if ((n == 0 || plain[n - 1] == ' ') && strncmp(type, words[i], strlen(words[i])) == 0 &&
                !isalnum((unsigned char)type[strlen(words[i])]))
                skip = strlen(words[i]);
        pointers += *type == '*';
        if (!skip && *type != '*')
            plain[n++] = *type;
        type += skip ? skip : 1;
    }
    while (n && plain[n - 1] == ' ')
        n--;
    plain[n] = '\0';
    return pointers;
}

static bool rows_begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* NAME_U, rtU, U_NAME... */
static bool rows_is_called(const struct wrap *wrap, const char *name, char letter)
{
    char whole[120];

    snprintf(whole, sizeof whole, "%s_%c", wrap->name, letter);
    if (strcmp(name, whole) == 0)
        return true;
    snprintf(whole, sizeof whole, "rt%c", letter);
    return strcmp(name, whole) == 0;
}

enum wrap_part wrap_part_of(const struct wrap *wrap, const char *name, const char *type)
{
    if (rows_is_called(wrap, name, 'U') || rows_begins(type, "ExtU") ||
        strstr(type, "ExternalInputs"))
        return WRAP_INPUTS;
    if (rows_is_called(wrap, name, 'Y') || rows_begins(type, "ExtY") ||
        strstr(type, "ExternalOutputs"))
        return WRAP_OUTPUTS;
    if (rows_is_called(wrap, name, 'P') || rows_begins(type, "P_") || strstr(type, "Parameters"))
        return WRAP_PARAMETERS;
    return WRAP_OBJECTS;
}

/* The name of a row: in lower case, and no other row's. An output may be called as an input. */
static bool rows_name(struct wrap *wrap, enum wrap_part part, const char *name, char *row,
                      size_t size)
{
    size_t n = 0;

    for (; name[n] && n + 5 < size; n++)
        row[n] = (char)tolower((unsigned char)name[n]);
    row[n] = '\0';
    if (part == WRAP_PARAMETERS) /* their names are their own */
        return true;
    if (part == WRAP_OUTPUTS && json_object_get(wrap->names, row))
        strcpy(&row[n], "_out");
    if (json_object_get(wrap->names, row)) {
        wrap_say(wrap,
                 "two signals would be called %s; allowed: names that differ in more than "
                 "upper and lower case",
                 row);
        return false;
    }
    json_object_set_new(wrap->names, row, json_true());
    return true;
}

static bool rows_is_integer(const char *type)
{
    return rows_begins(type, "int") || rows_begins(type, "uint") || rows_begins(type, "short") ||
           rows_begins(type, "long") || rows_begins(type, "unsigned") ||
           rows_begins(type, "signed");
}

static void rows_add(struct wrap *wrap, enum wrap_part part, const char *place, const char *name,
                     const char *type, const char *doc)
{
    static const char *const flags[] = {
        [WRAP_PARAMETERS] = "HIL_TUNABLE", [WRAP_INPUTS] = "HIL_REQUIRED", [WRAP_OUTPUTS] = "0"};
    char row[300];

    if (!rows_name(wrap, part, name, row, sizeof row))
        return;
    fprintf(wrap->parts[part].to, "    {{\"%s\", \"\", 0, 0, 0, %s, \"%s\"},\n     ", row,
            flags[part], *doc ? doc : name);
    if (rows_is_integer(type)) {
        wrap->integers++;
        fprintf(wrap->parts[part].to, "HIL_SCALED(%s, 1, 0)}, /* %s */\n", place, type);
    } else {
        fprintf(wrap->parts[part].to, "HIL_REAL(%s)},\n", place);
    }
    wrap->parts[part].rows++;
}

static void rows_of_array(struct wrap *wrap, enum wrap_part part, const char *place,
                          const char *name, const char *type, const char *doc)
{
    const char *dimension = strchr(type, '['), *rest = strchr(type, ']') + 1;
    char *end, element[300], element_name[300], element_type[300];
    const unsigned long count = strtoul(dimension + 1, &end, 10);

    if (end == dimension + 1 || *end != ']' || count > 4096) {
        wrap_say(wrap, "%s: the length of %s is no number; allowed: 1 to 4096", place, type);
        return;
    }
    snprintf(element_type, sizeof element_type, "%.*s%s", (int)(dimension - type), type, rest);
    for (unsigned long i = 0; i < count && !wrap->failed; i++) {
        snprintf(element, sizeof element, "%s[%lu]", place, i);
        snprintf(element_name, sizeof element_name, "%s_%lu", name, i);
        wrap_rows(wrap, part, element, element_name, element_type, doc);
    }
}

static void rows_of_members(struct wrap *wrap, enum wrap_part part, const char *place,
                            const char *name, const char *scope)
{
    char member[300], member_name[300], doc[200];

    for (unsigned i = 0; i < wrap->tags.count && !wrap->failed; i++) {
        const struct wrap_tag *tag = &wrap->tags.at[i];
        if (strcmp(tag->kind, "member") != 0 || strcmp(tag->scope, scope) != 0)
            continue;
        snprintf(member, sizeof member, "%s.%s", place, tag->name);
        snprintf(member_name, sizeof member_name, "%s%s%s", name, *name ? "_" : "", tag->name);
        wrap_tag_comment(tag, wrap->folder, doc, sizeof doc);
        wrap_rows(wrap, part, member, member_name, tag->type, doc);
    }
}

void wrap_rows(struct wrap *wrap, enum wrap_part part, const char *place, const char *name,
               const char *type, const char *doc)
{
    char plain[300];
    const unsigned pointers = wrap_plain_type(type, plain, sizeof plain);
    const char *scope = wrap_structure(&wrap->tags, plain);

    if (strlen(place) > 200)
        wrap_say(wrap, "%s is nested too deeply", place);
    else if (pointers || strchr(plain, ':'))
        wrap_say(wrap, "%s is a %s; allowed: numbers, and arrays and structures of them", place,
                 pointers ? "pointer" : "bit-field");
    else if (strchr(type, '[') && strchr(type, ']'))
        rows_of_array(wrap, part, place, name, type, doc);
    else if (scope)
        rows_of_members(wrap, part, place, name, scope);
    else
        rows_add(wrap, part, place, name, plain, doc);
}
