/*
 * Tests every class of mistake, with the line and column at which it is reported.
 */
#include "../sets.h"
#include "harness/scenario/load/load.h"
#include "test_scenario.h"

#define ONLY(text, expected)           cr_expect_str_eq(refusal(text, NULL), expected "\n")
#define ONLY_WITH(text, set, expected) cr_expect_str_eq(refusal(text, SETS(set)), expected "\n")
#define ONLY_SET(set, expected)        ONLY_WITH(SMALL, set, expected)

/* --- keys ------------------------------------------------------------------------------- */

Test(scenario_mistakes, unknown_key)
{
    ONLY(SMALL "trace:\n  colour: blue\n",
         "FILE:14:3: unknown key 'colour' in trace; allowed: enable, keep, every, buffer_kib, "
         "kernel, kernel_buffer_kib, events");
}

Test(scenario_mistakes, unknown_key_near_a_known_one)
{
    ONLY_SET("record.0.decimaton=2",
             "--set record.0.decimaton=2: unknown key 'decimaton' in record.0 (did you mean "
             "'decimation'?); allowed: signals, node, decimation");
}

/* A number with another unit, a decimal comma, and a range, each in a place where a number belongs.
 */
Test(scenario_mistakes, what_is_nearly_a_number)
{
    ONLY_SET("network.jitter_us=2,5",
             "--set network.jitter_us=2,5: network.jitter_us is '2,5' (did you mean '2.5'?); "
             "allowed: a whole number of ns, 0 to 1e9 us");
    ONLY_SET(
        "network.jitter_us=10-40",
        "--set network.jitter_us=10-40: network.jitter_us is '10-40' (for a range: hiloco sweep "
        "--set KEY=10:40:STEP); allowed: a whole number of ns, 0 to 1e9 us");
    ONLY_SET("network.jitter_us=20V",
             "--set network.jitter_us=20V: network.jitter_us is '20V' (V is no unit of what is in "
             "us); allowed: a whole number of ns, 0 to 1e9 us");
}

Test(scenario_mistakes, unknown_key_that_lacks_its_unit)
{
    ONLY(SMALL "network: {jitter: 1}\n",
         "FILE:13:11: unknown key 'jitter' in network (did you mean 'jitter_us'?); "
         "allowed: latency_us, jitter_us, seed, links");
}

Test(scenario_mistakes, unknown_key_at_the_top)
{
    const char *message = refusal("nam: x\n" SMALL, NULL);
    const char *expected = "FILE:1:1: unknown key 'nam' in the scenario (did you mean 'name'?)\n";
    cr_expect_eq(strncmp(message, expected, strlen(expected)), 0, "%s", message);
}

Test(scenario_mistakes, missing_keys)
{
    ONLY(LINE_2 LINE_3 LINE_4_5 LINE_6_8 END,
         "FILE:1:1: name is missing; required: 1 to 64 letters, digits, '.', '_' and '-', the "
         "first no '.' or '-'");
    ONLY(LINE_1 LINE_3 LINE_4_5 LINE_6_8 END,
         "FILE:1:1: duration_s is missing; required: a whole number of ns, 1e-9 to 1e6 s");
    ONLY(LINE_1 LINE_2 LINE_3 LINE_4_5 "  converter:\n    node: converter\n" END,
         "FILE:7:5: components.converter.model is missing; required: a text, or a list of them");
    ONLY(LINE_1 LINE_2 LINE_4_5 LINE_6_8 END,
         "FILE:1:1: nodes is missing; required: a mapping, with a name of your choice for each");
    ONLY_SET(
        "sources.reference={to: control.reference_v, steps: {initial: 1, changes: [{value: 3}]}}",
        "--set sources.reference={to: control.reference_v, steps: {initial: 1, changes: [{value: "
        "3}]}}: sources.reference.steps.changes.0.time_s is missing; required: a whole number of "
        "ns, 0 to 1e6 s");
}

Test(scenario_mistakes, duplicate_key)
{
    ONLY(SMALL "name: again\n",
         "FILE:13:1: key 'name' for the second time in the scenario; allowed: once");
    ONLY_SET("network={seed: 1, seed: 2}", "--set network={seed: 1, seed: 2}: key 'seed' for the "
                                           "second time in network; allowed: once");
}

Test(scenario_mistakes, key_that_is_no_scalar)
{
    ONLY("? [a, b]\n: 3\n", "FILE:1:3: a mapping or a list as a key; allowed: the name of a key");
}

