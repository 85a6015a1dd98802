/* The figure of a node's signals that are not arrays: a panel for each unit, with a line for each
 * signal. */
#include <string.h>

#include "plot_lines.h"
#include "plot_run.h"

/* Most lines of one node; more are left out. */
enum { SIGNALS_MAX = 32 };

static bool is_of_node(const struct plot_group *group, const char *node)
{
    return !group->array && !group->again && strcmp(group->node, node) == 0;
}

/* Returns how many are left out. */
static unsigned find_signals(struct plot_lines *lines, const struct plot_run *run,
                             const struct plot_groups *groups, const char *node)
{
    unsigned left_out = 0;

    for (unsigned i = 0; i < groups->count; i++) {
        const struct plot_group *group = &groups->at[i];
        if (!is_of_node(group, node))
            continue;
        if (lines->count == SIGNALS_MAX) {
            left_out++;
            continue;
        }
        struct plot_line line = {
            .run = run, .stream = group->columns[0].stream, .column = group->columns[0].column};
        snprintf(line.label, sizeof line.label, "%s", group->like->of.signals);
        plot_lines_add(lines, &line);
    }
    return left_out;
}

int plot_run_draw_node(const struct plot_run *run, const struct plot_groups *groups,
                       const char *node, const char *name, const struct plot_views *views)
{
    struct plot_lines lines = {0};
    struct hil_figure figure;
    char title[PLOT_TEXT_BYTES];
    const unsigned left_out = find_signals(&lines, run, groups, node);

    const int used = snprintf(title, sizeof title, "Signals of %s", node);
    if (left_out)
        snprintf(title + used, sizeof title - (size_t)used, "; %u more are left out", left_out);
    const int rc = plot_views_open(&figure, run, name, title);
    if (rc)
        return rc;
    plot_views_set(&figure, run, views);
    return plot_lines_draw(&figure, &lines, views);
}
