/*
 * The loop of events.c with io_uring. Build it against libloco and liburing,
 *
 *      cc -std=gnu17 -o events_uring events_uring.c $(pkg-config --cflags --libs loco liburing)
 *
 * and start each node in a shell of its own; they meet in the directory, which need not exist:
 *
 *      ./events_uring 0 2 /tmp/events_uring
 *      ./events_uring 1 2 /tmp/events_uring
 */
#include <liburing.h>
#include <loco/loco.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

static void submit_poll(struct io_uring *uring, int fd)
{
    struct io_uring_sqe *sqe = io_uring_get_sqe(uring);

    io_uring_prep_poll_add(sqe, fd, POLLIN); /* it ends when the descriptor is readable, once */
    io_uring_sqe_set_data64(sqe, (unsigned)fd);
}

static void submit_tick(struct io_uring *uring, struct __kernel_timespec *tick)
{
    struct io_uring_sqe *sqe = io_uring_get_sqe(uring);

    io_uring_prep_timeout(sqe, tick, 0, 0);
    io_uring_sqe_set_data64(sqe, 0);
}

static void loop(struct loco_watch *watch)
{
    struct loco_poll_item items[] = {loco_poll_message(&ring), loco_poll_loss(&ring.channel)};
    struct __kernel_timespec tick = {.tv_nsec = TICK_NS};
    unsigned received = 0, ticks = 0;
    struct io_uring_cqe *cqe;
    struct io_uring uring;

    check(io_uring_queue_init(8, &uring, 0));
    check(loco_watch_arm(watch, items, 2));
    submit_poll(&uring, watch->fd);
    submit_tick(&uring, &tick);
    while (io_uring_submit_and_wait(&uring, 1) >= 0 && io_uring_peek_cqe(&uring, &cqe) == 0) {
        const bool ticked = cqe->user_data == 0;
        io_uring_cqe_seen(&uring, cqe);
        if (ticked) {
            ticks++;
            submit_tick(&uring, &tick);
            continue;
        }
        loco_watch_take(watch);
        received += receive_messages();
        if (items[1].result) /* the other node has left */
            break;
        check(loco_watch_arm(watch, items, 2));
        submit_poll(&uring, watch->fd);
    }
    printf("%u messages and %s\n", received, ticks > 0 ? "some ticks" : "no tick");
    io_uring_queue_exit(&uring);
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
