/* Tests the block `bode` of a scenario, and the messages for mistakes there. */
#include <math.h>

#include "harness/scenario/loop_response.h"
#include "harness/scenario/system.h"
#include "test_scenario.h"

/* SMALL has 12 lines, so `bode:` is line 13, and its first key begins at column 8. The controller
 * has 50000 steps a second. */
#define BODE(keys) SMALL "bode: {" keys "}\n"

/* The measurement needs enough steps of the input's node; runs with other periods do not. */
Test(scenario_bode, a_frequency_may_be_too_high_for_a_run)
{
    struct hil_scenario *s = load(BODE("inject: 'control[1].voltage_v', to_hz: 1e6"), NULL);

    cr_expect_eq(s->system->bode->to_hz, 1e6);
    hil_scenario_free(s);
}

Test(scenario_bode, a_scenario_may_have_none)
{
    struct hil_scenario *s = load(SMALL, NULL);

    cr_expect_null(s->system->bode);
    hil_scenario_free(s);
}

Test(scenario_bode, what_is_not_given_stays_open)
{
    struct hil_scenario *s = load(BODE("inject: 'control[1].voltage_v'"), NULL);
    const struct hil_loop_response *r = s->system->bode;

    cr_expect_str_eq(r->inject, "control[1].voltage_v");
    cr_expect_null(r->response);
    cr_expect(r->from_hz < 0 && r->to_hz < 0 && r->amplitude < 0 && r->start_s < 0);
    cr_expect_eq(r->points, 30);
    cr_expect(isnan(r->phase_margin_deg) && isnan(r->gain_margin_db));
    cr_expect(strstr(s->resolved, "bode:\n  inject: \"control[1].voltage_v\"\n  points: 30\n"),
              "%s", s->resolved);
    hil_scenario_free(s);
}

Test(scenario_bode, all_keys)
{
    struct hil_scenario *s = load(
        BODE("inject: 'converter[2].duty', response: 'control[2].duty', from: 2kHz, to_hz: "
             "5e3, points: 7, multisine: true, amplitude: 0.01, start: 50ms, phase_margin_deg: 45, "
             "gain_margin: 6dB"),
        NULL);
    const struct hil_loop_response *r = s->system->bode;

    cr_expect_str_eq(r->response, "control[2].duty");
    cr_expect_eq(r->from_hz, 2000);
    cr_expect_eq(r->to_hz, 5000);
    cr_expect_eq(r->points, 7);
    cr_expect(r->multisine);
    cr_expect_eq(r->amplitude, 0.01);
    cr_expect_eq(r->start_s, 0.05);
    cr_expect_eq(r->phase_margin_deg, 45);
    cr_expect_eq(r->gain_margin_db, 6);
    hil_scenario_free(s);
}

/* What is measured is no part of what the nodes of a run agree on. */
Test(scenario_bode, machines_may_differ)
{
    struct hil_scenario *with = load(BODE("inject: 'control[1].voltage_v'"), NULL);
    struct hil_scenario *without = load(SMALL, NULL);

    cr_expect_eq(with->listing.hash, without->listing.hash);
    hil_scenario_free(with);
    hil_scenario_free(without);
}

Test(scenario_bode, mistakes)
{
    static const struct {
        const char *text, *said;
    } cases[] = {
        {BODE("points: 3"), "FILE:13:7: bode.inject is missing"},
        {BODE("inject: 'control[1].voltage_v', margin_deg: 3"),
         "FILE:13:40: unknown key 'margin_deg' in bode"},
        {BODE("inject: 'control[3].voltage_v'"),
         "FILE:13:16: bode.inject is 'control[3].voltage_v': there is no such signal (did you mean "
         "'control[0].voltage_v'?)"},
        {BODE("inject: control.voltage_v"), "FILE:13:16: bode.inject is 'control.voltage_v': there "
                                            "is no such signal"},
        {BODE("inject: 'control[1].reference_v'"),
         "FILE:13:16: bode.inject is 'control[1].reference_v': no output feeds it, so nothing "
         "comes "
         "back to it; required: a response"},
        {BODE("inject: 'converter[1].inductor_a'"),
         "FILE:13:16: bode.inject is 'converter[1].inductor_a': "},
        {BODE("inject: 'control[1].voltage_v', response: 'control[1].voltage_v'"),
         "FILE:13:50: bode.response is 'control[1].voltage_v': there is no such output"},
        {BODE("inject: 'control[1].voltage_v', from_hz: 300, to_hz: 200"),
         "FILE:13:49: bode.from_hz is 300; allowed: up to the last frequency, 200 Hz"},
        {BODE("inject: 'control[1].voltage_v', amplitude: 0"),
         "FILE:13:51: bode.amplitude is '0'; allowed: a number, 1e-12 to 1e12"},
        {BODE("inject: 'control[1].voltage_v', phase_margin_deg: 200"),
         "FILE:13:58: bode.phase_margin_deg is '200'; allowed: a number, 0 to 180 deg"},
        {BODE("inject: 'control[1].voltage_v', response: 'control[0].duty', phase_margin_deg: 45"),
         "FILE:13:87: bode.phase_margin_deg is given, but the response is not what feeds "
         "bode.inject; allowed: with the response of a loop"},
        {BODE("inject: 'control[1].reference_v', response: 'control[1].duty', gain_margin_db: 6"),
         "FILE:13:87: bode.gain_margin_db is given, but "},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *refused = refusal(cases[i].text, NULL);
        cr_expect(strncmp(refused, cases[i].said, strlen(cases[i].said)) == 0,
                  "\n%s\nin place of\n%s", refused, cases[i].said);
    }
}
