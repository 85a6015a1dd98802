/* The figure of a node's signals that are not arrays: a panel for each unit, with a line for each
 * signal. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "key_words.h"
#include "plot_run.h"

/* Most lines of one node. More could not be told apart, and are left out. */
enum { SIGNALS_MAX = 32 };

struct signals {
    const struct plot_group *at[SIGNALS_MAX];
    unsigned count, left_out;
};

static bool is_of_node(const struct plot_group *group, const char *node)
{
    return !group->array && !group->again && strcmp(group->node, node) == 0;
}

/* Sorts signals by unit, otherwise in the order of recording. */
static void find_signals(struct signals *signals, const struct plot_groups *groups,
                         const char *node)
{
    *signals = (struct signals){0};
    for (unsigned i = 0; i < groups->count; i++) {
        const struct plot_group *group = &groups->at[i];
        unsigned at = signals->count;

        if (!is_of_node(group, node))
            continue;
        if (at == SIGNALS_MAX) {
            signals->left_out++;
            continue;
        }
        while (at > 0 && strcmp(signals->at[at - 1]->like->unit, group->like->unit) != 0)
            at--;
        at = at ? at : signals->count;
        memmove(&signals->at[at + 1], &signals->at[at],
                (signals->count++ - at) * sizeof signals->at[0]);
        signals->at[at] = group;
    }
}

static bool is_same_panel(const struct signals *signals, unsigned i)
{
    return i > 0 && strcmp(signals->at[i]->like->unit, signals->at[i - 1]->like->unit) == 0;
}

/* --- drawing ---------------------------------------------------------------------------------- */

static int draw_signal(const struct plot_run *run, struct hil_figure *figure, unsigned i,
                       const struct plot_group *group, const struct plot_views *views,
                       struct plot_range ranges[PLOT_TWO_VIEWS])
{
    const struct plot_column *column = &group->columns[0];
    struct plot_pair pair = {0};
    char series[32];
    int rc = plot_pair_open(&pair, views);

    if (rc)
        rc = plot_no_memory(run);
    if (!rc)
        rc = plot_run_scan(run, column->stream, column->column, plot_pair_each, &pair);
    if (!rc) {
        snprintf(series, sizeof series, "signal-%u", i + 1);
        plot_pair_draw(figure, series, &pair, views);
        for (unsigned view = 0; view < PLOT_TWO_VIEWS; view++)
            plot_range_include(&ranges[view], &pair.views[view]);
    }
    plot_pair_close(&pair);
    return rc;
}

/* Panel p has the lines first[p] to last[p], the unit label unit_[p], and in view v the values from
 * y_from_V to y_to_V, where V is 2 (p - 1) + v. */
static int draw_panels(const struct plot_run *run, struct hil_figure *figure,
                       const struct signals *signals, const struct plot_views *views)
{
    struct plot_range ranges[PLOT_TWO_VIEWS] = {{INFINITY, -INFINITY}, {INFINITY, -INFINITY}};
    unsigned panels = 0, letters = 0;
    char variable[32];
    int rc = 0;

    fprintf(figure->values,
            "n = %u\narray label[n]\narray first[n]\narray last[n]\n"
            "array y_label[n]\n",
            signals->count);
    for (unsigned i = 0; i < signals->count && !rc; i++) {
        const struct hil_column *like = signals->at[i]->like;
        const unsigned length = (unsigned)strlen(like->of.signals);

        if (!is_same_panel(signals, i)) {
            fprintf(figure->values, "first[%u] = %u\n", ++panels, i + 1);
            snprintf(variable, sizeof variable, "y_label[%u]", panels);
            hil_figure_text(figure, variable, "%s", hil_unit_words(like->unit));
            ranges[0] = ranges[1] = (struct plot_range){INFINITY, -INFINITY};
        }
        snprintf(variable, sizeof variable, "label[%u]", i + 1);
        hil_figure_text(figure, variable, "%s", like->of.signals);
        fprintf(figure->values, "last[%u] = %u\n", panels, i + 1);
        letters = length > letters ? length : letters;
        rc = draw_signal(run, figure, i, signals->at[i], views, ranges);
        for (unsigned view = 0; view < PLOT_TWO_VIEWS; view++)
            plot_range_set(figure, PLOT_TWO_VIEWS * (panels - 1) + view + 1, ranges[view]);
    }
    fprintf(figure->values, "panels = %u\nlabel_letters = %u\n", panels, letters);
    return rc;
}

int plot_run_draw_node(const struct plot_run *run, const struct plot_groups *groups,
                       const char *node, const char *name, const struct plot_views *views)
{
    struct signals signals;
    struct hil_figure figure;
    char title[PLOT_TEXT_BYTES];

    find_signals(&signals, groups, node);
    const int used = snprintf(title, sizeof title, "Signals of %s", node);
    if (signals.left_out)
        snprintf(title + used, sizeof title - (size_t)used, "; %u more are left out",
                 signals.left_out);
    int rc = plot_views_open(&figure, run, name, title);
    if (rc)
        return rc;
    plot_views_set(&figure, run, views);
    rc = draw_panels(run, &figure, &signals, views);
    if (!rc)
        return hil_figure_draw(&figure, "run-node.gp");
    hil_figure_drop(&figure);
    return rc;
}
