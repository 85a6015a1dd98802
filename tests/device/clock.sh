#!/bin/bash
# Tests a time of day that PTP synchronises: two ptp4l, each in a network namespace, with software
# time stamps. The doctor names the program that keeps the time, and a run's processes compare their
# clocks by it.
set -euo pipefail
source "$(dirname "$0")/common.sh"
export HILOCO_RENDEZVOUS=127.94.0.1 HILOCO_SECRET=0123456789abcdef0123456789abcdef

doctor() { "$build/hiloco" doctor --measure 0 | tr -s ' \n' ' ' >"$work/doctor" && cat "$work/doctor"; }

doctor_says() { doctor && grep -qE "$1" "$work/doctor"; }

# Runs ptp4l in the namespace, which has one end of the cable. Jumps of the clock are allowed, as an
# emulated clock seems to jump.
ptp() { # NAMESPACE OPTION...
    start "ptp-$1" ip netns exec "$1" ptp4l -2 -S -i cable -m --logSyncInterval=-3 --logAnnounceInterval=-1 \
        --logMinDelayReqInterval=-3 --tx_timestamp_timeout=2000 --fault_reset_interval=-128 --sanity_freq_limit=0 "${@:2}"
}

meets() {
    local scenario=(configs/dcdc20.yaml "${at_leisure[@]}" --set fabric=tcp --set nodes.converter.count=3
        --set components.converter.tolerance={} --set nodes.controller.priority=0 --set nodes.converter.priority=0
        --set nodes.controller.cpu=-1 --set nodes.converter.cpu=-1 --set nodes.controller.period_us=20000
        --set nodes.converter.period_us=5000 --set duration_s=0.2 --wait 100 --quiet)
    start controller "$build/controller" "${scenario[@]}" --out "$work/first"
    "$build/converter" "${scenario[@]}" --id 0-2 --out "$work/others" && wait "$process"
}

by_the_day() {
    sed -n '/"first_clock"/,/}/p' "$work/others/summary.json"
    tr -d ' \n' <"$work/others/summary.json" | grep -q '"first_clock":{"by":"thetimeofday"'
}

# With round trips of 20 ms, the time of day is the better one as long as the kernel says that it is kept. On a
# machine that is too busy, ptp4l may lose its master and step the clock: it is not kept until it is locked again.
meets_by_the_day() {
    tc qdisc add dev lo root netem delay 10ms
    for _ in 1 2 3; do
        patiently kept && meets && by_the_day && return
        tail -n 5 "$work/ptp-near"
    done
    return 1
}

echo "--- device: the time of day"
check "a network card's PTP clock is found" doctor_says 'nothing synchronises it.*PTP clock'
ip netns add near
ip netns add far
ip link add cable netns near type veth peer name cable netns far
ip -n near link set cable up
ip -n far link set cable up
ptp far --priority1=1
ptp near -s --announceReceiptTimeout=60
kept() { doctor_says 'synchronised by PTP \(ptp4l\), within [0-9]+ us'; }
check "ptp4l keeps the time of day, and the doctor says so" patiently kept
check "two processes compare their clocks, by the time of day" meets_by_the_day
conclude
