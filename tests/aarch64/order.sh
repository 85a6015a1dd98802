#!/bin/bash
# Checks that the compiled code asks the processor for the memory order that the channels rely on.
# On x86 most of that order is free, so no test there detects a missing order, nor does QEMU on x86,
# which keeps x86's order. On aarch64 each order takes an instruction. The functions below must have
# these instructions, and the stores, loads and copies between them, in this order.
#
#     L a load, S a store, C a copy; A a load that acquires (ldar), R a store that releases (stlr);
#     F a full barrier (dmb ish), f one behind loads (dmb ishld); X an atomic operation
set -uo pipefail
failed=0

# Prints a letter for each instruction of a function that matters here. Accesses to the stack do
# not.
letters() { # OBJECT FUNCTION
    aarch64-linux-gnu-objdump -d --no-show-raw-insn "$HILOCO_BUILD/obj/$1.o" | awk -v name="<$2>:" '
        /^[0-9a-f]+ </ { inside = $2 == name; next }
        !inside || /\[(sp|x29)[],]/ { next }
        $2 == "dmb" { printf "%s", $3 == "ish" ? "F" : "f"; next }
        $2 ~ /^ldap?rb?h?$/ && $2 != "ldr" { printf "A"; next }
        $2 ~ /^stlrb?h?$/ { printf "R"; next }
        /__aarch64_(swp|cas|ldadd)[0-9]+_acq_rel/ || $2 ~ /^(ldaxr|swpal|casal|ldaddal)/ { printf "X"; next }
        $2 == "bl" && /<loco_copy/ { printf "C"; next }
        $2 ~ /^ld/ { printf "L"; next }
        $2 ~ /^st/ { printf "S" }'
}

has() { # OBJECT FUNCTION ORDER WHY
    local found
    found=$(letters "$1" "$2")
    if [[ $found =~ $3 ]]; then
        echo "  ok: $2: $4"
    else
        echo "  FAILED: $2 ($1): $4: wants $3, has ${found:-no such function}"
        failed=1
    fi
}

shm=channels/fabric/shm/shm
has $shm shm_write 'F.*[SC]' "a write comes after those before it"
has $shm shm_read '[LC].*f' "what is read after a read is no older"
has $shm shm_fetch_add 'F.*X.*F' "nothing overtakes an atomic operation"
has $shm shm_compare_swap 'F.*X.*F' "nothing overtakes an atomic operation"
has channels/owned_var var_store_any 'SL*F.*[SC].*R' "the count is odd before the value changes, and even after"
has channels/owned_var var_load_checked 'A.*[LC].*f.*L' "the value is read between two looks at the count"
has channels/owned_var loco_owned_var_load '[LC].*f' "what was placed before the value is read after it"
has channels/owned_var var_push_any 'F.*SL*F.*[SC].*R' \
    "a push comes after the thread's earlier writes, and changes a copy between an odd count and an even one"
has channels/owned_var var_put_any 'F.*SL*F.*SL*F.*SS.*RL*R' "the same, of the own copy and a reader's at once"
has channels/ringbuffer ring_publish '[SC].*R' "a message is there before its header"
has channels/ringbuffer ring_look 'A' "a message is read after its header"
has channels/shared_queue slot_pass_on 'R' "an entry is there before its turn is"
has channels/shared_queue call_is_turn 'A' "an entry is read after its turn"
has channels/shared_queue loco_shared_queue_push 'X.*A.*C.*R' "the same of a slot that this CPU writes itself"
has channels/shared_queue loco_shared_queue_pop 'X.*A.*C.*R' "the same of a slot that this CPU reads itself"
has channels/kvstore/kvstore_index kv_index_find 'A' "a slot is read after the word of the index that led there"
has channels/kvstore/kvstore_index kv_index_add 'R' "a slot is there before its word in the index"
has channels/kvstore/kvstore_op read_begin 'L.*[LC]f' "what was placed before a value is read after it"
has channels/kvstore/kvstore_op slot_write 'F.*C' "a value comes after the thread's earlier writes"
has harness/run/step_links hil_step_take_all 'AL+f' "a link's value is read between two looks at the count"
has harness/run/step_links hil_step_send_some 'S+F.*S.*RL*R' "a link's value changes between an odd count and an even one"
has harness/run/crew hil_crew_call 'R.*A' "a call is there before its number, and all answers before the next"
has harness/run/crew crew_live 'A.*R' "a share is done after its call's number, and before its answer"
has harness/record/recorder hil_stream_commit 'R' "a row is there before the ring's head"
has harness/record/recorder drain_to 'L.*R' "a row was read before its place is free"
has harness/tools/scope/rows hil_rows_take 'A.*[LC].*f.*L' "a row is read between two looks at the ring's count"
has harness/run/step step_show 'F.*[SC].*R.*F' "a row for who watches is written between two counts"
exit $failed
