#include "capture.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "lane.h"

/* The most words in all lanes together. */
static const uint64_t CAPTURE_WORDS_MOST = 8 << 20;

/* Captures are at least this far apart, the time to draw a page. */
static const uint64_t CAPTURE_REST_NS = 33000000;

/* A node that writes nothing for this long is not waited for. */
static const uint64_t CAPTURE_PATIENCE_NS = 1000000000;

enum { CAPTURE_AUTO_LEAST_NS = 200000000 };

/* For events of a node without a lane. */
struct capture_watch {
    struct hil_rows rows;
    unsigned node;
    uint64_t seen; /* the last mark that was examined */
};

struct capture_found {
    uint64_t time_ns, step;
    unsigned node;
};

struct hil_capture {
    struct hil_capture_config config;
    uint64_t before_ns, after_ns;
    unsigned lane_count;
    struct hil_lane lanes[HIL_TRACES_MAX + 1];
    struct {
        unsigned lane, column;
    } traces[HIL_TRACES_MAX], level;
    struct capture_watch *watches;
    unsigned watch_count;
    bool armed, pending;
    struct capture_found found;
    uint64_t armed_ns;    /* beginning of the wait for a trigger, on the caller's clock */
    uint64_t rested_ns;   /* triggers count from this time on, on the caller's clock */
    uint64_t past_ns;     /* and after this time of the run, the end of the previous window */
    uint64_t found_ns;    /* on the caller's clock */
    uint64_t given_to_ns; /* end of the previous capture */
    struct hil_captured captured;
    void *buffer;
};

const char *hil_trigger_name(enum hil_trigger_on on)
{
    static const char *const names[] = {[HIL_ON_FREE] = "free",
                                        [HIL_ON_LEVEL] = "level",
                                        [HIL_ON_MISS] = "miss",
                                        [HIL_ON_FAULT] = "fault",
                                        [HIL_ON_AGE] = "age"};

    return on < HIL_ON_COUNT ? names[on] : "?";
}

/* --- opening --------------------------------------------------------------------------------- */

static int capture_lane(struct hil_capture *c, const struct hil_attached *run, unsigned node,
                        unsigned *lane)
{
    for (*lane = 0; *lane < c->lane_count; ++*lane)
        if (c->lanes[*lane].node == node)
            return 0;
    return hil_lane_open(&c->lanes[c->lane_count++], run, node);
}

static int capture_lanes(struct hil_capture *c, const struct hil_attached *run)
{
    const struct hil_shown *level = c->config.trigger.signal;
    int rc = 0;

    for (unsigned i = 0; !rc && i < c->config.count; i++) {
        const struct hil_shown *s = c->config.signals[i];
        rc = capture_lane(c, run, s->node, &c->traces[i].lane);
        if (!rc)
            c->traces[i].column = hil_lane_column(&c->lanes[c->traces[i].lane], s->place);
    }
    if (rc || c->config.trigger.on != HIL_ON_LEVEL)
        return rc;
    rc = capture_lane(c, run, level->node, &c->level.lane);
    if (!rc)
        c->level.column = hil_lane_column(&c->lanes[c->level.lane], level->place);
    return rc;
}

/* Room for the window, and for rows that come while other nodes are waited for. */
static uint64_t capture_rows(const struct hil_capture *c, const struct hil_lane *lane)
{
    const uint64_t window = (c->before_ns + c->after_ns) / lane->period_ns;

    return window + window / 8 + 2ul * lane->rows.rows + 1024;
}

static int capture_reserve(struct hil_capture *c)
{
    uint64_t words = 0;
    int rc = 0;

    for (unsigned i = 0; i < c->lane_count; i++)
        words += capture_rows(c, &c->lanes[i]) * c->lanes[i].count;
    if (words > CAPTURE_WORDS_MOST)
        return -E2BIG;
    for (unsigned i = 0; !rc && i < c->lane_count; i++)
        rc = hil_lane_reserve(&c->lanes[i], capture_rows(c, &c->lanes[i]));
    return rc;
}

/* Watches every node with rows; earlier events are no triggers. */
static int capture_watches(struct hil_capture *c, const struct hil_attached *run)
{
    if (c->config.trigger.on < HIL_ON_MISS)
        return 0;
    c->watches = calloc(run->node_count, sizeof *c->watches);
    if (!c->watches)
        return -ENOMEM;
    for (unsigned i = 0; i < run->node_count; i++) {
        struct capture_watch *w = &c->watches[c->watch_count];
        if (hil_rows_open(&w->rows, run, i) == 0) {
            w->node = i;
            c->watch_count++;
        }
    }
    return 0;
}

static bool capture_is_time(double s)
{
    return s >= 0 && s <= 1e6;
}

