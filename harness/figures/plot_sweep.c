/* The figures of a sweep: one curve for each of its runs. */
#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../record/run_files.h"
#include "plot_sweep.h"

/* --- words --------------------------------------------------------------------------------- */

/* What stands at the end of a key for its unit, and how that is written. */
static const struct unit {
    const char *suffix, *text;
} units[] = {
    {"_us", " µs"}, {"_ms", " ms"}, {"_s", " s"},   {"_ns", " ns"},
    {"_v", " V"},   {"_a", " A"},   {"_h", " H"},   {"_f", " F"},
    {"_ohm", " Ω"}, {"_hz", " Hz"}, {"_pct", " %"}, {"", ""}, /* the last one always fits */
};

static const struct unit *unit_of(const char *key)
{
    const struct unit *unit = units;

    while (strlen(key) < strlen(unit->suffix) ||
           strcmp(key + strlen(key) - strlen(unit->suffix), unit->suffix) != 0)
        unit++;
    return unit;
}

/* "network.latency_up_us" as words: "network latency up". */
static void key_words(const char *key, char text[PLOT_TEXT_BYTES])
{
    const size_t length = strlen(key) - strlen(unit_of(key)->suffix);

    snprintf(text, PLOT_TEXT_BYTES, "%.*s", (int)length, key);
    for (char *c = text; *c != '\0'; c++)
        if (ispunct((unsigned char)*c))
            *c = ' ';
}

/* "T = 40 µs", or "latency up 5 µs". */
static void value_words(const char *key, const char *value, char text[PLOT_TEXT_BYTES])
{
    const char *last = strrchr(key, '.');
    char words[PLOT_TEXT_BYTES];

    key_words(last ? last + 1 : key, words);
    if (strcmp(key, "controller.period_us") == 0)
        snprintf(text, PLOT_TEXT_BYTES, "T = %.64s µs", value);
    else
        snprintf(text, PLOT_TEXT_BYTES, "%.100s %.64s%s", words, value, unit_of(key)->text);
}

/* Ends in dots what has no room. */
static void append(char text[PLOT_TEXT_BYTES], const char *between, const char *more)
{
    const size_t used = strlen(text), room = PLOT_TEXT_BYTES - used;
    const int length = snprintf(text + used, room, "%s%s", used > 0 ? between : "", more);

    if ((size_t)length >= room)
        strcpy(text + PLOT_TEXT_BYTES - 4, "...");
}

static const char *text_at(const json_t *array, size_t i)
{
    const char *text = json_string_value(json_array_get(array, i));

    return text ? text : "";
}

/* A key that is the same everywhere tells nothing of a run. */
static bool varies(const struct plot_sweep *sweep, size_t key)
{
    const json_t *points = json_object_get(sweep->index, "points");
    const json_t *first = json_object_get(json_array_get(points, 0), "values");

    for (size_t i = 1; i < json_array_size(points); i++) {
        const json_t *values = json_object_get(json_array_get(points, i), "values");

        if (strcmp(text_at(values, key), text_at(first, key)) != 0)
            return true;
    }
    return json_array_size(points) == 1;
}

/* The one that the runs are told apart by; of several the first. */
static size_t varying_key(const struct plot_sweep *sweep)
{
    size_t key = 0;

    while (key < json_array_size(json_object_get(sweep->index, "keys")) && !varies(sweep, key))
        key++;
    return key;
}

static void write_title(struct plot_sweep *sweep)
{
    const json_t *keys = json_object_get(sweep->index, "keys");
    char all[PLOT_TEXT_BYTES] = "", words[PLOT_TEXT_BYTES];

    for (size_t i = 0; i < json_array_size(keys); i++) {
        if (!varies(sweep, i))
            continue;
        key_words(text_at(keys, i), words);
        append(all, " and ", words);
    }
    snprintf(sweep->title, sizeof(sweep->title), "Output voltage for each %.200s", all);
}

static void write_label(const struct plot_sweep *sweep, const json_t *point,
                        struct plot_series *series)
{
    const json_t *keys = json_object_get(sweep->index, "keys");
    const json_t *values = json_object_get(point, "values");
    char words[PLOT_TEXT_BYTES];

    for (size_t i = 0; i < json_array_size(keys); i++) {
        if (!varies(sweep, i))
            continue;
        value_words(text_at(keys, i), text_at(values, i), words);
        append(series->label, ", ", words);
    }
}

/* --- reading ------------------------------------------------------------------------------- */

/* A point whose run failed has been complained of, and is left out. */
static void open_point(struct plot_sweep *sweep, const json_t *point)
{
    const char *name = json_string_value(json_object_get(point, "dir"));
    struct plot_series *series = &sweep->series[sweep->count];

    if (!name || hil_run_path(series->dir, sweep->dir, "%s", name) != 0 ||
        plot_run_open(&series->run, series->dir, sweep->messages) != 0)
        return;
    sweep->count++;
    write_label(sweep, point, series);
    snprintf(series->value, sizeof(series->value), "%.64s",
             text_at(json_object_get(point, "values"), varying_key(sweep)));
    plot_run_describe(&series->run, sweep->subtitle);
    plot_run_judge(&series->run, series->note);
    plot_run_steady(&series->run, series->steady);
}

