#include "listen.h"

#include <errno.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../../channels/loco/control.h"

enum { WHERE_MAX = 100, PORT_MAX = 65535 };

/* getaddrinfo accepts invalid port numbers. */
static bool listen_is_port(const char *text)
{
    return strspn(text, "0123456789") == strlen(text) && strlen(text) <= 5 &&
           atoi(text) <= PORT_MAX;
}

static int listen_resolve(const char *where, struct addrinfo **found)
{
    const struct addrinfo wanted = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
                                    .ai_socktype = SOCK_STREAM};
    char text[WHERE_MAX], *host = text;
    const size_t length = strlen(where);

    if (length >= sizeof text)
        return -EINVAL;
    memcpy(text, where, length + 1);
    char *port = strrchr(text, ':');
    if (!port || port == text || !port[1])
        return -EINVAL;
    *port++ = '\0';
    if (host[0] == '[' && port[-2] == ']') {
        host++;
        port[-2] = '\0';
    }
    return !listen_is_port(port) || getaddrinfo(host, port, &wanted, found) ? -EINVAL : 0;
}

int hil_listen(const char *where, struct sockaddr_storage *address)
{
    socklen_t size = sizeof *address;
    struct addrinfo *found;
    int rc = listen_resolve(where, &found);

    if (rc)
        return rc;
    const int s = loco_listen(found->ai_addr, found->ai_addrlen, false);
    freeaddrinfo(found);
    if (s < 0 || !getsockname(s, (struct sockaddr *)address, &size))
        return s;
    rc = -errno;
    close(s);
    return rc;
}
