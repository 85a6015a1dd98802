/* Tests bucks in series across one load, against single bucks and the reference's critical period.
 */
#include <string.h>

#include "model_rig.h"

static struct rig series_of(unsigned width, double load_ohm)
{
    double parameters[RIG_PLACES];
    struct rig rig;

    rig_values(&hil_model_find("series_bucks")->parameters, width, parameters);
    parameters[5 * width] = load_ohm;
    cr_assert_eq(rig_try(&rig, "series_bucks", width, parameters, NULL, 10e-6), 0);
    rig_values(&rig.model->inputs, width, rig.in);
    return rig;
}

/* "The local share is exact when balanced." */
Test(series, balanced_ones_are_single_ones_with_their_share_of_the_load)
{
    enum { COUNT = 20 };
    struct rig string = series_of(COUNT, 48), one = rig_open("buck", NULL, NULL, 10e-6);

    for (int k = 0; k < 500; k++) {
        const double duty = k < 250 ? 0.25 : 0.4;
        one.in[0] = duty;
        for (int i = 0; i < COUNT; i++)
            string.in[i] = duty;
        rig_step(&one);
        rig_step(&string);
        for (int i = 0; i < COUNT; i++) {
            cr_expect(fabs(string.out[i] - one.out[0]) < 1e-10, "voltage, step %d", k);
            cr_expect(fabs(string.out[COUNT + i] - one.out[1]) < 1e-10, "current, step %d", k);
        }
        cr_expect(fabs(string.out[2 * COUNT] - one.out[0] / 2.4) < 1e-10, "load, step %d", k);
    }
    rig_end(&string);
    rig_end(&one);
}

/* How much a small difference between two converters grows from 50 to 100 ms. Each has its own PID
 * with this period, and the timing is the reference's. */
static double growth(int64_t period_ns)
{
    static const double gains[] = {0.03, 150, 4.2e-6, 5e-6, 0.3, 0.02, 0.5};
    struct rig string = series_of(2, 4.8), laws[2];
    double next[2] = {0}, pushed[2] = {0}, largest[2] = {0};

    for (int i = 0; i < 2; i++)
        laws[i] = rig_open("pid", gains, NULL, (double)period_ns * 1e-9);
    for (int64_t controller = 0, plant = 0; controller < 110000000;) {
        if (plant <= controller) {
            if (plant > 0)
                rig_step(&string);
            memcpy(string.in, pushed, sizeof pushed);
            plant += 10000;
            continue;
        }
        for (int i = 0; i < 2; i++) {
            pushed[i] = next[i];
            laws[i].in[0] = 12;
            laws[i].in[1] = string.out[i];
            rig_step(&laws[i]);
            next[i] = laws[i].out[0] + (i == 0 && controller < 1000000 ? 1e-6 : 0);
        }
        const double apart = fabs(string.out[0] - string.out[1]);
        const int64_t ms = controller / 1000000;
        if (ms >= 50 && ms < 60)
            largest[0] = fmax(largest[0], apart);
        if (ms >= 100)
            largest[1] = fmax(largest[1], apart);
        controller += period_ns;
    }
    rig_end(&string);
    rig_end(&laws[0]);
    rig_end(&laws[1]);
    return largest[1] / largest[0];
}

/* "Its differential modes lose the load's damping (critical period 42.0 us)." */
Test(series, critical_period_of_the_differences)
{
    cr_expect_lt(growth(41800), 0.95, "%g", growth(41800));
    cr_expect_gt(growth(42200), 1.05, "%g", growth(42200));
}
