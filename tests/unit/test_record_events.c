/* Tests the events in a record: from the loops' rings into the file, and from the file to text. */
#include "test_scenario.h"

#include <sys/wait.h>

#include "folder.h"
#include "harness/h5/trace_events.h"
#include "harness/h5/trace_maker.h"
#include "harness/record/event_rows.h"
#include "harness/record/streams.h"

TestSuite(record_events, .init = folder_open, .fini = folder_close, .timeout = 60);

/* Two arrays of nodes, a component of each, and one with wide inputs. */
static const char arrays[] = "name: arrays\nduration_s: 0.1\nmode: realtime\n"
                             "nodes:\n"
                             "  hub: {period_us: 100}\n"
                             "  cell: {count: 3, period_us: 100}\n"
                             "components:\n"
                             "  sum: {model: sum, node: hub, width: 3}\n"
                             "  gain: {model: gain, node: \"cell[*]\", count: 3}\n"
                             "connections:\n"
                             "  - {from: \"gain[*].output\", to: \"sum.input[*]\"}\n"
                             "sources:\n"
                             "  one: {to: \"gain[*].input\", constant: 1}\n"
                             "record:\n"
                             "  - {node: hub, signals: sum.output}\n"
                             "placement:\n"
                             "  - {nodes: hub}\n"
                             "  - {nodes: \"cell[*]\"}\n";

static struct hil_scenario *scenario;
static struct hil_recorder *recorder;

static void open_arrays(void)
{
    scenario = load(arrays, NULL);
    cr_assert_eq(hil_streams_open(&recorder, in_folder("trace.h5"), scenario), 0);
}

static void add_event(unsigned ring, double time_s, unsigned node, struct hil_event_of of)
{
    const struct hil_event_row event = {.time_s = time_s,
                                        .step = 7,
                                        .node = node,
                                        .kind = HIL_EVENT_STALE,
                                        .of = of,
                                        .value = 0.25};

    hil_event_add(hil_recorder_events(recorder, ring), &event);
}

static struct hil_trace_events read_events(void)
{
    struct hil_trace_reader *reader;
    struct hil_trace_events events;

    cr_assert_eq(hil_trace_reader_open(&reader, in_folder("trace.h5")), 0);
    cr_assert_eq(hil_trace_events_read(&events, reader), 0);
    hil_trace_reader_close(reader);
    return events;
}

/* Each executor has a ring of its own. Their merged events are in the order of time. */
Test(record_events, of_several_loops_are_in_the_order_of_time)
{
    open_arrays();
    add_event(0, 0.002, 0, (struct hil_event_of){0});
    add_event(0, 0.004, 0, (struct hil_event_of){0});
    add_event(1, -0.001, 1, (struct hil_event_of){0});
    add_event(1, 0.003, 3, (struct hil_event_of){0});
    cr_expect_null(hil_recorder_events(recorder, 2));
    hil_recorder_close(recorder);

    struct hil_trace_events events = read_events();
    cr_assert_eq(events.count, 4);
    cr_expect_eq(events.at[0].time_s, -0.001);
    cr_expect_str_eq(events.at[0].node, "cell[0]");
    cr_expect_eq(events.at[1].time_s, 0.002);
    cr_expect_str_eq(events.at[1].node, "hub");
    cr_expect_eq(events.at[2].time_s, 0.003);
    cr_expect_str_eq(events.at[2].node, "cell[2]");
    cr_expect_str_eq(events.at[2].kind, "stale");
    cr_expect_str_eq(events.at[2].of, "");
    cr_expect_eq(events.at[2].step, 7);
    cr_expect_eq(events.at[2].value, 0.25);
    cr_expect_eq(events.at[3].time_s, 0.004);
    hil_trace_events_free(&events);
}

Test(record_events, are_about_what_the_scenario_names)
{
    open_arrays();
    const struct hil_system *s = scenario->system;
    add_event(0, 1, 0, hil_event_of_node(s, 0));
    add_event(0, 2, 0, hil_event_of_node(s, 2));
    add_event(0, 3, 0, hil_event_of_component(s, 0));
    add_event(0, 4, 0, hil_event_of_component(s, 3));
    add_event(0, 5, 0, hil_event_of_signal(s, 0, false, 2));
    add_event(0, 6, 0, hil_event_of_signal(s, 0, true, 0));
    add_event(0, 7, 0, hil_event_of_signal(s, 2, false, 0));
    add_event(0, 8, 0, hil_event_of_signal(s, 2, true, 0));
    hil_recorder_close(recorder);

    static const char *const names[] = {"hub",           "cell[1]",       "sum",
                                        "gain[2]",       "sum.input[2]",  "sum.output",
                                        "gain[1].input", "gain[1].output"};
    struct hil_trace_events events = read_events();
    cr_assert_eq(events.count, 8);
    for (unsigned i = 0; i < 8; i++)
        cr_expect_str_eq(events.at[i].of, names[i]);
    hil_trace_events_free(&events);
}

