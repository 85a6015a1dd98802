/*
 * How processes find one another. Each node has a name in the run directory. The names of a
 * process's nodes are hard links to the one socket that the process listens on. Two names of one
 * file show that both nodes are in one process, which needs only one connection.
 *
 * A name is removed when no peer needs it any more. A socket that has lost its last name cannot get
 * another, so the next node that needs a name gets a new socket.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shm_internal.h"

struct sockaddr_un shm_address_of(const struct shm *s, uint32_t id)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};

    snprintf(a.sun_path, sizeof a.sun_path, "%s/node%u", s->directory, id);
    return a;
}

int shm_new_socket(void)
{
    return socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

static struct shm_place name_place(const char *path)
{
    struct stat st;

    return lstat(path, &st) ? (struct shm_place){0} : (struct shm_place){st.st_dev, st.st_ino};
}

struct shm_place shm_place_at(const struct sockaddr_un *a)
{
    return name_place(a->sun_path);
}

bool shm_is_shown(const struct shm_node *n)
{
    return n->path[0] && shm_same_place(name_place(n->path), n->shm->place);
}

void shm_hide(struct shm_node *n)
{
    if (shm_is_shown(n))
        unlink(n->path);
    n->path[0] = '\0';
}

int shm_process_at(int socket)
{
    struct ucred other;
    socklen_t size = sizeof other;

    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &other, &size))
        return -errno;
    const int fd = (int)syscall(SYS_pidfd_open, other.pid, 0);
    return fd < 0 ? -errno : fd;
}

bool shm_process_has_ended(int pidfd)
{
    struct pollfd process = {.fd = pidfd, .events = POLLIN};

    return poll(&process, 1, 0) > 0;
}

/* Whether the process at the other end has ended, though its socket is open. */
static bool name_has_no_process(int socket)
{
    const int process = shm_process_at(socket);
    const bool ended = process == -ESRCH || (process >= 0 && shm_process_has_ended(process));

    if (process >= 0)
        close(process);
    return ended;
}

/* Whether the process that listened on the socket has died. */
static bool name_is_stale(const struct sockaddr_un *a)
{
    int fd = shm_new_socket();

    if (fd < 0)
        return false;
    const bool stale = connect(fd, (const struct sockaddr *)a, sizeof *a) ? errno == ECONNREFUSED
                                                                          : name_has_no_process(fd);
    close(fd);
    return stale;
}

/* Binds the socket. A process that leaves removes the empty directory, perhaps right before bind(),
 * so both calls are repeated. */
static int name_bind(const struct shm *s, int fd, const struct sockaddr_un *a)
{
    int rc = -ENOENT;

    for (int tries = 0; rc == -ENOENT && tries < 100; tries++) {
        rc = shm_make_directory(s->directory);
        if (!rc && bind(fd, (const struct sockaddr *)a, sizeof *a))
            rc = -errno;
    }
    return rc;
}

/* Listens on a new socket of this name, and closes a former one, which has lost its last name. */
static int name_listen(struct shm *s, const struct sockaddr_un *a)
{
    int fd = shm_new_socket();

    if (fd < 0)
        return -errno;
    int rc = name_bind(s, fd, a);
    if (!rc && listen(fd, SOMAXCONN))
        rc = -errno;
    if (rc) {
        close(fd);
        return rc;
    }
    if (s->listener >= 0)
        close(s->listener);
    s->listener = fd;
    s->place = shm_place_at(a);
    shm_watch(s, EPOLL_CTL_ADD, fd, s, EPOLLIN);
    return 0;
}

/* Returns 0, -ENOENT when the socket has no name any more, or another negative errno. */
static int name_link(const struct shm *s, const struct sockaddr_un *a)
{
    for (const struct shm_node *n = s->nodes; n; n = n->next) {
        if (!shm_is_shown(n))
            continue;
        if (!link(n->path, a->sun_path))
            return 0;
        if (errno != ENOENT)
            return errno == EEXIST ? -EADDRINUSE : -errno;
    }
    return -ENOENT;
}

static int name_make(struct shm *s, const struct sockaddr_un *a)
{
    int rc = name_link(s, a);

    return rc == -ENOENT ? name_listen(s, a) : rc;
}

int shm_show(struct shm_node *n)
{
    const struct sockaddr_un a = shm_address_of(n->shm, n->base.id);
    int rc = name_make(n->shm, &a);

    if (rc == -EADDRINUSE && name_is_stale(&a)) {
        unlink(a.sun_path);
        rc = name_make(n->shm, &a);
    }
    if (!rc)
        memcpy(n->path, a.sun_path, sizeof n->path);
    return rc;
}
