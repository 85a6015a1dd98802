/*
 * The test program has a network of its own: a namespace in which there is the loopback interface
 * and nothing else. So the ports that its tests and the documents' commands name are free, whatever
 * runs on this machine. The processes that it starts are in it, too.
 */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static bool network_write(const char *path, const char *text)
{
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    const bool written = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

    if (fd >= 0)
        close(fd);
    return written;
}

/* Who is not root needs a user namespace for it, in which everybody is who they were. */
static bool network_unshare(void)
{
    const unsigned user = getuid(), group = getgid();
    char map[64];

    if (user == 0)
        return unshare(CLONE_NEWNET) == 0;
    if (unshare(CLONE_NEWUSER | CLONE_NEWNET))
        return false;
    snprintf(map, sizeof map, "%u %u 1", user, user);
    bool mapped = network_write("/proc/self/uid_map", map);
    snprintf(map, sizeof map, "%u %u 1", group, group);
    mapped &=
        network_write("/proc/self/setgroups", "deny") && network_write("/proc/self/gid_map", map);
    if (!mapped) {
        fprintf(stderr, "the tests' user namespace cannot be set up: %s\n", strerror(errno));
        exit(1);
    }
    return true;
}

static bool network_raise_loopback(void)
{
    struct ifreq lo = {.ifr_name = "lo", .ifr_flags = IFF_UP};
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const bool up = fd >= 0 && ioctl(fd, SIOCSIFFLAGS, &lo) == 0;

    if (fd >= 0)
        close(fd);
    return up;
}

/* Each test is a process of this program, and finds itself there. */
__attribute__((constructor)) static void network_open(void)
{
    if (getenv("HILOCO_TEST_NETWORK"))
        return;
    if (!network_unshare()) {
        fprintf(stderr, "the tests are on this machine's network: %s\n", strerror(errno));
    } else if (!network_raise_loopback()) {
        fprintf(stderr, "the tests' loopback interface: %s\n", strerror(errno));
        exit(1);
    } else {
        setenv("HILOCO_TEST_NETWORK", "own", 1);
    }
}
