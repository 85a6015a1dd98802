/*
 * The launcher's server for changes of its run. It listens on an abstract socket, whose name is in
 * the run's state, and answers the run's user and root. It accepts one request per connection, a
 * line of JSON, and sends one line back (tune/client.h). A client cannot delay the launcher: it
 * polls from time to time, and never waits.
 */
#ifndef HIL_TUNING_SERVER_H
#define HIL_TUNING_SERVER_H

#include "../run/node.h"

struct hil_tuning_server;

/* Opens the server for a run that may be tuned; otherwise sets *server to NULL, which all these
 * functions accept. Returns 0 or a negative errno. */
int hil_tuning_server_open(struct hil_tuning_server **server, const struct hil_run *run);

/* The name of its socket, without the leading NUL; "" for NULL. */
const char *hil_tuning_server_name(const struct hil_tuning_server *server);

/* Takes one look at the sockets. */
void hil_tuning_server_look(struct hil_tuning_server *server);

/* Closes the server and sets *server to NULL. Clients that still wait get no answer. */
void hil_tuning_server_close(struct hil_tuning_server **server);

#endif
