# What the tests of tests/rdma share; sourced by each. $RDMA_DEVICE is the device, $RDMA_ADDRESSES
# the addresses of its network interface: nodes take them in turns, and may share the only one.

build=${HILOCO_BUILD:-build}
read -ra addresses <<<"$RDMA_ADDRESSES"
work=$(mktemp -d)
failures=0
started=() # processes, by check or by hand; the last of them end with the test

finish() {
    ((${#started[@]} == 0)) || kill -9 "${started[@]}" 2>/dev/null || true
    rm -rf "$work"
}
trap finish EXIT

# check WHAT COMMAND...: prints WHAT, and what the command said if it failed.
check() {
    local what=$1
    shift
    if "$@" >"$work/said" 2>&1; then
        echo "  ok: $what"
    else
        echo "  FAILED: $what"
        sed 's/^/      /' "$work/said" | tail -n 40
        failures=$((failures + 1))
    fi
}

# address N: of node N
address() { echo "${addresses[$1 % ${#addresses[@]}]}"; }

# said FILE TEXT: waits until the file has it, for at most a minute.
said() {
    local end=$((SECONDS + 60))
    while ((SECONDS < end)); do
        grep -qE "$2" "$1" && return
        sleep 0.1
    done
    echo "not said within a minute: $2; but:"
    cat "$1"
    return 1
}

conclude() {
    ((failures == 0)) || { echo "  $failures FAILED"; exit 1; }
}
