#include "nodes.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "temporary.h"

_Atomic uint64_t *test_moves;

struct run {
    struct node node;
    const char *directory;
    _Atomic bool stop_polling;
    struct loco_fabric *fabric; /* of all the nodes; NULL: each opens its own */
    void (*body)(struct node *node);
};

/* Threads of the library log, too. */
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;

static void log_line(void *arg, enum loco_level level, const char *text)
{
    struct node *n = arg;

    (void)level;
    pthread_mutex_lock(&log_lock);
    const size_t used = strlen(n->log);
    snprintf(n->log + used, sizeof n->log - used, "%s\n", text);
    pthread_mutex_unlock(&log_lock);
}

bool node_logged(const struct node *n, const char *text)
{
    pthread_mutex_lock(&log_lock);
    const bool is_there = strstr(n->log, text) != NULL;
    pthread_mutex_unlock(&log_lock);
    return is_there;
}

/* --- the fabric -------------------------------------------------------------------------- */

enum { ADDRESSES_MAX = 64, ANY = ADDRESSES_MAX };

static const char *addresses(void)
{
    return getenv("LOCO_TEST_ADDRESSES");
}

bool on_tcp(void)
{
    const char *fabric = getenv("LOCO_TEST_FABRIC");

    return fabric && strcmp(fabric, "tcp") == 0;
}

bool on_verbs(void)
{
    return addresses() && !on_tcp();
}

static bool on_network(void)
{
    return on_verbs() || on_tcp();
}

uint64_t effort(uint64_t full, uint64_t emulated)
{
    return getenv("LOCO_TEST_EMULATED") ? emulated : full;
}

/* Cuts a text at its commas. Returns how many parts there are. */
static uint32_t cut(char *text, const char *list[ADDRESSES_MAX])
{
    uint32_t count = 0;

    for (char *a = strtok(text, ","); a && count < ADDRESSES_MAX; a = strtok(NULL, ","))
        list[count++] = a;
    return count;
}

int open_verbs(struct loco_fabric **fabric, struct loco_verbs_config config)
{
    const char *list[ADDRESSES_MAX];
    char *copy = strdup(addresses());

    config.address_count = cut(copy, list);
    config.addresses = list;
    if (!config.timeout_ms)
        config.timeout_ms = 20000; /* a busy machine is no loss */
    int rc = loco_verbs_open(fabric, &config);
    free(copy);
    return rc;
}

const char *own_loopback(void)
{
    static char text[32];
    const int test = getpid();

    if (!text[0])
        snprintf(text, sizeof text, "127.%d.%d.%d", 1 + test / 62500 % 250, 1 + test / 250 % 250,
                 1 + test % 250);
    return text;
}

/* Where the nodes are; of a node that is not ANY all others behind the relay, if there is one. */
static int open_tcp_of(uint32_t node, struct loco_fabric **fabric, struct loco_tcp_config config)
{
    const char *list[ADDRESSES_MAX], *relay = getenv("LOCO_TEST_RELAY");
    char *copy = addresses() ? strdup(addresses()) : NULL;

    for (uint32_t i = 0; i < ADDRESSES_MAX; i++)
        list[i] = own_loopback();
    config.address_count = copy ? cut(copy, list) : ADDRESSES_MAX;
    for (uint32_t i = 0; relay && node != ANY && i < config.address_count; i++)
        if (i != node)
            list[i] = relay;
    config.addresses = list;
    if (!config.timeout_ms)
        config.timeout_ms = 20000; /* a busy machine is no loss */
    int rc = loco_tcp_open(fabric, &config);
    free(copy);
    return rc;
}

int open_tcp(struct loco_fabric **fabric, struct loco_tcp_config config)
{
    return open_tcp_of(ANY, fabric, config);
}

static bool is_polled(const struct node *n)
{
    return n->where == ON_POLLED_PROCESSES;
}

