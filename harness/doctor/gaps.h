/* Times during which a core was taken away from a loop: the longest ones, and how many exceeded
 * each limit. */
#ifndef HIL_DOCTOR_GAPS_H
#define HIL_DOCTOR_GAPS_H

#include <stddef.h>
#include <stdint.h>

enum { HIL_GAPS_LARGEST = 4, HIL_GAPS_LIMITS = 5 };

/* In ns. */
extern const uint64_t hil_gaps_limits[HIL_GAPS_LIMITS];

/* Zero at first. */
struct hil_gaps {
    uint64_t largest[HIL_GAPS_LARGEST]; /* ns, falling; 0: none */
    uint64_t over[HIL_GAPS_LIMITS];     /* number of gaps longer than each limit */
    uint64_t lost_ns;                   /* total of the gaps that exceed the first limit */
};

void hil_gaps_add(struct hil_gaps *gaps, uint64_t ns);

/* "3.2 us", "116 ms". */
void hil_time_text(uint64_t ns, char *text, size_t size);

#endif