/* --- types ------------------------------------------------------------------------------ */

#define BAD_TIME(value, found)                                                                     \
    ONLY(SMALL "network:\n  jitter_us: " value "\n",                                               \
         "FILE:14:14: network.jitter_us is " found "; allowed: a whole number of ns, 0 to 1e9 us")

Test(scenario_mistakes, no_number)
{
    BAD_TIME("abc", "'abc'");
    BAD_TIME("0x10", "'0x10'");
    BAD_TIME("1e", "'1e'");
    BAD_TIME("1 2", "'1 2'");
    BAD_TIME("1,5", "'1,5' (did you mean '1.5'?)");
    BAD_TIME(".", "'.'");
    BAD_TIME("10u", "'10u' ('u' is no known unit)");
    BAD_TIME("'10'", "the text \"10\"");
    BAD_TIME("~", "empty");
    BAD_TIME("[1]", "a list");
    BAD_TIME("{a: 1}", "a mapping");
}

Test(scenario_mistakes, no_finite_number)
{
    BAD_TIME(".inf", "'.inf'");
    BAD_TIME("-.inf", "'-.inf'");
    BAD_TIME(".nan", "'.nan'");
    BAD_TIME("nan", "'nan'");
    BAD_TIME("inf", "'inf'");
    BAD_TIME("1e999", "'1e999'");
}

Test(scenario_mistakes, nothing_after_the_colon)
{
    ONLY(SMALL "network:\n", "FILE:13:9: network is empty; allowed: a mapping with the keys "
                             "latency_us, jitter_us, seed, links");
}

Test(scenario_mistakes, no_whole_number)
{
#define BAD_SEED(value)                                                                            \
    ONLY(SMALL "network: {seed: " value "}\n",                                                     \
         "FILE:13:17: network.seed is '" value "'; allowed: a whole number, 0 to 4294967295")
    BAD_SEED("1.5");
    BAD_SEED("1e3");
    BAD_SEED("010"); /* eight, to C and to libcyaml */
    BAD_SEED("0x1f");
    BAD_SEED("-1");
    BAD_SEED("4294967296");
    BAD_SEED("99999999999999999999");
    BAD_SEED("true");
}

Test(scenario_mistakes, no_bool)
{
#define BAD_BOOL(value, found)                                                                     \
    ONLY(SMALL "tuning: " value "\n", "FILE:13:9: tuning is " found "; allowed: true or false")
    BAD_BOOL("yes", "'yes'");
    BAD_BOOL("1", "'1'");
    BAD_BOOL("\"true\"", "the text \"true\"");
    BAD_BOOL("True", "'True'");
}

Test(scenario_mistakes, no_list_and_no_mapping)
{
    ONLY(SMALL "placement: 3\n", "FILE:13:12: placement is '3'; allowed: a list");
    ONLY(SMALL "network: [1]\n", "FILE:13:10: network is a list; allowed: a mapping with the keys "
                                 "latency_us, jitter_us, seed, links");
    ONLY(SMALL "placement: [3]\n", "FILE:13:13: placement.0 is '3'; allowed: a mapping with the "
                                   "keys nodes, cpu, priority, scheduler, wait");
}

Test(scenario_mistakes, unknown_word)
{
    ONLY(SMALL "mode: vitual\n",
         "FILE:13:7: mode is 'vitual' (did you mean 'virtual'?); allowed: realtime, virtual");
    ONLY(SMALL "mode: 1\n", "FILE:13:7: mode is '1'; allowed: realtime, virtual");
    ONLY(SMALL "fabric: fast\n", "FILE:13:9: fabric is 'fast'; allowed: shm, verbs, tcp");
}

Test(scenario_mistakes, unknown_models)
{
    ONLY_SET("components.control.model=pdi",
             "--set components.control.model=pdi: there is no model 'pdi' (did you mean 'pid'?)");
    const char *message = refusal(LINE_1 LINE_2 LINE_3 LINE_4_5
                                  "  converter:\n    model: flyback\n    node: converter\n" END,
                                  NULL);
    cr_expect_not_null(strstr(message, "FILE:7:12: there is no model 'flyback'; allowed: buck, "),
                       "%s", message);
}

