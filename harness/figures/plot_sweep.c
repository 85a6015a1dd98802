/* The figures of a sweep: one curve for each of its runs. */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/foreign.h"
#include "../base/looks.h"
#include "../h5/run_files.h"
#include "key_words.h"
#include "plot_sweep.h"

/* --- words --------------------------------------------------------------------------------- */

static const char *text_at(const json_t *array, size_t i)
{
    const char *text = json_string_value(json_array_get(array, i));

    return text ? text : "";
}

static const char *key_at(const struct plot_sweep *sweep, size_t key)
{
    return text_at(json_object_get(sweep->index, "keys"), key);
}

static const char *unit_at(const struct plot_sweep *sweep, size_t key)
{
    return text_at(json_object_get(sweep->index, "units"), key);
}

static size_t key_count(const struct plot_sweep *sweep)
{
    const size_t count = json_array_size(json_object_get(sweep->index, "keys"));

    return count < PLOT_KEYS_MAX ? count : PLOT_KEYS_MAX;
}

/* Appends text, or dots if there is no room. */
static void append(char text[PLOT_TEXT_BYTES], const char *between, const char *more)
{
    const size_t used = strlen(text), room = PLOT_TEXT_BYTES - used;
    const int length = snprintf(text + used, room, "%s%s", used > 0 ? between : "", more);

    if ((size_t)length >= room)
        strcpy(text + PLOT_TEXT_BYTES - 4, "...");
}

/* A key with the same value everywhere does not distinguish runs. */
static bool varies(const struct plot_sweep *sweep, size_t key)
{
    return sweep->varying >> key & 1;
}

static bool find_other_value(const struct plot_sweep *sweep, size_t key)
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

static void find_varying(struct plot_sweep *sweep)
{
    for (size_t i = 0; i < key_count(sweep); i++)
        sweep->varying |= (uint64_t)find_other_value(sweep, i) << i;
}

/* Whether a key is the period of a node's loop. */
static bool plot_is_period(const char *key)
{
    static const char end[] = ".period_us";
    const size_t length = strlen(key);

    return length > strlen(end) && strcmp(key + length - strlen(end), end) == 0;
}

int plot_sweep_only_period(const struct plot_sweep *sweep)
{
    int found = -1;

    for (size_t i = 0; i < key_count(sweep); i++) {
        if (!varies(sweep, i))
            continue;
        if (found >= 0 || !plot_is_period(key_at(sweep, i)))
            return -1;
        found = (int)i;
    }
    return found;
}

void plot_sweep_key_words(const struct plot_sweep *sweep, int key, char words[PLOT_TEXT_BYTES])
{
    hil_key_words(key_at(sweep, (size_t)key), unit_at(sweep, (size_t)key), words);
}

/* "Output for each controller period" */
static void write_title(struct plot_sweep *sweep)
{
    char all[PLOT_TEXT_BYTES] = "", words[PLOT_TEXT_BYTES], measure[PLOT_TEXT_BYTES];

    for (size_t i = 0; i < key_count(sweep); i++) {
        if (!varies(sweep, i))
            continue;
        hil_key_words(key_at(sweep, i), unit_at(sweep, i), words);
        append(all, " and ", words);
    }
    plot_measure_words(&sweep->series[0].run.first, measure);
    plot_capital(measure);
    snprintf(sweep->title, sizeof(sweep->title), "%.48s for each %.190s", measure, all);
}

/* The last word of the key's name if that distinguishes the varying keys; otherwise the whole
 * name. */
static void name_key(const struct plot_sweep *sweep, size_t key, char words[PLOT_TEXT_BYTES])
{
    char other[PLOT_TEXT_BYTES];

    hil_key_short_words(key_at(sweep, key), unit_at(sweep, key), words);
    for (size_t i = 0; i < key_count(sweep); i++) {
        hil_key_short_words(key_at(sweep, i), unit_at(sweep, i), other);
        if (i == key || !varies(sweep, i) || strcmp(words, other) != 0)
            continue;
        hil_key_words(key_at(sweep, key), unit_at(sweep, key), words);
        return;
    }
}

