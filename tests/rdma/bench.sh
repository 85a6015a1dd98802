#!/bin/bash
# Runs the benchmarks that need an RDMA device, with the options in $BENCH.
set -euo pipefail
source "$(dirname "$0")/common.sh"

mkdir -p "$build/rdma"
# shellcheck disable=SC2086
"$build/bench-rdma" --runs 3 --seconds 1 --out "$build/rdma/bench.json" ${BENCH:-}