Test(scenario_mistakes, name_unfit_for_a_folder)
{
#define BAD_NAME(name, found)                                                                      \
    ONLY("name: " name "\n" LINE_2 LINE_3 LINE_4_5 LINE_6_8 END,                                   \
         "FILE:1:7: name is " found "; allowed: 1 to 64 letters, digits, '.', '_' and '-', the "   \
         "first no '.' or '-'")
    BAD_NAME("a/b", "'a/b'");
    BAD_NAME("..", "'..'");
    BAD_NAME("-x", "'-x'");
    BAD_NAME("a b", "'a b'");
    BAD_NAME("\"\"", "the text \"\"");
    BAD_NAME("~", "empty");
}

/* --- ranges ----------------------------------------------------------------------------- */

Test(scenario_mistakes, out_of_range)
{
    BAD_TIME("-1", "'-1'");
    BAD_TIME("2e9", "'2e9'");
    ONLY(LINE_1 "duration_s: 0\n" LINE_3 LINE_4_5 LINE_6_8 END,
         "FILE:2:13: duration_s is '0'; allowed: a whole number of ns, 1e-9 to 1e6 s");
    ONLY_SET(
        "nodes.controller.period_us=-20",
        "--set nodes.controller.period_us=-20: nodes.controller.period_us is '-20'; allowed: a "
        "whole number of ns, or a list of one for each, 0.001 to 1e9 us");
    ONLY_SET("nodes.converter.count=0",
             "--set nodes.converter.count=0: nodes.converter.count is '0'; "
             "allowed: a whole number, 1 to 100000");
    ONLY_SET("components.control.count=0",
             "--set components.control.count=0: components.control.count is '0'; allowed: a whole "
             "number, 1 to 100000, or the name of an array of nodes");
    ONLY_SET("components.control.count=some",
             "--set components.control.count=some: there is no array of nodes 'some'; allowed: a "
             "number, or the name of an array of nodes");
    ONLY_SET("components.control.count=controller",
             "--set components.control.count=controller: there is no array of nodes 'controller'; "
             "allowed: a number, or the name of an array of nodes");
}

Test(scenario_mistakes, no_whole_number_of_ns)
{
    BAD_TIME("10.0005", "'10.0005'");
    BAD_TIME("0.0001", "'0.0001'");
    BAD_TIME("1e-9", "'1e-9'");
    ONLY(LINE_1 "duration_s: 3600.0000000005\n" LINE_3 LINE_4_5 LINE_6_8 END,
         "FILE:2:13: duration_s is '3600.0000000005'; allowed: a whole number of ns, 1e-9 to 1e6 "
         "s");
}

Test(scenario_mistakes, quantities_of_models)
{
    ONLY_SET("components.control.parameters.kp_per_v=-1",
             "--set components.control.parameters.kp_per_v=-1: "
             "components.control.parameters.kp_per_v is '-1'; allowed: a number, 0 to 1e6 1/V");
    ONLY_SET("components.control.parameters={ki: 1}",
             "--set components.control.parameters={ki: 1}: unknown key 'ki' in "
             "components.control.parameters of a pid (did you mean 'ki_per_v_s'?)");
    ONLY(CONVERTERS("    parameters:\n      inductance_h: 0\n"),
         "FILE:10:21: components.converter.parameters.inductance_h is '0'; allowed: a number, 1e-9 "
         "to 1 H");
    ONLY(CONVERTERS("    parameters: {voltage: 0.5}\n"),
         "FILE:9:18: unknown key 'voltage' in components.converter.parameters of a buck; allowed: "
         "inductance_h, capacitance_f, inductor_resistance_ohm, switch_resistance_ohm, esr_ohm, "
         "diode_drop_v, source_resistance_ohm, saturation_current_a, saturated_inductance_h, duty, "
         "input_voltage_v, load_ohm, enable");
    ONLY(CONVERTERS("    initial: {voltage: 1}\n"),
         "FILE:9:15: unknown key 'voltage' in components.converter.initial of a buck (did you mean "
         "'voltage_v'?); allowed: current_a, voltage_v");
}

Test(scenario_mistakes, cpu_that_does_not_exist)
{
    const char *message = refusal(SMALL "placement:\n  - {cpu: 4096}\n", NULL);
    const char *expected = "FILE:14:11: placement.0.cpu is '4096'; allowed: -1 (any) or a cpu "
                           "that is allowed here: 0";
    cr_expect_eq(strncmp(message, expected, strlen(expected)), 0, "%s", message);
    message = refusal(SMALL, SETS("nodes.controller.cpu=-2"));
    cr_expect_not_null(strstr(message, "nodes.controller.cpu is '-2'; allowed: -1 (any) or "));
}

