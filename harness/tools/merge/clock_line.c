#include "clock_line.h"

/* How much the first node's clock gains per second of this clock. */
static double clock_gains(const struct hil_machine_clock *a, const struct hil_machine_clock *b)
{
    if (!a->known || !b->known || a->by == HIL_CLOCK_OWN || b->compared_ns <= a->compared_ns)
        return 0;
    return (double)(b->ahead_ns - a->ahead_ns) / (double)(b->compared_ns - a->compared_ns);
}

/* The start was agreed on with the first comparison. */
double hil_clock_line(const struct hil_part_report *t, double time_s)
{
    const double since_s = (double)(int64_t)(t->start_ns - t->before.compared_ns) * 1e-9;

    return time_s + clock_gains(&t->before, &t->after) * (since_s + time_s);
}

uint64_t hil_clock_about_ns(const struct hil_part_report *t)
{
    return t->after.known && t->after.about_ns > t->before.about_ns ? t->after.about_ns
                                                                    : t->before.about_ns;
}
