# bash completion for hiloco, controller, converter and loco-conform. What may come next is asked of
# the programs' own --help, so that there is nothing here to keep in step with them.

_hiloco_commands() {
    hiloco --help 2>/dev/null | sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p'
}

# Those of the usage and of the list; the text may name other commands' as well.
_hiloco_options() { # PROGRAM [COMMAND]
    "$@" --help 2>/dev/null | sed -n '/^usage:/,/^$/p; /^  --/p' | grep -oE -- '--[a-z][a-z0-9-]*' | sort -u
    echo --help
}

_hiloco() {
    local program=${COMP_WORDS[0]##*/} word=${COMP_WORDS[COMP_CWORD]} command=()
    local before=${COMP_WORDS[COMP_CWORD - 1]}

    COMPREPLY=()
    if [ "$program" = hiloco ]; then
        if [ "$COMP_CWORD" = 1 ]; then
            mapfile -t COMPREPLY < <(compgen -W "$(_hiloco_commands) --help --version" -- "$word")
            return
        fi
        command=("${COMP_WORDS[1]}")
    fi
    case $before in
    --mode)
        mapfile -t COMPREPLY < <(compgen -W "realtime virtual" -- "$word")
        return
        ;;
    --out | --run-dir)
        mapfile -t COMPREPLY < <(compgen -d -- "$word")
        return
        ;;
    esac
    case $word in
    -*) mapfile -t COMPREPLY < <(compgen -W "$(_hiloco_options "$program" "${command[@]}")" -- "$word") ;;
    *) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
    esac
}

complete -o filenames -F _hiloco hiloco controller converter loco-conform
