/*
 * The scope's listening socket.
 */
#ifndef HIL_LISTEN_H
#define HIL_LISTEN_H

#include <sys/socket.h>

/* Listens at "ADDRESS:PORT" or "[ADDRESS]:PORT", both numeric; port 0 chooses a free port. Returns
 * a socket, and its address in *address; -EINVAL if the text is not an address; or another negative
 * errno. */
int hil_listen(const char *where, struct sockaddr_storage *address);

#endif
