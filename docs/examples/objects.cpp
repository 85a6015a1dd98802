/*
 * Objects over network memory in C++: each node adds to an account under a lock, hands orders
 * through a queue, and measures a barrier. Build it against libloco,
 *
 *      c++ -std=c++17 -o objects objects.cpp $(pkg-config --cflags --libs loco)
 *
 * and start each node in a shell of its own; they meet in the directory, which need not exist:
 *
 *      ./objects 0 2 /tmp/objects
 *      ./objects 1 2 /tmp/objects
 */
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <loco/loco.hpp>
#include <mutex>

static constexpr std::uint64_t rounds = 1000;

struct order {
    std::uint64_t from, amount;
};

static int run(std::uint32_t node, std::uint32_t nodes, const char *directory)
{
    loco::shm fabric(directory);
    loco::manager manager(fabric, node, nodes);
    loco::barrier barrier(manager, "barrier");
    loco::ticket_lock lock(manager, "lock", 0);
    loco::atomic_var account(manager, "account", 0);
    loco::shared_queue<order> orders(manager, "orders", 0, 64);
    manager.ready(std::chrono::seconds(30));

    for (std::uint64_t i = 0; i < rounds; i++) { /* the lock makes this atomic */
        const std::lock_guard<loco::ticket_lock> held(lock);
        account.store(account.load() + 1);
    }
    orders.push({node, rounds});
    barrier.wait();
    const bool all = account.load() == nodes * rounds && orders.pop()->amount == rounds;

    const loco::duration begin = manager.clock();
    for (std::uint64_t i = 0; i < rounds; i++)
        barrier.wait();
    const auto each = static_cast<double>((manager.clock() - begin).count()) / rounds;
    std::printf("node %u: the account has %llu, a barrier takes %.0f ns\n", unsigned(node),
                static_cast<unsigned long long>(account.load()), each);
    barrier.wait(); /* no node leaves while others read */
    return all ? 0 : 1;
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return std::fprintf(stderr, "usage: %s NODE NODES DIRECTORY\n", argv[0]), 2;
    try {
        return run(std::uint32_t(std::atoi(argv[1])), std::uint32_t(std::atoi(argv[2])), argv[3]);
    } catch (const std::exception &e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
}
