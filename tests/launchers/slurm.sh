#!/bin/bash
# Starts scenarios with srun on a Slurm on one machine: a controller and two slurmd, each in a
# network namespace of its own, joined by a bridge, with a munge that the test starts. The scenario
# names no addresses; the processes find them.
set -euo pipefail
here=$(dirname "$0")

if [[ ! ${IN_NAMESPACE:-} ]]; then
    source "$here/common.sh"
    needs Slurm slurmctld slurmd srun munged
    apart=(unshare -nmup --fork --kill-child --mount-proc) # what is left ends with it
    ! "${apart[@]}" true 2>/dev/null || IN_NAMESPACE=1 exec "${apart[@]}" "$0"
    echo "--- launchers: Slurm: skipped, namespaces are forbidden here"
    exit 0
fi
source "$here/common.sh"
PATH=$PATH:/usr/sbin
chmod 755 "$work"

# --- three hosts: one with the controller, two with a slurmd ------------------------------------

hosts() {
    ip link set lo up
    ip link add hosts type bridge && ip link set hosts up && ip address add 10.74.0.1/24 dev hosts
    for host in 1 2; do
        unshare -nu sleep 1000 & started+=($!); disown
        nodes[host]=$!
        until [[ $(readlink /proc/$!/ns/uts) != "$(readlink /proc/self/ns/uts)" ]]; do sleep 0.1; done
        nsenter -t $! -u hostname "node$host"
        ip link add "host$host" type veth peer name out netns $! &&
            ip link set "host$host" master hosts && ip link set "host$host" up &&
            nsenter -t $! -n ip link set lo up && nsenter -t $! -n ip link set out up &&
            nsenter -t $! -n ip address add "10.74.0.1$host/24" dev out
    done
    hostname head
    printf '127.0.0.1 localhost\n10.74.0.1 head\n10.74.0.11 node1\n10.74.0.12 node2\n' >"$work/hosts"
    mount --bind "$work/hosts" /etc/hosts
}
nodes=() # processes in their namespaces

# --- Slurm --------------------------------------------------------------------------------------

configure() {
    local slurm=$work/slurm
    mkdir -p "$slurm"/{state,spool1,spool2}
    cat >"$slurm/slurm.conf" <<END
ClusterName=test
SlurmctldHost=head(10.74.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$slurm/munge.socket
CredType=cred/munge
SlurmctldPidFile=$slurm/slurmctld.pid
SlurmdPidFile=$slurm/slurmd.%n.pid
StateSaveLocation=$slurm/state
SlurmdSpoolDir=$slurm/spool.%n
SlurmctldLogFile=$slurm/slurmctld.log
SlurmdLogFile=$slurm/slurmd.%n.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
ReturnToService=2
NodeName=node1 NodeAddr=10.74.0.11 CPUs=$(nproc) State=UNKNOWN
NodeName=node2 NodeAddr=10.74.0.12 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=node1,node2 Default=YES State=UP
END
    export SLURM_CONF=$slurm/slurm.conf
    head -c 128 /dev/urandom >"$slurm/munge.key"
    chmod 600 "$slurm/munge.key"
}

begin_slurm() {
    local slurm=$work/slurm
    munged --foreground --force --key-file "$slurm/munge.key" --socket "$slurm/munge.socket" \
        --pid-file "$slurm/munge.pid" --seed-file "$slurm/munge.seed" --log-file "$slurm/munge.log" &
    started+=($!); disown
    until [[ -S $slurm/munge.socket ]]; do sleep 0.1; done
    slurmctld -D & started+=($!); disown
    for host in 1 2; do
        nsenter -t "${nodes[host]}" -n -u slurmd -D -N "node$host" & started+=($!); disown
    done
    patiently both_idle
}
both_idle() { [[ $(sinfo -h -o %T:%D 2>/dev/null) == idle:2 ]]; }

by_srun() {
    (cd "$work" && srun --nodes 2 --ntasks 2 --ntasks-per-node 1 "$build/hiloco" node "${short[@]}" \
        --set name=slurm)
}

echo "--- launchers: $(slurmd -V), two slurmd"
if ! hosts >"$work/said" 2>&1; then
    echo "--- launchers: Slurm: skipped, $(tail -n 1 "$work/said")"
    exit 0
fi
configure
check "Slurm is there" begin_slurm
check "srun: a rank for each of two executors, on two hosts" by_srun
check "they ran" ran slurm
conclude
