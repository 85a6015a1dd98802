/*
 * A kvstore: each node inserts some keys, each reads them all, many reads in flight at a time.
 * Build it against libloco,
 *
 *      cc -std=c17 -o kv kv.c $(pkg-config --cflags --libs loco)
 *
 * and start each node in a shell of its own; they meet in the directory, which need not exist:
 *
 *      ./kv 0 2 /tmp/store
 *      ./kv 1 2 /tmp/store
 */
#include <errno.h>
#include <loco/loco.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEYS = 10000, WINDOW = 32 }; /* keys of each node */

struct user {
    uint64_t id;
    char name[24];
};

static void check(int rc)
{
    if (rc == 0)
        return;
    fprintf(stderr, "%s\n", strerror(-rc));
    exit(1);
}

static struct user user_of(uint64_t key)
{
    struct user user = {.id = key};

    snprintf(user.name, sizeof user.name, "user %llu", (unsigned long long)key);
    return user;
}

/* One call at a time: returns when every node has the key. */
static void insert_own(struct loco_kvstore *store, uint64_t first)
{
    for (uint64_t key = first; key < first + KEYS; key++) {
        struct user user = user_of(key);
        check(loco_kvstore_insert(store, key, &user));
    }
}

/* Many at a time: a window's operations go round, each started anew when it is done. */
static uint64_t count_right(struct loco_kvstore *store, uint64_t keys)
{
    struct loco_kv_window *window;
    uint64_t right = 0, done = 0, next = 0;

    check(loco_kv_window_open(&window, store, WINDOW));
    for (unsigned i = 0; i < WINDOW; i++)
        loco_kv_start_read(loco_kv_window_op(window, i), next++);
    for (unsigned i = 0; done < keys; i = (i + 1) % WINDOW) {
        struct loco_kv_op *op = loco_kv_window_op(window, i);
        if (!op->user && loco_kv_poll(op)) {
            const struct user *user = op->value;
            check(op->result);
            right += strncmp(user->name, user_of(user->id).name, sizeof user->name) == 0;
            done++;
            if (next < keys)
                loco_kv_start_read(op, next++);
            else
                op->user = window; /* the caller's mark: at rest */
        }
    }
    loco_kv_window_close(window);
    return right;
}

int main(int argc, char **argv)
{
    struct loco_fabric *fabric;
    struct loco_manager *manager;
    struct loco_kvstore store;
    struct loco_barrier barrier;
    struct user user;

    if (argc != 4)
        return fprintf(stderr, "usage: %s NODE NODES DIRECTORY\n", argv[0]), 2;
    const struct loco_manager_config node = {
        .node = (uint32_t)atoi(argv[1]),
        .node_count = (uint32_t)atoi(argv[2]),
    };
    const struct loco_kvstore_config config = {.value_size = sizeof user, .capacity = KEYS};
    const uint64_t first = (uint64_t)node.node * KEYS, keys = (uint64_t)node.node_count * KEYS;

    check(loco_shm_open(&fabric, argv[3]));
    check(loco_manager_open(&manager, fabric, &node));
    check(loco_kvstore_init(&store, manager, NULL, "users", &config));
    check(loco_barrier_init(&barrier, manager, NULL, "barrier", LOCO_ALL));
    check(loco_manager_ready(manager, 30000000000));
    check(loco_kvstore_start_tracker(&store));

    insert_own(&store, first);
    check(loco_barrier_wait(&barrier));
    uint64_t begin = loco_clock(manager);
    uint64_t right = count_right(&store, keys);
    printf("node %u: %llu of %llu users are right, %.0f ns each\n", (unsigned)node.node,
           (unsigned long long)right, (unsigned long long)keys,
           (double)(loco_clock(manager) - begin) / (double)keys);

    check(loco_barrier_wait(&barrier));
    check(loco_kvstore_delete(&store, first));
    bool gone = loco_kvstore_read(&store, first, &user) == -ENOENT;

    check(loco_barrier_wait(&barrier)); /* the others may still need this node's tracker */
    loco_kvstore_fini(&store);
    loco_barrier_fini(&barrier);
    loco_manager_close(manager);
    loco_shm_close(fabric);
    return right == keys && gone ? 0 : 1;
}
