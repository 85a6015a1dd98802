#!/bin/bash
# Tests digital channels: the lines of a parallel port, which Comedi drives. The port's data
# register has the outputs that this test checks, and reads them back.
set -euo pipefail
source "$(dirname "$0")/common.sh"

export CARD=/dev/comedi-lines
card=$build/test-card

# The law reads the pump's line through the port, inverted, and drives it with that, so the pump
# turns on and off. The valve is inverted, too, and held open; its safe value is closed. The lamp is
# a line of the control register.
running=("$scenarios/card.yaml" "${at_leisure[@]}" --set nodes.bench.period_us=10000
         --set nodes.bench.priority=0 --set duration_s=600 --set 'measures={}'
         --set 'components={port: {model: "comedi:/dev/comedi-lines", node: bench, settings: {
                    write: [{name: pump, kind: digital, channel: 0, safe: 0},
                            {name: valve, kind: digital, channel: 2, scale: -1, offset: 1, safe: 0},
                            {name: lamp, kind: digital, subdevice: 2, channel: 0, safe: 1}],
                    read: [{name: pump_off, kind: digital, channel: 0, scale: -1, offset: 1},
                           {name: valve_seen, kind: digital, channel: 2, scale: -1, offset: 1},
                           {name: fault, kind: digital, subdevice: 1, channel: 0}]}},
                turn: {model: gain, node: bench, parameters: {gain: 1}}}'
         --set 'connections=[{from: port.pump_off, to: turn.input}, {from: turn.output, to: port.pump}]'
         --set 'sources={valve: {to: port.valve, constant: 1}, lamp: {to: port.lamp, constant: 0}}'
         --set 'record=[{signals: [port.pump_off, port.valve_seen]}]')

# Reads the register itself, bypassing Comedi, which refuses access to the lines while a run has
# them.
register_has() { # VALUES SECONDS
    local seen
    seen=$("$card" port 0x378 "$2")
    echo "the register has $seen"
    [[ $seen == "$1" ]]
}

is() { register_has "$1" 0; }
has_bit() { (($("$card" bit "$1" "$2") == $3)); }   # SUBDEVICE CHANNEL VALUE

runs_on() {
    start run "$build/hiloco" run "${running[@]}" --out "$out"
    runs run
}

# The pump turns on and off, and the valve is always open. Before the first step the lines are safe; on
# a busy machine that takes some time.
turns() { register_has "0 1" 2; }

guardian() { pgrep -x hl-guardian; }
no_guardian() { ! guardian; }

echo "--- device: digital lines"
check "the port is attached" "$card" attach comedi_parport 0x378
check "a scenario is checked" "$build/hiloco" check "${running[@]}"
check "a run goes on" runs_on
check "it turns the pump on and off, with the valve open" patiently turns
check "kill -9 of the node" kill -9 $(node_of "$process")
check "the pump is off and the valve is closed" patiently is 4
check "the run fails" ends "$process" 1
check "the guardian is gone" patiently no_guardian
check "the lamp is on" has_bit 2 0 1
check "it runs again" runs_on
check "and turns the pump" patiently turns
kill -TERM "$process"
check "SIGTERM ends the run" ends "$process" 130
check "the pump is off and the valve is closed" is 4

refused() {
    says 1 "$1" "$build/hiloco" run "${running[@]}" "${@:2}" --out "$out"
}
check "a channel that it lacks" refused 'error: port: pump is on channel 8, but subdevice 0 has 8' \
    --set components.port.settings.write.0.channel=8
check "a line that is no output" refused 'error: port: pump is on subdevice 1, which has no digital output' \
    --set components.port.settings.write.0.subdevice=1
check "analogue channels that it lacks" refused 'error: port: pump is a channel that the card .* lacks: it has no analogue' \
    --set components.port.settings.write.0.kind=analog
conclude
