/*
 * Describes allowed values in words, for the second half of a mistake's line.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../../base/cpus.h"
#include "scenario_check.h"

enum { TEXT_MAX = 1024 };

void scenario_say_range(double min, double max, const char *unit, char *text, size_t size)
{
    const char *space = unit[0] == '\0' ? "" : " ";
    char from[SCENARIO_NUMBER_BYTES], to[SCENARIO_NUMBER_BYTES];

    scenario_number_text(from, min);
    scenario_number_text(to, max);
    if (isfinite(min) && isfinite(max))
        snprintf(text, size, "%s to %s%s%s", from, to, space, unit);
    else if (isfinite(min))
        snprintf(text, size, "at least %s%s%s", from, space, unit);
    else if (isfinite(max))
        snprintf(text, size, "at most %s%s%s", to, space, unit);
    else
        snprintf(text, size, "any%s%s", space, unit);
}

/* Appends one word to a list of words. */
static void say_word(char *text, size_t size, const char *word)
{
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%s", used == 0 ? "" : ", ", word);
}

static void say_words(const cyaml_schema_value_t *value, char *text, size_t size)
{
    for (uint32_t i = 0; i < value->enumeration.count; i++)
        say_word(text, size, value->enumeration.strings[i].str);
}

static void scenario_say_fields(const cyaml_schema_field_t *field, char *text, size_t size)
{
    for (text[0] = '\0'; field->key != NULL; field++)
        say_word(text, size, field->key);
}

static void say_number(const struct scenario_key *key, const char *kind, char *text, size_t size)
{
    char range[128];
    scenario_say_range(key->min, key->max, key->unit, range, sizeof(range));
    snprintf(text, size, "%s%s, %s", kind, key->each ? ", or a list of one for each" : "", range);
}

static void say_text(const struct scenario_key *key, char *text, size_t size)
{
    if (key->rule == SCENARIO_TEXT)
        snprintf(text, size, "a text%s", key->each ? ", or a list of them" : "");
    else if (key->rule == SCENARIO_COUNT)
        snprintf(text, size, "a whole number, %.0f to %.0f, or the name of an array of nodes",
                 key->min, key->max);
    else if (key->rule == SCENARIO_NAME)
        snprintf(text, size, "1 to 64 letters, digits, '.', '_' and '-', the first no '.' or '-'");
    else if (key->rule == SCENARIO_ADDRESS)
        snprintf(text, size, "an address such as 10.0.0.1 but not fe80::1, or the name of a host");
    else
        snprintf(text, size, HIL_RENDEZVOUS_ALLOWED);
}

static void say_mapping(const cyaml_schema_value_t *value, char *text, size_t size)
{
    char names[TEXT_MAX];

    if (scenario_field_is_any(value->mapping.fields)) {
        snprintf(text, size, "a mapping, with a name of your choice for each");
        return;
    }
    scenario_say_fields(value->mapping.fields, names, sizeof(names));
    snprintf(text, size, "a mapping with the keys %s", names);
}

void scenario_say_allowed(const struct scenario_key *key, const cyaml_schema_value_t *value,
                          char *text, size_t size)
{
    char allowed[TEXT_MAX];
    cpu_set_t cpus;

    text[0] = '\0';
    switch (value->type) {
    case CYAML_FLOAT:
        say_number(key, key->rule == SCENARIO_WHOLE_NS ? "a whole number of ns" : "a number", text,
                   size);
        break;
    case CYAML_INT:
    case CYAML_UINT:
        if (key->rule == SCENARIO_CPU) {
            hil_cpus_allowed(&cpus);
            hil_cpus_format(&cpus, allowed, sizeof(allowed));
            snprintf(text, size, "-1 (any) or a cpu that is allowed here: %s", allowed);
        } else {
            say_number(key, "a whole number", text, size);
        }
        break;
    case CYAML_BOOL:
        snprintf(text, size, "true or false");
        break;
    case CYAML_ENUM:
        say_words(value, text, size);
        break;
    case CYAML_STRING:
        say_text(key, text, size);
        break;
    case CYAML_MAPPING:
        say_mapping(value, text, size);
        break;
    default:
        snprintf(text, size, "a list");
        break;
    }
}
