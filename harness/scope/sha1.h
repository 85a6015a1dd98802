/*
 * SHA-1 (FIPS 180-4), for the handshake of WebSockets (RFC 6455, 4.2.2), which asks for it. It
 * protects nothing.
 */
#ifndef HIL_SHA1_H
#define HIL_SHA1_H

#include <stddef.h>

enum { HIL_SHA1_BYTES = 20, HIL_SHA1_TEXT_MAX = 119 };

/* Of a text of HIL_SHA1_TEXT_MAX bytes at most. */
void hil_sha1(const void *text, size_t size, unsigned char hash[HIL_SHA1_BYTES]);

#endif
