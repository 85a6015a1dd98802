/*
 * For tests: a process that has no file descriptor left, and how often it tried to accept
 * connections all the same. One file of a program includes it.
 */
#ifndef TESTS_NO_DESCRIPTORS_H
#define TESTS_NO_DESCRIPTORS_H

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "channels/fabric/accept_backoff.h"
#include "channels/fabric/host_time.h"

static _Atomic unsigned accept_tries;

typedef int accept4_fn(int fd, struct sockaddr *a, socklen_t *size, int flags);

/* In place of libc's, or of a sanitizer's, which learns by it what happens before what. */
int accept4(int fd, struct sockaddr *restrict a, socklen_t *restrict size, int flags)
{
    accept4_fn *const real = (accept4_fn *)dlsym(RTLD_NEXT, "accept4");

    accept_tries++;
    return real(fd, a, size, flags);
}

/* Leaves one file descriptor: that of the socket which is to be accepted. Returns the limit that
 * there was. */
static inline struct rlimit leave_one_descriptor(void)
{
    struct rlimit before, one;
    const int lowest = dup(0);

    close(lowest);
    cr_assert_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
    one = before;
    one.rlim_cur = (rlim_t)lowest + 1;
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &one), 0);
    return before;
}

/* It tries again, and rests in between: however slow the machine is, never more often than that. */
static inline void expect_rests(uint64_t since)
{
    const unsigned first = accept_tries;

    for (int turns = 0; accept_tries < first + 3; turns++) {
        cr_assert_lt(turns, 60000, "it does not try again");
        usleep(1000);
    }
    const unsigned tries = accept_tries;
    cr_expect(tries <= (loco_host_clock(NULL) - since) / LOCO_REST_NS + 2, "%u tries", tries);
}

#endif
