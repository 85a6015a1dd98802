# Functions that the tests of tests/rdma share. Each test sources this file. $RDMA_DEVICE is the
# device, and $RDMA_ADDRESSES are the addresses of its network interface. Nodes use them in turn,
# and share a single one.
source "$(dirname "${BASH_SOURCE[0]}")/../guest/checks.sh"

read -ra addresses <<<"$RDMA_ADDRESSES"

# address N: prints the address of node N
address() { echo "${addresses[$1 % ${#addresses[@]}]}"; }
fabric=verbs
