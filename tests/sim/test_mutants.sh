#!/bin/bash
# Tests that mutants.sh reports a mutant as caught exactly if it was caught.
#
#     test_mutants.sh BUILD COMPILE LINK SIM_COMPILE SIM_LINK LIBRARIES...
set -euo pipefail

build=$1
args=("${@:2}")
tests=$build/mutants/tests
failed=0

# mutant NAME WORKLOAD SED: writes a patch of barrier.c, made by SED, that WORKLOAD must catch.
mutant() {
    rm -rf "$tests"
    mkdir -p "$tests"
    sed "$3" channels/barrier.c >"$tests/broken.c"
    {
        printf 'A test.\nworkload: %s\nseeds: 3\n' "$2"
        diff -u --label a/channels/barrier.c --label b/channels/barrier.c \
            channels/barrier.c "$tests/broken.c" || true
    } >"$tests/$1.patch"
}

# expect STATUS TEXT [COUNT]: checks the exit status and the output of mutants.sh with COUNT
# mutants.
expect() {
    local status=0 said
    said=$(MUTANTS=$tests tests/sim/mutants.sh "${3:-1}" "$build" "${args[@]}" 2>&1) || status=$?
    if [ "$status" != "$1" ] || ! grep -q "$2" <<<"$said"; then
        printf 'FAILED: %s: expected "%s" and status %s, got %s and:\n%s\n' \
            "$what" "$2" "$1" "$status" "$said"
        failed=1
    fi
}

unfenced='s/= loco_fence_global_timed(b->channel.mgr, timeout_ns);/= timeout_ns ? 0 : -EPERM;/'

what='a fault that the workload catches'
mutant caught barrier "$unfenced"
expect 0 '^caught caught: barrier, seed [123] of 3$'

what='a mutant that is missing'
expect 1 'there should be 2 mutants' 2

what='a workload that fails on the sound tree too'
${args[2]} -Ichannels -c -o "$tests/broken.o" "$tests/broken.c"
${args[3]} -o "$tests/soak" "$tests/broken.o" "$build"/sim/soak.a "$build"/sim/libloco.a "${args[@]:4}"
SOUND=$tests expect 1 '^ERROR  caught: workload barrier does not pass seed [123] on the sound tree'

what='a fault that the workload does not catch'
mutant alive owned_var "$unfenced"
expect 1 '^ALIVE  alive: workload owned_var passes all of 3 seeds$'

what='no fault'
mutant none barrier '1i /* A comment. */'
expect 1 '^ALIVE  none: '

what='a workload that does not exist'
mutant typo bariier "$unfenced"
expect 1 "^ERROR  typo: soak does not understand 'workload: bariier'"

what='a patch that does not apply'
mutant stale barrier "$unfenced"
sed -i 's/loco_fence_global/loco_fence_globally/' "$tests/stale.patch"
expect 1 '^ERROR  stale: the patch does not apply'

what='a mutant that does not compile'
mutant wrong barrier 's/= loco_fence_global_timed(b->channel.mgr, timeout_ns);/= nothing;/'
expect 1 '^ERROR  wrong: '

what='a mutant that crashes'
mutant crash barrier 's/= loco_fence_global_timed(b->channel.mgr, timeout_ns);/= *(volatile int *)0;/'
expect 1 '^ERROR  crash: workload barrier crashes'

what='a mutant that hangs'
mutant hang barrier 's/= loco_fence_global_timed(b->channel.mgr, timeout_ns);/= 0; for (volatile int i = 1; i;);/'
LIMIT=1 expect 1 '^ERROR  hang: workload barrier is over the time limit'

rm -rf "$tests"
[ $failed = 0 ] && echo "mutants.sh tells what is caught from what is not"
exit $failed
