#!/bin/bash
# Checks the device without any code of this project: it is up, and librdmacm connects over it.
set -euo pipefail
source "$(dirname "$0")/common.sh"

is_active() { ibv_devinfo -d "$RDMA_DEVICE" | grep PORT_ACTIVE; }

listens() { rdma resource show cm_id | grep -q LISTEN; }

ping() {
    rping -s -a "$(address 0)" -C 5 -v >"$work/server" 2>&1 & local server=$!
    started+=($server)
    patiently listens
    rping -c -a "$(address 0)" -I "$(address 1)" -C 5 -v >"$work/client" 2>&1 & local client=$!
    started+=($client)
    ends $client 0 && ends $server 0 || { cat "$work/server" "$work/client"; return 1; }
}

echo "--- rdma: rping over $RDMA_DEVICE"
check "a port of $RDMA_DEVICE is active" is_active
check "rping, $(address 1) to $(address 0)" ping
conclude
