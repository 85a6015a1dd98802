#!/bin/sh
# Prints the ABI that libloco's headers define on x86_64: each structure with its size and its
# members' offsets, the values of enumerations, and the functions with their types.
#
#      abi.sh FOLDER    the folder that has loco/loco.h
#
# channels/loco.abi is the list that was agreed on. After an intended change, abi_fits.sh says
# whether programs that were compiled before still work, and docs/abi.md says which number of the
# version to raise. Then write the list again:
#
#      tests/install/abi.sh channels >channels/loco.abi
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo '#include <loco/loco.h>' >"$work/all.c"
${CC:-gcc} -std=c17 -g -fno-eliminate-unused-debug-types -aux-info "$work/aux" -I"$1" -c -o "$work/all.o" \
    "$work/all.c"

# DIEs of level 1 are types, and those of level 2 are their members.
readelf --debug-dump=info "$work/all.o" | awk '
    function text(line) { sub(/^.*: (\(.*\): )?/, "", line); sub(/[ \t]+$/, "", line); return line }
    function tell() {
        if (kind == "structure" && name ~ /^loco_/) print "struct " name " " size members
        if (kind == "enumeration" && (name ~ /^loco_/ || members ~ /LOCO_/)) print "enum " name members
        kind = name = size = members = ""
    }
    function member() {
        if (part != "") members = members "\n    " part " " (kind == "structure" ? at : value)
        part = ""
    }
    /Abbrev Number/ {
        member()
        level = $0; sub(/^ *</, "", level); sub(/>.*/, "", level)
        inside = level == 2
        if (level != 1) next
        tell()
        kind = /DW_TAG_structure_type/ ? "structure" : /DW_TAG_enumeration_type/ ? "enumeration" : ""
        next
    }
    kind == "" { next }
    !inside && /DW_AT_name/ { name = text($0) }
    !inside && /DW_AT_byte_size/ { size = text($0) }
    inside && /DW_AT_name/ { part = text($0) }
    inside && /DW_AT_data_member_location/ { at = text($0) }
    inside && /DW_AT_const_value/ { value = text($0) }
    END { member(); tell() }' >"$work/types"
awk '/^[se]/ { if (all != "") print all; all = $0; next } { all = all "\t" $0 } END { print all }' "$work/types" |
    LC_ALL=C sort -u | tr '\t' '\n'
sed -n 's|^/\* .*/loco/.*:NC \*/ \(.*\)$|\1|p' "$work/aux" | grep -w 'loco_[a-z_]*' | LC_ALL=C sort -u
