/*
 * Memory files of the shm fabric, on the largest pages to be had: reserved huge pages, or else
 * ordinary ones that the kernel is asked to make huge. Operations go to random places of peers'
 * memory, and on small pages each of them would begin with a walk through the page table.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm_internal.h"

enum { HUGE_PAGE = 2 << 20 };

/* An arena keeps its size. Who maps one that its owner makes smaller is ended by SIGBUS. */
enum { SEALS = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL };

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 /* since Linux 6.1; an older one refuses it, and nothing is lost */
#endif

static size_t round_up(size_t size, size_t unit)
{
    return (size + unit - 1) / unit * unit;
}

/* Room for `size` bytes from a huge page's boundary on. */
static unsigned char *reserve(size_t size)
{
    unsigned char *room =
        mmap(NULL, size + HUGE_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (room == MAP_FAILED)
        return NULL;
    size_t before = round_up((uintptr_t)room, HUGE_PAGE) - (uintptr_t)room;
    if (before)
        munmap(room, before);
    munmap(room + before + size, HUGE_PAGE - before);
    return room + before;
}

static void *map_shared(void *at, size_t size, int fd)
{
    void *base = mmap(at, size, PROT_READ | PROT_WRITE, MAP_SHARED | (at ? MAP_FIXED : 0), fd, 0);

    return base == MAP_FAILED ? NULL : base;
}

/* Returns whether the kernel has made all its pages huge. It does so with a page that is there,
 * however little of it. */
static bool make_huge(unsigned char *base, size_t size)
{
    size -= size % HUGE_PAGE;
    for (size_t i = 0; i < size; i += HUGE_PAGE)
        *(volatile unsigned char *)(base + i);
    return madvise(base, size, MADV_COLLAPSE) == 0;
}

int shm_map_fd(struct map *map, int fd, size_t size)
{
    unsigned char *at = size < HUGE_PAGE ? NULL : reserve(round_up(size, HUGE_PAGE));
    unsigned char *base = map_shared(at, size, fd);

    if (!base) {
        int rc = -errno;
        if (at)
            munmap(at, round_up(size, HUGE_PAGE));
        return rc;
    }
    *map = (struct map){.base = base, .size = size, .fd = -1};
    map->small = at && !make_huge(base, size);
    return 0;
}

/* A file of reserved huge pages lies right by itself. */
static int map_reserved(struct map *map, int fd, size_t size)
{
    unsigned char *base = map_shared(NULL, size, fd);

    if (!base)
        return -errno;
    *map = (struct map){.base = base, .size = size, .fd = -1};
    return 0;
}

static int map_new(struct map *map, size_t size, unsigned flags)
{
    int fd = memfd_create("loco", MFD_CLOEXEC | MFD_ALLOW_SEALING | flags);

    if (fd < 0)
        return -errno;
    int rc = ftruncate(fd, (off_t)size) || fcntl(fd, F_ADD_SEALS, SEALS) ? -errno
             : flags & MFD_HUGETLB ? map_reserved(map, fd, size)
                                   : shm_map_fd(map, fd, size);
    if (rc) {
        close(fd);
        return rc;
    }
    map->fd = fd;
    return 0;
}

int shm_map_new(struct map *map, size_t size)
{
    if (!map_new(map, round_up(size, HUGE_PAGE), MFD_HUGETLB))
        return 0;
    if (size > HUGE_PAGE)
        size = round_up(size, HUGE_PAGE);
    return map_new(map, round_up(size, (size_t)sysconf(_SC_PAGESIZE)), 0);
}

/* The seals first: the size that is seen after them stays. */
int shm_check_seals(int fd, uint64_t size)
{
    int seals = fcntl(fd, F_GET_SEALS);
    struct stat st;

    if (seals < 0 || (seals & SEALS) != SEALS)
        return -EPERM;
    if (fstat(fd, &st))
        return -errno;
    if (size == 0 || st.st_size < 0 || (uint64_t)st.st_size != size)
        return -EPROTO;
    return 0;
}
