/*
 * The hash of an inline script or style, by which a page's Content-Security-Policy allows it and
 * nothing else.
 */
#ifndef HIL_PAGE_HASH_H
#define HIL_PAGE_HASH_H

#include <stdio.h>

/* Writes " 'sha256-...'". */
void hil_page_hash(const char *text, FILE *to);

#endif
