#include "reading.h"

#include <babeltrace2/babeltrace.h>
#include <errno.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/in_child.h"

/* --- fields ----------------------------------------------------------------------------------- */

static uint64_t number_of(const bt_field *field)
{
    const bt_field_class_type type = field ? bt_field_get_class_type(field) : 0;

    if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER))
        return bt_field_integer_unsigned_get_value(field);
    if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER))
        return (uint64_t)bt_field_integer_signed_get_value(field);
    return 0;
}

static const bt_field *member(const bt_field *structure, const char *name)
{
    return structure ? bt_field_structure_borrow_member_field_by_name_const(structure, name) : NULL;
}

uint64_t hil_event_number(const struct hil_traced_event *event, const char *name)
{
    return number_of(member(event->fields, name));
}

unsigned hil_event_numbers(const struct hil_traced_event *event, const char *name,
                           uint64_t *numbers, unsigned max)
{
    const bt_field *field = member(event->fields, name);
    const bt_field_class_type type = field ? bt_field_get_class_type(field) : 0;
    uint64_t count = 0;

    if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_ARRAY))
        count = bt_field_array_get_length(field);
    count = count < max ? count : max;
    for (uint64_t i = 0; i < count; i++)
        numbers[i] = number_of(bt_field_array_borrow_element_field_by_index_const(field, i));
    return (unsigned)count;
}

const char *hil_event_text(const struct hil_traced_event *event, const char *name)
{
    const bt_field *field = member(event->fields, name);

    if (!field || bt_field_get_class_type(field) != BT_FIELD_CLASS_TYPE_STRING)
        return NULL;
    return bt_field_string_get_value(field);
}

/* --- messages --------------------------------------------------------------------------------- */

static void give_event(const struct hil_reader *reader, const bt_message *message)
{
    const bt_event *event = bt_message_event_borrow_event_const(message);
    const bt_stream_class *stream =
        bt_stream_borrow_class_const(bt_event_borrow_stream_const(event));
    const bt_packet *packet = NULL;
    const bt_field *cpu = NULL;
    struct hil_traced_event e = {
        .cpu = -1,
        .name = bt_event_class_get_name(bt_event_borrow_class_const(event)),
        .fields = bt_event_borrow_payload_field_const(event),
    };

    if (!e.name || !bt_stream_class_borrow_default_clock_class_const(stream))
        return;
    e.time_ns =
        bt_clock_snapshot_get_value(bt_message_event_borrow_default_clock_snapshot_const(message));
    if (bt_stream_class_supports_packets(stream))
        packet = bt_event_borrow_packet_const(event);
    if (packet)
        cpu = member(bt_packet_borrow_context_field_const(packet), "cpu_id");
    if (cpu)
        e.cpu = (int)number_of(cpu);
    reader->event(reader->arg, &e);
}

static void give(const struct hil_reader *reader, const bt_message *message)
{
    uint64_t count;

    switch (bt_message_get_type(message)) {
    case BT_MESSAGE_TYPE_EVENT:
        give_event(reader, message);
        break;
    case BT_MESSAGE_TYPE_DISCARDED_EVENTS:
        if (bt_message_discarded_events_get_count(message, &count) ==
            BT_PROPERTY_AVAILABILITY_AVAILABLE)
            reader->lost(reader->arg, count);
        break;
    default:
        break;
    }
}

/* Reads the trace, which may be damaged: then babeltrace2 may stop making progress, or find more
 * messages than the trace has bits. */
struct sink {
    const struct hil_reader *reader;
    uint64_t left; /* how many messages may still come */
};

enum { STANDS_STILL_S = 30 };

static bt_graph_simple_sink_component_consume_func_status consume(bt_message_iterator *messages,
                                                                  void *data)
{
    struct sink *sink = data;
    bt_message_array_const batch;
    uint64_t count;

    hil_in_child_within(STANDS_STILL_S);

    switch (bt_message_iterator_next(messages, &batch, &count)) {
    case BT_MESSAGE_ITERATOR_NEXT_STATUS_OK:
        break;
    case BT_MESSAGE_ITERATOR_NEXT_STATUS_END:
        return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_END;
    case BT_MESSAGE_ITERATOR_NEXT_STATUS_AGAIN:
        return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_AGAIN;
    case BT_MESSAGE_ITERATOR_NEXT_STATUS_MEMORY_ERROR:
        return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_MEMORY_ERROR;
    default:
        return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_ERROR;
    }
    const bool fits = count <= sink->left;
    sink->left -= fits ? count : 0;
    for (uint64_t i = 0; i < count; i++) {
        if (fits)
            give(sink->reader, batch[i]);
        bt_message_put_ref(batch[i]);
    }
    return fits ? BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_OK
                : BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_ERROR;
}

/* --- the graph: a source for each trace, a muxer, and the reader ---------------------------- */

enum { TRACES_MAX = 64 };

struct graph {
    bt_graph *graph;
    const bt_plugin *ctf, *utils;
    const bt_component_filter *muxer;
    uint64_t muxed; /* number of streams */
};

/* nftw() has no argument for its callback. */
static char *found[TRACES_MAX];
static unsigned found_count;
static uint64_t found_bits; /* size of all files */

static int look_for_metadata(const char *path, const struct stat *status, int type,
                             struct FTW *where)
{
    if (type == FTW_F)
        found_bits += 8 * (uint64_t)status->st_size;
    if (type == FTW_F && strcmp(path + where->base, "metadata") == 0 && found_count < TRACES_MAX)
        found[found_count++] = strndup(path, (size_t)(where->base > 0 ? where->base - 1 : 0));
    return 0;
}

