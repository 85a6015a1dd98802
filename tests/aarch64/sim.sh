#!/bin/bash
# The channels on the simulator, which does to them whatever RDMA permits: every workload, and tests/sim but for
# its litmus tests, which are about the simulator alone and take long on an emulated processor.
set -euo pipefail
"$HILOCO_BUILD/test-sim" --filter '!(litmus*)/*'
"$HILOCO_BUILD/soak" --seeds 10
