#!/bin/sh
# Installs into a temporary directory, and checks that users of libloco and hiloco find all they
# need there.
#
#      test_install.sh [BUILD]
set -u
cd "$(dirname "$0")/../.." || exit
build=${1:-build}
make=${MAKE:-make}
cc=${CC:-gcc}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix
library=$prefix/lib/libloco.so
hil_library=$prefix/lib/libhiloco.so
failures=0
limit_s=600 # against what hangs, on a busy machine too

# Functions that the installed headers declare but that are not part of the API.
internal='loco_channels_explain_unready loco_channels_message loco_channels_peer_lost
loco_channels_peer_up loco_context_table loco_mem_pool_close loco_mem_pool_open loco_memory_cut
loco_memory_free loco_memory_return loco_thread_free loco_threads_link'

# Inline functions that only other inline functions use.
internal_inline='loco_ack_groups loco_after_atomic loco_atomic_from_afar loco_atomic_reach loco_before_atomic
loco_by_node_find loco_context_at loco_place_stores loco_stored'

# check WHAT COMMAND...: runs the command and prints WHAT; if the command fails, also prints its
# output.
check() {
    what=$1
    shift
    if "$@" >"$work/said" 2>&1; then
        echo "  ok: $what"
    else
        echo "  FAILED: $what"
        sed 's/^/      /' "$work/said" | head -40
        failures=$((failures + 1))
    fi
}

same() { # compares the lists in two files
    sort "$1" >"$work/one" && sort "$2" >"$work/two" && diff "$work/one" "$work/two"
}

# --- files ------------------------------------------------------------------------------

run_make() {
    $make --no-print-directory BUILD="$build" "$@" install
}

files() {
    (cd "$1" && find . ! -type d | sort)
}

inside_prefix() {
    files "$work/stage" | grep -v '^\./opt/loco/' >"$work/outside"
    cat "$work/outside"
    [ ! -s "$work/outside" ] || return 1
    files "$prefix" >"$work/a"
    files "$work/stage/opt/loco" >"$work/b"
    diff "$work/a" "$work/b"
}

nothing_elsewhere() {
    find /etc /opt /usr/local /usr/bin /usr/include /usr/lib /usr/share/man /usr/share/hiloco \
        -name '*loco*' -newer "$work/stamp" >"$work/outside" 2>/dev/null
    cat "$work/outside"
    [ ! -s "$work/outside" ]
}

no_trace_of() {
    ! grep "$1" "$2"
}

file_list() {
    for f in bin/hiloco bin/controller bin/converter bin/loco-conform include/loco/loco.h include/hiloco/model.h \
        include/hiloco/code.h include/hiloco/firmware.h \
        include/hiloco_node.h share/hiloco/node/bench.c \
        lib/libloco.a lib/libloco-sim.a include/loco-sim/workload.h lib/pkgconfig/loco-sim.pc \
        lib/pkgconfig/loco.pc lib/pkgconfig/hiloco.pc share/hiloco/template/Makefile share/hiloco/configs/quickstart.yaml \
        share/doc/hiloco/tutorial.md share/doc/hiloco/models/buck.md share/doc/hiloco/examples/generated/loops.yaml \
        share/hiloco/schema/scenario.json share/man/man1/hiloco-run.1 share/hiloco/circuits/llc.cir \
        lib/hiloco/libhiloco-fmi2.so lib/hiloco/libhiloco-fmi3.so \
        lib/hiloco/python/hiloco/__init__.py lib/hiloco/python/hiloco/py.typed; do
        [ -f "$prefix/$f" ] || { echo "$f is missing" && return 1; }
    done
}

versioned() { # PACKAGE
    version=$(PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config --modversion "$1") || return 1
    case $version in
    0.*) abi=${version%.*} ;;
    *) abi=${version%%.*} ;;
    esac
    soname=lib$1.so.$abi
    ls -l "$prefix/lib"
    [ "$(readlink "$prefix/lib/lib$1.so")" = "$soname" ] &&
        [ "$(readlink "$prefix/lib/$soname")" = "lib$1.so.$version" ] &&
        objdump -p "$prefix/lib/lib$1.so" | grep -q "SONAME *$soname$"
}

