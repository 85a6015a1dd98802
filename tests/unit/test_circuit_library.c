/* The circuits of plants/circuits against theory, with the defaults of their inputs. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "model_rig.h"

static struct rig library_open(const char *name, double period_s)
{
    static char text[1024], path[100];
    const struct hil_said said = {text, sizeof text, NULL};
    const struct hil_loaded *loaded;

    snprintf(path, sizeof path, "plants/circuits/%s.cir", name);
    cr_assert_eq(hil_model_load(&loaded, path, ".", NULL, &said), 0, "%s: %s", path, text);
    return rig_open(loaded->name, NULL, NULL, period_s);
}

static double mean_of(struct rig *rig, const char *output, double until_s, double over_s)
{
    const int i = hil_quantity_find(&rig->model->outputs, output);
    const unsigned steps = (unsigned)lround(over_s / rig->period_s);
    double sum = 0;

    cr_assert_geq(i, 0, "%s", output);
    while ((double)rig->steps * rig->period_s < until_s - over_s - 1e-9)
        rig_step(rig);
    for (unsigned n = 0; n < steps; n++) {
        rig_step(rig);
        sum += rig->out[i];
    }
    return sum / steps;
}

/* The mean of an output at the end, over a whole number of the circuit's periods. */
static void expect_mean(const char *circuit, const char *output, double period_s, double until_s,
                        double over_s, double theory, double share)
{
    struct rig rig = library_open(circuit, period_s);
    const double found = mean_of(&rig, output, until_s, over_s);

    cr_expect_float_eq(found, theory, share * fabs(theory), "%s: %s is %.6g, by theory %.6g",
                       circuit, output, found, theory);
    rig_end(&rig);
}

/* In the dead time the current takes a diode: the upper switch conducts 1 % less. */
Test(circuit_library, buck)
{
    expect_mean("buck_synchronous", "output_v", 1e-6, 20e-3, 10e-6,
                (0.24 * 48 - 0.02 * 0.7) * 2.4 / 2.426, 1e-3);
    expect_mean("buck_diode", "output_v", 1e-6, 20e-3, 10e-6,
                (0.25 * 48 - 0.75 * 0.7) * 2.4 / 2.429, 1e-3);
}

/* The resistances in the inductor's path count as 4 times as much, at half the current. */
Test(circuit_library, boost_and_buck_boost)
{
    const double loss = 1 / (1 + 4 * 0.015 / 12);

    expect_mean("boost", "output_v", 1e-6, 30e-3, 10e-6, (24 - 0.7) * loss, 3e-3);
    expect_mean("buck_boost", "output_v", 1e-6, 30e-3, 10e-6, -(24 - 0.7) * loss, 3e-3);
    expect_mean("sepic", "output_v", 1e-6, 30e-3, 10e-6, (12 - 0.5) / (1 + 4 * 0.0225 / 6), 1e-2);
}

/* The energy of each period, less what the leakage gives to the clamp. */
Test(circuit_library, flyback)
{
    const double peak_a = 0.36 * 10e-6 * 48 / 40e-6, watts = 40e-6 / 2 * peak_a * peak_a * 100e3;

    expect_mean("flyback", "output_v", 1e-6, 30e-3, 10e-6, sqrt(watts * 0.96 * 6), 0.02);
}

Test(circuit_library, resonant_and_phase_shifted)
{
    expect_mean("full_bridge", "output_v", 1e-6, 10e-3, 10e-6, 2 * 0.25 * 100 - 0.8, 0.02);
    expect_mean("llc", "output_v", 1e-6, 10e-3, 100e-6, 25.41, 0.01);
    const double volts = 400 * 8 * 0.077 * (1 - 2 * 0.077) / (30e-6 * 100e3) * 0.72;
    expect_mean("dual_active_bridge", "output_v", 1e-6, 10e-3, 10e-6, volts, 0.01);
}

/* With the rectifier's current near 0 its diodes change within picoseconds. */
Test(circuit_library, resonant_at_all_frequencies)
{
    struct rig rig = library_open("llc", 5e-6);
    const int frequency = hil_quantity_find(&rig.model->inputs, "frequency_hz");
    const int load = hil_quantity_find(&rig.model->inputs, "load_a");

    rig.in[load] = -14; /* of 25 A */
    for (unsigned n = 0; n < 20000; n++) {
        rig.in[frequency] = 70e3 + 130e3 * (n % 10000) / 10000;
        rig_step(&rig);
        cr_assert_eq(rig_said[0], '\0', "at %g Hz: %s", rig.in[frequency], rig_said);
    }
    rig_end(&rig);
}

/* The power over a period of the mains, by the mean current of each switching period. */
Test(circuit_library, power_factor_correction)
{
    const double per_ohm = 0.3 * 0.3 / 65e3 / (2 * 100e-6);
    double volts = 400, watts;

    for (int i = 0; i < 50; i++) {
        watts = 0;
        for (int k = 0; k < 1000; k++) {
            const double v = 325.27 * sin((k + 0.5) * M_PI / 1000);
            watts += v * v * per_ohm * volts / (volts - v) / 1000;
        }
        volts = (volts + sqrt(watts * 400)) / 2;
    }
    expect_mean("pfc_boost", "output_v", 20e-6, 0.6, 20e-3, volts, 0.03);
}

/* In each dead time the current takes the diode that is against it. */
Test(circuit_library, inverters)
{
    const double load = 10 / 10.06, dead = 4. / 3 * 1e-6 * 20e3;

    expect_mean("inverter", "voltage_a_v", 5e-6, 20e-3, 50e-6, (0.3 - dead) * 700 * load, 0.01);
    expect_mean("inverter", "voltage_c_v", 5e-6, 20e-3, 50e-6, (-0.2 + dead / 2) * 700 * load,
                0.01);
    expect_mean("inverter_three_level", "voltage_a_v", 5e-6, 5e-3, 50e-6, (0.6 - dead) * 350 * load,
                0.03);
}

Test(circuit_library, rectifier)
{
    const double amperes = 530. / 20, reactance = 2 * M_PI * 50 * 1e-3;

    expect_mean("rectifier", "output_v", 20e-6, 0.4, 20e-3,
                3 / M_PI * sqrt(3) * 326.6 - 3 / M_PI * reactance * amperes - 2 * 0.75 - 2, 0.01);
}

/* The currents of the diodes at a voltage, found by halving. */
Test(circuit_library, photovoltaic_string)
{
    double least = 0, most = 220;

    for (int i = 0; i < 60; i++) {
        const double v = (least + most) / 2;
        double amperes = 10 - v / 2000;
        amperes -= fmax(v - 165.038, 0) / 12.01 + fmax(v - 180.038, 0) / 4.01;
        amperes -= fmax(v - 192.038, 0) / 1.51;
        if (2 * v - 2 * amperes > amperes * 35)
            most = v;
        else
            least = v;
    }
    expect_mean("pv_string", "string_v", 100e-6, 0.1, 1e-3, 2 * least * 35 / 37, 1e-3);
}

Test(circuit_library, battery)
{
    expect_mean("battery_precharge", "link_v", 1e-3, 0.3, 1e-3, 400 * (1 - exp(-2.995)), 2e-3);
}
