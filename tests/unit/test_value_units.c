/* Values with a unit, such as 10us and 47uH: exactly the number that they are in the key's unit. */
#include "../sets.h"
#include "harness/scenario/system.h"
#include "harness/scenario/yaml/value_units.h"
#include "test_scenario.h"

static const char *converted(const char *text, const char *unit)
{
    static char number[SCENARIO_VALUE_BYTES];

    return scenario_value_convert(number, text, unit, NULL) ? number : "none";
}

#define IS(text, unit, number) cr_expect_str_eq(converted(text, unit), number)

Test(value_units, prefixes)
{
    IS("10us", "us", "10");
    IS("10 us", "us", "10");
    IS("10us", "s", "1e-5");
    IS("10ns", "us", "0.01");
    IS("1ns", "s", "1e-9");
    IS("0.3us", "s", "3e-7");
    IS("2ms", "us", "2000");
    IS("1.5s", "ms", "1500");
    IS("47uH", "H", "4.7e-5");
    IS("470 pF", "F", "4.7e-10");
    IS("20mOhm", "Ohm", "0.02");
    IS("1.2kV", "V", "1200");
    IS("-3kA", "A", "-3000");
    IS("100kHz", "Hz", "100000");
    IS("2MHz", "Hz", "2000000");
    IS("1GHz", "Hz", "1000000000");
    IS("3V/us", "V/s", "3000000");
}

Test(value_units, other_units_of_the_same_quantity)
{
    IS("2min", "s", "120");
    IS("1h", "us", "3600000000");
    IS("1.5Ah", "C", "5400");
    IS("5%", "%", "5");
    IS("64KiB", "KiB", "64");
    IS("20degC", "degC", "20");
}

/* Every digit is kept, although a double would not have them all. */
Test(value_units, all_digits)
{
    IS("0.1234567890123456789ms", "us", "123.4567890123456789");
    IS("123456789012345678901234567890ns", "s", "1.2345678901234567890123456789e20");
    IS("+1.50e3us", "s", "0.0015");
    IS(".5us", "us", "0.5");
    IS("5.us", "us", "5");
    IS("0000.000us", "us", "0");
    IS("-0us", "s", "0");
    IS("1e15V", "V", "1e15");
    IS("1e16V", "V", "1e16");
}

Test(value_units, none)
{
    const char *const texts[] = {"",      "us",  "10",   "10  us", "0x10s",  "1e",    "1,5s",
                                 "10-40", "1 2", "- 1s", "1s 2s",  "1.2.3s", "1e500s"};

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        cr_expect_str_eq(converted(texts[i], "s"), "none", "%s", texts[i]);
}

static void expect_why(const char *text, const char *unit, const char *expected)
{
    char number[SCENARIO_VALUE_BYTES], why[SCENARIO_UNIT_WHY_BYTES];

    cr_expect_not(scenario_value_convert(number, text, unit, why));
    cr_expect_str_eq(why, expected, "%s in %s: %s", text, unit, why);
}

Test(value_units, what_is_wrong)
{
    expect_why("10V", "us", "V is no unit of what is in us");
    expect_why("10xs", "us", "'xs' is no known unit");
    expect_why("10kus", "us", "'kus' is no known unit");
    expect_why("10M", "us", "'M' is no known unit");
    expect_why("10us", "", "it has no unit");
    expect_why("1rad", "deg", "it has no exact number of deg");
    expect_why("1rpm", "rad/s", "it has no exact number of rad/s");
    expect_why("1s", "h", "it has no exact number of h");
    expect_why("20degC", "K", "it has no exact number of K");
    expect_why("1111111111111111111111111111111111111111111111111111111111111s", "s",
               "it has too many digits");
}

/* --- names without their unit ---------------------------------------------------------------- */

static const char *stem_of(const char *name, const char *unit)
{
    static char stem[SCENARIO_STEM_BYTES];

    return scenario_stem(stem, name, unit) ? stem : "none";
}

Test(value_units, names_end_in_units)
{
    cr_expect_str_eq(stem_of("period_us", "us"), "period");
    cr_expect_str_eq(stem_of("inductance_h", "H"), "inductance");
    cr_expect_str_eq(stem_of("resistance_ohm", "Ohm"), "resistance");
    cr_expect_str_eq(stem_of("ki_per_v_s", "1/(V s)"), "ki");
    cr_expect_str_eq(stem_of("speed_rad_per_s", "rad/s"), "speed");
    cr_expect_str_eq(stem_of("overshoot_pct", "%"), "overshoot");
    cr_expect_str_eq(stem_of("missed_percent", "%"), "missed");
    cr_expect_str_eq(stem_of("gain", ""), "none");
    cr_expect_str_eq(stem_of("us", "us"), "none");
    cr_expect_str_eq(stem_of("_us", "us"), "none");
    cr_expect_str_eq(stem_of("bus", "us"), "none");
}

Test(value_units, keys_may_be_without_their_unit)
{
    static const char text[] =
        "name: x\nduration: 20 ms\nmode: virtual\nnodes: {n: {count: 2, period: [10us, 20us]}}\n"
        "components:\n  c: {model: buck, node: n, parameters: {inductance: [47uH, 1mH], duty: 0.5, "
        "load: 2 Ohm}, initial: {voltage: 3V}, overrides: [{id: 1, parameters: {capacitance: "
        "1mF}}]}\n";
    struct hil_scenario *s = load(text, SETS("network.latency=3us"));
    cr_expect_eq(s->duration_ns, 20000000);
    cr_expect_eq(s->system->nodes[1].timing.period_ns, 20000);
    cr_expect_not_null(strstr(s->resolved, "inductance_h: [4.7e-5, 0.001]"), "%s", s->resolved);
    cr_expect_not_null(strstr(s->resolved, "period_us: [10, 20]"));
    cr_expect_not_null(strstr(s->resolved, "latency_us: 3\n"));
    cr_expect_not_null(strstr(s->resolved, "load_ohm: 2\n"));
    cr_expect_null(strstr(s->resolved, "period:"));
    hil_scenario_free(s);
}

