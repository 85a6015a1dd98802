#include "curves.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/foreign.h"
#include "../../figures/key_words.h"
#include "../../figures/plot_names.h"
#include "../../figures/plot_run.h"
#include "../../h5/recorded.h"
#include "pack.h"

json_t *hil_curves_text(const char *text)
{
    char shown[HIL_RECORDED_NAME_BYTES];

    return json_string(hil_foreign_text(shown, sizeof shown, text, strlen(text)));
}

/* --- a curve ---------------------------------------------------------------------------------- */

/* The available size, and the number of curves that share it. */
struct room {
    size_t bytes;
    unsigned curves;
};

/* Each curve has at least this size, however many there are. */
enum { CURVE_BYTES_LEAST = 2048 };

static size_t room_of_next(const struct room *room)
{
    const size_t share = room->curves ? room->bytes / room->curves : room->bytes;

    return share > CURVE_BYTES_LEAST ? share : CURVE_BYTES_LEAST;
}

static void room_take(struct room *room, size_t bytes)
{
    room->bytes -= bytes < room->bytes ? bytes : room->bytes;
    room->curves -= room->curves > 0;
}

struct collecting {
    struct hil_blocks blocks;
    int rc;
};

static void collect(void *arg, double time_s, const double *value)
{
    struct collecting *c = arg;

    if (!c->rc)
        c->rc = hil_blocks_add(&c->blocks, time_s, *value);
}

static json_t *curve_json(const struct plot_run *run, const struct hil_recorded *one,
                          const char *role, const struct hil_blocks *blocks, struct room *room)
{
    const struct hil_stream_config *stream = &run->streams[one->stream];
    const struct hil_column *column = &stream->columns[one->column];
    const uint64_t period_ns = stream->cadence.period_ns * stream->cadence.decimation;
    char name[HIL_RECORDED_NAME_BYTES];
    struct hil_packed packed;

    if (hil_pack(&packed, blocks, period_ns, room_of_next(room)))
        return NULL;
    room_take(room, packed.size);
    hil_recorded_name(run->trace, one, name);
    json_t *curve = json_pack("{s:o, s:o, s:o, s:s, s:I, s:I, s:I, s:s}", "name",
                              hil_curves_text(strcmp(role, "reference") == 0 ? column->name : name),
                              "unit", hil_curves_text(hil_unit_words(column->unit)), "doc",
                              hil_curves_text(column->doc), "role", role, "rows",
                              (json_int_t)blocks->rows, "shortest", (json_int_t)blocks->shortest,
                              "period_ns", (json_int_t)period_ns, "data", packed.text);
    free(packed.text);
    return curve;
}

static int add_curve(json_t *curves, const struct plot_run *run, struct hil_recorded one,
                     const char *role, struct room *room)
{
    struct collecting c = {.rc = 0};

    hil_blocks_init(&c.blocks);
    int rc = plot_run_scan_place(run, one.stream, one.column, one.place, collect, &c);
    if (!rc && (c.rc || hil_blocks_end(&c.blocks) ||
                json_array_append_new(curves, curve_json(run, &one, role, &c.blocks, room))))
        rc = plot_no_memory(run);
    hil_blocks_fini(&c.blocks);
    return rc;
}

/* --- missed steps ----------------------------------------------------------------------------- */

/* Missed steps as stretches: steps that could not be told apart by eye are one stretch. */
struct stretches {
    json_t *all;
    double from_s, to_s, apart_s;
    json_int_t steps;
};

static void end_stretch(struct stretches *s)
{
    if (s->steps)
        json_array_append_new(s->all, json_pack("[f, f, I]", s->from_s, s->to_s, s->steps));
    s->steps = 0;
}

static void add_missed(void *arg, double time_s)
{
    struct stretches *s = arg;

    if (s->steps && time_s - s->from_s > s->apart_s)
        end_stretch(s);
    s->from_s = s->steps ? s->from_s : time_s;
    s->to_s = time_s;
    s->steps++;
}

enum { STRETCHES_ABOUT = 2000 };

static int add_all_missed(json_t *figure, const struct plot_run *run, unsigned stream)
{
    struct stretches s = {.all = json_array(), .apart_s = run->duration_s / STRETCHES_ABOUT};
    const int rc = plot_run_each_missed(run, stream, add_missed, &s);

    end_stretch(&s);
    json_object_set_new(figure, "missed", s.all);
    return rc;
}

/* --- figures ---------------------------------------------------------------------------------- */

static json_t *add_figure(json_t *figures, const char *id, const char *title)
{
    json_t *figure =
        json_pack("{s:s, s:o, s:[]}", "id", id, "title", hil_curves_text(title), "curves");

    return json_array_append_new(figures, figure) ? NULL : figure;
}

static int add_measure(json_t *figures, const struct plot_run *run, const struct plot_named *named,
                       struct room *room)
{
    char title[PLOT_TEXT_BYTES];
    struct plot_measure m;

    plot_run_measure(run, named->number, &m);
    plot_measure_words(&m, title);
    plot_capital(title);
    json_t *figure = add_figure(figures, named->name, title);
    json_t *curves = json_object_get(figure, "curves");
    struct hil_recorded one = {.stream = m.stream, .column = m.value};
    int rc = figure ? add_curve(curves, run, one, "value", room) : plot_no_memory(run);
    one.column = (unsigned)m.reference;
    if (!rc && m.reference >= 0)
        rc = add_curve(curves, run, one, "reference", room);
    return rc ? rc : add_all_missed(figure, run, m.stream);
}

