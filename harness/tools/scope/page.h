/*
 * The scope's page: one HTML text that includes its scripts and styles. It fetches only the data
 * that it shows, from its own server.
 */
#ifndef HIL_SCOPE_PAGE_H
#define HIL_SCOPE_PAGE_H

#include <stddef.h>

/* The caller frees it; NULL: memory ran out. */
char *hil_scope_page(size_t *size);

/* The page's permissions for the header Content-Security-Policy. The caller frees it; NULL: memory
 * ran out. */
char *hil_scope_policy(void);

#endif
