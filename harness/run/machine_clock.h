/*
 * How far the clocks of two machines are apart, by the times of a question and its answer, or by
 * the time of day where both machines' kernels say that theirs is kept by PTP or NTP: by whichever
 * is the less uncertain.
 */
#ifndef HIL_MACHINE_CLOCK_H
#define HIL_MACHINE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

enum hil_clock_by { HIL_CLOCK_OWN, HIL_CLOCK_BY_TRIPS, HIL_CLOCK_BY_DAY };

/* The first node's clock, seen from here. */
struct hil_machine_clock {
    bool known;
    enum hil_clock_by by;
    int64_t ahead_ns;     /* what its loco_clock shows more than this one */
    uint64_t about_ns;    /* within so much */
    uint64_t trip_ns;     /* the shortest question and answer */
    uint64_t compared_ns; /* when, on this clock */
};

/* What a machine shows at one moment; crosses the network. */
struct hil_clock_reading {
    uint64_t steady_ns; /* as the loops count */
    uint64_t day_ns;    /* the time of day */
    uint64_t
        day_about_ns; /* what the kernel says that this is wrong by; UINT64_MAX: it is not kept */
};

_Static_assert(sizeof(struct hil_clock_reading) == 24, "crosses the network");

struct hil_clock_reading hil_clock_read(void);

/* Takes one question, at `asked_ns`, and its answer, at `heard_ns`, into account; `here` was read
 * after it. */
void hil_machine_clock_take(struct hil_machine_clock *clock, uint64_t asked_ns,
                            const struct hil_clock_reading *there, uint64_t heard_ns,
                            const struct hil_clock_reading *here);

/* "round trips", "the time of day" */
const char *hil_clock_by_name(enum hil_clock_by by);

#endif
