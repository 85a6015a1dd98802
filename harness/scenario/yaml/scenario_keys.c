/*
 * Every key of a scenario but those of the models: unit, range, default, explanation.
 * The types are in scenario_schema.c; docs/scenario.md is held against both by a test.
 */
#include <math.h>
#include <string.h>

#include "../form/form_schema.h"
#include "scenario_check.h"

#define NO_RANGE        0, 0, SCENARIO_RANGE, false
#define TIME_US(min)    min, 1e9, SCENARIO_WHOLE_NS, false
#define TIMES_US(min)   min, 1e9, SCENARIO_WHOLE_NS, true
#define TIME_S(min)     min, 1e6, SCENARIO_WHOLE_NS, false
#define CPU             -1, 0, SCENARIO_CPU, false
#define RANGE(min, max) min, max, SCENARIO_RANGE, false
#define NUMBER          -HUGE_VAL, HUGE_VAL, SCENARIO_RANGE, false
#define NUMBERS         -HUGE_VAL, HUGE_VAL, SCENARIO_RANGE, true
#define TEXT            0, 0, SCENARIO_TEXT, false
#define TEXTS           0, 0, SCENARIO_TEXT, true
#define NUMBER_MAX      4294967295.0 /* of a seed */

const struct scenario_key scenario_keys[] = {
    {"name", "", NULL, 0, 0, SCENARIO_NAME, false,
     "Name of the scenario, used for the folder of results"},
    {"duration_s", "s", NULL, TIME_S(1e-9), "How long it runs"},
    {"mode", "", "realtime", NO_RANGE,
     "Against the clock in separate processes, or in virtual time in one"},
    {"fabric", "", "shm", NO_RANGE,
     "What carries the data in real time; virtual time simulates it"},
    {"rendezvous", "", NULL, 0, 0, SCENARIO_MEETING, false,
     "Where the first node is, for verbs and tcp: its process tells the others all addresses"},
    {"on_lost", "", "end", NO_RANGE,
     "When a process of converters dies, in real time: end the run, or go on and restart it"},

    {"hang_limit_s", "s", "10", TIME_S(0),
     "A process that stands still for longer is killed, and on_lost says what then; 0: never"},
    {"stop_ramp_s", "s", "0", 0, 2, SCENARIO_WHOLE_NS, false,
     "At a clean stop: how long components go to their safe values before the nodes stop"},
    {"tuning", "", "false", NO_RANGE,
     "Tunable parameters and sources may be changed while it runs, as by hiloco set"},

    {"verbs", "", "{}", NO_RANGE, "The fabric verbs: how the nodes reach each other"},
    {"verbs.nodes", "", "[]", NO_RANGE,
     "Who is where; with this fabric it says so of every node, once"},
    {"verbs.nodes[].controller", "", "false", NO_RANGE, "The controller is there"},
    {"verbs.nodes[].converters", "", NULL, 0, 0, SCENARIO_IDS, false,
     "These converters are there: an id (3) or a range of them (0-9)"},
    {"verbs.nodes[].address", "", NULL, 0, 0, SCENARIO_ADDRESS, false,
     "Address of the RDMA device's network interface; nodes on one machine may share it"},
    {"verbs.port", "", "18515", RANGE(1, 65535),
     "The controller listens on this port, converter i on this + 1 + i"},
    {"verbs.completions", "", "inline", NO_RANGE,
     "Who looks for completions: each loop itself, or a thread for all of them (polled)"},
    {"verbs.send_depth", "", "128", RANGE(1, 16384),
     "Operations in flight between two nodes; a further one waits"},
    {"verbs.timeout_exponent", "", "16", RANGE(1, 31),
     "A device sends again after 4.096 us * 2^this without an acknowledgement; 16: 268 ms"},
    {"verbs.retry_count", "", "7", RANGE(1, 7), "How often it sends again before the peer is lost"},
    {"verbs.traffic_class", "", "0", RANGE(0, 255),
     "Traffic class of RoCE's packets, DSCP and ECN together; 0: what the system says"},
    {"verbs.flush_bytes", "", "8", RANGE(0, 8),
     "Size of the read that makes a fence: 8, or 0 for devices that place writes before they "
     "acknowledge them"},

    {"tcp", "", "{}", NO_RANGE, "The fabric tcp: how the nodes reach each other"},
    {"tcp.nodes", "", "[]", NO_RANGE,
     "Who is where: of every node, once; without it all are on this machine, at 127.0.0.1"},
    {"tcp.nodes[].controller", "", "false", NO_RANGE, "The controller is there"},
    {"tcp.nodes[].converters", "", NULL, 0, 0, SCENARIO_IDS, false,
     "These converters are there: an id (3) or a range of them (0-9)"},
    {"tcp.nodes[].address", "", NULL, 0, 0, SCENARIO_ADDRESS, false,
     "Address of the machine, IPv4 or IPv6; nodes on one machine may share it"},
    {"tcp.port", "", "18700", RANGE(1, 65535),
     "The controller listens on this port, converter i on this + 1 + i"},
    {"tcp.timeout_ms", "ms", "2000", RANGE(10, 1000000),
     "A peer of which nothing was heard for so long is lost"},
    {"tcp.cpu", "", "-1", CPU,
     "Where each process's service thread is pinned, which places what peers write; -1: anywhere"},
    {"tcp.wait", "", "sleep", NO_RANGE,
     "What that thread does without work: sleep, or spin, which takes its whole core"},

    {"network", "", "{}", NO_RANGE, "The network that virtual time simulates"},
    {"network.latency_up_us", "us", "0", TIME_US(0), "One-way latency, converter to controller"},
    {"network.latency_down_us", "us", "0", TIME_US(0), "One-way latency, controller to converter"},
    {"network.jitter_us", "us", "0", TIME_US(0),
     "Added to each latency, uniform between 0 and this"},
    {"network.seed", "", "1", RANGE(0, NUMBER_MAX), "Seed of the jitter"},

    {"controller", "", NULL, NO_RANGE, "The controller node"},
    {"controller.law", "", NULL, NO_RANGE, "Control law, one instance for each converter"},
    {"controller.period_us", "us", NULL, TIME_US(0.001), "Time between two steps"},
    {"controller.phase_us", "us", "0", TIME_US(0), "Time of the first step"},
    {"controller.realtime_phase_us", "us", "0", TIME_US(0),
     "Added to phase_us in real time, where steps that are due at one instant race"},
    {"controller.computation_delay", "", "true", NO_RANGE,
     "Send the duties one step after they were computed"},
    {"controller.cpu", "", "-1", CPU, "Where it is pinned; -1: anywhere"},
    {"controller.shards", "", "1", RANGE(1, SCENARIO_SHARDS_MAX),
     "Its links are split among so many threads, each of which needs a core; 1: it has one thread"},
    {"controller.shard_cpus", "", "[]", CPU,
     "Where the threads after the first are pinned, an entry for each; -1, or no entries: "
     "anywhere"},
    {"controller.priority", "", "80", RANGE(0, 99),
     "SCHED_FIFO priority; 0: the ordinary scheduler"},
    {"controller.scheduler", "", "fifo", NO_RANGE,
     "SCHED_FIFO, SCHED_DEADLINE, or the ordinary scheduler"},
    {"controller.wait", "", "spin", NO_RANGE,
     "For the next step: busy, or asleep until 100 us before and then busy"},
    {"controller.overrun", "", "skip", NO_RANGE,
     "Steps that it was too late for: run them, skip them, or end the run"},
    {"controller.catch_up_limit", "", "1.1", RANGE(0, 1000),
     "With catch_up, how much faster than the clock at most; 0: as fast as it goes"},
    {"controller.resync_after_us", "us", "0", TIME_US(0),
     "With catch_up, steps are left out when it is further behind; 0: never"},
    {"controller.input_age_limit_us", "us", "0", TIME_US(0),
     "A voltage older than this is stale; 0: ten periods of sender and receiver, at least 1 ms"},
    {"controller.on_stale_input", "", "hold", NO_RANGE,
     "Go on with the last voltage, send the converter its safe duty, or end the run"},
    {"controller.age_limit_us", "us", NULL, TIME_US(0.001),
     "A voltage that is older when the controller takes it is too old; without it none is"},
    {"controller.on_old", "", NULL, NO_RANGE,
     "With age_limit_us: hold the voltage, which it is without this key; take old_value in its "
     "place; send the converter its safe duty; or end the run"},
    {"controller.old_value", "", NULL, NUMBER,
     "With on_old: value, the voltage until a newer one arrives"},
    {"controller.bad_inputs_limit", "", "10", RANGE(1, NUMBER_MAX),
     "After so many voltages in a row that are no number the converter is sent its safe duty"},
    {"controller.on_error", "", "end", NO_RANGE,
     "When a law fails or its duty is no number: end the run, or send its converter the safe duty"},
    {"controller.limits", "", "{}", NO_RANGE, "Limits of the duty cycle"},
    {"controller.limits.duty_min", "", "0", RANGE(0, 1), "Smallest duty cycle"},
    {"controller.limits.duty_max", "", "1", RANGE(0, 1), "Largest duty cycle, above the smallest"},
    {"controller.gains", "", "{}", NO_RANGE, "Gains of the law, by the names of its table below"},

    {"converters", "", NULL, NO_RANGE, "The converter nodes"},
    {"converters.count", "", NULL, RANGE(1, FORM_CONVERTERS_MAX),
     "How many there are, numbered from 0"},
    {"converters.plant", "", NULL, NO_RANGE, "What each converter simulates"},
    {"converters.period_us", "us", NULL, TIME_US(0.001), "Time between two steps"},
    {"converters.phase_us", "us", "0", TIME_US(0), "Time of the first step of converter 0"},
    {"converters.stagger_us", "us", "0", TIME_US(0),
     "Each converter's first step comes this much after the one's before it"},
    {"converters.cpu", "", "-1", CPU, "Where they are pinned; -1: anywhere"},
    {"converters.priority", "", "80", RANGE(0, 99),
     "SCHED_FIFO priority; 0: the ordinary scheduler"},
    {"converters.scheduler", "", "fifo", NO_RANGE,
     "SCHED_FIFO, SCHED_DEADLINE, or the ordinary scheduler"},
    {"converters.wait", "", "spin", NO_RANGE,
     "For the next step: busy, or asleep until 100 us before and then busy"},
    {"converters.overrun", "", "catch_up", NO_RANGE,
     "Steps that they were too late for: run them, skip them, or end the run"},
    {"converters.catch_up_limit", "", "1.1", RANGE(0, 1000),
     "With catch_up, how much faster than the clock at most; 0: as fast as it goes"},
    {"converters.resync_after_us", "us", "0", TIME_US(0),
     "With catch_up, steps are left out when it is further behind; 0: never"},
    {"converters.input_age_limit_us", "us", "0", TIME_US(0),
     "A duty cycle older than this is stale; 0: ten periods of sender and receiver, at least 1 ms"},
    {"converters.on_stale_input", "", "hold", NO_RANGE,
     "Hold the last duty cycle, apply the safe one, or end the run"},
    {"converters.age_limit_us", "us", NULL, TIME_US(0.001),
     "A duty cycle that is older when the converter takes it is too old; without it none is"},
    {"converters.on_old", "", NULL, NO_RANGE,
     "With age_limit_us: hold the duty cycle, which it is without this key; take old_value in its "
     "place; apply the safe one; or end the run"},
    {"converters.old_value", "", NULL, RANGE(0, 1),
     "With on_old: value, the duty cycle until a newer one arrives"},
    {"converters.bad_inputs_limit", "", "10", RANGE(1, NUMBER_MAX),
     "After so many duty cycles in a row that are no number the safe one is applied"},
    {"converters.on_error", "", "end", NO_RANGE,
     "When a plant fails or its output is no number: end the run, or go on without that plant"},
    {"converters.duty_initial", "", "0", RANGE(0, 1), "Duty cycle until the first one arrives"},
    {"converters.duty_safe", "", "0", RANGE(0, 1),
     "Duty cycle that a stale or bad input, or a law that fails, is answered by"},
    {"converters.parameters", "", "{}", NO_RANGE,
     "Parameters and constant inputs of the plant, by the names of its table below"},
    {"converters.initial", "", "{}", NO_RANGE,
     "Initial states of the plant, by the names of its table below"},

    {"converters.tolerance", "", "{}", NO_RANGE, "How the converters differ from each other"},
    {"converters.tolerance.percent", "%", "0", RANGE(0, 99),
     "Spread of the multipliers that are drawn: uniform in 1 +- this / 100"},
    {"converters.tolerance.seed", "", "1", RANGE(0, NUMBER_MAX), "Seed of the draw"},
    {"converters.tolerance.multipliers", "", "{}", NO_RANGE,
     "Multipliers given outright, by the names of parameters and inputs, each a list with one "
     "number for each converter"},

    {"converters.overrides", "", "[]", NO_RANGE, "What is different in some of the converters"},
    {"converters.overrides[].id", "", NULL, 0, 0, SCENARIO_IDS, false,
     "Which ones: an id (3) or a range of them (3-5)"},
    {"converters.overrides[].plant", "", NULL, NO_RANGE, "In place of converters.plant"},
    {"converters.overrides[].period_us", "us", NULL, TIME_US(0.001),
     "In place of converters.period_us"},
    {"converters.overrides[].phase_us", "us", NULL, TIME_US(0),
     "In place of converters.phase_us and the stagger"},
    {"converters.overrides[].duty_initial", "", NULL, RANGE(0, 1),
     "In place of converters.duty_initial"},
    {"converters.overrides[].parameters", "", NULL, NO_RANGE,
     "In place of those of converters.parameters, before the multipliers"},
    {"converters.overrides[].initial", "", NULL, NO_RANGE,
     "In place of those of converters.initial"},

    {"reference", "", NULL, NO_RANGE, "The voltage that each converter should give"},
    {"reference.voltage_v", "V", NULL, RANGE(0, 1e6), "At the start"},
    {"reference.changes", "", "[]", NO_RANGE, "Later values, in the order of time"},
    {"reference.changes[].time_s", "s", NULL, TIME_S(0), "When the change begins"},
    {"reference.changes[].voltage_v", "V", NULL, RANGE(0, 1e6), "The new value"},
    {"reference.changes[].ramp_s", "s", "0", TIME_S(0), "How long it takes; 0: a step"},

    {"load", "", "{}", NO_RANGE, "The load over time; at the start it is the plant's load_ohm"},
    {"load.changes", "", "[]", NO_RANGE, "Later values, in the order of time"},
    {"load.changes[].time_s", "s", NULL, TIME_S(0), "When the change begins"},
    {"load.changes[].load_ohm", "Ohm", NULL, RANGE(1e-3, 1e9),
     "The new value, for a converter whose load_ohm is the one at the start; in proportion for "
     "the others"},
    {"load.changes[].ramp_s", "s", "0", TIME_S(0), "How long it takes; 0: a step"},

    {"input_voltage", "", "{}", NO_RANGE,
     "The input voltage over time; at the start it is the plant's input_voltage_v"},
    {"input_voltage.changes", "", "[]", NO_RANGE, "Later values, in the order of time"},
    {"input_voltage.changes[].time_s", "s", NULL, TIME_S(0), "When the change begins"},
    {"input_voltage.changes[].input_voltage_v", "V", NULL, RANGE(0, 1e5),
     "The new value, in proportion as with the load"},
    {"input_voltage.changes[].ramp_s", "s", "0", TIME_S(0), "How long it takes; 0: a step"},

    {"recording", "", "{}", NO_RANGE, "What is recorded"},
    {"recording.voltage", "", "true", NO_RANGE,
     "Each converter's voltage, in the controller's record"},
    {"recording.duty", "", "true", NO_RANGE,
     "Each converter's duty cycle, in the controller's record"},
    {"recording.decimation", "", "1", RANGE(0, 1e9),
     "One record of every so many controller steps; 0: none"},
    {"recording.converter_decimation", "", "0", RANGE(0, 1e9),
     "One record by each converter itself of every so many of its steps; 0: none"},
    {"recording.on_error", "", "go_on", NO_RANGE,
     "When the record cannot be written any more, as on a full disk: go on without, or end the "
     "run"},

    {"faults", "", "{}", NO_RANGE, "What goes wrong on purpose, by name"},
    {"faults.*", "", NULL, NO_RANGE,
     "A fault of signals, of a component, of nodes, or of links (from, to)"},
    {"faults.*.signal", "", NULL, TEXTS,
     "Inputs or outputs, as in motor.speed_rad_per_s or cell[*].current_a"},
    {"faults.*.component", "", NULL, TEXT, "Components, as in converter[3] or converter[*]"},
    {"faults.*.nodes", "", NULL, TEXT, "Nodes, as in controller or converter[*]"},
    {"faults.*.from", "", NULL, TEXT, "The senders of links, likewise"},
    {"faults.*.to", "", NULL, TEXT, "And their receivers"},
    {"faults.*.kind", "", NULL, NO_RANGE, "What is the matter"},
    {"faults.*.parameter", "", NULL, TEXT, "With tune, the component's parameter"},
    {"faults.*.value", "", NULL, NUMBER,
     "What the kind takes: a level, an offset, a deviation, a slope in a second, a height, a step"},
    {"faults.*.factor", "", NULL, NUMBER,
     "What a signal or, with tune, a parameter is multiplied by"},
    {"faults.*.probability", "", NULL, RANGE(0, 1),
     "How likely it is in each step; without it in all"},
    {"faults.*.seed", "", NULL, RANGE(0, NUMBER_MAX), "Seed of what is random; without it 1"},
    {"faults.*.delay_us", "us", NULL, TIME_US(0.001), "How much later"},
    {"faults.*.at_s", "s", "0", TIME_S(0), "When it begins; with after, so long after that"},
    {"faults.*.duration_s", "s", NULL, TIME_S(1e-9), "How long it lasts; without it to the end"},
    {"faults.*.after", "", NULL, NO_RANGE,
     "It begins after one of these: a source's change, another fault, a signal's level, an event"},
    {"faults.*.after.source", "", NULL, TEXT, "A change of this source of steps"},
    {"faults.*.after.change", "", NULL, RANGE(1, 1e9), "Which change; without it the first"},
    {"faults.*.after.fault", "", NULL, TEXT, "The end of this fault, which stands before"},
    {"faults.*.after.signal", "", NULL, TEXT,
     "This signal, which the node of the fault has, comes to a level"},
    {"faults.*.after.above", "", NULL, NUMBER, "The signal is above it"},
    {"faults.*.after.below", "", NULL, NUMBER, "The signal is below it"},
    {"faults.*.after.event", "", NULL, NO_RANGE,
     "The first event of this kind: an input is too old, or not any more; a node is safe, or runs "
     "again; a component failed"},
    {"faults.*.after.of", "", NULL, TEXT, "Of which input with an age limit, node or component"},

    {"limits", "", "{}", NO_RANGE, "What the run must do to pass, by name"},
    {"limits.*", "", NULL, NO_RANGE,
     "A limit of a measure, of a signal, of nodes, or of a link (from, to), and its bounds"},
    {"limits.*.measure", "", NULL, TEXT, "The measure, as in output_v or voltage_v[*]"},
    {"limits.*.signal", "", NULL, TEXTS,
     "Signals that are recorded, as in motor.speed_rad_per_s or cell[*].current_a; or a measure"},
    {"limits.*.nodes", "", NULL, TEXT, "The nodes, as in controller or converter[*]"},
    {"limits.*.from", "", NULL, TEXT, "The senders of a link: all nodes of an array"},
    {"limits.*.to", "", NULL, TEXT, "And its receivers"},
    {"limits.*.events", "", NULL, NO_RANGE,
     "After which events the measure is judged; later: all but the start-up"},
    {"limits.*.overshoot_pct", "%", NULL, RANGE(0, 1e9),
     "Beyond its new reference, of the reference's change, at most"},
    {"limits.*.settling_ms", "ms", NULL, RANGE(0, 1e9),
     "From the end of a change of its reference until it has settled, at most"},
    {"limits.*.recovery_ms", "ms", NULL, RANGE(0, 1e9),
     "The same after any other event, such as a change of the load"},
    {"limits.*.dip_pct", "%", NULL, RANGE(0, 1e9),
     "Below its reference after such an event, of the reference, at most"},
    {"limits.*.rise_pct", "%", NULL, RANGE(0, 1e9), "Above it, likewise"},
    {"limits.*.ripple", "", NULL, RANGE(0, HUGE_VAL),
     "Peak to peak in the window of its steady state, at most"},
    {"limits.*.rms_error", "", NULL, RANGE(0, HUGE_VAL),
     "Root of the mean square of its distance from the reference in that window, at most"},
    {"limits.*.min", "", NULL, NUMBER, "It is nowhere below"},
    {"limits.*.max", "", NULL, NUMBER, "It is nowhere above"},
    {"limits.*.from_s", "s", NULL, TIME_S(0),
     "The signal is judged from then on; without it from the start"},
    {"limits.*.to_s", "s", NULL, TIME_S(0), "Until then; without it to the end"},
    {"limits.*.slope_min", "", NULL, NUMBER,
     "It nowhere rises by less than this in a second, in its unit"},
    {"limits.*.slope_max", "", NULL, NUMBER, "It nowhere rises by more"},
    {"limits.*.slope_over_ms", "ms", NULL, RANGE(0, 1e9),
     "The slope is over so much time; without it from one row of the record to the next"},
    {"limits.*.step", "", NULL, NO_RANGE, "It goes from one band to another, and stays there"},
    {"limits.*.step.at_s", "s", NULL, TIME_S(0), "Until then it is in the first"},
    {"limits.*.step.within_ms", "ms", NULL, RANGE(0, 1e9), "And so much later in the second"},
    {"limits.*.step.from", "", NULL, NO_RANGE, "The first band"},
    {"limits.*.step.from.min", "", NULL, NUMBER, "Its lower end"},
    {"limits.*.step.from.max", "", NULL, NUMBER, "Its upper end"},
    {"limits.*.step.to", "", NULL, NO_RANGE, "The second band"},
    {"limits.*.step.to.min", "", NULL, NUMBER, "Its lower end"},
    {"limits.*.step.to.max", "", NULL, NUMBER, "Its upper end"},
    {"limits.*.like", "", NULL, NO_RANGE,
     "It is like a column of a file (csv), or like what another run recorded (record)"},
    {"limits.*.like.csv", "", NULL, NO_RANGE, "A column of a file"},
    {"limits.*.like.csv.file", "", NULL, TEXT, "Its name, from the scenario's folder"},
    {"limits.*.like.csv.time", "", "time_s", TEXT, "The column with the time, in s"},
    {"limits.*.like.csv.column", "", NULL, TEXT,
     "The column with the value; a * in it stands for the number of each of several signals"},
    {"limits.*.like.csv.between", "", "line", NO_RANGE,
     "Between two rows: on a line from one to the next, or hold the earlier"},
    {"limits.*.like.record", "", NULL, NO_RANGE, "What another run recorded"},
    {"limits.*.like.record.run", "", NULL, TEXT,
     "Its folder, by its name from the scenario's folder"},
    {"limits.*.like.record.signal", "", NULL, TEXT,
     "The signal or measure; of an array all, one for each signal"},
    {"limits.*.like.record.node", "", NULL, TEXT,
     "The node, or array of them, that recorded it; without it the first that did"},
    {"limits.*.like.record.between", "", "hold", NO_RANGE,
     "Between two rows: hold the earlier, or on a line from one to the next"},
    {"limits.*.like.record.shift_s", "s", "0", NUMBER, "Added to the time of each row"},
    {"limits.*.like.absolute", "", NULL, RANGE(0, HUGE_VAL), "So far from it at most"},
    {"limits.*.like.relative_pct", "%", NULL, RANGE(0, 1e9),
     "And further by so much of its value there; without `absolute` of 1 % of its greatest at "
     "least"},
    {"limits.*.missed_percent", "%", NULL, RANGE(0, 100),
     "Steps of a node that are run late or left out, of those that are due, at most"},
    {"limits.*.late_us", "us", NULL, NO_RANGE,
     "How late its steps begin; only the clock makes them late"},
    {"limits.*.late_us.p50", "us", NULL, RANGE(0, 1e9), "The median, at most"},
    {"limits.*.late_us.p99", "us", NULL, RANGE(0, 1e9), "What 1 % exceed, at most"},
    {"limits.*.late_us.p999", "us", NULL, RANGE(0, 1e9), "What 0.1 % exceed, at most"},
    {"limits.*.late_us.p9999", "us", NULL, RANGE(0, 1e9), "What 0.01 % exceed, at most"},
    {"limits.*.late_us.max", "us", NULL, RANGE(0, 1e9), "The greatest, at most"},
    {"limits.*.step_us", "us", NULL, NO_RANGE, "How long they take; virtual time does not say"},
    {"limits.*.step_us.p50", "us", NULL, RANGE(0, 1e9), "The median, at most"},
    {"limits.*.step_us.p99", "us", NULL, RANGE(0, 1e9), "What 1 % exceed, at most"},
    {"limits.*.step_us.p999", "us", NULL, RANGE(0, 1e9), "What 0.1 % exceed, at most"},
    {"limits.*.step_us.p9999", "us", NULL, RANGE(0, 1e9), "What 0.01 % exceed, at most"},
    {"limits.*.step_us.max", "us", NULL, RANGE(0, 1e9), "The greatest, at most"},
    {"limits.*.age_us", "us", NULL, NO_RANGE,
     "How old what came over the link is, at the steps of its receivers"},
    {"limits.*.age_us.p50", "us", NULL, RANGE(0, 1e9), "The median, at most"},
    {"limits.*.age_us.p99", "us", NULL, RANGE(0, 1e9), "What 1 % exceed, at most"},
    {"limits.*.age_us.p999", "us", NULL, RANGE(0, 1e9), "What 0.1 % exceed, at most"},
    {"limits.*.age_us.p9999", "us", NULL, RANGE(0, 1e9), "What 0.01 % exceed, at most"},
    {"limits.*.age_us.max", "us", NULL, RANGE(0, 1e9), "The greatest, at most"},
    {"limits.*.round_trip_us", "us", NULL, NO_RANGE, "How long a value takes there and back"},
    {"limits.*.round_trip_us.p50", "us", NULL, RANGE(0, 1e9), "The median, at most"},
    {"limits.*.round_trip_us.p99", "us", NULL, RANGE(0, 1e9), "What 1 % exceed, at most"},
    {"limits.*.round_trip_us.p999", "us", NULL, RANGE(0, 1e9), "What 0.1 % exceed, at most"},
    {"limits.*.round_trip_us.p9999", "us", NULL, RANGE(0, 1e9), "What 0.01 % exceed, at most"},
    {"limits.*.round_trip_us.max", "us", NULL, RANGE(0, 1e9), "The greatest, at most"},

    {"validity", "", "{}", NO_RANGE, "What a run may do and still be valid"},
    {"validity.missed_percent", "%", "1", RANGE(0, 100),
     "Steps that a loop may miss: run late, or left out"},
    {"validity.gap_us", "us", "0", TIME_US(0),
     "Time that a loop may stand still; 0: ten of its periods, at least 1 ms"},
    {"validity.behind_us", "us", "0", TIME_US(0),
     "How far a loop that catches up may be behind the clock; 0: ten of its periods, at least 1 "
     "ms"},
    {"validity.stale_inputs", "", "0", RANGE(0, NUMBER_MAX),
     "How often an input may be older than its limit"},
    {"validity.bad_inputs", "", "0", RANGE(0, NUMBER_MAX),
     "How many inputs may be no number, and are not used"},
    {"validity.absent_faults", "", "0", RANGE(0, NUMBER_MAX), "Faults that may never begin"},
    {"validity.lost_records", "", "0", RANGE(0, NUMBER_MAX), "Rows that the recorder may lose"},
    {"validity.allow_degraded", "", "true", NO_RANGE,
     "The kernel may grant less than the scenario asks for"},
    {"validity.required", "", "true", NO_RANGE, "A run that is not valid ends with status 3"},

    {"trace", "", "{}", NO_RANGE, "The LTTng trace of a run in real time; virtual time has none"},
    {"trace.enable", "", "false", NO_RANGE, "Trace the run, into the folder ctf of its results"},
    {"trace.buffer_kib", "KiB", "32768", RANGE(32, 4194304),
     "Buffer of each core, rounded up to a power of two; events that find it full are lost, and "
     "counted"},
    {"trace.kernel", "", "true", NO_RANGE,
     "Trace what the kernel does on the loops' cores too, where that can be had"},
    {"trace.kernel_buffer_kib", "KiB", "8192", RANGE(64, 1048576),
     "Buffer of each core for the kernel's events; when it is full the oldest are lost"},
    {"trace.events", "", "{}", NO_RANGE, "Which events are traced"},
    {"trace.events.step", "", "true", NO_RANGE,
     "Each step of each loop: how late, how long, how old its input"},
    {"trace.events.miss", "", "true", NO_RANGE, "Each missed deadline"},
    {"trace.events.round_trip", "", "true", NO_RANGE,
     "Each newer message of a link that a node finds, with the round trip that it ends"},
    {"trace.events.push", "", "true", NO_RANGE, "Each push of a variable"},
    {"trace.events.pull", "", "true", NO_RANGE, "Each pull of a variable"},
    {"trace.events.fence", "", "true", NO_RANGE, "Each fence"},
    {"trace.events.lock", "", "true", NO_RANGE,
     "Each lock, when it is held and when it is released"},
    {"trace.events.barrier", "", "true", NO_RANGE,
     "Each barrier, when a node comes and when it leaves"},
    {"trace.events.peer", "", "true", NO_RANGE, "Each peer met or lost"},
    {"trace.events.state", "", "true", NO_RANGE,
     "Each change of a node's state, and each event of the "
     "record"},

    {"placement", "", NULL, NO_RANGE,
     "Executors, processes with one thread; without it one for the controller on controller.cpu, "
     "one for all converters on converters.cpu"},
    {"placement[].controller", "", "false", NO_RANGE, "Runs the controller"},
    {"placement[].converters", "", NULL, 0, 0, SCENARIO_IDS, false,
     "Runs these converters: an id (3) or a range of them (0-9)"},
    {"placement[].cpu", "", "-1", CPU, "Where it is pinned; -1: anywhere"},
    {"placement[].priority", "", "80", RANGE(0, 99),
     "SCHED_FIFO priority; 0: the ordinary scheduler"},
    {"placement[].scheduler", "", "fifo", NO_RANGE,
     "SCHED_FIFO, SCHED_DEADLINE, or the ordinary scheduler"},
    {"placement[].wait", "", "spin", NO_RANGE,
     "For the next step: busy, or asleep until 100 us before and then busy"},

    /* What only the general form has. */
    {"on_record_error", "", "go_on", NO_RANGE,
     "When the record cannot be written any more, as on a full disk: go on without, or end the "
     "run"},
    {"tcp.nodes[].nodes", "", NULL, TEXTS, "These nodes are there: a name, or a list of them"},
    {"verbs.nodes[].nodes", "", NULL, TEXTS, "These nodes are there: a name, or a list of them"},
    {"network.latency_us", "us", "0", TIME_US(0), "One-way latency of each link"},
    {"network.links", "", "[]", NO_RANGE, "Links that have another latency"},
    {"network.links[].from", "", NULL, TEXT, "Their senders"},
    {"network.links[].to", "", NULL, TEXT, "Their receivers"},
    {"network.links[].latency_us", "us", NULL, TIME_US(0), "In place of network.latency_us"},

    {"nodes", "", NULL, NO_RANGE, "The nodes, each one loop, by their names"},
    {"nodes.*", "", NULL, NO_RANGE, "A node, or several of them"},
    {"nodes.*.count", "", NULL, RANGE(1, SCENARIO_NODES_MAX),
     "How many there are, numbered from 0; without it one, without a number"},
    {"nodes.*.period_us", "us", NULL, TIMES_US(0.001), "Time between two steps"},
    {"nodes.*.phase_us", "us", "0", TIMES_US(0), "Time of the first step"},
    {"nodes.*.stagger_us", "us", "0", TIME_US(0),
     "Each one's first step comes this much after the one's before it"},
    {"nodes.*.realtime_phase_us", "us", "0", TIME_US(0),
     "Added to phase_us in real time, where steps that are due at one instant race"},
    {"nodes.*.cpu", "", "-1", CPU, "Where its executor is pinned; -1: anywhere"},
    {"nodes.*.shards", "", "1", RANGE(1, SCENARIO_SHARDS_MAX),
     "Its links are split among so many threads, each of which needs a core; 1: it has one thread"},
    {"nodes.*.shard_cpus", "", "[]", CPU,
     "Where the threads after the first are pinned, an entry for each; -1, or no entries: "
     "anywhere"},
    {"nodes.*.priority", "", "80", RANGE(0, 99), "SCHED_FIFO priority; 0: the ordinary scheduler"},
    {"nodes.*.scheduler", "", "fifo", NO_RANGE,
     "SCHED_FIFO, SCHED_DEADLINE, or the ordinary scheduler"},
    {"nodes.*.wait", "", "spin", NO_RANGE,
     "For the next step: busy, or asleep until 100 us before and then busy"},
    {"nodes.*.overrun", "", "skip", NO_RANGE,
     "Steps that it was too late for: run them, skip them, or end the run"},
    {"nodes.*.catch_up_limit", "", "1.1", RANGE(0, 1000),
     "With catch_up, how much faster than the clock at most; 0: as fast as it goes"},
    {"nodes.*.resync_after_us", "us", "0", TIME_US(0),
     "With catch_up, steps are left out when it is further behind; 0: never"},
    {"nodes.*.input_age_limit_us", "us", "0", TIME_US(0),
     "An input older than this is stale; 0: ten periods of sender and receiver, at least 1 ms"},
    {"nodes.*.on_stale_input", "", "hold", NO_RANGE,
     "Go on with the last value, with the safe values of components, or end the run"},
    {"nodes.*.bad_inputs_limit", "", "10", RANGE(1, NUMBER_MAX),
     "After so many inputs in a row that are no number, what takes them is safe"},

    {"components", "", NULL, NO_RANGE, "What runs on the nodes: instances of models, by name"},
    {"components.*", "", NULL, NO_RANGE, "A component, or an array of them"},
    {"components.*.model", "", NULL, TEXTS, "Its model; `hiloco models` lists them"},
    {"components.*.node", "", NULL, TEXT,
     "Where it runs: a node, or with NAME[*] each one of an array on a node of its own"},
    {"components.*.count", "", NULL, RANGE(1, SCENARIO_NODES_MAX),
     "How many there are, numbered from 0; without it as many as `node` names"},
    {"components.*.width", "", "1", RANGE(1, 65536), "Places of each wide row of its model"},
    {"components.*.settings", "", NULL, NO_RANGE,
     "What a model that is not built in is given beside numbers, by its own names"},
    {"components.*.parameters", "", "{}", NO_RANGE, "Parameters, by the model's names"},
    {"components.*.initial", "", "{}", NO_RANGE, "Initial states, by the model's names"},
    {"components.*.inputs", "", "{}", NO_RANGE, "Constant inputs, by the model's names"},
    {"components.*.safe", "", NULL, NO_RANGE,
     "What a stale input is answered by: outputs of a sampled model, inputs of a continuous one"},
    {"components.*.computation_delay", "", "false", NO_RANGE,
     "What a sampled model computes is there one step later"},
    {"components.*.on_error", "", "end", NO_RANGE,
     "When it fails, or gives what is no number: end the run, or go on with the safe values"},

    {"connections", "", "[]", NO_RANGE, "From outputs to inputs"},
    {"connections[].from", "", NULL, TEXT,
     "The output, as in motor.speed_rad_s or cell[*].voltage_v"},
    {"connections[].to", "", NULL, TEXT, "The input; of arrays, each one's from the same number"},
    {"connections[].scale", "", NULL, NUMBERS, "What the value is multiplied by"},
    {"connections[].offset", "", "0", NUMBERS, "And what is then added"},
    {"connections[].initial", "", NULL, NUMBERS,
     "The input until the first value arrives; without it the model's"},
    {"connections[].age_limit_us", "us", NULL, TIME_US(0.001),
     "A value that is older when the input's node takes it is too old; without it none is"},
    {"connections[].on_old", "", NULL, NO_RANGE,
     "With age_limit_us: hold the value, which it is without this key; take old_value in its "
     "place; "
     "make the component safe, by its `safe`; or end the run"},
    {"connections[].old_value", "", NULL, NUMBERS,
     "With on_old: value, the input until a newer value arrives"},

    {"sources", "", "{}", NO_RANGE, "Inputs over time, by their names"},
    {"sources.*", "", NULL, NO_RANGE, "One of: constant, steps, sine, pulses, csv, record"},
    {"sources.*.to", "", NULL, TEXTS, "The input that it feeds, or a list of them"},
    {"sources.*.constant", "", NULL, NUMBER, "One value for ever"},
    {"sources.*.steps", "", NULL, NO_RANGE, "A value, and later ones"},
    {"sources.*.steps.initial", "", NULL, NUMBER, "At the start"},
    {"sources.*.steps.changes", "", "[]", NO_RANGE, "Later values, in the order of time"},
    {"sources.*.steps.changes[].time_s", "s", NULL, TIME_S(0), "When the change begins"},
    {"sources.*.steps.changes[].value", "", NULL, NUMBER, "The new value"},
    {"sources.*.steps.changes[].ramp_s", "s", "0", TIME_S(0), "How long it takes; 0: a step"},
    {"sources.*.sine", "", NULL, NO_RANGE, "mean + amplitude sin(2 pi frequency t + phase)"},
    {"sources.*.sine.mean", "", "0", NUMBER, "What it swings around"},
    {"sources.*.sine.amplitude", "", NULL, NUMBER, "How far it swings"},
    {"sources.*.sine.frequency_hz", "Hz", NULL, RANGE(0, 1e9), "How often"},
    {"sources.*.sine.phase_deg", "deg", "0", NUMBER, "At the start"},
    {"sources.*.pulses", "", NULL, NO_RANGE, "High for a while in each period"},
    {"sources.*.pulses.low", "", "0", NUMBER, "Value outside of the pulses"},
    {"sources.*.pulses.high", "", NULL, NUMBER, "Value in them"},
    {"sources.*.pulses.period_s", "s", NULL, TIME_S(1e-9), "From one to the next"},
    {"sources.*.pulses.width_s", "s", NULL, TIME_S(0), "How long each is, up to the period"},
    {"sources.*.pulses.delay_s", "s", "0", TIME_S(0), "When the first begins"},
    {"sources.*.csv", "", NULL, NO_RANGE, "A column of a file"},
    {"sources.*.csv.file", "", NULL, TEXT, "Its name, from the scenario's folder"},
    {"sources.*.csv.time", "", "time_s", TEXT, "The column with the time, in s"},
    {"sources.*.csv.column", "", NULL, TEXT, "The column with the value"},
    {"sources.*.csv.between", "", "line", NO_RANGE,
     "Between two rows: on a line from one to the next, or hold the earlier"},
    {"sources.*.record", "", NULL, NO_RANGE, "What another run recorded"},
    {"sources.*.record.run", "", NULL, TEXT, "Its folder, by its name from the scenario's folder"},
    {"sources.*.record.signal", "", NULL, TEXT,
     "The signal or measure; of an array all, to one input each"},
    {"sources.*.record.node", "", NULL, TEXT,
     "The node, or array of them, that recorded it; without it the first that did"},
    {"sources.*.record.between", "", "hold", NO_RANGE,
     "Between two rows: hold the earlier, or on a line from one to the next"},
    {"sources.*.record.shift_s", "s", "0", NUMBER, "Added to the time of each row"},
    {"sources.*.scale", "", "1", NUMBERS, "What the value is multiplied by"},

    {"record", "", "[]", NO_RANGE, "What is recorded"},
    {"record[].signals", "", NULL, TEXTS, "A signal, or a list of them"},
    {"record[].node", "", NULL, TEXT,
     "Who records them: a node that has them, or that they are sent to; without it whose they are"},
    {"record[].decimation", "", "1", RANGE(0, 1e9), "One row of every so many steps; 0: none"},

    {"measures", "", "{}", NO_RANGE, "What the summary's figures are of, by name"},
    {"measures.*", "", NULL, NO_RANGE, "A signal or a sum of signals, against a reference"},
    {"measures.*.of", "", NULL, TEXTS, "The signal, or a list of them"},
    {"measures.*.each", "", "false", NO_RANGE, "A measure of each signal, in place of their sum"},
    {"measures.*.reference", "", NULL, TEXT, "What it should be: a signal, or one for each"},
    {"measures.*.reference_scale", "", "1", NUMBER, "What the reference is multiplied by"},
    {"measures.*.band", "", "0", RANGE(0, HUGE_VAL),
     "How far from its reference it may be once it has settled, in its unit; 0: 2 % of the "
     "reference"},
    {"measures.*.node", "", NULL, TEXT,
     "Where it is made; without it where the reference is, or the first signal"},

    {"placement[].nodes", "", NULL, TEXTS, "Runs these nodes: a name, or a list of them"},
};

