/*
 * `hiloco scope`, and what a client says to it: requests as text, and WebSockets.
 */
#ifndef TEST_WEB_H
#define TEST_WEB_H

#include <stdbool.h>
#include <stddef.h>

#include "process.h"

struct scope {
    struct process process;
    char url[120], authority[40], token[40];
    unsigned port;
};

/* Starts `hiloco scope` on a run, and waits for the address that it prints. */
struct scope scope_start(const struct process *run, const char *options);
struct ended scope_stop(struct scope *scope);

/* A connection. With `buffer` the kernel takes so few bytes for it; 0: as many as it likes. */
int web_connect(const struct scope *scope, int buffer);

/* Says bytes; false: nobody listens any more. */
bool web_say(int connection, const void *bytes, size_t size);

/* All that comes until the other side closes, within 20 s; to be freed. */
char *web_rest(int connection);

/* The answer to a request, as text, to be freed; and its status, 0: there was none. The connection
 * is closed. */
char *web_ask(const struct scope *scope, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
int web_status(const char *answer);

/* A WebSocket: its connection; or -1: it is not opened, and *status says why (NULL: the test
 * fails). `headers` are added, each with its \r\n. */
int web_open(const struct scope *scope, const char *headers, int buffer, int *status);

/* A frame of a client; and a text. */
bool web_frame(int connection, unsigned char first, const void *payload, size_t size);
bool web_tell(int connection, const char *text);

/* The next message, to be freed, with a zero behind it: a text or a binary one. NULL: the server
 * has closed, or 20 s have passed. */
char *web_next(int connection, bool *binary, size_t *size);

/* Reads until a text with `part` comes; NULL: none does. */
char *web_await(int connection, const char *part);

#endif
