#!/bin/bash
# The channels' unit tests, on the simulator and on shared memory, with threads and with processes. QEMU
# runs them in about this machine's own order, so that they pass says little of a weaker one: order.sh.
set -euo pipefail
LOCO_TEST_EMULATED=1 TEST_STILL_S=600 "$HILOCO_BUILD/test-plain"
