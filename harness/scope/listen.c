#include "listen.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BACKLOG = 64, WHERE_MAX = 100, PORT_MAX = 65535 };

/* getaddrinfo takes numbers that are none. */
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

static int listen_bind(int s, const struct addrinfo *at, struct sockaddr_storage *address)
{
    const int one = 1;
    socklen_t size = sizeof *address;

    if (setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) ||
        (at->ai_family == AF_INET6 && setsockopt(s, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof one)) ||
        bind(s, at->ai_addr, at->ai_addrlen) || listen(s, BACKLOG) ||
        getsockname(s, (struct sockaddr *)address, &size))
        return -errno;
    return 0;
}

int hil_listen(const char *where, struct sockaddr_storage *address)
{
    struct addrinfo *found;
    int rc = listen_resolve(where, &found);

    if (rc)
        return rc;
    int s = socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    rc = s < 0 ? -errno : listen_bind(s, found, address);
    freeaddrinfo(found);
    if (rc && s >= 0)
        close(s);
    return rc ? rc : s;
}