/* Whether the key is the only period that varies, which is labelled "T =". */
static bool is_the_period(const struct plot_sweep *sweep, size_t key)
{
    unsigned periods = 0;

    for (size_t i = 0; i < key_count(sweep); i++)
        periods += varies(sweep, i) && plot_is_period(key_at(sweep, i));
    return periods == 1 && plot_is_period(key_at(sweep, key));
}

/* "T = 40 µs, ki 150 /(V s)". */
static void write_label(const struct plot_sweep *sweep, const json_t *point,
                        struct plot_series *series)
{
    enum { LINE_LETTERS = 36 };
    const json_t *values = json_object_get(point, "values");
    char name[PLOT_TEXT_BYTES], value[PLOT_TEXT_BYTES], words[2 * PLOT_TEXT_BYTES];

    for (size_t i = 0; i < key_count(sweep); i++) {
        if (!varies(sweep, i))
            continue;
        name_key(sweep, i, name);
        hil_value_words(text_at(values, i), unit_at(sweep, i), value);
        snprintf(words, sizeof(words), "%s %s", is_the_period(sweep, i) ? "T =" : name, value);
        append(series->label, ", ", words);
    }
    hil_break_lines(series->label, LINE_LETTERS);
}

/* --- reading ------------------------------------------------------------------------------- */

static int open_measured(struct plot_run *run, const char *dir, FILE *messages)
{
    const int rc = plot_run_open(run, dir, NULL, messages);

    if (rc || run->first.name)
        return rc;
    fprintf(messages, "%s/trace.h5: no measure was recorded\n", dir);
    plot_run_close(run);
    return -ENODATA;
}

/* A point whose run failed has been reported, and is left out. */
static void open_point(struct plot_sweep *sweep, const json_t *point)
{
    const char *name = json_string_value(json_object_get(point, "dir"));
    struct plot_series *series = &sweep->series[sweep->count];

    if (!name || !hil_foreign_is_entry(name) ||
        hil_run_path(series->dir, sweep->dir, "%s", name) != 0 ||
        open_measured(&series->run, series->dir, sweep->messages) != 0)
        return;
    sweep->count++;
    write_label(sweep, point, series);
    series->values = json_object_get(point, "values");
    plot_run_describe(&series->run, sweep->subtitle);
    plot_run_judge(&series->run, &series->run.first, series->note);
    plot_run_steady(&series->run.first, series->steady);
}

/* The total number is a product of the keys' numbers of values. A step without a common factor with
 * it reaches every value of every key. */
size_t plot_sweep_step(size_t all)
{
    size_t step = all > PLOT_SERIES_MAX ? (all - 1) / PLOT_SERIES_MAX + 1 : 1;

    for (size_t factor = 2; factor <= step; factor++) {
        if (step % factor == 0 && all % factor == 0) {
            step++;
            factor = 1;
        }
    }
    return step;
}

static void open_points(struct plot_sweep *sweep, const json_t *points)
{
    const size_t all = json_array_size(points);
    const size_t step = plot_sweep_step(all);
    size_t chosen = 0;

    for (size_t i = 0; i < all; i += step, chosen++)
        open_point(sweep, json_array_get(points, i));
    sweep->no_record = (unsigned)chosen - sweep->count;
    sweep->left_out = (unsigned)(all - chosen);
    sweep->step = (unsigned)step;
}

/* Mentions in the caption what the figures do not show. */
static void write_caption(struct plot_sweep *sweep)
{
    char left_out[80] = "", no_record[80] = "";

    if (sweep->left_out > 0)
        snprintf(left_out, sizeof(left_out),
                 "; one run of every %u, from the first on: %u left out", sweep->step,
                 sweep->left_out);
    if (sweep->no_record > 0)
        snprintf(no_record, sizeof(no_record), "; no record of %u run%s", sweep->no_record,
                 sweep->no_record > 1 ? "s" : "");
    strcpy(sweep->described, sweep->subtitle);
    append(sweep->subtitle, "", left_out);
    append(sweep->subtitle, "", no_record);
}

