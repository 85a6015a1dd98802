#include "export.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "../base/csv.h"
#include "../base/digits.h"
#include "../base/foreign.h"
#include "../base/result_file.h"
#include "../h5/run_files.h"
#include "../h5/trace_rows.h"
#include "export_events.h"

/* The first names in a run's tables: the time, followed by these. */
#define STEP_NAMES ",step,missing_rows"
static const char step_names[] = STEP_NAMES, first_names[] = "time_s" STEP_NAMES;

/* A stream that is being written to a table. */
struct table {
    const struct hil_stream_config *stream;
    struct hil_trace_rows rows;
    double next_step; /* step expected in the next row */
    FILE *to;
    int written; /* the first error of it */
};

void export_number(double value, FILE *to)
{
    char text[HIL_NUMBER_BYTES];

    fputs(hil_number(text, value), to);
}

/* Steps have their own column, whether they were recorded or not. */
static bool is_step(const struct hil_column *column)
{
    return strcmp(column->name, "step") == 0;
}

/* "speed"; of a matrix "speed_0", or "speed[0]" if another column has that name. */
static void put_name(const struct table *table, const struct hil_column *column, unsigned place)
{
    char name[512];

    if (!hil_column_is_matrix(column)) {
        const bool kept = table->rows.steps && strcmp(column->name, "missing_rows") == 0;
        snprintf(name, sizeof name, "%s%s", column->name, kept ? " (2)" : "");
    } else {
        const int length = snprintf(name, sizeof name, "%s_%u", column->name, place);
        if (length < (int)sizeof name && hil_trace_column_find(table->stream, name) >= 0)
            snprintf(name, sizeof name, "%s[%u]", column->name, place);
    }
    hil_csv_text(table->to, name);
}

static void put_names(const struct table *table)
{
    for (unsigned i = 0; i < table->stream->column_count; i++) {
        const struct hil_column *column = &table->stream->columns[i];

        if (is_step(column))
            continue;
        for (unsigned k = 0; k < column->width; k++) {
            if (i + k > 0)
                putc(',', table->to);
            put_name(table, column, k);
        }
        if (i == 0 && table->rows.steps)
            fputs(step_names, table->to);
    }
    putc('\n', table->to);
}

static void put_step(struct table *table, double step)
{
    const double apart = (double)table->stream->cadence.decimation;

    fprintf(table->to, ",%.0f,%.0f", step, (step - table->next_step) / apart);
    table->next_step = step + apart;
}

static void put_row(struct table *table, size_t row)
{
    for (unsigned i = 0; i < table->stream->column_count; i++) {
        const unsigned width = table->stream->columns[i].width;

        if (is_step(&table->stream->columns[i]))
            continue;
        for (unsigned k = 0; k < width; k++) {
            if (i + k > 0)
                putc(',', table->to);
            export_number(table->rows.columns[i][row * width + k], table->to);
        }
        if (i == 0 && table->rows.steps)
            put_step(table, table->rows.steps[row]);
    }
    putc('\n', table->to);
}

/* Writes the rows of the current block. */
static int put_block(struct table *table)
{
    for (size_t row = 0; row < table->rows.count; row++)
        put_row(table, row);
    fflush(table->to);
    return table->written;
}

static int put_rows(struct table *table)
{
    int rc = hil_trace_rows_next(&table->rows);

    put_names(table);
    while (!rc && table->rows.count) {
        rc = put_block(table);
        if (!rc)
            rc = hil_trace_rows_next(&table->rows);
    }
    return rc;
}

static int write_table(struct table *table, const char *path)
{
    table->to = hil_result_create(path, &table->written);
    if (!table->to)
        return table->written;
    const int rc = put_rows(table);
    fclose(table->to);
    return rc ? rc : table->written;
}

/* "DIR/cell-007.csv" for the stream "cell/007". */
static int table_path(char path[HIL_PATH_BYTES], const char *dir, const char *stream)
{
    const int rc = hil_run_path(path, dir, "%s.csv", stream);

    for (char *c = path + strlen(dir) + 1; !rc && *c != '\0'; c++)
        if (*c == '/')
            *c = '-';
    return rc;
}

static bool begins_with(const char *line, const char *names)
{
    return strncmp(line, names, strlen(names)) == 0;
}

bool hil_export_made(const char *dir, const char *name)
{
    char path[HIL_PATH_BYTES], line[sizeof export_event_names] = "";
    FILE *file = fnmatch("?*.csv", name, 0) == 0 && hil_run_path(path, dir, "%s", name) == 0
                     ? hil_result_read(path)
                     : NULL;

    if (!file)
        return false;
    const bool read = fgets(line, sizeof line, file);
    fclose(file);
    return read && (begins_with(line, first_names) || begins_with(line, export_event_names));
}

/* Reports the result of writing a table. Returns `rc`. */
static int export_tell(const char *path, uint64_t rows, int rc, FILE *messages)
{
    char shown[HIL_PATH_BYTES];

    hil_foreign_text(shown, sizeof(shown), path, sizeof(shown));
    if (rc)
        fprintf(messages, "%s: %s\n", shown, strerror(-rc));
    else
        fprintf(messages, "%s: %llu rows\n", shown, (unsigned long long)rows);
    return rc;
}

static int export_stream(struct hil_trace_reader *trace, unsigned index, const char *dir,
                         FILE *messages)
{
    unsigned count;
    struct table table = {.stream = &hil_trace_streams(trace, &count)[index]};
    char path[HIL_PATH_BYTES];

    int rc = table_path(path, dir, table.stream->name);
    if (!rc)
        rc = hil_trace_rows_open(&table.rows, trace, index, SIZE_MAX);
    if (!rc) {
        rc = write_table(&table, path);
        hil_trace_rows_close(&table.rows);
    }
    return export_tell(path, table.stream->rows, rc, messages);
}

static int export_events(const struct hil_trace_reader *trace, const char *dir, FILE *messages)
{
    struct hil_trace_events events;
    char path[HIL_PATH_BYTES];
    unsigned number;

    if (!hil_trace_events(trace, &number))
        return 0;
    int rc = table_path(path, dir, HIL_EVENTS);
    if (!rc)
        rc = hil_trace_events_read(&events, trace);
    if (rc)
        return export_tell(path, 0, rc, messages);
    rc = export_write_events(&events, path);
    rc = export_tell(path, events.count, rc, messages);
    hil_trace_events_free(&events);
    return rc;
}

int hil_export_csv(const char *dir, const char *to, FILE *messages)
{
    struct hil_trace_reader *trace;
    unsigned count;
    int rc = hil_run_open_trace(&trace, dir, messages);
    if (rc)
        return rc;

    hil_trace_streams(trace, &count);
    for (unsigned i = 0; i < count && !rc; i++)
        rc = export_stream(trace, i, to ? to : dir, messages);
    if (!rc)
        rc = export_events(trace, to ? to : dir, messages);
    hil_trace_reader_close(trace);
    return rc;
}
