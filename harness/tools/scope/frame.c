#include "frame.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static int frame_make_room(struct hil_frame *f, size_t more)
{
    size_t room = f->room ? f->room : 4096;

    while (room < f->size + more)
        room *= 2;
    if (room == f->room)
        return 0;
    char *bytes = realloc(f->bytes, room);
    if (!bytes)
        return -ENOMEM;
    f->bytes = bytes;
    f->room = room;
    return 0;
}

/* The numbers begin at a multiple of 8. */
int hil_frame_begin(struct hil_frame *f, json_t *head)
{
    char *text = head ? json_dumps(head, JSON_COMPACT) : NULL;
    const size_t length = text ? strlen(text) : 0, whole = (sizeof(uint32_t) + length + 7) & ~7ul;
    const uint32_t size = (uint32_t)(whole - sizeof size);

    json_decref(head);
    f->size = 0;
    const int rc = text ? frame_make_room(f, whole) : -ENOMEM;
    if (!rc) {
        memset(f->bytes, ' ', whole);
        memcpy(f->bytes, &size, sizeof size);
        memcpy(f->bytes + sizeof size, text, length);
        f->size = whole;
    }
    free(text);
    return rc;
}

int hil_frame_add(struct hil_frame *f, const double *numbers, size_t count)
{
    const int rc = frame_make_room(f, count * sizeof *numbers);

    if (rc || !count)
        return rc;
    memcpy(f->bytes + f->size, numbers, count * sizeof *numbers);
    f->size += count * sizeof *numbers;
    return 0;
}

void hil_frame_free(struct hil_frame *f)
{
    free(f->bytes);
    *f = (struct hil_frame){0};
}
