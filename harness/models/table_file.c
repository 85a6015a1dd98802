#include "table_file.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../plants/model.h"
#include "../base/text_mark.h"

enum { TABLE_BYTES_MAX = 256 << 20 };

/* The difference of two of them is a number, too. */
static const double TABLE_NUMBER_MAX = 1e300;

/* A file while it is read. */
struct reader {
    const struct hil_said *said;
    FILE *file;
    char *line; /* the present line */
    size_t size, number;
    size_t room; /* rows for which there is memory */
};

/* Says what is wrong at a cell; NULL: at the end of the line. */
static int reader_wrong(const struct reader *r, const char *cell, const char *allowed)
{
    if (!cell)
        return hil_say(r->said, -EINVAL, "line %zu ends too early; allowed: %s", r->number,
                       allowed);
    const int length = (int)strcspn(cell, ",\r\n");
    return hil_say(r->said, -EINVAL, "line %zu, column %zu: '%.*s'; allowed: %s", r->number,
                   (size_t)(cell - r->line) + 1, length > 60 ? 60 : length, cell, allowed);
}

/* The next line that is not empty; 0: the end. */
static int reader_next(struct reader *r)
{
    for (;;) {
        r->number++;
        errno = 0;
        const ssize_t got = getline(&r->line, &r->size, r->file);
        if (got < 0)
            return feof(r->file) ? 0
                                 : hil_say(r->said, -EIO, "it cannot be read (%s); allowed: a file",
                                           strerror(errno));
        if (strlen(r->line) != (size_t)got)
            return reader_wrong(r, r->line, "no zero bytes");
        if (r->number == 1) {
            const size_t mark = hil_text_mark(r->line, (size_t)got);
            memmove(r->line, r->line + mark, (size_t)got - mark + 1);
        }
        if (r->line[strspn(r->line, " \t\r\n")])
            return 1;
    }
}

/* The cell after this one; NULL: there is none. */
static const char *cell_next(const char *cell)
{
    const char *comma = cell ? strchr(cell, ',') : NULL;

    return comma ? comma + 1 + strspn(comma + 1, " \t") : NULL;
}

static uint32_t cells_count(const char *line)
{
    uint32_t count = 1;

    while ((line = strchr(line, ',')) != NULL) {
        count++;
        line++;
    }
    return count;
}

static int cell_number(const struct reader *r, const char *cell, double *value)
{
    char text[64], *end;

    if (!cell)
        return reader_wrong(r, NULL, "a number in each column");
    size_t length = strcspn(cell, ",\r\n");
    while (length > 0 && (cell[length - 1] == ' ' || cell[length - 1] == '\t'))
        length--;
    if (length == 0 || length >= sizeof text || strspn(cell, "+-.0123456789eE") < length)
        return reader_wrong(r, cell, "a number");
    memcpy(text, cell, length);
    text[length] = '\0';
    *value = strtod(text, &end);
    if (*end || !(fabs(*value) <= TABLE_NUMBER_MAX))
        return reader_wrong(r, cell, "a number from -1e300 to 1e300");
    return 0;
}

/* --- names ------------------------------------------------------------------------------------ */

/* Reads "name" or "name [unit]" of this length. */
static int name_read(const struct reader *r, const char *at, size_t length, struct table_name *to)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
    const size_t name = strspn(at, letters);
    const char *open = at + name + strspn(at + name, " \t");
    const char *close = memchr(at, ']', length), *end = at + length;

    while (end > at && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    if (name == 0 || !(*at >= 'a' && *at <= 'z') || name > length || name >= sizeof to->name ||
        (open < end &&
         (*open != '[' || close != end - 1 || (size_t)(close - open) > sizeof to->unit)))
        return reader_wrong(r, at,
                            "a name of lower-case letters, digits and _, perhaps with a unit: "
                            "speed_rad_s [rad/s]");
    snprintf(to->name, sizeof to->name, "%.*s", (int)name, at);
    if (open < end)
        snprintf(to->unit, sizeof to->unit, "%.*s", (int)(close - open - 1), open + 1);
    return 0;
}

/* ROW\COLUMN or ROW\COLUMN\VALUE. */
static int names_of_grid(const struct reader *r, const char *cell, size_t length,
                         struct table_name *names)
{
    snprintf(names[2].name, sizeof names[2].name, "output");
    for (unsigned i = 0; i < 3; i++) {
        const char *slash = memchr(cell, '\\', length);
        const size_t own = slash ? (size_t)(slash - cell) : length;
        if (slash && i == 2)
            return reader_wrong(r, slash, "a row, a column, and perhaps the value");
        const int rc = name_read(r, cell, own, &names[i]);
        if (rc || !slash)
            return rc;
        cell += own + 1;
        length -= own + 1;
    }
    return 0;
}

