#include "history.h"

#include <math.h>

static struct hil_chart_column *slice(struct hil_history *h, uint64_t number)
{
    return &h->slices[number % HIL_HISTORY_SLICES];
}

/* Marks the slices between the newest known one and this one as unseen. */
static void extend(struct hil_history *h, uint64_t end)
{
    uint64_t from = h->end + HIL_HISTORY_SLICES < end ? end - HIL_HISTORY_SLICES : h->end;

    for (; from < end; from++)
        *slice(h, from) = (struct hil_chart_column){0};
    if (end > h->end)
        h->end = end;
}

/* The newest slice is read again, because it was not complete. */
void hil_history_take(struct hil_history *h, const struct hil_recent *r)
{
    uint64_t from = h->end ? h->end - 1 : 0;

    for (unsigned i = 0; i < HIL_RECENT_BLOCKS; i++) {
        struct hil_extremes b;
        if (!hil_recent_read(r, i, &b) || b.number <= from)
            continue;
        extend(h, b.number);
        if (b.number + HIL_HISTORY_SLICES > h->end)
            *slice(h, b.number - 1) = (struct hil_chart_column){
                b.min, b.max, atomic_load_explicit(&r->reference, memory_order_relaxed), true};
    }
}

static void join(struct hil_chart_column *column, const struct hil_chart_column *one)
{
    if (!one->there || !isfinite(one->min) || !isfinite(one->max))
        return;
    if (!column->there)
        *column = *one;
    column->min = fmin(column->min, one->min);
    column->max = fmax(column->max, one->max);
    column->reference = isfinite(one->reference) ? one->reference : NAN;
}

static struct hil_chart_column column_of(const struct hil_history *h, uint64_t from, uint64_t end)
{
    struct hil_chart_column column = {0};

    for (uint64_t n = from; n < end && n < h->end; n++)
        if (n + HIL_HISTORY_SLICES >= h->end)
            join(&column, &h->slices[n % HIL_HISTORY_SLICES]);
    return column;
}

void hil_history_columns(const struct hil_history *h, unsigned per,
                         struct hil_chart_column *columns, unsigned count)
{
    uint64_t last = h->end ? (h->end - 1) / per : 0;

    for (unsigned i = 0; i < count; i++) {
        uint64_t back = count - 1 - i;
        columns[i] = (struct hil_chart_column){0};
        if (back <= last)
            columns[i] = column_of(h, (last - back) * per, (last - back + 1) * per);
    }
}

double hil_history_span(const struct hil_history *h, unsigned count)
{
    struct hil_chart_column all = column_of(h, h->end > count ? h->end - count : 0, h->end);

    return all.there ? all.max - all.min : NAN;
}
