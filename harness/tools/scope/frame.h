/*
 * A binary message to the page: a JSON text, followed by numbers.
 */
#ifndef HIL_FRAME_H
#define HIL_FRAME_H

#include <jansson.h>

#include "view.h"

struct hil_frame {
    char *bytes;
    size_t size, room;
};

/* Begins a frame; takes ownership of the head. Returns 0 or -ENOMEM. */
int hil_frame_begin(struct hil_frame *frame, json_t *head);

/* Adds numbers. Returns 0 or -ENOMEM. */
int hil_frame_add(struct hil_frame *frame, const double *numbers, size_t count);

void hil_frame_free(struct hil_frame *frame);

#endif