static int capture_start(struct hil_capture *c, const struct hil_attached *run)
{
    int rc = capture_lanes(c, run);

    if (!rc)
        rc = capture_reserve(c);
    return rc ? rc : capture_watches(c, run);
}

int hil_capture_open(struct hil_capture **capture, const struct hil_attached *run,
                     const struct hil_capture_config *config)
{
    const struct hil_trigger *t = &config->trigger;
    struct hil_capture *c;

    if (config->count == 0 || config->count > HIL_TRACES_MAX ||
        !capture_is_time(config->before_s) || !capture_is_time(config->after_s) ||
        (t->on == HIL_ON_LEVEL &&
         (!t->signal || !isfinite(t->level) || !(t->hysteresis >= 0 && isfinite(t->hysteresis)))))
        return -EINVAL;
    *capture = c = calloc(1, sizeof *c);
    if (!c)
        return -ENOMEM;
    *c = (struct hil_capture){.config = *config,
                              .before_ns = (uint64_t)llround(config->before_s * 1e9),
                              .after_ns = (uint64_t)llround(config->after_s * 1e9),
                              .armed = true};
    int rc = capture_start(c, run);
    if (rc) {
        hil_capture_close(c);
        *capture = NULL;
    }
    return rc;
}

void hil_capture_close(struct hil_capture *c)
{
    if (!c)
        return;
    for (unsigned i = 0; i < c->lane_count; i++)
        hil_lane_close(&c->lanes[i]);
    free(c->watches);
    free(c->buffer);
    free(c);
}

void hil_capture_arm(struct hil_capture *c)
{
    c->armed = true;
    c->armed_ns = 0;
}

uint64_t hil_capture_lost(const struct hil_capture *c)
{
    uint64_t lost = 0;

    for (unsigned i = 0; i < c->lane_count; i++)
        lost += c->lanes[i].lost;
    return lost;
}

/* --- triggers -------------------------------------------------------------------------------- */

/* Whether rows before the trigger reach back as far as requested. Nodes that are behind will still
 * deliver theirs. */
static bool capture_is_filled(const struct hil_capture *c, uint64_t t_ns)
{
    const uint64_t from = t_ns > c->before_ns ? t_ns - c->before_ns : 0;

    for (unsigned i = 0; i < c->lane_count; i++)
        if (!hil_lane_covers(&c->lanes[i], from, t_ns))
            return false;
    return true;
}

static bool capture_counts(const struct hil_capture *c, uint64_t t_ns, uint64_t now_ns)
{
    return c->armed && now_ns >= c->rested_ns && (c->past_ns == 0 || t_ns > c->past_ns) &&
           capture_is_filled(c, t_ns);
}

/* Whether the signal reaches the level in this row. */
static bool capture_reaches(const struct hil_capture *c, struct hil_lane *l, double value)
{
    const struct hil_trigger *t = &c->config.trigger;
    const bool rises = l->low && value >= t->level, falls = l->high && value <= t->level;

    l->low = (l->low && !rises) || (value < t->level && value <= t->level - t->hysteresis);
    l->high = (l->high && !falls) || (value > t->level && value >= t->level + t->hysteresis);
    return (rises && t->rising) || (falls && t->falling);
}

/* Examines new rows. After a gap it is unknown on which side the signal was. */
static bool capture_find_level(struct hil_capture *c, uint64_t now_ns)
{
    struct hil_lane *l = &c->lanes[c->level.lane];
    const uint64_t begin = hil_lane_begin(l);

    l->seen = l->seen < begin ? begin : l->seen;
    while (l->seen < l->end) {
        const uint64_t i = l->seen++, *row = hil_lane_row(l, i);
        if (i == begin || hil_lane_row(l, i - 1)[LANE_INDEX] + 1 != row[LANE_INDEX])
            l->low = l->high = false;
        if (!capture_reaches(c, l, hil_rows_number(row[c->level.column])) ||
            !capture_counts(c, row[LANE_TIME], now_ns))
            continue;
        c->found = (struct capture_found){row[LANE_TIME], row[LANE_STEP], l->node};
        return true;
    }
    return false;
}

static uint64_t capture_bits(const struct hil_capture *c)
{
    static const uint64_t bits[HIL_ON_COUNT] = {
        [HIL_ON_MISS] = 1u << HIL_TAP_MISS,
        [HIL_ON_FAULT] =
            1u << HIL_EVENT_FAULT_BEGINS | 1u << HIL_EVENT_FAILED | 1u << HIL_EVENT_LOST,
        [HIL_ON_AGE] = 1u << HIL_EVENT_OLD | 1u << HIL_EVENT_STALE,
    };

    return bits[c->config.trigger.on];
}

