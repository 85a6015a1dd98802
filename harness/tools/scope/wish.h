/*
 * What a page asks to watch, parsed from its message and checked.
 */
#ifndef HIL_WISH_H
#define HIL_WISH_H

#include <jansson.h>

#include "capture.h"

struct hil_wish {
    bool rolls; /* rolls; otherwise captures */
    double window_s;
    unsigned columns;
    struct hil_capture_config capture; /* its signals are used for rolling, too */
};

/* Parses the value of "watch". Returns 0, or -EINVAL with the reason. */
int hil_wish_read(struct hil_wish *wish, const json_t *watch, const struct hil_shown_list *shown,
                  char *why, size_t size);

#endif
