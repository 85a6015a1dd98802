# What tests share that run in a guest; sourced by each.

build=${HILOCO_BUILD:-build}
work=$(mktemp -d)
failures=0
started=() # processes, by check or by hand; the last of them end with the test

finish() {
    ((${#started[@]} == 0)) || kill -9 "${started[@]}" 2>/dev/null || true
    rm -rf "$work"
}
trap finish EXIT

# check WHAT COMMAND...: prints WHAT, and what the command said if it failed.
check() {
    local what=$1
    shift
    if "$@" >"$work/said" 2>&1; then
        echo "  ok: $what"
    else
        echo "  FAILED: $what"
        sed 's/^/      /' "$work/said" | tail -n 40
        failures=$((failures + 1))
    fi
}

# patiently COMMAND...: again and again until it succeeds, for as long as the programs have something
# to say or to record; a minute after they have fallen silent it fails.
patiently() {
    local looks=0 before='' now
    until "$@"; do
        sleep 0.2
        now=$(du -sb --exclude said "$work")
        [[ $now == "$before" ]] && looks=$((looks + 1)) || looks=0
        before=$now
        ((looks < 300)) || return 1
    done
}

# said FILE TEXT: waits until the file has it.
said() {
    patiently grep -qE "$2" "$1" && return
    echo "not said, and then nothing more for a minute: $2; but:"
    cat "$1"
    return 1
}

is_gone() { ! kill -0 "$1" 2>/dev/null; }

# ends PROCESS STATUS: waits until it does, and so.
ends() {
    local status=0
    patiently is_gone "$1" || { echo "it goes on, and has been silent for a minute"; return 1; }
    wait "$1" || status=$?
    echo "exit status $status"
    ((status == $2))
}

conclude() {
    ((failures == 0)) || { echo "  $failures FAILED"; exit 1; }
}
