/*
 * Kills a process during whatever it does to the kvstore, at a moment drawn from the seed. The
 * simulator's kvstore_mortal does the same in virtual time, but there a node can die only at its
 * operations on the network. Here it can die between any two instructions.
 *
 * Each worker records its operations in memory that all processes share. At the end the parent
 * judges the records, including those of the dead process: docs/memory-model.md must allow each
 * result ("When a peer dies"), and all of them together must be linearizable.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "channels/kvstore/kvstore_index.h"
#include "channels/kvstore/kvstore_locks.h"
#include "tests/nodes.h"
#include "tests/sim/workloads.h"

enum { NODES = 3, DEAD = 2, SURVIVORS = 2, WORKERS = 2, WINDOW = 3, WORDS_MAX = 10 };

/* The keys of each host, by lock: two shared keys have the first lock, and one has the second. Each
 * worker of a survivor also has a lock and a key of its own. */
enum { LOCKS_SHARED = 2, KEYS_EACH = 3, LOCKS_EACH = LOCKS_SHARED + SURVIVORS * WORKERS };
enum { KEYS = NODES * KEYS_EACH, OWN_KEYS = SURVIVORS };

/* The greatest number of operations of a worker: in all, and after it has noticed the loss. */
enum { DEEDS_MAX = 4096, DEEDS_AFTER = 60 };

/* The process is killed within this time from the start. */
enum { KILLED_WITHIN_NS = 3000000 };

/* How long others tolerate a lock or a half-written value that does not move, and how many
 * operations of a window may have a lock during that time, as each hands it to the next. */
static const uint64_t PATIENCE_NS = 100000000;
enum { HANDED_ON_MAX = 17 };

/* One operation. */
struct deed {
    enum loco_kv_kind kind;
    uint32_t key; /* index among the shared keys */
    int result;
    bool after;              /* began after its worker knew of the loss, with nothing in flight */
    uint64_t value;          /* written or read */
    uint64_t time_ns;        /* when it began; at the end, its duration */
    _Atomic uint32_t begins; /* its places among all workers' events, from 1; 0: not yet */
    _Atomic uint32_t ends;
};

/* The memory that the processes share. */
struct stage {
    uint64_t seed;
    enum loco_kv_placement placement;
    uint64_t keys[KEYS], own_keys[SURVIVORS * WORKERS][OWN_KEYS];
    _Atomic uint32_t events, survivors_done;
    struct deed deeds[NODES * WORKERS][DEEDS_MAX];
};

static uint32_t host_of(uint32_t key)
{
    return key / KEYS_EACH;
}

static uint32_t lock_of(uint32_t key)
{
    return key % KEYS_EACH / 2;
}

/* --- a worker ------------------------------------------------------------------------------ */

struct worker {
    struct node *node;
    struct loco_kvstore *store;
    uint32_t index; /* among the workers of all nodes */
    uint64_t random;
    unsigned deeds, deeds_after;
    uint32_t lost;   /* a bit for each key that cannot be read any more, */
    uint32_t locked; /* and for each key that cannot be written */
    int failures;
    pthread_t thread;
};

static struct stage *stage_of(const struct worker *w)
{
    return w->node->arg;
}

static bool is_dead(const struct worker *w)
{
    return w->node->id == DEAD;
}

static uint64_t draw(struct worker *w, uint64_t below)
{
    w->random = w->random * 6364136223846793005u + 1442695040888963407u;
    return (w->random >> 33) % below;
}

/* Counts failures as run_nodes does, but for one thread. */
static void expect(struct worker *w, bool holds, const char *what)
{
    if (holds)
        return;
    w->failures++;
    fprintf(stderr, "worker %u: %s\n", w->index, what);
}

static void set_words(const struct worker *w, uint64_t *words, uint64_t value)
{
    for (size_t i = 0; i < w->store->config.value_size / 8; i++)
        words[i] = value;
}

static uint64_t get_words(struct worker *w, const uint64_t *words)
{
    for (size_t i = 1; i < w->store->config.value_size / 8; i++)
        expect(w, words[i] == words[0], "a value is torn");
    return words[0];
}

