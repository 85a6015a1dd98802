/* Times for which a core was away from who wanted it: the largest, and how many were how long. */
#ifndef HIL_DOCTOR_GAPS_H
#define HIL_DOCTOR_GAPS_H

#include <stddef.h>
#include <stdint.h>

enum { HIL_GAPS_LARGEST = 4, HIL_GAPS_LIMITS = 5 };

/* ns. */
extern const uint64_t hil_gaps_limits[HIL_GAPS_LIMITS];

/* Zero at first. */
struct hil_gaps {
    uint64_t largest[HIL_GAPS_LARGEST]; /* ns, falling; 0: none */
    uint64_t over[HIL_GAPS_LIMITS];     /* how many exceed each limit */
    uint64_t lost_ns;                   /* in all that exceed the first */
};

void hil_gaps_add(struct hil_gaps *gaps, uint64_t ns);

/* "3.2 us", "116 ms". */
void hil_time_text(uint64_t ns, char *text, size_t size);

#endif
