#!/bin/bash
# Runs every channel's tests, and checks that histories are linearizable, with a process for each
# node. Tests of bad arguments are left out, as their results are the same on every fabric.
set -euo pipefail
source "$(dirname "$0")/common.sh"

echo "--- rdma: channels over $RDMA_DEVICE, nodes on ${addresses[*]:0:3}..."
LOCO_TEST_ADDRESSES=$(for i in $(seq 0 31); do address "$i"; done | paste -sd,) \
    "$build/test-rdma" 'verbs/*' 'histories/*' '*/*_processes' 'channels/*_threads' \
    '!*/errors_*' '!*/arguments_*' '!kvstore/configuration_*'