/* --- converters ------------------------------------------------------------------------- */

Test(scenario_mistakes, multipliers_for_another_count)
{
    ONLY(CONVERTERS("    tolerance:\n      multipliers:\n        esr_ohm: [1, 2]\n"),
         "FILE:11:18: components.converter.tolerance.multipliers.esr_ohm is a list of 2, but there "
         "are 3 components; allowed: one for all, or a list of 3");
}

Test(scenario_mistakes, multiplier_that_is_none)
{
    ONLY(CONVERTERS("    tolerance: {multipliers: {esr_ohm: [1, 0, 1]}}\n"),
         "FILE:9:44: components.converter.tolerance.multipliers.esr_ohm is '0'; allowed: a number "
         "above 0, up to 1e6");
    ONLY(CONVERTERS("    tolerance: {multipliers: {esr: [1, 1, 1]}}\n"),
         "FILE:9:31: unknown key 'esr' in components.converter.tolerance.multipliers of a buck "
         "(did you mean 'esr_ohm'?)");
}

Test(scenario_mistakes, multiplier_that_leads_out_of_the_range)
{
    ONLY(CONVERTERS("    parameters: {inductance_h: 0.5}\n"
                    "    tolerance: {multipliers: {inductance_h: [1, 3, 1]}}\n"),
         "FILE:10:49: components.converter.tolerance makes 1.5 of inductance_h of converter[1]; "
         "allowed: 1e-9 to 1 H");
}

Test(scenario_mistakes, override_of_whom)
{
#define BAD_ID(id)                                                                                 \
    ONLY(CONVERTERS("    overrides:\n      - id: " id "\n"),                                       \
         "FILE:10:13: components.converter.overrides.0.id is '" id "'; allowed: a number, or a "   \
         "range as in 2-5, up to 2")
    BAD_ID("3");
    BAD_ID("1-3");
    BAD_ID("2-1");
    BAD_ID("a");
    BAD_ID("1-");
    BAD_ID("-1");
    BAD_ID("99999999999999999999");
    ONLY(CONVERTERS("    overrides:\n      - parameters: {esr_ohm: 1}\n"),
         "FILE:10:9: components.converter.overrides.0.id is missing; required: a text");
}

Test(scenario_mistakes, overrides_that_overlap)
{
    ONLY(CONVERTERS("    overrides:\n      - id: 0-1\n      - id: 1-2\n"),
         "FILE:11:13: components.converter.overrides.1.id is 1-2, but component 1 has an override "
         "already, number 0; allowed: one for each component");
}

Test(scenario_mistakes, override_names_what_its_plant_lacks)
{
    ONLY(CONVERTERS("    overrides:\n"
                    "      - {id: 0, model: switched_buck}\n"
                    "      - {id: 1, parameters: {switching_frequency_hz: 100e3}}\n"),
         "FILE:11:54: unknown key 'switching_frequency_hz' in components.converter.parameters of a "
         "buck; allowed: inductance_h, capacitance_f, inductor_resistance_ohm, "
         "switch_resistance_ohm, esr_ohm, diode_drop_v, source_resistance_ohm, "
         "saturation_current_a, "
         "saturated_inductance_h, duty, input_voltage_v, load_ohm, enable");
}

Test(scenario_mistakes, plant_that_refuses_its_parameters)
{
    ONLY_WITH(CONVERTERS("    overrides:\n      - {id: 2, model: switched_buck}\n"),
              "nodes.converter.period_us=[10, 10, 7]",
              "FILE:7:5: the model switched_buck refuses the parameters, initial states and period "
              "of converter[2] (the switching period and the component's period do not divide one "
              "another); allowed: values that make sense together");
}

/* --- two values together ---------------------------------------------------------------- */

Test(scenario_mistakes, limits_the_wrong_way_round)
{
    ONLY_SET("components.control.parameters={duty_min: 0.5, duty_max: 0.5}",
             "--set components.control.parameters={duty_min: 0.5, duty_max: 0.5}: the model pid "
             "refuses the parameters, initial states and period of control[0] (the upper limit is "
             "not above the lower one); allowed: values that make sense together");
}