static int open_index(struct plot_sweep *sweep)
{
    char path[HIL_PATH_BYTES], text[JSON_ERROR_TEXT_LENGTH];
    json_error_t error;
    int rc = hil_run_path(path, sweep->dir, "sweep.json");
    if (rc)
        return rc;

    if (access(path, F_OK) != 0) {
        fprintf(sweep->messages, "%s is not the folder of a sweep: it has no sweep.json\n",
                sweep->dir);
        return -ENOENT;
    }
    sweep->index = hil_foreign_json(path, &error);
    if (!sweep->index) {
        hil_foreign_text(text, sizeof(text), error.text, sizeof(error.text));
        fprintf(sweep->messages, "%s:%d:%d: %s\n", path, error.line, error.column, text);
        return -EBADMSG;
    }
    find_varying(sweep);
    open_points(sweep, json_object_get(sweep->index, "points"));
    if (sweep->count == 0) {
        fprintf(sweep->messages, "%s: no run to draw\n", path);
        return -ENODATA;
    }
    write_title(sweep);
    write_caption(sweep);
    return 0;
}

/* Chooses as much of the beginning as the slowest run needs, but not so much that the quickest
 * becomes invisible. */
static void choose_views(struct plot_sweep *sweep)
{
    static const double most_s = 50e-3;
    double longest_s = 0, shortest_s = INFINITY;
    bool all_settle = true;

    for (unsigned i = 0; i < sweep->count; i++) {
        const struct plot_run *run = &sweep->series[i].run;
        const double startup_s = plot_run_startup(run, &run->first);

        longest_s = fmax(longest_s, startup_s);
        shortest_s = fmin(shortest_s, startup_s);
        all_settle &= run->settled;
    }
    sweep->to_s[PLOT_STARTUP] = fmin(longest_s, fmax(most_s, 2 * shortest_s));
    sweep->to_s[PLOT_FIRST] = sweep->to_s[PLOT_STARTUP] / (all_settle ? 1 : 4);
}

double plot_sweep_end(const struct plot_sweep *sweep)
{
    double end_s = 0;

    for (unsigned i = 0; i < sweep->count; i++)
        end_s = fmax(end_s, sweep->series[i].run.duration_s);
    return end_s;
}

static void add_to_views(void *views, double time_s, const double *value)
{
    struct hil_envelope *envelopes = views;

    for (int view = 0; view < PLOT_VIEWS; view++)
        hil_envelope_add(&envelopes[view], time_s, *value);
}

static double area(const struct hil_envelope *envelope)
{
    double sum = 0;

    for (unsigned i = 0; i < envelope->column_count; i++)
        sum += envelope->columns[i].greatest.y - envelope->columns[i].least.y;
    return sum;
}

/* Column -1 stands for no data. */
static int read_column(const struct plot_sweep *sweep, const struct plot_run *run, int column,
                       struct hil_envelope views[PLOT_VIEWS])
{
    int rc = 0;

    for (int view = 0; view < PLOT_VIEWS && !rc; view++)
        rc = hil_envelope_init(&views[view], view == PLOT_ALL ? sweep->from_s : 0,
                               sweep->to_s[view], HIL_FIGURE_COLUMNS);
    if (rc || column < 0)
        return rc;
    for (int view = 0; view < PLOT_VIEWS; view++)
        views[view].held = hil_column_is_held(&run->streams[run->first.stream].columns[column]);
    return plot_run_scan(run, run->first.stream, (unsigned)column, add_to_views, views);
}

static int read_curve(const struct plot_sweep *sweep, struct plot_series *series)
{
    const struct plot_run *run = &series->run;
    int rc = read_column(sweep, run, (int)run->first.value, series->views);

    if (!rc)
        rc = read_column(sweep, run, run->first.reference, series->reference);
    if (!rc)
        series->area = area(&series->views[PLOT_ALL]);
    return rc;
}

