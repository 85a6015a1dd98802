#include "value_units.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../../base/units.h"
#include "scenario_check.h"

/* --- decimal numbers ------------------------------------------------------------------------- */

/* digits * 10^exponent, where the digits are a whole number without zeros at its ends. */
enum { DIGITS_MAX = 60 };

struct decimal {
    bool negative;
    char digits[DIGITS_MAX + 1];
    long exponent;
};

static void decimal_tidy(struct decimal *d)
{
    const size_t zeros = strspn(d->digits, "0");
    size_t count = strlen(d->digits + zeros);

    memmove(d->digits, d->digits + zeros, count + 1);
    for (; count > 0 && d->digits[count - 1] == '0'; d->exponent++)
        d->digits[--count] = '\0';
}

/* Reads the first `length` characters, which are a number. */
static bool decimal_read(struct decimal *d, const char *text, size_t length)
{
    const char *end = text + length;
    size_t count = 0;
    bool fraction = false;

    *d = (struct decimal){.negative = *text == '-'};
    for (text += *text == '-' || *text == '+'; text < end && *text != 'e' && *text != 'E'; text++) {
        if (*text == '.') {
            fraction = true;
            continue;
        }
        if (count == DIGITS_MAX)
            return false;
        d->digits[count++] = *text;
        d->exponent -= fraction;
    }
    const long exponent = text < end ? strtol(text + 1, NULL, 10) : 0;
    if (labs(exponent) > 400) /* beyond all numbers, and strtol() may have cut it */
        return false;
    d->exponent += exponent;
    decimal_tidy(d);
    return true;
}

static bool decimal_multiply(struct decimal *d, unsigned factor)
{
    char product[2 * DIGITS_MAX] = "";
    unsigned long carry = 0;
    size_t at = sizeof product - 1;

    for (size_t i = strlen(d->digits); i > 0 || carry; carry /= 10) {
        carry += i > 0 ? (unsigned long)(d->digits[i - 1] - '0') * factor : 0;
        i -= i > 0;
        product[--at] = (char)('0' + carry % 10);
    }
    if (sizeof product - 1 - at > DIGITS_MAX)
        return false;
    memcpy(d->digits, product + at, sizeof product - at);
    decimal_tidy(d);
    return true;
}

/* As few characters as `%g` would write: 10, 0.5, 4.7e-5. */
static void decimal_write(const struct decimal *d, char number[SCENARIO_VALUE_BYTES])
{
    const long count = (long)strlen(d->digits), point = count + d->exponent;
    const char *sign = d->negative && count > 0 ? "-" : "";

    if (count == 0)
        snprintf(number, SCENARIO_VALUE_BYTES, "0");
    else if (point > 15 || point < -3)
        snprintf(number, SCENARIO_VALUE_BYTES, "%s%c%s%se%ld", sign, d->digits[0],
                 count > 1 ? "." : "", d->digits + 1, point - 1);
    else if (point <= 0)
        snprintf(number, SCENARIO_VALUE_BYTES, "%s0.%.*s%s", sign, (int)-point, "000", d->digits);
    else if (point < count)
        snprintf(number, SCENARIO_VALUE_BYTES, "%s%.*s.%s", sign, (int)point, d->digits,
                 d->digits + point);
    else
        snprintf(number, SCENARIO_VALUE_BYTES, "%s%s%.*s", sign, d->digits, (int)(point - count),
                 "000000000000000");
}

/* --- units ------------------------------------------------------------------------------------ */

/* A ratio of units as multiple * 10^exponent, such as 60 s / 1 ms. The factors of units are rounded
 * a few times, which is far less than the tolerance here. False: there are no such numbers, as
 * between degrees and radians. */
static bool ratio_read(double ratio, unsigned *multiple, int *exponent)
{
    *exponent = (int)floor(log10(ratio) + 1e-9);
    for (int k = 0; k <= 6; k++) {
        const double m = ratio * pow(10, k - *exponent);
        if (fabs(m - round(m)) > 1e-12 * m)
            continue;
        *multiple = (unsigned)round(m);
        *exponent -= k;
        return true;
    }
    return false;
}

static bool is_of_one_quantity(const struct hil_unit *a, const struct hil_unit *b)
{
    return memcmp(a->exponents, b->exponents, sizeof a->exponents) == 0;
}