/* A stream next to the group of events, which readers of streams must ignore. */
Test(record_events, are_no_stream_of_a_node)
{
    struct hil_trace_reader *reader;
    unsigned count, number;

    open_arrays();
    hil_recorder_close(recorder);
    cr_assert_eq(hil_trace_reader_open(&reader, in_folder("trace.h5")), 0);
    cr_expect_str_eq(hil_trace_streams(reader, &count)[0].name, "hub");
    cr_expect_eq(count, 1);
    cr_expect_eq(hil_trace_stream_find(reader, "events"), -1);
    cr_expect_str_eq(hil_trace_events(reader, &number)->name, "events");
    hil_trace_reader_close(reader);
}

/* The writer and its owner are killed. The journal has what the writer had written. */
Test(record_events, outlive_their_writer)
{
    open_arrays();
    const pid_t child = fork();
    if (child == 0) {
        if (hil_recorder_start(recorder))
            _exit(1);
        for (unsigned i = 0; i < 100; i++)
            add_event(i % 2, i, 0, (struct hil_event_of){0});
        usleep(300000); /* the writer looks every 50 ms */
        _exit(access(in_folder("trace.h5.journal"), F_OK) ? 2 : 0);
    }
    int status;
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert_eq(status, 0);
    /* The orphaned writer completes the trace, or the journal still exists. */
    for (unsigned i = 0; i < 1000 && access(in_folder("trace.h5.journal"), F_OK) == 0; i++)
        usleep(10000);
    hil_trace_make(in_folder("trace.h5"), &(struct hil_trace_watch){.threads = 1}, NULL);
    struct hil_trace_events events = read_events();
    cr_expect_eq(events.count, 100);
    for (unsigned i = 0; i < events.count; i++)
        cr_expect_eq(events.at[i].time_s, i);
    hil_trace_events_free(&events);
}

/* --- the same file --------------------------------------------------------------------------- */

enum { STEPS = 40000 };

/* A loop in virtual time with an event or more in most steps, and a writer that takes them as they
 * come. */
static void record_loop(const char *path, unsigned pause_at)
{
    static const struct hil_column columns[] = {{"time_s", "s", "", 1, {0}}};
    struct hil_scenario *s = load(SMALL, NULL);
    struct hil_pool *pool = hil_pool_open();
    struct hil_stream_config streams[] = {{"a", columns, 1, STEPS, 0, {0, 1000, 1}},
                                          {"b", columns, 1, STEPS, 0, {500, 2000, 1}},
                                          {0}};
    const struct hil_trace_config config = {.streams = streams, .stream_count = 3, .whole = true};

    cr_assert_eq(hil_event_stream(&streams[2], pool, s->system), 0);
    cr_assert_eq(hil_recorder_open(&recorder, path, &config, 1), 0);
    hil_pool_close(pool);
    hil_scenario_free(s);
    cr_assert_eq(hil_recorder_start(recorder), 0);
    for (unsigned n = 0; n < STEPS; n++) {
        for (unsigned i = 0; i < n % 3; i++)
            add_event(0, n * 1e-6, 0, (struct hil_event_of){0});
        for (unsigned stream = 0; stream < 2; stream++) {
            if (stream > n % 2)
                continue;
            *hil_stream_row(hil_recorder_stream(recorder, stream)) = n * 1e-6;
            hil_stream_commit(hil_recorder_stream(recorder, stream));
        }
        if (n % pause_at == 0)
            usleep(3000);
    }
    hil_recorder_close(recorder);
}

static size_t read_file(const char *path, char **bytes)
{
    FILE *file = fopen(path, "r");

    cr_assert_not_null(file);
    fseek(file, 0, SEEK_END);
    const size_t size = (size_t)ftell(file);
    rewind(file);
    *bytes = malloc(size);
    cr_assert_eq(fread(*bytes, 1, size, file), size);
    fclose(file);
    return size;
}

/* The file is the same whenever the writer runs, and with several chunks of everything. */
Test(record_events, in_virtual_time_give_the_same_file)
{
    char *first, *other;

    record_loop(in_folder("first.h5"), 911);
    const size_t size = read_file(in_folder("first.h5"), &first);
    for (unsigned i = 0; i < 4; i++) {
        record_loop(in_folder("other.h5"), 300 + 5000 * i);
        cr_assert_eq(read_file(in_folder("other.h5"), &other), size);
        cr_expect_eq(memcmp(first, other, size), 0);
        free(other);
    }
    free(first);
}
