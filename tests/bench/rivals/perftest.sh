#!/bin/bash
# Prints one figure of a perftest program, measured between two processes on this machine.
#
#     perftest.sh COLUMN CPU CPU PROGRAM ARGUMENTS...
#
# Runs over $RDMA_DEVICE, at the first of $RDMA_ADDRESSES. Prints that column of the client's row of
# results. The exit status is 127 if perftest is not installed.
set -euo pipefail
column=$1 cpus=("$2" "$3") program=$4
shift 4
command -v "$program" >/dev/null || exit 127
command=("$program" -d "$RDMA_DEVICE" -R -F "$@")

timeout 60 taskset -c "${cpus[1]}" "${command[@]}" >/dev/null 2>&1 & server=$!
trap 'kill $server 2>/dev/null || true' EXIT
for _ in $(seq 30); do
    sleep 0.2 # gives the server time to listen
    said=$(timeout 60 taskset -c "${cpus[0]}" "${command[@]}" "${RDMA_ADDRESSES%% *}" 2>&1) || continue
    awk -v column="$column" '/^ *[0-9]+ +[0-9]+ +[0-9.]+ / { value = $column } END { print value }' \
        <<<"$said"
    exit
done
echo "$said" >&2
exit 1
