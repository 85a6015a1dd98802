#include "trace_rows.h"

#include <errno.h>
#include <stdlib.h>

static int rows_get(struct hil_trace_rows *r)
{
    const unsigned count = r->stream->column_count;

    r->columns = calloc(count, sizeof *r->columns);
    if (!r->columns)
        return -ENOMEM;
    for (unsigned i = 0; i < count; i++) {
        r->columns[i] = malloc(r->block * r->stream->columns[i].width * sizeof(double));
        if (!r->columns[i])
            return -ENOMEM;
    }
    if (r->stream->cadence.decimation == 0)
        return 0;
    r->steps = malloc(r->block * sizeof(double));
    return r->steps ? 0 : -ENOMEM;
}

int hil_trace_rows_open(struct hil_trace_rows *r, const struct hil_trace_reader *trace,
                        unsigned stream, size_t most)
{
    const size_t block = hil_trace_block_rows(trace, stream);
    unsigned count;

    *r = (struct hil_trace_rows){.trace = trace,
                                 .stream = &hil_trace_streams(trace, &count)[stream],
                                 .index = stream,
                                 .block = block < most ? block : most};
    const int rc = rows_get(r);
    if (rc)
        hil_trace_rows_close(r);
    return rc;
}

void hil_trace_rows_close(struct hil_trace_rows *r)
{
    for (unsigned i = 0; r->columns && i < r->stream->column_count; i++)
        free(r->columns[i]);
    free(r->columns);
    free(r->steps);
    *r = (struct hil_trace_rows){0};
}

int hil_trace_rows_next(struct hil_trace_rows *r)
{
    const uint64_t left = r->stream->rows - r->next;
    const size_t count = left < r->block ? (size_t)left : r->block;
    int rc = 0;

    r->count = 0;
    if (count == 0)
        return 0;
    for (unsigned i = 0; i < r->stream->column_count && !rc; i++)
        rc = hil_trace_read(r->trace, r->index, i, r->next, count, r->columns[i],
                            count * r->stream->columns[i].width);
    if (!rc && r->steps)
        rc = hil_trace_read_steps(r->trace, r->index, r->next, count, r->steps);
    if (rc)
        return rc;
    r->next += count;
    r->count = count;
    return 0;
}