/* The number of the next event. It orders the event after all that this worker has done, and before
 * all that it will do. */
static uint32_t next_event(const struct worker *w)
{
    return atomic_fetch_add(&stage_of(w)->events, 1) + 1;
}

/* Draws an operation that is still possible. */
static void draw_deed(struct worker *w, struct deed *d)
{
    static const enum loco_kv_kind kinds[] = {
        LOCO_KV_READ,   LOCO_KV_INSERT, LOCO_KV_INSERT,
        LOCO_KV_UPDATE, LOCO_KV_UPDATE, LOCO_KV_DELETE,
    };

    do {
        d->kind = kinds[draw(w, sizeof kinds / sizeof kinds[0])];
        d->key = (uint32_t)draw(w, KEYS);
    } while ((d->kind == LOCO_KV_READ ? w->lost : w->locked) >> d->key & 1 &&
             (w->lost & w->locked) != (1u << KEYS) - 1);
}

/* Returns NULL if no operation is possible for now. */
static struct deed *begin_deed(struct worker *w)
{
    struct stage *s = stage_of(w);
    const bool after = loco_peer_lost(w->node->mgr, DEAD);

    if (w->deeds == DEEDS_MAX - (after ? 0 : DEEDS_AFTER) || w->deeds_after == DEEDS_AFTER)
        return NULL;
    struct deed *d = &s->deeds[w->index][w->deeds++];
    w->deeds_after += after;
    draw_deed(w, d);
    d->after = after && w->index % WORKERS == 0;
    d->value = (w->index + 1) * (uint64_t)DEEDS_MAX + w->deeds;
    d->time_ns = loco_clock(w->node->mgr);
    d->begins = next_event(w);
    return d;
}

/* A failed operation may still take effect, and so might all later ones like it. Recording one is
 * enough for the checker. */
static void end_deed(struct worker *w, struct deed *d, int result, const uint64_t *words)
{
    if (d->kind == LOCO_KV_READ)
        d->value = result ? 0 : get_words(w, words);
    if (result && result != -EEXIST && result != -ENOENT)
        *(d->kind == LOCO_KV_READ ? &w->lost : &w->locked) |= 1u << d->key;
    d->result = result;
    d->time_ns = loco_clock(w->node->mgr) - d->time_ns;
    d->ends = next_event(w);
}

static bool has_more_to_do(const struct worker *w)
{
    return is_dead(w) || w->deeds_after < DEEDS_AFTER;
}

static int operate(struct loco_kvstore *s, enum loco_kv_kind kind, uint64_t key, uint64_t *words)
{
    if (kind == LOCO_KV_INSERT)
        return loco_kvstore_insert(s, key, words);
    if (kind == LOCO_KV_UPDATE)
        return loco_kvstore_update(s, key, words);
    if (kind == LOCO_KV_DELETE)
        return loco_kvstore_delete(s, key);
    return loco_kvstore_read(s, key, words);
}

static void work_one_by_one(struct worker *w)
{
    struct loco_wait wait = {.until = UINT64_MAX};
    uint64_t words[WORDS_MAX];

    while (has_more_to_do(w)) {
        struct deed *d = begin_deed(w);
        if (!d) {
            loco_relax(w->node->mgr, &wait);
            continue;
        }
        set_words(w, words, d->value);
        int rc = operate(w->store, d->kind, stage_of(w)->keys[d->key], words);
        end_deed(w, d, rc, words);
    }
}

static void start(const struct worker *w, struct loco_kv_op *op, const struct deed *d)
{
    const uint64_t key = stage_of(w)->keys[d->key];
    uint64_t words[WORDS_MAX];

    set_words(w, words, d->value);
    if (d->kind == LOCO_KV_INSERT)
        loco_kv_start_insert(op, key, words);
    else if (d->kind == LOCO_KV_UPDATE)
        loco_kv_start_update(op, key, words);
    else if (d->kind == LOCO_KV_DELETE)
        loco_kv_start_delete(op, key);
    else
        loco_kv_start_read(op, key);
}

