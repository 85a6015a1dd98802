#!/bin/bash
# Tests the fabric over a bad network, with delay, loss, reordering and low bandwidth. The kernel's
# netem makes the network bad. Without netem, tcp-relay imitates the effect of that on a TCP
# connection. Then tests between two network namespaces: the scenario, and a pulled cable.
set -euo pipefail
here=$(dirname "$0")

if [[ ! ${IN_NAMESPACE:-} ]]; then
    echo "--- tcp: bad networks: skipped, network namespaces are forbidden here"
    exit 0
fi
source "$here/common.sh"
export LOCO_TEST_FABRIC=tcp LOCO_TEST_EMULATED=1
bad=('histories/*' 'channels/*_processes' 'ringbuffer/*_processes' 'restarts/*_processes'
     'litmus/passing*_processes' 'litmus/word_processes' 'ticket_lock/survives*_processes')

by_netem() {
    tc qdisc add dev lo root netem delay 300us 200us loss 0.2% reorder 5% rate 100mbit 2>/dev/null
}

if by_netem; then
    echo "--- tcp: channels over a network of 300 us, with losses, reordering and 100 Mbit/s"
    "$build/test-tcp" "${bad[@]}" || failures=$((failures + 1))
    tc qdisc del dev lo root
else
    echo "--- tcp: channels through a relay (there is no netem): 100 us, in pieces, at 8 MiB/s"
    "$build/tcp-relay" 127.9.0.9 127.9.0.1 18700 32 100 100 0 8192 >"$work/relay" & relay=$!
    started+=($relay)
    said "$work/relay" ready >/dev/null
    LOCO_TEST_RELAY=127.9.0.9 \
        LOCO_TEST_ADDRESSES=$(for _ in {0..31}; do echo 127.9.0.1; done | paste -sd,) \
        "$build/test-tcp" "${bad[@]}" || failures=$((failures + 1))
fi

# --- two namespaces ---------------------------------------------------------------------------

unshare -n sleep 100000 & there=$!
started+=($there)
two_ends() {
    until [[ $(readlink /proc/$there/ns/net) != "$(readlink /proc/self/ns/net)" ]]; do sleep 0.1; done
    ip link add v0 type veth peer name v1 netns $there &&
        ip address add 10.73.0.1/24 dev v0 && ip link set v0 up &&
        nsenter -t $there -n ip address add 10.73.0.2/24 dev v1 &&
        nsenter -t $there -n ip link set v1 up && nsenter -t $there -n ip link set lo up
}
if ! two_ends >"$work/said" 2>&1; then
    echo "--- tcp: two namespaces: skipped, $(tail -n 1 "$work/said")"
    conclude
    exit 0
fi
places=(--set 'tcp.nodes=[{nodes: controller, address: 10.73.0.1}, {nodes: converter, address: 10.73.0.2}]')

apart() {
    local rc=0
    nsenter -t $there -n "$build/converter" "${slow[@]}" "${places[@]}" --id 0-19 \
        --set duration_s=4 --wait 120 --quiet 2>"$work/converters" & converters=$!
    started+=($converters)
    "$build/controller" "${slow[@]}" "${places[@]}" --set duration_s=4 --wait 120 \
        --out "$work/apart" || rc=$?
    wait $converters || rc=$?
    cat "$work/converters"
    return $rc
}

# Runs a command on a machine with an /etc/hosts of its own: NAME-OF-THIS-MACHINE OTHERS COMMAND...
named() {
    printf '127.0.0.1 localhost\n127.0.1.1 %s\n%s\n' "$1" "$2" >"$work/hosts-$1"
    unshare -m sh -c 'mount --bind "$0" /etc/hosts && exec "$@"' "$work/hosts-$1" "${@:3}"
}

# As in Debian's /etc/hosts, each machine's own name is at 127.0.1.1.
by_name() {
    local few=("${slow[@]}" --set nodes.converter.count=3 --set 'components.converter.tolerance={}'
        --set duration_s=0.5 --wait 60 --set
        'tcp.nodes=[{nodes: controller, address: near}, {nodes: converter, address: far}]')
    named far '10.73.0.1 near' nsenter -t $there -n "$build/converter" "${few[@]}" --id 0-2 --quiet &
    converters=$!
    started+=($converters)
    named near '10.73.0.2 far' "$build/controller" "${few[@]}" --out "$work/named" &&
        wait $converters
}

