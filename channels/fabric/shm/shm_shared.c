/*
 * Mappings of peers' memory, shared by the nodes of a process. For example, a controller's arena
 * has a place for each converter, and is mapped once, not once for each converter.
 */
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "shm_internal.h"

struct shm_shared {
    dev_t device;
    ino_t file;
    struct shm_range range;
    struct map map;
    unsigned users;
};

/* Shared by all fabrics in this process: a file is the same in each of them. */
static pthread_mutex_t shared_lock = PTHREAD_MUTEX_INITIALIZER;
static void *shared_maps; /* tsearch tree */

static int shared_by_file(const void *a, const void *b)
{
    const struct shm_shared *x = a, *y = b;

    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    if (x->range.offset != y->range.offset)
        return x->range.offset < y->range.offset ? -1 : 1;
    return (x->range.size > y->range.size) - (x->range.size < y->range.size);
}

static int shared_add(const struct shm_shared *key, int fd, struct shm_shared **added)
{
    struct shm_shared *new = malloc(sizeof *new);

    if (!new)
        return -ENOMEM;
    *new = *key;
    int rc = shm_map_range(&new->map, fd, key->range);
    if (rc) {
        free(new);
        return rc;
    }
    new->map.shared = new;
    if (!tsearch(new, &shared_maps, shared_by_file)) {
        munmap(new->map.base, new->map.size);
        free(new);
        return -ENOMEM;
    }
    *added = new;
    return 0;
}

int shm_share(struct map *map, int fd, struct shm_range range)
{
    struct shm_shared key = {.range = range}, *shared = NULL;
    struct stat st;
    int rc = shm_check_range(fd, range);

    if (rc)
        return rc;
    if (fstat(fd, &st))
        return -errno;
    key.device = st.st_dev;
    key.file = st.st_ino;
    pthread_mutex_lock(&shared_lock);
    struct shm_shared *const *found = tfind(&key, &shared_maps, shared_by_file);
    if (found)
        shared = *found;
    else
        rc = shared_add(&key, fd, &shared);
    if (!rc) {
        shared->users++;
        *map = shared->map;
    }
    pthread_mutex_unlock(&shared_lock);
    return rc;
}

void shm_unshare(const struct map *map)
{
    struct shm_shared *shared = map->shared;

    pthread_mutex_lock(&shared_lock);
    if (--shared->users == 0) {
        tdelete(shared, &shared_maps, shared_by_file);
        munmap(shared->map.base, shared->map.size);
        free(shared);
    }
    pthread_mutex_unlock(&shared_lock);
}
