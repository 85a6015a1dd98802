#include "parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/foreign.h"
#include "../../h5/run_files.h"
#include "../../record/summary_reader.h"

void merge_names(const struct hil_system *s, const bool *nodes, char text[HIL_NODES_NAME_BYTES])
{
    text[0] = '\0';
    for (unsigned n = 0; n < s->node_count; n++) {
        const unsigned first = n;
        if (!nodes[n])
            continue;
        while (n + 1 < s->node_count && nodes[n + 1] && s->nodes[n + 1].array == s->nodes[n].array)
            n++;
        hil_nodes_name_add(s, first, n, text);
    }
}

/* --- one -------------------------------------------------------------------------------------- */

/* If a part did not report, it ran the nodes for which it has rows. */
static void parts_find_nodes(struct merge_part *p, const struct hil_system *s)
{
    unsigned count, stream = 0;
    const struct hil_stream_config *streams = hil_trace_streams(p->record, &count);

    for (unsigned i = 0; p->reported && i < p->is.executor_count; i++)
        for (unsigned k = 0; k < p->is.executors[i].count; k++)
            p->nodes[p->is.executors[i].nodes[k]] = true;
    for (unsigned n = 0; !p->reported && n < s->node_count; n++)
        if (s->nodes[n].decimation && stream < count)
            p->nodes[n] = streams[stream++].rows > 0;
}

static int parts_open_one(struct merge_part *p, const struct hil_merge *m,
                          const struct hil_merge_from *from, FILE *messages)
{
    const struct hil_system *s = m->scenario->system;

    p->from = from;
    p->nodes = calloc(s->node_count, sizeof *p->nodes);
    if (!p->nodes)
        return -ENOMEM;
    int rc = hil_run_open_trace(&p->record, from->dir, messages);
    if (rc)
        return rc;
    rc = hil_part_read(&p->is, from->dir, m->scenario, messages);
    p->reported = !rc;
    if (rc == -ENOENT && !m->partial)
        fprintf(messages,
                "%s has no " HIL_PART_FILE
                ": all nodes of the scenario ran there, or its processes were killed\n",
                from->dir);
    if (rc && (rc != -ENOENT || !m->partial))
        return rc;
    p->summary = hil_summary_reader_of_run(from->dir).root;
    parts_find_nodes(p, s);
    return 0;
}

/* --- all -------------------------------------------------------------------------------------- */

/* If clocks were compared, starts are known to the nanosecond, and no two runs have the same. */
static int parts_check_run(const struct merge_parts *parts, FILE *messages)
{
    const struct merge_part *first = NULL;

    for (unsigned i = 0; i < parts->count; i++) {
        const struct merge_part *p = &parts->at[i];
        const uint64_t start_ns = p->reported ? p->is.report.first_start_ns : 0;
        if (!start_ns)
            continue;
        if (!first)
            first = p;
        if (start_ns == first->is.report.first_start_ns)
            continue;
        fprintf(messages,
                "%s and %s belong to different runs: on the first node's clock one began at %.6f "
                "s, the other at %.6f s\n",
                first->from->dir, p->from->dir, (double)first->is.report.first_start_ns * 1e-9,
                (double)start_ns * 1e-9);
        return -EINVAL;
    }
    return 0;
}

static int parts_check_both(const struct merge_part *a, const struct merge_part *b,
                            const struct hil_system *s, FILE *messages)
{
    char names[HIL_NODES_NAME_BYTES];
    bool *both = calloc(s->node_count, sizeof *both), any = false;

    if (!both)
        return -ENOMEM;
    for (unsigned n = 0; n < s->node_count; n++)
        any |= both[n] = a->nodes[n] && b->nodes[n];
    merge_names(s, both, names);
    if (any)
        fprintf(messages, "%s and %s both have %s\n", a->from->dir, b->from->dir, names);
    free(both);
    return any ? -EINVAL : 0;
}

/* An outside node may have recorded nothing. */
static int parts_find_absent(struct merge_parts *parts, FILE *messages)
{
    const struct hil_system *s = parts->merge->scenario->system;
    bool any = false;

    parts->absent = calloc(s->node_count, sizeof *parts->absent);
    if (!parts->absent)
        return -ENOMEM;
    for (unsigned n = 0; n < s->node_count; n++) {
        bool there = s->nodes[n].outside;
        for (unsigned i = 0; i < parts->count; i++)
            there |= parts->at[i].reported && parts->at[i].nodes[n];
        parts->absent[n] = !there;
        any |= !there;
    }
    merge_names(s, parts->absent, parts->absent_names);
    if (!any || parts->merge->partial)
        return 0;
    fprintf(messages, "a part is missing: none of these has %s\n", parts->absent_names);
    return -EINVAL;
}

static int parts_check_all(struct merge_parts *parts, FILE *messages)
{
    int rc = parts_check_run(parts, messages);
    bool reported = false;

    for (unsigned i = 0; i < parts->count; i++) {
        reported |= parts->at[i].reported;
        for (unsigned k = 0; !rc && k < i; k++)
            rc = parts_check_both(&parts->at[k], &parts->at[i], parts->merge->scenario->system,
                                  messages);
    }
    if (!rc && !reported) {
        fprintf(messages, "no part finished\n");
        rc = -EINVAL;
    }
    return rc ? rc : parts_find_absent(parts, messages);
}

int merge_parts_open(struct merge_parts *parts, const struct hil_merge *m, FILE *messages)
{
    int rc = 0;

    *parts = (struct merge_parts){.merge = m, .at = calloc(m->count, sizeof *parts->at)};
    if (!parts->at)
        return -ENOMEM;
    for (unsigned i = 0; !rc && i < m->count; i++) {
        parts->count++;
        rc = parts_open_one(&parts->at[i], m, &m->parts[i], messages);
    }
    return rc ? rc : parts_check_all(parts, messages);
}

void merge_parts_close(struct merge_parts *parts)
{
    for (unsigned i = 0; i < parts->count; i++) {
        struct merge_part *p = &parts->at[i];
        hil_part_close(&p->is);
        if (p->record)
            hil_trace_reader_close(p->record);
        json_decref(p->summary);
        free(p->nodes);
    }
    free(parts->absent);
    free(parts->at);
}