const unsigned scenario_key_count = sizeof(scenario_keys) / sizeof(scenario_keys[0]);

/* What follows an index, written .0 or []; the path itself when none is there. */
static const char *after_index(const char *path)
{
    if (strncmp(path, "[]", 2) == 0)
        return path + 2;
    size_t digits = *path == '.' ? strspn(path + 1, "0123456789") : 0;
    return digits > 0 ? path + 1 + digits : path;
}

/*
 * True when `path` is `pattern` with any index for each []. The entries of a list are also
 * what the key of the list itself says: an index at the end may be left out of the pattern.
 */
static bool same_path(const char *pattern, const char *path)
{
    while (*pattern != '\0') {
        if (*pattern == '*') {
            pattern++;
            path += strcspn(path, ".");
        } else if (*pattern == '[') {
            pattern += 2;
            path = after_index(path);
        } else if (*pattern++ != *path++) {
            return false;
        }
    }
    return *after_index(path) == '\0';
}

const struct scenario_key *scenario_key_find(const struct scenario_schema *schema, const char *path)
{
    for (unsigned i = 0; i < scenario_key_count; i++)
        if (same_path(scenario_keys[i].path, path))
            return &scenario_keys[i];
    for (unsigned i = 0; i < schema->key_count; i++)
        if (same_path(schema->keys[i].path, path))
            return &schema->keys[i];
    return NULL;
}