static int increases(const struct reader *r, const char *cell, const double *at, uint32_t i)
{
    return i == 0 || at[i] > at[i - 1] ? 0
                                       : reader_wrong(r, cell, "a number above the one before it");
}

/* --- the table -------------------------------------------------------------------------------- */

static int header_of_grid(const struct reader *r, struct table_file *t, const char *cell)
{
    int rc = 0;

    t->column_at = calloc(t->columns, sizeof t->column_at[0]);
    if (!t->column_at)
        return hil_say_no_memory(r->said);
    for (uint32_t i = 0; !rc && i < t->columns; i++) {
        cell = cell_next(cell);
        rc = cell_number(r, cell, &t->column_at[i]);
        if (!rc)
            rc = increases(r, cell, t->column_at, i);
    }
    return rc;
}

static int header_read(const struct reader *r, struct table_file *t)
{
    const char *cell = r->line + strspn(r->line, " \t");
    const size_t length = strcspn(cell, ",\r\n");
    int rc = 0;

    t->grid = memchr(cell, '\\', length) != NULL;
    t->columns = cells_count(r->line) - 1;
    if (t->columns == 0)
        return reader_wrong(r, NULL, "a column of inputs, and at least one of outputs");
    if (!t->grid && t->columns > HIL_QUANTITIES_MAX)
        return hil_say(r->said, -EINVAL, "there are %u columns of outputs; allowed: up to %d",
                       t->columns, HIL_QUANTITIES_MAX);
    t->names = calloc(t->grid ? 3 : (size_t)t->columns + 1, sizeof t->names[0]);
    if (!t->names)
        return hil_say_no_memory(r->said);
    if (t->grid) {
        rc = names_of_grid(r, cell, length, t->names);
        return rc ? rc : header_of_grid(r, t, cell);
    }
    for (uint32_t i = 0; !rc && i <= t->columns; i++, cell = cell_next(cell))
        rc = name_read(r, cell, strcspn(cell, ",\r\n"), &t->names[i]);
    return rc;
}

static int table_grow(struct reader *r, struct table_file *t)
{
    if (t->rows < r->room)
        return 0;
    r->room = r->room ? 2 * r->room : 64;
    double *at = reallocarray(t->row_at, r->room, sizeof *at);
    if (at)
        t->row_at = at;
    double *values = reallocarray(t->values, r->room * t->columns, sizeof *values);
    if (values)
        t->values = values;
    return at && values ? 0 : hil_say_no_memory(r->said);
}

static int row_read(struct reader *r, struct table_file *t)
{
    const char *cell = r->line + strspn(r->line, " \t");
    int rc = table_grow(r, t);

    if (!rc)
        rc = cell_number(r, cell, &t->row_at[t->rows]);
    if (!rc)
        rc = increases(r, cell, t->row_at, t->rows);
    for (uint32_t i = 0; !rc && i < t->columns; i++) {
        cell = cell_next(cell);
        rc = cell_number(r, cell, &t->values[(size_t)t->rows * t->columns + i]);
    }
    if (!rc && cell_next(cell))
        rc = reader_wrong(r, cell_next(cell), "as many columns as the first line has");
    t->rows += !rc;
    return rc;
}

static int table_read(struct reader *r, struct table_file *t)
{
    int more = reader_next(r), rc;

    if (more <= 0)
        return more ? more
                    : hil_say(r->said, -EINVAL,
                              "it is empty; required: a line with the names of columns");
    rc = header_read(r, t);
    while (!rc && (more = reader_next(r)) > 0)
        rc = row_read(r, t);
    if (rc || more < 0)
        return rc ? rc : more;
    return t->rows ? 0
                   : hil_say(r->said, -EINVAL, "it has no line of numbers; required: at least one");
}

/* Opening does not wait, as the file could be a pipe. */
static int table_open(struct reader *r, const char *path)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat status;

    if (file < 0)
        return hil_say(r->said, -errno, "it cannot be opened (%s); allowed: a file that can",
                       strerror(errno));
    const bool fits =
        fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size <= TABLE_BYTES_MAX;
    r->file = fits ? fdopen(file, "r") : NULL;
    if (r->file)
        return 0;
    close(file);
    return fits ? hil_say_no_memory(r->said)
                : hil_say(r->said, -EINVAL,
                          "it is no file, or too large; allowed: one of up to %d MiB",
                          TABLE_BYTES_MAX >> 20);
}

int table_file_read(struct table_file *table, const char *path, const struct hil_said *said)
{
    struct reader r = {.said = said};
    int rc = table_open(&r, path);

    *table = (struct table_file){.rows = 0};
    if (rc)
        return rc;
    rc = table_read(&r, table);
    fclose(r.file);
    free(r.line);
    if (rc)
        table_file_free(table);
    return rc;
}

void table_file_free(struct table_file *t)
{
    free(t->row_at);
    free(t->column_at);
    free(t->values);
    free(t->names);
}