mixed=("${slow[@]}" --set nodes.converter.count=2 --set 'components.converter.tolerance={}'
    --set duration_s=0.5 --set rendezvous=near --wait 20)

# The name of the first node's machine leads one process to it over IPv4, and one over IPv6. Their
# machine has both.
by_both() {
    ip address add fd73::1/64 dev v0 nodad &&
        nsenter -t $there -n ip address add fd73::2/64 dev v1 nodad || return 0 # no IPv6
    named four '10.73.0.1 near' nsenter -t $there -n "$build/converter" "${mixed[@]}" --id 0 --quiet &
    local four=$!
    named six 'fd73::1 near' nsenter -t $there -n "$build/converter" "${mixed[@]}" --id 1 --quiet &
    local six=$!
    started+=($four $six)
    named near '' "$build/controller" "${mixed[@]}" --out "$work/both" && wait $four && wait $six
}

# Another machine has only IPv6, and is in another network.
by_either() {
    unshare -n sleep 100000 & third=$!
    started+=($third)
    until [[ $(readlink /proc/$third/ns/net) != "$(readlink /proc/self/ns/net)" ]]; do sleep 0.1; done
    ip link add v2 type veth peer name v3 netns $third && ip link set v2 up &&
        nsenter -t $third -n ip link set v3 up && ip address add fd74::1/64 dev v2 nodad &&
        nsenter -t $third -n ip address add fd74::2/64 dev v3 nodad || return 0 # no IPv6
    named four '10.73.0.1 near' nsenter -t $there -n "$build/converter" "${mixed[@]}" --id 0 &
    started+=($!)
    named six 'fd74::1 near' nsenter -t $third -n "$build/converter" "${mixed[@]}" --id 1 &
    started+=($!)
    named near '' "$build/controller" "${mixed[@]}" --out "$work/either" 2>&1 |
        tee "$work/families" || true
    grep -q 'only over IPv4 come converter\[0\] from 10.73.0.2, and only over IPv6 converter\[1\] from fd74::2, so they cannot reach each other' \
        "$work/families"
}

by_link_local() {
    named near 'fe80::2 far' "$build/converter" "${mixed[@]}" --id 0 --set rendezvous=far --wait 2 \
        2>&1 | tee "$work/link-local" || true
    grep -q 'far, port 18699: the name has only link-local addresses' "$work/link-local"
}

# Steps are short, as a process looks for lost peers once in 64 of them.
begin() {
    local pulled=("${slow[@]}" "${places[@]}" --set tcp.timeout_ms=500 --set duration_s=300
        --set nodes.controller.period_us=50000 --set nodes.converter.period_us=20000)
    nsenter -t $there -n "$build/converter" "${pulled[@]}" --id 0-19 2>"$work/converters" >&2 &
    converters=$!
    "$build/controller" "${pulled[@]}" --out "$work/pulled" 2>"$work/controller" >&2 & controller=$!
    started+=($converters $controller)
    said "$work/controller" '^0\.[1-9].* of 300 s|^[1-9].* of 300 s'
}

echo "--- tcp: a controller in one namespace, 20 converters in another"
settles "they run for 4 s" "$work/apart" apart
check "they find each other by their names" by_name
check "processes that came over IPv4 and IPv6 agree on one of them" by_both
check "processes that have nothing in common are told so" by_either
check "a name that has only link-local addresses is refused" by_link_local
check "they run again" begin
check "the cable is pulled" ip link set v0 down
check "the controller: nothing was heard" \
    said "$work/controller" 'nothing was heard of node [0-9]+ for 500 ms'
check "the converters: nothing was heard" \
    said "$work/converters" 'nothing was heard of node 0 for 500 ms'
check "the controller ends with 1" ends $controller 1
check "the converters end with 1" ends $converters 1
conclude