/* Connects the ports of a source's streams one by one to the muxer's inputs. */
static int connect_source(struct graph *g, const bt_component_source *source)
{
    for (uint64_t i = 0; i < bt_component_source_get_output_port_count(source); i++) {
        const bt_port_output *out =
            bt_component_source_borrow_output_port_by_index_const(source, i);
        const bt_port_input *in =
            bt_component_filter_borrow_input_port_by_index_const(g->muxer, g->muxed++);
        if (bt_graph_connect_ports(g->graph, out, in, NULL) != BT_GRAPH_CONNECT_PORTS_STATUS_OK)
            return -EPROTO;
    }
    return 0;
}

static int add_trace(struct graph *g, const bt_component_class_source *class, const char *path)
{
    const bt_component_source *source;
    bt_value *params = bt_value_map_create(), *inputs = NULL;
    char name[32];
    int rc = -EPROTO;

    snprintf(name, sizeof name, "trace-%llu", (unsigned long long)g->muxed);
    if (params &&
        bt_value_map_insert_empty_array_entry(params, "inputs", &inputs) ==
            BT_VALUE_MAP_INSERT_ENTRY_STATUS_OK &&
        bt_value_array_append_string_element(inputs, path) ==
            BT_VALUE_ARRAY_APPEND_ELEMENT_STATUS_OK &&
        bt_graph_add_source_component(g->graph, class, name, params, BT_LOGGING_LEVEL_NONE,
                                      &source) == BT_GRAPH_ADD_COMPONENT_STATUS_OK)
        rc = connect_source(g, source);
    bt_value_put_ref(params);
    return rc;
}

static int add_traces(struct graph *g)
{
    const bt_component_class_source *class =
        bt_plugin_borrow_source_component_class_by_name_const(g->ctf, "fs");
    int rc = class ? 0 : -ENOPKG;

    for (unsigned i = 0; !rc && i < found_count; i++)
        rc = add_trace(g, class, found[i]);
    return rc;
}

static int add_sink(struct graph *g, struct sink *data)
{
    const bt_component_sink *sink;

    if (bt_graph_add_simple_sink_component(g->graph, "reader", NULL, consume, NULL, data, &sink) !=
        BT_GRAPH_ADD_COMPONENT_STATUS_OK)
        return -EPROTO;
    if (bt_graph_connect_ports(g->graph,
                               bt_component_filter_borrow_output_port_by_index_const(g->muxer, 0),
                               bt_component_sink_borrow_input_port_by_index_const(sink, 0),
                               NULL) != BT_GRAPH_CONNECT_PORTS_STATUS_OK)
        return -EPROTO;
    return 0;
}

static int open_graph(struct graph *g)
{
    const bt_component_class_filter *class;

    bt_plugin_find("ctf", BT_TRUE, BT_TRUE, BT_TRUE, BT_TRUE, BT_FALSE, &g->ctf);
    bt_plugin_find("utils", BT_TRUE, BT_TRUE, BT_TRUE, BT_TRUE, BT_FALSE, &g->utils);
    if (!g->ctf || !g->utils)
        return -ENOPKG;
    class = bt_plugin_borrow_filter_component_class_by_name_const(g->utils, "muxer");
    g->graph = bt_graph_create(0);
    if (!g->graph)
        return -ENOMEM;
    return class && bt_graph_add_filter_component(g->graph, class, "muxer", NULL,
                                                  BT_LOGGING_LEVEL_NONE,
                                                  &g->muxer) == BT_GRAPH_ADD_COMPONENT_STATUS_OK
               ? 0
               : -EPROTO;
}

static int run_graph(const struct graph *g)
{
    return bt_graph_run(g->graph) == BT_GRAPH_RUN_STATUS_OK ? 0 : -EPROTO;
}

/* Reports the error in babeltrace2's words. */
static void explain(int rc, const char *folder, FILE *messages)
{
    const bt_error *error = bt_current_thread_take_error();

    if (rc == -ENOPKG)
        fprintf(messages, "babeltrace2 has no plugin for CTF\n");
    else
        fprintf(messages, "%s: the trace cannot be read%s%s\n", folder, error ? ": " : "",
                error ? bt_error_cause_get_message(bt_error_borrow_cause_by_index(error, 0)) : "");
    if (error)
        bt_error_release(error);
}

int hil_traces_read(const char *folder, const struct hil_reader *reader, FILE *messages)
{
    struct graph g = {0};

    found_count = 0;
    found_bits = 0;
    if (nftw(folder, look_for_metadata, 16, FTW_PHYS) || found_count == 0) {
        fprintf(messages, "%s: there is no trace (hiloco run --trace makes one)\n", folder);
        return -ENOENT;
    }
    struct sink sink = {reader, found_bits};
    hil_in_child_within(STANDS_STILL_S);
    int rc = open_graph(&g);
    if (!rc)
        rc = add_traces(&g);
    if (!rc)
        rc = add_sink(&g, &sink);
    if (!rc)
        rc = run_graph(&g);
    if (rc)
        explain(rc, folder, messages);
    while (found_count)
        free(found[--found_count]);
    bt_graph_put_ref(g.graph);
    bt_plugin_put_ref(g.ctf);
    bt_plugin_put_ref(g.utils);
    hil_in_child_within(0);
    return rc;
}
