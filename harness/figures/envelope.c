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

static void add(struct hil_envelope_column *column, struct hil_point point)
{
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

    if (!(position >= 0 && position < 1) || !isfinite(y))
        return;
    const unsigned i = (unsigned)(position * count);
    add(&envelope->columns[i < count ? i : count - 1], (struct hil_point){x, y});
}

static void write_column(const struct hil_envelope_column *column, double x_scale, FILE *to)
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
            fprintf(to, "%.9g %.9g\n", points[i].x * x_scale, points[i].y);
}

void hil_envelope_write_curve(const struct hil_envelope *envelope, double x_scale, FILE *to)
{
    for (unsigned i = 0; i < envelope->column_count; i++)
        if (envelope->columns[i].count > 0)
            write_column(&envelope->columns[i], x_scale, to);
}

void hil_envelope_write_band(const struct hil_envelope *envelope, double x_scale, FILE *to)
{
    const double width = (envelope->to - envelope->from) / envelope->column_count;

    for (unsigned i = 0; i < envelope->column_count; i++) {
        const struct hil_envelope_column *column = &envelope->columns[i];

        if (column->count > 0)
            fprintf(to, "%.9g %.9g %.9g\n", (envelope->from + width * (i + 0.5)) * x_scale,
                    column->least.y, column->greatest.y);
    }
}
