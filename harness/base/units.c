#include "units.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const hil_unit_bases[HIL_BASES] = {"kg", "m", "s", "A", "K", "mol", "cd", "rad"};

struct symbol {
    const char *name;
    struct hil_unit unit;
};

#define PI 0x1.921fb54442d18p+1

/*                 kg  m  s  A  K mol cd rad */
static const struct symbol symbols[] = {
    {"1", {{0, 0, 0, 0, 0, 0, 0, 0}, 1, 0}},
    {"%", {{0, 0, 0, 0, 0, 0, 0, 0}, 0.01, 0}},
    {"dB", {{0, 0, 0, 0, 0, 0, 0, 0}, 1, 0}}, /* a level, which is not converted */
    {"kg", {{1, 0, 0, 0, 0, 0, 0, 0}, 1, 0}},
    {"g", {{1, 0, 0, 0, 0, 0, 0, 0}, 1e-3, 0}},
    {"m", {{0, 1, 0, 0, 0, 0, 0, 0}, 1, 0}},
    {"l", {{0, 3, 0, 0, 0, 0, 0, 0}, 1e-3, 0}},
    {"s", {{0, 0, 1, 0, 0, 0, 0, 0}, 1, 0}},
    {"min", {{0, 0, 1, 0, 0, 0, 0, 0}, 60, 0}},
    {"h", {{0, 0, 1, 0, 0, 0, 0, 0}, 3600, 0}},
    {"A", {{0, 0, 0, 1, 0, 0, 0, 0}, 1, 0}},
    {"Ah", {{0, 0, 1, 1, 0, 0, 0, 0}, 3600, 0}},
    {"K", {{0, 0, 0, 0, 1, 0, 0, 0}, 1, 0}},
    {"degC", {{0, 0, 0, 0, 1, 0, 0, 0}, 1, 273.15}},
    {"mol", {{0, 0, 0, 0, 0, 1, 0, 0}, 1, 0}},
    {"cd", {{0, 0, 0, 0, 0, 0, 1, 0}, 1, 0}},
    {"rad", {{0, 0, 0, 0, 0, 0, 0, 1}, 1, 0}},
    {"deg", {{0, 0, 0, 0, 0, 0, 0, 1}, PI / 180, 0}},
    {"rpm", {{0, 0, -1, 0, 0, 0, 0, 1}, PI / 30, 0}},
    {"Hz", {{0, 0, -1, 0, 0, 0, 0, 0}, 1, 0}},
    {"N", {{1, 1, -2, 0, 0, 0, 0, 0}, 1, 0}},
    {"Nm", {{1, 2, -2, 0, 0, 0, 0, 0}, 1, 0}},
    {"Pa", {{1, -1, -2, 0, 0, 0, 0, 0}, 1, 0}},
    {"bar", {{1, -1, -2, 0, 0, 0, 0, 0}, 1e5, 0}},
    {"J", {{1, 2, -2, 0, 0, 0, 0, 0}, 1, 0}},
    {"Wh", {{1, 2, -2, 0, 0, 0, 0, 0}, 3600, 0}},
    {"W", {{1, 2, -3, 0, 0, 0, 0, 0}, 1, 0}},
    {"VA", {{1, 2, -3, 0, 0, 0, 0, 0}, 1, 0}},
    {"var", {{1, 2, -3, 0, 0, 0, 0, 0}, 1, 0}},
    {"C", {{0, 0, 1, 1, 0, 0, 0, 0}, 1, 0}},
    {"V", {{1, 2, -3, -1, 0, 0, 0, 0}, 1, 0}},
    {"Ohm", {{1, 2, -3, -2, 0, 0, 0, 0}, 1, 0}},
    {"S", {{-1, -2, 3, 2, 0, 0, 0, 0}, 1, 0}},
    {"F", {{-1, -2, 4, 2, 0, 0, 0, 0}, 1, 0}},
    {"H", {{1, 2, -2, -2, 0, 0, 0, 0}, 1, 0}},
    {"Wb", {{1, 2, -2, -1, 0, 0, 0, 0}, 1, 0}},
    {"T", {{1, 0, -2, -1, 0, 0, 0, 0}, 1, 0}},
};

static const struct {
    char letter;
    double factor;
} prefixes[] = {
    {'p', 1e-12}, {'n', 1e-9}, {'u', 1e-6}, {'m', 1e-3}, {'k', 1e3}, {'M', 1e6}, {'G', 1e9},
};