/* Starts or ends the operation. Returns whether it is in flight. */
static bool work_on(struct worker *w, struct loco_kv_op *op)
{
    if (op->user && loco_kv_poll(op)) {
        end_deed(w, op->user, op->result, op->value);
        op->user = NULL;
    }
    if (!op->user && has_more_to_do(w)) {
        op->user = begin_deed(w);
        if (op->user)
            start(w, op, op->user);
    }
    return op->user;
}

static void work_in_window(struct worker *w)
{
    struct loco_wait wait = {.until = UINT64_MAX};
    struct loco_kv_window *window = NULL;

    expect(w, loco_kv_window_open(&window, w->store, WINDOW) == 0, "a window opens");
    for (bool busy = true; busy || has_more_to_do(w);) {
        busy = false;
        for (unsigned i = 0; i < WINDOW; i++)
            busy |= work_on(w, loco_kv_window_op(window, i));
        wait.turns = 0;
        loco_relax(w->node->mgr, &wait);
    }
    loco_kv_window_close(window);
}

/* Works after the death on keys that the dead node has never heard of. */
static void use_own_keys(struct worker *w)
{
    struct loco_kvstore *s = w->store;
    uint64_t words[WORDS_MAX];

    for (unsigned i = 0; i < OWN_KEYS; i++) {
        const uint64_t key = stage_of(w)->own_keys[w->index][i];
        set_words(w, words, 1);
        expect(w, loco_kvstore_insert(s, key, words) == 0, "a new key is inserted");
        set_words(w, words, 2);
        expect(w, loco_kvstore_update(s, key, words) == 0, "a new key is updated");
        set_words(w, words, 0);
        expect(w, loco_kvstore_read(s, key, words) == 0 && get_words(w, words) == 2,
               "a new key is read");
        expect(w, loco_kvstore_delete(s, key) == 0, "a new key is deleted");
        expect(w, loco_kvstore_read(s, key, words) == -ENOENT, "a deleted key is not there");
    }
}

static void work(struct worker *w)
{
    if (w->index % WORKERS == 0)
        work_one_by_one(w);
    else
        work_in_window(w);
    use_own_keys(w);
}

static void *work_beside(void *arg)
{
    struct worker *w = arg;

    expect(w, loco_thread_attach(w->node->mgr) == 0, "a thread attaches");
    work(w);
    loco_thread_detach(w->node->mgr);
    return NULL;
}

/* --- a node -------------------------------------------------------------------------------- */

static uint64_t key_of_lock(const struct loco_kvstore *s, uint32_t host, uint32_t index,
                            uint64_t from)
{
    struct loco_kv_op op;

    for (uint64_t key = from;; key++) {
        op.hash = kv_hash(key);
        kv_lock_find(&op, s);
        if (op.lock_host == host && op.lock_index == index)
            return key;
    }
}

/* Finds the same keys at each node. */
static void find_keys(struct stage *stage, const struct loco_kvstore *s)
{
    for (uint32_t key = 0; key < KEYS; key++) {
        const uint64_t from = key % KEYS_EACH ? stage->keys[key - 1] + 1 : 0;
        stage->keys[key] = key_of_lock(s, host_of(key), lock_of(key), from);
    }
    for (uint32_t worker = 0; worker < SURVIVORS * WORKERS; worker++)
        for (uint32_t host = 0; host < OWN_KEYS; host++)
            stage->own_keys[worker][host] = key_of_lock(s, host, LOCKS_SHARED + worker, 0);
}

static void *kill_soon(void *arg)
{
    const struct stage *s = arg;
    const uint64_t after = s->seed * 0x9e3779b97f4a7c15u % KILLED_WITHIN_NS;

    nanosleep(&(struct timespec){.tv_nsec = (long)after}, NULL);
    kill(getpid(), SIGKILL);
    return NULL;
}

