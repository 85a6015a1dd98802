#include "plot_lines.h"

#include <math.h>
#include <string.h>

#include "key_words.h"

static const struct hil_column *column_of(const struct plot_line *line)
{
    return &line->run->streams[line->stream].columns[line->column];
}

static bool is_same_unit(const struct plot_line *a, const struct plot_line *b)
{
    return strcmp(column_of(a)->unit, column_of(b)->unit) == 0;
}

void plot_lines_add(struct plot_lines *lines, const struct plot_line *line)
{
    unsigned at = lines->count;

    while (at > 0 && !is_same_unit(&lines->at[at - 1], line))
        at--;
    at = at ? at : lines->count;
    memmove(&lines->at[at + 1], &lines->at[at], (lines->count++ - at) * sizeof lines->at[0]);
    lines->at[at] = *line;
}

static bool begins_panel(const struct plot_lines *lines, unsigned i)
{
    return i == 0 || !is_same_unit(&lines->at[i], &lines->at[i - 1]);
}

/* --- looks ------------------------------------------------------------------------------------ */

/* gnuplot has this many kinds of dashes; style.gp has this many colours. */
enum { COLOURS = 8, DASHES = 5 };

/* How many lines of the same run are before it in its panel. */
static unsigned number_in_panel(const struct plot_lines *lines, unsigned i)
{
    unsigned number = 0;

    for (unsigned k = i; !begins_panel(lines, k); k--)
        number += lines->at[k - 1].of == lines->at[i].of;
    return number;
}

/* The first of several runs has wider lines, so that it shows where another lies on it. */
static void set_look(struct hil_figure *figure, const struct plot_lines *lines, unsigned i)
{
    const unsigned number = number_in_panel(lines, i), run = lines->at[i].of;
    const unsigned colour = lines->several ? run : number;
    const unsigned dash = colour / COLOURS + (lines->several ? number : 0);

    fprintf(figure->values, "colour[%u] = %u\ndash[%u] = %u\nthick[%u] = %u\n", i + 1,
            1 + colour % COLOURS, i + 1, 1 + dash % DASHES, i + 1,
            lines->several && run == 0 ? 2 : 1);
}

/* --- drawing ---------------------------------------------------------------------------------- */

static int draw_line(struct hil_figure *figure, const struct plot_lines *lines, unsigned i,
                     const struct plot_views *views, struct plot_range ranges[PLOT_TWO_VIEWS])
{
    const struct plot_line *line = &lines->at[i];
    struct plot_pair pair = {0};
    char series[32];
    int rc = plot_pair_open(&pair, views);

    if (hil_column_is_held(column_of(line)))
        plot_pair_hold(&pair);
    if (rc)
        rc = plot_no_memory(line->run);
    if (!rc)
        rc = plot_run_scan_place(line->run, line->stream, line->column, line->place, plot_pair_each,
                                 &pair);
    if (!rc) {
        snprintf(series, sizeof series, "signal-%u", i + 1);
        plot_pair_draw(figure, series, &pair, views);
        for (unsigned view = 0; view < PLOT_TWO_VIEWS; view++)
            plot_range_include(&ranges[view], &pair.views[view]);
    }
    plot_pair_close(&pair);
    return rc;
}

static void set_text(struct hil_figure *figure, const char *array, unsigned i, const char *text)
{
    char variable[32];

    snprintf(variable, sizeof variable, "%s[%u]", array, i);
    hil_figure_text(figure, variable, "%s", text);
}

/* Panel p has the lines first[p] to last[p], the unit y_label[p], and in view v the values from
 * y_from_V to y_to_V, where V is 2 (p - 1) + v. */
static int draw_panels(struct hil_figure *figure, const struct plot_lines *lines,
                       const struct plot_views *views)
{
    struct plot_range ranges[PLOT_TWO_VIEWS];
    unsigned panels = 0, letters = 0;
    int rc = 0;

    fprintf(figure->values,
            "n = %u\narray label[n]\narray first[n]\narray last[n]\narray y_label[n]\n"
            "array colour[n]\narray dash[n]\narray thick[n]\n",
            lines->count);
    for (unsigned i = 0; i < lines->count && !rc; i++) {
        const unsigned length = (unsigned)strlen(lines->at[i].label);

        if (begins_panel(lines, i)) {
            fprintf(figure->values, "first[%u] = %u\n", ++panels, i + 1);
            set_text(figure, "y_label", panels, hil_unit_words(column_of(&lines->at[i])->unit));
            ranges[0] = ranges[1] = (struct plot_range){INFINITY, -INFINITY};
        }
        set_text(figure, "label", i + 1, lines->at[i].label);
        fprintf(figure->values, "last[%u] = %u\n", panels, i + 1);
        set_look(figure, lines, i);
        letters = length > letters ? length : letters;
        rc = draw_line(figure, lines, i, views, ranges);
        for (unsigned view = 0; view < PLOT_TWO_VIEWS; view++)
            plot_range_set(figure, PLOT_TWO_VIEWS * (panels - 1) + view + 1, ranges[view]);
    }
    fprintf(figure->values, "panels = %u\nlabel_letters = %u\n", panels, letters);
    return rc;
}

int plot_lines_draw(struct hil_figure *figure, const struct plot_lines *lines,
                    const struct plot_views *views)
{
    const int rc = draw_panels(figure, lines, views);

    if (!rc)
        return hil_figure_draw(figure, "run-node.gp");
    hil_figure_drop(figure);
    return rc;
}
