#include "export.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "../base/foreign.h"
#include "../h5/run_files.h"
#include "export_events.h"

enum { NUMBER_BYTES = 32 };

/* The first names of a run's tables: of the time, and of these behind it. */
#define STEP_NAMES ",step,missing_rows"
static const char step_names[] = STEP_NAMES, first_names[] = "time_s" STEP_NAMES;

/* A stream on its way into a table. */
struct table {
    struct hil_trace_reader *trace;
    const struct hil_stream_config *stream;
    unsigned index;
    double **columns; /* a block of rows of each */
    double *steps;    /* of the same rows; NULL: not known */
    double next_step; /* of the row that should come next */
    FILE *to;
};

/* Fifteen digits where they are enough, so that 0.1 is not 0.10000000000000001. */
void export_number(double value, FILE *to)
{
    char text[NUMBER_BYTES];

    snprintf(text, sizeof(text), "%.15g", value);
    if (strtod(text, NULL) != value)
        snprintf(text, sizeof(text), "%.17g", value);
    fputs(text, to);
}

/* The steps have their own place, whether they were recorded or not. */
static bool is_step(const struct hil_column *column)
{
    return strcmp(column->name, "step") == 0;
}

/* "speed"; of several "speed_0", or where another column is called that "speed[0]". */
static void put_name(const struct table *table, const struct hil_column *column, unsigned place)
{
    char name[512];

    if (column->width == 1) {
        const bool kept = table->steps && strcmp(column->name, "missing_rows") == 0;
        fprintf(table->to, "%s%s", column->name, kept ? " (2)" : "");
        return;
    }
    const int length = snprintf(name, sizeof name, "%s_%u", column->name, place);
    const bool taken = length < (int)sizeof name && hil_trace_column_find(table->stream, name) >= 0;
    fprintf(table->to, taken ? "%s[%u]" : "%s_%u", column->name, place);
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
        if (i == 0 && table->steps)
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
            export_number(table->columns[i][row * width + k], table->to);
        }
        if (i == 0 && table->steps)
            put_step(table, table->steps[row]);
    }
    putc('\n', table->to);
}

static int read_block(const struct table *table, uint64_t first, size_t rows)
{
    int rc = 0;

    for (unsigned i = 0; i < table->stream->column_count && !rc; i++)
        rc = hil_trace_read(table->trace, table->index, i, first, rows, table->columns[i],
                            rows * table->stream->columns[i].width);
    if (!rc && table->steps)
        rc = hil_trace_read_steps(table->trace, table->index, first, rows, table->steps);
    return rc;
}

static int put_block(struct table *table, uint64_t first, size_t rows)
{
    const int rc = read_block(table, first, rows);
    if (rc)
        return rc;

    errno = 0;
    for (size_t row = 0; row < rows; row++)
        put_row(table, row);
    if (fflush(table->to) == 0 && !ferror(table->to))
        return 0;
    return errno ? -errno : -EIO;
}

static int put_rows(struct table *table, size_t block)
{
    const uint64_t rows = table->stream->rows;
    int rc = 0;

    put_names(table);
    for (uint64_t first = 0; first < rows && !rc; first += block)
        rc = put_block(table, first, rows - first < block ? (size_t)(rows - first) : block);
    return rc;
}

static int open_columns(struct table *table, size_t block)
{
    const unsigned count = table->stream->column_count;

    table->columns = calloc(count, sizeof(*table->columns));
    if (!table->columns)
        return -ENOMEM;
    for (unsigned i = 0; i < count; i++) {
        table->columns[i] = malloc(block * table->stream->columns[i].width * sizeof(double));
        if (!table->columns[i])
            return -ENOMEM;
    }
    if (table->stream->cadence.decimation == 0)
        return 0;
    table->steps = malloc(block * sizeof(double));
    return table->steps ? 0 : -ENOMEM;
}

static void close_columns(struct table *table)
{
    for (unsigned i = 0; table->columns && i < table->stream->column_count; i++)
        free(table->columns[i]);
    free(table->columns);
    free(table->steps);
}

static int write_table(struct table *table, const char *path)
{
    const size_t block = hil_trace_block_rows(table->trace, table->index);
    int rc = open_columns(table, block);
    if (rc)
        goto close_columns;

    table->to = fopen(path, "w");
    if (!table->to) {
        rc = -errno;
        goto close_columns;
    }
    rc = put_rows(table, block);
    errno = 0;
    if (fclose(table->to) != 0 && !rc)
        rc = errno ? -errno : -EIO;

close_columns:
    close_columns(table);
    return rc;
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
                     ? fopen(path, "r")
                     : NULL;

    if (!file)
        return false;
    const bool read = fgets(line, sizeof line, file);
    fclose(file);
    return read && (begins_with(line, first_names) || begins_with(line, export_event_names));
}

/* Says what became of a table. Returns `rc`. */
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
    struct table table = {
        .trace = trace,
        .stream = &hil_trace_streams(trace, &count)[index],
        .index = index,
    };
    char path[HIL_PATH_BYTES];

    int rc = table_path(path, dir, table.stream->name);
    if (!rc)
        rc = write_table(&table, path);
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

int hil_export_csv(const char *dir, FILE *messages)
{
    struct hil_trace_reader *trace;
    unsigned count;
    int rc = hil_run_open_trace(&trace, dir, messages);
    if (rc)
        return rc;

    hil_trace_streams(trace, &count);
    for (unsigned i = 0; i < count && !rc; i++)
        rc = export_stream(trace, i, dir, messages);
    if (!rc)
        rc = export_events(trace, dir, messages);
    hil_trace_reader_close(trace);
    return rc;
}