echo "--- files"
: >"$work/stamp"
check "make install PREFIX=..." run_make DESTDIR= PREFIX="$prefix"
check "make install DESTDIR=... PREFIX=/opt/loco" run_make DESTDIR="$work/stage" PREFIX=/opt/loco
check "both install the same files, under the prefix only" inside_prefix
check "nothing was written elsewhere" nothing_elsewhere
for p in loco hiloco; do
    check "$p.pc does not know of DESTDIR" no_trace_of "$work" \
        "$work/stage/opt/loco/lib/pkgconfig/$p.pc"
done
check "programs, library, headers and scenarios are there" file_list
for p in loco hiloco; do
    check "lib$p.so has a version, a soname and its links" versioned $p
done
check "programs and libraries are hardened" tests/install/check_hardening.sh "$build/obj" \
    "$prefix"/bin/* "$library" "$hil_library" "$prefix"/lib/hiloco/*.so

# --- headers and symbols ------------------------------------------------------------------

headers() {
    (cd "$prefix/include/loco" && find . -name '*.h' | sed 's|^\./||' | sort)
}

# All headers that a program may include.
public_headers() {
    (cd "$prefix/include" && find loco loco-sim hiloco hiloco_node.h -name '*.h' | sort)
}

# Each of those headers compiles on its own, in the oldest standard that users may choose. What it
# includes depends on no standard, so in the later ones they are compiled together.
headers_in() { # "HEADERS" COMPILER LANGUAGE STANDARDS...
    printf '#include <%s>\n' $1 >"$work/headers"
    compiler=$2
    language=$3
    shift 3
    for standard in "$@"; do
        "$compiler" -x "$language" -std="$standard" -pedantic -Wall -Wextra -Wshadow -Wconversion \
            -Werror -fsyntax-only -I"$prefix/include" "$work/headers" || return 1
    done
}

standard_is_not_asked_for() {
    ! (cd "$prefix/include" && grep -E '__STDC_VERSION__|__cplusplus *[<>=]' $(public_headers))
}

hpp_in() { # STANDARDS...
    {
        echo '#include <loco/loco.hpp>'
        echo 'struct volt { double value; explicit volt(double v) : value(v) {} };'
        for t in owned_var sst shared_queue kvstore; do
            echo "template class loco::$t<double>;"
            echo "template class loco::$t<volt>;"
        done
        echo 'struct loco_members all() { return LOCO_ALL; }'
        # A guard's destructor must not throw.
        echo 'static_assert(noexcept(std::declval<loco::ticket_lock &>().unlock()));'
        # A time that has passed must not become an endless wait.
        echo 'int main() { return loco::ns_of(loco::duration(-1)) != 0; }'
    } >"$work/templates.cpp"
    for standard in "$@"; do
        g++ -std="$standard" -pedantic -Wall -Wextra -Wshadow -Wconversion -Werror \
            -o "$work/templates" "$work/templates.cpp" -I"$prefix/include" -L"$prefix/lib" -lloco \
            -Wl,-rpath,"$prefix/lib" && "$work/templates" || return 1
    done
}

# In C++ the functions of loco-sim must link under their C names.
sim_from_cpp() {
    cat >"$work/sim.cpp" <<'END_OF_CPP'
#include <loco-sim/workload.h>
int main()
{
    loco_sim_history history;
    const loco_sim_model word = loco_sim_model_word(1);
    loco_sim_linear *checker;
    loco_sim_workload none = {};
    if (loco_sim_history_init(&history, 8) || loco_sim_linear_open(&checker, 8, LOCO_SIM_CONFIGS))
        return 1;
    loco_sim_linear_report report;
    const bool right = loco_sim_linear_check(checker, &history, &word, &report) == LOCO_SIM_LINEARIZABLE;
    return right && loco_sim_workload_run(&none, 1, LOCO_SIM_CALM, false) == 1 ? 0 : 1;
}
END_OF_CPP
    g++ -std=c++17 -Wall -Wextra -Werror -o "$work/sim" "$work/sim.cpp" \
        $(PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config --static --cflags --libs loco-sim) \
        -Wl,-rpath,"$prefix/lib" && "$work/sim"
}

same_abi() {
    CC=$cc tests/install/abi.sh "$prefix/include" >"$work/abi" || return 1
    diff channels/loco.abi "$work/abi" && return 0
    tests/install/abi_fits.sh channels/loco.abi "$work/abi" && echo "programs of before go on working"
    return 1
}

# breaks_abi HEADER SED: checks that abi_fits.sh rejects the header as changed by SED.
breaks_abi() {
    rm -rf "$work/changed"
    cp -r "$prefix/include" "$work/changed"
    sed -i "$2" "$work/changed/loco/$1"
    cmp -s "$prefix/include/loco/$1" "$work/changed/loco/$1" && return 1
    CC=$cc tests/install/abi.sh "$work/changed" >"$work/changed.abi" || return 1
    ! tests/install/abi_fits.sh "$work/abi" "$work/changed.abi"
}

loco_h_has_all() {
    echo '#include <loco/loco.h>' >"$work/all.c"
    headers >"$work/a"
    $cc -std=c17 -MM -I"$prefix/include" "$work/all.c" | tr ' \\' '\n\n' |
        sed -n 's|/fabric/\.\./|/|; s|.*/include/loco/||p' | sort -u >"$work/b"
    same "$work/a" "$work/b"
}

