/*
 * The reserved room of options for later versions (docs/abi.md).
 */
#ifndef LOCO_ROOM_H
#define LOCO_ROOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether the `size` bytes are zero. If not, the caller asks for what only a later version has, or
 * has not zeroed its options. */
static inline bool loco_room_is_empty(const uint64_t *room, size_t size)
{
    for (size_t i = 0; i < size / sizeof *room; i++)
        if (room[i])
            return false;
    return true;
}

#endif
