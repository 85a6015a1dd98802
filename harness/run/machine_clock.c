#include "machine_clock.h"

#include <sys/timex.h>
#include <time.h>

#include "clock.h"

/* Two clocks that are read one after the other are read within this time. */
enum { READING_NS = 1000 };

static uint64_t clock_error_of_day(void)
{
    struct timex t = {0};

    if (adjtimex(&t) < 0 || t.status & STA_UNSYNC)
        return UINT64_MAX;
    return (uint64_t)t.maxerror * 1000;
}

struct hil_clock_reading hil_clock_read(void)
{
    struct timespec day;
    struct hil_clock_reading r = {.day_about_ns = clock_error_of_day()};
    const uint64_t before = hil_clock_monotonic();

    clock_gettime(CLOCK_REALTIME, &day);
    r.steady_ns = before + (hil_clock_monotonic() - before) / 2;
    r.day_ns = (uint64_t)day.tv_sec * 1000000000 + (uint64_t)day.tv_nsec;
    return r;
}

static void clock_take_trip(struct hil_machine_clock *c, uint64_t asked_ns, uint64_t there_ns,
                            uint64_t heard_ns)
{
    const uint64_t trip = heard_ns - asked_ns;

    if (c->trip_ns && trip >= c->trip_ns)
        return;
    c->trip_ns = trip;
    if (c->known && trip / 2 >= c->about_ns)
        return;
    c->known = true;
    c->by = HIL_CLOCK_BY_TRIPS;
    c->ahead_ns = (int64_t)(there_ns - (asked_ns + trip / 2));
    c->about_ns = trip / 2 + 1;
    c->compared_ns = heard_ns;
}

/* Assumes that both clocks of day are right, within the errors that the kernels report. */
static void clock_take_day(struct hil_machine_clock *c, const struct hil_clock_reading *there,
                           const struct hil_clock_reading *here)
{
    if (there->day_about_ns >= INT64_MAX / 2 || here->day_about_ns >= INT64_MAX / 2)
        return;
    const uint64_t about = there->day_about_ns + here->day_about_ns + 2 * READING_NS;
    if (c->known && about >= c->about_ns)
        return;
    c->known = true;
    c->by = HIL_CLOCK_BY_DAY;
    c->ahead_ns = (int64_t)(there->steady_ns - there->day_ns - (here->steady_ns - here->day_ns));
    c->about_ns = about;
    c->compared_ns = here->steady_ns;
}

void hil_machine_clock_take(struct hil_machine_clock *c, uint64_t asked_ns,
                            const struct hil_clock_reading *there, uint64_t heard_ns,
                            const struct hil_clock_reading *here)
{
    clock_take_trip(c, asked_ns, there->steady_ns, heard_ns);
    clock_take_day(c, there, here);
}

const char *hil_clock_by_name(enum hil_clock_by by)
{
    return by == HIL_CLOCK_BY_DAY     ? "the time of day"
           : by == HIL_CLOCK_BY_TRIPS ? "round trips"
                                      : "the same clock";
}