# Prints the functions that the headers declare but do not define, and the one variable.
declared() {
    echo '#include <loco/loco.h>' >"$work/all.c"
    $cc -std=c17 -fsyntax-only -aux-info "$work/aux" -I"$prefix/include" "$work/all.c" || return 1
    echo loco_context
    sed -n 's|^/\* .*/include/loco/.*:NC \*/ [^(]*[ *]\(loco_[a-z_]*\) (.*|\1|p' "$work/aux" |
        grep -vxF "$(echo $internal | tr ' ' '\n')"
}

so_shows_api() {
    declared >"$work/declared" || return 1
    nm -D --defined-only "$library" | awk '$2 != "A" { print $3 }' | sed 's/@.*//' >"$work/shown"
    echo "declared (<) against shown (>)"
    same "$work/declared" "$work/shown"
}

# Every public name of loco-sim, in the archive and in its headers, begins with its prefix.
sim_has_prefix() {
    nm -g --defined-only "$prefix/lib/libloco-sim.a" | awk 'NF == 3 && $3 !~ /^loco_sim_/ { print $3 }' >"$work/bare"
    cat "$prefix"/include/loco-sim/*.h | $cc -fpreprocessed -dD -E -P - 2>/dev/null | sed 's/"[^"]*"//g' |
        awk '/^(struct|enum) [a-z]/ && $2 !~ /^loco_sim_/ { print $2 }
             /^#define/ && $2 !~ /^LOCO_SIM_/ { print $2 }
             /^enum/ && !/\(/ { inside = 1 }
             inside { for (i = 1; i <= NF; i++) if ($i ~ /^[A-Z]/ && $i !~ /^LOCO_SIM_/) print $i }
             /}/ { inside = 0 }' >>"$work/bare"
    cat "$work/bare"
    [ ! -s "$work/bare" ]
}

hil_declared() {
    sed -n 's/^HILOCO_API .*[ *]\(hiloco_node_[a-z_]*\)(.*/\1/p' "$prefix/include/hiloco_node.h"
}

hil_so_shows_api() {
    hil_declared >"$work/hil_declared"
    [ "$(wc -l <"$work/hil_declared")" -ge 3 ] || return 1
    nm -D --defined-only "$hil_library" | awk '$2 != "A" { print $3 }' | sed 's/@.*//' >"$work/shown"
    echo "declared (<) against shown (>)"
    same "$work/hil_declared" "$work/shown"
}

a_shows_api() {
    nm -g --defined-only "$prefix/lib/libloco.a" | awk 'NF == 3 { print $3 }' >"$work/shown"
    echo "declared (<) against shown (>)"
    same "$work/declared" "$work/shown"
}

