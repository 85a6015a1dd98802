/* What arrives at a node of the fabric tcp. The first byte says from whom: a stranger, a peer on
 * its control connection, or one on a link. The second is the size of the pieces in which it is
 * sent. */
#include <stdlib.h>

#include "fuzz.h"
#include "tests/ear.h"
#include "tests/nodes.h"
#include "tests/tcp/intruder.h"

enum { STRANGER, CONTROL, LINK, FROM };

/* Node 0 of 2, for all inputs. */
static void open_node(void)
{
    static struct ear ear;
    static struct loco_fabric *fabric;
    static struct loco_node *node;
    const struct loco_events events = ear_events(&ear);
    struct loco_arena arena;

    if (fabric)
        return;
    if (open_tcp(&fabric, (struct loco_tcp_config){0}) ||
        fabric->ops->node_open(fabric, 0, 2, (struct loco_secret){0}, &events, &node) ||
        fabric->ops->arena_map(node, 1 << 16, &arena))
        abort();
}

static void say(int fd, const uint8_t *data, size_t size, size_t piece)
{
    while (size > 0) {
        const size_t part = size < piece ? size : piece;
        if (!intruder_say(fd, data, part))
            return;
        data += part;
        size -= part;
    }
}

/* Until the node has heard all, and has closed its end. */
static void part(int fd)
{
    shutdown(fd, SHUT_WR);
    intruder_is_cut_off(fd);
}

/* The node may not have told of the loss of the one before. */
static void greet(struct intruder *i)
{
    while (!intruder_greet(i, own_loopback())) {
        close(i->control);
        usleep(200);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const unsigned from = (unsigned)fuzz_take(&data, &size, 1) % FROM;
    const size_t piece = 1 + fuzz_take(&data, &size, 1) * 16;
    struct intruder i;

    open_node();
    if (from == STRANGER) {
        const int fd = intruder_call(own_loopback());
        say(fd, data, size, piece);
        part(fd);
        return 0;
    }
    greet(&i);
    const int fd = from == LINK ? intruder_link(&i, own_loopback(), 0) : i.control;
    say(fd, data, size, piece);
    part(fd);
    if (from == LINK)
        part(i.control);
    return 0;
}
