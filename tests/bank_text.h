/*
 * For tests: the lines of a scenario in which a controller regulates some buck converters, from
 * `nodes:` on.
 */
#ifndef TESTS_BANK_TEXT_H
#define TESTS_BANK_TEXT_H

#define BANK_NODES(count)                                                                          \
    "nodes: {controller: {period_us: 20}, converter: {count: " count ", period_us: 10}}\n"
#define BANK_CONTROL                                                                               \
    "components:\n"                                                                                \
    "  control: {model: pid, node: controller, count: converter, computation_delay: true}\n"
#define BANK_COMPONENTS BANK_CONTROL "  converter: {model: buck, node: converter}\n"
#define BANK_CONNECTIONS                                                                           \
    "connections: [{from: converter.voltage_v, to: control.voltage_v}, "                           \
    "{from: control.duty, to: converter.duty}]\n"
#define BANK_REFERENCE "reference: {to: control.reference_v, constant: 12}"
#define BANK_RECORD    "{signals: [converter.voltage_v, control.duty], node: controller}"
#define BANK_MEASURES                                                                              \
    "measures: {output_v: {sum: converter.voltage_v, reference: control.reference_v}, "            \
    "voltage_v: {each: converter.voltage_v, reference: control.reference_v}}\n"

/* With other sources than the reference, each after a comma. */
#define BANK_WITH_SOURCES(count, more)                                                             \
    BANK_NODES(count)                                                                              \
    BANK_COMPONENTS BANK_CONNECTIONS "sources: {" BANK_REFERENCE more "}\nrecord: [" BANK_RECORD   \
                                     "]\n" BANK_MEASURES
#define BANK(count) BANK_WITH_SOURCES(count, "")

/* A load that changes once. */
#define BANK_LOAD(time_s, load_ohm)                                                                \
    ", load: {to: converter.load_ohm, steps: {initial: 2.4, changes: [{time_s: " time_s            \
    ", value: " load_ohm "}]}}"

#endif
