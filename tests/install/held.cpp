/*
 * loco::held holds what its thread writes as long as it lives, also where it ends by an exception.
 * A manager that was closed is not closed again.
 *
 *      held ADDRESS    of a node that nobody else has
 */
#include <cstdio>
#include <loco/loco.hpp>
#include <stdexcept>

static bool holds(unsigned times)
{
    return loco_context.holds == times;
}

static bool released_after_throw(const loco::manager &manager)
{
    try {
        const loco::held outer(manager);
        const loco::held inner(manager);
        if (!holds(2))
            return false;
        throw std::runtime_error("on purpose");
    } catch (const std::runtime_error &) {
        return holds(0);
    }
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return std::fprintf(stderr, "usage: %s ADDRESS\n", argv[0]), 2;
    const char *const addresses[] = {argv[1]};
    struct loco_tcp_config tcp = {};
    struct loco_manager_config config = {};

    tcp.addresses = addresses;
    tcp.address_count = config.node_count = 1;
    const loco::tcp fabric(tcp);
    loco::manager manager(fabric.get(), config);
    {
        const loco::held together(manager);
        if (!holds(1))
            return 1;
    }
    if (!holds(0) || !released_after_throw(manager))
        return 1;
    return manager.close(std::chrono::seconds(5)) && !manager.get() ? 0 : 1;
}
