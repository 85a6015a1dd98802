/* Control messages to a manager that has endpoints "v" and "w": each is two bytes of length, and as
 * many bytes. */
#include <stdlib.h>
#include <string.h>

#include "channels/core.h"
#include "fuzz.h"
#include "tests/nodes.h"

struct input {
    const uint8_t *data;
    size_t size;
};

/* A copy on the heap, so that a byte too many is seen. */
static void say(struct loco_manager *m, const struct input *in)
{
    struct input rest = *in;

    while (rest.size > 2) {
        size_t size = fuzz_take(&rest.data, &rest.size, 2);
        size = size < rest.size ? size : rest.size;
        void *message = malloc(size);
        if (size > 0)
            memcpy(message, rest.data, size);
        loco_channels_message(m, 1, message, size);
        free(message);
        rest.data += size;
        rest.size -= size;
    }
}

/* The other node is there, and has none of the endpoints. */
static void body(struct node *n)
{
    struct loco_owned_var v;
    struct loco_shared_region w;

    if (n->id != 0)
        return;
    loco_owned_var_init(&v, n->mgr, NULL, "v", 0, LOCO_ALL, 16);
    loco_shared_region_init(&w, n->mgr, NULL, "w", LOCO_ALL, 64);
    say(n->mgr, n->arg);
    loco_shared_region_fini(&w);
    loco_owned_var_fini(&v);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};

    run_nodes(ON_SIM, 2, body, &in);
    return 0;
}
