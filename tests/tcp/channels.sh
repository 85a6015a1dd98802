#!/bin/bash
# Runs the tests of the fabric tcp itself. Then runs every channel's tests, and checks that
# histories are linearizable, over loopback, with a process for each node.
set -euo pipefail
source "$(dirname "$0")/common.sh"

echo "--- tcp: channels over loopback"
"$build/test-tcp" 'tcp/*'
LOCO_TEST_FABRIC=tcp LOCO_TEST_EMULATED=1 "$build/test-tcp" "${channels[@]}" 'channels/*_threads' \
    'channels/*_one_process'