static int open_fabric(const struct run *r, uint32_t node, struct loco_fabric **fabric)
{
    const struct loco_verbs_config config = {.shared_completions = is_polled(&r->node)};

    if (on_tcp())
        return open_tcp_of(node, fabric, (struct loco_tcp_config){0});
    if (on_verbs())
        return open_verbs(fabric, config);
    return loco_shm_open(fabric, r->directory);
}

static void close_fabric(struct loco_fabric *fabric)
{
    if (on_tcp())
        loco_tcp_close(fabric);
    else if (on_verbs())
        loco_verbs_close(fabric);
    else
        loco_shm_close(fabric);
}

/* --- the nodes --------------------------------------------------------------------------- */

/* The paper's polling thread. */
static void *poll_for(void *arg)
{
    struct run *r = arg;

    CHECK(&r->node, loco_thread_attach(r->node.mgr) == 0);
    while (!r->stop_polling) {
        loco_manager_poll(r->node.mgr);
        sched_yield();
    }
    loco_thread_detach(r->node.mgr);
    return NULL;
}

static void run_body(struct run *r)
{
    pthread_t poller;

    if (!is_polled(&r->node)) {
        r->body(&r->node);
        return;
    }
    pthread_create(&poller, NULL, poll_for, r);
    r->body(&r->node);
    r->node.mgr->config.completions = LOCO_INLINE; /* detaching and closing wait once more */
    r->stop_polling = true;
    pthread_join(poller, NULL);
}

static void open_manager(struct node *n)
{
    const struct loco_manager_config config = {
        .node = n->id,
        .node_count = n->count,
        .arena_size = 1 << 20,
        .block_size = 128,
        .block_count = 16,
        .completions = is_polled(n) ? LOCO_POLLED : LOCO_INLINE,
        .log = log_line,
        .log_arg = n,
    };

    CHECK(n, loco_manager_open(&n->mgr, n->fabric, &config) == 0);
}

void node_die(struct node *n)
{
    if (n->where == ON_PROCESSES) {
        fflush(NULL);
        raise(SIGKILL);
    }
    if (n->where == ON_SIM)
        loco_sim_crash(n->fabric, n->id);
}

/* On shm the process may end before its service thread has hidden the node's name. Nobody else does
 * that, so the run directory would be left behind. */
void node_end(struct node *n)
{
    const struct run *r = (const struct run *)n;
    char name[80];

    snprintf(name, sizeof name, "%s/node%u", r->directory, n->id);
    unlink(name);
    _exit(n->failures);
}

void node_return(struct node *n)
{
    loco_manager_close(n->mgr);
    n->life++;
    open_manager(n);
}

static void run_one(void *arg)
{
    struct run *r = arg;
    struct node *n = &r->node;
    struct loco_fabric *own = NULL;

    if (!r->fabric)
        CHECK(n, open_fabric(r, n->id, &own) == 0);
    n->fabric = r->fabric ? r->fabric : own;
    open_manager(n);
    if (n->mgr)
        run_body(r);
    if (n->failures)
        fprintf(stderr, "node %u has logged: %s\n", n->id, n->log);
    loco_manager_close(n->mgr);
    if (own)
        close_fabric(own);
}

static void *run_thread(void *arg)
{
    run_one(arg);
    return NULL;
}

static int run_threads(struct run *runs, uint32_t count)
{
    const bool share = on_network() || runs->node.where == ON_ONE_PROCESS;
    struct loco_fabric *shared = NULL;
    pthread_t threads[count];
    int failures = 0;

    if (share && open_fabric(runs, ANY, &shared))
        return 1;
    for (uint32_t i = 0; i < count; i++)
        runs[i].fabric = shared;
    for (uint32_t i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, run_thread, &runs[i]);
    for (uint32_t i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
        failures += runs[i].node.failures;
    }
    if (shared)
        close_fabric(shared);
    return failures;
}

static pid_t start_process(struct run *run)
{
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that hangs is ended, and its nodes with it */
        run_one(run);
        fflush(NULL);
        _exit(run->node.failures ? 1 : 0);
    }
    return pid;
}