# --- completion ---------------------------------------------------------------------------

# completes WORD... : prints what bash offers for the last word.
completes() {
    PATH=$prefix/bin:$PATH bash -c '
        . "$0"/share/bash-completion/completions/hiloco
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        _hiloco
        echo "${COMPREPLY[@]}"' "$prefix" "$@"
}

commands_complete() {
    [ "$(completes hiloco sw)" = sweep ] && [ "$(completes hiloco export-)" = export-fmu ]
}

options_complete() {
    [ "$(completes hiloco run --ru)" = --run-dir ] && [ "$(completes controller --wa)" = --wait ] &&
        [ "$(completes hiloco run x.yaml --mode v)" = virtual ]
}

echo "--- completion"
check "bash completes commands" commands_complete
check "bash completes each command's own options" options_complete
if command -v zsh >/dev/null; then
    check "the completion of zsh is zsh" zsh -n "$prefix/share/zsh/vendor-completions/_hiloco"
fi
check "each option is in --help, its man page and the completions, and nothing else is" \
    tests/install/check_options.sh "$prefix"

echo "--- headers and symbols"
check "loco.h includes them all" loco_h_has_all
for h in $(public_headers); do
    check "$h is C11" headers_in $h "$cc" c c11
    if command -v g++ >/dev/null; then
        check "$h is C++17" headers_in $h g++ c++ c++17
    else
        echo "  skipped: $h in C++, there is no g++ here"
    fi
done
check "none of them depends on the standard" standard_is_not_asked_for
check "together they are C17 and C23" headers_in "$(public_headers)" "$cc" c c17 c2x
if command -v g++ >/dev/null; then
    check "together they are C++20" headers_in "$(public_headers)" g++ c++ c++20
fi
if command -v g++ >/dev/null; then
    check "loco/loco.hpp is C++17 and C++20, each of its templates too" hpp_in c++17 c++20
    check "loco-sim is used from C++" sim_from_cpp
fi
if [ "$(uname -m)" = x86_64 ]; then
    check "its ABI is that of channels/loco.abi (tests/install/abi.sh says what a change means)" same_abi
    check "a structure that grows is found" breaks_abi barrier.h 's/room\[4\]/room[5]/'
    check "so is a member that moves" breaks_abi manager.h '/^    uint32_t node_count;/d; s/^    uint32_t node; .*/    uint32_t node_count, node;/'
    check "so is a value that changes" breaks_abi fence.h 's/LOCO_FENCE_NONE,/LOCO_FENCE_NONE = 4,/'
    check "so is a function that goes" breaks_abi thread.h '/^void loco_hold(/d'
    check "a program of today runs with a library that has used the room" \
        env CC="$cc" tests/install/later.sh "$prefix" "$work/later"
fi
check "libloco.so shows the functions that the headers declare, and no others" so_shows_api
check "libloco.a shows the same" a_shows_api
check "what loco-sim gives has its prefix" sim_has_prefix
check "libhiloco.so shows the functions that its header declares, and no others" hil_so_shows_api

# --- man pages ----------------------------------------------------------------------------

pages() {
    find "$prefix/share/man" -type f
}