/* Of too many points some, at even distances, with the first and the last. */
static void open_points(struct plot_sweep *sweep, const json_t *points)
{
    const size_t all = json_array_size(points);
    const size_t some = all < PLOT_SERIES_MAX ? all : PLOT_SERIES_MAX;

    if (some < all)
        fprintf(sweep->messages, "%s: the figures show %zu of the %zu runs\n", sweep->dir, some,
                all);
    for (size_t i = 0; i < some; i++)
        open_point(sweep, json_array_get(points, some > 1 ? i * (all - 1) / (some - 1) : 0));
}

static int open_index(struct plot_sweep *sweep)
{
    char path[HIL_PATH_BYTES];
    json_error_t error;
    int rc = hil_run_path(path, sweep->dir, "sweep.json");
    if (rc)
        return rc;

    if (access(path, F_OK) != 0) {
        fprintf(sweep->messages, "%s is not the folder of a sweep: it has no sweep.json\n",
                sweep->dir);
        return -ENOENT;
    }
    sweep->index = json_load_file(path, 0, &error);
    if (!sweep->index) {
        fprintf(sweep->messages, "%s:%d:%d: %s\n", path, error.line, error.column, error.text);
        return -EBADMSG;
    }
    write_title(sweep);
    open_points(sweep, json_object_get(sweep->index, "points"));
    if (sweep->count > 0)
        return 0;
    fprintf(sweep->messages, "%s: no run to draw\n", path);
    return -ENODATA;
}

static void choose_views(struct plot_sweep *sweep)
{
    bool all_settle = true;

    for (unsigned i = 0; i < sweep->count; i++) {
        const struct plot_run *run = &sweep->series[i].run;

        sweep->to_s[PLOT_ALL] = fmax(sweep->to_s[PLOT_ALL], run->duration_s);
        sweep->to_s[PLOT_STARTUP] = fmax(sweep->to_s[PLOT_STARTUP], plot_run_startup(run));
        all_settle &= run->settled;
    }
    sweep->to_s[PLOT_FIRST] = sweep->to_s[PLOT_STARTUP] / (all_settle ? 1 : 4);
}

static void add_output(void *arg, double time_s, const double *output)
{
    struct plot_series *series = arg;

    for (int view = 0; view < PLOT_VIEWS; view++)
        hil_envelope_add(&series->views[view], time_s, *output);
}

static double area(const struct hil_envelope *envelope)
{
    double sum = 0;

    for (unsigned i = 0; i < envelope->column_count; i++)
        sum += envelope->columns[i].greatest.y - envelope->columns[i].least.y;
    return sum;
}

static int read_curve(const struct plot_sweep *sweep, struct plot_series *series)
{
    int rc = 0;

    for (int view = 0; view < PLOT_VIEWS && !rc; view++)
        rc = hil_envelope_init(&series->views[view], 0, sweep->to_s[view], HIL_FIGURE_COLUMNS);
    if (!rc)
        rc = plot_run_scan(&series->run, series->run.output, add_output, series);
    if (!rc)
        series->area = area(&series->views[PLOT_ALL]);
    return rc;
}

int plot_sweep_read(struct plot_sweep *sweep, double to_s)
{
    int rc = 0;

    choose_views(sweep);
    sweep->to_s[PLOT_ALL] = fmin(sweep->to_s[PLOT_ALL], to_s);
    for (unsigned i = 0; i < sweep->count && !rc; i++)
        rc = read_curve(sweep, &sweep->series[i]);
    return rc;
}

/* --- drawing ------------------------------------------------------------------------------- */

/* Between three colours, from 0 to 1. Blues settle and oranges do not: a pair that everybody
 * can tell apart, each from light to dark. */
static unsigned shade(bool settled, double at)
{
    static const int stops[2][3][3] = {
        {{0xf5, 0x9b, 0x42}, {0xcf, 0x4f, 0x0b}, {0x7f, 0x1d, 0x02}},
        {{0x6b, 0xae, 0xd6}, {0x2b, 0x7b, 0xba}, {0x08, 0x30, 0x6b}},
    };
    const int from = at < 0.5 ? 0 : 1;
    const double part = 2 * at - from;
    unsigned colour = 0;

    for (int i = 0; i < 3; i++) {
        const int *const low = stops[settled][from], *const high = stops[settled][from + 1];
        colour = colour << 8 | (unsigned)lround(low[i] + part * (high[i] - low[i]));
    }
    return colour;
}

/* The colour of series i: its place among those that went as it did. */
static unsigned colour_of(const struct plot_sweep *sweep, unsigned i)
{
    const bool settled = sweep->series[i].run.settled;
    unsigned before = 0, alike = 0;

    for (unsigned k = 0; k < sweep->count; k++) {
        alike += sweep->series[k].run.settled == settled;
        before += k < i && sweep->series[k].run.settled == settled;
    }
    return shade(settled, alike > 1 ? (double)before / (alike - 1) : 1);
}

