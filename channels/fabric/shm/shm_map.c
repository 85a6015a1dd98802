/*
 * The memory of the shm fabric, on the largest pages that are available: reserved huge pages, or
 * else ordinary pages that the kernel is asked to make huge. Operations go to random places of
 * peers' memory, and on small pages each of them would begin with a walk through the page table.
 *
 * A process has one memory file for each kind of page, however many nodes it has. An arena is a
 * range of a file, and no range is used twice: a peer's link to a node that has closed may still
 * write there. The memory is freed with the file, when the last node has closed.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm_internal.h"

enum { HUGE_PAGE = 2 << 20 };

/* A file grows with each arena, and is sealed against shrinking. If its owner could cut off a range
 * that a peer has mapped, SIGBUS would kill the peer. */
enum { SEALS = F_SEAL_SHRINK | F_SEAL_SEAL };

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 /* since Linux 6.1; older kernels refuse it, which does no harm */
#endif

static size_t map_round_up(size_t size, size_t unit)
{
    return (size + unit - 1) / unit * unit;
}

/* Reserves addresses for `size` bytes, from the boundary of a huge page on. */
static unsigned char *map_reserve(size_t size)
{
    unsigned char *room =
        mmap(NULL, size + HUGE_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (room == MAP_FAILED)
        return NULL;
    size_t before = map_round_up((uintptr_t)room, HUGE_PAGE) - (uintptr_t)room;
    if (before)
        munmap(room, before);
    munmap(room + before + size, HUGE_PAGE - before);
    return room + before;
}

static void *map_at(void *at, size_t size, int fd, uint64_t offset)
{
    void *base = mmap(at, size, PROT_READ | PROT_WRITE, MAP_SHARED | (at ? MAP_FIXED : 0), fd,
                      (off_t)offset);

    return base == MAP_FAILED ? NULL : base;
}

/* Asks the kernel to make the pages huge, and returns whether all are. The kernel makes a huge page
 * only where a small page is present, so one of each is touched first. */
static bool map_make_huge(unsigned char *base, size_t size)
{
    size -= size % HUGE_PAGE;
    for (size_t i = 0; i < size; i += HUGE_PAGE)
        *(volatile unsigned char *)(base + i);
    return madvise(base, size, MADV_COLLAPSE) == 0;
}

int shm_map_range(struct map *map, int fd, struct shm_range range)
{
    const size_t size = range.size;
    unsigned char *at = size < HUGE_PAGE ? NULL : map_reserve(map_round_up(size, HUGE_PAGE));
    unsigned char *base = map_at(at, size, fd, range.offset);

    if (!base) {
        int rc = -errno;
        if (at)
            munmap(at, map_round_up(size, HUGE_PAGE));
        return rc;
    }
    *map = (struct map){.base = base, .size = size};
    map->small = at && !map_make_huge(base, size);
    return 0;
}

/* The kernel maps a file of reserved huge pages at the boundary of a huge page by itself. */
static int map_reserved(struct map *map, int fd, struct shm_range range)
{
    unsigned char *base = map_at(NULL, range.size, fd, range.offset);

    if (!base)
        return -errno;
    *map = (struct map){.base = base, .size = range.size};
    return 0;
}

static int map_open_file(struct shm_file *file, unsigned flags)
{
    if (file->fd >= 0)
        return 0;
    int fd = memfd_create("loco", MFD_CLOEXEC | MFD_ALLOW_SEALING | flags);
    if (fd < 0)
        return -errno;
    if (fcntl(fd, F_ADD_SEALS, SEALS)) {
        int rc = -errno;
        close(fd);
        return rc;
    }
    *file = (struct shm_file){.fd = fd};
    return 0;
}

/* The file may already be larger, because of an arena that could not be mapped. */
static int map_grow_file(const struct shm_file *file, uint64_t size)
{
    struct stat st;

    if (fstat(file->fd, &st))
        return -errno;
    return (uint64_t)st.st_size >= size || !ftruncate(file->fd, (off_t)size) ? 0 : -errno;
}

static int map_in_file(struct shm_file *file, struct map *map, size_t size, unsigned flags)
{
    const struct shm_range range = {
        .offset = map_round_up(file->used, size < HUGE_PAGE ? 1 : HUGE_PAGE), .size = size};
    int rc = map_open_file(file, flags);

    if (!rc)
        rc = map_grow_file(file, range.offset + size);
    if (!rc)
        rc = flags & MFD_HUGETLB ? map_reserved(map, file->fd, range)
                                 : shm_map_range(map, file->fd, range);
    if (!rc)
        file->used = range.offset + size;
    else if (!file->used)
        shm_close_file(file);
    map->offset = range.offset;
    return rc;
}

int shm_map_new(struct shm_file files[SHM_FILES], struct map *map, size_t size)
{
    size_t unit = size > HUGE_PAGE ? HUGE_PAGE : (size_t)sysconf(_SC_PAGESIZE);

    if (!map_in_file(&files[SHM_RESERVED], map, map_round_up(size, HUGE_PAGE), MFD_HUGETLB))
        return 0;
    int rc = map_in_file(&files[SHM_ORDINARY], map, map_round_up(size, unit), 0);
    map->file = SHM_ORDINARY;
    return rc;
}

void shm_close_file(struct shm_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    *file = (struct shm_file){.fd = -1};
}

/* The seal is checked first, so that the size cannot shrink after it was checked. */
int shm_check_range(int fd, struct shm_range range)
{
    int seals = fcntl(fd, F_GET_SEALS);
    struct stat st;

    if (seals < 0 || !(seals & F_SEAL_SHRINK))
        return -EPERM;
    if (fstat(fd, &st))
        return -errno;
    const uint64_t there = st.st_size < 0 ? 0 : (uint64_t)st.st_size;
    if (range.size == 0 || range.offset > there || range.size > there - range.offset)
        return -EPROTO;
    return 0;
}