int plot_sweep_read(struct plot_sweep *sweep, struct hil_plot_span span)
{
    int rc = plot_span_cut(&span, plot_sweep_end(sweep), sweep->dir, sweep->messages);

    choose_views(sweep);
    sweep->from_s = span.from_s;
    sweep->to_s[PLOT_ALL] = span.to_s;
    for (unsigned i = 0; i < sweep->count && !rc; i++)
        rc = read_curve(sweep, &sweep->series[i]);
    return rc;
}

/* --- drawing ------------------------------------------------------------------------------- */

/* The colour of series i, by its position among those with the same result. */
static unsigned colour_of(const struct plot_sweep *sweep, unsigned i)
{
    const bool settled = sweep->series[i].run.settled;
    unsigned before = 0, alike = 0;

    for (unsigned k = 0; k < sweep->count; k++) {
        alike += sweep->series[k].run.settled == settled;
        before += k < i && sweep->series[k].run.settled == settled;
    }
    return hil_look_ramp(settled ? HIL_LOOK_SETTLES : HIL_LOOK_SWINGS,
                         alike > 1 ? (double)before / (alike - 1) : 1);
}

/* The number of series drawn before series i, on top of which it must lie. */
static unsigned place_of(const struct plot_sweep *sweep, unsigned i)
{
    const double own = sweep->series[i].area;
    unsigned place = 0;

    for (unsigned k = 0; k < sweep->count; k++)
        place += sweep->series[k].area > own || (sweep->series[k].area == own && k < i);
    return place;
}

static void make_greater(unsigned *most, unsigned value)
{
    *most = value > *most ? value : *most;
}

/* Sets the most room that a run's words need. */
static void set_room(const struct plot_sweep *sweep, struct hil_figure *figure)
{
    unsigned label = 0, note = 0, steady = 0, lines = 1;

    for (unsigned i = 0; i < sweep->count; i++) {
        const struct plot_series *series = &sweep->series[i];

        make_greater(&label, hil_longest_line(series->label));
        make_greater(&note, hil_longest_line(series->note));
        make_greater(&steady, hil_longest_line(series->steady));
        make_greater(&lines, hil_line_count(series->label));
    }
    fprintf(figure->values,
            "label_letters = %u\nnote_letters = %u\nsteady_letters = %u\nlabel_lines = %u\n", label,
            note, steady, lines);
}

/* The number of values of the key that varies fastest. If every value is combined with all values
 * of the others, the panels form a table. */
static unsigned values_in_turn(const struct plot_sweep *sweep)
{
    const json_t *points = json_object_get(sweep->index, "points");
    size_t key = key_count(sweep), count = 1;

    while (key > 0 && !varies(sweep, key - 1))
        key--;
    if (key == 0)
        return 1;
    const json_t *first = json_object_get(json_array_get(points, 0), "values");
    for (; count < json_array_size(points); count++) {
        const json_t *values = json_object_get(json_array_get(points, count), "values");

        if (strcmp(text_at(values, key - 1), text_at(first, key - 1)) == 0)
            break;
    }
    return (unsigned)count;
}

/* The number of panel columns: one column as long as the panels fit below each other. */
static unsigned columns_of(const struct plot_sweep *sweep)
{
    enum { IN_ONE_COLUMN = 12, COLUMNS = 4, COLUMNS_MAX = 8 };
    const unsigned in_turn = values_in_turn(sweep);
    const bool is_table = sweep->left_out == 0 && sweep->no_record == 0 &&
                          sweep->count % in_turn == 0 && in_turn > 1 && in_turn <= COLUMNS_MAX;

    if (sweep->count <= IN_ONE_COLUMN)
        return 1;
    return is_table ? in_turn : COLUMNS;
}

void plot_sweep_set_series(const struct plot_sweep *sweep, struct hil_figure *figure)
{
    char variable[32];

    set_room(sweep, figure);
    fprintf(figure->values, "columns = %u\n", columns_of(sweep));
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
    char label[PLOT_TEXT_BYTES];

    plot_measure_label(&sweep->series[0].run.first, label);
    hil_figure_text(figure, "x_label", "%s", window->label);
    hil_figure_text(figure, "y_label", "%s", label);
    fprintf(figure->values, "x_from = %.12g\nx_to = %.12g\n", window->from_s * window->scale,
            window->to_s * window->scale);
}

