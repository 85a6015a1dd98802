/* The mark with which some programs begin a text in UTF-8 (the byte order mark). */
#ifndef HIL_TEXT_MARK_H
#define HIL_TEXT_MARK_H

#include <stddef.h>
#include <string.h>

/* Bytes of the mark at the beginning of a text; 0: it has none. */
static inline size_t hil_text_mark(const char *text, size_t length)
{
    return length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

#endif