static const struct hil_unit *unit_symbol(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++)
        if (strlen(symbols[i].name) == length && strncmp(symbols[i].name, name, length) == 0)
            return &symbols[i].unit;
    return NULL;
}

/* A symbol, or a prefix and a symbol. */
static bool unit_word(struct hil_unit *unit, const char *name, size_t length)
{
    const struct hil_unit *known = unit_symbol(name, length);

    if (known) {
        *unit = *known;
        return true;
    }
    for (size_t i = 0; length > 1 && i < sizeof prefixes / sizeof prefixes[0]; i++) {
        if (prefixes[i].letter != name[0] || !(known = unit_symbol(name + 1, length - 1)))
            continue;
        *unit = *known;
        unit->factor *= prefixes[i].factor;
        return known->offset == 0;
    }
    return false;
}

/* unit = unit * with^exponent */
static void unit_times(struct hil_unit *unit, const struct hil_unit *with, int exponent)
{
    for (unsigned i = 0; i < HIL_BASES; i++)
        unit->exponents[i] += exponent * with->exponents[i];
    for (int i = 0; i < abs(exponent); i++)
        unit->factor *= exponent > 0 ? with->factor : 1 / with->factor;
}

/* The exponent after a word: "2", "^2", "-1", "^-1"; 1 where there is none. */
static int unit_exponent(const char **text)
{
    const char *at = *text + (**text == '^');
    char *end;

    if (!isdigit((unsigned char)at[*at == '-']))
        return 1;
    const long exponent = strtol(at, &end, 10);
    *text = end;
    return exponent >= -9 && exponent <= 9 ? (int)exponent : 0;
}

static size_t unit_length(const char *text)
{
    if (*text == '1' || *text == '%')
        return 1;
    size_t length = 0;
    while (isalpha((unsigned char)text[length]))
        length++;
    return length;
}

/* A slash divides by the next word, or by the words in brackets after it. */
enum unit_side { UNIT_ABOVE, UNIT_NEXT_BELOW, UNIT_GROUP_BELOW };

/* Takes one word with its exponent. A unit with an offset, such as degC, must stand alone. */
static bool unit_take(struct hil_unit *unit, const char **text, int sign, bool alone)
{
    const size_t length = unit_length(*text);
    struct hil_unit word;

    if (length == 0 || !unit_word(&word, *text, length))
        return false;
    *text += length;
    if (word.offset != 0 && !(alone && **text == '\0'))
        return false;
    unit->offset = word.offset;
    unit_times(unit, &word, sign * unit_exponent(text));
    return true;
}

static bool unit_product(struct hil_unit *unit, const char *text)
{
    const char *const whole = text;
    enum unit_side side = UNIT_ABOVE;

    while (*text) {
        if (strchr(" .*", *text)) {
            text++;
        } else if (*text == '/' && side == UNIT_ABOVE) {
            side = text[1] == '(' ? UNIT_GROUP_BELOW : UNIT_NEXT_BELOW;
            text += side == UNIT_GROUP_BELOW ? 2 : 1;
        } else if (*text == ')' && side == UNIT_GROUP_BELOW) {
            side = UNIT_ABOVE;
            text++;
        } else {
            if (!unit_take(unit, &text, side == UNIT_ABOVE ? 1 : -1, text == whole))
                return false;
            side = side == UNIT_NEXT_BELOW ? UNIT_ABOVE : side;
        }
    }
    return side == UNIT_ABOVE;
}

bool hil_unit_read(struct hil_unit *unit, const char *text)
{
    *unit = (struct hil_unit){.factor = 1};
    return *text && unit_product(unit, text);
}

void hil_unit_ending(const char *unit, char ending[HIL_UNIT_ENDING_BYTES])
{
    size_t used = 0;

    if (strcmp(unit, "%") == 0)
        unit = "percent";
    for (; *unit && used < HIL_UNIT_ENDING_BYTES - 8; unit++) {
        if (*unit == '/')
            used += (size_t)sprintf(ending + used, used > 0 ? "_per_" : "per_");
        else if (*unit == ' ')
            ending[used++] = '_';
        else if (isalpha((unsigned char)*unit) || (isdigit((unsigned char)*unit) && used > 0))
            ending[used++] = (char)tolower((unsigned char)*unit);
    }
    ending[used] = '\0';
}
