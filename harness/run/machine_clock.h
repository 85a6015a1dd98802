/*
 * The offset between the clocks of two machines. It comes from the times of a question and its
 * answer, or from the time of day if both kernels report that PTP or NTP keeps it: the less
 * uncertain of the two counts.
 */
#ifndef HIL_MACHINE_CLOCK_H
#define HIL_MACHINE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

enum hil_clock_by { HIL_CLOCK_OWN, HIL_CLOCK_BY_TRIPS, HIL_CLOCK_BY_DAY };

/* The clock of the first node's machine, compared with this machine's. */
struct hil_machine_clock {
    bool known;
    enum hil_clock_by by;
    int64_t ahead_ns;     /* its loco_clock minus this machine's */
    uint64_t about_ns;    /* uncertainty of that */
    uint64_t trip_ns;     /* the shortest round trip of question and answer */
    uint64_t compared_ns; /* when they were compared, on this clock */
};

/* The clocks of a machine at one moment. Crosses the network. */
struct hil_clock_reading {
    uint64_t steady_ns; /* the clock that loops count by */
    uint64_t day_ns;    /* the time of day */
    uint64_t
        day_about_ns; /* error of day_ns that the kernel reports; UINT64_MAX: nothing keeps it */
};

_Static_assert(sizeof(struct hil_clock_reading) == 24, "crosses the network");

struct hil_clock_reading hil_clock_read(void);

/* Takes one question and its answer into account. The question was sent at `asked_ns`, and its
 * answer came at `heard_ns`. `here` was read after that. */
void hil_machine_clock_take(struct hil_machine_clock *clock, uint64_t asked_ns,
                            const struct hil_clock_reading *there, uint64_t heard_ns,
                            const struct hil_clock_reading *here);

/* "round trips", "the time of day" or "the same clock". */
const char *hil_clock_by_name(enum hil_clock_by by);

#endif
