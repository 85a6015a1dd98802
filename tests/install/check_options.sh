#!/bin/bash
# Whether each option that a command takes is in its --help, in its man page and in the completion of bash
# and zsh, and whether these name no others:
#
#      check_options.sh PREFIX
#
# PREFIX is where hiloco is installed.
set -uo pipefail
prefix=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
PATH=$prefix/bin:$PATH
failed=0

# All commands take these two.
but_help() {
    grep -xvE -- '--help|--version' | LC_ALL=C sort -u
}

options_in() {
    grep -oE -- '--[a-z][a-z0-9-]*'
}

# An option without a name may be any: the parser lists those that it knows, and begins nothing.
taken() { # COMMAND...
    "$@" --= 2>&1 | options_in
    [[ $* != "hiloco scope" ]] || "$@" --capture=x --= 2>&1 | options_in
}

# The usage and the list; the text may name other commands' options.
listed() { # COMMAND...
    "$@" --help | sed -n '/^usage:/,/^$/p; /^  --/p' | options_in
}

# A command's lines of a synopsis; without a command, those of a page that has only one.
synopsis() { # PAGE [COMMAND]
    awk -v command="${2:-}" '
        /^\.Sh/ { inside = $2 == "SYNOPSIS" }
        /^\.Nm/ { ours = command == "" }
        /^\.Cm/ { ours = ours || $2 == command }
        inside && ours' "$prefix/share/man/man1/$1.1" |
        grep -oE 'Fl Fl [a-z][a-z0-9-]*' | sed 's/Fl Fl /--/'
}

explained() { # PAGE
    sed '/^\.Sh SYNOPSIS/,/^\.Sh DESCRIPTION/d' "$prefix/share/man/man1/$1.1" |
        grep -oE 'Fl Fl [a-z][a-z0-9-]*' | sed 's/Fl Fl /--/'
}

in_bash() { # WORD...
    bash -c '. "$0/share/bash-completion/completions/hiloco"
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        _hiloco
        printf "%s\n" "${COMPREPLY[@]}"' "$prefix" "$@"
}

# The function as zsh calls it, but that what it offers is printed.
in_zsh() { # WORD...
    zsh -fc 'compadd() { shift; print -l -- "$@" }
        _files() { }
        file=$1; shift
        words=("$@") CURRENT=$# PREFIX=${@[-1]}
        source $file' zsh "$prefix/share/zsh/vendor-completions/_hiloco" "$@"
}

same() { # COMMAND WHERE; what is there is read
    but_help >"$work/there"
    diff "$work/taken" "$work/there" >"$work/difference" && return
    echo "$1: $2 lacks (<), or has too much (>):"
    grep '^[<>]' "$work/difference"
    failed=1
}

check() { # PAGE COMMAND...; the page explains its options
    local page=$1 command
    shift
    command=$*
    taken "$@" >"$work/all"
    grep -qx -e --help "$work/all" || { echo "$command: the parser lists no options"; failed=1; }
    but_help <"$work/all" >"$work/taken"
    listed "$@" | same "$command" --help
    synopsis "$1" "${2:-}" | same "$command" "the synopsis of $1(1)"
    [[ $page == "$1" ]] || synopsis "$page" | same "$command" "the synopsis of $page(1)"
    in_bash "$@" -- | same "$command" "bash's completion"
    ! command -v zsh >/dev/null || in_zsh "$@" -- | same "$command" "zsh's completion"
    explained "$page" | but_help | LC_ALL=C comm -23 "$work/taken" - >"$work/unexplained"
    [[ -s $work/unexplained ]] || return
    sed "s/^/$command: $page(1) does not explain /" "$work/unexplained"
    failed=1
}

commands=$(hiloco --help | sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p')
(($(wc -w <<<"$commands") > 15)) || { echo "hiloco --help lists no commands"; exit 1; }
for command in $commands; do
    page=hiloco-$command
    [[ -e $prefix/share/man/man1/$page.1 ]] || page=hiloco
    check $page hiloco "$command"
done
for program in controller converter; do
    check $program $program
done
exit $failed
