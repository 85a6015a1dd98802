#!/bin/bash
# Runs loco-conform on the device, in one process pair and as two machines would. What is counted
# depends on the device; what libloco excludes must not be seen.
set -euo pipefail
source "$(dirname "$0")/common.sh"

trials=(--trials 100)

alone() {
    "$build/loco-conform" "$RDMA_DEVICE" "${trials[@]}" >"$work/alone" && cat "$work/alone" &&
        grep -qE "^  device +$RDMA_DEVICE, at $(address 0)$" "$work/alone" &&
        grep -qE "^  inline +[0-9]+ bytes " "$work/alone" &&
        grep -qE "^  after a fence .* 100 +0  excludes it$" "$work/alone" &&
        grep -qE "^  of adds of the network and of the CPU.* allows it$" "$work/alone" &&
        grep -qE "^  a fetch-add +100 +[1-9][0-9]* +[1-9]" "$work/alone"
}

# Each has the other's address. The lower posts, and only it prints a report.
together() {
    "$build/loco-conform" "$(address 1)" --with "$(address 0)" --trials 5 >"$work/target" &
    local target=$!
    started+=($target)
    "$build/loco-conform" "$(address 0)" --with "$(address 1)" "${trials[@]}" >"$work/poster" &&
        ends $target 0 && cat "$work/poster" && [[ ! -s $work/target ]] &&
        grep -A 1 "memory is used" "$work/poster" | grep -q "at $(address 1)$" &&
        grep -qE "^  after a fence .* 100 +0  excludes it$" "$work/poster"
}

no_such_device() {
    local status=0
    "$build/loco-conform" no_such_device 2>"$work/none" || status=$?
    cat "$work/none"
    ((status == 2)) && grep -q "has, for example, $RDMA_DEVICE" "$work/none"
}

no_address_of_it() {
    local status=0
    "$build/loco-conform" 127.0.0.1 2>"$work/none" || status=$?
    cat "$work/none"
    ((status == 2)) && [[ $(grep -c "is no address of an RDMA device" "$work/none") == 1 ]]
}

echo "--- rdma: loco-conform over $RDMA_DEVICE"
check "on one machine: a report, with nothing that libloco excludes" alone
if ((${#addresses[@]} > 1)); then
    check "as on two machines: the one with the lower address reports" together
else
    echo "  skipped: as on two machines, $RDMA_DEVICE has only one address"
fi
check "a device that is not there: what there is instead" no_such_device
check "an address that is no RDMA device's" no_address_of_it
conclude
