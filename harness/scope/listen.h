/*
 * The socket that the scope listens at.
 */
#ifndef HIL_LISTEN_H
#define HIL_LISTEN_H

#include <sys/socket.h>

/* "ADDRESS:PORT" or "[ADDRESS]:PORT", numbers both; a port 0 is a free one. Returns a socket, and
 * where it is; or -EINVAL when that is no address, or another negative errno. */
int hil_listen(const char *where, struct sockaddr_storage *address);

#endif
