/*
 * A script or a style that stands in a page, as the page's Content-Security-Policy names it: so
 * that nothing else runs there.
 */
#ifndef HIL_PAGE_HASH_H
#define HIL_PAGE_HASH_H

#include <stdio.h>

/* Writes " 'sha256-...'". */
void hil_page_hash(const char *text, FILE *to);

#endif
