#!/bin/bash
# Runs the 20-converter scenario with `fabric: verbs` to convergence: as six processes started by
# hand, which poll completions inline, and by `hiloco run`, with a polling thread. Each node has its
# own address.
set -euo pipefail
source "$(dirname "$0")/common.sh"
results=${1:-$build/rdma}
mkdir -p "$results"

scenario=(configs/dcdc20-verbs.yaml "${slowly[@]}"
          --set "verbs.nodes=$(for i in $(seq 0 20); do
              ((i == 0)) && who=controller || who="'converter[$((i - 1))]'"
              echo "{nodes: $who, address: $(address "$i")},"
          done | tr -d '\n' | sed 's/^/[/; s/,$/]/')")

processes() {
    local pids=() rc=0
    for i in 0 4 8 12 16; do
        "$build/converter" "${scenario[@]}" --id "$i-$((i + 3))" --set duration_s=4 --wait 120 \
            --quiet 2>"$work/converter$i" & pids+=($!)
    done
    started+=("${pids[@]}")
    "$build/controller" "${scenario[@]}" --set duration_s=4 --wait 120 --out "$work/processes" ||
        rc=$?
    for pid in "${pids[@]}"; do wait "$pid" || rc=$?; done
    cat "$work"/converter*
    cp "$work/processes/summary.json" "$results/scenario.json"
    return $rc
}

launched() {
    "$build/hiloco" run "${scenario[@]}" --set duration_s=4 --set verbs.completions=polled \
        --out "$work/launched"
}

faulted() {
    "$build/hiloco" run "${scenario[@]}" "${with_faults[@]}" --quiet --out "$work/faulted"
}

# Changes a parameter of a node in another process over the network. That node must answer.
tuned() {
    "$build/hiloco" run "${scenario[@]}" --set duration_s=300 --allow-set --quiet \
        --out "$work/tuned" 2>&1 & run=$!
    started+=($run)
    patiently "$build/hiloco" set $run 'converter[3].capacitance_f=0.001'
    kill -INT $run
    ends $run 130
}

tuned_in_record() {
    "$build/hiloco" export "$work/tuned" --csv &&
        grep 'converter\[3\],set,.*capacitance_f,0.001' "$work/tuned/events.csv"
}

echo "--- rdma: 20 converters and a controller over $RDMA_DEVICE, periods 50 and 200 ms"
settles "a process of the controller, five of four converters each: 4 s" "$work/processes" processes
settles "hiloco run, completions polled: 4 s" "$work/launched" launched
check "signals, parameters, links and nodes go wrong" faulted
check "each did at its time, and what was cut was too old" faults_acted "$work/faulted"
check "hiloco set changes a converter while it runs" tuned
check "the record has it" tuned_in_record
conclude
