#include "plot_signals.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/list.h"
#include "key_words.h"

static void copy_name(char to[PLOT_NAME_BYTES], const char *from, size_t length)
{
    snprintf(to, PLOT_NAME_BYTES, "%.*s", (int)(length < PLOT_NAME_BYTES ? length : 64), from);
}

/* --- the origin of a column ------------------------------------------------------------------- */

/* Skips "[...]", if there is one, and tells whether it stands for several: "[*]", "[0-3]". */
static const char *pass_index(const char *text, bool *there, bool *several)
{
    const size_t length = strcspn(text, "]");

    *there = text[0] == '[' && text[length] == ']';
    if (!*there)
        return text;
    for (size_t i = 0; i < length; i++)
        *several |= text[i] == '*' || text[i] == '-';
    return text + length + 1;
}

/* Parses "cell[*].current_a" in the stream "hub"; false if the text has another form. */
static bool read_group(struct plot_group *group, const char *stream,
                       const struct hil_column *column)
{
    const char *at = column->of.signals;
    const size_t node = strcspn(stream, "/"), component = strcspn(at, "[.");

    *group = (struct plot_group){.like = column, .own = stream[node] == '/'};
    copy_name(group->node, stream, node);
    copy_name(group->component, at, component);
    at = pass_index(at + component, &group->indexed, &group->array);
    if (component == 0 || *at++ != '.')
        return false;
    const size_t row = strcspn(at, "[");
    copy_name(group->row, at, row);
    pass_index(at + row, &group->wide, &group->array);
    return row > 0;
}

static bool is_of_same(const struct plot_group *a, const struct plot_group *b)
{
    return strcmp(a->row, b->row) == 0 && strcmp(a->component, b->component) == 0;
}

/* --- collecting ------------------------------------------------------------------------------- */

static struct plot_group *add_group(struct plot_groups *groups, const struct plot_group *group)
{
    const unsigned count = groups->count;

    struct plot_group *more = hil_list_more(groups->at, count, sizeof *more);

    if (!more)
        return NULL;
    groups->at = more;
    groups->at[groups->count++] = *group;
    return &groups->at[count];
}

static struct plot_group *find_group(struct plot_groups *groups, const struct plot_group *like)
{
    for (unsigned i = 0; i < groups->count; i++)
        if (is_of_same(&groups->at[i], like) && strcmp(groups->at[i].node, like->node) == 0)
            return &groups->at[i];
    return add_group(groups, like);
}

static int add_column(struct plot_groups *groups, const struct plot_run *run, unsigned stream,
                      unsigned column)
{
    const struct hil_column *c = &run->streams[stream].columns[column];
    struct plot_group read, *group;

    if (!read_group(&read, run->streams[stream].name, c))
        return 0;
    group = find_group(groups, &read);
    if (!group)
        return -ENOMEM;
    const unsigned count = group->column_count;
    struct plot_column *more = hil_list_more(group->columns, count, sizeof *more);
    if (!more)
        return -ENOMEM;
    group->columns = more;
    group->columns[group->column_count++] = (struct plot_column){stream, column};
    group->count += c->width;
    group->array |= read.array || group->count > 1 || (read.own && read.indexed);
    return 0;
}

/* --- signals recorded by several nodes -------------------------------------------------------- */

/* Whether one column has the whole array: "cell[*].current_a", or something that is not an
 * array. */
static bool has_all(const struct plot_group *group)
{
    const char *at = group->like->of.signals;

    while ((at = strchr(at, '[')) != NULL)
        if (*++at != '*')
            return false;
    return group->column_count == 1;
}

static bool has_just_the_same(const struct plot_group *a, const struct plot_group *b)
{
    return a->column_count == 1 && b->column_count == 1 &&
           strcmp(a->like->of.signals, b->like->of.signals) == 0;
}

/* A group recorded by several nodes is drawn once: from a node that recorded all of it, or else
 * from the first that recorded the same. */
static void find_again(struct plot_groups *groups)
{
    for (unsigned i = 0; i < groups->count; i++)
        for (unsigned k = 0; k < groups->count; k++) {
            struct plot_group *group = &groups->at[i];
            const struct plot_group *other = &groups->at[k];
            if (k != i && is_of_same(group, other))
                group->again |= (has_all(other) && !has_all(group)) ||
                                (has_just_the_same(group, other) && k < i);
        }
}

/* --- opening ---------------------------------------------------------------------------------- */

int plot_groups_open(struct plot_groups *groups, const struct plot_run *run)
{
    int rc = 0;

    *groups = (struct plot_groups){0};
    for (unsigned s = 0; s < run->stream_count; s++)
        for (unsigned c = 0; c < run->streams[s].column_count && !rc; c++)
            rc = add_column(groups, run, s, c);
    if (!rc)
        find_again(groups);
    return rc;
}

void plot_groups_close(struct plot_groups *groups)
{
    for (unsigned i = 0; i < groups->count; i++)
        free(groups->at[i].columns);
    free(groups->at);
}

/* --- words ------------------------------------------------------------------------------------ */

void plot_group_words(const struct plot_group *group, char text[PLOT_TEXT_BYTES])
{
    hil_key_words(group->row, group->like->unit, text);
}

void plot_group_title(const struct plot_group *group, char text[PLOT_TEXT_BYTES])
{
    char words[PLOT_TEXT_BYTES];

    plot_group_words(group, words);
    snprintf(text, PLOT_TEXT_BYTES, "%s%.64s of %s%s", group->wide ? "each " : "", words,
             group->indexed ? "each " : "", group->component);
    plot_capital(text);
}

void plot_group_each(const struct plot_group *group, char text[PLOT_TEXT_BYTES])
{
    if (group->wide)
        plot_group_words(group, text);
    else
        snprintf(text, PLOT_TEXT_BYTES, "%s", group->component);
}