/* --- the unit of any key, whichever models a scenario has --------------------------------- */

static const char *unit_in(const struct hil_quantities *table, const char *name)
{
    const int i = hil_quantity_find(table, name);

    return i < 0 ? NULL : table->at[i].unit;
}

/* A name ends in its unit, so whichever model has it says the same. */
static const char *unit_of_parameter(const char *name)
{
    const char *unit = NULL;

    for (unsigned i = 0; !unit && hil_models[i]; i++) {
        unit = unit_in(&hil_models[i]->parameters, name);
        if (!unit)
            unit = unit_in(&hil_models[i]->inputs, name);
    }
    return unit;
}

static const char *unit_of_state(const char *name)
{
    const char *unit = NULL;

    for (unsigned i = 0; !unit && hil_models[i]; i++)
        unit = unit_in(&hil_models[i]->states, name);
    return unit;
}

/* What follows "BLOCK." in the path; NULL where it has no such block. */
static const char *name_in(const char *path, const char *block)
{
    const char *at = strstr(path, block);

    return at ? at + strlen(block) : NULL;
}

/* The models' keys, which are not among them, are no times. */
static const struct scenario_key *find_own_key(const char *path)
{
    static const struct scenario_schema no_models;

    return scenario_key_find(&no_models, path);
}

double hil_scenario_rounded(const char *path, double value)
{
    const struct scenario_key *key = find_own_key(path);

    if (!key || key->rule != SCENARIO_WHOLE_NS)
        return value;
    return round(value * scenario_ns_per_unit(key)) / scenario_ns_per_unit(key);
}

const char *hil_scenario_unit(const char *path)
{
    const struct scenario_key *key = find_own_key(path);
    const char *name, *unit = key ? key->unit : NULL;

    if (!unit &&
        ((name = name_in(path, "controller.gains.")) || (name = name_in(path, ".parameters."))))
        unit = unit_of_parameter(name);
    else if (!unit && (name = name_in(path, ".initial.")))
        unit = unit_of_state(name);
    return unit ? unit : ""; /* a multiplier has none */
}