/* One that kills itself is started again; nobody does that more than so often. */
enum { LIVES_MAX = 10 };

static int run_processes(struct run *runs, uint32_t count)
{
    pid_t pids[count];
    int failures = 0, status;

    for (uint32_t i = 0; i < count; i++)
        pids[i] = start_process(&runs[i]);
    for (uint32_t left = count; left > 0;) {
        pid_t pid = wait(&status);
        uint32_t i = 0;
        while (i < count && pids[i] != pid)
            i++;
        if (i == count)
            continue;
        if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && ++runs[i].node.life < LIVES_MAX) {
            pids[i] = start_process(&runs[i]);
            continue;
        }
        failures += !WIFEXITED(status) || WEXITSTATUS(status);
        left--;
    }
    return failures;
}

static int run_fibers(struct run *runs, uint32_t count, const struct loco_sim_config *config)
{
    struct loco_fabric *sim = loco_sim_open(config);
    int failures = 0;

    for (uint32_t i = 0; i < count; i++) {
        runs[i].fabric = sim;
        loco_sim_spawn(sim, run_one, &runs[i]);
    }
    int rc = loco_sim_run(sim);
    if (rc) {
        fprintf(stderr, "the simulation %s\n", rc == -EDEADLK ? "is in a deadlock" : "is stuck");
        failures++;
    }
    for (uint32_t i = 0; i < count; i++)
        failures += runs[i].node.failures;
    loco_sim_close(sim);
    return failures;
}

static struct run *make_runs(uint32_t count, void (*body)(struct node *node), void *arg)
{
    struct run *runs = calloc(count, sizeof *runs);

    for (uint32_t i = 0; i < count; i++)
        runs[i] = (struct run){.node = {.id = i, .count = count, .arg = arg}, .body = body};
    return runs;
}

static struct loco_sim_link same_link(void *arg, uint32_t from, uint32_t to)
{
    (void)from;
    (void)to;
    return *(struct loco_sim_link *)arg;
}

int run_sim_nodes(uint64_t seed, uint64_t latency_ns, uint64_t jitter_ns, uint32_t count,
                  void (*body)(struct node *node), void *arg)
{
    struct loco_sim_link link = {latency_ns, jitter_ns};
    const struct loco_sim_config config = {.seed = seed, .link = same_link, .arg = &link};
    struct run *runs = make_runs(count, body, arg);
    int failures = run_fibers(runs, count, &config);

    free(runs);
    return failures;
}

int run_chaos_nodes(uint64_t seed, enum loco_sim_chaos chaos, uint32_t count,
                    void (*body)(struct node *node), void *arg)
{
    const struct loco_sim_config config = {.seed = seed, .chaos = chaos};
    struct run *runs = make_runs(count, body, arg);
    int failures = run_fibers(runs, count, &config);

    if (failures)
        fprintf(stderr, "seed %llu, chaos %d\n", (unsigned long long)seed, (int)chaos);
    free(runs);
    return failures;
}

int run_nodes(enum where where, uint32_t count, void (*body)(struct node *node), void *arg)
{
    char directory[TEMPORARY_SIZE];

    if (where == ON_SIM)
        return run_sim_nodes(1, 1000, 500, count, body, arg);
    struct run *runs = make_runs(count, body, arg);
    own_loopback(); /* the same for the processes of all the nodes */
    if (!temporary_folder(directory))
        return 1;
    for (uint32_t i = 0; i < count; i++) {
        runs[i].directory = directory;
        runs[i].node.where = where;
    }
    const bool threads = where == ON_THREADS || where == ON_ONE_PROCESS;
    int failures = threads ? run_threads(runs, count) : run_processes(runs, count);
    if (on_network())
        rmdir(directory);
    else if (rmdir(directory) == 0 || access(directory, F_OK) == 0) {
        fprintf(stderr, "the run directory was left behind\n");
        failures++;
    }
    free(runs);
    return failures;
}

unsigned open_descriptors(void)
{
    DIR *folder = opendir("/proc/self/fd");
    unsigned count = 0;

    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}
