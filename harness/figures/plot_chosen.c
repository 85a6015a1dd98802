/* Any recorded signals of one or more runs over each other. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/foreign.h"
#include "../base/list.h"
#include "../h5/recorded.h"
#include "../scenario/yaml/scenario_report.h"
#include "plot_lines.h"

struct chosen {
    struct plot_run *runs;
    const char *const *dirs;
    unsigned run_count, open_count;
    struct plot_lines lines;
    FILE *messages;
};

/* --- names that no run has -------------------------------------------------------------------- */

struct names {
    const char **at;
    size_t count;
};

static bool has_name(const struct names *names, const char *name)
{
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->at[i], name) == 0)
            return true;
    return false;
}

/* The scenario's names: "cell[*].current_a", "output_v". */
static int add_names(struct names *names, const struct hil_stream_config *stream)
{
    for (unsigned i = 0; i < stream->column_count; i++) {
        const struct hil_origin *of = &stream->columns[i].of;
        const char *name = strcmp(of->role, "value") == 0 ? of->measure : of->signals;
        if (!*name || has_name(names, name))
            continue;
        const char **more = hil_list_more(names->at, names->count, sizeof *more);
        if (!more)
            return -ENOMEM;
        names->at = more;
        names->at[names->count++] = name;
    }
    return 0;
}

static int refuse_name(const struct chosen *c, const char *name)
{
    char choice[SCENARIO_CHOICE_BYTES];
    struct names names = {0};
    int rc = 0;

    for (unsigned r = 0; r < c->run_count; r++)
        for (unsigned s = 0; s < c->runs[r].stream_count && !rc; s++)
            rc = add_names(&names, &c->runs[r].streams[s]);
    if (!rc) {
        scenario_say_choice(name, names.at, names.count, choice);
        hil_foreign_tame(choice, '?', ' ');
        fprintf(c->messages, "--signals: no record has %s%s\n", *name ? name : "''", choice);
        rc = -EINVAL;
    }
    free(names.at);
    return rc;
}

/* --- finding ---------------------------------------------------------------------------------- */

static bool is_there(const struct chosen *c, unsigned run, const struct hil_recorded *one)
{
    for (unsigned i = 0; i < c->lines.count; i++) {
        const struct plot_line *l = &c->lines.at[i];
        if (l->of == run && l->stream == one->stream && l->column == one->column &&
            l->place == one->place)
            return true;
    }
    return false;
}

static void set_label(const struct chosen *c, struct plot_line *line,
                      const struct hil_recorded *one)
{
    char name[HIL_RECORDED_NAME_BYTES];

    hil_recorded_name(line->run->trace, one, name);
    if (c->run_count > 1)
        snprintf(line->label, sizeof line->label, "%.120s, %.120s", name, line->run->dir);
    else
        snprintf(line->label, sizeof line->label, "%.250s", name);
}

static int add_line(struct chosen *c, unsigned run, const struct hil_recorded *one)
{
    struct plot_line line = {.run = &c->runs[run],
                             .of = run,
                             .stream = one->stream,
                             .column = one->column,
                             .place = one->place};

    if (is_there(c, run, one))
        return 0;
    if (c->lines.count == PLOT_LINES_MAX) {
        fprintf(c->messages, "--signals: there are more than %d curves: name fewer\n",
                PLOT_LINES_MAX);
        return -EINVAL;
    }
    set_label(c, &line, one);
    plot_lines_add(&c->lines, &line);
    return 0;
}

/* Adds the signals that this name has in a run. Returns how many it has, or a negative errno. */
static int add_of_run(struct chosen *c, unsigned run, const char *name)
{
    struct hil_recorded *found = NULL;
    const int count = hil_recorded_find(&found, c->runs[run].trace, name, NULL);
    int rc = 0;

    for (int i = 0; i < count && !rc; i++)
        rc = add_line(c, run, &found[i]);
    if (count >= 0)
        free(found);
    return rc ? rc : count;
}

static int add_name(struct chosen *c, const char *name)
{
    bool any = false;

    for (unsigned run = 0; run < c->run_count; run++) {
        const int count = add_of_run(c, run, name);
        if (count < 0)
            return count;
        any |= count > 0;
    }
    if (!any)
        return refuse_name(c, name);
    for (unsigned run = 0; run < c->run_count; run++)
        if (add_of_run(c, run, name) == 0)
            fprintf(c->messages, "%s: it has no %s\n", c->runs[run].dir, name);
    return 0;
}

static int add_names_of(struct chosen *c, const char *signals)
{
    char *text = strdup(signals), *rest = text, *name;
    int rc = text ? 0 : -ENOMEM;

    while (!rc && (name = strsep(&rest, ",")))
        rc = add_name(c, name + strspn(name, " "));
    free(text);
    return rc;
}

/* --- drawing ---------------------------------------------------------------------------------- */

static int cut_span(const struct chosen *c, struct hil_plot_span *span)
{
    double end_s = 0;

    for (unsigned i = 0; i < c->run_count; i++)
        end_s = fmax(end_s, c->runs[i].duration_s);
    return plot_span_cut(span, end_s, c->dirs[0], c->messages);
}

/* Events are marked if there is one run: those of several would hide the curves. */
static int draw_chosen(struct chosen *c, const char *to, struct hil_plot_span span)
{
    struct plot_views views = {.count = 1, .steady = {NAN, NAN}, .is_part = true};
    struct hil_figure figure;
    char title[PLOT_TEXT_BYTES] = "Signals";
    int rc = cut_span(c, &span);

    if (rc)
        return rc;
    views.windows[PLOT_WHOLE] = plot_window(span.from_s, span.to_s);
    if (c->lines.several) {
        snprintf(title, sizeof title, "Signals of %u runs", c->run_count);
        c->runs[0].events = (struct plot_events){0};
    }
    c->runs[0].to = to ? to : c->dirs[0];
    rc = plot_views_open(&figure, &c->runs[0], "signals", title);
    if (rc)
        return rc;
    if (c->lines.several)
        hil_figure_text(&figure, "subtitle", "%s", "");
    plot_views_set(&figure, &c->runs[0], &views);
    return plot_lines_draw(&figure, &c->lines, &views);
}

static int open_runs(struct chosen *c)
{
    int rc = 0;

    c->runs = calloc(c->run_count, sizeof *c->runs);
    if (!c->runs)
        return -ENOMEM;
    for (; c->open_count < c->run_count && !rc; c->open_count += !rc)
        rc = plot_run_open(&c->runs[c->open_count], c->dirs[c->open_count], NULL, c->messages);
    return rc;
}

int hil_plot_signals(const char *const *dirs, unsigned count, const char *signals, const char *to,
                     struct hil_plot_span span, FILE *messages)
{
    struct chosen *c = calloc(1, sizeof *c);
    if (!c)
        return -ENOMEM;

    *c = (struct chosen){.dirs = dirs, .run_count = count, .messages = messages};
    c->lines.several = count > 1;
    int rc = open_runs(c);
    if (!rc)
        rc = add_names_of(c, signals);
    if (!rc)
        rc = draw_chosen(c, to, span);
    for (unsigned i = 0; i < c->open_count; i++)
        plot_run_close(&c->runs[i]);
    free(c->runs);
    free(c);
    return rc;
}
