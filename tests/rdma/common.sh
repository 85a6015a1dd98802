# What the tests of tests/rdma share; sourced by each. $RDMA_DEVICE is the device, $RDMA_ADDRESSES
# the addresses of its network interface: nodes take them in turns, and may share the only one.
source "$(dirname "${BASH_SOURCE[0]}")/../guest/checks.sh"

read -ra addresses <<<"$RDMA_ADDRESSES"

# address N: of node N
address() { echo "${addresses[$1 % ${#addresses[@]}]}"; }
fabric=verbs
