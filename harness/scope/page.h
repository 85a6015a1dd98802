/*
 * The page of the scope: one HTML text with its scripts and its style in it. It fetches nothing but
 * what it shows, from where it came from.
 */
#ifndef HIL_SCOPE_PAGE_H
#define HIL_SCOPE_PAGE_H

#include <stddef.h>

/* To be freed; NULL: no memory. */
char *hil_scope_page(size_t *size);

/* What the page may do, as the header Content-Security-Policy; to be freed. NULL: no memory. */
char *hil_scope_policy(void);

#endif
