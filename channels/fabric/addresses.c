#include "addresses.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sockets.h"

char **loco_addresses_copy(const char *const *names, uint32_t count)
{
    char **copy = calloc(count, sizeof *copy);

    for (uint32_t i = 0; copy && i < count; i++) {
        copy[i] = strdup(names[i]);
        if (!copy[i]) {
            loco_addresses_free(copy, count);
            copy = NULL;
        }
    }
    return copy;
}

void loco_addresses_free(char **names, uint32_t count)
{
    for (uint32_t i = 0; names && i < count; i++)
        free(names[i]);
    free(names);
}

const char loco_address_only_link_local[] =
    "the name has only link-local addresses (fe80::), which mean another host on each machine";

bool loco_address_is_link_local(const struct sockaddr *address)
{
    return address->sa_family == AF_INET6 &&
           IN6_IS_ADDR_LINKLOCAL(&((const struct sockaddr_in6 *)address)->sin6_addr);
}

const char *loco_address_find(const char *name, struct sockaddr_storage *address)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *at;
    struct addrinfo *found;
    int rc = getaddrinfo(name, NULL, &hints, &found);

    if (rc)
        return gai_strerror(rc);
    for (at = found; at && loco_address_is_link_local(at->ai_addr);)
        at = at->ai_next;
    if (at)
        memcpy(address, at->ai_addr, at->ai_addrlen);
    freeaddrinfo(found);
    return at ? NULL : loco_address_only_link_local;
}

bool loco_address_is_loopback(const struct sockaddr_storage *address)
{
    if (address->ss_family == AF_INET6)
        return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)address)->sin6_addr);
    return ntohl(((const struct sockaddr_in *)address)->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
}

/* Connecting a datagram socket chooses the route, and sends nothing. */
int loco_address_towards(const struct sockaddr_storage *other, struct sockaddr_storage *own)
{
    const struct sockaddr_storage to = loco_address_with_port(other, 9);
    const int fd = socket(to.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    socklen_t size = sizeof *own;
    int rc = 0;

    if (fd < 0)
        return -errno;
    if (connect(fd, (const struct sockaddr *)&to, loco_address_size(&to)) ||
        getsockname(fd, (struct sockaddr *)own, &size))
        rc = -errno;
    close(fd);
    return rc;
}

struct sockaddr_storage loco_address_with_port(const struct sockaddr_storage *address,
                                               uint16_t port)
{
    struct sockaddr_storage a = *address;

    if (a.ss_family == AF_INET6)
        ((struct sockaddr_in6 *)&a)->sin6_port = htons(port);
    else
        ((struct sockaddr_in *)&a)->sin_port = htons(port);
    return a;
}

bool loco_address_same_host(const struct sockaddr *a, const struct sockaddr_storage *b)
{
    if (a->sa_family != b->ss_family)
        return false;
    if (a->sa_family == AF_INET6)
        return memcmp(&((const struct sockaddr_in6 *)a)->sin6_addr,
                      &((const struct sockaddr_in6 *)b)->sin6_addr, sizeof(struct in6_addr)) == 0;
    return ((const struct sockaddr_in *)a)->sin_addr.s_addr ==
           ((const struct sockaddr_in *)b)->sin_addr.s_addr;
}

socklen_t loco_address_size(const struct sockaddr_storage *address)
{
    return address->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6)
                                          : sizeof(struct sockaddr_in);
}

int loco_listen(const struct sockaddr *at, uint32_t size, bool also_four)
{
    const int fd = socket(at->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return -errno;
    loco_socket_set(fd, SOL_SOCKET, SO_REUSEADDR, 1);
    if (at->sa_family == AF_INET6)
        loco_socket_set(fd, IPPROTO_IPV6, IPV6_V6ONLY, !also_four);
    if (!bind(fd, at, size) && !listen(fd, SOMAXCONN))
        return fd;
    const int rc = -errno;
    close(fd);
    return rc;
}
