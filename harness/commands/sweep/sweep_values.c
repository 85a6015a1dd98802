/* Parses the values of a sweep's keys: single values and ranges. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../scenario/yaml/scenario_schema.h"
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
        rc = sweep_axis_add(axis, from + i * step, SWEEP_RANGE_DIGITS);
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
    if (!axis->key)
        return -ENOMEM;
    int rc = sweep_draw_read(&axis->draw, axis->key, equals + 1);
    axis->drawn = rc > 0;
    if (rc)
        return axis->drawn ? 0 : rc;
    for (const char *value = equals + 1; !rc;) {
        const char *end = sweep_value_end(value);
        rc = sweep_axis_add_values(axis, value, end);
        if (!*end)
            break;
        value = end + 1;
    }
    return rc;
}

void sweep_axis_free(struct sweep_axis *axis)
{
    for (unsigned i = 0; i < axis->count; i++)
        free(axis->values[i]);
    free(axis->values);
    free(axis->key);
}
