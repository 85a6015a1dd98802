#!/bin/bash
# By ssh: `hiloco run --hosts a,b` starts the parts on two hosts, both of which are an sshd of the test's
# own on loopback, with keys, configuration and files in a temporary folder. In a namespace of its own for
# what sshd has at fixed places.
set -euo pipefail
here=$(dirname "$0")

if [[ ! ${IN_NAMESPACE:-} ]]; then
    source "$here/common.sh"
    needs ssh ssh sshd
    apart=(unshare -nmup --fork --kill-child --mount-proc) # what is left ends with it
    ! "${apart[@]}" true 2>/dev/null || IN_NAMESPACE=1 exec "${apart[@]}" "$0"
    echo "--- launchers: ssh: skipped, namespaces are forbidden here"
    exit 0
fi
source "$here/common.sh"

begin_sshd() {
    local key
    ip link set lo up
    for key in host user; do ssh-keygen -q -t ed25519 -N '' -f "$work/$key"; done
    mount -t tmpfs -o mode=755 none /run && mkdir /run/sshd
    { cat /etc/passwd; getent passwd sshd >/dev/null || echo sshd:x:101:65534::/run/sshd:/bin/false; } \
        >"$work/passwd"
    mount --bind "$work/passwd" /etc/passwd
    cat >"$work/sshd_config" <<END
ListenAddress 127.92.0.1:2222
HostKey $work/host
AuthorizedKeysFile $work/user.pub
PidFile $work/sshd.pid
StrictModes no
UsePAM no
PermitRootLogin yes
PasswordAuthentication no
SetEnv PATH=$build:$PATH
END
    cat >"$work/ssh_config" <<END
Host 127.92.0.1 other
    HostName 127.92.0.1
    Port 2222
    User $(id -un)
    IdentityFile $work/user
    UserKnownHostsFile $work/known
    StrictHostKeyChecking no
    LogLevel ERROR
END
    /usr/sbin/sshd -D -e -f "$work/sshd_config" 2>"$work/sshd" &
    said "$work/sshd" 'Server listening'
}

unset HILOCO_SECRET # of the run, which goes to the hosts by ssh
export HILOCO_SSH="ssh -F $work/ssh_config"

run_on() { # HOSTS FOLDER OPTION...
    "$build/hiloco" run "${short[@]}" --hosts "$1" --out "$2" "${@:3}"
}

both_ran() {
    cat "$work/both/127.92.0.1/summary.json" "$work/both/other/summary.json"
    [[ -s $work/both/127.92.0.1/trace.h5 && -s $work/both/other/trace.h5 ]]
}

refused() { # WHAT COMMAND...
    local status=0
    "${@:2}" >"$work/refusal" 2>&1 || status=$?
    cat "$work/refusal"
    ((status == 2)) && grep -q -- "$1" "$work/refusal"
}

interrupted() {
    local status=0 launcher
    "$build/hiloco" run "${short[@]}" --hosts 127.92.0.1,other --out "$work/long" \
        --set duration_s=300 & launcher=$!
    until pgrep -f 'hiloco node' >/dev/null; do sleep 0.1; done
    kill -INT $launcher
    wait $launcher || status=$?
    echo "exit status $status"
    ((status == 130)) && patiently no_node_left
}
no_node_left() { ! pgrep -f 'hiloco node' >/dev/null; }

echo "--- launchers: $(ssh -V 2>&1), an sshd of the test's own"
check "sshd is there" begin_sshd
check "hiloco run --hosts: an executor on each of two hosts" run_on 127.92.0.1,other "$work/both"
check "both left their results" both_ran
check "one host too few is refused" refused 'one host for each of the scenario' \
    run_on 127.92.0.1 "$work/few"
check "a name that ssh would take for an option is refused" refused 'are allowed' \
    run_on 127.92.0.1,-oProxyCommand=x "$work/option"
check "interrupted, it leaves no program on a host" interrupted
conclude
