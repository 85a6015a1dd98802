/* What arrives at a rendezvous, at either end. The first byte says from whom: a stranger, or a
 * process that knows the secret, at the process with the first node; or the process with the first
 * node, at another. The second is the size of the pieces in which it is sent. */
#include <arpa/inet.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "channels/control/wire.h"
#include "fuzz.h"
#include "harness/launch/rendezvous_internal.h"
#include "harness/scenario/load/load.h"
#include "tests/nodes.h"

enum { STRANGER, GUEST, FIRST, FROM, UNPROVEN_FIRST = 255 /* takes a second */ };

static const char secret[] = "0123456789abcdef";

/* --- the scenario, of four nodes -------------------------------------------------------------- */

/* `first` is the only node here. The port is 18699 less that. */
static struct hil_scenario *load(unsigned first)
{
    static const unsigned nodes[] = {0, 1};
    char place[80], message[1000];
    const char *sets[] = {place, "fabric=tcp", "nodes.converter.count=3",
                          "components.converter.tolerance={}"};
    const struct hil_scenario_options options = {.sets = sets, .set_count = 4};
    struct hil_scenario *s;

    snprintf(place, sizeof place, "rendezvous=%s:%u", own_loopback(), HIL_RENDEZVOUS_PORT - first);
    if (hil_scenario_load(&s, "configs/quickstart.yaml", &options, message, sizeof message))
        abort();
    s->executors[0].nodes = &nodes[first];
    s->executors[0].count = 1;
    s->executor_count = 1;
    return s;
}

static void say_nothing(void *arg, const char *line)
{
    (void)arg, (void)line;
}

static struct hil_rendezvous_config config_of(const struct hil_scenario *s)
{
    return (struct hil_rendezvous_config){
        .scenario = s, .secret = {secret, sizeof secret - 1}, .wait_s = 1, .say = say_nothing};
}

/* --- the other end ---------------------------------------------------------------------------- */

static struct sockaddr_in place_of(unsigned first)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)(HIL_RENDEZVOUS_PORT - first))};

    inet_pton(AF_INET, own_loopback(), &at.sin_addr);
    return at;
}

/* Once more where the process with the first node has just given up, and begins anew. */
static int call(void)
{
    const struct sockaddr_in at = place_of(0);
    const struct timeval patience = {.tv_sec = 5};

    for (int tries = 0; tries < 1000; tries++) {
        const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        if (!connect(fd, (const struct sockaddr *)&at, sizeof at))
            return fd;
        close(fd);
        usleep(10000);
    }
    abort();
}

static bool hear(int fd, void *data, size_t size)
{
    return recv(fd, data, size, MSG_WAITALL) == (ssize_t)size;
}

static bool tell(int fd, const void *data, size_t size)
{
    return send(fd, data, size, MSG_NOSIGNAL) == (ssize_t)size;
}

static void say(int fd, const uint8_t *data, size_t size, size_t piece)
{
    while (size > 0) {
        const size_t part = size < piece ? size : piece;
        if (send(fd, data, part, MSG_NOSIGNAL) != (ssize_t)part)
            return;
        data += part;
        size -= part;
    }
}

/* Until the other end has heard all, and has closed. */
static void part(int fd)
{
    char said[4096];

    shutdown(fd, SHUT_WR);
    while (recv(fd, said, sizeof said, 0) > 0)
        ;
    close(fd);
}

static struct control_greeting greeting(enum control_step step)
{
    return (struct control_greeting){.magic = RENDEZVOUS_MAGIC,
                                     .version = RENDEZVOUS_VERSION,
                                     .step = (uint8_t)step,
                                     .count = 4};
}

/* As a process with node 1 does. */
static bool greet(int fd)
{
    struct control_greeting own = greeting(CONTROL_HELLO), other;
    struct loco_key key;

    loco_key_of(&key, (struct loco_secret){secret, sizeof secret - 1});
    own.from = 1;
    if (!tell(fd, &own, sizeof own) || !hear(fd, &other, sizeof other))
        return false;
    const struct loco_claim request =
        loco_claim_of(RENDEZVOUS_PURPOSE + LOCO_OF_REQUEST, 1, 0, 4, &other.nonce, &own.nonce);
    own.step = CONTROL_PROOF;
    own.proof = loco_prove(&key, &request);
    return tell(fd, &own, sizeof own) && hear(fd, &other, sizeof other) &&
           other.step == CONTROL_WELCOME;
}

