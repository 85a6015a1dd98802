#include "compare.h"
#include "../base/list.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double hil_compare_at(const struct hil_recorded_series *s, double time_s, size_t *near)
{
    size_t i = *near;

    while (i + 1 < s->count && s->times_s[i + 1] <= time_s + HIL_SAME_TIME_S)
        i++;
    *near = i;
    if (s->count == 0 || time_s < s->times_s[0] - HIL_SAME_TIME_S)
        return NAN;
    if (fabs(time_s - s->times_s[i]) <= HIL_SAME_TIME_S)
        return s->values[i];
    if (i + 1 == s->count)
        return NAN;
    const double share = (time_s - s->times_s[i]) / (s->times_s[i + 1] - s->times_s[i]);
    return s->values[i] + (s->values[i + 1] - s->values[i]) * share;
}

/* --- one signal ------------------------------------------------------------------------------ */

/* Two values that are not numbers are equal. If only one is not a number, the distance is
 * infinite. */
static double distance(double a, double b)
{
    if (isnan(a) && isnan(b))
        return 0;
    const double difference = fabs(a - b);
    return isnan(difference) ? INFINITY : difference;
}

static double excess_of(double difference, double allowed)
{
    return difference == 0 ? 0 : allowed > 0 ? difference / allowed : INFINITY;
}

static void compare_series(struct hil_difference *d, const struct hil_recorded_series *a,
                           const struct hil_recorded_series *b, const struct hil_tolerance *t)
{
    double squares = 0;
    size_t near = 0;

    for (size_t i = 0; i < a->count; i++) {
        const double time_s = a->times_s[i];
        if (time_s < t->from_s || time_s > t->to_s || b->count == 0 ||
            time_s < b->times_s[0] - HIL_SAME_TIME_S ||
            time_s > b->times_s[b->count - 1] + HIL_SAME_TIME_S)
            continue;
        const double other = hil_compare_at(b, time_s, &near);
        const double difference = distance(a->values[i], other);
        const double allowed = t->absolute + t->percent / 100 * fabs(a->values[i]);
        d->rows++;
        squares += difference * difference;
        d->apart += difference > 0 && !(difference <= allowed);
        d->excess = fmax(d->excess, excess_of(difference, allowed));
        if (difference > d->greatest) {
            d->greatest = difference;
            d->at_s = time_s;
            d->a = a->values[i];
            d->b = other;
        }
    }
    d->rms = d->rows ? sqrt(squares / (double)d->rows) : 0;
}

static int compare_signal(struct hil_difference *d, const struct hil_trace_reader *first,
                          const struct hil_trace_reader *second, const struct hil_tolerance *t,
                          struct hil_comparison *c)
{
    struct hil_recorded_series a, b;
    int rc = hil_recorded_read(&a, first, &d->first);

    if (rc)
        return rc;
    rc = hil_recorded_read(&b, second, &d->second);
    if (!rc) {
        compare_series(d, &a, &b, t);
        if (a.count)
            c->first_end_s = fmax(c->first_end_s, a.times_s[a.count - 1]);
        if (b.count)
            c->second_end_s = fmax(c->second_end_s, b.times_s[b.count - 1]);
        hil_recorded_series_free(&b);
    }
    hil_recorded_series_free(&a);
    return rc;
}

/* --- all ------------------------------------------------------------------------------------- */

static const struct hil_stream_config *stream_of(const struct hil_trace_reader *record,
                                                 const struct hil_recorded *one)
{
    unsigned count;

    return &hil_trace_streams(record, &count)[one->stream];
}

/* Finds the same signal in the other record: at the node of the same name, or else the first
 * one. */
static int find_twin(const struct hil_trace_reader *other, const char *name, const char *stream,
                     struct hil_recorded *twin)
{
    struct hil_recorded *found = NULL;
    char node[128];

    snprintf(node, sizeof node, "%.*s", (int)strcspn(stream, "/"), stream);
    int count = hil_recorded_find(&found, other, name, node);
    if (count == 0) {
        free(found);
        found = NULL;
        count = hil_recorded_find(&found, other, name, NULL);
    }
    if (count > 0)
        *twin = found[0];
    free(found);
    return count;
}

static struct hil_difference *add(struct hil_comparison *c)
{
    struct hil_difference *more = hil_list_more(c->at, c->count, sizeof *more);

    if (!more)
        return NULL;
    c->at = more;
    return &c->at[c->count++];
}

/* Adds the signals in `from`. Signals that are in `other` too are added only when `from` is the
 * first record. */
static int add_signals(struct hil_comparison *c, const struct hil_trace_reader *from,
                       const struct hil_trace_reader *other, bool from_first)
{
    struct hil_recorded *all = NULL;
    const int count = hil_recorded_all(&all, from);
    int rc = count < 0 ? count : 0;

    for (int i = 0; !rc && i < count; i++) {
        struct hil_difference d = {.first = all[i], .in_first = from_first};
        const struct hil_stream_config *stream = stream_of(from, &all[i]);
        hil_recorded_name(from, &all[i], d.name);
        d.unit = stream->columns[all[i].column].unit;
        const int twins = find_twin(other, d.name, stream->name, &d.second);
        if (twins < 0)
            rc = twins;
        d.in_second = twins > 0 || !from_first;
        if (rc || (!from_first && twins))
            continue;
        struct hil_difference *added = add(c);
        if (added)
            *added = d;
        else
            rc = -ENOMEM;
    }
    free(all);
    return rc;
}

/* If one record ends early, the other was not compared to its end. */
static bool ends_differ(const struct hil_comparison *c, const struct hil_tolerance *t)
{
    return fmin(c->first_end_s, t->to_s) != fmin(c->second_end_s, t->to_s) &&
           fabs(fmin(c->first_end_s, t->to_s) - fmin(c->second_end_s, t->to_s)) > HIL_SAME_TIME_S;
}

int hil_compare(struct hil_comparison *c, const struct hil_trace_reader *first,
                const struct hil_trace_reader *second, const struct hil_tolerance *t)
{
    *c = (struct hil_comparison){0};
    int rc = add_signals(c, first, second, true);

    if (!rc)
        rc = add_signals(c, second, first, false);
    for (unsigned i = 0; !rc && i < c->count; i++) {
        struct hil_difference *d = &c->at[i];
        if (d->in_first && d->in_second)
            rc = compare_signal(d, first, second, t, c);
        c->differ += d->apart > 0 || !d->in_first || !d->in_second;
    }
    c->differs = c->differ > 0 || ends_differ(c, t);
    return rc;
}

void hil_comparison_free(struct hil_comparison *c)
{
    free(c->at);
    *c = (struct hil_comparison){0};
}
