/*
 * Access to the page and its data: only for requests with the token of its URL that do not come
 * from another page.
 */
#ifndef HIL_GATE_H
#define HIL_GATE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

enum { HIL_TOKEN_BYTES = 33, HIL_AUTHORITY_BYTES = 64 };

/* A new one: 128 random bits, in hexadecimal. */
void hil_token_make(char token[HIL_TOKEN_BYTES]);

/* In a time that does not tell how far it is right. */
bool hil_token_is(const char *token, const char *given);

/* "127.0.0.1:8080", "[::1]:8080". */
void hil_authority(const struct sockaddr_storage *address, char text[HIL_AUTHORITY_BYTES]);

bool hil_is_loopback(const struct sockaddr_storage *address);

/*
 * Whether a request may be answered that came to `address`. Host must be that address, or localhost
 * on loopback: a name of somebody's own that leads here (DNS rebinding) is none of them. Origin,
 * where the browser says it, must be this page's. NULL: not given.
 */
bool hil_gate_host(const struct sockaddr_storage *address, const char *host);
bool hil_gate_origin(const char *host, const char *origin);

#endif
