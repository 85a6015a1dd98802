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

# The words that come after an argument of these names.
_hiloco_words() { # COMMAND
    case $1 in
    models | export-fmu) hiloco models | sed -n 's/^\([a-z][a-z0-9_]*\) (.*/\1/p' ;;
    schema) hiloco schema --help | sed -n 's/^usage: hiloco schema \[\(.*\)\]/\1/p' | tr '|' ' ' ;;
    help) _hiloco_commands ;;
    top | scope | set | control | trace) # whose name none has: all that there are are listed
        hiloco top /none --json 2>&1 | sed -n 's/^ *\([0-9][0-9]*\)  *\([^ ]*\) .*/\1 \2/p' ;;
    esac
}

# The dotted paths of all keys of the first scenario among the arguments, each with a =.
_hiloco_keys() { # ARGUMENT...
    local argument
    for argument in "$@"; do
        [[ $argument == *.yaml ]] || continue
        hiloco check "$argument" 2>/dev/null | awk '
            function put(level, name,   l) { for (l in at) if (l + 0 >= level) delete at[l]; at[level] = name }
            {
                match($0, /^ */); n = RLENGTH; rest = substr($0, n + 1)
                while (rest ~ /^- /) {
                    i = (2 * n + 1) in at ? at[2 * n + 1] + 1 : 0
                    put(2 * n + 1, i); rest = substr(rest, 3); n += 2
                }
                if (!match(rest, /^[^ :"]+:/)) next
                put(2 * n, substr(rest, 1, RLENGTH - 1))
                if (length(rest) == RLENGTH) next
                path = ""
                for (l = 0; l <= 2 * n; l++) if (l in at) path = path (path == "" ? "" : ".") at[l]
                print path "="
            }'
        return
    done
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
    --set)
        compopt -o nospace 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -W "$(_hiloco_keys "${COMP_WORDS[@]}")" -- "$word")
        return
        ;;
    --kind)
        mapfile -t COMPREPLY < <(compgen -W "$(hiloco new --help | sed -n 's/^ .* \([a-z-]*\): .*/\1/p')" -- "$word")
        return
        ;;
    --out | --run-dir)
        mapfile -t COMPREPLY < <(compgen -d -- "$word")
        return
        ;;
    esac
    case $word in
    -*) mapfile -t COMPREPLY < <(compgen -W "$(_hiloco_options "$program" "${command[@]}")" -- "$word") ;;
    *) mapfile -t COMPREPLY < <(compgen -f -- "$word"; compgen -W "$(_hiloco_words "${command[@]}")" -- "$word") ;;
    esac
}

complete -o filenames -F _hiloco hiloco controller converter loco-conform