/* As the process with the first node does. */
static bool welcome(int fd)
{
    struct control_greeting own = greeting(CONTROL_CHALLENGE), hello, proof;
    struct loco_key key;

    loco_key_of(&key, (struct loco_secret){secret, sizeof secret - 1});
    if (!hear(fd, &hello, sizeof hello) || !tell(fd, &own, sizeof own) ||
        !hear(fd, &proof, sizeof proof))
        return false;
    const struct loco_claim answer = loco_claim_of(RENDEZVOUS_PURPOSE + LOCO_OF_ANSWER, 0,
                                                   hello.from, 4, &hello.nonce, &own.nonce);
    own.step = CONTROL_WELCOME;
    own.proof = loco_prove(&key, &answer);
    return tell(fd, &own, sizeof own);
}

/* --- the process with the first node ---------------------------------------------------------- */

/* It gathers for ever; the nodes never all come. For all inputs. */
static void *gather(void *arg)
{
    struct hil_rendezvous *r;
    char why[HIL_RENDEZVOUS_WHY];
    struct hil_rendezvous_config config = config_of(arg);

    for (;;)
        if (hil_rendezvous_meet(&r, &config, why) == 0)
            hil_rendezvous_close(r);
    return NULL;
}

static void begin_to_gather(void)
{
    static pthread_t thread;
    struct hil_scenario *s;

    if (thread)
        return;
    s = load(0);
    if (pthread_create(&thread, NULL, gather, s))
        abort();
}

static void tell_first(bool proven, const uint8_t *data, size_t size, size_t piece)
{
    begin_to_gather();
    const int fd = call();
    if (!proven || greet(fd))
        say(fd, data, size, piece);
    part(fd);
}

/* --- a process without it --------------------------------------------------------------------- */

struct other {
    struct hil_scenario *scenario;
    const uint8_t *data;
    size_t size, piece;
    bool proven;
    int listener;
};

/* It comes once, or again and again until it gives up. */
static void *answer(void *arg)
{
    const struct other *o = arg;
    const int fd = accept4(o->listener, NULL, NULL, SOCK_CLOEXEC);

    if (fd < 0)
        return NULL;
    if (!o->proven || welcome(fd))
        say(fd, o->data, o->size, o->piece);
    close(fd);
    return NULL;
}

static int listen_as_first(void)
{
    const struct sockaddr_in at = place_of(1);
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, (const struct sockaddr *)&at, sizeof at) || listen(fd, 8))
        abort();
    return fd;
}

static void tell_other(bool proven, const uint8_t *data, size_t size, size_t piece)
{
    static struct hil_scenario *scenario;
    static int listener = -1;
    struct hil_machine_clock clock;
    char why[HIL_RENDEZVOUS_WHY];
    struct hil_rendezvous *r;
    pthread_t thread;

    if (listener < 0) {
        scenario = load(1);
        listener = listen_as_first();
    }
    struct other o = {scenario, data, size, piece, proven, listener};
    struct hil_rendezvous_config config = config_of(scenario);
    config.wait_s = proven; /* who is not welcome would come again */
    if (pthread_create(&thread, NULL, answer, &o))
        abort();
    if (hil_rendezvous_meet(&r, &config, why) == 0) {
        hil_rendezvous_clock(r, &clock);
        hil_rendezvous_close(r);
    }
    pthread_join(thread, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const unsigned byte = (unsigned)fuzz_take(&data, &size, 1);
    const unsigned from = byte == UNPROVEN_FIRST ? byte : byte % FROM;
    const size_t piece = 1 + fuzz_take(&data, &size, 1) * 16;

    if (from == STRANGER || from == GUEST)
        tell_first(from == GUEST, data, size, piece);
    else
        tell_other(from == FIRST, data, size, piece);
    return 0;
}
