#include "streams.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { CONTROLLER_COLUMNS = 5 };

static const struct hil_column converter_columns[] = {
    {"time_s", "s", "since the start", 1},
    {"voltage_v", "V", "output voltage", 1},
    {"current_a", "A", "inductor current", 1},
    {"duty", "", "duty cycle held until this step", 1},
};

static unsigned controller_columns(const struct hil_scenario *s, struct hil_column *columns)
{
    unsigned n = 0;

    columns[n++] = (struct hil_column){"time_s", "s", "since the start", 1};
    columns[n++] = (struct hil_column){"output_v", "V", "sum of the newest voltages", 1};
    columns[n++] = (struct hil_column){"reference_v", "V", "reference of the sum", 1};
    if (s->recording.voltage)
        columns[n++] = (struct hil_column){"voltage_v", "V", "newest voltage of each converter",
                                           s->converter_count};
    if (s->recording.duty)
        columns[n++] = (struct hil_column){"duty", "", "duty cycle in force at each converter",
                                           s->converter_count};
    return n;
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
    bool is_virtual = s->mode == HIL_VIRTUAL;
    const struct hil_attribute attributes[] = {
        {"scenario", s->name},
        {"mode", is_virtual ? "virtual" : "realtime"},
        {"fabric", is_virtual ? "sim" : "shm"},
    };
    struct hil_column columns[CONTROLLER_COLUMNS];
    unsigned each = s->recording.converter_decimation;

    streams[0] = (struct hil_stream_config){
        .name = "controller",
        .columns = columns,
        .column_count = controller_columns(s, columns),
        .rows = rows(s, &s->controller.timing, s->recording.decimation),
        .cadence = cadence(&s->controller.timing, s->recording.decimation),
    };
    name_converters(names, s->converter_count);
    for (unsigned i = 0; each && i < s->converter_count; i++)
        streams[1 + i] = (struct hil_stream_config){
            .name = names[i],
            .columns = converter_columns,
            .column_count = sizeof converter_columns / sizeof converter_columns[0],
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

int hil_streams_open(struct hil_recorder **recorder, const char *path, const struct hil_scenario *s)
{
    struct hil_stream_config *streams = calloc(1 + s->converter_count, sizeof *streams);
    char(*names)[24] = calloc(s->converter_count, sizeof *names);
    int rc = streams && names ? open_with(recorder, path, s, streams, names) : -ENOMEM;

    free(streams);
    free(names);
    return rc;
}

int hil_streams_add_histograms(const char *path, const struct hil_state *state)
{
    const struct hil_node_state *controller = &state->nodes[0];
    struct hil_together *all = malloc(sizeof *all);

    if (!all)
        return -ENOMEM;
    hil_state_together(state, all);
    const struct hil_named_histogram histograms[] = {
        {"controller_late", &controller->late},     {"controller_step", &controller->busy},
        {"controller_period", &controller->period}, {"controller_input_age", &state->input_age},
        {"converters_late", &all->loops.late},      {"converters_step", &all->loops.busy},
        {"converters_period", &all->loops.period},  {"converters_input_age", &all->input_age},
        {"round_trip", &state->round_trip},
    };
    int rc = hil_trace_add_histograms(path, histograms, sizeof histograms / sizeof histograms[0]);
    free(all);
    return rc;
}
