/*
 * Every key of a scenario except the models': unit, range, default, explanation. The types are in
 * scenario_schema.c. docs/keys.md is made of both.
 */
#include <math.h>
#include <pthread.h>
#include <string.h>

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
#define NUMBER_MAX      4294967295.0 /* the greatest seed */

const struct scenario_key scenario_keys[] = {
    {"name", "", NULL, 0, 0, SCENARIO_NAME, false,
     "Name of the scenario, and of its folder of results"},
    {"duration_s", "s", NULL, TIME_S(1e-9), "Duration of the run"},
    {"mode", "", "realtime", NO_RANGE,
     "In real time, in separate processes; or in virtual time, in one process"},
    {"fabric", "", "shm", NO_RANGE,
     "What carries the data in real time; virtual time simulates it"},
    {"rendezvous", "", NULL, 0, 0, SCENARIO_MEETING, false,
     "For verbs and tcp: address of the first node, whose process tells the others all addresses"},
    {"on_lost", "", "end", NO_RANGE,
     "In real time, when a process of converters dies: end the run, or continue and restart it"},

    {"hang_limit_s", "s", "10", TIME_S(0),
     "A process that stands still for longer is killed, and on_lost applies; 0: never"},
    {"stop_ramp_s", "s", "0", 0, 2, SCENARIO_WHOLE_NS, false,
     "At a clean stop: how long components take to reach their safe values before the nodes stop"},
    {"tuning", "", "false", NO_RANGE,
     "Tunable parameters and sources may be changed during the run, as by hiloco set"},

    {"verbs", "", "{}", NO_RANGE, "The fabric verbs: how the nodes reach each other"},
    {"verbs.nodes", "", "[]", NO_RANGE,
     "Where each node is; with this fabric every node needs one entry"},
    {"verbs.nodes[].address", "", NULL, 0, 0, SCENARIO_ADDRESS, false,
     "Address of the RDMA device's network interface; nodes on one machine may share it"},
    {"verbs.port", "", "18515", RANGE(1, 65535),
     "The first node listens on this port, and each later one on the next"},
    {"verbs.completions", "", "inline", NO_RANGE,
     "What polls for completions: each loop itself (inline), or one thread for all loops (polled)"},
    {"verbs.send_depth", "", "128", RANGE(1, 16384),
     "Most operations in flight between two nodes; further ones wait"},
    {"verbs.timeout_exponent", "", "16", RANGE(1, 31),
     "A device sends again after 4.096 us * 2^this without an acknowledgement; 16: 268 ms"},
    {"verbs.retry_count", "", "7", RANGE(1, 7),
     "How often a device sends again before the peer is lost"},
    {"verbs.timeout_ms", "ms", "3000", RANGE(10, 1000000),
     "A peer whose process or machine says nothing for so long is lost"},
    {"verbs.traffic_class", "", "0", RANGE(0, 255),
     "Traffic class of RoCE packets, DSCP and ECN together; 0: the system's default"},
    {"verbs.flush_bytes", "", "8", RANGE(0, 8),
     "Size of the read that makes a fence: 8, or 0 for devices that place writes before they "
     "acknowledge them"},

    {"tcp", "", "{}", NO_RANGE, "The fabric tcp: how the nodes reach each other"},
    {"tcp.nodes", "", "[]", NO_RANGE,
     "Where each node is, one entry for every node; without it all are on this machine, at "
     "127.0.0.1"},
    {"tcp.nodes[].address", "", NULL, 0, 0, SCENARIO_ADDRESS, false,
     "Address of the machine, IPv4 or IPv6; nodes on one machine may share it"},
    {"tcp.port", "", "18700", RANGE(1, 65535),
     "The first node listens on this port, and each later one on the next"},
    {"tcp.timeout_ms", "ms", "2000", RANGE(10, 1000000),
     "A peer that sends nothing for so long is lost"},
    {"tcp.cpu", "", "-1", CPU,
     "Core of each process's service thread, which carries out what peers write; -1: any"},
    {"tcp.wait", "", "sleep", NO_RANGE,
     "What that thread does without work: sleep, or spin, which occupies its core"},

    {"network", "", "{}", NO_RANGE, "The network that virtual time simulates"},
    {"network.jitter_us", "us", "0", TIME_US(0),
     "Added to each latency, uniformly distributed between 0 and this"},
    {"network.seed", "", "1", RANGE(0, NUMBER_MAX), "Seed of the jitter"},

    {"faults", "", "{}", NO_RANGE, "Injected faults, by name"},
    {"faults.*", "", NULL, NO_RANGE,
     "A fault of signals, of a component, of nodes, or of links (from, to)"},
    {"faults.*.signal", "", NULL, TEXTS,
     "Inputs or outputs, such as motor.speed_rad_per_s or cell[*].current_a"},
    {"faults.*.component", "", NULL, TEXT, "Components, such as converter[3] or converter[*]"},
    {"faults.*.nodes", "", NULL, TEXT, "Nodes, such as controller or converter[*]"},
    {"faults.*.from", "", NULL, TEXT, "The nodes that send over the links"},
    {"faults.*.to", "", NULL, TEXT, "The nodes that receive over the links"},
    {"faults.*.kind", "", NULL, NO_RANGE, "Kind of the fault"},
    {"faults.*.parameter", "", NULL, TEXT, "With tune: the component's parameter"},
    {"faults.*.value", "", NULL, NUMBER,
     "What the kind needs: a level, an offset, a standard deviation, a slope per second, a height, "
     "a step"},
    {"faults.*.factor", "", NULL, NUMBER, "Factor for a signal, or with tune for a parameter"},
    {"faults.*.probability", "", NULL, RANGE(0, 1),
     "Probability that it acts in each step; without this key it acts in all"},
    {"faults.*.seed", "", NULL, RANGE(0, NUMBER_MAX),
     "Seed of the random numbers; without this key 1"},
    {"faults.*.delay_us", "us", NULL, TIME_US(0.001), "Delay"},
    {"faults.*.at_s", "s", "0", TIME_S(0), "When it begins; with after: how long after that event"},
    {"faults.*.duration_s", "s", NULL, TIME_S(1e-9),
     "How long it lasts; without this key, to the end of the run"},
    {"faults.*.after", "", NULL, NO_RANGE,
     "The event after which it begins: a source's change, another fault, a signal's level, or an "
     "event of the run"},
    {"faults.*.after.source", "", NULL, TEXT, "A change of this source with steps"},
    {"faults.*.after.change", "", NULL, RANGE(1, 1e9), "Which change; without this key the first"},
    {"faults.*.after.fault", "", NULL, TEXT, "The end of this fault, which is earlier in the file"},
    {"faults.*.after.signal", "", NULL, TEXT,
     "The signal that reaches a level; the fault's node must have it"},
    {"faults.*.after.above", "", NULL, NUMBER, "The signal rises above this"},
    {"faults.*.after.below", "", NULL, NUMBER, "The signal falls below this"},
    {"faults.*.after.event", "", NULL, NO_RANGE,
     "The first event of this kind: an input is too old, or no longer too old; a node is safe, or "
     "runs again; a component failed"},
    {"faults.*.after.of", "", NULL, TEXT,
     "The input with an age limit, the node, or the component of that event"},

    {"limits", "", "{}", NO_RANGE, "What the run must achieve to pass, by name"},
    {"limits.*", "", NULL, NO_RANGE,
     "A limit of a measure, of a signal, of nodes, or of a link (from, to), and its bounds"},
    {"limits.*.measure", "", NULL, TEXT, "The measure, such as output_v or voltage_v[*]"},
    {"limits.*.signal", "", NULL, TEXTS,
     "Recorded signals, such as motor.speed_rad_per_s or cell[*].current_a; or a measure"},
    {"limits.*.nodes", "", NULL, TEXT, "The nodes, such as controller or converter[*]"},
    {"limits.*.from", "", NULL, TEXT,
     "The nodes that send over the links: a node, or all nodes of an array"},
    {"limits.*.to", "", NULL, TEXT, "The nodes that receive over the links, likewise"},
    {"limits.*.events", "", NULL, NO_RANGE,
     "The events after which the measure is judged; later: all but the start-up"},
    {"limits.*.overshoot_pct", "%", NULL, RANGE(0, 1e9),
     "Greatest overshoot beyond the new reference, as a share of the reference's change"},
    {"limits.*.settling_ms", "ms", NULL, RANGE(0, 1e9),
     "Longest time from the end of a change of its reference until it has settled"},
    {"limits.*.recovery_ms", "ms", NULL, RANGE(0, 1e9),
     "Longest time to settle after any other event, such as a change of the load"},
    {"limits.*.dip_pct", "%", NULL, RANGE(0, 1e9),
     "Greatest dip below the reference after such an event, as a share of the reference"},
    {"limits.*.rise_pct", "%", NULL, RANGE(0, 1e9), "Greatest rise above the reference, likewise"},
    {"limits.*.ripple", "", NULL, RANGE(0, HUGE_VAL),
     "Greatest peak to peak value in the window of the steady state"},
    {"limits.*.rms_error", "", NULL, RANGE(0, HUGE_VAL),
     "Greatest root mean square of the distance from the reference in that window"},
    {"limits.*.steady_error", "", NULL, RANGE(0, HUGE_VAL),
     "Greatest distance of the mean in that window from the reference"},
    {"limits.*.rise_time_ms", "ms", NULL, RANGE(0, 1e9),
     "Longest time from 10 to 90 % of a change of its reference"},
    {"limits.*.min", "", NULL, NUMBER, "Least value"},
    {"limits.*.max", "", NULL, NUMBER, "Greatest value"},
    {"limits.*.from_s", "s", NULL, TIME_S(0),
     "Judge the signal from this time on; without this key from the start"},
    {"limits.*.to_s", "s", NULL, TIME_S(0),
     "Judge it until this time; without this key to the end"},
    {"limits.*.slope_min", "", NULL, NUMBER, "Least slope, in its unit per second"},
    {"limits.*.slope_max", "", NULL, NUMBER, "Greatest slope, in its unit per second"},
    {"limits.*.slope_over_ms", "ms", NULL, RANGE(0, 1e9),
     "Time over which the slope is taken; without this key from one row of the record to the next"},
    {"limits.*.step", "", NULL, NO_RANGE,
     "The signal goes from one band to another, and stays there"},
    {"limits.*.step.at_s", "s", NULL, TIME_S(0), "Until this time it is in the first band"},
    {"limits.*.step.within_ms", "ms", NULL, RANGE(0, 1e9),
     "So much later it is in the second band"},
    {"limits.*.step.from", "", NULL, NO_RANGE, "The first band"},
    {"limits.*.step.from.min", "", NULL, NUMBER, "Its lower end"},
    {"limits.*.step.from.max", "", NULL, NUMBER, "Its upper end"},
    {"limits.*.step.to", "", NULL, NO_RANGE, "The second band"},
    {"limits.*.step.to.min", "", NULL, NUMBER, "Its lower end"},
    {"limits.*.step.to.max", "", NULL, NUMBER, "Its upper end"},
    {"limits.*.like", "", NULL, NO_RANGE,
     "The signal is like a column of a file (csv), or like what another run recorded (record)"},
    {"limits.*.like.csv", "", NULL, NO_RANGE, "A column of a file"},
    {"limits.*.like.csv.file", "", NULL, TEXT,
     "Name of the file, relative to the scenario's folder"},
    {"limits.*.like.csv.time", "", "time_s", TEXT, "The column with the time, in s"},
    {"limits.*.like.csv.column", "", NULL, TEXT,
     "The column with the value; with several signals, a * in it stands for the number of each"},
    {"limits.*.like.csv.between", "", "line", NO_RANGE,
     "Value between two rows: on a straight line, or the earlier one"},
    {"limits.*.like.record", "", NULL, NO_RANGE, "What another run recorded"},
    {"limits.*.like.record.run", "", NULL, TEXT,
     "The other run's folder, relative to the scenario's folder"},
    {"limits.*.like.record.signal", "", NULL, TEXT,
     "The signal or measure; an array gives one for each signal"},
    {"limits.*.like.record.node", "", NULL, TEXT,
     "The node or array of nodes that recorded it; without this key the first one that did"},
    {"limits.*.like.record.between", "", "hold", NO_RANGE,
     "Value between two rows: the earlier one, or on a straight line"},
    {"limits.*.like.record.shift_s", "s", "0", NUMBER, "Added to the time of each row"},
    {"limits.*.like.absolute", "", NULL, RANGE(0, HUGE_VAL), "Allowed difference"},
    {"limits.*.like.relative_pct", "%", NULL, RANGE(0, 1e9),
     "Additional allowed difference, as a share of the reference's value; without `absolute`, 1 % "
     "of this share of its greatest value is added"},
    {"limits.*.missed_percent", "%", NULL, RANGE(0, 100),
     "Greatest share of a node's due steps that are run late or left out"},
    {"limits.*.late_us", "us", NULL, NO_RANGE,
     "How late a node's steps begin, as the summary counts it; only in real time"},
    {"limits.*.late_us.p50", "us", NULL, RANGE(0, 1e9), "Greatest median"},
    {"limits.*.late_us.p99", "us", NULL, RANGE(0, 1e9), "Greatest 99th percentile"},
    {"limits.*.late_us.p999", "us", NULL, RANGE(0, 1e9), "Greatest 99.9th percentile"},
    {"limits.*.late_us.p9999", "us", NULL, RANGE(0, 1e9), "Greatest 99.99th percentile"},
    {"limits.*.late_us.max", "us", NULL, RANGE(0, 1e9), "Greatest value"},
    {"limits.*.step_us", "us", NULL, NO_RANGE,
     "How long a node's steps take, as the summary counts it; only in real time"},
    {"limits.*.step_us.p50", "us", NULL, RANGE(0, 1e9), "Greatest median"},
    {"limits.*.step_us.p99", "us", NULL, RANGE(0, 1e9), "Greatest 99th percentile"},
    {"limits.*.step_us.p999", "us", NULL, RANGE(0, 1e9), "Greatest 99.9th percentile"},
    {"limits.*.step_us.p9999", "us", NULL, RANGE(0, 1e9), "Greatest 99.99th percentile"},
    {"limits.*.step_us.max", "us", NULL, RANGE(0, 1e9), "Greatest value"},
    {"limits.*.age_us", "us", NULL, NO_RANGE,
     "Age of the received values at the steps of the receivers"},
    {"limits.*.age_us.p50", "us", NULL, RANGE(0, 1e9), "Greatest median"},
    {"limits.*.age_us.p99", "us", NULL, RANGE(0, 1e9), "Greatest 99th percentile"},
    {"limits.*.age_us.p999", "us", NULL, RANGE(0, 1e9), "Greatest 99.9th percentile"},
    {"limits.*.age_us.p9999", "us", NULL, RANGE(0, 1e9), "Greatest 99.99th percentile"},
    {"limits.*.age_us.max", "us", NULL, RANGE(0, 1e9), "Greatest value"},
    {"limits.*.round_trip_us", "us", NULL, NO_RANGE, "Time for a value to go there and back"},
    {"limits.*.round_trip_us.p50", "us", NULL, RANGE(0, 1e9), "Greatest median"},
    {"limits.*.round_trip_us.p99", "us", NULL, RANGE(0, 1e9), "Greatest 99th percentile"},
    {"limits.*.round_trip_us.p999", "us", NULL, RANGE(0, 1e9), "Greatest 99.9th percentile"},
    {"limits.*.round_trip_us.p9999", "us", NULL, RANGE(0, 1e9), "Greatest 99.99th percentile"},
    {"limits.*.round_trip_us.max", "us", NULL, RANGE(0, 1e9), "Greatest value"},

    {"bode", "", NULL, NO_RANGE,
     "The frequency response that `hiloco bode` measures, and the margins that the loop must have"},
    {"bode.inject", "", NULL, TEXT,
     "The input to which the sine is added, such as control.measured, or an output that feeds one "
     "input"},
    {"bode.response", "", NULL, TEXT,
     "The output that is read; without this key what feeds the input, for the response of the "
     "loop"},
    {"bode.from_hz", "Hz", NULL, RANGE(1e-6, 1e9),
     "First frequency; without this key a thousandth of the last one"},
    {"bode.to_hz", "Hz", NULL, RANGE(1e-6, 1e9),
     "Last frequency, below 0.45 of the rate of the input's node; without this key 0.4 of it"},
    {"bode.points", "", "30", RANGE(1, 1000), "Number of frequencies"},
    {"bode.multisine", "", "false", NO_RANGE,
     "All frequencies at once, in windows that have whole periods of each"},
    {"bode.amplitude", "", NULL, RANGE(1e-12, 1e12),
     "Amplitude of each sine, in the input's unit; without this key 1 % of the input's value when "
     "the measurement begins, and with multisine this by the square root of their number"},
    {"bode.start_s", "s", NULL, TIME_S(0),
     "When the measurement begins; without this key at the end of the scenario's duration"},
    {"bode.phase_margin_deg", "deg", NULL, RANGE(0, 180), "Least phase margin of the loop"},
    {"bode.gain_margin_db", "dB", NULL, RANGE(0, 200), "Least gain margin of the loop"},

    {"validity", "", "{}", NO_RANGE, "Bounds within which a run is valid"},
    {"validity.missed_percent", "%", "1", RANGE(0, 100),
     "Steps that a loop may miss, by running late or by leaving them out"},
    {"validity.lost_percent", "%", "1", RANGE(0, 100),
     "Time of the run for which a loop may stand still in all"},
    {"validity.gap_us", "us", "0", TIME_US(0),
     "Time that a loop may stand still at once; 0: ten of its periods, at least 1 ms"},
    {"validity.behind_us", "us", "0", TIME_US(0),
     "How far a loop with catch_up may be behind the clock; 0: ten of its periods, at least 1 ms"},
    {"validity.stale_inputs", "", "0", RANGE(0, NUMBER_MAX),
     "How often an input may be older than its limit"},
    {"validity.bad_inputs", "", "0", RANGE(0, NUMBER_MAX),
     "How many inputs may be rejected because they are not numbers"},
    {"validity.absent_faults", "", "0", RANGE(0, NUMBER_MAX), "How many faults may fail to begin"},
    {"validity.lost_records", "", "0", RANGE(0, NUMBER_MAX), "How many rows the recorder may lose"},
    {"validity.allow_degraded", "", "true", NO_RANGE,
     "Whether the kernel may grant less than the scenario asks for"},
    {"validity.required", "", "true", NO_RANGE,
     "Whether a run that is not valid ends with status 3"},

    {"trace", "", "{}", NO_RANGE, "The LTTng trace of a run in real time; virtual time has none"},
    {"trace.enable", "", "false", NO_RANGE, "Trace the run into the folder ctf of its results"},
    {"trace.buffer_kib", "KiB", "0", RANGE(0, 4194304),
     "Size of each core's buffer, rounded up to a power of two; 0: 64 MiB, or less so that those "
     "of all cores of the machine have at most 256 MiB; with trace.keep: all, events that find it "
     "full are lost and counted"},
    {"trace.keep", "", "recent", NO_RANGE,
     "The newest events that fit into the buffers, saved at the first misses, at faults and "
     "failures, when asked, and at the end; or all events"},
    {"trace.every", "", "1", RANGE(1, 1000000),
     "Of so many spans of 10 ms, all steps of one are traced; misses always are"},
    {"trace.kernel", "", "true", NO_RANGE,
     "Also trace what the kernel does on the loops' cores, if possible"},
    {"trace.kernel_buffer_kib", "KiB", "0", RANGE(0, 1048576),
     "Size of each core's buffer for kernel events; 0: 8 MiB, or less so that those of all cores "
     "have at most 128 MiB; when it is full the oldest are lost"},
    {"trace.events", "", "{}", NO_RANGE, "Which events are traced"},
    {"trace.events.step", "", "true", NO_RANGE,
     "Each step of each row of loops: its lateness, its duration, the ages of its inputs"},
    {"trace.events.miss", "", "true", NO_RANGE, "Each missed deadline"},
    {"trace.events.round_trip", "", "true", NO_RANGE,
     "In the event of a step: the new messages that it found, which give the round trips"},
    {"trace.events.push", "", "false", NO_RANGE, "Each push of a variable"},
    {"trace.events.pull", "", "true", NO_RANGE, "Each pull of a variable"},
    {"trace.events.fence", "", "true", NO_RANGE, "Each fence"},
    {"trace.events.lock", "", "true", NO_RANGE,
     "Each lock, when it is acquired and when it is released"},
    {"trace.events.barrier", "", "true", NO_RANGE,
     "Each barrier, when a node enters and when it leaves"},
    {"trace.events.peer", "", "true", NO_RANGE, "Each peer met or lost"},
    {"trace.events.state", "", "true", NO_RANGE,
     "Each change of a node's state, and each event of the record"},

    {"placement", "", NULL, NO_RANGE,
     "The executors, which are processes; without it one for each node or array of nodes, on its "
     "cpu"},
    {"placement[].cpu", "", "-1", CPU, "Core that it is pinned to; -1: any"},
    {"placement[].priority", "", "80", RANGE(0, 99),
     "SCHED_FIFO priority; 0: the ordinary scheduler"},
    {"placement[].scheduler", "", "fifo", NO_RANGE,
     "SCHED_FIFO, SCHED_DEADLINE, or the ordinary scheduler"},
    {"placement[].wait", "", "spin", NO_RANGE,
     "How to wait for the next step: spin, or sleep until 100 us before and then spin"},

    {"on_record_error", "", "go_on", NO_RANGE,
     "When the record can no longer be written, as on a full disk: continue without a record, or "
     "end the run"},
    {"tcp.nodes[].nodes", "", NULL, TEXTS, "The nodes at this address: a name, or a list of names"},
    {"verbs.nodes[].nodes", "", NULL, TEXTS,
     "The nodes at this address: a name, or a list of names"},
    {"network.latency_us", "us", "0", TIME_US(0), "One-way latency of each link"},
    {"network.links", "", "[]", NO_RANGE, "Links with another latency"},
    {"network.links[].from", "", NULL, TEXT, "The nodes that send"},
    {"network.links[].to", "", NULL, TEXT, "The nodes that receive"},
    {"network.links[].latency_us", "us", NULL, TIME_US(0), "Replaces network.latency_us"},

    {"nodes", "", NULL, NO_RANGE, "The nodes by name; each is one loop"},
    {"nodes.*", "", NULL, NO_RANGE, "A node, or an array of nodes"},
    {"nodes.*.count", "", NULL, RANGE(1, SCENARIO_NODES_MAX),
     "How many there are, numbered from 0; without this key one node without a number"},
    {"nodes.*.period_us", "us", NULL, TIMES_US(0.001), "Time between two steps"},
    {"nodes.*.phase_us", "us", "0", TIMES_US(0), "Time of the first step"},
    {"nodes.*.stagger_us", "us", "0", TIME_US(0),
     "Each node's first step is this much later than the one of the node before"},
    {"nodes.*.realtime_phase_us", "us", "0", TIME_US(0),
     "Added to phase_us in real time, where steps that are due at the same instant would race"},
    {"nodes.*.cpu", "", "-1", CPU, "Core that its executor is pinned to; -1: any"},
    {"nodes.*.shards", "", "1", RANGE(1, SCENARIO_SHARDS_MAX),
     "Its links are split among so many threads, each of which needs a core; 1: it has one thread"},
    {"nodes.*.shard_cpus", "", "[]", CPU,
     "Where the threads after the first are pinned, an entry for each; -1, or no entries: "
     "anywhere"},
    {"nodes.*.priority", "", "80", RANGE(0, 99), "SCHED_FIFO priority; 0: the ordinary scheduler"},
    {"nodes.*.scheduler", "", "fifo", NO_RANGE,
     "SCHED_FIFO, SCHED_DEADLINE, or the ordinary scheduler"},
    {"nodes.*.wait", "", "spin", NO_RANGE,
     "How to wait for the next step: spin, or sleep until 100 us before and then spin"},
    {"nodes.*.overrun", "", NULL, NO_RANGE,
     "What to do with steps that it was too late for: run them, skip them, or end the run; without "
     "this key run them on a node with a continuous model, else skip them"},
    {"nodes.*.catch_up_limit", "", "0", RANGE(0, 1000),
     "With catch_up: at most how many times as fast as the clock; 0: as fast as possible"},
    {"nodes.*.resync_after_us", "us", "0", TIME_US(0),
     "With catch_up: steps are left out when it is further behind; 0: ten of its periods"},
    {"nodes.*.input_age_limit_us", "us", "0", TIME_US(0),
     "An input older than this is stale; 0: ten periods of sender and receiver, at least 1 ms"},
    {"nodes.*.on_stale_input", "", "hold", NO_RANGE,
     "Continue with the last value, use the safe values of components, or end the run"},
    {"nodes.*.bad_inputs_limit", "", "10", RANGE(1, NUMBER_MAX),
     "After so many inputs in a row that are not numbers, the component that takes them is safe"},

    {"components", "", NULL, NO_RANGE, "What runs on the nodes: instances of models, by name"},
    {"components.*", "", NULL, NO_RANGE, "A component, or an array of them"},
    {"components.*.model", "", NULL, TEXTS, "Its model; `hiloco models` lists the built-in ones"},
    {"components.*.node", "", NULL, TEXT,
     "The node that runs it; NAME[*] puts each one of an array on a node of its own"},
    {"components.*.count", "", NULL, 1, SCENARIO_NODES_MAX, SCENARIO_COUNT, false,
     "How many there are, numbered from 0, or the name of an array of nodes: as many as it has; "
     "without this key as many as `node` names"},
    {"components.*.width", "", "1", RANGE(1, 65536),
     "Number of places in each wide row of its model"},
    {"components.*.settings", "", NULL, NO_RANGE,
     "Settings of a model that is not built in, with the model's names"},
    {"components.*.parameters", "", "{}", NO_RANGE,
     "Parameters and constant inputs, with the model's names"},
    {"components.*.initial", "", "{}", NO_RANGE, "Initial states, with the model's names"},
    {"components.*.inputs", "", "{}", NO_RANGE, "Constant inputs, with the model's names"},
    {"components.*.safe", "", NULL, NO_RANGE,
     "Values to use when an input is stale: outputs of a sampled model, inputs of a continuous "
     "one; enable is 0 if not given"},
    {"components.*.overrides", "", NULL, NO_RANGE, "What some components of an array have instead"},
    {"components.*.overrides[].id", "", NULL, TEXT,
     "The component that it is for, or a range of them, as in 2-5"},
    {"components.*.overrides[].model", "", NULL, TEXT, "Replaces the model"},
    {"components.*.overrides[].parameters", "", NULL, NO_RANGE,
     "Replaces values of the parameters"},
    {"components.*.overrides[].initial", "", NULL, NO_RANGE,
     "Replaces values of the initial states"},
    {"components.*.overrides[].inputs", "", NULL, NO_RANGE,
     "Replaces values of the constant inputs"},
    {"components.*.tolerance", "", NULL, NO_RANGE,
     "How the components of an array differ from each other"},
    {"components.*.tolerance.percent", "%", "0", RANGE(0, 99),
     "Spread of the factors that are drawn for the values of parts: uniform in 1 +- this / 100"},
    {"components.*.tolerance.seed", "", "1", RANGE(0, NUMBER_MAX), "Seed of these factors"},
    {"components.*.tolerance.multipliers", "", "{}", NO_RANGE,
     "Given factors, by the names of parameters and inputs: one for all, or a list"},
    {"components.*.computation_delay", "", "false", NO_RANGE,
     "Send what a sampled model computes one step later"},
    {"components.*.before", "", NULL, TEXT,
     "An input: what feeds it feeds the component's first input, and the first output feeds it"},
    {"components.*.on_error", "", "end", NO_RANGE,
     "When it fails, or an output is not a number: end the run, or continue with the safe values"},

    {"connections", "", "[]", NO_RANGE, "From outputs to inputs"},
    {"connections[].from", "", NULL, TEXT,
     "The output, such as motor.speed_rad_s or cell[*].voltage_v"},
    {"connections[].to", "", NULL, TEXT,
     "The input; in arrays each is connected to the one with the same number"},
    {"connections[].scale", "", NULL, NUMBERS, "Factor for the value"},
    {"connections[].offset", "", "0", NUMBERS, "Added to the scaled value"},
    {"connections[].initial", "", NULL, NUMBERS,
     "The input until the first value arrives; without this key the model's default"},
    {"connections[].age_limit_us", "us", NULL, TIME_US(0.001),
     "A value that is older when the input's node takes it is too old; without this key none is"},
    {"connections[].on_old", "", NULL, NO_RANGE,
     "With age_limit_us: hold the value (the default), use old_value instead, make the component "
     "safe with its `safe` values, or end the run"},
    {"connections[].old_value", "", NULL, NUMBERS,
     "With on_old: value: the input until a newer value arrives"},

    {"sources", "", "{}", NO_RANGE, "Sources of inputs over time, by name"},
    {"sources.*", "", NULL, NO_RANGE, "One of: constant, steps, sine, pulses, csv, record"},
    {"sources.*.to", "", NULL, TEXTS, "The input that it feeds, or a list of inputs"},
    {"sources.*.constant", "", NULL, NUMBER, "One constant value"},
    {"sources.*.steps", "", NULL, NO_RANGE, "A value that changes at given times"},
    {"sources.*.steps.initial", "", NULL, NUMBER, "Value at the start"},
    {"sources.*.steps.changes", "", "[]", NO_RANGE, "Later values, in the order of time"},
    {"sources.*.steps.changes[].time_s", "s", NULL, TIME_S(0), "When the change begins"},
    {"sources.*.steps.changes[].value", "", NULL, NUMBER, "The new value"},
    {"sources.*.steps.changes[].ramp_s", "s", "0", TIME_S(0), "Duration of the change; 0: a step"},
    {"sources.*.sine", "", NULL, NO_RANGE, "mean + amplitude sin(2 pi frequency t + phase)"},
    {"sources.*.sine.mean", "", "0", NUMBER, "Mean value"},
    {"sources.*.sine.amplitude", "", NULL, NUMBER, "Amplitude"},
    {"sources.*.sine.frequency_hz", "Hz", NULL, RANGE(0, 1e9), "Frequency"},
    {"sources.*.sine.phase_deg", "deg", "0", NUMBER, "Value at the start"},
    {"sources.*.pulses", "", NULL, NO_RANGE, "High for part of each period"},
    {"sources.*.pulses.low", "", "0", NUMBER, "Value between the pulses"},
    {"sources.*.pulses.high", "", NULL, NUMBER, "Value during the pulses"},
    {"sources.*.pulses.period_s", "s", NULL, TIME_S(1e-9), "Time from one pulse to the next"},
    {"sources.*.pulses.width_s", "s", NULL, TIME_S(0), "Duration of a pulse, at most the period"},
    {"sources.*.pulses.delay_s", "s", "0", TIME_S(0), "Beginning of the first pulse"},
    {"sources.*.csv", "", NULL, NO_RANGE, "A column of a file"},
    {"sources.*.csv.file", "", NULL, TEXT, "Name of the file, relative to the scenario's folder"},
    {"sources.*.csv.time", "", "time_s", TEXT, "The column with the time, in s"},
    {"sources.*.csv.column", "", NULL, TEXT, "The column with the value"},
    {"sources.*.csv.between", "", "line", NO_RANGE,
     "Value between two rows: on a straight line, or the earlier one"},
    {"sources.*.record", "", NULL, NO_RANGE, "What another run recorded"},
    {"sources.*.record.run", "", NULL, TEXT,
     "The other run's folder, relative to the scenario's folder"},
    {"sources.*.record.signal", "", NULL, TEXT,
     "The signal or measure; an array feeds one input each"},
    {"sources.*.record.node", "", NULL, TEXT,
     "The node or array of nodes that recorded it; without this key the first one that did"},
    {"sources.*.record.between", "", "hold", NO_RANGE,
     "Value between two rows: the earlier one, or on a straight line"},
    {"sources.*.record.shift_s", "s", "0", NUMBER, "Added to the time of each row"},
    {"sources.*.scale", "", "1", NUMBERS, "Factor for the value"},

    {"record", "", NULL, NO_RANGE,
     "What is recorded; without record and measures, all signals, in at most 16 MiB"},
    {"record[].signals", "", NULL, TEXTS, "A signal, or a list of them"},
    {"record[].node", "", NULL, TEXT,
     "The node that records them: one that has them or receives them; without this key the one "
     "that has them"},
    {"record[].decimation", "", "1", RANGE(0, 1e9), "One row for every so many steps; 0: none"},

    {"measures", "", "{}", NO_RANGE, "What the summary's figures describe, by name"},
    {"measures.*", "", NULL, NO_RANGE, "A signal or a sum of signals, compared with a reference"},
    {"measures.*.sum", "", NULL, TEXTS, "One measure: the sum of these signals, or one signal"},
    {"measures.*.each", "", NULL, TEXTS, "A measure of each of these signals"},
    {"measures.*.reference", "", NULL, TEXT,
     "Its reference: a signal, or one for each; of a sum their sum, if one source feeds them all"},
    {"measures.*.reference_scale", "", "1", NUMBER, "Factor for the reference"},
    {"measures.*.band", "", "0", RANGE(0, HUGE_VAL),
     "Greatest distance from the reference of a settled measure, in its unit; 0: 2 % of the "
     "reference"},
    {"measures.*.node", "", NULL, TEXT,
     "The node that computes it; without this key the one with the reference or, without a "
     "reference, the first signal"},

    {"placement[].nodes", "", NULL, TEXTS, "The nodes that it runs: a name, or a list of names"},
};

