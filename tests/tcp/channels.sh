#!/bin/bash
# What is particular to the fabric tcp; then every channel's tests, and histories that must be
# linearizable, over loopback, with a process for each node.
set -euo pipefail
source "$(dirname "$0")/common.sh"

echo "--- tcp: channels over loopback"
"$build/test-tcp" 'tcp/*'
LOCO_TEST_FABRIC=tcp LOCO_TEST_EMULATED=1 "$build/test-tcp" "${channels[@]}" 'channels/*_threads' \
    'channels/*_one_process'
