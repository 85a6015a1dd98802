/* Tests the text in figures for the scenario's keys: each name without its unit, each value with
 * it. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "harness/figures/key_words.h"
#include "harness/scenario/scenario.h"
#include "harness/scenario/yaml/key_units.h"
#include "harness/scenario/yaml/scenario_schema.h"

static char words[HIL_KEY_WORDS_BYTES], value[HIL_KEY_WORDS_BYTES];

/* The last words of the unit, which must not remain in the name. */
static bool holds_unit(const char *text)
{
    static const char *const endings[] = {" us",  " s",  " v",   " a",       " h", " f",
                                          " ohm", " hz", " kib", " percent", NULL};

    for (const char *const *end = endings; *end; end++)
        if (strlen(text) > strlen(*end) && strcmp(text + strlen(text) - strlen(*end), *end) == 0)
            return true;
    return strstr(text, " per ") != NULL;
}

static void expect_key(const char *path, const char *unit)
{
    const char *found = hil_scenario_unit(path);

    cr_expect_str_eq(found, unit, "%s is in %s, not in %s", path, unit, found);
    hil_key_words(path, unit, words);
    hil_value_words("5", unit, value);
    cr_expect(strlen(words) > 0 && !holds_unit(words), "%s: %s", path, words);
    cr_expect_eq(strcmp(value, "5") == 0, *unit == '\0', "%s: %s", path, value);
    hil_key_short_words(path, unit, words);
    cr_expect(strlen(words) > 0 && !holds_unit(words), "%s, in short: %s", path, words);
}

static void expect_quantities(const char *block, const struct hil_quantities *table)
{
    char path[200];

    for (unsigned i = 0; i < table->count; i++) {
        snprintf(path, sizeof(path), "%s.%s", block, table->at[i].name);
        expect_key(path, table->at[i].unit);
    }
}

Test(key_words, every_key_of_a_scenario)
{
    for (unsigned i = 0; i < scenario_key_count; i++)
        expect_key(scenario_keys[i].path, scenario_keys[i].unit);
    for (unsigned i = 0; hil_models[i]; i++) {
        expect_quantities("components.control.parameters", &hil_models[i]->parameters);
        expect_quantities("components.converter.parameters", &hil_models[i]->parameters);
        expect_quantities("components.converter.parameters", &hil_models[i]->inputs);
        expect_quantities("components.converter.initial", &hil_models[i]->states);
        expect_quantities("components.converter.overrides.3.parameters",
                          &hil_models[i]->parameters);
    }
}

static void expect_words(const char *path, const char *full, const char *in_short, const char *five)
{
    const char *unit = hil_scenario_unit(path);

    hil_key_words(path, unit, words);
    cr_expect_str_eq(words, full);
    hil_key_short_words(path, unit, words);
    cr_expect_str_eq(words, in_short);
    hil_value_words("5", unit, value);
    cr_expect_str_eq(value, five);
}

Test(key_words, names_and_units_apart)
{
    expect_words("components.control.parameters.ki_per_v_s", "control ki", "ki", "5 /(V s)");
    expect_words("components.control.parameters.kp_per_v", "control kp", "kp", "5 /V");
    expect_words("components.control.parameters.kd_s_per_v", "control kd", "kd", "5 s/V");
    expect_words("components.control.parameters.pole1_rad_per_s", "control pole1", "pole1",
                 "5 rad/s");
    expect_words("nodes.controller.period_us", "controller period", "period", "5 µs");
    expect_words("components.converter.parameters.load_ohm", "converter load", "load", "5 Ω");
    expect_words("components.converter.tolerance.percent", "converter tolerance", "tolerance",
                 "5 %");
    expect_words("sources.load.steps.changes.0.time_s", "sources load steps changes 0 time", "time",
                 "5 s");
    expect_words("components.motor.parameters.resistance_ohm", "motor resistance", "resistance",
                 "5 Ω");
    expect_words("components.parameters.node", "parameters node", "node", "5");
    expect_words("nodes.drive.period_us", "drive period", "period", "5 µs");
}

/* The values of this key are ratios, though its name is that of a quantity with a unit. */
Test(key_words, a_multiplier_has_no_unit)
{
    cr_expect_str_eq(hil_scenario_unit("components.converter.tolerance.multipliers.load_ohm"), "");
}

Test(key_words, no_key)
{
    cr_expect_str_eq(hil_scenario_unit("components.converter.parameters.nothing_v"), "");
    cr_expect_str_eq(hil_scenario_unit(""), "");
    cr_expect_str_eq(hil_scenario_unit("."), "");
}

Test(key_words, lines_break_at_commas)
{
    char text[] = "T = 40 µs, ki 150 /(V s), inductor resistance 0.025 Ω, kp 1 /V";

    hil_break_lines(text, 26);
    cr_expect_str_eq(text, "T = 40 µs, ki 150 /(V s),\ninductor resistance 0.025 Ω,\nkp 1 /V");
    cr_expect_eq(hil_line_count(text), 3);
    cr_expect_eq(hil_longest_line(text), 28);
    cr_expect_eq(hil_longest_line(""), 0);
}