Test(scenario_mistakes, changes_out_of_order)
{
    ONLY(LINE_1 LINE_2 LINE_3 LINE_4_5 LINE_6_8 LINE_9 LINE_11 LINE_12
         "sources:\n  reference:\n    to: control.reference_v\n    steps:\n      initial: 12\n"
         "      changes:\n"
         "      - {time_s: 0.02, value: 1, ramp_s: 0.01}\n"
         "      - {time_s: 0.025, value: 2}\n",
         "FILE:19:18: time_s is 0.025; allowed: in the order of time, here from 0.03 s, when the "
         "change before it ends");
}

Test(scenario_mistakes, profile_that_leads_out_of_the_range)
{
    ONLY_WITH(CONVERTERS("    tolerance: {multipliers: {input_voltage_v: [1, 1, 2]}}\n"),
              INPUT_STEPS("[{'time_s':0.02,'value':6e4}]"),
              "--set " INPUT_STEPS(
                  "[{'time_s':0.02,'value':6e4}]") ": sources.input_voltage makes 120000 of "
                                                   "input_voltage_v; allowed: 0 to 100000 V");
}

Test(scenario_mistakes, placement)
{
    ONLY(SMALL "placement:\n  - nodes: controller\n  - nodes: 'converter[0-1]'\n",
         "FILE:14:3: the node converter[2] is not given a place; allowed: each once");
    ONLY(SMALL "placement:\n  - nodes: converter\n",
         "FILE:14:3: the node controller is not given a place; allowed: each once");
    ONLY(SMALL "placement:\n  - nodes: [controller, converter]\n  - nodes: 'converter[1]'\n",
         "FILE:15:12: 'converter[1]' gives the node converter[1] a place for the second time; "
         "allowed: once");
    ONLY(SMALL "placement:\n  - nodes: [controller, converter]\n  - {cpu: 0}\n",
         "FILE:15:5: placement.1.nodes is missing; required: a text, or a list of them");
    ONLY(SMALL "placement:\n  - nodes: [controller, 'converter[0-3]']\n",
         "FILE:14:25: 'converter[0-3]' is none of the 3 nodes called converter; allowed: "
         "converter, or converter[0] to converter[2]\n"
         "FILE:14:3: the node converter[0] is not given a place; allowed: each once");
}

#define VERBS(nodes) SMALL "fabric: verbs\nverbs:\n  nodes:\n" nodes

Test(scenario_mistakes, verbs_nodes)
{
    ONLY(SMALL "fabric: verbs\n",
         "FILE:1:1: the node controller is not given an address; allowed: each once");
    ONLY(VERBS("  - {nodes: [controller, 'converter[0-1]'], address: 10.0.0.1}\n"),
         "FILE:16:3: the node converter[2] is not given an address; allowed: each once");
    ONLY(VERBS("  - {nodes: converter, address: 10.0.0.1}\n"),
         "FILE:16:3: the node controller is not given an address; allowed: each once");
    ONLY(VERBS("  - {nodes: [controller, converter], address: 10.0.0.1}\n"
               "  - {nodes: 'converter[1]', address: 10.0.0.2}\n"),
         "FILE:17:13: 'converter[1]' gives the node converter[1] an address for the second time; "
         "allowed: once");
    ONLY(VERBS("  - {nodes: [controller, converter], address: 10.0.0.1}\n"
               "  - {address: 10.0.0.2}\n"),
         "FILE:17:5: verbs.nodes.1.nodes is missing; required: a text, or a list of them");
}

Test(scenario_mistakes, verbs_addresses)
{
    ONLY(VERBS("  - {nodes: [controller, converter]}\n"),
         "FILE:16:5: verbs.nodes.0.address is missing; required: an address such as "
         "10.0.0.1 but not fe80::1, or the name of a host");
    ONLY(VERBS("  - {nodes: [controller, converter], address: 10.0.0}\n"),
         "FILE:16:47: verbs.nodes.0.address is '10.0.0'; allowed: an address such as 10.0.0.1 but "
         "not fe80::1, or the name of a host");
    ONLY(VERBS("  - {nodes: [controller, converter], address: mlx5_0}\n"),
         "FILE:16:47: verbs.nodes.0.address is 'mlx5_0'; allowed: an address such as 10.0.0.1 but "
         "not fe80::1, or the name of a host");
}

Test(scenario_mistakes, verbs_ports)
{
    ONLY(VERBS("  - {nodes: [controller, converter], address: 10.0.0.1}\n") "  port: 65533\n",
         "FILE:17:9: verbs.port is 65533, and converter[2] would have the port 65536; allowed: up "
         "to 65532");
}

