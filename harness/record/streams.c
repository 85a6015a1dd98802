#include "streams.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event_rows.h"

int hil_streams_number(const struct hil_system *system, unsigned node)
{
    int streams = 0;

    for (unsigned i = 0; i < node; i++)
        streams += system->nodes[i].decimation > 0;
    return system->nodes[node].decimation ? streams : -1;
}

/* --- opening ---------------------------------------------------------------------------------- */

/* "cell/007": zeros make the order as text the same as the numeric order. */
static const char *name_stream(struct hil_pool *pool, const struct hil_instance *node)
{
    char text[HIL_SIGNAL_NAME_BYTES];

    if (node->of)
        snprintf(text, sizeof text, "%s/%0*u", node->name, (int)hil_index_digits(node->of),
                 node->index);
    else
        snprintf(text, sizeof text, "%s", node->name);
    return hil_pool_text(pool, text);
}

static int make_stream(struct hil_stream_config *stream, struct hil_pool *pool,
                       const struct hil_scenario *s, unsigned node)
{
    const struct hil_node_config *config = &s->system->nodes[node];
    const struct hil_timing *t = &config->timing;
    struct hil_columns columns;
    const int rc = hil_columns_of(&columns, pool, s, node);

    *stream = (struct hil_stream_config){
        .name = name_stream(pool, &config->is),
        .columns = columns.at,
        .column_count = columns.count,
        .rows = (s->duration_ns + s->stop_ramp_ns) / t->period_ns / config->decimation + 1,
        .cadence = {t->phase_ns, t->period_ns, config->decimation},
    };
    return rc || stream->name ? rc : -ENOMEM;
}

/* The number of event rings: one for each thread with loops. */
static unsigned event_rings(const struct hil_scenario *s)
{
    return s->mode == HIL_VIRTUAL ? 1 : s->executor_count;
}

int hil_streams_config(struct hil_trace_config *config, struct hil_pool *pool,
                       const struct hil_scenario *s)
{
    const struct hil_attribute all[] = {
        {"scenario", s->name},
        {"mode", s->mode == HIL_VIRTUAL ? "virtual" : "realtime"},
        {"fabric", hil_fabric_name(s->fabric)},
    };
    const unsigned nodes = s->system->node_count;
    struct hil_stream_config *streams = hil_pool_get(pool, nodes + 1, sizeof *streams);
    struct hil_attribute *attributes = hil_pool_get(pool, 1, sizeof all);
    int rc = streams && attributes ? 0 : -ENOMEM;

    if (!rc)
        memcpy(attributes, all, sizeof all);
    *config = (struct hil_trace_config){
        .streams = streams,
        .attributes = attributes,
        .attribute_count = sizeof all / sizeof all[0],
        .whole = s->mode == HIL_VIRTUAL,
    };
    for (unsigned i = 0; i < nodes && !rc; i++)
        if (s->system->nodes[i].decimation)
            rc = make_stream(&streams[config->stream_count++], pool, s, i);
    if (!rc)
        rc = hil_event_stream(&streams[config->stream_count++], pool, s->system);
    return rc;
}

int hil_streams_open(struct hil_recorder **recorder, const char *path, const struct hil_scenario *s)
{
    struct hil_pool *pool = hil_pool_open();
    struct hil_trace_config config;
    int rc = pool ? hil_streams_config(&config, pool, s) : -ENOMEM;

    if (!rc)
        rc = hil_recorder_open(recorder, path, &config, event_rings(s));
    if (!rc)
        hil_recorder_limit(*recorder, s->hang_limit_ns);
    hil_pool_close(pool);
    return rc;
}
