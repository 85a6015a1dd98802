/* What the kernel is told of a socket, and what it says. */
#ifndef LOCO_SOCKETS_H
#define LOCO_SOCKETS_H

#include <errno.h>
#include <sys/socket.h>

/* Sets an option that a socket can do without, so this may fail. */
static inline void loco_socket_set(int fd, int level, int option, int value)
{
    setsockopt(fd, level, option, &value, sizeof value);
}

/* How connecting the socket has ended: 0 or a positive errno. */
static inline int loco_socket_error(int fd)
{
    int error = 0;
    socklen_t size = sizeof error;

    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) ? errno : error;
}

#endif
