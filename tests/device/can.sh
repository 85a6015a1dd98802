#!/bin/bash
# Tests a CAN bus: two nodes that talk over it, their frames as other programs see them, and missing
# frames.
set -euo pipefail
source "$(dirname "$0")/common.sh"

scenario=("$scenarios/can.yaml" "${at_leisure[@]}" --set nodes.control.period_us=10000
          --set nodes.drive.period_us=10000
          --set components.bus_of_control.settings.frames.1.age_limit_us=3000000)

# Starts a run of one node that sends the number it receives in frame 0x321 back in frame 0x123.
echoing() { # ON_STALE [SIGNAL]
    cat >"$work/echo.yaml" <<END
name: echo
duration_s: 600
validity: {required: false}
hang_limit_s: 60
nodes: {n: {period_us: 10000, priority: 0, wait: hybrid, on_stale_input: $1}}
components:
  bus:
    model: can:vcan0
    node: n
    settings:
      frames:
        - id: 0x321
          direction: receive
          length: 1
          age_limit_us: 2000000
          signals: [{name: asked, start: 0, length: 8, initial: 7}]
        - id: 0x123
          direction: send
          length: 3
          signals: [{name: answer, start: 15, length: 12, byte_order: big, safe: 0xabc}]
  same: {model: gain, node: n, safe: {output: 1}}
connections:
  - {from: bus.asked, to: same.input}
  - {from: same.output, to: bus.answer}
END
    sed -i 's/safe: 0xabc/safe: 2748/' "$work/echo.yaml"
    start run "$build/hiloco" run "$work/echo.yaml" --out "$out"
}

# Logs the frames of a bus, one a line, to $work/bus.
watch_bus() {
    start bus stdbuf -oL candump -L vcan0
    watcher=$process
}

frame() { said "$work/bus" "vcan0 $1"; }

was_stale() { grep -A1 '"stale_inputs"' "$out/summary.json" | grep -qE '"count": [1-9]'; }

echo "--- device: a CAN bus"
watch_bus
check "a scenario is checked" "$build/hiloco" check "${scenario[@]}"
check "two nodes talk over the bus" says 0 . "$build/hiloco" run "${scenario[@]}" --out "$out"
check "and settle" settled speed_rad_per_s
check "the torque was a frame" frame '120#03E8'
check "the speed was one too, with an extended identifier" frame '18FF0102#'

check "a node with a frame that is not there" echoing hold
check "begins with the initial value" frame '123#000070'
cansend vcan0 321#2A
check "takes what comes" frame '123#0002A0'
check "finds it stale" said "$work/run" 'the input of a device of n was too old'
cansend vcan0 321#2B
check "goes on with what comes then" frame '123#0002B0'
kill -INT "$process"
check "until it is interrupted" ends "$process" 130
check "sends its safe value then" frame '123#00ABC0'
check "and has counted the stale input" was_stale

check "with on_stale_input: end" echoing end
check "a frame that does not come ends the run" ends "$process" 1
check "it says why" said "$work/run" 'a stale input ends it: a device of n, at'

check "with on_stale_input: safe" echoing safe
check "it makes safe what takes it" frame '123#000010'
cansend vcan0 321#2E
check "until it is there" frame '123#0002E0'
: >"$work/bus"
check "kill -9 of the node" kill -9 $(node_of "$process")
check "the guardian sends the safe value" frame '123#00ABC0'
check "the run fails" ends "$process" 1
# A joining process has the bus on its node beside its own computation. Its guardian is hiloco's.
cat >"$work/joined.yaml" <<END
name: joined
duration_s: 600
validity: {required: false}
hang_limit_s: 60
nodes:
  control: {period_us: 10000, priority: 0, wait: hybrid}
  bench: {period_us: 10000, priority: 0, wait: hybrid}
components:
  law: {model: gain, node: control, parameters: {gain: 0}}
  motor:
    model: outside
    node: bench
    settings: {takes: {voltage_v: V}, gives: {speed_rad_per_s: rad/s}}
  bus:
    model: can:vcan0
    node: bench
    settings:
      frames:
        - {id: 0x777, direction: send, length: 1, period_us: 10000,
           signals: [{name: speed, start: 0, length: 8, safe: 90}]}
connections:
  - {from: motor.speed_rad_per_s, to: law.input, scale: 1}
  - {from: law.output, to: motor.voltage_v, scale: 1}
  - {from: motor.speed_rad_per_s, to: bus.speed, scale: 1}
END
start run "$build/hiloco" run "$work/joined.yaml" --out "$out"
launcher=$process
start joined "$build/node-bench" "$work/joined.yaml"
check "a process that joins sends frames" frame '777#00'
check "kill -9 of it" kill -9 "$process"
check "its guardian sends the safe value" frame '777#5A'
check "and says so" said "$work/joined" 'its node is gone; its safe values are written'
check "the run ends" patiently is_gone "$launcher"
kill "$watcher"

# refused TEXT OPTION...: checks that the run is refused at the start, with a message of its own.
refused() {
    says 1 "$1" "$build/hiloco" run "${scenario[@]}" "${@:2}" --out "$out"
}
check "a bus that is missing" refused 'error: bus_of_control: there is no network interface can7' \
    --set 'components.bus_of_control.model="can:can7"'
check "an interface that is no bus" refused 'error: bus_of_control: lo is no CAN interface' \
    --set 'components.bus_of_control.model="can:lo"'
check "a period that is not its node's" says 2 'frame 0x120 is sent each 15000 us, and its node steps each 10000 us' \
    "$build/hiloco" check "${scenario[@]}" \
    --set components.bus_of_control.settings.frames.0.period_us=15000
check "the bus takes frames of CAN FD" says 0 . "$build/hiloco" run "${scenario[@]}" --out "$out" \
    --set duration_s=0.5 --set components.bus_of_control.settings.frames.0.fd=true \
    --set components.bus_of_control.settings.frames.0.length=12
ip link set vcan0 down
ip link set vcan0 mtu 16 up
check "one that does not says so" refused 'vcan0 does not take CAN FD' \
    --set components.bus_of_control.settings.frames.0.fd=true
ip link set vcan0 down
check "a bus that is down" refused 'error: bus_of_control: vcan0 is down'
conclude
