#!/bin/bash
# Runs the channels' unit tests on the simulator and on shared memory, with threads and with
# processes. QEMU orders memory accesses much as this machine does, so these tests say little about
# aarch64's weaker order; order.sh checks that.
set -euo pipefail
LOCO_TEST_EMULATED=1 TEST_STILL_S=600 "$HILOCO_BUILD/test-plain"
