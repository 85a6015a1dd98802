#!/bin/bash
# Breaks the channels on purpose, one fault at a time, and checks that a workload catches each
# fault.
#
#     mutants.sh BUILD COMPILE LINK SIM_COMPILE SIM_LINK LIBRARIES...
#
# Each file of tests/sim/mutants is a change of a function (mutate.py says how it is written). Its
# head says which workload catches the fault and within how many seeds, or by exploring depth first
# with "depth-first: P,D", a budget of preemptions and delays; "on: shm" marks a workload of soak-shm,
# which needs two cores. The broken file is compiled and linked before the library, in place of the
# sound one. If it is a header, "through: FILE" names a file that is compiled with it.
#
# A mutant is caught if a run of the workload fails (soak's exit status 1), and the same run passes
# without the fault. What depth first finds is a line of tests/sim/seeds. Anything else is an error:
# a function that is not as the mutant says, or does not compile, a workload that does not exist, a
# seed that crashes or exceeds the time limit (the simulator detects a hang itself, and the seed
# fails), or a workload that fails on the sound tree. The exit status is 0 if every mutant is caught.
#
# For the test of this script, the environment may set MUTANTS to another folder of mutants, KEPT to
# another file of kept runs, SOUND to another folder of sound programs, and LIMIT to the seconds that
# a seed may take.
set -uo pipefail

[ $# -gt 5 ] || exit 2
build=$1 compile=$2 link=$3 sim_compile=$4 sim_link=$5
libraries=("${@:6}")
mutants=${MUTANTS:-tests/sim/mutants} kept=${KEPT:-tests/sim/seeds} sound=${SOUND:-$build}
work=$build/mutants/work

field() { sed -n "s/^$1: //p" "$2"; }

# objects_of SOURCE...: an object without a source is of a file that is gone.
objects_of() { printf "$build/obj/%s.o " "${@%.c}"; }

# soak_of PROGRAM WORKLOAD OPTIONS...: runs the workload and prints the end of its output.
soak_of() {
    "$1" --quiet --limit "${LIMIT:-120}" --only "$2" "${@:3}" 2>"$dir/said"
}

# error WHAT: reports an error of the current mutant.
error() {
    echo "ERROR  $name: $1"
    sed 's/^/       /' "$dir/said" | tail -n 5
}

# Links soak with the broken file in place of the sound one. In the simulator's programs the
# channels, but not the fabrics, are compiled so that they can be interrupted anywhere.
make_mutant() {
    local file how=$compile through source
    through=$(field through "$mutant")
    cp -rl "$work/channels" "$dir" &&
        file=$(tests/sim/mutate.py "$mutant" "$dir") || return
    [ $soak = soak-shm ] || [[ $file == channels/fabric/* ]] || how=$sim_compile
    source=${through:-$file}
    [ ! -e "$dir/$source" ] || source=$dir/$source
    # The copy's own headers come first; the rest of the tree is as it is.
    $how -iquote "$dir" -c -o "$dir/broken.o" "$source" || return
    if [ $soak = soak-shm ]; then
        # shellcheck disable=SC2046
        $link -o "$dir/soak" "$dir/broken.o" \
            $(objects_of $(printf '%s\n' tests/sim/soak*.c | grep -vxF "${through:-none}")) \
            $(objects_of tests/nodes.c) "$build"/libloco-sim.a "$build"/libloco.a "${libraries[@]}"
    else
        $sim_link -o "$dir/soak" "$dir/broken.o" "$build"/sim/soak.a \
            "$build"/sim/libloco.a "${libraries[@]}"
    fi
}

# The mutant's run fails. Does the same pass without the fault?
judge_run() {
    local seed answers same
    seed=$(sed -n 's/.*then seed \([0-9]*\) FAILS.*/\1/p' <<<"$line")
    answers=$(sed -n "s/.*--replay '\(.*\)' fails$/\1/p" <<<"$line")
    same=(--seeds 1 --from "${seed:-1}")
    [ -z "$budget" ] || same=(--replay "$answers")
    if ! soak_of "$sound/$soak" "$workload" "${same[@]}" >/dev/null; then
        error "workload $workload does not pass on the sound tree either: ${same[*]}"
    elif [ -n "$budget" ] && ! grep -qxF "$workload 1 $answers" "$kept"; then
        error "$kept does not have what is found: $workload 1 $answers"
    else
        echo "caught $name: $workload, ${seed:+seed $seed of $seeds}$answers"
    fi
}

# Prints one line, which begins with the mutant's result.
try_mutant() {
    local mutant=$1 name dir seeds budget workload soak=soak line runs
    name=$(basename "$mutant" .mutant)
    dir=$work/$name workload=$(field workload "$mutant")
    seeds=$(field seeds "$mutant") budget=$(field depth-first "$mutant")
    mkdir -p "$dir"
    [ "$(field on "$mutant")" != "shm" ] || soak="soak-shm"
    if [ $soak = soak-shm ] && [ "$(nproc)" -lt 2 ]; then
        echo "SKIPPED $name: it needs two cores"
        return
    fi
    if ! make_mutant >"$dir/said" 2>&1; then
        error "the function is not as the mutant says, or what it makes does not compile"
        return
    fi
    runs=(--seeds "$seeds")
    [ -z "$budget" ] || runs=(--depth-first "$budget" --shrink)
    line=$(soak_of "$dir/soak" "$workload" "${runs[@]}")
    case $? in
    0) echo "ALIVE  $name: workload $workload passes all runs of ${runs[*]}" ;;
    1) judge_run ;;
    2) error "soak does not understand 'workload: $workload', ${runs[*]}" ;;
    3) error "workload $workload is over the time limit, which is no verdict" ;;
    *) error "workload $workload crashes, which is no verdict" ;;
    esac
    rm -rf "$dir"
}

export build compile link sim_compile sim_link kept sound work
export -f field objects_of soak_of error make_mutant judge_run try_mutant
# bash cannot export an array, so the commands are exported as strings.
try_quoted="libraries=(${libraries[*]@Q}); try_mutant \"\$1\""

rm -rf "$work"
mkdir -p "$work"
cp -r channels "$work" # each mutant has links to these files
printf '%s\0' "$mutants"/*.mutant |
    xargs -0 -n1 -P"$(nproc)" bash -c "$try_quoted" mutants.sh | tee "$work/results"

number() { grep -c "^$1" "$work/results"; }
caught=$(number caught) alive=$(number ALIVE)
skipped=$(number SKIPPED)
errors=$(number ERROR)
echo "$caught mutants caught, $alive alive, $errors errors, $skipped skipped"
[ $((caught + skipped)) = "$(find "$mutants" -name '*.mutant' | wc -l)" ]
