# Functions that the tests of tests/device share. Each test sources this file.
source "$(dirname "${BASH_SOURCE[0]}")/../guest/checks.sh"

scenarios=docs/examples/devices
out=$work/out

# Under emulation or on a busy machine the loops are late. These tests do not check lateness.
at_leisure=(--set validity.required=false --set hang_limit_s=60)

# start NAME COMMAND...: starts the command with its output in $work/NAME, and sets $process to its
# process.
start() {
    "${@:2}" >"$work/$1" 2>&1 & process=$!
    started+=("$process")
}

# Prints the launcher's child process, which runs the loops.
node_of() { cat "/proc/$1/task/$1/children"; }

runs() { patiently grep -qE ' of [0-9.]+ s' "$work/$1"; }

# says STATUS TEXT COMMAND...: checks that the command ends with that status and has printed that
# text.
says() {
    local status=0
    "${@:3}" >"$work/words" 2>&1 || status=$?
    cat "$work/words"
    echo "exit status $status"
    ((status == $1)) && grep -qE "$2" "$work/words"
}

settled() {
    cat "$out/summary.json"
    sed -n "/^    \"$1\": {/,/^    }/p" "$out/summary.json" | grep -q '"settled": true'
}