/* --set comes before the file, whichever name each has. */
Test(value_units, sets_have_precedence_under_both_names)
{
    struct hil_scenario *s = load(SMALL, SETS("nodes.converter.period=20us"));
    cr_expect_eq(s->system->nodes[1].timing.period_ns, 20000);
    hil_scenario_free(s);
    s = load(SMALL "network: {latency: 3us}\n", SETS("network.latency_us=4"));
    cr_expect_not_null(strstr(s->resolved, "latency_us: 4\n"));
    hil_scenario_free(s);
}

Test(value_units, names_without_their_unit_need_a_value_with_one)
{
    cr_expect_str_eq(refusal(SMALL "network: {jitter: 3}\n", NULL),
                     "FILE:13:11: unknown key 'jitter' in network (did you mean 'jitter_us'?); "
                     "allowed: latency_us, jitter_us, seed, links\n");
    cr_expect_str_eq(refusal(SMALL "network: {jitter: 3V}\n", NULL),
                     "FILE:13:11: unknown key 'jitter' in network (did you mean 'jitter_us'?); "
                     "allowed: latency_us, jitter_us, seed, links\n");
    cr_expect_str_eq(refusal(SMALL "network: {jitter_us: 3, jitter: 3us}\n", NULL),
                     "FILE:13:25: key 'jitter_us' for the second time in network; allowed: once\n");
}

/* --- in a scenario ------------------------------------------------------------------------- */

Test(value_units, ten_microseconds_are_ten_thousand_ns)
{
    struct hil_scenario *s =
        load(SMALL, SETS("nodes.converter.period_us=10us", "duration_s=\"0.3 ms\""));

    cr_expect_eq(s->system->nodes[1].timing.period_ns, 10000);
    cr_expect_eq(s->duration_ns, 300000);
    cr_expect_not_null(strstr(s->resolved, "duration_s: 0.0003\n"), "%s", s->resolved);
    cr_expect_not_null(strstr(s->resolved, "period_us: 10\n"));
    hil_scenario_free(s);
}

/* The scenario that is printed, and its hash, are those of the numbers without units. */
Test(value_units, one_form_is_printed)
{
    struct hil_scenario *with = load(CONVERTERS("    parameters: {inductance_h: [47uH, 1 mH, ~], "
                                                "load_ohm: 2400 mOhm}\n"
                                                "    overrides: [{id: 2, parameters: "
                                                "{capacitance_f: 470uF}}]\n"
                                                "    initial: {voltage_v: 0.5kV}\n"),
                                     NULL);
    struct hil_scenario *without = load(CONVERTERS("    parameters: {inductance_h: [4.7e-5, 0.001, "
                                                   "~], load_ohm: 2.4}\n"
                                                   "    overrides: [{id: 2, parameters: "
                                                   "{capacitance_f: 0.00047}}]\n"
                                                   "    initial: {voltage_v: 500}\n"),
                                        NULL);

    cr_expect_str_eq(with->resolved, without->resolved);
    cr_expect_eq(with->listing.hash, without->listing.hash);
    hil_scenario_free(with);
    hil_scenario_free(without);
}

/* A formula's parameters have the units that its settings give them. */
Test(value_units, of_a_model_that_is_not_built_in)
{
    struct hil_scenario *s = load(
        "name: f\nduration_s: 1\nmode: virtual\nnodes: {n: {period_us: 10}}\n"
        "components:\n  f: {model: expr, node: n, settings: {takes: {u: V}, parameters: {r: Ohm}, "
        "gives: {i: A}, formulas: {i: u / r}}, parameters: {r: 20mOhm, u: 2kV}}\n",
        NULL);

    cr_expect_eq(s->system->components[0].parameters[0], 0.02);
    hil_scenario_free(s);
}

Test(value_units, mistakes_have_their_place)
{
    cr_expect_str_eq(refusal(SMALL "network: {jitter_us: 20V}\n", NULL),
                     "FILE:13:22: network.jitter_us is '20V' (V is no unit of what is in us); "
                     "allowed: a whole number of ns, 0 to 1e9 us\n");
    cr_expect_str_eq(refusal(SMALL "network: {jitter_us: 0.5ns}\n", NULL),
                     "FILE:13:22: network.jitter_us is '0.5ns'; allowed: a whole number of ns, 0 "
                     "to 1e9 us\n");
    cr_expect_str_eq(refusal(CONVERTERS("    parameters:\n      inductance_h: 47uF\n"), NULL),
                     "FILE:10:21: components.converter.parameters.inductance_h is '47uF' (uF is no "
                     "unit of what is in H); allowed: a number, 1e-9 to 1 H\n");
    cr_expect_str_eq(refusal(CONVERTERS("    parameters:\n      inductance_h: 47kH\n"), NULL),
                     "FILE:10:21: components.converter.parameters.inductance_h is '47kH'; allowed: "
                     "a number, 1e-9 to 1 H\n");
    cr_expect_str_eq(refusal(SMALL "network: {seed: 3us}\n", NULL),
                     "FILE:13:17: network.seed is '3us' (it has no unit); allowed: a whole number, "
                     "0 to 4294967295\n");
}
