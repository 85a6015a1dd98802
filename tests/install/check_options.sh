#!/bin/bash
# Checks that each option of a command is in its --help, in its man page and in the completion of
# bash and zsh, and that these name no other options; and what else bash completes:
#
#      check_options.sh PREFIX
#
# hiloco is installed in PREFIX.
set -uo pipefail
prefix=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
PATH=$prefix/bin:$PATH
failed=0

# All commands have these two options.
but_help() {
    grep -xvE -- '--help|--version' | LC_ALL=C sort -u
}

options_in() {
    grep -oE -- '--[a-z][a-z0-9-]*'
}

# Prints the options that the command accepts. Given an option without a name, the parser lists the
# options that it knows and does nothing else.
taken() { # COMMAND...
    "$@" --= 2>&1 | options_in
    [[ $* != "hiloco scope" ]] || "$@" --capture=x --= 2>&1 | options_in
}

# Takes options only from the usage and the list, as the text may name other commands' options.
listed() { # COMMAND...
    "$@" --help | sed -n '/^usage:/,/^$/p; /^  --/p' | options_in
}

# Prints a command's lines of a synopsis. Without a command, prints the synopsis of a page that has
# only one.
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

# Calls the function as zsh does, except that its offers are printed.
in_zsh() { # WORD...
    zsh -fc 'compadd() { shift; print -l -- "$@" }
        _files() { }
        file=$1; shift
        words=("$@") CURRENT=$# PREFIX=${@[-1]}
        source $file' zsh "$prefix/share/zsh/vendor-completions/_hiloco" "$@"
}

same() { # COMMAND WHERE; reads the options that were found there
    but_help >"$work/there"
    diff "$work/taken" "$work/there" >"$work/difference" && return
    echo "$1: $2 lacks (<), or has too much (>):"
    grep '^[<>]' "$work/difference"
    failed=1
}

check() { # PAGE COMMAND...; the page explains the commands' options
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
for program in controller converter loco-conform; do
    check $program $program
done

# Words that are no options: keys of the scenario, models, kinds, commands.
offers() { # WORD THAT COMES, WORD...
    local word=$1
    shift
    in_bash "$@" | grep -xF -e "$word" >/dev/null || { echo "bash's completion of '$*' does not offer $word"; failed=1; }
}
offers nodes.controller.period_us= hiloco run configs/boost.yaml --set nodes.c
offers sources.load.steps.changes.0.time_s= hiloco sweep configs/boost.yaml --set sou
offers boost hiloco models bo
offers summary hiloco schema s
offers circuit hiloco new x --kind c
offers export-fmu hiloco help ex
exit $failed