static void act(struct node *n, struct loco_kvstore *store)
{
    const struct stage *s = n->arg;
    struct worker workers[WORKERS];
    pthread_t killer;

    if (n->id == DEAD)
        pthread_create(&killer, NULL, kill_soon, n->arg);
    for (uint32_t i = 0; i < WORKERS; i++) {
        const uint32_t index = n->id * WORKERS + i;
        workers[i] = (struct worker){.node = n,
                                     .store = store,
                                     .index = index,
                                     .random = kv_hash(s->seed * NODES * WORKERS + index + 1)};
        if (i > 0)
            pthread_create(&workers[i].thread, NULL, work_beside, &workers[i]);
    }
    work(&workers[0]);
    n->failures += workers[0].failures;
    for (uint32_t i = 1; i < WORKERS; i++) {
        pthread_join(workers[i].thread, NULL);
        n->failures += workers[i].failures;
    }
}

static void killed_body(struct node *n)
{
    struct stage *s = n->arg;
    const struct loco_kvstore_config config = {
        .value_size = s->seed % 3 ? 8 * WORDS_MAX : 8,
        .capacity = NODES * KEYS * WORKERS,
        .placement = s->placement,
        .locks = NODES * LOCKS_EACH,
        .torn_ns = PATIENCE_NS,
        .owner_ns = PATIENCE_NS,
    };
    struct loco_kvstore store;
    struct loco_barrier together;

    if (n->life > 0) /* the dead node restarts, and is not taken back */
        return;
    CHECK(n, loco_kvstore_init(&store, n->mgr, NULL, "kv", &config) == 0);
    CHECK(n, loco_barrier_init(&together, n->mgr, NULL, "together", LOCO_ALL) == 0);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
    CHECK(n, loco_kvstore_start_tracker(&store) == 0);
    find_keys(s, &store);
    CHECK(n, loco_barrier_wait(&together) == 0);
    act(n, &store);
    s->survivors_done++;
    AWAIT(n, s->survivors_done == SURVIVORS);
    loco_barrier_fini(&together);
    loco_kvstore_fini(&store);
}

/* --- the verdict --------------------------------------------------------------------------- */

static bool same_lock(const struct deed *a, const struct deed *b)
{
    return host_of(a->key) == host_of(b->key) && lock_of(a->key) == lock_of(b->key);
}

/* Whether another operation may have been half done under the same lock for a long time: one of the
 * dead node or, on a busy machine, one of another worker. */
static bool may_have_waited(const struct stage *s, const struct deed *deed)
{
    for (unsigned w = 0; w < NODES * WORKERS; w++)
        for (const struct deed *d = s->deeds[w]; d < s->deeds[w + 1] && d->begins; d++)
            if (d != deed && d->kind != LOCO_KV_READ && same_lock(d, deed) &&
                (!d->ends ||
                 (d->time_ns >= PATIENCE_NS / HANDED_ON_MAX && d->result != -EOWNERDEAD)))
                return true;
    return false;
}

/* Whether the operation needs something that the dead node hosted. */
static bool may_be_reset(const struct stage *s, const struct deed *d)
{
    const bool reaches_value = d->kind == LOCO_KV_READ || d->kind == LOCO_KV_UPDATE;

    return host_of(d->key) == DEAD || (s->placement == LOCO_KV_AT_INSERTER && reaches_value);
}

/* Whether the operation can succeed. A write needs the lock, which an earlier operation of the
 * window may have left held. A read may find the value at another host than the lock's. */
static bool may_succeed(const struct deed *d)
{
    return !d->after || host_of(d->key) != DEAD || d->kind == LOCO_KV_READ;
}

/* Whether the operation has a definite result. A failed read says nothing. */
static bool is_known(const struct deed *d)
{
    return d->ends && (d->result == 0 || d->result == -EEXIST || d->result == -ENOENT);
}

static bool is_allowed(const struct stage *s, const struct deed *d)
{
    const bool reads = d->kind == LOCO_KV_READ;

    switch (d->result) {
    case 0:
        return may_succeed(d);
    case -EEXIST:
        return d->kind == LOCO_KV_INSERT && may_succeed(d);
    case -ENOENT:
        return d->kind != LOCO_KV_INSERT && may_succeed(d);
    case -ECONNRESET:
        return may_be_reset(s, d);
    case -EAGAIN:
        return reads && may_have_waited(s, d);
    case -EOWNERDEAD:
        return !reads && may_have_waited(s, d);
    }
    return false;
}

