#!/bin/bash
# Tests that mutants.sh reports a mutant as caught exactly if it was caught.
#
#     test_mutants.sh BUILD COMPILE LINK SIM_COMPILE SIM_LINK LIBRARIES...
set -euo pipefail

build=$1
args=("${@:2}")
tests=$build/mutants/tests
failed=0

# mutant NAME WORKLOAD LINE: writes a mutant of barrier_come() that WORKLOAD must catch: LINE comes
# in place of the fence.
mutant() {
    rm -rf "$tests"
    mkdir -p "$tests"
    printf 'A test.\nworkload: %s\nseeds: 3\nfunction: barrier_come\n-    int %s\n+    int %s\n' \
        "$2" 'rc = loco_fence_global_timed(b->channel.mgr, timeout_ns);' "$3" >"$tests/$1.mutant"
}

# expect STATUS TEXT: checks the exit status and the output of mutants.sh.
expect() {
    local status=0 said
    said=$(MUTANTS=$tests tests/sim/mutants.sh "$build" "${args[@]}" 2>&1) || status=$?
    if [ "$status" != "$1" ] || ! grep -q "$2" <<<"$said"; then
        printf 'FAILED: %s: expected "%s" and status %s, got %s and:\n%s\n' \
            "$what" "$2" "$1" "$status" "$said"
        failed=1
    fi
}

unfenced='rc = timeout_ns ? 0 : -EPERM;'

what='a fault that the workload catches'
mutant caught barrier "$unfenced"
expect 0 '^caught caught: barrier, seed [123] of 3$'

what='a workload that fails on the sound tree too'
mkdir "$tests/tree"
cp -r channels "$tests/tree"
file=$tests/tree/$(tests/sim/mutate.py "$tests/caught.mutant" "$tests/tree")
${args[2]} -Ichannels -c -o "$tests/broken.o" "$file"
${args[3]} -o "$tests/soak" "$tests/broken.o" "$build"/sim/soak.a "$build"/sim/libloco.a "${args[@]:4}"
SOUND=$tests expect 1 '^ERROR  caught: workload barrier does not pass on the sound tree either: --seeds 1 --from [123]'

what='a fault that the workload does not catch'
mutant alive owned_var "$unfenced"
expect 1 '^ALIVE  alive: workload owned_var passes all runs of --seeds 3$'

what='no fault'
mutant none barrier 'rc = loco_fence_global_timed(b->channel.mgr, timeout_ns); /* A comment. */'
expect 1 '^ALIVE  none: '

what='a fault that is found depth first'
rm -rf "$tests"
mkdir -p "$tests"
cp tests/sim/mutants/lock-without-fence.mutant "$tests"
expect 0 '^caught lock-without-fence: small_lock, '
KEPT=/dev/null expect 1 '^ERROR  lock-without-fence: /dev/null does not have what is found: small_lock 1 '

what='a workload that does not exist'
mutant typo bariier "$unfenced"
expect 1 "^ERROR  typo: soak does not understand 'workload: bariier'"

what='a line that the function does not have'
mutant stale barrier "$unfenced"
sed -i 's/loco_fence_global/loco_fence_globally/' "$tests/stale.mutant"
expect 1 '^ERROR  stale: the function is not as the mutant says'

what='a line that the function has twice'
mutant twice barrier "$unfenced"
sed -i 's/^-.*/-    if (rc)/; s/barrier_come/var_begin_pulls/' "$tests/twice.mutant"
expect 1 '^ERROR  twice: the function is not as the mutant says'

what='a function that does not exist'
mutant nowhere barrier "$unfenced"
sed -i 's/barrier_come/barrier_goes/' "$tests/nowhere.mutant"
expect 1 '^ERROR  nowhere: the function is not as the mutant says'

what='a mutant that does not compile'
mutant wrong barrier 'rc = nothing;'
expect 1 '^ERROR  wrong: '

what='a mutant that crashes'
mutant crash barrier 'rc = *(volatile int *)0;'
expect 1 '^ERROR  crash: workload barrier crashes'

what='a mutant that hangs'
mutant hang barrier 'rc = 0; for (volatile int i = 1; i;);'
LIMIT=1 expect 1 '^ERROR  hang: workload barrier is over the time limit'

rm -rf "$tests"
[ $failed = 0 ] && echo "mutants.sh tells what is caught from what is not"
exit $failed