Test(scenario_mistakes, verbs_flush_bytes)
{
    ONLY(SMALL "verbs: {flush_bytes: 3}\n", "FILE:13:22: verbs.flush_bytes is 3; allowed: 0 or 8");
}

Test(scenario_mistakes, tcp_nodes)
{
    ONLY(SMALL "fabric: tcp\ntcp:\n  nodes:\n    - {nodes: converter, address: 10.0.0.1}\n",
         "FILE:16:5: the node controller is not given an address; allowed: each once");
    ONLY(SMALL "fabric: tcp\ntcp: {port: 65534}\n",
         "FILE:14:13: tcp.port is 65534, and converter[2] would have the port 65537; allowed: up "
         "to 65532");
}

/* The message's own examples must work where the mistake was made. */
Test(scenario_mistakes, a_rendezvous_without_quotes)
{
    ONLY(SMALL "fabric: tcp\nrendezvous: [fd00::1]\n",
         "FILE:14:13: rendezvous is a list; allowed: HOST or HOST:PORT, such as 10.0.0.1, "
         "node1:18699 or \"[fd00::1]:18699\" (YAML needs the quotes), but not fe80::1");
    hil_scenario_free(load(SMALL "fabric: tcp\nrendezvous: \"[fd00::1]:18699\"\n", NULL));
}

Test(scenario_mistakes, a_rendezvous_at_a_nodes_port)
{
    ONLY(SMALL "fabric: tcp\nrendezvous: 10.0.0.1:18700\n",
         "FILE:14:13: the rendezvous has the port 18700, and so would controller; allowed: none of "
         "18700 to 18703");
    ONLY(SMALL "fabric: tcp\nrendezvous: node1\ntcp: {port: 18696}\n",
         "FILE:14:13: the rendezvous has the port 18699, and so would converter[2]; allowed: none "
         "of 18696 to 18699");
}

Test(scenario_mistakes, tcp_wait)
{
    ONLY(SMALL "tcp: {wait: spim}\n",
         "FILE:13:13: tcp.wait is 'spim' (did you mean 'spin'?); allowed: sleep, spin");
}

Test(scenario_mistakes, verbs_completions)
{
    ONLY(SMALL "verbs: {completions: poled}\n",
         "FILE:13:22: verbs.completions is 'poled' (did you mean 'polled'?); allowed: inline, "
         "polled");
}

/* --- files ------------------------------------------------------------------------------ */

Test(scenario_mistakes, no_file)
{
    struct hil_scenario *scenario = NULL;
    char message[512];

    cr_expect_eq(hil_scenario_load(&scenario, "no/such.yaml", NULL, message, sizeof(message)),
                 -ENOENT);
    cr_expect_str_eq(message, "no/such.yaml:1:1: cannot be read (No such file or directory); "
                              "allowed: a scenario, a YAML file of up to 16 MiB\n");
    cr_expect_eq(hil_scenario_load(&scenario, "/tmp", NULL, message, sizeof(message)), -EINVAL);
    cr_expect_str_eq(message, "/tmp:1:1: a folder; required: a scenario, a YAML file\n");
    cr_expect_eq(hil_scenario_load(&scenario, "/dev/zero", NULL, message, sizeof(message)), -EFBIG);
    cr_expect_null(scenario);
}

Test(scenario_mistakes, empty_file)
{
    const char *empty = "FILE:1:1: the scenario is empty; allowed: a mapping with the keys name, "
                        "duration_s, mode, fabric, rendezvous, on_lost, hang_limit_s, stop_ramp_s, "
                        "tuning, on_record_error, verbs, tcp, "
                        "network, nodes, components, connections, sources, record, measures, "
                        "faults, limits, bode, validity, trace, placement\n";
    cr_expect_str_eq(refusal("", NULL), empty);
    cr_expect_str_eq(refusal("# nothing\n", NULL), empty);
}

Test(scenario_mistakes, tab)
{
    ONLY(LINE_1 LINE_2 "nodes:\n\ta: {period_us: 3}\n", "FILE:4:1: a tab; allowed: spaces");
}

