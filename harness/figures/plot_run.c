/* Which figures a run has, and what each is called. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "key_words.h"
#include "plot_run.h"

/* --- names ------------------------------------------------------------------------------------ */

/* Of the files that were drawn; a name is given once. */
struct names {
    char (*at)[PLOT_TEXT_BYTES];
    unsigned count;
};

/* Those of a run's other figures, which have no signals. */
static const char *const kept_names[] = {"latency",         "tail",       "trace-time",
                                         "trace-histogram", "trace-tail", "plot"};

static bool is_taken(const struct names *names, const char *name)
{
    for (size_t i = 0; i < sizeof kept_names / sizeof kept_names[0]; i++)
        if (strcmp(kept_names[i], name) == 0)
            return true;
    for (unsigned i = 0; i < names->count; i++)
        if (strcmp(names->at[i], name) == 0)
            return true;
    return false;
}

/* "phase-current": what a file may be called, and gnuplot told. The record may be anybody's. */
static void make_tame(char *name)
{
    for (char *c = name; *c != '\0'; c++)
        if (!isalnum((unsigned char)*c) && *c != '_')
            *c = c == name ? '_' : '-';
}

/* The words, or with the node's name before them; then with a number. NULL: no memory. */
static const char *give_name(struct names *names, const char *words, const char *node)
{
    char(*more)[PLOT_TEXT_BYTES] = realloc(names->at, (names->count + 1) * sizeof *more);

    if (!more)
        return NULL;
    names->at = more;
    char *name = more[names->count];
    snprintf(name, PLOT_TEXT_BYTES, "%.80s", words[0] ? words : node);
    make_tame(name);
    for (unsigned i = 1; is_taken(names, name); i++) {
        if (i == 1)
            snprintf(name, PLOT_TEXT_BYTES, "%s-%.80s", node, words);
        else
            snprintf(name, PLOT_TEXT_BYTES, "%s-%.80s-%u", node, words, i);
        make_tame(name);
    }
    names->count++;
    return name;
}

/* --- figures ---------------------------------------------------------------------------------- */

static const char *node_of(const struct plot_run *run, unsigned stream)
{
    return run->streams[stream].name;
}

static int draw_measures(const struct plot_run *run, struct names *names, struct hil_plot_span span)
{
    char words[PLOT_TEXT_BYTES];
    struct plot_measure m;
    int rc = 0;

    for (unsigned i = 0; plot_run_measure(run, i, &m) && !rc; i++) {
        plot_measure_words(&m, words);
        const char *name = give_name(names, words, node_of(run, m.stream));
        rc = name ? plot_run_draw_measure(run, &m, name, span) : plot_no_memory(run);
    }
    return rc;
}

/* That of the signals that a measure is made of each of is called after all of them: "speeds". */
static int draw_arrays(const struct plot_run *run, struct names *names,
                       const struct plot_groups *groups, const struct plot_views *views)
{
    char words[PLOT_TEXT_BYTES];
    int rc = 0;

    for (unsigned i = 0; i < groups->count && !rc; i++) {
        const struct plot_group *group = &groups->at[i];
        if (!group->array || group->again)
            continue;
        plot_group_words(group, words);
        if (strcmp(group->like->of.role, "each") == 0)
            strcat(words, "s");
        const char *name = give_name(names, words, group->node);
        rc = name ? plot_run_draw_array(run, group, name, views) : plot_no_memory(run);
    }
    return rc;
}

/* Whether the group is the first of those that are drawn in its node's figure. */
static bool begins_node(const struct plot_groups *groups, unsigned i)
{
    const struct plot_group *group = &groups->at[i];

    if (group->array || group->again)
        return false;
    for (unsigned k = 0; k < i; k++)
        if (!groups->at[k].array && !groups->at[k].again &&
            strcmp(groups->at[k].node, group->node) == 0)
            return false;
    return true;
}

static int draw_nodes(const struct plot_run *run, struct names *names,
                      const struct plot_groups *groups, const struct plot_views *views)
{
    int rc = 0;

    for (unsigned i = 0; i < groups->count && !rc; i++) {
        const char *node = groups->at[i].node;
        if (!begins_node(groups, i))
            continue;
        const char *name = give_name(names, node, "node");
        rc = name ? plot_run_draw_node(run, groups, node, name, views) : plot_no_memory(run);
    }
    return rc;
}

static int draw_signals(const struct plot_run *run, struct names *names, struct hil_plot_span span)
{
    const struct plot_views views = plot_views_of(run, &run->first, span);
    struct plot_groups groups;
    int rc = plot_groups_open(&groups, run);

    if (rc)
        rc = plot_no_memory(run);
    if (!rc)
        rc = draw_arrays(run, names, &groups, &views);
    if (!rc)
        rc = draw_nodes(run, names, &groups, &views);
    plot_groups_close(&groups);
    return rc;
}

/* These have no time as their axis: they are of the whole run. */
static int draw_times(const struct plot_run *run)
{
    const int rc =
        plot_run_draw_histograms(run, "latency", "Step latencies (µs)", "run-latency.gp");

    return rc ? rc
              : plot_run_draw_histograms(run, "tail", "Share of steps that took longer",
                                         "run-tail.gp");
}

static int draw_run(const struct plot_run *run, struct hil_plot_span span)
{
    const bool is_part = plot_span_is_part(span, run->duration_s);
    struct names names = {0};
    int rc = plot_span_cut(&span, run->duration_s, run->dir, run->messages);

    if (!rc)
        rc = draw_measures(run, &names, span);
    if (!rc)
        rc = draw_signals(run, &names, span);
    if (!rc && !is_part)
        rc = draw_times(run);
    free(names.at);
    return rc;
}

int plot_run_figures(const char *dir, struct hil_plot_span span, FILE *messages)
{
    struct plot_run run;
    int rc = plot_run_open(&run, dir, messages);
    if (rc)
        return rc;

    rc = draw_run(&run, span);
    plot_run_close(&run);
    return rc;
}
