/* The addresses of nodes, IPv4 or IPv6; loco/control.h has those of users, too. */
#ifndef LOCO_ADDRESSES_H
#define LOCO_ADDRESSES_H

#include <sys/socket.h>

#include "../loco/control.h"

bool loco_address_is_link_local(const struct sockaddr *address);
extern const char loco_address_only_link_local[]; /* why a name has no address */

/* Finds the address of this machine by which it reaches another. Returns 0 or a negative errno. */
int loco_address_towards(const struct sockaddr_storage *other, struct sockaddr_storage *own);

struct sockaddr_storage loco_address_with_port(const struct sockaddr_storage *address,
                                               uint16_t port);

/* Whether both addresses are of one host; their ports do not matter. */
bool loco_address_same_host(const struct sockaddr *a, const struct sockaddr_storage *b);

/* Copies a list of names. Returns NULL when there is no memory. */
char **loco_addresses_copy(const char *const *names, uint32_t count);
void loco_addresses_free(char **names, uint32_t count);

/* The size of the address that system calls expect, in bytes. */
socklen_t loco_address_size(const struct sockaddr_storage *address);

#endif