Test(scenario_mistakes, not_yaml)
{
    ONLY(LINE_1 "duration_s: [1, 2\nx: 3\n",
         "FILE:3:2: not YAML: did not find expected ',' or ']' while parsing a flow sequence; "
         "allowed: keys and values in YAML 1.1");
    ONLY(LINE_1 "a: *nowhere\n", "FILE:2:4: not YAML: found undefined alias; allowed: keys and "
                                 "values in YAML 1.1");
    ONLY(LINE_1 "a: \xff\n", "FILE:2:4: not YAML: invalid leading UTF-8 octet; allowed: keys and "
                             "values in YAML 1.1");
    ONLY(LINE_1 "\x01\n", "FILE:2:1: not YAML: control characters are not allowed; allowed: keys "
                          "and values in YAML 1.1");
}

Test(scenario_mistakes, two_documents)
{
    ONLY(SMALL "---\n" SMALL, "FILE:14:1: a second document; allowed: one");
}

Test(scenario_mistakes, deep_and_endless_nesting)
{
    char deep[4096] = "name: ";
    memset(deep + 6, '[', 100);
    memset(deep + 106, ']', 100);
    ONLY(deep, "FILE:1:39: nested too deeply; allowed: 32 levels");
    ONLY("name: &a [*a]\n",
         "FILE:1:11: not YAML: found undefined alias; allowed: keys and values in "
         "YAML 1.1");
    cr_expect_not_null(strstr(refusal("a: &a [x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\n"
                                      "c: &c [*b,*b,*b,*b,*b,*b,*b,*b]\n"
                                      "d: &d [*c,*c,*c,*c,*c,*c,*c,*c]\n"
                                      "e: &e [*d,*d,*d,*d,*d,*d,*d,*d]\n"
                                      "f: &f [*e,*e,*e,*e,*e,*e,*e,*e]\n"
                                      "g: &g [*f,*f,*f,*f,*f,*f,*f,*f]\n",
                                      NULL),
                              "too many values; allowed: a million"));
}

/* --- --set ------------------------------------------------------------------------------ */

Test(scenario_mistakes, set_of_no_key_or_value)
{
    ONLY_SET("mode", "--set mode: no '='; allowed: KEY=VALUE with the dotted path of a key");
    ONLY_SET("=3", "--set =3: no key before the '='; allowed: KEY=VALUE with the dotted path of a "
                   "key");
    ONLY_SET("network.seed=", "--set network.seed=: network.seed is empty; allowed: a whole "
                              "number, 0 to 4294967295");
    ONLY_SET("network.seed=[1", "--set network.seed=[1: not YAML: did not find expected ',' or "
                                "']' while parsing a flow sequence; allowed: keys and values in "
                                "YAML 1.1");
}

Test(scenario_mistakes, set_of_a_wrong_value)
{
    ONLY_SET("nodes.controller.period_us=abc",
             "--set nodes.controller.period_us=abc: nodes.controller.period_us is 'abc'; allowed: "
             "a whole number of ns, or a list of one for each, 0.001 to 1e9 us");
    ONLY_SET("components.control.parameters.duty_max=0",
             "--set components.control.parameters.duty_max=0: the model pid refuses the "
             "parameters, initial states and period of control[0] (the upper limit is not above "
             "the lower one); allowed: values that make sense together");
}

Test(scenario_mistakes, set_of_an_unknown_key)
{
    ONLY_SET("network.sed=3",
             "--set network.sed=3: unknown key 'sed' in network (did you mean 'seed'?); allowed: "
             "latency_us, jitter_us, seed, links");
    ONLY_SET("network.seed.x=3", "--set network.seed.x=3: network.seed is a mapping; allowed: a "
                                 "whole number, 0 to 4294967295");
    ONLY_SET("network..seed=3", "--set network..seed=3: unknown key '' in network; allowed: "
                                "latency_us, jitter_us, seed, links");
    ONLY_SET("a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.s.t=3",
             "--set a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.s.t=3: no key is that deep; "
             "docs/keys.md lists the keys");
}

Test(scenario_mistakes, set_of_a_wrong_index)
{
    ONLY_SET("components.converter.overrides.1.id=0",
             "--set components.converter.overrides.1.id=0: '1' is not an index of the list; "
             "allowed: 0 to 0");
    cr_expect_str_eq(refusal(CONVERTERS("    overrides: [{id: 0}]\n"),
                             SETS("components.converter.overrides.x.id=0")),
                     "--set components.converter.overrides.x.id=0: 'x' is not an index of the "
                     "list; allowed: 0 to 1\n");
}

/* --- several at once -------------------------------------------------------------------- */

