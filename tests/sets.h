/*
 * For tests: values of --set that are long, for the scenarios of a controller and converters in
 * configs/. None has a space, so that each can be a word of a command line too.
 */
#ifndef TESTS_SETS_H
#define TESTS_SETS_H

/* The converters record themselves, one of so many steps. */
#define RECORD_CONVERTERS(decimation)                                                              \
    "record.1={'signals':[converter.voltage_v,converter.current_a,converter.duty],"                \
    "'node':converter,'decimation':" decimation "}"

/* Latencies of the network in us: to the controller, and from it. */
#define UP_US(us)   "network.links.0={'from':converter,'to':controller,'latency_us':" us "}"
#define DOWN_US(us) "network.links.0={'from':controller,'to':converter,'latency_us':" us "}"
#define UP_AND_DOWN_US(up, down)                                                                   \
    "network.links=[{'from':converter,'to':controller,'latency_us':" up                            \
    "},{'from':controller,'to':converter,'latency_us':" down "}]"

/* A safe duty cycle with which the gates stay driven: both are needed. */
#define SAFE_CONTROL(duty)   "components.control.safe={'duty':" duty ",'enable':1}"
#define SAFE_CONVERTER(duty) "components.converter.safe={'duty':" duty ",'enable':1}"

/* A safe law turns the gates off. */
#define GATES "connections.2={'from':control.enable,'to':converter.enable}"
/* The current, for a law that takes it. */
#define CURRENT "connections.2={'from':converter.current_a,'to':control.current_a}"

/* Parameters of the law, beside its limits. */
#define LIMITS_ONLY "components.control.parameters={'duty_min':0.02,'duty_max':0.5}"
#define GAINS(list) "components.control.parameters={'duty_min':0.02,'duty_max':0.5," list "}"

/* Values that change, in a list such as "[{'time_s':0.1,'value':10}]". */
#define REFERENCE_STEPS(changes)                                                                   \
    "sources.reference={'to':control.reference_v,'steps':{'initial':12,'changes':" changes "}}"
#define LOAD_STEPS(changes)                                                                        \
    "sources.load={'to':converter.load_ohm,'steps':{'initial':2.4,'changes':" changes "}}"
#define INPUT_STEPS(changes)                                                                       \
    "sources.input_voltage={'to':converter.input_voltage_v,'steps':{'initial':48,'changes'"        \
    ":" changes "}}"

/* Instead of the constants in the scenario. */
#define NO_LOAD  "components.converter.parameters.load_ohm=~"
#define NO_INPUT "components.converter.parameters.input_voltage_v=~"

#endif
