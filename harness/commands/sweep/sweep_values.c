/* Parses the values of a sweep's keys: single values and ranges. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../scenario/yaml/key_units.h"
#include "../../scenario/yaml/scenario_schema.h"
#include "../../scenario/yaml/value_units.h"
#include "sweep.h"

/* Finds the end of the value that begins here: a comma outside of brackets and quotes. */
static const char *sweep_value_end(const char *text)
{
    int depth = 0;
    char quote = 0;

    for (; *text; text++) {
        if (quote) {
            quote = *text == quote ? 0 : quote;
        } else if (*text == '"' || *text == '\'') {
            quote = *text;
        } else if (*text == '[' || *text == '{') {
            depth++;
        } else if (*text == ']' || *text == '}') {
            depth--;
        } else if (*text == ',' && depth <= 0) {
            return text;
        }
    }
    return text;
}

static int sweep_axis_add_text(struct sweep_axis *axis, const char *from, const char *end)
{
    char **more = realloc(axis->values, (axis->count + 1) * sizeof(char *));

    if (!more)
        return -ENOMEM;
    axis->values = more;
    axis->values[axis->count] = strndup(from, (size_t)(end - from));
    return axis->values[axis->count++] ? 0 : -ENOMEM;
}

int sweep_axis_add(struct sweep_axis *axis, double value, int digits)
{
    char text[SCENARIO_NUMBER_BYTES];

    snprintf(text, sizeof text, "%.*g", digits, value);
    scenario_number_text(text, hil_scenario_rounded(axis->key, strtod(text, NULL)));
    return sweep_axis_add_text(axis, text, text + strlen(text));
}

enum { STEP_DIGITS = 12 }; /* further digits are rounding errors of the steps */

int sweep_check_step(const char *key, double value)
{
    if (fabs(hil_scenario_rounded(key, value) - value) <= 1e-11 * fabs(value))
        return 0;
    fprintf(stderr, "%s: the range has the value %.*g %s; required: whole ns\n", key, STEP_DIGITS,
            value, hil_scenario_unit(key));
    return -EINVAL;
}

int sweep_axis_add_step(struct sweep_axis *axis, double value)
{
    const int rc = sweep_check_step(axis->key, value);

    return rc ? rc : sweep_axis_add(axis, value, STEP_DIGITS);
}

static int sweep_axis_add_logarithmic(struct sweep_axis *axis, double from, double to,
                                      unsigned count)
{
    int rc = 0;

    for (unsigned i = 0; !rc && i < count; i++)
        rc = sweep_axis_add(axis, from * pow(to / from, (double)i / (count - 1)), 4);
    return rc;
}

/* Reads FROM:TO:STEP. Returns the number of steps, or 0 if the text is not such a range. */
unsigned sweep_range_read(const char *text, double *from, double *step)
{
    double to;
    int end = 0;

    if (sscanf(text, "%lf:%lf:%lf%n", from, &to, step, &end) != 3 || text[end] ||
        !(*step * (to - *from) > 0))
        return 0;
    const double steps = floor((to - *from) / *step * (1 + 1e-9));
    return steps >= 1 && steps < SWEEP_POINTS_MAX ? (unsigned)steps : 0;
}

char *sweep_without_units(const char *key, const char *text)
{
    const char *const unit = hil_scenario_unit(key);
    char *made = NULL, number[SCENARIO_VALUE_BYTES], before = ',';
    size_t size;
    FILE *to = open_memstream(&made, &size);

    while (to && *text) {
        const size_t length = strcspn(text, ",:~[]");
        char *one = strndup(text, length);
        const bool share = length > 0 && text[length - 1] == '%' && before == '~';
        if (one && !share && scenario_value_convert(number, one, unit, NULL))
            fputs(number, to);
        else
            fwrite(text, 1, length, to);
        free(one);
        text += length;
        before = *text;
        if (before)
            fputc(*text++, to);
    }
    return to && fclose(to) == 0 ? made : NULL;
}

/* Adds a value, or the values of a range. */
static int sweep_axis_add_values(struct sweep_axis *axis, const char *begin, const char *end)
{
    char text[200];
    double from, to, step;
    unsigned count = 0;
    int read = 0, rc = 0;

    snprintf(text, sizeof text, "%.*s", (int)(end - begin), begin);
    const unsigned steps = sweep_range_read(text, &from, &step);
    if (steps == 0) {
        if (sscanf(text, "%lf:%lf:log%u%n", &from, &to, &count, &read) == 3 && !text[read] &&
            count >= 2 && count < SWEEP_POINTS_MAX && from > 0 && to > 0 && isfinite(to / from))
            return sweep_axis_add_logarithmic(axis, from, to, count);
        return sweep_axis_add_text(axis, begin, end);
    }
    for (unsigned i = 0; !rc && i <= steps; i++)
        rc = sweep_axis_add_step(axis, from + i * step);
    return rc;
}

static int sweep_compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Equal values would be one run twice: they were given twice, or they are equal once rounded. */
static int sweep_axis_check(const struct sweep_axis *axis)
{
    char **sorted = calloc(axis->count + 1, sizeof *sorted);
    int rc = sorted ? 0 : -ENOMEM;

    for (unsigned i = 0; sorted && i < axis->count; i++)
        sorted[i] = axis->values[i];
    if (sorted)
        qsort(sorted, axis->count, sizeof *sorted, sweep_compare_texts);
    for (unsigned i = 1; !rc && i < axis->count; i++) {
        if (strcmp(sorted[i - 1], sorted[i]) != 0)
            continue;
        fprintf(stderr, "--set %s: several of its values are %s; each may be there once\n",
                axis->key, sorted[i]);
        rc = -EINVAL;
    }
    free(sorted);
    return rc;
}

int sweep_axis_read(struct sweep_axis *axis, const char *set)
{
    const char *equals = strchr(set, '=');

    if (!equals) {
        fprintf(stderr, "--set %s: KEY=VALUE,VALUE... is allowed\n", set);
        return -EINVAL;
    }
    axis->key = strndup(set, (size_t)(equals - set));
    char *values = axis->key ? sweep_without_units(axis->key, equals + 1) : NULL;
    if (!values)
        return -ENOMEM;
    int rc = sweep_draw_read(&axis->draw, axis->key, values);
    axis->drawn = rc > 0;
    for (const char *value = values; !rc;) {
        const char *end = sweep_value_end(value);
        rc = sweep_axis_add_values(axis, value, end);
        if (!*end)
            break;
        value = end + 1;
    }
    free(values);
    if (axis->drawn)
        return 0;
    return rc ? rc : sweep_axis_check(axis);
}

void sweep_axis_free(struct sweep_axis *axis)
{
    for (unsigned i = 0; i < axis->count; i++)
        free(axis->values[i]);
    free(axis->values);
    free(axis->key);
}
