#!/bin/bash
# Runs the 20-converter scenario with `fabric: verbs` when only the first node's host is known: the
# other nodes register there, and learn the addresses of all nodes.
set -euo pipefail
source "$(dirname "$0")/common.sh"

HILOCO_RENDEZVOUS=$(address 0)
HILOCO_SECRET=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
export HILOCO_RENDEZVOUS HILOCO_SECRET
scenario=(configs/dcdc20-verbs.yaml "${slowly[@]}" --set 'verbs.nodes=[]' --set duration_s=4)

processes() {
    local pids=() rc=0
    for i in 0-9 10-19; do
        "$build/converter" "${scenario[@]}" --id $i --wait 120 --quiet 2>"$work/converter$i" &
        pids+=($!)
    done
    started+=("${pids[@]}")
    "$build/controller" "${scenario[@]}" --wait 120 --out "$work/processes" || rc=$?
    for pid in "${pids[@]}"; do wait "$pid" || rc=$?; done
    cat "$work"/converter*
    return $rc
}

# A process with another secret is told so, and the first node continues to wait.
stranger() {
    local status=0
    "$build/controller" "${scenario[@]}" --wait 5 --out "$work/alone" 2>"$work/waiting" &
    local first=$!
    started+=("$first")
    HILOCO_SECRET=${HILOCO_SECRET:1}0 "$build/converter" "${scenario[@]}" --id 0-9 --wait 3 --quiet \
        2>"$work/stranger" || status=$?
    cat "$work/stranger"
    wait "$first" || true
    ((status != 0)) && grep -q "it has another secret" "$work/stranger"
}

echo "--- rdma: a rendezvous at $HILOCO_RENDEZVOUS over $RDMA_DEVICE"
settles "a controller and two processes of ten converters find each other: 4 s" "$work/processes" \
    processes
check "who has another secret is refused, and told why" stranger
conclude
