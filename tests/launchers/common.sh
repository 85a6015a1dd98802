# Functions that the tests of tests/launchers share. Each test sources this file.
source "$(dirname "${BASH_SOURCE[0]}")/../guest/checks.sh"
build=$(realpath "$build")
export HILOCO_SECRET=0123456789abcdef0123456789abcdef

# The 20-converter scenario, short and slow, as these tests are about starting processes, not about
# timing.
short=("$PWD/configs/dcdc20.yaml" --set fabric=tcp --set duration_s=0.05
       --set 'record.1={signals: [converter.voltage_v, converter.current_a, converter.duty], node: converter}'
       --set nodes.controller.period_us=5000 --set nodes.converter.period_us=1000
       --set nodes.controller.cpu=-1 --set nodes.converter.cpu=-1
       --set nodes.controller.priority=0 --set nodes.converter.priority=0
       --set nodes.controller.wait=hybrid --set nodes.converter.wait=hybrid --set nodes.controller.overrun=catch_up
       --set validity.required=false --wait 60)

# needs WHAT PROGRAM...: ends the test if one of the programs is not installed.
needs() {
    local program
    for program in "${@:2}"; do
        PATH=$PATH:/usr/sbin command -v "$program" >/dev/null && continue
        echo "--- launchers: $1: skipped, $program is not installed"
        exit 0
    done
}

# ran NAME: checks that the only run of the scenario of this name left results and ended in time
# over tcp. On a busy machine its loops may have had no turn.
ran() {
    local summary
    summary=$(echo "$work/results/$1"-*/summary.json)
    cat "$summary"
    grep -q '"fabric": "tcp"' "$summary" &&
        tr -d ' \n' <"$summary" | grep -qE '"controller":\{[^}]*"(steps|missed)":[1-9]'
}
