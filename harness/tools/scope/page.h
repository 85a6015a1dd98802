/*
 * The scope's page: one HTML text that includes its scripts and styles. It fetches only the data
 * that it shows, from its own server.
 */
#ifndef HIL_SCOPE_PAGE_H
#define HIL_SCOPE_PAGE_H

#include <stddef.h>

struct hil_scope_page {
    char *text;
    size_t size;
    char *policy; /* the page's permissions, for the header Content-Security-Policy */
};

/* The caller frees both texts. Returns 0 or -ENOMEM, and then leaves nothing to free. */
int hil_scope_page(struct hil_scope_page *page);

#endif
