#include "native_needs.h"

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum { NEEDS_DEPTH_MAX = 32 };

/* The loader has made the address absolute on most machines. */
static const char *needs_names(const struct link_map *map)
{
    for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++)
        if (d->d_tag == DT_STRTAB)
            return (const char *)(d->d_un.d_ptr < map->l_addr ? map->l_addr + d->d_un.d_ptr
                                                              : d->d_un.d_ptr);
    return NULL;
}

/* The loaded library of this name; NULL: none, or under another name. */
static const struct link_map *needs_find(const struct link_map *any, const char *name)
{
    while (any->l_prev)
        any = any->l_prev;
    for (; any; any = any->l_next) {
        const char *slash = strrchr(any->l_name, '/');
        if (strcmp(any->l_name, name) == 0 || (slash && strcmp(slash + 1, name) == 0))
            return any;
    }
    return NULL;
}

/* `length` is that of the folder, with the '/' at its end. */
static const char *needs_in(const struct link_map *map, const char *folder, size_t length,
                            unsigned depth)
{
    const char *names = needs_names(map), *found = NULL;

    for (const ElfW(Dyn) *d = map->l_ld; names && !found && d->d_tag != DT_NULL; d++) {
        const struct link_map *needed =
            d->d_tag == DT_NEEDED ? needs_find(map, names + d->d_un.d_val) : NULL;
        if (!needed)
            continue;
        if (strncmp(needed->l_name, folder, length) == 0)
            found = names + d->d_un.d_val;
        else if (depth < NEEDS_DEPTH_MAX)
            found = needs_in(needed, folder, length, depth + 1);
    }
    return found;
}

const char *hil_native_needs_beside(void *library)
{
    struct link_map *map;

    if (dlinfo(library, RTLD_DI_LINKMAP, &map))
        return NULL;
    const char *slash = strrchr(map->l_name, '/');
    return slash ? needs_in(map, map->l_name, (size_t)(slash + 1 - map->l_name), 0) : NULL;
}