static bool all_allowed(const struct stage *s)
{
    bool good = true;

    for (unsigned w = 0; w < SURVIVORS * WORKERS; w++)
        for (unsigned i = 0; i < DEEDS_MAX && s->deeds[w][i].begins; i++) {
            const struct deed *d = &s->deeds[w][i];
            if (is_allowed(s, d))
                continue;
            fprintf(stderr, "worker %u: operation %u of kind %d on key %u%s: %d\n", w, i,
                    (int)d->kind, d->key, d->after ? ", after the loss" : "", d->result);
            good = false;
        }
    return good;
}

/* An event: a deed that begins or ends. */
struct event {
    const struct deed *deed;
    uint32_t worker;
    bool ends;
};

static void sort_events(const struct stage *s, struct event *events)
{
    for (uint32_t w = 0; w < NODES * WORKERS; w++)
        for (unsigned i = 0; i < DEEDS_MAX && s->deeds[w][i].begins; i++) {
            const struct deed *d = &s->deeds[w][i];
            events[d->begins] = (struct event){d, w, false};
            if (d->ends)
                events[d->ends] = (struct event){d, w, true};
        }
}

static void replay(const struct stage *s, const struct event *events, struct loco_sim_history *h)
{
    static const enum loco_sim_history_code codes[] = {
        [LOCO_KV_READ] = LOCO_SIM_READ,
        [LOCO_KV_INSERT] = LOCO_SIM_INSERT,
        [LOCO_KV_UPDATE] = LOCO_SIM_UPDATE,
        [LOCO_KV_DELETE] = LOCO_SIM_DELETE,
    };
    static int at[NODES * WORKERS][DEEDS_MAX]; /* place in the history, by deed */

    for (uint32_t e = 1; e <= s->events; e++) {
        const struct deed *d = events[e].deed;
        if (!d || (d->kind == LOCO_KV_READ && !is_known(d)))
            continue; /* it died before it recorded the event */
        const bool reads = d->kind == LOCO_KV_READ;
        const bool writes_value = d->kind == LOCO_KV_INSERT || d->kind == LOCO_KV_UPDATE;
        int *index = &at[events[e].worker][d - s->deeds[events[e].worker]];
        if (!events[e].ends)
            *index = loco_sim_history_invoke(h, events[e].worker, codes[d->kind], d->key,
                                             writes_value ? d->value : 0, 0);
        else if (is_known(d))
            loco_sim_history_return(h, *index, d->result == 0, reads ? d->value : 0);
    }
}

static bool is_linearizable(const struct stage *s)
{
    const struct loco_sim_model model = loco_sim_model_map();
    struct event *events = calloc(s->events + 1, sizeof *events);
    struct loco_sim_linear_report report;
    struct loco_sim_linear *linear = NULL;
    struct loco_sim_history history = {0};
    bool good = false;

    if (events && !loco_sim_history_init(&history, s->events) &&
        !loco_sim_linear_open(&linear, s->events, LOCO_SIM_CONFIGS)) {
        sort_events(s, events);
        replay(s, events, &history);
        good = loco_sim_linear_check(linear, &history, &model, &report) == LOCO_SIM_LINEARIZABLE;
        if (!good)
            loco_sim_linear_print(stderr, &history, &report);
    }
    loco_sim_linear_close(linear);
    loco_sim_history_fini(&history);
    free(events);
    return good;
}

static int run_killed(uint64_t seed)
{
    struct stage *s =
        mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (s == MAP_FAILED)
        return 1;
    s->seed = seed;
    s->placement = seed % 2 ? LOCO_KV_AT_LOCK : LOCO_KV_AT_INSERTER;
    int failures = run_nodes(ON_PROCESSES, NODES, killed_body, s);
    if (!failures)
        failures = !all_allowed(s) + !is_linearizable(s);
    munmap(s, sizeof *s);
    return failures;
}

const struct loco_sim_workload kvstore_killed = {.name = "kvstore_killed", .run = run_killed};
