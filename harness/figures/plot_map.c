/*
 * A sweep over two keys as a map, with a cell for each of its runs. There is a map of each figure
 * of the first measure, and a map of the verdict.
 */
#include <math.h>
#include <string.h>

#include "plot_sweep.h"

enum { MAP_SIDE_MAX = 1000 };

/* --- the grid -------------------------------------------------------------------------------- */

/* Each value of the first key is combined with each value of the second, which varies faster. */
struct map_grid {
    const json_t *points;
    size_t key[2], count[2]; /* the indices of the keys, and how many values each has */
};

static const char *map_value(const struct map_grid *g, size_t point, size_t which)
{
    const json_t *values = json_object_get(json_array_get(g->points, point), "values");
    const char *text = json_string_value(json_array_get(values, g->key[which]));

    return text ? text : "";
}

/* The point with value `i` of one key and the first value of the other. */
static size_t map_point_of(const struct map_grid *g, size_t which, size_t i)
{
    return which == 0 ? i * g->count[1] : i;
}

/* Points that were drawn by chance, or chosen by bisection, are no grid. */
static bool map_is_full(const struct map_grid *g)
{
    const size_t all = json_array_size(g->points);

    if (g->count[0] * g->count[1] != all || g->count[0] < 2 || g->count[1] < 2)
        return false;
    for (size_t i = 0; i < all; i++)
        if (strcmp(map_value(g, i, 0), map_value(g, i / g->count[1] * g->count[1], 0)) != 0 ||
            strcmp(map_value(g, i, 1), map_value(g, i % g->count[1], 1)) != 0)
            return false;
    return true;
}

static bool map_find(const struct plot_sweep *sweep, struct map_grid *g)
{
    unsigned varying = 0;

    *g = (struct map_grid){.points = json_object_get(sweep->index, "points")};
    for (size_t key = 0; key < PLOT_KEYS_MAX; key++)
        if (sweep->varying >> key & 1 && varying++ < 2)
            g->key[varying - 1] = key;
    if (varying != 2)
        return false;
    const size_t all = json_array_size(g->points);
    for (g->count[1] = 1; g->count[1] < all; g->count[1]++)
        if (strcmp(map_value(g, g->count[1], 1), map_value(g, 0, 1)) == 0)
            break;
    g->count[0] = all / g->count[1];
    return g->count[0] <= MAP_SIDE_MAX && g->count[1] <= MAP_SIDE_MAX && map_is_full(g);
}

/* --- cells ----------------------------------------------------------------------------------- */

/* The kind of a cell without a value; the script has the colours in this order. */
enum map_kind { MAP_VALUE, MAP_PASSED, MAP_FAILED, MAP_INCONCLUSIVE, MAP_NOT_SETTLED, MAP_NOTHING };

struct map_cell {
    enum map_kind kind;
    double value;
};

struct map {
    const char *name, *title, *unit; /* unit NULL: the measure's unit */
    struct map_cell (*cell)(const json_t *point);
};

static struct hil_summary_reader_measure map_measure(const json_t *point)
{
    const struct hil_summary_reader told = {json_object_get(point, "summary")};
    struct hil_summary_reader_measure m;

    hil_summary_reader_first(&told, false, &m);
    return m;
}

static struct map_cell map_cell(const struct hil_summary_reader_measure *m, double value)
{
    if (m->judged && !m->settled)
        return (struct map_cell){MAP_NOT_SETTLED, NAN};
    return (struct map_cell){isfinite(value) ? MAP_VALUE : MAP_NOTHING, value};
}

static struct map_cell map_overshoot(const json_t *point)
{
    const struct hil_summary_reader_measure m = map_measure(point);

    return map_cell(&m, m.figures.overshoot_pct);
}

static struct map_cell map_settling(const json_t *point)
{
    const struct hil_summary_reader_measure m = map_measure(point);

    return map_cell(&m, m.figures.settling_ms);
}

static struct map_cell map_rise(const json_t *point)
{
    const struct hil_summary_reader_measure m = map_measure(point);

    return map_cell(&m, m.figures.rise_time_ms);
}

/* The measure, with whether it settled after the last event, as what is steady then is of that. */
static struct hil_summary_reader_measure map_steady(const json_t *point)
{
    const struct hil_summary_reader told = {json_object_get(point, "summary")};
    struct hil_summary_reader_measure m = map_measure(point);
    struct hil_summary_reader_figures last;
    struct hil_summary_reader_event event;

    if (hil_summary_reader_after(&told, (int)hil_summary_reader_event_count(&told) - 1, m.name,
                                 &event, &last))
        m.settled = last.settled;
    return m;
}

static struct map_cell map_peak_to_peak(const json_t *point)
{
    const struct hil_summary_reader_measure m = map_steady(point);

    return map_cell(&m, m.figures.pp);
}

static struct map_cell map_error(const json_t *point)
{
    const struct hil_summary_reader_measure m = map_steady(point);

    return map_cell(&m, fabs(m.figures.steady_error));
}

/* Only a run with limits can pass or fail. */
static struct map_cell map_verdict(const json_t *point)
{
    const json_t *summary = json_object_get(point, "summary");
    const char *verdict = json_string_value(json_object_get(summary, "verdict"));
    enum map_kind kind = MAP_NOTHING;

    if (!verdict || json_array_size(json_object_get(summary, "limits")) == 0)
        kind = MAP_NOTHING;
    else if (strcmp(verdict, "passed") == 0)
        kind = MAP_PASSED;
    else if (strcmp(verdict, "failed") == 0)
        kind = MAP_FAILED;
    else if (strcmp(verdict, "inconclusive") == 0)
        kind = MAP_INCONCLUSIVE;
    return (struct map_cell){kind, NAN};
}

