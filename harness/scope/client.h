/*
 * A page that is open: its WebSocket, and its view. What goes out waits in a queue that is
 * bounded: a page that takes nothing for a while is given up, and holds nobody up meanwhile.
 */
#ifndef HIL_CLIENT_H
#define HIL_CLIENT_H

#include <stdint.h>

#include "view.h"
#include "websocket.h"

struct hil_client;

/* What the socket of a page is to be closed for; NULL: it is open. Words for a message. */
typedef const char *hil_client_end;

/* The socket must not block; it stays the caller's. `extra` has come on it already. NULL: there is
 * no memory, or that is no message. */
struct hil_client *hil_client_open(int socket, const struct hil_found *run, bool allow_set,
                                   const void *extra, size_t extra_size, uint64_t now_ns);
void hil_client_close(struct hil_client *client);

int hil_client_socket(const struct hil_client *client);

/* Whether there is something to be written. */
bool hil_client_has_more(const struct hil_client *client);

/* When the socket can be read, or written. */
hil_client_end hil_client_read(struct hil_client *client);
hil_client_end hil_client_write(struct hil_client *client, uint64_t now_ns);

/* Every 10 ms: what there is to be said to the page. */
hil_client_end hil_client_turn(struct hil_client *client, uint64_t now_ns);

/* Says goodbye, as far as the socket takes it now. */
void hil_client_say_goodbye(struct hil_client *client, enum hil_ws_reason reason);

#endif