void plot_series_curves(const struct plot_series *series, struct hil_figure *figure, unsigned i,
                        enum plot_view view, const struct plot_window *window,
                        struct plot_range *range)
{
    plot_curve(figure, "series", i + 1, &series->views[view], window);
    plot_curve(figure, "reference", i + 1, &series->reference[view], window);
    plot_range_include(range, &series->views[view]);
    plot_range_include(range, &series->reference[view]);
}

struct picture {
    const char *name, *script, *what;
    enum plot_view view;
};

static int draw(const struct plot_sweep *sweep, const struct picture *picture)
{
    const struct plot_window window =
        plot_window(picture->view == PLOT_ALL ? sweep->from_s : 0, sweep->to_s[picture->view]);
    struct plot_range range = {INFINITY, -INFINITY};
    struct hil_figure figure;
    int rc = hil_figure_open(&figure, sweep->to, picture->name, sweep->messages);
    if (rc)
        return rc;

    hil_figure_text(&figure, "title", "%s%s", sweep->title, picture->what);
    hil_figure_text(&figure, "subtitle", "%s", sweep->subtitle);
    plot_sweep_set_axes(sweep, &figure, &window);
    plot_sweep_set_series(sweep, &figure);
    plot_events_open(&figure, sweep->count);
    for (unsigned i = 0; i < sweep->count; i++) {
        const struct plot_run *run = &sweep->series[i].run;
        const struct hil_summary_reader_figures *told = &run->first.told.figures;

        plot_events_set(&figure, i + 1, &run->events,
                        (struct plot_steady){told->from_s, told->to_s}, window.from_s, window.to_s,
                        window.scale);
        plot_series_curves(&sweep->series[i], &figure, i, picture->view, &window, &range);
    }
    plot_range_set(&figure, 1, range);
    return hil_figure_draw(&figure, picture->script);
}

/* For a part of the time there is no start-up. */
static int draw_all(const struct plot_sweep *sweep, bool is_part)
{
    const char *panels = columns_of(sweep) > 1 ? "series-grid.gp" : "series-panels.gp";
    const struct picture pictures[] = {
        {"figure", panels, "", PLOT_ALL},
        {"figure-overlay", "series-overlay.gp", "", PLOT_ALL},
        {"figure-startup", panels, ": start-up", PLOT_STARTUP},
        {"figure-startup-overlay", "series-overlay.gp", ": start-up", PLOT_FIRST},
    };
    int rc = 0;

    for (size_t i = 0; i < (is_part ? 2 : 4) && !rc; i++)
        rc = draw(sweep, &pictures[i]);
    return rc;
}

int plot_sweep_open(struct plot_sweep **opened, const char *dir, const char *to, FILE *messages)
{
    struct plot_sweep *sweep = calloc(1, sizeof(*sweep));
    if (!sweep)
        return -ENOMEM;

    sweep->dir = dir;
    sweep->to = to ? to : dir;
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
        for (int view = 0; view < PLOT_VIEWS; view++) {
            hil_envelope_fini(&sweep->series[i].views[view]);
            hil_envelope_fini(&sweep->series[i].reference[view]);
        }
    }
    json_decref(sweep->index);
    free(sweep);
}

int plot_sweep_figures(const char *dir, const char *to, struct hil_plot_span span, FILE *messages)
{
    struct plot_sweep *sweep;
    int rc = plot_sweep_open(&sweep, dir, to, messages);
    if (rc)
        return rc;

    const bool is_part = plot_span_is_part(span, plot_sweep_end(sweep));
    rc = plot_sweep_read(sweep, span);
    if (!rc)
        rc = draw_all(sweep, is_part);
    if (!rc && !is_part)
        rc = plot_sweep_round_trip(sweep);
    if (!rc && !is_part)
        rc = plot_sweep_maps(sweep);
    plot_sweep_close(sweep);
    return rc;
}
