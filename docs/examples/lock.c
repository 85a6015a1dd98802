/*
 * A ticket_lock over some shared memory: two threads at each node move amounts between two
 * accounts in node 0's memory, and at the end nothing is lost. Build it against libloco,
 *
 *      cc -std=c17 -o lock lock.c $(pkg-config --cflags --libs loco) -pthread
 *
 * and start each node in a shell of its own; they meet in the directory, which need not exist:
 *
 *      ./lock 0 2 /tmp/accounts
 *      ./lock 1 2 /tmp/accounts
 */
#include <loco/loco.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SECTIONS = 10000, OPENING = 1000000 };

static struct loco_manager *manager;
static struct loco_ticket_lock lock;
static struct loco_shared_region accounts; /* two words at node 0 */
static struct loco_barrier barrier;

static void check(int rc)
{
    if (rc == 0)
        return;
    fprintf(stderr, "%s\n", strerror(-rc));
    exit(1);
}

/* Names node 0's copy. Node 0, too, uses it through the fabric, so that all uses are in order. */
static unsigned home(void)
{
    return manager->id == 0 ? LOCO_SELF : (unsigned)loco_channel_member(&accounts.channel, 0);
}

static void read_accounts(uint64_t *both)
{
    struct loco_ack ack = loco_region_read(accounts.region, home(), 0, both, 2 * sizeof *both);
    check(loco_ack_wait(&ack, UINT64_MAX));
}

static void *move(void *attached)
{
    if (!attached)
        check(loco_thread_attach(manager));
    uint64_t *both = loco_mem_ref_take(manager); /* results must lie in network memory */
    for (uint64_t i = 0; i < SECTIONS; i++) {
        check(loco_ticket_lock_acquire(&lock));
        read_accounts(both);
        both[0] -= i % 7;
        both[1] += i % 7;
        loco_region_write(accounts.region, home(), 0, both, 2 * sizeof *both);
        check(loco_ticket_lock_release(&lock, LOCO_FENCE_PAIR)); /* the lock is at node 0, too */
    }
    loco_mem_ref_put(manager, both);
    if (!attached)
        loco_thread_detach(manager);
    return NULL;
}

int main(int argc, char **argv)
{
    struct loco_fabric *fabric;
    pthread_t second;

    if (argc != 4)
        return fprintf(stderr, "usage: %s NODE NODES DIRECTORY\n", argv[0]), 2;
    const struct loco_manager_config config = {
        .node = (uint32_t)atoi(argv[1]),
        .node_count = (uint32_t)atoi(argv[2]),
    };
    check(loco_shm_open(&fabric, argv[3]));
    check(loco_manager_open(&manager, fabric, &config));
    check(loco_ticket_lock_init(&lock, manager, NULL, "lock", 0, LOCO_ALL, LOCO_HANDOVER_DEFAULT));
    check(loco_shared_region_init(&accounts, manager, NULL, "accounts", LOCO_ALL, 16));
    check(loco_barrier_init(&barrier, manager, NULL, "barrier", LOCO_ALL));
    check(loco_manager_ready(manager, 30000000000));

    if (config.node == 0)
        *(uint64_t *)loco_shared_region_local(&accounts) = OPENING;
    check(loco_barrier_wait(&barrier));
    check(-pthread_create(&second, NULL, move, NULL));
    move(manager);
    pthread_join(second, NULL);
    check(loco_barrier_wait(&barrier));

    uint64_t *both = loco_mem_ref_take(manager);
    read_accounts(both);
    printf("node %u: %llu and %llu\n", (unsigned)config.node, (unsigned long long)both[0],
           (unsigned long long)both[1]);
    bool right = both[0] + both[1] == OPENING;
    loco_mem_ref_put(manager, both);

    check(loco_barrier_wait(&barrier)); /* no node leaves while others read */
    loco_barrier_fini(&barrier);
    loco_shared_region_fini(&accounts);
    loco_ticket_lock_fini(&lock);
    loco_manager_close(manager);
    loco_shm_close(fabric);
    return right ? 0 : 1;
}
