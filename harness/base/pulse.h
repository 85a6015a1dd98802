/*
 * The heartbeat of a process as seen by the one that started it.
 */
#ifndef HIL_PULSE_H
#define HIL_PULSE_H

#include <stdbool.h>
#include <stdint.h>

/* Interval of looks. Each look takes a real-time loop off its core for a moment. */
enum { HIL_LOOK_NS = 20000000 };

struct hil_pulse {
    uint64_t beat;  /* at the last look */
    uint64_t looks; /* consecutive looks with the same beat */
    bool stopped;
};

/*
 * Takes one look. Returns true if this look detects that the heart has stopped: the beat has been
 * the same for more than `looks` looks. Looks are counted rather than time, because a launcher that
 * was itself delayed, or stopped together with its processes, has looked less often.
 */
static inline bool hil_pulse_stops(struct hil_pulse *p, uint64_t beat, uint64_t looks)
{
    p->looks = beat == p->beat ? p->looks + 1 : 0;
    p->beat = beat;
    if (p->stopped || p->looks <= looks)
        return false;
    p->stopped = true;
    return true;
}

#endif
