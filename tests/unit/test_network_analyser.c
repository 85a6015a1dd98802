/* Tests the network analyser in loops whose response is known. */
#include <complex.h>
#include <errno.h>

#include "model_rig.h"

enum { OUTPUT, FREQUENCY, GAIN, PHASE, COHERENCE, CROSSOVER, PHASE_MARGIN, GAIN_MARGIN, DONE };
enum { LATE_MAX = 8 };

static const double pi = 3.14159265358979323846, period_s = 1e-4;

/* y+ = a y + b u, where u is the analyser's output some steps ago, and its input is -y. */
struct loop {
    double a, b;
    unsigned late;
};

static double complex loop_gain(const struct loop *l, double hz)
{
    const double complex z = cexp(I * 2 * pi * hz * period_s);

    return l->b / (z - l->a) * cpow(z, -(double)l->late);
}

static double gain_db(const struct loop *l, double hz)
{
    return 20 * log10(cabs(loop_gain(l, hz)));
}

/* From -360 to 0. */
static double phase_deg(const struct loop *l, double hz)
{
    const double deg = carg(loop_gain(l, hz)) * 180 / pi;

    return deg > 0 ? deg - 360 : deg;
}

/* Checks each reading. Returns the component after the last one. */
static struct rig analysed(const struct loop *l, const double *parameters, double disturbance)
{
    struct rig rig = rig_open("network_analyser", parameters, NULL, period_s);
    double y = 0, u[LATE_MAX] = {0}, read_hz = 0;
    unsigned readings = 0;

    for (unsigned n = 0; n < 4000000 && !rig.out[DONE]; n++) {
        rig.in[0] = -y + disturbance * sin(0.0019 * n);
        rig_step(&rig);
        u[n % LATE_MAX] = rig.out[OUTPUT];
        y = l->a * y + l->b * u[(n - l->late) % LATE_MAX];
        if (rig.out[FREQUENCY] == read_hz)
            continue;
        read_hz = rig.out[FREQUENCY];
        readings++;
        cr_expect_float_eq(rig.out[GAIN], gain_db(l, read_hz), 0.1, "%g Hz: %g dB, not %g", read_hz,
                           rig.out[GAIN], gain_db(l, read_hz));
        cr_expect(fabs(remainder(rig.out[PHASE] - phase_deg(l, read_hz), 360)) < 1,
                  "%g Hz: %g degrees, not %g", read_hz, rig.out[PHASE], phase_deg(l, read_hz));
        cr_expect_gt(rig.out[COHERENCE], 0.99, "%g Hz", read_hz);
    }
    cr_expect_eq(readings, (unsigned)parameters[2]);
    return rig;
}

/* Where a falling course passes a level. */
static double passed(double (*of)(const struct loop *l, double hz), const struct loop *l,
                     double level)
{
    double low = 20, high = 4000;

    for (int i = 0; i < 100; i++) {
        const double middle = sqrt(low * high);
        if (of(l, middle) > level)
            low = middle;
        else
            high = middle;
    }
    return low;
}

Test(network_analyser, reads_a_loop_of_first_order)
{
    const struct loop l = {0.99, 0.2, 0};
    const double parameters[] = {20, 4000, 25, 0.1, 10, 5, 3, 0, 0, 0, 0, 100, 0};
    struct rig rig = analysed(&l, parameters, 0);
    const double crossover_hz = passed(gain_db, &l, 0);

    cr_expect_float_eq(rig.out[CROSSOVER], crossover_hz, 0.01 * crossover_hz);
    cr_expect_float_eq(rig.out[PHASE_MARGIN], 180 + phase_deg(&l, crossover_hz), 1);
    cr_expect_eq(rig.out[GAIN_MARGIN], 1000);
    rig_end(&rig);
}

Test(network_analyser, finds_both_margins_of_a_loop_that_is_late)
{
    const struct loop l = {1, 0.15, 3};
    const double parameters[] = {20, 4000, 60, 0.1, 20, 5, 3, 0, 0, 0, 0, 100, 0};
    struct rig rig = analysed(&l, parameters, 0.01);
    const double crossover_hz = passed(gain_db, &l, 0), half_turn_hz = passed(phase_deg, &l, -180);

    cr_expect_float_eq(rig.out[CROSSOVER], crossover_hz, 0.01 * crossover_hz);
    cr_expect_float_eq(rig.out[PHASE_MARGIN], 180 + phase_deg(&l, crossover_hz), 1);
    cr_expect_float_eq(rig.out[GAIN_MARGIN], -gain_db(&l, half_turn_hz), 0.1);
    cr_expect_eq(rig.out[OUTPUT], rig.in[0], "the sine has ended");
    rig_end(&rig);
}

/* Sines that are close to each other, too, and a window that is no multiple of each period. */
Test(network_analyser, reads_all_frequencies_at_once)
{
    const struct loop l = {1, 0.15, 3};
    const double parameters[] = {23, 4000, 60, 0.1, 20, 10, 3, 0, 0, 0, 0, 100, 1};
    struct rig rig = analysed(&l, parameters, 0);
    const double crossover_hz = passed(gain_db, &l, 0), half_turn_hz = passed(phase_deg, &l, -180);

    cr_expect_float_eq(rig.out[CROSSOVER], crossover_hz, 0.01 * crossover_hz);
    cr_expect_float_eq(rig.out[PHASE_MARGIN], 180 + phase_deg(&l, crossover_hz), 1);
    cr_expect_float_eq(rig.out[GAIN_MARGIN], -gain_db(&l, half_turn_hz), 0.1);
    cr_expect_eq(rig.out[OUTPUT], rig.in[0], "the sines have ended");
    rig_end(&rig);
}

