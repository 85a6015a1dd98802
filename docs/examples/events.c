/*
 * An event loop that waits for messages of another node beside a timer of its own. Build it against
 * libloco,
 *
 *      cc -std=gnu17 -o events events.c $(pkg-config --cflags --libs loco)
 *
 * and start each node in a shell of its own; they meet in the directory, which need not exist:
 *
 *      ./events 0 2 /tmp/events
 *      ./events 1 2 /tmp/events
 */
#include <loco/loco.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum { MESSAGES = 10, TICK_NS = 20000000 };

static struct loco_manager *manager;
static struct loco_ringbuffer ring; /* from node 1 to node 0 */

static int check(int rc)
{
    if (rc >= 0)
        return rc;
    fprintf(stderr, "%s\n", strerror(-rc));
    exit(1);
}

static void send_messages(void)
{
    for (uint64_t i = 1; i <= MESSAGES; i++) {
        check(loco_ringbuffer_send_wait(&ring, &i, sizeof i, NULL, UINT64_MAX));
        usleep(TICK_NS / 2000);
    }
}

/* Receives all that is there. Returns how many messages that was. */
static unsigned receive_messages(void)
{
    struct loco_message message;
    unsigned count = 0;

    for (; loco_ringbuffer_receive(&ring, &message) == 0; count++)
        loco_ringbuffer_acknowledge(&ring, message.position);
    return count;
}

static int add(int epoll, int fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

    return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

static void loop(struct loco_watch *watch)
{
    struct loco_poll_item items[] = {loco_poll_message(&ring), loco_poll_loss(&ring.channel)};
    const struct itimerspec tick = {.it_interval.tv_nsec = TICK_NS, .it_value.tv_nsec = TICK_NS};
    const int epoll = epoll_create1(EPOLL_CLOEXEC), timer = timerfd_create(CLOCK_MONOTONIC, 0);
    unsigned received = 0, ticks = 0;
    struct epoll_event event;
    uint64_t times;

    if (timerfd_settime(timer, 0, &tick, NULL) || add(epoll, timer) || add(epoll, watch->fd))
        exit(1);
    check(loco_watch_arm(watch, items, 2));
    while (epoll_wait(epoll, &event, 1, -1) == 1) {
        if (event.data.fd == timer) {
            ticks += read(timer, &times, sizeof times) > 0;
            continue;
        }
        loco_watch_take(watch);
        received += receive_messages();
        if (items[1].result) /* the other node has left */
            break;
        check(loco_watch_arm(watch, items, 2));
    }
    printf("%u messages and %s\n", received, ticks > 0 ? "some ticks" : "no tick");
    close(timer);
    close(epoll);
    if (received != MESSAGES)
        exit(1);
}

int main(int argc, char **argv)
{
    struct loco_fabric *fabric;
    struct loco_watch watch;

    if (argc != 4)
        return fprintf(stderr, "usage: %s NODE NODES DIRECTORY\n", argv[0]), 2;
    const struct loco_manager_config config = {
        .node = (uint32_t)atoi(argv[1]),
        .node_count = (uint32_t)atoi(argv[2]),
    };
    check(loco_shm_open(&fabric, argv[3]));
    check(loco_manager_open(&manager, fabric, &config));
    check(loco_ringbuffer_init(&ring, manager, NULL, "ring", 1, LOCO_ALL, 4096, 64));
    check(loco_manager_ready(manager, 30000000000));
    check(loco_watch_init(&watch, manager));
    check(loco_watch_start(&watch));

    if (config.node == 0)
        loop(&watch);
    else
        send_messages();

    loco_watch_fini(&watch);
    loco_ringbuffer_fini(&ring);
    loco_manager_close(manager);
    loco_shm_close(fabric);
    return 0;
}
