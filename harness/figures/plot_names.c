#include "plot_names.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "key_words.h"

/* Names of the run's other figures, which show no signals. */
static const char *const kept_names[] = {"latency",    "tail", "trace-time", "trace-histogram",
                                         "trace-tail", "plot", "signals"};

static bool is_taken(const struct plot_names *names, const char *name)
{
    for (size_t i = 0; i < sizeof kept_names / sizeof kept_names[0]; i++)
        if (strcmp(kept_names[i], name) == 0)
            return true;
    for (unsigned i = 0; i < names->count; i++)
        if (strcmp(names->at[i].name, name) == 0)
            return true;
    return false;
}

/* Makes a name like "phase-current" that is safe for files and for gnuplot. The record is not
 * trusted. */
static void make_tame(char *name)
{
    for (char *c = name; *c != '\0'; c++)
        if (!isalnum((unsigned char)*c) && *c != '_')
            *c = c == name ? '_' : '-';
}

/* Writes a tame name, which ends with the number if it is not 0, however long the words are. */
static void write_name(char *name, const char *node, const char *words, unsigned number)
{
    char end[16] = "";

    if (number)
        snprintf(end, sizeof end, "-%u", number);
    const int room = PLOT_TEXT_BYTES - 1 - (int)strlen(end);
    const int used = snprintf(name, (size_t)room + 1, "%s%s%.80s", node, *node ? "-" : "", words);
    strcpy(name + (used < room ? used : room), end);
    make_tame(name);
}

/* Gives the words as a name, then the words after the node's name, then with a number, until the
 * name is unique. */
static int give_name(struct plot_names *names, enum plot_shows shows, unsigned number,
                     const char *words, const char *node)
{
    struct plot_named *more = realloc(names->at, (names->count + 1) * sizeof *more);

    if (!more)
        return -ENOMEM;
    names->at = more;
    struct plot_named *named = &more[names->count];
    *named = (struct plot_named){.shows = shows, .number = number};
    write_name(named->name, "", words[0] ? words : node, 0);
    for (unsigned i = 1; is_taken(names, named->name); i++)
        write_name(named->name, node, words, i == 1 ? 0 : i);
    names->count++;
    return 0;
}

/* --- naming figures --------------------------------------------------------------------------- */

static int name_measures(struct plot_names *names, const struct plot_run *run)
{
    char words[PLOT_TEXT_BYTES];
    struct plot_measure m;
    int rc = 0;

    for (unsigned i = 0; plot_run_measure(run, i, &m) && !rc; i++) {
        plot_measure_words(&m, words);
        rc = give_name(names, PLOT_SHOWS_MEASURE, i, words, run->streams[m.stream].name);
    }
    return rc;
}

/* An array of signals that is a measure for each signal is named in the plural: "speeds". */
static int name_arrays(struct plot_names *names)
{
    char words[PLOT_TEXT_BYTES];
    int rc = 0;

    for (unsigned i = 0; i < names->groups.count && !rc; i++) {
        const struct plot_group *group = &names->groups.at[i];
        if (!group->array || group->again)
            continue;
        plot_group_words(group, words);
        if (strcmp(group->like->of.role, "each") == 0)
            strcat(words, "s");
        rc = give_name(names, PLOT_SHOWS_ARRAY, i, words, group->node);
    }
    return rc;
}

/* Whether this is the first group in the figure of its node. */
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

static int name_nodes(struct plot_names *names)
{
    int rc = 0;

    for (unsigned i = 0; i < names->groups.count && !rc; i++)
        if (begins_node(&names->groups, i))
            rc = give_name(names, PLOT_SHOWS_NODE, i, names->groups.at[i].node, "node");
    return rc;
}

int plot_names_open(struct plot_names *names, const struct plot_run *run)
{
    *names = (struct plot_names){0};
    int rc = plot_groups_open(&names->groups, run);

    if (!rc)
        rc = name_measures(names, run);
    if (!rc)
        rc = name_arrays(names);
    return rc ? rc : name_nodes(names);
}

void plot_names_close(struct plot_names *names)
{
    plot_groups_close(&names->groups);
    free(names->at);
}

/* --- finding the figure of a column ----------------------------------------------------------- */

static bool has_column(const struct plot_group *group, unsigned stream, unsigned column)
{
    for (unsigned i = 0; i < group->column_count; i++)
        if (group->columns[i].stream == stream && group->columns[i].column == column)
            return true;
    return false;
}

/* The group with the column; if several nodes recorded it, the group that is drawn. */
static const struct plot_group *drawn_group(const struct plot_groups *groups, unsigned stream,
                                            unsigned column)
{
    const struct plot_group *group = NULL;

    for (unsigned i = 0; i < groups->count && !group; i++)
        if (has_column(&groups->at[i], stream, column))
            group = &groups->at[i];
    for (unsigned i = 0; group && group->again && i < groups->count; i++)
        if (!groups->at[i].again && strcmp(groups->at[i].row, group->row) == 0 &&
            strcmp(groups->at[i].component, group->component) == 0)
            return &groups->at[i];
    return group;
}

static bool shows_group(const struct plot_names *names, const struct plot_named *named,
                        const struct plot_group *group)
{
    if (!group || named->shows == PLOT_SHOWS_MEASURE)
        return false;
    if (group->array)
        return &names->groups.at[named->number] == group;
    return named->shows == PLOT_SHOWS_NODE &&
           strcmp(names->groups.at[named->number].node, group->node) == 0;
}

static bool shows_measure(const struct plot_named *named, const struct plot_run *run,
                          unsigned stream, unsigned column)
{
    struct plot_measure m;

    return named->shows == PLOT_SHOWS_MEASURE && plot_run_measure(run, named->number, &m) &&
           m.stream == stream && (m.value == column || m.reference == (int)column);
}

const char *plot_name_of_column(const struct plot_names *names, const struct plot_run *run,
                                unsigned stream, unsigned column)
{
    const struct plot_group *group = drawn_group(&names->groups, stream, column);

    for (unsigned i = 0; i < names->count; i++)
        if (shows_measure(&names->at[i], run, stream, column) ||
            shows_group(names, &names->at[i], group))
            return names->at[i].name;
    return NULL;
}

const char *plot_name_of_measure(const struct plot_names *names, const struct plot_run *run,
                                 const char *measure)
{
    for (unsigned s = 0; s < run->stream_count; s++)
        for (unsigned c = 0; c < run->streams[s].column_count; c++)
            if (strcmp(run->streams[s].columns[c].of.measure, measure) == 0)
                return plot_name_of_column(names, run, s, c);
    return NULL;
}
