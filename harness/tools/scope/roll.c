#include "roll.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROLL_CHUNK = 512 };

struct roll_trace {
    const struct hil_shown *signal;
    unsigned lane;   /* index of its node's lane */
    unsigned column; /* index in the rows as taken */
    double *pairs;   /* for columns from `first` on */
    uint64_t first;
    unsigned count;
    bool grew; /* it has new data since it was sent */
};

/* Reads the rows of a node. */
struct roll_lane {
    struct hil_rows rows;
    unsigned node;
    uint32_t places[1 + HIL_TRACES_MAX];
    unsigned count;
    bool begun;
    uint64_t from; /* the first visible column */
};

struct hil_roll {
    struct roll_trace traces[HIL_TRACES_MAX];
    struct roll_lane lanes[HIL_TRACES_MAX];
    unsigned count, lane_count, columns;
    double column_s;
    uint64_t lost; /* rows that came too fast */
};

/* --- opening ---------------------------------------------------------------------------------- */

static int roll_lane(struct hil_roll *r, const struct hil_attached *run, unsigned node,
                     unsigned *lane)
{
    for (*lane = 0; *lane < r->lane_count; ++*lane)
        if (r->lanes[*lane].node == node)
            return 0;
    struct roll_lane *l = &r->lanes[r->lane_count++];
    *l = (struct roll_lane){.node = node, .places = {HIL_TAP_TIME}, .count = 1};
    return hil_rows_open(&l->rows, run, node);
}

static int roll_trace(struct hil_roll *r, const struct hil_attached *run,
                      const struct hil_shown *signal)
{
    struct roll_trace *t = &r->traces[r->count++];
    const int rc = roll_lane(r, run, signal->node, &t->lane);

    if (rc)
        return rc;
    struct roll_lane *l = &r->lanes[t->lane];
    t->signal = signal;
    t->column = l->count;
    l->places[l->count++] = signal->place;
    t->pairs = malloc(2ul * r->columns * sizeof *t->pairs);
    return t->pairs ? 0 : -ENOMEM;
}

int hil_roll_open(struct hil_roll **roll, const struct hil_attached *run,
                  const struct hil_shown *const *signals, unsigned count, double window_s,
                  unsigned columns)
{
    struct hil_roll *r = *roll = calloc(1, sizeof *r);
    int rc = r ? 0 : -ENOMEM;

    if (!rc) {
        r->columns = columns;
        r->column_s = window_s / columns;
    }
    for (unsigned i = 0; !rc && i < count; i++)
        rc = roll_trace(r, run, signals[i]);
    if (rc) {
        hil_roll_close(r);
        *roll = NULL;
    }
    return rc;
}

void hil_roll_close(struct hil_roll *r)
{
    for (unsigned i = 0; r && i < r->count; i++)
        free(r->traces[i].pairs);
    free(r);
}

/* --- columns ---------------------------------------------------------------------------------- */

/* Restarts at `column`; earlier columns are dropped. */
static void roll_restart(struct roll_trace *t, uint64_t column)
{
    t->first = column;
    t->count = 1;
    t->pairs[0] = t->pairs[1] = NAN;
}

/* Drops half of the columns to make room. */
static void roll_forget(const struct hil_roll *r, struct roll_trace *t)
{
    const unsigned gone = t->count < r->columns / 2 ? t->count : r->columns / 2;

    t->first += gone;
    t->count -= gone;
    memmove(t->pairs, t->pairs + 2ul * gone, 2ul * t->count * sizeof *t->pairs);
}

/* Advances to a column; the columns in between are empty. */
static void roll_advance(const struct hil_roll *r, struct roll_trace *t, uint64_t column)
{
    if (t->count && column >= t->first + r->columns)
        roll_forget(r, t);
    if (t->count == 0 || column < t->first || column >= t->first + r->columns) {
        roll_restart(t, column);
        return;
    }
    for (; t->first + t->count <= column; t->count++)
        t->pairs[2 * t->count] = t->pairs[2 * t->count + 1] = NAN;
}

static void roll_add(const struct hil_roll *r, struct roll_trace *t, uint64_t column, double value)
{
    if (t->count == 0 || column != t->first + t->count - 1)
        roll_advance(r, t, column);
    double *pair = &t->pairs[2 * (t->count - 1)];
    pair[0] = fmin(pair[0], value); /* fmin ignores a NAN */
    pair[1] = fmax(pair[1], value);
    t->grew = true;
}

/* The available rows begin in the middle of a column, unless the run's first row is among them. A
 * page that has that whole column keeps it. */
static void roll_begin(struct roll_lane *l, uint64_t row, uint64_t column)
{
    l->begun = true;
    l->from = row == 0 ? column : column + 1;
}

static void roll_take(struct hil_roll *r, unsigned lane)
{
    struct roll_lane *l = &r->lanes[lane];
    uint64_t chunk[ROLL_CHUNK * (1 + HIL_TRACES_MAX)], all = 0;
    unsigned taken = 1;

    for (; taken && all < l->rows.rows; all += taken) {
        taken = hil_rows_take(&l->rows, l->places, l->count, chunk, ROLL_CHUNK, &r->lost);
        for (unsigned i = 0; i < taken; i++) {
            const uint64_t *row = chunk + (size_t)i * l->count;
            const uint64_t column = (uint64_t)((double)row[0] * 1e-9 / r->column_s);
            if (!l->begun)
                roll_begin(l, l->rows.next - taken, column);
            for (unsigned k = 0; k < r->count && column >= l->from; k++)
                if (r->traces[k].lane == lane)
                    roll_add(r, &r->traces[k], column, hil_rows_number(row[r->traces[k].column]));
        }
    }
}

/* --- messages --------------------------------------------------------------------------------- */

static json_t *roll_head(const struct hil_roll *r)
{
    json_t *traces = json_array();

    for (unsigned i = 0; i < r->count; i++) {
        const struct roll_trace *t = &r->traces[i];
        if (t->grew)
            json_array_append_new(traces,
                                  json_pack("{s:s, s:I, s:i}", "name", t->signal->name, "first",
                                            (json_int_t)t->first, "count", (int)t->count));
    }
    return json_pack("{s:s, s:f, s:I, s:o}", "kind", "roll", "column_s", r->column_s, "lost",
                     (json_int_t)r->lost, "traces", traces);
}

/* The last column may still grow, and is sent again. */
static int roll_send(struct roll_trace *t, struct hil_frame *frame)
{
    const int rc = hil_frame_add(frame, t->pairs, 2ul * t->count);
    double *last = &t->pairs[2 * (t->count - 1)];

    t->grew = false;
    t->first += t->count - 1;
    t->count = 1;
    t->pairs[0] = last[0];
    t->pairs[1] = last[1];
    return rc;
}

int hil_roll_turn(struct hil_roll *r, struct hil_frame *frame)
{
    bool any = false;

    for (unsigned i = 0; i < r->lane_count; i++)
        roll_take(r, i);
    for (unsigned i = 0; i < r->count; i++)
        any |= r->traces[i].grew;
    if (!any)
        return 0;
    int rc = hil_frame_begin(frame, roll_head(r));
    for (unsigned i = 0; !rc && i < r->count; i++)
        if (r->traces[i].grew)
            rc = roll_send(&r->traces[i], frame);
    return rc ? rc : 1;
}
