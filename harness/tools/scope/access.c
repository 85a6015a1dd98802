#include "access.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "../../../channels/loco/control.h"

enum { HTTP = 80 };

void hil_token_make(char token[HIL_TOKEN_BYTES])
{
    unsigned char bytes[HIL_TOKEN_BYTES / 2];

    randombytes_buf(bytes, sizeof bytes);
    sodium_bin2hex(token, HIL_TOKEN_BYTES, bytes, sizeof bytes);
}

bool hil_token_is(const char *token, const char *given)
{
    return given && strlen(given) == HIL_TOKEN_BYTES - 1 &&
           sodium_memcmp(token, given, HIL_TOKEN_BYTES - 1) == 0;
}

static const struct sockaddr_in *access_ip4(const struct sockaddr_storage *address)
{
    return (const struct sockaddr_in *)address;
}

static const struct sockaddr_in6 *access_ip6(const struct sockaddr_storage *address)
{
    return (const struct sockaddr_in6 *)address;
}

static unsigned access_port(const struct sockaddr_storage *address)
{
    return ntohs(address->ss_family == AF_INET6 ? access_ip6(address)->sin6_port
                                                : access_ip4(address)->sin_port);
}

/* In a browser's notation, which omits http's default port. */
static void access_write(char text[HIL_AUTHORITY_BYTES], const char *host, unsigned port)
{
    if (port == HTTP)
        snprintf(text, HIL_AUTHORITY_BYTES, "%s", host);
    else
        snprintf(text, HIL_AUTHORITY_BYTES, "%s:%u", host, port);
}

void hil_authority(const struct sockaddr_storage *address, char text[HIL_AUTHORITY_BYTES])
{
    char name[INET6_ADDRSTRLEN] = "", host[INET6_ADDRSTRLEN + 2];

    if (address->ss_family == AF_INET6) {
        inet_ntop(AF_INET6, &access_ip6(address)->sin6_addr, name, sizeof name);
        snprintf(host, sizeof host, "[%s]", name);
    } else {
        inet_ntop(AF_INET, &access_ip4(address)->sin_addr, host, sizeof host);
    }
    access_write(text, host, access_port(address));
}

bool hil_access_host(const struct sockaddr_storage *address, const char *host)
{
    char authority[HIL_AUTHORITY_BYTES], local[HIL_AUTHORITY_BYTES];

    if (!host)
        return false;
    hil_authority(address, authority);
    access_write(local, "localhost", access_port(address));
    return strcasecmp(host, authority) == 0 ||
           (loco_address_is_loopback(address) && strcasecmp(host, local) == 0);
}

bool hil_access_origin(const char *host, const char *origin)
{
    static const char scheme[] = "http://";

    return !origin || (strncasecmp(origin, scheme, strlen(scheme)) == 0 &&
                       strcasecmp(origin + strlen(scheme), host) == 0);
}
