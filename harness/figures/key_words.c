#include "key_words.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "../base/units.h"

/* The length of the key without its unit. In "tolerance.percent" everything after the point is the
 * unit. */
static size_t length_without(const char *key, const char *unit)
{
    const size_t length = strlen(key);
    char ending[HIL_UNIT_ENDING_BYTES];

    hil_unit_ending(unit, ending);
    const size_t end = strlen(ending) + 1; /* with what is before it */
    if (*unit == '\0' || length <= end || strcmp(key + length - end + 1, ending) != 0)
        return length;
    const char before = key[length - end];
    return before == '_' || before == '.' ? length - end : length;
}

static bool begins_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* Finds the owner: "components.motor.parameters.inertia_kg_m2" is the motor's inertia,
 * "nodes.drive.period_us" the drive's period. */
static void name_owner(const char *key, char named[HIL_KEY_WORDS_BYTES])
{
    const bool component = begins_with(key, "components."), node = begins_with(key, "nodes.");
    const char *owner = component || node ? strchr(key, '.') + 1 : key;
    const char *block = component ? strstr(owner, ".parameters.") : NULL;
    const int length = block ? (int)(block - owner) : (int)strlen(owner);

    snprintf(named, HIL_KEY_WORDS_BYTES, "%.*s%s", length, owner,
             block ? block + strlen(".parameters") : "");
}

void hil_key_words(const char *key, const char *unit, char words[HIL_KEY_WORDS_BYTES])
{
    char named[HIL_KEY_WORDS_BYTES];

    name_owner(key, named);
    snprintf(words, HIL_KEY_WORDS_BYTES, "%.*s", (int)length_without(named, unit), named);
    for (char *c = words; *c != '\0'; c++)
        if (ispunct((unsigned char)*c))
            *c = ' ';
}

void hil_key_short_words(const char *key, const char *unit, char words[HIL_KEY_WORDS_BYTES])
{
    size_t start = length_without(key, unit);

    while (start > 0 && key[start - 1] != '.')
        start--;
    hil_key_words(key + start, unit, words);
}

const char *hil_unit_words(const char *unit)
{
    return strncmp(unit, "1/", 2) == 0 ? unit + 1
           : strcmp(unit, "us") == 0   ? "µs"
           : strcmp(unit, "Ohm") == 0  ? "Ω"
                                       : unit;
}

void hil_value_words(const char *value, const char *unit, char words[HIL_KEY_WORDS_BYTES])
{
    const char *written = hil_unit_words(unit);

    snprintf(words, HIL_KEY_WORDS_BYTES, "%.100s%s%s", value, *written ? " " : "", written);
}

/* --- lines --------------------------------------------------------------------------------- */

/* Continuation bytes of UTF-8 do not count. */
static unsigned letters_in(const char *text, size_t bytes)
{
    unsigned letters = 0;

    for (size_t i = 0; i < bytes; i++)
        letters += ((unsigned char)text[i] & 0xc0) != 0x80;
    return letters;
}

void hil_break_lines(char *text, unsigned letters)
{
    char *line = text;

    for (char *comma = strstr(text, ", "); comma; comma = strstr(comma + 1, ", ")) {
        const char *next = strstr(comma + 1, ", ");
        const size_t bytes = next ? (size_t)(next - line) : strlen(line);

        if (letters_in(line, bytes) <= letters)
            continue;
        comma[1] = '\n';
        line = comma + 2;
    }
}

unsigned hil_longest_line(const char *text)
{
    unsigned longest = 0;

    for (size_t bytes; *text != '\0'; text += bytes + (text[bytes] == '\n')) {
        bytes = strcspn(text, "\n");
        const unsigned letters = letters_in(text, bytes);
        longest = letters > longest ? letters : longest;
    }
    return longest;
}

unsigned hil_line_count(const char *text)
{
    unsigned lines = 1;

    for (; *text != '\0'; text++)
        lines += *text == '\n';
    return lines;
}
