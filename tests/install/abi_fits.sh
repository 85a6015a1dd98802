#!/bin/sh
# Checks whether a program that was compiled with the ABI in OLD still works with a library whose
# ABI is in NEW (both as printed by abi.sh). If not, prints the changes that break it.
#
#      abi_fits.sh OLD NEW
set -eu

# The library makes these structures, and programs have only pointers to them, so they may grow at
# their end.
grow='loco_arena loco_context loco_events loco_fabric loco_fabric_ops loco_kv_op loco_link loco_manager
loco_node loco_peer loco_region'

awk -v grow="$(echo $grow)" -v old="$1" '
    BEGIN { split(grow, list, " "); for (i in list) may_grow[list[i]] = 1 }
    function wrong(text) { print text; failed = 1 }
    function note(key, value) { if (FILENAME == old) was[key] = value; else is[key] = value }
    FNR == 1 { in_old = FILENAME == old }
    /^struct / { note($1 " " $2, $3); owner = $2; next }
    /^enum / { owner = "enum"; next }
    /^    room / { next }
    /^    / { note(owner "." $1, $2); next }
    { note($0, "there") }
    END {
        for (key in was) {
            if (!(key in is)) {
                wrong(key " is gone")
            } else if (was[key] != is[key]) {
                name = key; sub(/^struct /, "", name)
                if (!(name in may_grow && is[key] > was[key]))
                    wrong(key " was " was[key] ", and is " is[key])
            }
        }
        exit failed
    }' "$1" "$2"
