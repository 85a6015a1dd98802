#!/bin/bash
# Tests the programs when a peer dies or the link fails: they must notice, say so, and end in order.
set -euo pipefail
source "$(dirname "$0")/common.sh"

scenario=(configs/dcdc20-verbs.yaml --set nodes.converter.count=3 --set nodes.controller.period_us=50000
          --set nodes.converter.period_us=20000 --set nodes.controller.cpu=-1 --set nodes.converter.cpu=-1
          --set nodes.controller.priority=0 --set nodes.converter.priority=0
          --set nodes.controller.wait=hybrid --set nodes.converter.wait=hybrid --set duration_s=300
          --set verbs.timeout_exponent=14 --set verbs.retry_count=3
          --set "verbs.nodes=[{nodes: controller, address: $(address 0)},
                              {nodes: 'converter[0]', address: $(address 1)},
                              {nodes: 'converter[1-2]', address: $(address 2)}]")

# begin [OPTION...]: starts a controller and two processes of converters, and waits until they run.
begin() {
    "$build/converter" "${scenario[@]}" "$@" --id 0 2>"$work/first" >&2 & first=$!
    "$build/converter" "${scenario[@]}" "$@" --id 1-2 2>"$work/second" >&2 & second=$!
    "$build/controller" "${scenario[@]}" "$@" --out "$work/out" 2>"$work/controller" >&2 &
    controller=$!
    started+=($first $second $controller)
    said "$work/controller" '^0\.[1-9].* of 300 s|^[1-9].* of 300 s'
}

# In soft-RoCE of Linux 6.1, the kernel's own queue pair for connections is stuck once it has had
# something to send without a link. rping then cannot connect until the device is created again.
link_up() {
    ip link set "$RDMA_INTERFACE" up
    rdma link delete "$RDMA_DEVICE"
    rdma link add "$RDMA_DEVICE" type rxe netdev "$RDMA_INTERFACE"
}

# Prints the launcher's child process, which runs the loop.
child() { cat "/proc/$1/task/$1/children"; }

kill_node() { # LAUNCHER: kills its loop, like a crash
    kill -9 $(child "$1")
}

# Starts a converter whose scenario has four converters, and a controller whose scenario has three.
another_count() {
    "$build/converter" "${scenario[@]}" --set nodes.converter.count=4 --id 0 \
        --set "verbs.nodes=[{nodes: controller, address: $(address 0)},
                            {nodes: 'converter[0]', address: $(address 1)},
                            {nodes: 'converter[1-3]', address: $(address 2)}]" \
        2>"$work/first" >&2 & first=$!
    "$build/controller" "${scenario[@]}" --out "$work/out" 2>"$work/controller" >&2 & controller=$!
    started+=($first $controller)
}

echo "--- rdma: faults over $RDMA_DEVICE"
check "a converter of five nodes and a controller of four begin" another_count
check "the controller ends with 2" ends $controller 2
check "it says why" said "$work/controller" 'another scenario: there are 4 nodes here and 5 there'
check "the converter ends with 2" ends $first 2
check "it says why" said "$work/first" 'another scenario: there are 5 nodes here and 4 there'
check "a controller and 3 converters run" begin
check "kill -9 of converter 0" kill_node $first
check "its launcher says so" said "$work/first" 'converter\[0\] .*was killed by SIGKILL'
check "and ends with 1" ends $first 1
check "the controller: peer 1 is lost" said "$work/controller" 'warning: node 0: peer 1 is lost'
check "it fails: a converter was lost" said "$work/controller" 'controller failed: lost converter'
check "and ends with 1" ends $controller 1
check "the other converters end with 1: the controller is gone" ends $second 1

check "a controller and 3 converters run again" begin
check "kill -9 of the controller" kill_node $controller
check "the converters: peer 0 is lost" said "$work/second" 'warning: node [23]: peer 0 is lost'
check "they end with 1" ends $first 1
check "all of them" ends $second 1
check "the controller's launcher ends with 1" ends $controller 1

# Prints how many steps converter 0 has run, as far as the controller knows.
steps() {
    "$build/hiloco" top --json --count 1 "$controller" |
        sed 's/.*"each":\[{[^}]*"steps":\([0-9]*\).*/\1/'
}

has_run_more_than() { (($(steps) > $1)); }

goes_on() {
    local before
    before=$(steps)
    patiently has_run_more_than $((before + 10)) && return
    echo "it has run no more steps than $before, and has been silent for a minute"
    return 1
}

was_back() {
    cat "$work/out/summary.json"
    tr -d ' \n' <"$work/out/summary.json" | grep -q '"losses":{"lost":1,"back":1,'
}

check "with on_lost: restart a controller and 3 converters run" begin --set on_lost=restart
check "kill -9 of converter 0" kill_node $first
check "its launcher says so" said "$work/first" 'converter\[0\] .*was killed by SIGKILL'
check "the controller: peer 1 is lost" said "$work/controller" 'warning: node 0: peer 1 is lost'
check "it has converter 0 back, which goes on" goes_on
kill -INT $first $second $controller || true
check "until they are interrupted" ends $controller 130
check "one was lost, and came back" was_back

# On a real device the tests do not touch the link.
if [[ $RDMA_DEVICE == rxe0 && $RDMA_INTERFACE == d0 ]]; then
    check "a controller and 3 converters run once more" begin
    check "the link goes down" ip link set "$RDMA_INTERFACE" down
    check "the controller: a peer is lost" said "$work/controller" 'peer [123] is lost'
    check "it ends with 1" ends $controller 1
    check "converter 0: peer 0 is lost" said "$work/first" 'peer 0 is lost'
    check "it ends with 1" ends $first 1
    check "the other converters end with 1" ends $second 1
    check "the link comes up, the device is made anew" link_up
    check "and a controller and 3 converters run" begin
    kill -INT $first $second $controller || true
    check "until they are interrupted" ends $controller 130
else
    echo "  skipped: the link down and up, it is not ours"
fi
conclude
