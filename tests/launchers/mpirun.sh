#!/bin/bash
# Starts scenarios with OpenMPI's mpirun: with a rank for each executor, and with one for each node.
set -euo pipefail
source "$(dirname "$0")/common.sh"
needs mpirun mpirun
export HILOCO_RENDEZVOUS=127.91.0.1

by_mpirun() { # RANKS NAME OPTION...
    (cd "$work" && mpirun --allow-run-as-root --oversubscribe --bind-to none -n "$1" \
        --mca oob_tcp_if_include lo -x HILOCO_SECRET -x HILOCO_RENDEZVOUS \
        "$build/hiloco" node "${short[@]}" --set "name=$2" "${@:3}")
}

echo "--- launchers: $(mpirun --version | head -n 1)"
check "a rank for each of two executors" by_mpirun 2 executors
check "they ran" ran executors
check "a rank for each of five nodes" by_mpirun 5 nodes --set nodes.converter.count=4 \
    --set 'components.converter.tolerance={}'
check "they ran" ran nodes
conclude
