#!/bin/bash
# Starts scenarios over ssh: `hiloco run --hosts a,b` starts the parts on two hosts. Both hosts are
# an sshd that the test starts on loopback, with keys, configuration and files in a temporary
# folder. The test runs in a namespace of its own, as sshd has some files at fixed places.
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
ListenAddress [::1]:2222
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
Host *
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

unset HILOCO_SECRET # the run has a secret of its own, which goes to the hosts over ssh
export HILOCO_SSH="ssh -F $work/ssh_config"

run_on() { # HOSTS FOLDER OPTION...
    "$build/hiloco" run "${short[@]}" --hosts "$1" --out "$2" "${@:3}"
}

both_ran() {
    local parts=$work/both/parts
    [[ -s $parts/127.92.0.1/trace.h5 && -s $parts/other/trace.h5 ]] && python3 - "$work/both" <<'END'
import json, sys
summary = json.load(open(sys.argv[1] + "/summary.json"))
print(summary["parts"], summary["clocks"])
assert [p["name"] for p in summary["parts"]] == ["127.92.0.1", "other"]
assert [p["nodes"] for p in summary["parts"]] == ["controller", "converter[0-19]"]
assert summary["missing"] is None
assert summary["nodes"]["controller"]["steps"] > 0 and summary["nodes"]["converter"]["steps"] > 0
assert summary["clocks"]["controller"]["by"] == "the same clock"
far = summary["clocks"]["converter[7]"]
assert far["by"] == "round trips" and 0 < far["uncertainty_us"] < 1e5
END
}

# Many users' shells print something when they start, also for a command.
despite_a_greeting() {
    cat >"$work/greets" <<END
#!/bin/sh
echo Welcome; printf 'no newline '
exec ssh -F $work/ssh_config "\$@"
END
    chmod +x "$work/greets"
    HILOCO_SSH=$work/greets run_on 127.92.0.1,other "$work/both"
}

# A user's shell need not be like sh.
by_another_shell() {
    [[ -x /bin/tcsh ]] || { echo "skipped: there is no tcsh"; return 0; }
    local before
    before=$(cat /etc/passwd)
    sed "/^$(id -un):/s|[^:]*$|/bin/tcsh|" <<<"$before" >/etc/passwd
    local status=0
    run_on 127.92.0.1,other "$work/both" || status=$?
    echo "$before" >/etc/passwd
    return $status
}

# Only ssh says why: there is no archive that could be damaged.
is_not_reached() {
    local status=0
    HILOCO_SSH=false run_on 127.92.0.1,other "$work/nowhere" >"$work/unreached" 2>&1 || status=$?
    cat "$work/unreached"
    ((status == 1)) && ! grep -q tar "$work/unreached"
}

# The commands that read a run's folder can read this one, which has the rows of all nodes.
is_read() {
    "$build/hiloco" export "$work/both" --csv && "$build/hiloco" report "$work/both" &&
        "$build/hiloco" compare "$work/both" "$work/both" >/dev/null &&
        (($(wc -l <"$work/both/controller.csv") > 1 &&
            $(wc -l <"$work/both/converter-019.csv") > 1))
}

# Once the controller makes steps, the nodes of both hosts have met.
has_begun() {
    "$build/hiloco" top "$(pgrep -of '^hiloco node controller')" --json --count 1 |
        grep -qE '"elapsed_s":[0.]*[1-9]'
}

# A host whose processes were all killed leaves at most its record. The other host's results must be
# there.
one_dies() {
    local status=0 launcher
    "$build/hiloco" run "${short[@]}" --hosts 127.92.0.1,other --out "$work/dies" \
        --set duration_s=60 & launcher=$!
    patiently has_begun
    kill -KILL $(pgrep -f '^hiloco node converter')
    wait $launcher || status=$?
    echo "exit status $status"
    python3 - "$work/dies" <<'END'
import json, sys
summary = json.load(open(sys.argv[1] + "/summary.json"))
print(summary["missing"], summary["validity"]["reasons"], [p["ended"] for p in summary["parts"]])
assert summary["missing"] == "converter[0-19]" and not summary["validity"]["valid"]
assert "a part is missing" in summary["validity"]["reasons"][0]
assert summary["nodes"]["controller"]["steps"] > 0 and summary["nodes"]["converter"] is None
END
    ((status == 1))
}

has_verdicts() {
    run_on 127.92.0.1,other "$work/both" --junit "$work/verdict.xml" --tap - >"$work/tap"
    cat "$work/tap" "$work/verdict.xml"
    grep -q '^1\.\.' "$work/tap" && grep -q '<testsuite' "$work/verdict.xml"
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
check "both left their results, which are brought together" both_ran
check "again, with shells that print a greeting" despite_a_greeting
check "the greeting is not taken for results" both_ran
check "again, by users' shells that are not like sh" by_another_shell
check "both left their results again" both_ran
check "it is a run's folder for other commands" is_read
check "hosts that are not reached fail without further words" is_not_reached
check "again in the same folder, with verdicts on the whole" has_verdicts
check "the first host may be an IPv6 address" run_on ::1,other "$work/six"
check "one host too few is refused" refused 'one host for each of the scenario' \
    run_on 127.92.0.1 "$work/few"
check "a name that ssh would take for an option is refused" refused 'are allowed' \
    run_on 127.92.0.1,-oProxyCommand=x "$work/option"
check "--fix is refused, with a reason" refused 'the run is on others' \
    run_on 127.92.0.1,other "$work/fix" --fix
check "a host whose processes are killed leaves what it has" one_dies
check "interrupted, it leaves no program on a host" interrupted
conclude
