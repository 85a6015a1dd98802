#!/bin/sh
# Checks that the shipped scenarios give, in virtual time, the same records as at another commit,
# value for value, whatever their names are:
#
#      records_equal.sh COMMIT [BUILD]
#
# It builds COMMIT in a temporary folder, and runs that commit's scenarios with its programs and
# with those in BUILD, after `hiloco convert`. It compares what each scenario records.
set -eu
cd "$(dirname "$0")/.."
[ $# -ge 1 ] || { sed -n '5s/^# *//p' "$0" >&2 && exit 2; }
commit=$1
build=$(realpath "${2:-build}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

record() { # PROGRAM SCENARIO FOLDER
    "$1" run "$2" --mode virtual --quiet --out "$3" &&
        "$1" export "$3" --csv 2>"$work/log" || { cat "$work/log" && exit 1; }
}

mkdir "$work/tree"
git archive "$commit" | tar -x -C "$work/tree"
make -s -C "$work/tree" all >"$work/log" 2>&1 || { cat "$work/log" && exit 1; }

for scenario in "$work"/tree/configs/*.yaml; do
    name=$(basename "$scenario" .yaml)
    record "$work/tree/build/hiloco" "$scenario" "$work/before"
    today=$(dirname "$scenario")/today
    "$build/hiloco" convert "$scenario" >"$today"
    record "$build/hiloco" "$today" "$work/after"
    rm "$work"/before/*.h5 "$work"/after/*.h5
    [ -e "$work/before/events.csv" ] || rm -f "$work/after/events.csv"
    for record in "$work"/before/*.csv; do
        [ -e "$record" ] || { echo "$name: $commit recorded nothing" && exit 1; }
        tail -n +2 "$work/after/${record##*/}" >"$work/rows"
        tail -n +2 "$record" | cmp - "$work/rows" || failed=1
    done
    [ "$(ls "$work"/before/*.csv | wc -l)" = "$(ls "$work"/after/*.csv | wc -l)" ] || failed=1
    echo "$name: $(cat "$work"/before/*.csv | wc -l) rows of $(ls "$work"/before/*.csv | wc -l) records"
    rm -r "$work/before" "$work/after"
done
[ $failed = 0 ] && echo "all equal" || { echo "records DIFFER" && exit 1; }
