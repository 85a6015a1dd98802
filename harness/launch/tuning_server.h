/*
 * Where the launcher accepts changes of its run: an abstract socket "hiloco-run-PID", on which it
 * answers the run's user and root. It takes one request per connection, a line of JSON, and sends
 * one line back (tune/client.h). A client cannot hold the launcher up: it polls now and then, and
 * never waits.
 */
#ifndef HIL_TUNING_SERVER_H
#define HIL_TUNING_SERVER_H

#include "../run/node.h"

struct hil_tuning_server;

/* Opens it for a run that may be tuned; else *server is NULL, which all of these take. Returns 0 or
 * a negative errno. */
int hil_tuning_server_open(struct hil_tuning_server **server, const struct hil_run *run);

/* One look. */
void hil_tuning_server_look(struct hil_tuning_server *server);

/* Who still waits for an answer gets none. *server is NULL then. */
void hil_tuning_server_close(struct hil_tuning_server **server);

#endif
