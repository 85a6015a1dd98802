#!/bin/bash
# What stands still is ended, here and in the tests that follow; what moves is not.
set -euo pipefail
here=$(dirname "$0")
source "$here/common.sh"

silent_is_ended() {
    local status=0
    "$here/unless_silent" 1 "$work/words" -- sleep 1000 || status=$?
    ((status == 124))
}

speaker_is_left() {
    local status=0
    "$here/unless_silent" 3 "$work/words" -- \
        bash -c 'for i in {1..12}; do echo $i; sleep 0.3; done >>"$0"; exit 3' "$work/words" ||
        status=$?
    ((status == 3))
}

# The pipe ends when all that the test has started has ended.
hanging_test_is_ended() {
    { TEST_HANGS=1 TEST_STILL_S=1 "$build/test-rdma" 'runner/*' || echo failed; } | cat >"$work/runner"
    cat "$work/runner"
    grep -q 'FAILED, it stood still: runner/one_hangs' "$work/runner" &&
        grep -q 'ok: runner/one_moves' "$work/runner" && grep -q '^failed' "$work/runner"
}

echo "--- rdma: limits"
check "a command that falls silent is ended" silent_is_ended
check "one that has something to say is not, and its status is its own" speaker_is_left
check "a test that hangs is ended with all its processes, and the rest go on" hanging_test_is_ended
conclude
