# What the tests of tests/device share; sourced by each.
source "$(dirname "${BASH_SOURCE[0]}")/../guest/checks.sh"

scenarios=docs/examples/devices
out=$work/out

# Under emulation, and beside others, the loops are late: what is looked at is not how late.
at_leisure=(--set validity.required=false --set hang_limit_s=60)

# start NAME COMMAND...: what it says goes to $work/NAME, its process is $process.
start() {
    "${@:2}" >"$work/$1" 2>&1 & process=$!
    started+=("$process")
}

# The process under a launcher that runs the loops.
node_of() { cat "/proc/$1/task/$1/children"; }

runs() { patiently grep -qE ' of [0-9.]+ s' "$work/$1"; }

# says STATUS TEXT COMMAND...: it ends so, having said that.
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