/* More curves than these would merge into one dark patch; then every second, third ... is drawn. */
enum { CURVES_MOST = 128 };

static unsigned group_step(const struct plot_group *group)
{
    return (group->count - 1) / CURVES_MOST + 1;
}

/* Adds the places of a column with the names that hil_recorded_find uses, which have indices. */
static int add_column(json_t *curves, const struct plot_run *run, const struct plot_group *group,
                      const struct plot_column *column, unsigned *number, struct room *room)
{
    const char *signals = run->streams[column->stream].columns[column->column].of.signals;
    struct hil_recorded *found;
    const int count = hil_recorded_find(&found, run->trace, signals, group->node);
    int rc = count < 0 ? plot_no_memory(run) : 0;

    if (rc)
        return rc;
    for (int i = 0; i < count && !rc; i++)
        if (found[i].stream == column->stream && found[i].column == column->column &&
            (*number)++ % group_step(group) == 0)
            rc = add_curve(curves, run, found[i], "signal", room);
    free(found);
    return rc;
}

static int add_group(json_t *figure, const struct plot_run *run, const struct plot_group *group,
                     struct room *room)
{
    json_t *curves = json_object_get(figure, "curves");
    unsigned number = 0;
    int rc = figure ? 0 : plot_no_memory(run);

    for (unsigned i = 0; i < group->column_count && !rc; i++)
        rc = add_column(curves, run, group, &group->columns[i], &number, room);
    if (group_step(group) > 1)
        json_object_set_new(figure, "left_out",
                            json_integer((json_int_t)(number - json_array_size(curves))));
    return rc;
}

/* --- a node's signals that are not arrays: a figure for each unit ----------------------------- */

static bool is_of_node(const struct plot_group *group, const char *node)
{
    return !group->array && !group->again && strcmp(group->node, node) == 0;
}

static json_t *figure_of_unit(json_t *figures, const char *node, const char *name, const char *unit)
{
    char id[2 * PLOT_TEXT_BYTES], title[PLOT_TEXT_BYTES], in_unit[40];
    json_t *figure;
    size_t i;

    json_array_foreach(figures, i, figure)
    {
        const char *of = json_string_value(json_object_get(figure, "node"));
        const json_t *first = json_array_get(json_object_get(figure, "curves"), 0);
        const char *has = json_string_value(json_object_get(first, "unit"));
        if (of && has && strcmp(of, name) == 0 && strcmp(has, hil_unit_words(unit)) == 0)
            return figure;
    }
    plot_in_unit(unit, in_unit);
    snprintf(id, sizeof id, "%s-%zu", name, json_array_size(figures));
    snprintf(title, sizeof title, "Signals of %.100s%s", node, in_unit);
    figure = add_figure(figures, id, title);
    json_object_set_new(figure, "node", json_string(name));
    return figure;
}

static int add_node(json_t *figures, const struct plot_run *run, const struct plot_groups *groups,
                    const struct plot_named *named, struct room *room)
{
    const char *node = groups->at[named->number].node;
    int rc = 0;

    for (unsigned i = 0; i < groups->count && !rc; i++) {
        const struct plot_group *group = &groups->at[i];
        if (is_of_node(group, node))
            rc = add_group(figure_of_unit(figures, node, named->name, group->like->unit), run,
                           group, room);
    }
    return rc;
}

/* --- all -------------------------------------------------------------------------------------- */

static int add_named(json_t *figures, const struct plot_run *run, const struct plot_names *names,
                     const struct plot_named *named, struct room *room)
{
    const struct plot_group *group = &names->groups.at[named->number];
    char title[PLOT_TEXT_BYTES];

    if (named->shows == PLOT_SHOWS_MEASURE)
        return add_measure(figures, run, named, room);
    if (named->shows == PLOT_SHOWS_NODE)
        return add_node(figures, run, &names->groups, named, room);
    plot_group_title(group, title);
    return add_group(add_figure(figures, named->name, title), run, group, room);
}

static unsigned count_curves(const struct plot_run *run, const struct plot_names *names,
                             bool measures_alone)
{
    struct plot_measure m;
    unsigned count = 0;

    for (unsigned i = 0; plot_run_measure(run, i, &m); i++)
        count += m.reference >= 0 ? 2 : 1;
    for (unsigned i = 0; i < names->groups.count && !measures_alone; i++)
        if (!names->groups.at[i].again)
            count += names->groups.at[i].count / group_step(&names->groups.at[i]);
    return count;
}

json_t *hil_curves(const struct plot_run *run, bool measures_alone, size_t most)
{
    json_t *figures = json_array();
    struct plot_names names;
    int rc = plot_names_open(&names, run) ? plot_no_memory(run) : 0;
    struct room room = {most, rc ? 0 : count_curves(run, &names, measures_alone)};

    for (unsigned i = 0; i < names.count && !rc; i++)
        if (names.at[i].shows == PLOT_SHOWS_MEASURE || !measures_alone)
            rc = add_named(figures, run, &names, &names.at[i], &room);
    plot_names_close(&names);
    if (!rc)
        return figures;
    json_decref(figures);
    return NULL;
}
