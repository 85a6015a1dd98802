#!/bin/sh
# Checks that programs and libraries are built with the hardening that docs/security.md describes:
#
#      check_hardening.sh OBJECTS FILE...
#
# OBJECTS is the folder of their object files. Prints the hardening that a file lacks.
set -u
objects=$1
shift
failed=0

lacks() { # FILE WHAT
    echo "$1 lacks $2"
    failed=1
}

# has FILE WHAT OPTIONS PATTERN: checks that readelf's output for the file matches the pattern.
has() {
    readelf -W $3 "$1" 2>/dev/null | grep -Eq "$4" || lacks "$1" "$2"
}

for file; do
    has "$file" "a position of its own choice (PIE)" -h 'Type: +DYN'
    has "$file" "read-only relocations (RELRO)" -l 'GNU_RELRO'
    has "$file" "symbols that are bound at the start (-z now)" -d 'BIND_NOW|FLAGS_1.*NOW'
    has "$file" "a stack that is not executed" -l 'GNU_STACK.* RW +0x'
    has "$file" "a stack protector" --dyn-syms '__stack_chk_fail'
    has "$file" "_FORTIFY_SOURCE" --dyn-syms '__[a-z]+_chk(@|$| )'
done

# The C library's own object files may lack it, so only ours are checked.
if [ "$(uname -m)" = x86_64 ]; then
    for file in "$objects"/harness/hiloco.o "$objects"/channels/manager.o; do
        has "$file" "control-flow protection (CET)" -n 'IBT, SHSTK'
    done
    readelf -nW "$objects"/channels/fabric/fiber.o | grep -q SHSTK &&
        lacks "$objects/channels/fabric/fiber.o" "an honest note: its fibers break a shadow stack"
fi
exit $failed
