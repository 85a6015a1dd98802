# Functions that the tests in a guest share. Each test sources this file.

build=${HILOCO_BUILD:-build}
work=$(mktemp -d)
failures=0
started=() # processes that the test started; those still running are killed when it ends

finish() {
    ((${#started[@]} == 0)) || kill -9 "${started[@]}" 2>/dev/null || true
    rm -rf "$work"
}
trap finish EXIT

# check WHAT COMMAND...: runs the command and prints WHAT; if the command fails, also prints its
# output.
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

# patiently COMMAND...: repeats the command until it succeeds, while the programs under test still
# print or record anything. Fails when they have been silent for a minute.
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

# said FILE TEXT: waits until the file contains the text.
said() {
    patiently grep -qE "$2" "$1" && return
    echo "not said, and then nothing more for a minute: $2; but:"
    cat "$1"
    return 1
}

is_gone() { ! kill -0 "$1" 2>/dev/null; }

# ends PROCESS STATUS: waits until the process ends, and checks its exit status.
ends() {
    local status=0
    patiently is_gone "$1" || { echo "it goes on, and has been silent for a minute"; return 1; }
    wait "$1" || status=$?
    echo "exit status $status"
    ((status == $2))
}

# settled SUMMARY: checks that the run was over $fabric and that its output settled at the
# reference.
settled() {
    cat "$1"
    grep -q '"fabric": "'"$fabric"'"' "$1" &&
        sed -n '/^    "output_v": {/,/^    }/p' "$1" | grep -q '"settled": true'
}

# Whether the run's summary says that it is not valid because its loops did not get enough processor
# time.
was_too_busy() { # SUMMARY
    tr -d ' \n' <"$1" | grep -qE '"(missed_percent|lost_percent|gap_us|behind_us)":\{[^}]*"passed":false'
}

runs_at_most=3

# settles WHAT FOLDER COMMAND...: checks that the command, a run with its results in FOLDER,
# succeeds and that its output settles. If it does not settle and the machine was too busy, the run
# proves nothing and is repeated. The check fails if the output does not settle in a valid run, or
# in $runs_at_most runs.
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

# Options that make the 20-converter scenario independent of good timing. With several processes on
# each core, or under emulation, a loop gets its turn late. So the loops are slow and sleep between
# their steps, the plants catch up at once, and the law only integrates. It still settles with the
# share of missed steps that is allowed here.
slowly=(--set components.control.model=pi
    --set 'components.control.parameters={kp_per_v: 0, ki_per_v_s: 0.03, duty_min: 0.02, duty_max: 0.5}'
    --set nodes.controller.period_us=200000 --set nodes.converter.period_us=50000
    --set nodes.converter.catch_up_limit=0 --set validity.missed_percent=25 --set validity.lost_percent=25
    --set nodes.controller.cpu=-1 --set nodes.converter.cpu=-1
    --set nodes.controller.priority=0 --set nodes.converter.priority=0
    --set validity.required=false --set nodes.controller.wait=hybrid --set nodes.converter.wait=hybrid)

# Faults of the 20-converter scenario, within 4 s. Two of them silence a converter for longer than
# the age limit that is set here.
with_faults=(--set duration_s=4 --set connections.0.age_limit_us=800000 --set connections.0.on_old=hold
    --set 'faults.stuck={signal: "converter[3].voltage_v", kind: stuck, at_s: 1, duration_s: 1}'
    --set 'faults.aged={component: "converter[0]", kind: tune, parameter: capacitance_f, factor: 0.5,
                        at_s: 1}'
    --set 'faults.cut={from: "converter[7]", to: controller, kind: freeze, at_s: 1, duration_s: 1.8}'
    --set 'faults.gone={nodes: "converter[5]", kind: stall, at_s: 1, duration_s: 1.8}')

# faults_acted FOLDER: checks that the faults acted in the run with its results in FOLDER.
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
