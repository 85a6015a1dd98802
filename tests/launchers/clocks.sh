#!/bin/bash
# Tests two machines with different clocks: a time namespace makes the converters' clock show 1000 s
# more than the controller's. The nodes must still start together, and say how accurately they know
# the other clock.
set -euo pipefail
source "$(dirname "$0")/common.sh"
export HILOCO_RENDEZVOUS=127.93.0.1

if ! said=$(unshare -rT --monotonic 1000 --fork true 2>&1); then
    echo "--- launchers: clocks: skipped, ${said:-time namespaces are forbidden here}"
    exit 0
fi

apart() {
    local rc=0
    unshare -T --monotonic 1000 --fork "$build/converter" "${short[@]}" --id 0-19 \
        --out "$work/converters" --quiet & converters=$!
    "$build/controller" "${short[@]}" --out "$work/controller" || rc=$?
    wait $converters || rc=$?
    return $rc
}

# Prints the run's start on a node's own clock, and the node's information on the first node's
# clock.
of() { python3 -c "import json; print(json.load(open('$work/$1/summary.json'))$2)"; }

knows_the_clock() {
    cat "$work/converters/summary.json"
    [[ $(of controller '["first_clock"]') == None && $(of converters '["first_clock"]["by"]') == "round trips" ]]
    python3 - "$(of converters '["first_clock"]["ahead_s"]')" \
        "$(of converters '["first_clock"]["uncertainty_us"]')" \
        "$(of controller '["realtime"]["start_monotonic_s"]')" \
        "$(of converters '["realtime"]["start_monotonic_s"]')" <<'END'
import sys
ahead, about, first, own = map(float, sys.argv[1:])
print("ahead", ahead, "s, within", about, "us; starts at", first, "and", own)
assert abs(ahead + 1000) <= about * 1e-6 + 1e-6, "the clock"
assert abs(own + ahead - first) < 1e-6, "the start"
END
}

echo "--- launchers: clocks that are 1000 s apart"
check "a controller, and 20 converters by another clock" apart
check "they know by how much, and started at one moment" knows_the_clock
conclude