enum { SCAN_STEP, SCAN_TIME, SCAN_EVENTS, SCAN_WORDS };

/* The row of the event: this one, or the one before; NULL: none. */
static const uint64_t *capture_row_of(uint64_t bits, const uint64_t *before, const uint64_t *row)
{
    if (row[SCAN_EVENTS] >> HIL_TAP_BEFORE & bits)
        return before ? before : row;
    return row[SCAN_EVENTS] & bits ? row : NULL;
}

/* Finds the node's first new row with an event that counts. */
static bool capture_scan(struct hil_capture *c, struct capture_watch *w, uint64_t marked,
                         uint64_t now_ns, struct capture_found *found)
{
    static const uint32_t places[] = {HIL_TAP_STEP, HIL_TAP_TIME, HIL_TAP_EVENTS};
    uint64_t rows[256][SCAN_WORDS], before[SCAN_WORDS], lost = 0;
    const uint64_t *last = NULL;
    unsigned taken;

    w->rows.next = w->seen ? w->seen - 1 : 0; /* including the row before */
    while (w->rows.next < marked &&
           (taken = hil_rows_take(&w->rows, places, SCAN_WORDS, rows[0], 256, &lost)))
        for (unsigned i = 0; i < taken; i++) {
            const uint64_t *at = w->rows.next - taken + i < w->seen
                                     ? NULL
                                     : capture_row_of(capture_bits(c), last, rows[i]);
            if (at && capture_counts(c, at[SCAN_TIME], now_ns)) {
                *found = (struct capture_found){at[SCAN_TIME], at[SCAN_STEP], w->node};
                return true;
            }
            last = memcpy(before, rows[i], sizeof before);
        }
    return false;
}

/* Finds the earliest event of all nodes. */
static bool capture_find_event(struct hil_capture *c, uint64_t now_ns)
{
    bool any = false;

    for (unsigned i = 0; i < c->watch_count; i++) {
        struct capture_watch *w = &c->watches[i];
        const uint64_t marked = hil_rows_marked(&w->rows);
        struct capture_found found;
        if (marked <= w->seen)
            continue;
        if (capture_scan(c, w, marked, now_ns, &found) &&
            (!any || found.time_ns < c->found.time_ns)) {
            c->found = found;
            any = true;
        }
        w->seen = marked;
    }
    return any;
}

/* --- making a capture ------------------------------------------------------------------------ */

/* The number of rows missing from the lane within the window. */
static uint64_t capture_lost(const struct hil_lane *l, uint64_t first, uint64_t end)
{
    if (end - first < 2)
        return 0;
    return hil_lane_row(l, end - 1)[LANE_INDEX] - hil_lane_row(l, first)[LANE_INDEX] -
           (end - 1 - first);
}

static void capture_fill(const struct hil_capture *c, unsigned i, uint64_t first, uint64_t end,
                         struct hil_captured_trace *to)
{
    const struct hil_lane *l = &c->lanes[c->traces[i].lane];

    for (uint64_t row = first; row < end; row++) {
        const uint64_t *words = hil_lane_row(l, row);
        to->steps[to->count] = words[LANE_STEP];
        to->times_s[to->count] = (double)words[LANE_TIME] * 1e-9;
        to->values[to->count++] = hil_rows_number(words[c->traces[i].column]);
    }
}

/* Returns NULL when memory runs out. */
static const struct hil_captured *capture_give(struct hil_capture *c, uint64_t from_ns,
                                               uint64_t to_ns)
{
    struct hil_captured *given = &c->captured;
    uint64_t first[HIL_TRACES_MAX + 1], end[HIL_TRACES_MAX + 1], all = 0;

    given->lost = 0;
    for (unsigned i = 0; i < c->lane_count; i++) {
        first[i] = hil_lane_find(&c->lanes[i], from_ns);
        end[i] = hil_lane_find(&c->lanes[i], to_ns + 1);
        given->lost += capture_lost(&c->lanes[i], first[i], end[i]);
    }
    for (unsigned i = 0; i < c->config.count; i++)
        all += end[c->traces[i].lane] - first[c->traces[i].lane];
    uint64_t *words = realloc(c->buffer, (3 * all + 1) * sizeof *words);
    if (!words)
        return NULL;
    c->buffer = words;
    for (unsigned i = 0; i < c->config.count; i++) {
        const unsigned lane = c->traces[i].lane;
        const uint64_t count = end[lane] - first[lane];
        given->traces[i] = (struct hil_captured_trace){
            .signal = c->config.signals[i],
            .steps = words,
            .times_s = (double *)words + count,
            .values = (double *)words + 2 * count,
        };
        capture_fill(c, i, first[lane], end[lane], &given->traces[i]);
        words += 3 * count;
    }
    given->count = c->config.count;
    given->from_s = (double)from_ns * 1e-9;
    given->to_s = (double)to_ns * 1e-9;
    given->number++;
    return given;
}

