/*
 * The heartbeat of a process, as its launcher takes it at each look.
 */
#ifndef HIL_PULSE_H
#define HIL_PULSE_H

#include <stdbool.h>
#include <stdint.h>

struct hil_pulse {
    uint64_t beat;  /* at the last look */
    uint64_t looks; /* one after the other, that found the same */
    bool stopped;
};

/*
 * One look. Returns whether it is the one that finds the heart stopped: the same beat for more than
 * `looks` looks. Looks are counted, and not time: a launcher that was itself held up, or stopped
 * together with its processes, has looked less often.
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