/* The ratio of the units that have these names. False: `why` says what is wrong. */
static bool units_compare(const char *theirs, const char *unit, unsigned *multiple, int *exponent,
                          char why[SCENARIO_UNIT_WHY_BYTES])
{
    struct hil_unit from, to;

    *multiple = 1;
    *exponent = 0;
    if (strcmp(theirs, unit) == 0)
        return true;
    if (!*unit)
        snprintf(why, SCENARIO_UNIT_WHY_BYTES, "it has no unit");
    else if (!hil_unit_read(&from, theirs))
        snprintf(why, SCENARIO_UNIT_WHY_BYTES, "'%.20s' is no known unit", theirs);
    else if (!hil_unit_read(&to, unit) || !is_of_one_quantity(&from, &to))
        snprintf(why, SCENARIO_UNIT_WHY_BYTES, "%.20s is no unit of what is in %.20s", theirs,
                 unit);
    else if (from.offset != to.offset || !ratio_read(from.factor / to.factor, multiple, exponent))
        snprintf(why, SCENARIO_UNIT_WHY_BYTES, "it has no exact number of %.20s", unit);
    else
        return true;
    return false;
}

/* Whether a unit begins here. Numbers of other kinds end likewise: 0x10 and 1e. */
static bool begins_unit(const char *text, const char *number)
{
    return (isalpha((unsigned char)*text) && !strchr("eE", *text) &&
            strncasecmp(number, "0x", 2) != 0) ||
           *text == '%' || (*text & 0x80);
}

bool scenario_value_convert(char number[SCENARIO_VALUE_BYTES], const char *text, const char *unit,
                            char why[SCENARIO_UNIT_WHY_BYTES])
{
    const size_t length = scenario_number_length(text);
    const char *theirs = text + length + (text[length] == ' ');
    char reason[SCENARIO_UNIT_WHY_BYTES] = "";
    struct decimal d;
    unsigned multiple;
    int exponent;
    bool made = false;

    if (length > 0 && begins_unit(theirs, text)) {
        made = units_compare(theirs, unit, &multiple, &exponent, reason);
        if (made && (!decimal_read(&d, text, length) || !decimal_multiply(&d, multiple))) {
            snprintf(reason, sizeof reason, "it has too many digits");
            made = false;
        }
    }
    if (why)
        memcpy(why, reason, sizeof reason);
    if (!made)
        return false;
    d.exponent += exponent;
    decimal_write(&d, number);
    return true;
}

/* --- the scenario's values -------------------------------------------------------------------- */

int scenario_node_convert(struct scenario_node *node, const char *unit)
{
    char number[SCENARIO_VALUE_BYTES];
    int rc = 0;

    for (size_t i = 0; node->kind == SCENARIO_SEQUENCE && !rc && i < node->count; i++)
        rc = scenario_node_convert(node->entries[i].value, unit);
    if (node->kind != SCENARIO_SCALAR || !scenario_value_convert(number, node->text, unit, NULL))
        return rc;
    char *text = strdup(number);
    if (!text)
        return -ENOMEM;
    free(node->written);
    node->written = node->text;
    node->text = text;
    node->plain = true;
    return 0;
}

const char *const scenario_model_blocks[] = {"parameters", "initial", "inputs", "safe"};

const struct hil_quantities *scenario_block_table(const struct hil_model *m, const char *block)
{
    return strcmp(block, "parameters") == 0                       ? &m->parameters
           : strcmp(block, "initial") == 0                        ? &m->states
           : strcmp(block, "safe") == 0 && m->kind == HIL_SAMPLED ? &m->outputs
                                                                  : &m->inputs;
}

/* --- names without their unit ---------------------------------------------------------------- */

static bool stem_before(char stem[SCENARIO_STEM_BYTES], const char *name, const char *ending)
{
    const size_t length = strlen(name), end = strlen(ending);

    if (end == 0 || length < end + 2 || length >= SCENARIO_STEM_BYTES ||
        name[length - end - 1] != '_' || strcmp(name + length - end, ending) != 0)
        return false;
    snprintf(stem, SCENARIO_STEM_BYTES, "%.*s", (int)(length - end - 1), name);
    return true;
}

bool scenario_stem(char stem[SCENARIO_STEM_BYTES], const char *name, const char *unit)
{
    char ending[HIL_UNIT_ENDING_BYTES];

    hil_unit_ending(unit, ending);
    return stem_before(stem, name, ending) ||
           (strcmp(unit, "%") == 0 && stem_before(stem, name, "pct"));
}

