# What tests share that run in a guest; sourced by each.

build=${HILOCO_BUILD:-build}
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

# patiently COMMAND...: again and again until it succeeds, for as long as the programs have something
# to say or to record; a minute after they have fallen silent it fails.
patiently() {
    local looks=0 before='' now
    until "$@"; do
        sleep 0.2
        now=$(du -sb --exclude said "$work")
        [[ $now == "$before" ]] && looks=$((looks + 1)) || looks=0
        before=$now
        ((looks < 300)) || return 1
    done
}

# said FILE TEXT: waits until the file has it.
said() {
    patiently grep -qE "$2" "$1" && return
    echo "not said, and then nothing more for a minute: $2; but:"
    cat "$1"
    return 1
}

is_gone() { ! kill -0 "$1" 2>/dev/null; }

# ends PROCESS STATUS: waits until it does, and so.
ends() {
    local status=0
    patiently is_gone "$1" || { echo "it goes on, and has been silent for a minute"; return 1; }
    wait "$1" || status=$?
    echo "exit status $status"
    ((status == $2))
}

# settled SUMMARY: over $fabric, and at the reference.
settled() {
    cat "$1"
    grep -q '"fabric": "'"$fabric"'"' "$1" &&
        sed -n '/^    "output_v": {/,/^    }/p' "$1" | grep -q '"settled": true'
}

# Whether a run says of itself that it is not valid, as its loops did not get their turns.
was_too_busy() { # SUMMARY
    tr -d ' \n' <"$1" | grep -qE '"(missed_percent|gap_us|behind_us)":\{[^}]*"passed":false'
}

runs_at_most=3

# settles WHAT FOLDER COMMAND...: the command, a run with its results in FOLDER, ends well, and its
# output settles. A run that has not settled, and was too busy, shows nothing: it is run again. What
# did not settle in a valid run, or in so many runs, has failed.
settles() {
    local what=$1 summary=$2/summary.json run
    for ((run = 1; run <= runs_at_most; run++)); do
        rm -rf "$2"
        check "$what" "${@:3}"
        sed -n 's/^ *\(output_v\|controller\|converter\|round trip\) .*/      &/p' "$work/said"
        [[ -e $summary ]] && ! settled "$summary" >/dev/null && was_too_busy "$summary" || break
        echo "  not settled, but the machine was too busy: run $run of at most $runs_at_most"
        sed -n '/"reasons"/,/\]/ s/^ *"\(.* .*\)".*/      \1/p' "$summary"
    done
    check "the output has settled at the reference" settled "$summary"
}

# Makes the 20-converter scenario one about function, not about time. With several processes on each core,
# or emulated, a loop gets its turn late: the loops are slow and sleep between their steps, the plants
# catch up at once, and the law is the integral alone. The bound on missed steps is what it settles with.
slowly=(--set controller.law=pi --set 'controller.gains={kp_per_v: 0, ki_per_v_s: 0.03}'
    --set controller.period_us=200000 --set converters.period_us=50000
    --set converters.catch_up_limit=0 --set validity.missed_percent=25
    --set controller.cpu=-1 --set converters.cpu=-1
    --set controller.priority=0 --set converters.priority=0
    --set validity.required=false --set controller.wait=hybrid --set converters.wait=hybrid)

# Faults of the 20-converter scenario, in 4 s; and an age limit, which the two are beyond that are not
# heard for longer.
with_faults=(--set duration_s=4 --set controller.age_limit_us=800000 --set controller.on_old=hold
    --set 'faults.stuck={signal: "converter[3].voltage_v", kind: stuck, at_s: 1, duration_s: 1}'
    --set 'faults.aged={component: "converter[0]", kind: tune, parameter: capacitance_f, factor: 0.5,
                        at_s: 1}'
    --set 'faults.cut={from: "converter[7]", to: controller, kind: freeze, at_s: 1, duration_s: 1.8}'
    --set 'faults.gone={nodes: "converter[5]", kind: stall, at_s: 1, duration_s: 1.8}')

# faults_acted FOLDER: that they did, in a run that has left FOLDER.
faults_acted() {
    local summary=$work/summary name
    cat "$1/summary.json"
    tr -d ' \n' <"$1/summary.json" >"$summary"
    for name in stuck cut gone; do
        grep -qE '"name":"'$name'","kind":"[a-z]*","of":"[^"]*","began_s":[12]\.[0-9]*,"ended_s":[2-4]\.' \
            "$summary" || { echo "$name did not act"; return 1; }
    done
    grep -qE '"name":"aged",[^}]*"began_s":[12]\.[0-9]*,"ended_s":null' "$summary" &&
        grep -qE '"old_inputs":\{"count":[2-9],"recovered":[2-9],' "$summary"
}

conclude() {
    ((failures == 0)) || { echo "  $failures FAILED"; exit 1; }
}