pages_there() {
    for p in 1/hiloco 1/hiloco-set 1/hiloco-control 1/controller 1/converter 1/loco-conform 7/loco 3/loco_manager 3/loco_channel 3/loco_fabric \
        3/loco_kvstore 3/loco_owned_var 3/loco_shared_region 3/loco_sst 3/loco_barrier \
        3/loco_atomic_var 3/loco_ticket_lock 3/loco_ringbuffer 3/loco_shared_queue \
        3/loco_trace 3/loco_queue_lock 3/loco_rw_lock 3/loco_watch 3/hiloco_node; do
        f=$prefix/share/man/man${p%/*}/${p#*/}.${p%/*}
        [ -s "$f" ] || { echo "$f is missing" && return 1; }
    done
}

references() {
    for p in $(pages); do
        sed -n 's/^\.Xr \([^ ]*\) \([137]\).*/\1.\2/p' "$p" | grep loco | while read -r to; do
            [ -f "$prefix/share/man/man${to##*.}/$to" ] || echo "${p##*/} refers to $to"
        done
    done >"$work/missing"
    cat "$work/missing"
    [ ! -s "$work/missing" ]
}

no_warnings() {
    for p in $(pages); do
        { man -l --warnings -Tutf8 "$p" >/dev/null; } 2>&1
        tail -n +4 "$p" | grep -n '[[:space:]]$' && echo "${p##*/}: blanks at the end of a line"
    done >"$work/warnings"
    cat "$work/warnings"
    [ ! -s "$work/warnings" ]
}

# Prints the pages' synopses as C declarations. After loco.h they must declare the same or give an
# error.
synopses() {
    printf '#include <loco/loco.h>\n#include <hiloco_node.h>\n'
    for p in "$prefix"/share/man/man3/*; do
        awk -v page="${p##*/}" '
            function arguments(text) { gsub(/" "/, ", ", text); gsub(/"/, "", text); return text }
            /^\.Sh/ { inside = $2 == "SYNOPSIS" }
            !inside { next }
            /^\.Ft/ { type = arguments(substr($0, 5)) }
            /^\.Fn/ && type !~ /typedef/ {
                name = $2; sub(/^\.Fn [^ ]* ?/, "")
                print "#line 1 \"" page "\"\n" type " " name "(" arguments($0) ");"
            }
            /^\.Fo/ { printf "#line 1 \"%s\"\n%s %s(", page, type, $2; comma = "" }
            /^\.Fa/ { printf "%s%s", comma, arguments(substr($0, 5)); comma = ", " }
            /^\.Fc/ { print ");" }' "$p"
    done
}

synopses_right() {
    synopses >"$work/synopses.c"
    $cc -std=c17 -fsyntax-only -Wno-format -I"$prefix/include" "$work/synopses.c"
}

# Every function of the API, including the inline ones.
public_functions() {
    {
        cat "$work/declared" "$work/hil_declared"
        sed -n 's|^/\* .*/include/loco/.*:NF \*/ [^(]*[ *]\(loco_[a-z_]*\) (.*|\1|p' "$work/aux"
    } | grep -vxF "$(echo loco_context $internal $internal_inline | tr ' ' '\n')"
}

# Each function must be in the synopsis of a page and in that page's text.
all_documented() {
    for f in $(public_functions); do
        grep -rqE "^\.F[no] $f\>" "$prefix/share/man/man3" || echo "no synopsis has $f"
    done >"$work/missing"
    cat "$work/missing"
    [ ! -s "$work/missing" ]
}

# Each function that a page names must be in a header.
nothing_made_up() {
    grep -rohE "\b(loco|hiloco_node)_[a-z_]+" "$prefix"/share/man/man3 "$prefix/share/man/man7" | sort -u |
        while read -r word; do
            grep -rqwE "$word(_[a-z]+)*" "$prefix/include" || echo "no header has $word"
        done >"$work/missing"
    cat "$prefix"/share/man/man3/* "$prefix"/share/man/man7/* | grep -v '^\.Dt' |
        grep -oE "\bLOCO_[A-Z_]+" | sort -u | while read -r word; do
            grep -rqw "$word" "$prefix/include" || echo "no header has $word"
    done >>"$work/missing"
    pages=$(grep -rohE "^\.Fn? \(?(loco|hiloco_node)_[a-z_]+|^\.Fo (loco|hiloco_node)_[a-z_]+" \
        "$prefix"/share/man/man3 "$prefix/share/man/man7" | sed 's/.* (*//' | sort -u)
    public_functions >"$work/functions"
    for f in $pages; do
        grep -qxF "$f" "$work/functions" || grep -rqE "^typedef .*\b$f\(" "$prefix/include" ||
            grep -rqE "^[^ /].*\b$f\(" "$prefix/include/loco-sim" ||
            echo "$f is no function that a program may call"
    done >>"$work/missing"
    cat "$work/missing"
    [ ! -s "$work/missing" ]
}

echo "--- man pages"
check "they are there" pages_there
check "they refer to pages that are there" references
check "they have every function" all_documented
check "they have no other" nothing_made_up
check "their synopses are what the headers declare" synopses_right
if command -v man >/dev/null && command -v nroff >/dev/null; then
    check "man has no warnings" no_warnings
else
    echo "  skipped: man's warnings, there is no man here"
fi

# --- programs -------------------------------------------------------------------------------

export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
strict="-std=c17 -O2 -Wall -Wextra -Wshadow -Wconversion -Werror"
gnu="-std=gnu17 -O2 -Wall -Wextra -Wshadow -Werror" # liburing's header warns of conversions

compile() { # KIND NAME SOURCES...
    compile_by "$cc $strict" "$@"
}

compile_by() { # COMPILER KIND NAME SOURCES...
    compiler=$1
    kind=$2
    out=$work/$3-$2
    shift 3
    if [ "$kind" = static ]; then
        $compiler -o "$out" "$@" \
            $(pkg-config --static --cflags --libs loco-sim | sed "s/-lloco\( \|\$\)/-l:libloco.a\1/")
    else
        $compiler -o "$out" "$@" $(pkg-config --cflags --libs loco-sim) -pthread \
            -Wl,-rpath,"$prefix/lib"
    fi
}

linked() { # KIND NAME
    if [ "$1" = static ]; then
        ! ldd "$work/$2-$1" | grep libloco
    else
        ldd "$work/$2-$1" | grep "$prefix/lib/libloco.so"
    fi
}

# Loads the library at run time, as plugins and other languages do, to check its thread-local
# memory.
dlopens() {
    cat >"$work/late.c" <<'END'
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    void *library = dlopen(argv[argc - 1], RTLD_NOW);
    if (!library)
        puts(dlerror());
    return !library || !dlsym(library, "loco_manager_open");
}
END
    $cc -o "$work/late" "$work/late.c" -ldl && "$work/late" "$library"
}

pair() { # PROGRAM: runs it as two nodes
    timeout $limit_s "$work/$1" 0 2 "$work/run" &
    other=$!
    timeout $limit_s "$work/$1" 1 2 "$work/run"
    here=$?
    wait $other && [ $here = 0 ]
}

# A container may forbid io_uring.
uring_pair() {
    pair "$1" 2>"$work/uring.err" || grep -q 'Operation not permitted\|Function not implemented' "$work/uring.err"
}

# Every pushed number was popped: twice the numbers below 1000.
python_pair() {
    timeout $limit_s env LOCO_LIBRARY="$library" python3 docs/examples/queue.py 0 2 "$work/run" >"$work/py0" &
    other=$!
    timeout $limit_s env LOCO_LIBRARY="$library" python3 docs/examples/queue.py 1 2 "$work/run" >"$work/py1"
    here=$?
    wait $other && [ $here = 0 ] &&
        [ "$(cat "$work/py0" "$work/py1" | awk '{ sum += $NF } END { print sum }')" = 999000 ]
}

# The counter's test, built outside of the tree as the page says, must detect that one collect is
# not enough.
mutant() {
    mkdir -p "$work/mutant"
    cp docs/examples/*counter.[ch] "$work/mutant"
    sed -i 's/while (!rc && \*sum != before)/while (0)/; s/rc = collect(c, sum);$/rc = 0;/
        s/int rc = 0;/int rc = collect(c, sum);/' "$work/mutant/counter.c"
    cmp -s docs/examples/counter.c "$work/mutant/counter.c" && return 1
    (cd "$work/mutant" && $cc -std=c17 -O2 -o test test_counter.c counter.c \
        $(pkg-config --static --cflags --libs loco-sim) -Wl,-rpath,"$prefix/lib") || return 1
    ! "$work/mutant/test" --seeds 2000 || return 1
    # Each line of the page that looks for the fault finds it.
    sed -n 's/^\.\/test_counter \(--.* --shrink\|.*--replay .*\)$/\1/p' docs/writing-a-channel.md >"$work/lines"
    [ -s "$work/lines" ] || return 1
    while read -r line; do
        status=0
        eval "\"$work/mutant/test\" $line" || status=$?
        [ $status = 1 ] || return 1
    done <"$work/lines"
}

echo "--- programs against the installed library"
for kind in shared static; do
    check "kv compiles ($kind)" compile $kind kv docs/examples/kv.c
    check "lock compiles ($kind)" compile $kind lock docs/examples/lock.c
    check "test_counter compiles ($kind)" compile $kind test_counter docs/examples/counter.c \
        docs/examples/test_counter.c
    check "they are linked so" linked $kind kv
    check "kv runs as two processes ($kind)" pair kv-$kind
    check "lock runs as two processes ($kind)" pair lock-$kind
    check "events compiles ($kind)" compile_by "$cc $gnu" $kind events docs/examples/events.c
    check "events runs as two processes ($kind)" pair events-$kind
    if pkg-config --exists liburing; then
        check "events_uring compiles ($kind)" compile_by "$cc $gnu" $kind events_uring \
            docs/examples/events_uring.c $(pkg-config --cflags --libs liburing)
        check "events_uring runs as two processes ($kind)" uring_pair events_uring-$kind
    else
        echo "  skipped: events_uring, there is no liburing-dev here"
    fi
    check "test_counter passes 2000 seeds ($kind)" "$work/test_counter-$kind" --seeds 2000
    command -v g++ >/dev/null || continue
    check "objects compiles ($kind)" compile_by "g++ -std=c++17 -O2 -Wall -Wextra -Werror" $kind \
        objects docs/examples/objects.cpp
    check "objects runs as two processes ($kind)" pair objects-$kind
    check "held compiles ($kind)" compile_by "g++ -std=c++17 -O2 -Wall -Wextra -Werror" $kind \
        held tests/install/held.cpp
    check "streams compiles ($kind)" compile_by "g++ -std=c++17 -O2 -Wall -Wextra -Werror" $kind \
        streams tests/install/streams.cpp
    check "streams runs ($kind)" timeout $limit_s "$work/streams-$kind" "$work/streams-run"
    check "loco::held holds, and releases ($kind)" timeout $limit_s "$work/held-$kind" \
        127.$(($$ >> 16 & 255)).$(($$ >> 8 & 255)).$(($$ & 255 | 1))
done
check "libloco.so can be loaded late" dlopens
# The installed package finds the installed program, and that finds the package for its models.
python_package() (
    cp -r docs/examples/pytest "$work/pytest"
    cd "$work/pytest" || exit
    export PYTHONDONTWRITEBYTECODE=1
    PYTHONPATH=$prefix/lib/hiloco/python timeout $limit_s /usr/bin/python3 -c 'import hiloco, sys
assert hiloco.command.program() == sys.argv[1]
assert hiloco.run("current.yaml").verdict == "passed"' "$prefix/bin/hiloco" &&
        env -u PYTHONPATH "$prefix/bin/hiloco" models python:rc.py:RC
)

if /usr/bin/python3 -c 'import h5py' 2>/dev/null; then
    check "the Python package runs a scenario, and hiloco a class in Python" python_package
else
    echo "  skipped: the Python package, there is no python3-h5py here"
fi
if command -v python3 >/dev/null; then
    check "queue.py runs as two processes" python_pair
else
    echo "  skipped: queue.py, there is no python3 here"
fi
check "test_counter fails a counter that collects once" mutant
check "the installed hiloco exports an FMU" "$prefix/bin/hiloco" export-fmu buck --fmi 3 \
    --out "$work/buck.fmu"
check "the installed hiloco finds its scenarios right" "$prefix/bin/hiloco" check \
    "$prefix/share/hiloco/configs/quickstart.yaml"

# --- models -----------------------------------------------------------------------------------

# Runs the commands of a page, each block in a separate shell, in a folder outside of the tree.
commands_of() { # PAGE BLOCKS
    mkdir -p "$work/outside-the-tree"
    awk '/^```/ { inside = !inside && $0 == "```sh"; if (inside) print "cd \"$outside\""; next }
         inside' "docs/$1" >"$work/page.sh"
    [ "$(grep -c 'cd "$outside"' "$work/page.sh")" -ge "$2" ]
}

page_on_models() {
    commands_of writing-a-model.md 4 && run_page "$work/page.sh"
}

run_page() { # SCRIPT [FOLDER of programs that take precedence over the installed ones]
    (unset MAKEFLAGS MAKELEVEL BUILD; outside=$work/outside-the-tree PATH=${2:+$2:}$prefix/bin:$PATH
     export outside PATH; sh -ex "$1")
}

# The page's makefile must have as few lines as the page promises.
short_makefile() {
    [ "$(grep -c . docs/examples/model/Makefile)" -le 5 ]
}

# Runs the model from another folder than the scenario's, in C++ as the page leaves it, and as
# installed.
models_run() {
    (cd "$work" && "$prefix/bin/hiloco" run outside-the-tree/my-models/rc.yaml --out from-elsewhere &&
        rm outside-the-tree/my-models/*.so &&
        "$prefix/bin/hiloco" run outside-the-tree/my-models/rc.yaml --out from-installed &&
        h5=trace.h5 && cmp from-elsewhere/$h5 from-installed/$h5 &&
        grep -q "$prefix/lib/hiloco/models/rc.so" from-installed/scenario.yaml)
}

# A failing command must make the page's check fail.
page_can_fail() {
    sed 's/^make$/make no-such/' "$work/page.sh" >"$work/broken.sh"
    rm -rf "$work/outside-the-tree"
    mkdir "$work/outside-the-tree"
    run_page "$work/broken.sh" >"$work/broken" 2>&1 && return 1
    grep 'no-such' "$work/broken"
}

echo "--- models outside the tree"
check "the page's makefile has five lines" short_makefile
if command -v g++ >/dev/null; then
    check "the page builds and runs a plant and a law, in C and in C++" page_on_models
    check "they run from any folder, and as installed" models_run
    check "a command of the page that fails is found" page_can_fail
else
    echo "  skipped: writing-a-model.md, there is no g++ here"
fi

# --- nodes ------------------------------------------------------------------------------------

# The run counts here even if the machine was too busy for it to be valid.
page_on_nodes() {
    mkdir -p "$work/forgiving"
    cat >"$work/forgiving/hiloco" <<END
#!/bin/sh
"$prefix/bin/hiloco" "\$@"
status=\$?
[ \$status = 3 ] && exit 0
exit \$status
END
    chmod +x "$work/forgiving/hiloco"
    commands_of writing-a-node.md 3 && run_page "$work/page.sh" "$work/forgiving"
}

# Builds the node in C++ as the page leaves it, and in C, without a warning.
short_example() {
    [ "$(wc -l <docs/examples/node/bench.c)" -le 40 ] &&
        $cc -std=c11 -pedantic -Wall -Wextra -Wshadow -Wconversion -Werror -o "$work/bench" \
            docs/examples/node/bench.c $(pkg-config --cflags --libs hiloco) &&
        { ! command -v g++ >/dev/null ||
            g++ -x c++ -std=c++17 -pedantic -Wall -Wextra -Wshadow -Wconversion -Werror \
                -o "$work/bench++" docs/examples/node/bench.c $(pkg-config --cflags --libs hiloco); }
}

# If something is not found, the program says so, not the library.
joins_nothing() {
    ! LD_LIBRARY_PATH=$prefix/lib "$work/bench" "$work/no.yaml" >"$work/out" 2>"$work/err" &&
        [ ! -s "$work/out" ] && ! grep -v '^bench: ' "$work/err" && grep "no.yaml" "$work/err"
}

echo "--- nodes outside the tree"
check "the example has 40 lines, and is C11 and C++17 without a warning" short_example
check "a scenario that is not there is an error that the program tells" joins_nothing
if [ "$(nproc)" -ge 2 ] && command -v g++ >/dev/null; then
    check "the page builds a node, and runs it as a process beside hiloco run" page_on_nodes
else
    echo "  skipped: writing-a-node.md, it takes two cores and g++"
fi

echo "--- documents"
tests/install/check_documents.sh || failures=$((failures + 1))

if [ $failures -gt 0 ]; then
    echo "$failures checks FAILED"
    exit 1
fi
echo "all checks passed"
