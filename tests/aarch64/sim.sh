#!/bin/bash
# Tests the channels on the simulator, which does everything that RDMA permits. Runs every workload,
# and tests/sim except its litmus tests: these test only the simulator and take long on an emulated
# processor. LOCO_TEST_EMULATED makes the number of seeds smaller than elsewhere.
set -euo pipefail
export LOCO_TEST_EMULATED=1
"$HILOCO_BUILD/test-sim" --filter '!(litmus*)/*'
"$HILOCO_BUILD/soak" --seeds 10 --limit 1200 # seconds for a seed, on a busy machine too