const unsigned scenario_key_count = sizeof(scenario_keys) / sizeof(scenario_keys[0]);

/* The text after an index, which is written .0 or []; the path itself if it has no index. */
static const char *after_index(const char *path)
{
    if (strncmp(path, "[]", 2) == 0)
        return path + 2;
    size_t digits = *path == '.' ? strspn(path + 1, "0123456789") : 0;
    return digits > 0 ? path + 1 + digits : path;
}

/*
 * Whether `path` matches `pattern`, in which [] stands for any index. A pattern for a list also
 * matches its entries: the index at the end may be left out of the pattern.
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

/* The last letter of each key. Most keys differ from a path there already, and a great scenario
 * looks for several keys of each component. */
static char key_ends[sizeof(scenario_keys) / sizeof(scenario_keys[0])];

static void fill_key_ends(void)
{
    for (unsigned i = 0; i < scenario_key_count; i++)
        key_ends[i] = scenario_keys[i].path[strlen(scenario_keys[i].path) - 1];
}

/* The last letter before an index. */
static char end_of_path(const char *path)
{
    const char *end = path + strlen(path), *dot = strrchr(path, '.');

    if (end - path > 2 && strcmp(end - 2, "[]") == 0)
        end -= 2;
    else if (dot && dot > path && after_index(dot) == end)
        end = dot;
    return end > path ? end[-1] : '\0';
}

const struct scenario_key *scenario_key_find(const char *path)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const char end = end_of_path(path);

    pthread_once(&once, fill_key_ends);
    for (unsigned i = 0; i < scenario_key_count; i++)
        if ((key_ends[i] == end || key_ends[i] == '*') && same_path(scenario_keys[i].path, path))
            return &scenario_keys[i];
    return NULL;
}
