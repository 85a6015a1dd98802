# What the tests of tests/rdma share; sourced by each. $RDMA_DEVICE is the device, $RDMA_ADDRESSES
# the addresses of its network interface: nodes take them in turns, and may share the only one.
source "$(dirname "${BASH_SOURCE[0]}")/../guest/checks.sh"

read -ra addresses <<<"$RDMA_ADDRESSES"

# address N: of node N
address() { echo "${addresses[$1 % ${#addresses[@]}]}"; }

# settled SUMMARY: over verbs, and at the reference.
settled() {
    cat "$1"
    grep -q '"fabric": "verbs"' "$1" &&
        sed -n '/^    "output_v": {/,/^    }/p' "$1" | grep -q '"settled": true'
}

# Whether a run says of itself that it is not valid, as its loops did not get their turns.
was_too_busy() { # SUMMARY
    tr -d ' \n' <"$1" | grep -qE '"(missed_percent|gap_us|behind_us)":\{[^}]*"passed":false'
}

runs_at_most=3

# settles WHAT FOLDER COMMAND...: the command, a run with its results in FOLDER, ends well, and its
# output settles. A run that has not settled, and was too busy, shows nothing: it is run again. What
# did not settle in a valid run, or in so many runs, has failed.
settles() {
    local what=$1 summary=$2/summary.json run
    for ((run = 1; run <= runs_at_most; run++)); do
        rm -rf "$2"
        check "$what" "${@:3}"
        sed -n 's/^ *\(output_v\|controller\|converter\|round trip\) .*/      &/p' "$work/said"
        [[ -e $summary ]] && ! settled "$summary" >/dev/null && was_too_busy "$summary" || break
        echo "  not settled, but the machine was too busy: run $run of at most $runs_at_most"
        sed -n '/"reasons"/,/\]/ s/^ *"\(.* .*\)".*/      \1/p' "$summary"
    done
    check "the output has settled at the reference" settled "$summary"
}
