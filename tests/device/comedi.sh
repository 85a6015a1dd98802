#!/bin/bash
# Tests an I/O card: a loop over it, the safe values however the run ends, and unsuitable cards.
set -euo pipefail
source "$(dirname "$0")/common.sh"

card=$build/test-card
scenario=("$scenarios/card.yaml" "${at_leisure[@]}" --set nodes.bench.period_us=10000
          --set nodes.bench.priority=0)

# Drives output 0 with 5 V while it runs. The safe value is -1 V.
driving=("${scenario[@]}" --set duration_s=600
         --set 'connections=[{from: card.driven_v, to: tank.input}, {from: tank.output, to: card.level_m}]'
         --set 'sources={drive: {to: card.drive_v, constant: 5}}' --set 'measures={}'
         --set 'components={card: {model: "comedi:/dev/comedi0", node: bench, settings: {
                    write: [{name: drive_v, channel: 0, safe: -1}, {name: level_m, unit: m, channel: 1}],
                    read: [{name: driven_v, channel: 0}]}},
                tank: {model: first_order_lag, node: bench}}' --set 'record=[]')

has() { # CHANNEL VOLTS
    awk -v is="$("$card" read 0 "$1")" -v wanted="$2" \
        'BEGIN { print is " V"; exit !(is - wanted < 0.01 && wanted - is < 0.01) }'
}

in_time() { patiently has "$@"; }

# drives [COMMAND...]: starts a run, under COMMAND if given, and waits until it drives output 0.
drives() {
    start run "$@" "$build/hiloco" run "${driving[@]}" --out "$out"
    in_time 0 5 || { cat "$work/run"; return 1; }
}

guardian() { pgrep -x hl-guardian; }
no_guardian() { ! guardian; }
nobody_guards() { patiently no_guardian; }

# The guardian has open only the device, the connection to its node, and the destinations of its
# messages.
guardian_holds_little() {
    local open
    open=$(ls -l "/proc/$(guardian)/fd" | awk '/->/ { print $NF }')
    echo "$open"
    (($(wc -l <<<"$open") == 5)) && grep -q /dev/comedi0 <<<"$open" &&
        ! grep -qE 'memfd|hiloco' <<<"$open"
}

# Kills the process group. The guardian survives, as it is in a session of its own.
kill_group() { kill -9 -- "-$(ps -o pgid= "$1" | tr -d ' ')"; }

echo "--- device: a card"
check "the card reads what it puts out" "$card" write 1 0 3
check "so" has 0 3
check "a scenario is checked" "$build/hiloco" check "${scenario[@]}"
check "and the card left alone" has 0 3
check "a scenario of a card that is missing is checked" \
    "$build/hiloco" check "${scenario[@]}" --set 'components.card.model="comedi:/dev/comedi9"'

check "a loop over the card" says 0 . "$build/hiloco" run "${scenario[@]}" --out "$out"
check "settles" settled level_m
check "its output is safe after it" has 0 -1

check "output 0 is driven" drives
check "its guardian holds little" guardian_holds_little
check "no other writes to the card" says 1 '' "$card" write 1 0 2
kill -TERM "$process"
check "SIGTERM ends the run" ends "$process" 130
check "output 0 is safe" has 0 -1
check "it is driven" drives
check "kill -9 of the node" kill -9 $(node_of "$process")
check "output 0 is safe" in_time 0 -1
check "the guardian says so" said "$work/run" 'comedi0: its node is gone; its safe values are written'
check "the run fails" ends "$process" 1
check "the guardian is gone" nobody_guards
check "output 0 is driven" drives
check "kill -9 of the launcher" kill -9 "$process"
check "output 0 is safe" in_time 0 -1
check "the guardian is gone" nobody_guards
check "it is driven, in a group of its own" drives setsid
check "kill -9 of the whole group" kill_group "$process"
check "output 0 is safe" in_time 0 -1
check "it is driven" drives
for signal in INT TERM HUP QUIT USR1; do kill -$signal "$(guardian)"; done
check "signals do not end the guardian" has 0 5
check "kill -9 of the guardian" kill -9 "$(guardian)"
check "the run ends" ends "$process" 1
check "it says why" said "$work/run" 'card: the guardian of its safe values is gone'
check "output 0 is safe" has 0 -1
check "it is driven" drives
check "the node is stopped" kill -STOP $(node_of "$process")
check "kill -9 of it" kill -9 $(node_of "$process")
check "output 0 is safe" in_time 0 -1

# refused TEXT OPTION...: checks that the run is refused at the start, with a message of its own,
# and that the output stays safe.
refused() {
    says 1 "$1" "$build/hiloco" run "${scenario[@]}" "${@:2}" --out "$out"
}
check "a card that is missing" refused 'error: card: /dev/comedi9 cannot be opened: No such file' \
    --set 'components.card.model="comedi:/dev/comedi9"'
check "a file that is no card" refused 'error: card: /dev/null cannot be opened: it is no Comedi device' \
    --set 'components.card.model="comedi:/dev/null"'
check "a channel that it lacks" refused 'error: card: drive_v is on channel 8, but subdevice 1 has 8' \
    --set components.card.settings.write.0.channel=8
check "a subdevice that it lacks" refused 'error: card: drive_v is on subdevice 9, but the card has' \
    --set components.card.settings.write.0.subdevice=9
check "a subdevice of another kind" refused 'error: card: drive_v is on subdevice 0, which has no analogue output' \
    --set components.card.settings.write.0.subdevice=0
check "a range that it lacks" refused 'error: card: drive_v has range 7, but its channel has 2' \
    --set components.card.settings.write.0.range=7
check "digital channels that it lacks" refused 'card: drive_v is a channel that the card .* lacks: it has no digital output' \
    --set components.card.settings.write.0.kind=digital
check "a safe value that it cannot give" refused 'card: the safe value of level_m, 6, is beyond its range: -5 to 5' \
    --set components.card.settings.write.1.safe=6
start holder "$card" hold 1
check "another program takes the outputs" said "$work/holder" held
check "a card that is busy" refused 'error: card: its subdevice 1 is busy: another program has it'
kill "$process"
check "output 0 is as it was" has 0 -1
conclude
