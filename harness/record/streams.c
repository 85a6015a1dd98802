#include "streams.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add(struct hil_column *columns, unsigned *count, struct hil_column column)
{
    columns[(*count)++] = column;
}

/* Against the clock a step may be left out, or run late, and a plant may be late. In virtual time
 * row r is of step r * decimation, and all plants are where the clock is. */
static void add_times(const struct hil_scenario *s, const char *plant, struct hil_column *columns,
                      unsigned *count)
{
    add(columns, count, (struct hil_column){"time_s", "s", "since the start", 1});
    if (s->mode == HIL_VIRTUAL)
        return;
    add(columns, count, (struct hil_column){"step", "", "number of the step, from 0", 1});
    add(columns, count, (struct hil_column){"plant_time_s", "s", plant, 1});
}

static void add_controller(const struct hil_scenario *s, struct hil_column *columns,
                           unsigned *count)
{
    const unsigned all = s->converter_count;

    add_times(s, "time that the slowest plant had reached by the newest voltages", columns, count);
    add(columns, count, (struct hil_column){"output_v", "V", "sum of the newest voltages", 1});
    add(columns, count, (struct hil_column){"reference_v", "V", "reference of the sum", 1});
    if (s->recording.voltage)
        add(columns, count,
            (struct hil_column){"voltage_v", "V", "newest voltage of each converter", all});
    if (s->recording.duty)
        add(columns, count,
            (struct hil_column){"duty", "", "duty cycle in force at each converter", all});
}

static void add_converter(const struct hil_scenario *s, struct hil_column *columns, unsigned *count)
{
    add_times(s, "time that the plant has reached", columns, count);
    add(columns, count, (struct hil_column){"voltage_v", "V", "output voltage", 1});
    add(columns, count, (struct hil_column){"current_a", "A", "inductor current", 1});
    add(columns, count, (struct hil_column){"duty", "", "duty cycle held until this step", 1});
}

unsigned hil_streams_columns(const struct hil_scenario *s, unsigned node,
                             struct hil_column columns[HIL_COLUMNS_MAX])
{
    unsigned count = 0;

    if (node == 0)
        add_controller(s, columns, &count);
    else
        add_converter(s, columns, &count);
    return count;
}

int hil_streams_place(const struct hil_scenario *s, unsigned node, const char *column)
{
    struct hil_column columns[HIL_COLUMNS_MAX];
    const unsigned count = hil_streams_columns(s, node, columns);
    unsigned place = 0;

    for (unsigned i = 0; i < count; place += columns[i++].width)
        if (strcmp(columns[i].name, column) == 0)
            return (int)place;
    return -1;
}

static uint64_t rows(const struct hil_scenario *s, const struct hil_timing *t, unsigned decimation)
{
    return decimation ? s->duration_ns / t->period_ns / decimation + 1 : 0;
}

static struct hil_cadence cadence(const struct hil_timing *t, unsigned decimation)
{
    return (struct hil_cadence){t->phase_ns, t->period_ns, decimation};
}

/* "converter/007": in the order of the numbers also where names are sorted as text. */
static void name_converters(char (*names)[24], unsigned count)
{
    int digits = count > 1000 ? 6 : 3;

    for (unsigned i = 0; i < count; i++)
        snprintf(names[i], sizeof names[i], "converter/%0*u", digits, i);
}

static int open_with(struct hil_recorder **recorder, const char *path, const struct hil_scenario *s,
                     struct hil_stream_config *streams, char (*names)[24])
{
    const bool is_virtual = s->mode == HIL_VIRTUAL;
    const struct hil_attribute attributes[] = {
        {"scenario", s->name},
        {"mode", is_virtual ? "virtual" : "realtime"},
        {"fabric", hil_fabric_name(s->fabric)},
    };
    struct hil_column columns[2][HIL_COLUMNS_MAX]; /* the converters' are alike */
    const unsigned each = s->recording.converter_decimation;

    streams[0] = (struct hil_stream_config){
        .name = "controller",
        .columns = columns[0],
        .column_count = hil_streams_columns(s, 0, columns[0]),
        .rows = rows(s, &s->controller.timing, s->recording.decimation),
        .cadence = cadence(&s->controller.timing, s->recording.decimation),
    };
    name_converters(names, s->converter_count);
    const unsigned converter_columns = hil_streams_columns(s, 1, columns[1]);
    for (unsigned i = 0; each && i < s->converter_count; i++)
        streams[1 + i] = (struct hil_stream_config){
            .name = names[i],
            .columns = columns[1],
            .column_count = converter_columns,
            .rows = rows(s, &s->converters[i].timing, each),
            .cadence = cadence(&s->converters[i].timing, each),
        };
    const struct hil_trace_config config = {
        .streams = streams,
        .stream_count = each ? 1 + s->converter_count : 1,
        .attributes = attributes,
        .attribute_count = sizeof attributes / sizeof attributes[0],
        .whole = is_virtual,
    };
    return hil_recorder_open(recorder, path, &config);
}

unsigned hil_streams_index(const struct hil_scenario *s, unsigned node)
{
    (void)s;
    return node;
}

int hil_streams_open(struct hil_recorder **recorder, const char *path, const struct hil_scenario *s)
{
    struct hil_stream_config *streams = calloc(1 + s->converter_count, sizeof *streams);
    char(*names)[24] = calloc(s->converter_count, sizeof *names);
    int rc = streams && names ? open_with(recorder, path, s, streams, names) : -ENOMEM;

    free(streams);
    free(names);
    return rc;
}

int hil_streams_add_histograms(struct hil_trace *trace, const struct hil_state *state)
{
    const struct hil_node_state *controller = &state->nodes[0];
    struct {
        struct hil_node_state loops;
        struct hil_link_figures up, down;
    } *all = calloc(1, sizeof *all);

    if (!all)
        return -ENOMEM;
    hil_state_add_up(state, 1, &all->loops);
    hil_state_add_up_links(state, 0, &all->down);
    hil_state_add_up_links(state, 1, &all->up);
    const struct hil_named_histogram all_of_them[] = {
        {"controller_late", &controller->late},     {"controller_step", &controller->busy},
        {"controller_period", &controller->period}, {"controller_input_age", &all->up.input_age},
        {"converters_late", &all->loops.late},      {"converters_step", &all->loops.busy},
        {"converters_period", &all->loops.period},  {"converters_input_age", &all->down.input_age},
        {"round_trip", &all->up.round_trip},
    };
    enum { ALL = sizeof all_of_them / sizeof all_of_them[0] };
    struct hil_named_histogram measured[ALL];
    unsigned count = 0;
    for (unsigned i = 0; i < ALL; i++)
        if (all_of_them[i].histogram->count)
            measured[count++] = all_of_them[i];
    int rc = hil_trace_add_histograms(trace, measured, count);
    free(all);
    return rc;
}
