#!/bin/bash
# Every channel's tests, and histories that must be linearizable, with a process for each node.
set -euo pipefail
source "$(dirname "$0")/common.sh"

echo "--- rdma: channels over $RDMA_DEVICE, nodes on ${addresses[*]:0:3}..."
LOCO_TEST_ADDRESSES=$(for i in $(seq 0 31); do address "$i"; done | paste -sd,) "$build/test-rdma"
