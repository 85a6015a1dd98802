#include "compare_events.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The events of one record, sorted so that matching ones are adjacent and in order of time. */
struct events_sorted {
    const struct hil_trace_event **at;
    size_t count;
};

/* --- sorting --------------------------------------------------------------------------------- */

static bool events_is_compared(const struct hil_trace_event *e, const struct hil_tolerance *t)
{
    static const char *const left_out[] = {"init", "ready", "stopped"};

    for (size_t i = 0; i < sizeof left_out / sizeof left_out[0]; i++)
        if (strcmp(e->kind, left_out[i]) == 0)
            return false;
    return e->time_s >= t->from_s && e->time_s <= t->to_s;
}

static int events_order(const struct hil_trace_event *x, const struct hil_trace_event *y)
{
    int order = strcmp(x->node, y->node);

    if (!order)
        order = strcmp(x->kind, y->kind);
    return order ? order : strcmp(x->of, y->of);
}

static int events_sort_alike(const void *a, const void *b)
{
    const struct hil_trace_event *x = *(const struct hil_trace_event *const *)a;
    const struct hil_trace_event *y = *(const struct hil_trace_event *const *)b;
    const int order = events_order(x, y);

    return order ? order : (x->time_s > y->time_s) - (x->time_s < y->time_s);
}

static int events_sort(struct events_sorted *sorted, const struct hil_trace_events *events,
                       const struct hil_tolerance *t)
{
    sorted->count = 0;
    sorted->at = calloc(events->count + 1, sizeof *sorted->at);
    if (!sorted->at)
        return -ENOMEM;
    for (size_t i = 0; i < events->count; i++)
        if (events_is_compared(&events->at[i], t))
            sorted->at[sorted->count++] = &events->at[i];
    qsort(sorted->at, sorted->count, sizeof *sorted->at, events_sort_alike);
    return 0;
}

/* The end of the events that match the event at `from`. */
static size_t events_alike_end(const struct events_sorted *s, size_t from)
{
    size_t i = from;

    while (i < s->count && events_order(s->at[i], s->at[from]) == 0)
        i++;
    return i;
}

/* --- comparing ------------------------------------------------------------------------------- */

/* Removes the events that agree. Returns their number in either record. */
static size_t events_agree(const struct hil_trace_event **a, size_t *a_count,
                           const struct hil_trace_event **b, size_t *b_count, double within_s)
{
    size_t i = 0, k = 0, a_left = 0, b_left = 0, agree = 0;

    while (i < *a_count && k < *b_count) {
        const double apart_s = b[k]->time_s - a[i]->time_s;
        if (fabs(apart_s) <= within_s) {
            i++;
            k++;
            agree++;
        } else if (apart_s > 0) {
            a[a_left++] = a[i++];
        } else {
            b[b_left++] = b[k++];
        }
    }
    while (i < *a_count)
        a[a_left++] = a[i++];
    while (k < *b_count)
        b[b_left++] = b[k++];
    *a_count = a_left;
    *b_count = b_left;
    return agree;
}

/* Compares matching events; one record may have none of them. */
static void events_compare_alike(struct hil_event_comparison *c, const struct hil_trace_event **a,
                                 size_t a_count, const struct hil_trace_event **b, size_t b_count,
                                 double within_s)
{
    c->count += events_agree(a, &a_count, b, &b_count, within_s);
    for (size_t i = 0; i < a_count || i < b_count; i++) {
        c->at[c->differ++] =
            (struct hil_event_difference){i < a_count ? a[i] : NULL, i < b_count ? b[i] : NULL};
        c->count++;
    }
}

static void events_compare(struct hil_event_comparison *c, const struct events_sorted *a,
                           const struct events_sorted *b, double within_s)
{
    size_t i = 0, k = 0;

    while (i < a->count || k < b->count) {
        const int order = i == a->count ? 1 : k == b->count ? -1 : events_order(a->at[i], b->at[k]);
        const size_t a_end = order <= 0 ? events_alike_end(a, i) : i;
        const size_t b_end = order >= 0 ? events_alike_end(b, k) : k;
        events_compare_alike(c, a->at + i, a_end - i, b->at + k, b_end - k, within_s);
        i = a_end;
        k = b_end;
    }
}

/* The earliest time at which the difference shows. */
static double events_difference_at(const struct hil_event_difference *d)
{
    return fmin(d->a ? d->a->time_s : INFINITY, d->b ? d->b->time_s : INFINITY);
}

static int events_by_time(const void *a, const void *b)
{
    const double x = events_difference_at(a), y = events_difference_at(b);

    return (x > y) - (x < y);
}

/* --- the whole ------------------------------------------------------------------------------- */

static bool events_has(const struct hil_trace_reader *record)
{
    unsigned stream;

    return hil_trace_events(record, &stream) != NULL;
}

int hil_compare_events(struct hil_event_comparison *c, const struct hil_trace_reader *first,
                       const struct hil_trace_reader *second, const struct hil_tolerance *t)
{
    struct events_sorted a = {0}, b = {0};

    *c = (struct hil_event_comparison){.known = events_has(first) && events_has(second)};
    if (!c->known)
        return 0;
    int rc = hil_trace_events_read(&c->first, first);
    if (!rc)
        rc = hil_trace_events_read(&c->second, second);
    if (!rc)
        rc = events_sort(&a, &c->first, t);
    if (!rc)
        rc = events_sort(&b, &c->second, t);
    if (!rc) {
        c->at = calloc(a.count + b.count + 1, sizeof *c->at);
        rc = c->at ? 0 : -ENOMEM;
    }
    if (!rc) {
        events_compare(c, &a, &b, t->within_s + HIL_SAME_TIME_S);
        qsort(c->at, c->differ, sizeof *c->at, events_by_time);
    }
    free(a.at);
    free(b.at);
    return rc;
}

void hil_event_comparison_free(struct hil_event_comparison *c)
{
    hil_trace_events_free(&c->first);
    hil_trace_events_free(&c->second);
    free(c->at);
    *c = (struct hil_event_comparison){0};
}