static uint64_t capture_back(const struct hil_capture *c, uint64_t t_ns)
{
    return t_ns > c->before_ns ? t_ns - c->before_ns : 0;
}

/* The window ends at the time that all nodes have reached. */
static const struct hil_captured *capture_as_it_is(struct hil_capture *c)
{
    uint64_t to_ns = UINT64_MAX;

    for (unsigned i = 0; i < c->lane_count; i++) {
        const uint64_t newest = hil_lane_newest(&c->lanes[i]);
        to_ns = newest && newest < to_ns ? newest : to_ns;
    }
    if (to_ns == UINT64_MAX || to_ns == c->given_to_ns)
        return NULL;
    c->given_to_ns = to_ns;
    c->captured.triggered = false;
    const uint64_t window = c->before_ns + c->after_ns;
    return capture_give(c, to_ns > window ? to_ns - window : 0, to_ns);
}

static const struct hil_captured *capture_triggered(struct hil_capture *c)
{
    const uint64_t to_ns = c->found.time_ns + c->after_ns;

    c->pending = false;
    c->armed = c->config.trigger.mode != HIL_TRIGGER_SINGLE;
    c->past_ns = to_ns;
    c->captured.triggered = true;
    c->captured.time_s = (double)c->found.time_ns * 1e-9;
    c->captured.step = c->found.step;
    c->captured.node = c->found.node;
    return capture_give(c, capture_back(c, c->found.time_ns), to_ns);
}

/* --- a turn ---------------------------------------------------------------------------------- */

static bool capture_find(struct hil_capture *c, uint64_t now_ns)
{
    switch (c->config.trigger.on) {
    case HIL_ON_FREE:
        return false;
    case HIL_ON_LEVEL:
        return capture_find_level(c, now_ns);
    default:
        return capture_find_event(c, now_ns);
    }
}

/* Whether all nodes have reached the end of the window, or will write no more. */
static bool capture_is_whole(const struct hil_capture *c, uint64_t now_ns, bool ended)
{
    if (ended || now_ns - c->found_ns > CAPTURE_PATIENCE_NS + 2 * c->after_ns)
        return true;
    for (unsigned i = 0; i < c->lane_count; i++)
        if (hil_lane_newest(&c->lanes[i]) <= c->found.time_ns + c->after_ns)
            return false;
    return true;
}

/* How long to wait for a trigger. */
static uint64_t capture_wait_ns(const struct hil_capture *c)
{
    const struct hil_trigger *t = &c->config.trigger;
    const uint64_t windows = 2 * (c->before_ns + c->after_ns);

    if (t->on == HIL_ON_FREE)
        return 0;
    if (t->auto_ns)
        return t->auto_ns;
    return windows > CAPTURE_AUTO_LEAST_NS ? windows : CAPTURE_AUTO_LEAST_NS;
}

static bool capture_tires(const struct hil_capture *c, uint64_t now_ns, bool ended)
{
    const struct hil_trigger *t = &c->config.trigger;

    return c->armed && now_ns >= c->rested_ns &&
           (t->on == HIL_ON_FREE || t->mode == HIL_TRIGGER_AUTO) &&
           (ended || now_ns - c->armed_ns >= capture_wait_ns(c));
}

static const struct hil_captured *capture_rest(struct hil_capture *c, uint64_t now_ns,
                                               const struct hil_captured *given)
{
    if (given)
        c->rested_ns = now_ns + CAPTURE_REST_NS;
    return given;
}

const struct hil_captured *hil_capture_turn(struct hil_capture *c, uint64_t now_ns, bool ended)
{
    const uint64_t until_ns = c->pending ? c->found.time_ns + c->after_ns : UINT64_MAX;

    if (!c->armed_ns)
        c->armed_ns = now_ns;
    for (unsigned i = 0; i < c->lane_count; i++)
        hil_lane_take(&c->lanes[i], until_ns);
    if (!c->pending && capture_find(c, now_ns)) {
        c->pending = true;
        c->found_ns = now_ns;
    }
    if (c->pending) {
        if (!capture_is_whole(c, now_ns, ended))
            return NULL;
        c->armed_ns = now_ns;
        return capture_rest(c, now_ns, capture_triggered(c));
    }
    if (!capture_tires(c, now_ns, ended))
        return NULL;
    if (c->config.trigger.on == HIL_ON_FREE && c->config.trigger.mode == HIL_TRIGGER_SINGLE)
        c->armed = false;
    return capture_rest(c, now_ns, capture_as_it_is(c));
}