/* Of a loop that is stable only while its gain is high: k (s + a)^2 / s^3. */
static double complex conditional_at(double k, double a, double hz)
{
    const double complex s = (cexp(I * 2 * pi * hz * period_s) - 1) / period_s;

    return k * (s + a) * (s + a) / (s * s * s);
}

/* Its gain where it is a negative number, and how far its phase is from that where its gain is 1.
 */
static void conditional_margins(double k, double a, double *gain_db, double *phase_deg)
{
    for (double hz = 20; hz < 1000; hz *= 1.00001) {
        const double complex now = conditional_at(k, a, hz),
                             next = conditional_at(k, a, 1.00001 * hz);
        if (creal(now) < 0 && cimag(now) > 0 && cimag(next) <= 0)
            *gain_db = 20 * log10(cabs(now));
        if (cabs(now) > 1 && cabs(next) <= 1)
            *phase_deg = fabs(carg(-now)) * 180 / pi;
    }
}

Test(network_analyser, margins_are_distances_in_both_directions)
{
    const double parameters[] = {20, 2000, 80, 0.1, 20, 5, 3, 0, 0, 0, 0, 100, 0};
    const double a = 2 * pi * 100, k = 2 * a;
    struct rig rig = rig_open("network_analyser", parameters, NULL, period_s);
    double x[3] = {0}, gain_db = 0, margin_deg = 0;

    for (unsigned n = 0; n < 4000000 && !rig.out[DONE]; n++) {
        rig.in[0] = -k * (x[0] + 2 * a * x[1] + a * a * x[2]);
        rig_step(&rig);
        x[2] += period_s * x[1];
        x[1] += period_s * x[0];
        x[0] += period_s * rig.out[OUTPUT];
    }
    conditional_margins(k, a, &gain_db, &margin_deg);
    cr_expect_eq(rig.out[DONE], 1);
    cr_expect(gain_db > 10 && margin_deg > 20, "%g, %g", gain_db, margin_deg);
    cr_expect_float_eq(rig.out[GAIN_MARGIN], gain_db, 0.2);
    cr_expect_float_eq(rig.out[PHASE_MARGIN], margin_deg, 1);
    rig_end(&rig);
}

/* The response of the plant alone, from a time on, with a sine that is a share of the input. */
Test(network_analyser, reads_a_response_from_a_time_on)
{
    const struct loop l = {0.99, 0.2, 0};
    const double parameters[] = {20, 2000, 5, 0, 0, 5, 3, 0.5, 0.1, 1, 1, 100, 0};
    struct rig rig = rig_open("network_analyser", parameters, NULL, period_s);
    double y = 0, greatest = 0, read_hz = 0;
    unsigned readings = 0;

    for (unsigned n = 0; n < 400000 && !rig.out[DONE]; n++) {
        rig.in[0] = 10 - y;
        rig.in[1] = y;
        rig_step(&rig);
        cr_assert(n >= 5000 || rig.out[OUTPUT] == rig.in[0]);
        greatest = fmax(greatest, fabs(rig.out[OUTPUT] - rig.in[0]));
        y = l.a * y + l.b * rig.out[OUTPUT];
        if (rig.out[FREQUENCY] == read_hz)
            continue;
        read_hz = rig.out[FREQUENCY];
        readings++;
        cr_expect_float_eq(rig.out[GAIN], gain_db(&l, read_hz), 0.1);
        cr_expect(fabs(remainder(rig.out[PHASE] - phase_deg(&l, read_hz), 360)) < 1);
    }
    cr_expect_eq(readings, 5);
    cr_expect_float_eq(greatest, 0.01 * (10 - 10 * 0.2 / (0.2 + 0.01)), 1e-3);
    cr_expect_eq(rig.out[PHASE_MARGIN], 360);
    rig_end(&rig);
}

Test(network_analyser, an_open_loop_without_a_sine_has_no_margins)
{
    const double parameters[] = {100, 100, 1, 0, 0, 3, 1, 0, 0, 0, 0, 100, 0};
    struct rig rig = rig_open("network_analyser", parameters, NULL, period_s);

    for (int n = 0; n < 1000; n++)
        rig_step(&rig);
    cr_expect_eq(rig.out[DONE], 1);
    cr_expect_eq(rig.out[GAIN], -400);
    cr_expect_eq(rig.out[COHERENCE], 0);
    cr_expect_eq(rig.out[PHASE_MARGIN], 360);
    rig_end(&rig);
}

Test(network_analyser, refuses_frequencies_that_it_cannot_read)
{
    struct rig rig;

    cr_expect_eq(rig_try(&rig, "network_analyser", 1,
                         (const double[]){1000, 2000, 300, 1, 5, 10, 3, 0, 0, 0, 0, 100, 1}, NULL,
                         period_s),
                 -EDOM);
    cr_expect_eq(rig_try(&rig, "network_analyser", 1,
                         (const double[]){100, 50, 2, 1, 5, 5, 1, 0, 0, 0, 0, 100, 0}, NULL,
                         period_s),
                 -EDOM);
    cr_expect_str_eq(rig_said, "to_hz is below from_hz");
    cr_expect_eq(rig_try(&rig, "network_analyser", 1,
                         (const double[]){100, 4500, 2, 1, 5, 5, 1, 0, 0, 0, 0, 100, 0}, NULL,
                         period_s),
                 -EDOM);
    cr_expect_str_eq(rig_said, "to_hz is not below 0.45 of the rate of its steps");
}
