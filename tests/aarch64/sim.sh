#!/bin/bash
# The channels on the simulator, which does to them whatever RDMA permits: every workload, and tests/sim but for
# its litmus tests, which are about the simulator alone and take long on an emulated processor. There are fewer
# seeds than elsewhere: LOCO_TEST_EMULATED.
set -euo pipefail
export LOCO_TEST_EMULATED=1
"$HILOCO_BUILD/test-sim" --filter '!(litmus*)/*'
"$HILOCO_BUILD/soak" --seeds 10
