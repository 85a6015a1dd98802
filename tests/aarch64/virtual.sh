#!/bin/bash
# Virtual time: scenarios must give the same records as on this machine's own processor, bit for
# bit. Also runs the tests of repeatability, except three whose runs take minutes on an emulated
# processor.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

same_records() { # SCENARIO [OPTION...]
    local name=${1##*/}
    "$HILOCO_BUILD/hiloco" run "$@" --mode virtual --quiet --out "$work/there"
    "$HILOCO_HOST_BUILD/hiloco" run "$@" --mode virtual --quiet --out "$work/here"
    cmp "$work/there/trace.h5" "$work/here/trace.h5" && echo "  ok: $name gives the same record"
}

same_records configs/quickstart.yaml
same_records configs/dcdc20.yaml --set duration_s=0.02
same_records configs/servo.yaml --set duration_s=0.1
same_records configs/battery.yaml --set duration_s=0.1
"$HILOCO_BUILD/test-unit" --filter 'privileges/denormals_are_zero'
"$HILOCO_BUILD/test-run" --filter 'repeat/!(*converters*|*out_of_step)'
