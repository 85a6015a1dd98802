/*
 * Takes rows of a run's nodes, finds a trigger in them, and gives what the signals were before and
 * after it: every step, as the record has it.
 *
 * A trigger is at a step of one node. What other nodes had is taken by its time. A level triggers
 * at the first step where it is reached, once it has been beyond the hysteresis on the other side;
 * so does a missed step at the one that was late, and an event at its own step. A trigger counts
 * when there are rows without a gap as far back as is asked for, or from the start of the run.
 */
#ifndef HIL_CAPTURE_H
#define HIL_CAPTURE_H

#include "rows.h"

enum { HIL_TRACES_MAX = 16 };

enum hil_trigger_on {
    HIL_ON_FREE,  /* what is there */
    HIL_ON_LEVEL, /* a signal reaches a level */
    HIL_ON_MISS,  /* a node missed steps */
    HIL_ON_FAULT, /* a fault begins, a component fails, a peer is lost */
    HIL_ON_AGE,   /* an input is older than its limit */
    HIL_ON_COUNT,
};

/* "free", "level" ... */
const char *hil_trigger_name(enum hil_trigger_on on);

enum hil_trigger_mode {
    HIL_TRIGGER_AUTO,   /* after a while without a trigger: as it is */
    HIL_TRIGGER_NORMAL, /* each time */
    HIL_TRIGGER_SINGLE, /* once, until it is armed again */
};

struct hil_trigger {
    enum hil_trigger_on on;
    const struct hil_shown *signal; /* of a level; else NULL */
    double level, hysteresis;
    bool rising, falling;
    enum hil_trigger_mode mode;
    uint64_t auto_ns; /* how long HIL_TRIGGER_AUTO waits; 0: a few windows */
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
    uint64_t number; /* from 1 */
    bool triggered;  /* if not, it ends with the newest rows */
    double time_s;   /* of the trigger, by the run's time */
    uint64_t step;
    unsigned node;
    double from_s, to_s;
    uint64_t lost; /* rows in the window that were written over before they were read */
    unsigned count;
    struct hil_captured_trace traces[HIL_TRACES_MAX];
};

struct hil_capture;

/* Returns 0; -E2BIG: the window has too many steps for this many traces; -EINVAL: no signals, or a
 * time that is none; or another negative errno. */
int hil_capture_open(struct hil_capture **capture, const struct hil_attached *run,
                     const struct hil_capture_config *config);
void hil_capture_close(struct hil_capture *capture);

/* Looks at the run; `now_ns` is the caller's clock, and with `ended` no row comes any more. Returns
 * a capture that is whole, which is valid until the next call; NULL: not yet. */
const struct hil_captured *hil_capture_turn(struct hil_capture *capture, uint64_t now_ns,
                                            bool ended);

/* A single shot again. */
void hil_capture_arm(struct hil_capture *capture);

#endif
