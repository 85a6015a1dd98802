#!/bin/sh
# Runs a program that was compiled with today's headers with a library of a later version. That
# library has used some of the room of every structure, and the structures that it makes itself have
# grown.
#
#      later.sh PREFIX WORK    the folder where libloco is installed, and a folder to work in
set -eu
cd "$(dirname "$0")/../.."
tests=$PWD/tests/install
prefix=$1
work=$2
cc=${CC:-gcc}
rm -rf "$work"
mkdir -p "$work"
cp -r channels "$work"
rm -rf "$work/channels/loco-sim" "$work/channels/conform" # which are no parts of the library
headers="$(find "$work/channels/loco" -name '*.h')"

"$tests/abi.sh" "$work/channels" >"$work/today.abi"

# One word of each room becomes a member, and the structures that the library makes become longer.
sed -i 's/uint64_t room\[\([0-9]*\)\];/uint64_t later; uint64_t room[\1 - 1];/' $headers
for s in loco_manager loco_region loco_peer loco_kv_op; do
    sed -i "/^struct $s {/,/^};/ s/^};/    uint64_t later[8];\n};/" $headers
done
"$tests/abi.sh" "$work/channels" >"$work/later.abi"
"$tests/abi_fits.sh" "$work/today.abi" "$work/later.abi"

# The later library treats 0 as today's programs mean it, and uses the new member of its own
# structures.
{
    echo '#include "loco/loco.h"'
    echo '#include <stdio.h>'
    echo '#include <stdlib.h>'
    for s in owned_var sst barrier atomic_var atomic_array ticket_lock_array queue_lock \
        rw_lock ringbuffer shared_queue kvstore shared_region channel; do
        sed -i "s/^void loco_${s}_fini(/void today_${s}_fini(/" "$work"/channels/*.c "$work"/channels/kvstore/*.c
        cat <<END
void today_${s}_fini(struct loco_${s} *object);
void loco_${s}_fini(struct loco_${s} *object)
{
    if (object->later)
        abort();
    object->later = 1;
    today_${s}_fini(object);
    object->later = 0;
}
END
    done
    sed -i "s/^int loco_manager_open(/int today_manager_open(/" "$work/channels/manager.c"
    cat <<END
int today_manager_open(struct loco_manager **manager, struct loco_fabric *fabric,
                       const struct loco_manager_config *config);
int loco_manager_open(struct loco_manager **manager, struct loco_fabric *fabric,
                      const struct loco_manager_config *config)
{
    puts(config->later ? "somebody means something by it" : "the later library is used");
    return today_manager_open(manager, fabric, config);
}
END
} >"$work/later.c"
mv "$work/later.c" "$work/channels"
soname=$(objdump -p "$prefix/lib/libloco.so" | sed -n 's/^ *SONAME *//p')
find "$work/channels" -name '*.c' -print0 | xargs -0 -P 2 -I {} \
    sh -c "$cc -std=c17 -D_GNU_SOURCE -O1 -fPIC -fno-semantic-interposition -c -o {}.o {}"
libraries=$(PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config --static --libs-only-l loco | sed 's/-lloco//')
$cc -shared -Wl,-soname,"$soname" -Wl,--version-script,channels/loco.map -Wl,-z,defs -o "$work/$soname" \
    $(find "$work/channels" -name '*.o') $libraries -pthread

$cc -std=c17 -O2 -Wall -Wextra -Wshadow -Wconversion -Werror -o "$work/today" "$tests/today.c" \
    $(PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config --cflags --libs loco) -Wl,-rpath,"$prefix/lib"
timeout 600 "$work/today" "$work/run" | grep 'all of it works'
LD_LIBRARY_PATH=$work timeout 600 "$work/today" "$work/run" >"$work/said"
cat "$work/said"
grep -c 'the later library is used' "$work/said" | grep -x 2
grep 'all of it works' "$work/said"