/* How many are drawn before series i: those that it must lie on top of. */
static unsigned place_of(const struct plot_sweep *sweep, unsigned i)
{
    const double own = sweep->series[i].area;
    unsigned place = 0;

    for (unsigned k = 0; k < sweep->count; k++)
        place += sweep->series[k].area > own || (sweep->series[k].area == own && k < i);
    return place;
}

void plot_sweep_set_series(const struct plot_sweep *sweep, struct hil_figure *figure)
{
    char variable[32];

    fprintf(
        figure->values,
        "n = %u\narray label[n]\narray note[n]\narray steady[n]\narray colour[n]\narray order[n]\n",
        sweep->count);
    for (unsigned i = 0; i < sweep->count; i++) {
        snprintf(variable, sizeof(variable), "label[%u]", i + 1);
        hil_figure_text(figure, variable, "%s", sweep->series[i].label);
        snprintf(variable, sizeof(variable), "note[%u]", i + 1);
        hil_figure_text(figure, variable, "%s", sweep->series[i].note);
        snprintf(variable, sizeof(variable), "steady[%u]", i + 1);
        hil_figure_text(figure, variable, "%s", sweep->series[i].steady);
        fprintf(figure->values, "colour[%u] = '#%06x'\norder[%u] = %u\n", i + 1,
                colour_of(sweep, i), place_of(sweep, i) + 1, i + 1);
    }
}

void plot_sweep_set_axes(const struct plot_sweep *sweep, struct hil_figure *figure,
                         const struct plot_window *window)
{
    hil_figure_text(figure, "x_label", "%s", window->label);
    hil_figure_text(figure, "y_label", "output voltage, sum of all converters (V)");
    fprintf(figure->values, "x_from = 0\nx_to = %.9g\nreference = %.9g\n",
            window->to_s * window->scale, sweep->series[0].run.reference_v);
}

struct picture {
    const char *name, *script, *what;
    enum plot_view view;
};

static int draw(const struct plot_sweep *sweep, const struct picture *picture)
{
    const struct plot_window window = plot_window(sweep->to_s[picture->view]);
    struct plot_range range = {INFINITY, -INFINITY};
    struct hil_figure figure;
    int rc = hil_figure_open(&figure, sweep->dir, picture->name, sweep->messages);
    if (rc)
        return rc;

    hil_figure_text(&figure, "title", "%s%s", sweep->title, picture->what);
    hil_figure_text(&figure, "subtitle", "%s", sweep->subtitle);
    plot_sweep_set_axes(sweep, &figure, &window);
    plot_sweep_set_series(sweep, &figure);
    plot_events_open(&figure, sweep->count);
    for (unsigned i = 0; i < sweep->count; i++) {
        const struct hil_envelope *envelope = &sweep->series[i].views[picture->view];

        plot_events_set(&figure, i + 1, &sweep->series[i].run.events, 0, window.to_s, window.scale);
        plot_curve(&figure, "series", i + 1, envelope, &window);
        plot_range_include(&range, envelope);
    }
    plot_range_set(&figure, 1, range);
    return hil_figure_draw(&figure, picture->script);
}

static int draw_all(const struct plot_sweep *sweep)
{
    static const struct picture pictures[] = {
        {"figure", "series-panels.gp", "", PLOT_ALL},
        {"figure-startup", "series-panels.gp", ": start-up", PLOT_STARTUP},
        {"figure-overlay", "series-overlay.gp", "", PLOT_ALL},
        {"figure-startup-overlay", "series-overlay.gp", ": start-up", PLOT_FIRST},
    };
    int rc = 0;

    for (size_t i = 0; i < sizeof(pictures) / sizeof(pictures[0]) && !rc; i++)
        rc = draw(sweep, &pictures[i]);
    return rc;
}

int plot_sweep_open(struct plot_sweep **opened, const char *dir, FILE *messages)
{
    struct plot_sweep *sweep = calloc(1, sizeof(*sweep));
    if (!sweep)
        return -ENOMEM;

    sweep->dir = dir;
    sweep->messages = messages;
    const int rc = open_index(sweep);
    if (rc)
        plot_sweep_close(sweep);
    else
        *opened = sweep;
    return rc;
}

void plot_sweep_close(struct plot_sweep *sweep)
{
    if (!sweep)
        return;
    for (unsigned i = 0; i < sweep->count; i++) {
        plot_run_close(&sweep->series[i].run);
        for (int view = 0; view < PLOT_VIEWS; view++)
            hil_envelope_fini(&sweep->series[i].views[view]);
    }
    json_decref(sweep->index);
    free(sweep);
}

int plot_sweep_figures(const char *dir, FILE *messages)
{
    struct plot_sweep *sweep;
    int rc = plot_sweep_open(&sweep, dir, messages);
    if (rc)
        return rc;

    rc = plot_sweep_read(sweep, INFINITY);
    if (!rc)
        rc = draw_all(sweep);
    if (!rc)
        rc = plot_sweep_round_trip(sweep);
    plot_sweep_close(sweep);
    return rc;
}
