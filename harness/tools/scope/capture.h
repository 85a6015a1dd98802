/*
 * Takes rows of a run's nodes, finds a trigger in them, and returns the signals before and after
 * it: every step, as in the record.
 *
 * A trigger is at a step of one node; the signals of other nodes are aligned by its time. A level
 * triggers at the first step that reaches it after the signal was beyond the hysteresis on the
 * other side. A missed step triggers at the step that was late, and an event at its own step. A
 * trigger counts only if rows without a gap reach back as far as requested, or to the start of the
 * run.
 */
#ifndef HIL_CAPTURE_H
#define HIL_CAPTURE_H

#include "rows.h"

enum { HIL_TRACES_MAX = 16 };

enum hil_trigger_on {
    HIL_ON_FREE,  /* shows the present data */
    HIL_ON_LEVEL, /* a signal reaches a level */
    HIL_ON_MISS,  /* a node missed steps */
    HIL_ON_FAULT, /* a fault begins, a component fails, a peer is lost */
    HIL_ON_AGE,   /* an input is older than its limit */
    HIL_ON_COUNT,
};

/* "free", "level" ... */
const char *hil_trigger_name(enum hil_trigger_on on);

enum hil_trigger_mode {
    HIL_TRIGGER_AUTO,   /* without a trigger for a while, shows the present data */
    HIL_TRIGGER_NORMAL, /* each time */
    HIL_TRIGGER_SINGLE, /* once, until it is armed again */
};

struct hil_trigger {
    enum hil_trigger_on on;
    const struct hil_shown *signal; /* for a level; else NULL */
    double level, hysteresis;
    bool rising, falling;
    enum hil_trigger_mode mode;
    uint64_t auto_ns; /* timeout of HIL_TRIGGER_AUTO; 0: a few windows */
};

struct hil_capture_config {
    const struct hil_shown *signals[HIL_TRACES_MAX];
    unsigned count;
    double before_s, after_s;
    struct hil_trigger trigger;
};

struct hil_captured_trace {
    const struct hil_shown *signal;
    unsigned count;
    uint64_t *steps;
    double *times_s, *values;
};

struct hil_captured {
    uint64_t number; /* counts from 1 */
    bool triggered;  /* if false, it ends with the newest rows */
    double time_s;   /* of the trigger, in the run's time */
    uint64_t step;
    unsigned node;
    double from_s, to_s;
    uint64_t lost; /* rows in the window that were overwritten before they were read */
    unsigned count;
    struct hil_captured_trace traces[HIL_TRACES_MAX];
};

struct hil_capture;

/* Returns 0; -E2BIG: the window has too many steps for this many traces; -EINVAL: no signals, or an
 * invalid time; or another negative errno. */
int hil_capture_open(struct hil_capture **capture, const struct hil_attached *run,
                     const struct hil_capture_config *config);
void hil_capture_close(struct hil_capture *capture);

/* Looks at the run. `now_ns` is the caller's clock; `ended` means that no more rows will come.
 * Returns a complete capture, which is valid until the next call; NULL: not yet. */
const struct hil_captured *hil_capture_turn(struct hil_capture *capture, uint64_t now_ns,
                                            bool ended);

/* The number of rows that were overwritten before they were read. A trigger may have been in them.
 */
uint64_t hil_capture_lost(const struct hil_capture *capture);

/* Allows another single shot. */
void hil_capture_arm(struct hil_capture *capture);

#endif
