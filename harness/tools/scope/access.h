/*
 * Controls access to the page and its data: only requests that have the token of its URL, and do
 * not come from another page, are answered.
 */
#ifndef HIL_ACCESS_H
#define HIL_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

enum { HIL_TOKEN_BYTES = 33, HIL_AUTHORITY_BYTES = 64 };

/* A new token: 128 random bits in hexadecimal. */
void hil_token_make(char token[HIL_TOKEN_BYTES]);

/* Compares them in constant time. */
bool hil_token_is(const char *token, const char *given);

/* "127.0.0.1:8080", "[::1]:8080". */
void hil_authority(const struct sockaddr_storage *address, char text[HIL_AUTHORITY_BYTES]);

/*
 * Whether a request that came to `address` may be answered. Host must be that address, or localhost
 * on loopback: a foreign name that resolves to this address (DNS rebinding) is refused. Origin, if
 * the browser sends it, must be this page's. NULL: not given.
 */
bool hil_access_host(const struct sockaddr_storage *address, const char *host);
bool hil_access_origin(const char *host, const char *origin);

#endif
