/*
 * An open page: its WebSocket, and its view. Outgoing data waits in a bounded queue. A page that
 * reads nothing for a while is disconnected, so it never delays anybody.
 */
#ifndef HIL_CLIENT_H
#define HIL_CLIENT_H

#include <stdint.h>

#include "view.h"
#include "websocket.h"

struct hil_client;

/* The reason to close the socket of a page, as words for a message; NULL: it stays open. */
typedef const char *hil_client_end;

/* The socket must be non-blocking, and still belongs to the caller. `extra` are bytes that were
 * already received. Returns NULL if memory runs out, or if these bytes are not a message. */
struct hil_client *hil_client_open(int socket, const struct hil_run_entry *run, bool allow_set,
                                   const void *extra, size_t extra_size, uint64_t now_ns);
void hil_client_close(struct hil_client *client);

int hil_client_socket(const struct hil_client *client);

/* Whether there is data to write. */
bool hil_client_has_more(const struct hil_client *client);

/* Call these when the socket can be read, or written. */
hil_client_end hil_client_read(struct hil_client *client);
hil_client_end hil_client_write(struct hil_client *client, uint64_t now_ns);

/* Call it every 10 ms: sends what is new to the page. */
hil_client_end hil_client_turn(struct hil_client *client, uint64_t now_ns);

/* Sends a close frame, as far as the socket accepts it now. */
void hil_client_say_goodbye(struct hil_client *client, enum hil_ws_reason reason);

#endif
