/* Tests when a process counts as standing still. */
#include <criterion/criterion.h>

#include "harness/base/pulse.h"

enum { LOOKS = 3 };

/* How many looks at these beats it takes to detect a stopped heart; 0: it has not stopped. */
static unsigned stops_at(const unsigned *beats, unsigned count)
{
    struct hil_pulse pulse = {0};

    for (unsigned i = 0; i < count; i++)
        if (hil_pulse_stops(&pulse, beats[i], LOOKS))
            return i + 1;
    return 0;
}

#define STOPS_AT(...)                                                                              \
    stops_at((const unsigned[]){__VA_ARGS__}, sizeof(unsigned[]){__VA_ARGS__} / sizeof(unsigned))

Test(pulse, a_beat_that_changes_is_no_stop)
{
    cr_expect_eq(STOPS_AT(1, 2, 3, 4, 5, 6, 7, 8), 0);
    cr_expect_eq(STOPS_AT(1, 1, 1, 1, 2, 2, 2, 2, 1, 1, 1, 1), 0);
}

Test(pulse, the_same_beat_for_more_looks_than_allowed_is_one)
{
    cr_expect_eq(STOPS_AT(7, 7, 7, 7), 0);
    cr_expect_eq(STOPS_AT(7, 7, 7, 7, 7), 5);
    cr_expect_eq(STOPS_AT(0, 0, 0, 0), 4, "one that never began");
}

/* The process is then killed, and counted, once. */
Test(pulse, a_stop_is_found_once)
{
    struct hil_pulse pulse = {0};
    unsigned found = 0;

    for (unsigned i = 0; i < 10; i++)
        found += hil_pulse_stops(&pulse, 5, LOOKS);
    cr_expect_eq(found, 1);
    cr_expect(pulse.stopped);
}