static const struct map maps[] = {
    {"map-verdict", "Which runs keep their limits", "", map_verdict},
    {"map-settling", "Longest settling time of all events", "ms", map_settling},
    {"map-overshoot", "Greatest overshoot of all events", "%", map_overshoot},
    {"map-rise", "Longest rise time of all events", "ms", map_rise},
    {"map-error", "Steady-state error after the last event", NULL, map_error},
    {"map-pp", "Peak to peak after the last event", NULL, map_peak_to_peak},
};

/* --- drawing --------------------------------------------------------------------------------- */

/* What the cells contain. */
struct map_seen {
    unsigned kinds; /* a bit for each kind */
    double least, greatest;
    size_t letters; /* number of letters in the longest text of a cell */
};

static struct map_seen map_look(const struct map_grid *g, const struct map *map)
{
    struct map_seen seen = {.least = INFINITY, .greatest = -INFINITY};

    for (size_t i = 0; i < json_array_size(g->points); i++) {
        const struct map_cell cell = map->cell(json_array_get(g->points, i));
        seen.kinds |= 1u << cell.kind;
        if (cell.kind != MAP_VALUE)
            continue;
        seen.least = fmin(seen.least, cell.value);
        seen.greatest = fmax(seen.greatest, cell.value);
    }
    return seen;
}

/* Writes "column row kind value text". Values that are negligible compared to the greatest are
 * written as 0. */
static void map_write_cells(struct hil_figure *figure, const struct map_grid *g,
                            const struct map *map, struct map_seen *seen)
{
    const double nothing = 1e-9 * fmax(fabs(seen->least), fabs(seen->greatest));
    FILE *data = hil_figure_data(figure, "cells", 1);
    char text[32];

    for (size_t i = 0; data && i < json_array_size(g->points); i++) {
        const struct map_cell cell = map->cell(json_array_get(g->points, i));
        const double value = cell.kind == MAP_VALUE ? cell.value : 0;
        snprintf(text, sizeof(text), "%.3g", fabs(value) > nothing ? value : 0);
        seen->letters = strlen(text) > seen->letters ? strlen(text) : seen->letters;
        fprintf(data, "%zu %zu %d %.9g %s\n", i % g->count[1] + 1, i / g->count[1] + 1,
                (int)cell.kind, value, text);
    }
    if (data)
        hil_figure_data_end(figure, data);
}

/* Writes the values of one key, and its name, for an axis. */
static void map_write_axis(struct hil_figure *figure, const struct plot_sweep *sweep,
                           const struct map_grid *g, size_t which, const char *axis)
{
    const json_t *units = json_object_get(sweep->index, "units");
    const char *unit = json_string_value(json_array_get(units, g->key[which]));
    char words[PLOT_TEXT_BYTES], in_unit[40], variable[32];

    plot_sweep_key_words(sweep, (int)g->key[which], words);
    plot_in_unit(unit ? unit : "", in_unit);
    snprintf(variable, sizeof(variable), "%s_label", axis);
    hil_figure_text(figure, variable, "%s%s", words, in_unit);
    fprintf(figure->values, "%s_count = %zu\narray %s_value[%zu]\n", axis, g->count[which], axis,
            g->count[which]);
    for (size_t i = 0; i < g->count[which]; i++) {
        snprintf(variable, sizeof(variable), "%s_value[%zu]", axis, i + 1);
        hil_figure_text(figure, variable, "%.24s", map_value(g, map_point_of(g, which, i), which));
    }
}

static void map_write_title(struct hil_figure *figure, const struct plot_sweep *sweep,
                            const struct map *map)
{
    const struct plot_measure *m = &sweep->series[0].run.first;
    char measure[PLOT_TEXT_BYTES], in_unit[40];

    plot_measure_words(m, measure);
    plot_in_unit(map->unit ? map->unit : m->column->unit, in_unit);
    if (map->cell == map_verdict)
        hil_figure_text(figure, "title", "%s", map->title);
    else
        hil_figure_text(figure, "title", "%s: %.48s%s", map->title, measure, in_unit);
    hil_figure_text(figure, "subtitle", "%s", sweep->described);
}

static int map_draw(const struct plot_sweep *sweep, const struct map_grid *g, const struct map *map)
{
    struct map_seen seen = map_look(g, map);
    struct hil_figure figure;

    if ((seen.kinds & ~(1u << MAP_NOTHING)) == 0)
        return 0;
    const int rc = hil_figure_open(&figure, sweep->to, map->name, sweep->messages);
    if (rc)
        return rc;
    map_write_cells(&figure, g, map, &seen);
    map_write_title(&figure, sweep, map);
    map_write_axis(&figure, sweep, g, 0, "y");
    map_write_axis(&figure, sweep, g, 1, "x");
    fprintf(figure.values, "kinds = %u\ncell_letters = %zu\nvalue_from = %.9g\nvalue_to = %.9g\n",
            seen.kinds, seen.letters, isfinite(seen.least) ? seen.least : 0,
            isfinite(seen.greatest) ? seen.greatest : 1);
    return hil_figure_draw(&figure, "series-map.gp");
}

int plot_sweep_maps(const struct plot_sweep *sweep)
{
    struct map_grid grid;
    int rc = 0;

    if (!map_find(sweep, &grid))
        return 0;
    for (size_t i = 0; !rc && i < sizeof(maps) / sizeof(maps[0]); i++)
        rc = map_draw(sweep, &grid, &maps[i]);
    return rc;
}
