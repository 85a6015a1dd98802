/*
 * loco::ringbuffer and loco::shared_region, of two nodes in one thread.
 *
 *      streams DIRECTORY    where the nodes meet; it need not exist
 */
#include <cstdio>
#include <loco/loco.hpp>

struct site {
    loco::manager manager;
    loco::ringbuffer ring;
    loco::shared_region region;

    site(const loco::fabric &fabric, std::uint32_t node)
        : manager(fabric, node, 2), ring(manager, "ring", 0, 256, 32), region(manager, "region", 16)
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

int main(int argc, char **argv)
{
    if (argc != 2)
        return std::fprintf(stderr, "usage: %s DIRECTORY\n", argv[0]), 2;
    const loco::shm fabric(argv[1]);
    site zero(fabric, 0), one(fabric, 1);

    zero.manager.ready(30 * second);
    one.manager.ready(30 * second);
    return streams(zero.ring, one.ring) && writes(zero.region, one.region) ? 0 : 1;
}
