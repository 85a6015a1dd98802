#include "table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELL = 24 };

/* --- cells ---------------------------------------------------------------------------------- */

/* Always three digits; 999.6 would be rounded to four. */
static void format_digits(double value, const char *unit, char *text, size_t size)
{
    int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;

    snprintf(text, size, "%.*f%s", decimals, value, unit);
}

void hil_format_time(double ns, char *text, size_t size)
{
    if (!isfinite(ns))
        snprintf(text, size, "-");
    else if (ns < 999.5)
        snprintf(text, size, "%.0fns", ns);
    else if (ns < 999.5e3)
        format_digits(ns * 1e-3, "us", text, size);
    else if (ns < 999.5e6)
        format_digits(ns * 1e-6, "ms", text, size);
    else
        format_digits(ns * 1e-9, "s", text, size);
}

void hil_format_count(uint64_t count, int width, char *text, size_t size)
{
    static const char units[] = {'k', 'M', 'G', 'T', 'P'};
    int length = snprintf(text, size, "%llu", (unsigned long long)count);

    for (size_t i = 0; length > width && i < sizeof units; i++) {
        count /= 1000;
        length = snprintf(text, size, "%llu%c", (unsigned long long)count, units[i]);
    }
}

/* --- lines ---------------------------------------------------------------------------------- */

static const struct {
    const char *name, *head;
    int width;
    bool sorts;
    enum hil_table_key key;
} columns[] = {
    {"node", "NODE", -14, true, HIL_BY_NODE},
    {"state", "STATE", -8, false, 0},
    {"period", "PERIOD", 6, false, 0},
    {"steps", "STEPS", 9, false, 0},
    {"missed", "MISSED", 7, true, HIL_BY_MISSED},
    {"late p99", "LATE p99", 9, true, HIL_BY_LATE_P99},
    {"late in the last second", "in 1 s", 7, true, HIL_BY_LATE_RECENT},
    {"late max", "max", 6, true, HIL_BY_LATE_MAX},
    {"input age", "INPUT", 6, true, HIL_BY_INPUT_AGE},
};

enum { COLUMNS = sizeof columns / sizeof columns[0] };

const char *hil_table_key_name(enum hil_table_key key)
{
    for (unsigned i = 0; i < COLUMNS; i++)
        if (columns[i].sorts && columns[i].key == key)
            return columns[i].name;
    return "";
}

static void append(char *text, size_t size, unsigned column, const char *cell)
{
    size_t used = strlen(text);

    snprintf(text + used, size - used, "%s%*s", column ? " " : "", columns[column].width, cell);
}

void hil_table_head(const struct hil_table_order *order, char *text, size_t size)
{
    char cell[CELL];

    text[0] = '\0';
    for (unsigned i = 0; i < COLUMNS; i++) {
        bool sorted = columns[i].sorts && columns[i].key == order->key;
        snprintf(cell, sizeof cell, "%s%s", sorted ? order->reversed ? "^" : "v" : "",
                 columns[i].head);
        append(text, size, i, cell);
    }
}

/* Shortens a long name in the middle, because its end distinguishes it from others. */
static void format_name(const char *name, char cell[CELL])
{
    enum { END = 6 };
    const size_t room = (size_t)-columns[0].width, length = strlen(name);

    if (length <= room)
        snprintf(cell, CELL, "%s", name);
    else
        snprintf(cell, CELL, "%.*s~%s", (int)room - 1 - END, name, name + length - END);
}

void hil_table_row(const struct hil_node_sample *n, char *text, size_t size)
{
    char cells[COLUMNS][CELL];
    unsigned i = 0;

    format_name(n->name, cells[i++]);
    snprintf(cells[i++], CELL, "%s", hil_sample_state(n));
    hil_format_time((double)n->period_ns, cells[i++], CELL);
    hil_format_count(n->told.steps, 9, cells[i++], CELL);
    hil_format_count(n->told.missed, 7, cells[i++], CELL);
    hil_format_time(n->late_p99_ns, cells[i++], CELL);
    hil_format_time((double)n->told.late_recent_ns, cells[i++], CELL);
    hil_format_time((double)n->told.late_max_ns, cells[i++], CELL);
    hil_format_time((double)n->told.input_age_ns, cells[i++], CELL);
    text[0] = '\0';
    for (i = 0; i < COLUMNS; i++)
        append(text, size, i, cells[i]);
}

/* --- order ---------------------------------------------------------------------------------- */

/* The greatest rank comes first. */
static double rank(const struct hil_node_sample *n, enum hil_table_key key)
{
    switch (key) {
    case HIL_BY_MISSED:
        return (double)n->told.missed;
    case HIL_BY_LATE_P99:
        return isnan(n->late_p99_ns) ? -1 : n->late_p99_ns;
    case HIL_BY_LATE_RECENT:
        return (double)n->told.late_recent_ns;
    case HIL_BY_LATE_MAX:
        return (double)n->told.late_max_ns;
    case HIL_BY_INPUT_AGE:
        return (double)n->told.input_age_ns;
    default:
        return -(double)n->node;
    }
}

static int compare(const void *a, const void *b, void *arg)
{
    const struct hil_node_sample *x = a, *y = b;
    const struct hil_table_order *order = arg;
    double difference = rank(x, order->key) - rank(y, order->key);

    if (difference == 0)
        return (x->node > y->node) - (x->node < y->node);
    return (difference > 0) == order->reversed ? 1 : -1;
}

void hil_table_sort(struct hil_sample *s, const struct hil_table_order *order)
{
    qsort_r(s->nodes, s->count, sizeof s->nodes[0], compare, (void *)order);
}
