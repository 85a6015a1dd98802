#include "envelope.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

int hil_envelope_init(struct hil_envelope *envelope, double from, double to, unsigned columns)
{
    *envelope = (struct hil_envelope){
        .from = from,
        .to = to,
        .columns = calloc(columns, sizeof(struct hil_envelope_column)),
        .column_count = columns,
    };
    return envelope->columns ? 0 : -ENOMEM;
}

void hil_envelope_fini(struct hil_envelope *envelope)
{
    free(envelope->columns);
}

static void add(struct hil_envelope *envelope, struct hil_envelope_column *column,
                struct hil_point point)
{
    if (column->count == 0)
        column->apart = envelope->broken;
    envelope->broken = false;
    if (column->count == 0 || point.x < column->first.x)
        column->first = point;
    if (column->count == 0 || point.x >= column->last.x)
        column->last = point;
    if (column->count == 0 || point.y < column->least.y)
        column->least = point;
    if (column->count == 0 || point.y > column->greatest.y)
        column->greatest = point;
    column->count++;
}

void hil_envelope_add(struct hil_envelope *envelope, double x, double y)
{
    const double position = (x - envelope->from) / (envelope->to - envelope->from);
    const unsigned count = envelope->column_count;

    if (!isfinite(y)) {
        envelope->broken = true;
        return;
    }
    if (!(position >= 0 && position < 1))
        return;
    const unsigned i = (unsigned)(position * count);
    add(envelope, &envelope->columns[i < count ? i : count - 1], (struct hil_point){x, y});
}

/* `held` is the value until now, if it holds until the next point; NAN: there is none. */
static void write_point(const struct hil_point *point, double x_scale, double *held, FILE *to)
{
    if (held && isfinite(*held) && *held != point->y)
        fprintf(to, "%.9g %.9g\n", point->x * x_scale, *held);
    fprintf(to, "%.9g %.9g\n", point->x * x_scale, point->y);
    if (held)
        *held = point->y;
}

static void write_column(const struct hil_envelope_column *column, double x_scale, double *held,
                         FILE *to)
{
    const bool rises = column->least.x < column->greatest.x;
    const struct hil_point points[] = {
        column->first,
        rises ? column->least : column->greatest,
        rises ? column->greatest : column->least,
        column->last,
    };

    for (int i = 0; i < 4; i++)
        if (i == 0 || points[i].x > points[i - 1].x)
            write_point(&points[i], x_scale, held, to);
}

static double column_width(const struct hil_envelope *envelope)
{
    return (envelope->to - envelope->from) / envelope->column_count;
}

/* The next column with points, beginning with this one; NULL when there is none. */
static const struct hil_envelope_column *next_column(const struct hil_envelope *envelope,
                                                     const struct hil_envelope_column *column)
{
    const struct hil_envelope_column *end = envelope->columns + envelope->column_count;

    while (column < end && column->count == 0)
        column++;
    return column < end ? column : NULL;
}

/* Whether the curve ends before `next`. */
static bool is_end(const struct hil_envelope_column *next)
{
    return !next || next->apart;
}

/* Returns whether the curve begins anew after this. */
static bool write_break(const struct hil_envelope_column *next, FILE *to)
{
    if (!next || !next->apart)
        return false;
    putc('\n', to);
    return true;
}

void hil_envelope_write_curve(const struct hil_envelope *envelope, double x_scale, FILE *to)
{
    const struct hil_envelope_column *column = next_column(envelope, envelope->columns), *next;
    const double width = column_width(envelope);
    double held = NAN;

    for (bool begins = true; column; column = next) {
        next = next_column(envelope, column + 1);
        write_column(column, x_scale, envelope->held ? &held : NULL, to);
        if (begins && is_end(next) && column->first.x == column->last.x)
            fprintf(to, "%.9g %.9g\n", (column->last.x + width) * x_scale, column->last.y);
        begins = write_break(next, to);
        held = begins ? NAN : held;
    }
}

static void write_band_at(const struct hil_envelope_column *column, double x, FILE *to)
{
    fprintf(to, "%.9g %.9g %.9g\n", x, column->least.y, column->greatest.y);
}

void hil_envelope_write_band(const struct hil_envelope *envelope, double x_scale, FILE *to)
{
    const struct hil_envelope_column *column = next_column(envelope, envelope->columns), *next;
    const double width = column_width(envelope);

    for (bool begins = true; column; column = next) {
        const double x = envelope->from + width * ((double)(column - envelope->columns) + 0.5);

        next = next_column(envelope, column + 1);
        const double half = begins && is_end(next) ? width / 2 : 0;
        write_band_at(column, (x - half) * x_scale, to);
        if (half > 0)
            write_band_at(column, (x + half) * x_scale, to);
        begins = write_break(next, to);
    }
}