Test(scenario_mistakes, a_limit_that_never_catches_up)
{
    ONLY_SET("nodes.controller.catch_up_limit=1",
             "--set nodes.controller.catch_up_limit=1: nodes.controller.catch_up_limit is 1, and "
             "it would never catch up; allowed: 0, or more than 1");
    ONLY_SET("nodes.converter.catch_up_limit=0.9",
             "--set nodes.converter.catch_up_limit=0.9: nodes.converter.catch_up_limit is 0.9, and "
             "it would never catch up; allowed: 0, or more than 1");
}

Test(scenario_mistakes, a_limit_that_busy_machines_pass)
{
    ONLY_SET("hang_limit_s=0.05",
             "--set hang_limit_s=0.05: hang_limit_s is 0.05; allowed: 0, or at least 0.1");
}

Test(scenario_mistakes, all_are_reported)
{
    ONLY("name: .x\n"
         "duration_s: soon\n"
         "mode: virtual\n"
         "nodes: {a: {period_us: 0, colour: red}}\n"
         "components: {g: {model: gain, node: a, inputs: {input: 1}}}\n",
         "FILE:1:7: name is '.x'; allowed: 1 to 64 letters, digits, '.', '_' and '-', the first no "
         "'.' or '-'\n"
         "FILE:2:13: duration_s is 'soon'; allowed: a whole number of ns, 1e-9 to 1e6 s\n"
         "FILE:4:24: nodes.a.period_us is '0'; allowed: a whole number of ns, or a list of one for "
         "each, 0.001 to 1e9 us\n"
         "FILE:4:27: unknown key 'colour' in nodes.a; allowed: count, period_us, phase_us, "
         "stagger_us, realtime_phase_us, cpu, shards, shard_cpus, priority, scheduler, wait, "
         "overrun, catch_up_limit, resync_after_us, input_age_limit_us, on_stale_input, "
         "bad_inputs_limit");
}

Test(scenario_mistakes, a_message_stays_on_its_line)
{
    ONLY_SET("mode=\"a\\nb\"",
             "--set mode=\"a\\nb\": mode is the text \"a b\"; allowed: realtime, virtual");
}

Test(scenario_mistakes, a_short_buffer_cuts_the_message)
{
    struct hil_scenario *scenario = NULL;
    char message[24];

    cr_expect_lt(hil_scenario_load(&scenario, "no/such.yaml", NULL, message, sizeof(message)), 0);
    cr_expect_str_eq(message, "no/such.yaml:1:1: canno");
    cr_expect_lt(hil_scenario_load(&scenario, "no/such.yaml", NULL, message, 1), 0);
    cr_expect_str_empty(message);
    cr_expect_lt(hil_scenario_load(&scenario, "no/such.yaml", NULL, NULL, 0), 0);
}

/* --- shards ------------------------------------------------------------------------------- */

Test(scenario_mistakes, shards_that_are_none)
{
    ONLY_SET("nodes.controller.shards=0",
             "--set nodes.controller.shards=0: nodes.controller.shards is '0'; allowed: a whole "
             "number, 1 to 64");
    ONLY_SET("nodes.controller.shards=65",
             "--set nodes.controller.shards=65: nodes.controller.shards is '65'; allowed: a whole "
             "number, 1 to 64");
}

Test(scenario_mistakes, more_shards_than_peers)
{
    ONLY_SET(
        "nodes.controller.shards=5",
        "--set nodes.controller.shards=5: nodes.controller.shards is 5, but the node controller "
        "has links with 3 others; allowed: up to 3");
}

Test(scenario_mistakes, cpus_of_other_shards_than_there_are)
{
    cr_expect_str_eq(
        refusal(SMALL, SETS("nodes.controller.shards=2", "nodes.controller.shard_cpus=[0, 0]")),
        "--set nodes.controller.shard_cpus=[0, 0]: nodes.controller.shard_cpus is a list of 2; "
        "allowed: a list of 1, one entry for each shard after the first, or none\n");
    const char *message = refusal(SMALL, SETS("nodes.controller.shard_cpus=[4096]"));
    cr_expect_not_null(strstr(message, "controller.shard_cpus.0 is '4096'; allowed: -1 (any) or "));
}

Test(scenario_mistakes, a_node_with_shards_shares_its_executor)
{
    const char *message =
        refusal(SMALL TOGETHER, SETS("nodes.controller.shards=2", "mode=realtime"));
    cr_expect_not_null(strstr(message, "the node controller has 2 shards, but is placed with other "
                                       "nodes; allowed: an entry of its own"),
                       "%s", message);
}