bool scenario_field_stem(char stem[SCENARIO_STEM_BYTES], const cyaml_schema_field_t *fields,
                         const cyaml_schema_field_t *field, const char *unit)
{
    if (!scenario_type_is_number(field->value.type) || !scenario_stem(stem, field->key, unit))
        return false;
    for (; fields->key; fields++)
        if (strcmp(fields->key, stem) == 0)
            return false;
    return true;
}

bool scenario_quantity_stem(char stem[SCENARIO_STEM_BYTES], const struct hil_quantities *table,
                            const struct hil_quantity *quantity)
{
    return scenario_stem(stem, quantity->name, quantity->unit) &&
           hil_quantity_find(table, stem) < 0;
}

static bool has_unit(const struct scenario_node *value, const char *unit)
{
    char number[SCENARIO_VALUE_BYTES];
    bool has = value->kind == SCENARIO_SEQUENCE && value->count > 0;

    if (value->kind == SCENARIO_SCALAR)
        return scenario_value_convert(number, value->text, unit, NULL);
    for (size_t i = 0; has && i < value->count; i++)
        has = has_unit(value->entries[i].value, unit);
    return has;
}

static struct scenario_entry *entry_of(const struct scenario_node *block, const char *key)
{
    for (size_t i = 0; i < block->count; i++)
        if (strcmp(block->entries[i].key, key) == 0)
            return &block->entries[i];
    return NULL;
}

int scenario_take_stem(struct scenario_node *block, const char *stem, const char *name,
                       const char *unit)
{
    struct scenario_entry *entry = entry_of(block, stem);
    const struct scenario_entry *other = entry ? entry_of(block, name) : NULL;

    if (!entry || !has_unit(entry->value, unit))
        return 0;
    if (other && other->at.set && !entry->at.set) {
        scenario_node_remove(block, stem);
        return 0;
    }
    if (other && entry->at.set) {
        scenario_node_remove(block, name);
        entry = entry_of(block, stem);
    }
    char *key = strdup(name);
    if (!key)
        return -ENOMEM;
    free(entry->key);
    entry->key = key;
    return 0;
}

/* --- a component's values -------------------------------------------------------------------- */

/* Takes entries whose names lack the unit of a row in the table. */
static int take_stems(struct scenario_node *block, const struct hil_quantities *table)
{
    char stem[SCENARIO_STEM_BYTES];
    int rc = 0;

    for (unsigned r = 0; !rc && r < table->count; r++) {
        const struct hil_quantity *q = &table->at[r];
        if (scenario_quantity_stem(stem, table, q))
            rc = scenario_take_stem(block, stem, q->name, q->unit);
    }
    return rc;
}

/* The unit of a name in the block; NULL: the model does not know it. Parameters may be inputs. */
static const char *unit_in_block(const struct hil_model *m, const char *block, const char *name)
{
    const struct hil_quantities *table = scenario_block_table(m, block);
    int row = hil_quantity_find(table, name);

    if (row < 0 && table == &m->parameters) {
        table = &m->inputs;
        row = hil_quantity_find(table, name);
    }
    return row < 0 ? NULL : table->at[row].unit;
}

/* Whether an entry of the block may be the name of a row without its unit. */
static bool names_others(const struct scenario_node *block, const struct hil_model *m,
                         const char *key)
{
    for (size_t i = 0; i < block->count; i++)
        if (!unit_in_block(m, key, block->entries[i].key))
            return true;
    return false;
}

int scenario_model_convert(const struct scenario_node *component, const struct hil_model *m)
{
    int rc = 0;

    for (size_t b = 0; !rc && b < SCENARIO_MODEL_BLOCKS; b++) {
        const char *const key = scenario_model_blocks[b];
        struct scenario_node *block = scenario_node_get(component, key);
        if (block && block->kind == SCENARIO_MAPPING && names_others(block, m, key)) {
            rc = take_stems(block, scenario_block_table(m, key));
            if (!rc && b == 0)
                rc = take_stems(block, &m->inputs);
        }
        for (size_t i = 0; block && block->kind == SCENARIO_MAPPING && !rc && i < block->count;
             i++) {
            const char *unit = unit_in_block(m, key, block->entries[i].key);
            rc = unit ? scenario_node_convert(block->entries[i].value, unit) : 0;
        }
    }
    return rc;
}
