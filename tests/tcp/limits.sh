#!/bin/bash
# Tests the limits of the test scripts themselves: a silent command or test is ended, an active one
# is not, and a run for which the machine was too busy is repeated.
set -euo pipefail
here=$(dirname "$0")
source "$here/common.sh"

silent_is_ended() {
    local status=0
    "$here/../guest/unless_silent" 1 100 "$work/words" -- sleep 1000 || status=$?
    ((status == 124))
}

speaker_is_left() {
    local status=0
    "$here/../guest/unless_silent" 3 100 "$work/words" -- \
        bash -c 'for i in {1..12}; do echo $i; sleep 0.3; done >>"$0"; exit 3' "$work/words" ||
        status=$?
    ((status == 3))
}

endless_speaker_is_ended() {
    local status=0
    "$here/../guest/unless_silent" 100 2 "$work/words" -- \
        bash -c 'while sleep 0.3; do echo on; done >>"$0"' "$work/words" || status=$?
    ((status == 124))
}

# The pipe ends when every process that the test has started has ended.
hanging_test_is_ended() {
    { TEST_HANGS=1 TEST_STILL_S=1 "$build/test-tcp" 'runner/*' || echo failed; } | cat >"$work/runner"
    cat "$work/runner"
    grep -q 'FAILED, it stood still: runner/one_hangs' "$work/runner" &&
        grep -q 'ok: runner/one_moves' "$work/runner" && grep -q '^failed' "$work/runner"
}

# a_run SETTLED MISSED_IN_BOUND: writes the summary of a run with these results.
a_run() {
    mkdir -p "$work/run"
    cat >"$work/run/summary.json" <<END
{
  "fabric": "tcp",
  "measures": {
    "output_v": {
      "settled": $1
    }
  },
  "validity": {
    "reasons": [
      "controller missed 55 % of its steps; allowed: at most 25 %"
    ],
    "checks": {
      "missed_percent": {
        "value": 55.0,
        "passed": $2
      },
      "bad_inputs": {
        "value": 0.0,
        "passed": true
      }
    }
  }
}
END
}

# Of its runs the first says this of itself, and all later ones that. It counts them.
first() {
    echo run >>"$work/runs"
    (($(wc -l <"$work/runs") == 1)) && a_run "$1" "$2" || a_run "$3" "$4"
}

# after_runs RUNS FAILURES RUN...: checks that RUN is run so many times and that so many checks
# fail.
after_runs() {
    local before=$failures
    rm -f "$work/runs"
    settles "run" "$work/run" first "${@:3}" >"$work/told"
    cat "$work/told" "$work/runs"
    local failed=$((failures - before))
    failures=$before
    (($(wc -l <"$work/runs") == $1 && failed == $2))
}

echo "--- limits of the test scripts"
check "a command that falls silent is ended" silent_is_ended
check "one that has something to say is not, and its status is its own" speaker_is_left
check "one that says the same for ever is ended" endless_speaker_is_ended
check "a test that hangs is ended with all its processes, and the rest go on" hanging_test_is_ended
check "a run that settles, on a busy machine too, is the only one" after_runs 1 0 true false true true
check "one that does not, and is valid, has failed" after_runs 1 1 false true true true
check "one that was too busy is run again" after_runs 2 0 false false true true
check "and fails when it does not settle, and is valid then" after_runs 2 1 false false false true
check "or when all of $runs_at_most were too busy" after_runs "$runs_at_most" 1 false false false false
conclude
