/*
 * loco::ringbuffer, loco::shared_region, loco::atomic_var, loco::queue_lock, loco::rw_lock and
 * loco::watch, of two nodes in one thread.
 *
 *      streams DIRECTORY    where the nodes meet; it need not exist
 */
#include <cstdio>
#include <loco/loco.hpp>
#include <mutex>
#include <poll.h>
#include <shared_mutex>

struct site {
    loco::manager manager;
    loco::ringbuffer ring;
    loco::shared_region region;
    loco::atomic_var word;
    loco::queue_lock queue;
    loco::rw_lock doors;

    site(const loco::fabric &fabric, std::uint32_t node)
        : manager(fabric, node, 2), ring(manager, "ring", 0, 256, 32),
          region(manager, "region", 16), word(manager, "word", 0), queue(manager, "queue", 0),
          doors(manager, "doors", 1)
    {
    }
};

static const loco::duration second = std::chrono::seconds(1), now(0);

/* A message is received whole; the sender waits for its acknowledgement, and for room. */
static bool streams(loco::ringbuffer &sender, loco::ringbuffer &receiver)
{
    if (receiver.receive(now) || !sender.send("first", 6))
        return false;
    const auto message = receiver.receive(second);
    if (!message || std::strcmp(static_cast<const char *>(message->data), "first") != 0)
        return false;
    if (sender.acknowledged(message->position) || sender.wait(message->position, now))
        return false;
    loco::wait(receiver.acknowledge(message->position), second);
    if (!sender.wait(message->position, second))
        return false;
    while (sender.send("more", 5, now))
        ;
    const auto next = receiver.receive(second);
    return next && next->size == 5;
}

/* A source of 8 bytes may lie anywhere, a result only in network memory. */
static bool writes(loco::shared_region &from, loco::shared_region &to)
{
    const std::uint64_t value = 42;
    auto *const here = static_cast<std::uint64_t *>(from.local());

    loco::wait(from.write(1, 8, &value, sizeof value), second);
    loco::wait(from.read(1, 8, here, sizeof value), second);
    return *here == value && static_cast<const std::uint64_t *>(to.local())[1] == value;
}

/* Each call with a time limit does what the one without does. */
static bool counts(loco::atomic_var &word)
{
    std::uint64_t seen = 8;

    word.store(5, second);
    if (word.fetch_add(2, second) != 5 || word.exchange(9, second) != 7)
        return false;
    if (word.compare_exchange(seen, 1, second) || seen != 9)
        return false;
    return word.compare_exchange(seen, 1, second) && word.load(second) == 1 && word.load() == 1;
}

/* One holds a lock, and the other finds it held. */
static bool locks(site &one, site &other)
{
    {
        const std::lock_guard<loco::queue_lock> held(one.queue);
        if (other.queue.try_lock() || other.queue.try_lock_for(now))
            return false;
    }
    if (!other.queue.try_lock_for(second))
        return false;
    other.queue.release();
    {
        const std::shared_lock<loco::rw_lock> read(one.doors);
        if (other.doors.try_lock() || other.doors.try_lock_for(now))
            return false;
        if (!other.doors.try_lock_shared() || !one.doors.try_lock_shared_for(second))
            return false;
        other.doors.unlock_shared();
        one.doors.unlock_shared();
    }
    const std::unique_lock<loco::rw_lock> write(one.doors);
    return !other.doors.try_lock_shared() && !other.doors.try_lock();
}

/* A message makes the watch's descriptor readable. */
static bool watches(loco::ringbuffer &sender, site &receiver)
{
    struct loco_poll_item items[] = {loco_poll_message(receiver.ring.get()),
                                     loco_poll_loss(&receiver.ring.get()->channel)};
    loco::watch watch(receiver.manager);
    struct pollfd fd = {watch.fd(), POLLIN, 0};

    while (const auto message = receiver.ring.receive(now))
        loco::wait(receiver.ring.acknowledge(message->position), second);
    watch.arm(items, 2);
    if (poll(&fd, 1, 0) != 0 || loco::poll(receiver.manager, nullptr, 0, now) != 0)
        return false;
    if (!sender.send("wake", 5, second) || poll(&fd, 1, 30000) != 1)
        return false;
    return watch.take() == 1 && items[0].result == 1 && items[1].result == 0 &&
           loco::poll(receiver.manager, items, 2, now) == 1;
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return std::fprintf(stderr, "usage: %s DIRECTORY\n", argv[0]), 2;
    const loco::shm fabric(argv[1]);
    site zero(fabric, 0), one(fabric, 1);

    zero.manager.ready(30 * second);
    one.manager.ready(30 * second);
    return streams(zero.ring, one.ring) && writes(zero.region, one.region) && counts(one.word) &&
                   locks(zero, one) && watches(zero.ring, one)
               ? 0
               : 1;
}
