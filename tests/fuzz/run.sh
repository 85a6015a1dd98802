#!/bin/sh
# Runs a fuzzer for SECONDS of processor time, so that what runs beside it does not shorten it. It
# starts from its corpus/ and the inputs that it found in earlier runs:
#
#      run.sh BUILD SECONDS NAME
#
# A fuzzer that mostly waits ends after four times as long by the clock. An input that breaks a reader
# is left in BUILD/found. With SECONDS=0 only the corpus is tried.
set -u
build=$1 seconds=$2 name=$3
cd "$(dirname "$0")/../.." || exit
export LSAN_OPTIONS=suppressions=tests/leaks.supp:print_suppressions=0

corpus=$build/corpus-$name
mkdir -p "$corpus" "$build/found"
export FUZZ_CPU_S="$seconds"
limit=-max_total_time=$((4 * seconds))
[ "$seconds" -gt 0 ] || limit=-runs=0
TMPDIR=$(mktemp -d)
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
shipped=
[ "$name" = scenario ] && shipped=configs
if "$build/fuzz-$name" $limit -timeout=20 -rss_limit_mb=2560 -max_len=16384 -verbosity=1 \
    -artifact_prefix="$build/found/$name-" "$corpus" tests/fuzz/corpus/"$name" $shipped \
    >"$corpus.log" 2>&1; then
    echo "  ok: fuzz-$name, $(grep -Eo "^#[0-9]+" "$corpus.log" | tail -1 | tr -d \#) inputs"
else
    echo "  FAILED: fuzz-$name: $corpus.log ends with"
    tail -40 "$corpus.log" | sed "s/^/      /"
    exit 1
fi
