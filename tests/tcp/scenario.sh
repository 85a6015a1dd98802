#!/bin/bash
# Runs the 20-converter scenario with `fabric: tcp` to convergence over loopback: as separate
# processes started by hand, and by `hiloco run`. Also tests the messages and reactions when a
# process dies or stands still.
set -euo pipefail
source "$(dirname "$0")/common.sh"
export HILOCO_SECRET=0123456789abcdef0123456789abcdef

processes() {
    local pids=() rc=0
    for i in 0 10; do
        "$build/converter" "${slow[@]}" --id "$i-$((i + 9))" --set duration_s=4 --wait 120 --quiet \
            2>"$work/converter$i" & pids+=($!)
    done
    started+=("${pids[@]}")
    "$build/controller" "${slow[@]}" --set duration_s=4 --wait 120 --out "$work/processes" || rc=$?
    for pid in "${pids[@]}"; do wait "$pid" || rc=$?; done
    cat "$work"/converter*
    return $rc
}

launched() {
    "$build/hiloco" run "${slow[@]}" --set duration_s=4 --out "$work/launched"
}

# begin [OPTION...]: starts a controller and two processes of converters, and waits until they run.
begin() {
    local few=("${slow[@]}" --set nodes.converter.count=3 --set nodes.controller.period_us=50000
               --set nodes.converter.period_us=20000 --set duration_s=300 --set tcp.timeout_ms=500 "$@")
    rm -f "$work/controller" # the previous run's output
    "$build/converter" "${few[@]}" --id 0 2>"$work/first" >&2 & first=$!
    "$build/converter" "${few[@]}" --id 1-2 2>"$work/second" >&2 & second=$!
    "$build/controller" "${few[@]}" --out "$work/out" 2>"$work/controller" >&2 & controller=$!
    started+=($first $second $controller)
    until [[ -e $work/controller ]]; do sleep 0.1; done
    said "$work/controller" '^0\.[1-9].* of 300 s|^[1-9].* of 300 s'
}

# Prints the launcher's child process, which runs the loop.
child() { cat "/proc/$1/task/$1/children"; }
signal_node() { kill "-$1" $(child "$2"); }

was_back() {
    cat "$work/out/summary.json"
    tr -d ' \n' <"$work/out/summary.json" | grep -q '"losses":{"lost":1,"back":1,'
}

# Prints the steps of converter 0 that the controller knows of.
heard() {
    "$build/hiloco" top $controller --json --count 1 | grep -o '"steps":[0-9]*' | sed -n '3s/.*://p'
}
goes_on() { (($(heard) > heard_before + 20)); }

echo "--- tcp: 20 converters and a controller over loopback, periods 50 and 200 ms"
settles "a process of the controller, two of ten converters each: 4 s" "$work/processes" processes
settles "hiloco run: 4 s" "$work/launched" launched

# The same with faults in the scenario. One of them cuts a link for longer than the age limit.
faulted() {
    "$build/hiloco" run "${slow[@]}" "${with_faults[@]}" --quiet --out "$work/faulted"
}

echo "--- tcp: faults of a scenario"
check "signals, parameters, links and nodes go wrong" faulted
check "each did at its time, and what was cut was too old" faults_acted "$work/faulted"

# Imitates programs of two versions: a relay changes only the version that each end sends. They call
# each other again and again, until they are interrupted.
relayed() { # PORT PLACES-OF-CONTROLLER PLACES-OF-CONVERTERS
    local few=("${slow[@]}" --set nodes.converter.count=3 --set 'components.converter.tolerance={}' --wait 600)
    "$build/tcp-relay" 127.9.0.9 127.9.0.1 "$1" 1 0 0 0 100000 4 99 >"$work/relay" & relay=$!
    "$build/converter" "${few[@]}" --set "$3" --id 0-2 2>"$work/first" >&2 & first=$!
    "$build/controller" "${few[@]}" --set "$2" --out "$work/versions" 2>"$work/controller" >&2 &
    controller=$!
    started+=($relay $first $controller)
}

interrupted() {
    kill -INT $controller $first && ends $controller 130 && ends $first 130 && kill $relay
}

two_versions() {
    relayed 18700 'tcp.nodes=[{nodes: controller, address: 127.9.0.1}, {nodes: converter, address: 127.9.0.9}]' \
        'tcp.nodes=[{nodes: controller, address: 127.9.0.9}, {nodes: converter, address: 127.9.0.1}]'
    said "$work/controller" 'node 0 \(of 4\) met a node of another version: 99 there' &&
        said "$work/first" 'node 1 \(of 4\) met a node of another version: 99 there' && interrupted
}

two_versions_at_a_rendezvous() {
    relayed 18699 rendezvous=127.9.0.1 rendezvous=127.9.0.9
    said "$work/controller" 'from 127.9.0.9 is refused .*: it is of another version: 99 there' &&
        said "$work/first" 'for controller at 127.9.0.9, port 18699: it is of another version: 99 there' &&
        interrupted
}

echo "--- tcp: programs of two versions"
check "both say so" two_versions
check "at a rendezvous, too" two_versions_at_a_rendezvous

echo "--- tcp: what really dies"
check "a controller and 3 converters run" begin
check "kill -9 of converter 0" signal_node KILL $first
check "the controller: peer 1 is lost" said "$work/controller" 'warning: node 0: peer 1 is lost'
check "it fails: a converter was lost" said "$work/controller" 'controller failed: lost converter'
check "and ends with 1" ends $controller 1
check "the launcher of converter 0 ends with 1" ends $first 1
check "the other converters end with 1: the controller is gone" ends $second 1

check "a controller and 3 converters run again" begin
check "converter 0 stands still" signal_node STOP $first
check "the controller: nothing was heard of it" \
    said "$work/controller" 'nothing was heard of node 1 for 500 ms'
check "it ends with 1" ends $controller 1
signal_node CONT $first || true # on a busy machine its launcher may have killed it by now
check "the converter that stood still ends with 1" ends $first 1
check "and so do the others" ends $second 1

check "with on_lost: restart a controller and 3 converters run" begin --set on_lost=restart
check "kill -9 of converter 0" signal_node KILL $first
check "the controller: peer 1 is lost" said "$work/controller" 'warning: node 0: peer 1 is lost'
check "it is started again" said "$work/first" 'started again'
heard_before=$(heard)
check "the controller hears of it again" patiently goes_on
kill -INT $first $second $controller || true
check "until they are interrupted" ends $controller 130
check "one was lost, and came back" was_back
conclude
