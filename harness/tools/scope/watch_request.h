/*
 * What a page asks to watch, parsed from its message and checked.
 */
#ifndef HIL_WATCH_REQUEST_H
#define HIL_WATCH_REQUEST_H

#include <jansson.h>

#include "capture.h"

struct hil_watch_request {
    bool rolls; /* rolls; otherwise captures */
    double window_s;
    unsigned columns;
    struct hil_capture_config capture; /* its signals are used for rolling, too */
};

/* Parses the value of "watch". Returns 0, or -EINVAL with the reason. */
int hil_watch_request_read(struct hil_watch_request *request, const json_t *watch,
                           const struct hil_shown_list *shown, char *why, size_t size);

#endif
