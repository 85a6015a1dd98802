#!/bin/bash
# Breaks the channels on purpose, one fault at a time, and sees the simulator catch each.
#
#     mutants.sh BUILD COMPILE LINK...
#
# Each file of tests/sim/mutants is a patch, and says above it which workload catches the fault
# within how many seeds. The broken file is compiled and linked before the library, in place of
# the sound one. With no mutant alive the exit status is 0.
set -euo pipefail

build=$1 compile=$2 link=$3
caught=0 alive=0

field() { sed -n "s/^$1: //p" "$2"; }

for patch in tests/sim/mutants/*.patch; do
    name=$(basename "$patch" .patch)
    dir=$build/mutants/$name
    file=$(sed -n 's,^--- a/,,p' "$patch")
    rm -rf "$dir"
    mkdir -p "$dir"
    cp -r channels "$dir"
    patch -s -F0 -d "$dir" -p1 <"$patch"
    # The copy's own headers come first; the rest of the tree is as it is.
    $compile -I"$dir" -c -o "$dir/broken.o" "$dir/$file"
    $link -o "$dir/soak" "$dir/broken.o" $build/obj/tests/sim/{soak,history,linear,models}.o \
        $build/obj/tests/sim/workload*.o "$build"/sim/libloco.a ${*:4}
    seeds=$(field seeds "$patch") workload=$(field workload "$patch")
    if said=$("$dir/soak" --quiet --seeds "$seeds" --only "$workload"); then
        echo "ALIVE  $name: workload $workload passes all of $seeds seeds"
        alive=$((alive + 1))
    else
        echo "caught $name: $said"
        caught=$((caught + 1))
    fi
done
echo "$caught mutants caught, $alive alive"
[ "$alive" = 0 ] && [ "$caught" -ge "${MUTANTS_LEAST:-10}" ]
