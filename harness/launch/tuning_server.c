#include "tuning_server.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "../run/clock.h"
#include "../run/tuning_coordinator.h"
#include "tuning_request.h"

enum { SERVER_CLIENTS = 16, SERVER_LINE = 16384, SERVER_QUEUE = 64 };

/* Others may connect as often as they like. They are refused, so many in a look. */
enum { SERVER_ACCEPTS = 256, SERVER_BACKLOG = 128 };

/* How long a line may take to arrive, an answer to be read on, and the nodes to answer beyond the
 * time that they need. */
static const uint64_t PATIENCE_NS = 5000000000;

/* What a client waits for after its request has been read. */
enum awaited { NOTHING, NODES, PACE, READING };

struct server_client {
    int file; /* -1: there is none */
    enum awaited awaits;
    uint64_t since_ns; /* time of its connection, or when it last read of its answer */
    size_t used;
    char line[SERVER_LINE];
    const char *control; /* for PACE */
    char *answer;        /* for READING */
    size_t sent, length; /* of the answer */
};

/* The requested changes, in a queue. */
struct server_queued {
    struct hil_request request;
    int client; /* -1: the client no longer waits for the answer */
};

struct hil_tuning_server {
    const struct hil_run *run;
    char name[sizeof((struct hil_card *)0)->tuning]; /* of its socket */
    int listener;
    struct server_client clients[SERVER_CLIENTS];
    struct server_queued queue[SERVER_QUEUE];
    unsigned first, queued; /* node 0 has the first one, if there is one */
    bool posted;
    uint64_t posted_ns, logged;    /* time of the request, and length of the log at that time */
    uint64_t begun_ns, reached_ns; /* the run's time when it was posted, and at the last look */
    uint64_t needed_ns;            /* of the run's time, for the nodes to answer */
};

static struct hil_state *server_state(const struct hil_tuning_server *s)
{
    return s->run->state;
}

/* --- answers --------------------------------------------------------------------------------- */

static void server_drop(struct server_client *c)
{
    shutdown(c->file, SHUT_RDWR);
    close(c->file);
    c->file = -1;
    free(c->answer);
    c->answer = NULL;
}

/* Sends more of the answer. If the client does not read on, it is dropped. */
static void server_send(struct server_client *c)
{
    const ssize_t sent =
        send(c->file, c->answer + c->sent, c->length - c->sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    const uint64_t now_ns = hil_clock_monotonic();

    if (sent > 0) {
        c->sent += (size_t)sent;
        c->since_ns = now_ns;
    }
    if (c->sent == c->length || (sent < 0 && errno != EAGAIN && errno != EINTR) ||
        now_ns - c->since_ns > PATIENCE_NS)
        server_drop(c);
}

/* Takes ownership of the answer. */
static void server_answer(struct server_client *c, json_t *answer)
{
    c->answer = answer ? json_dumps(answer, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(answer);
    if (!c->answer) {
        server_drop(c);
        return;
    }
    c->length = strlen(c->answer) + 1;
    c->answer[c->length - 1] = '\n'; /* in place of the NUL */
    c->sent = 0;
    c->since_ns = hil_clock_monotonic();
    c->awaits = READING;
    server_send(c);
}

static void server_refuse(struct server_client *c, const char *why)
{
    server_answer(c, json_pack("{s:s}", "refused", why));
}

static json_t *server_change(const struct hil_tuning_server *s, const struct hil_tuned_here *one)
{
    const struct hil_state *state = server_state(s);

    return json_pack("{s:s, s:f, s:s, s:I, s:f}", "name",
                     state->tuning->tunables[one->tunable].name, "value", one->value, "node",
                     state->nodes[one->node].name, "step", (json_int_t)one->step, "time_s",
                     (double)one->time_ns * 1e-9);
}

/* The result of the request from the log, and the first thing that went wrong. */
static json_t *server_outcome(const struct hil_tuning_server *s)
{
    struct hil_tuning *t = server_state(s)->tuning;
    const uint32_t request = (uint32_t)atomic_load(&t->asked);
    const uint64_t end = atomic_load_explicit(&t->logged, memory_order_acquire);
    json_t *applied = json_array(), *answer = json_pack("{s:o}", "applied", applied);
    char why[HIL_REFUSAL_BYTES] = "";

    for (uint64_t i = s->logged; answer && i < end; i++) {
        const struct hil_tuned_here *one = &hil_tuning_log(t)[i % t->log_size];
        const char *node = server_state(s)->nodes[one->node].name;
        if (one->request != request)
            continue; /* of a request that was given up */
        if (one->how == HIL_TUNED)
            json_array_append_new(applied, server_change(s, one));
        else if (!why[0])
            snprintf(why, sizeof why,
                     one->how == HIL_TUNING_REFUSED
                         ? "%s: the model refuses %g together with the other parameters"
                         : "%s: %g did not reach the node %s, which is lost or stands still",
                     t->tunables[one->tunable].name, one->value, node);
    }
    if (why[0])
        json_object_set_new(answer, "refused", json_string(why));
    return answer;
}

static json_t *server_waits(const struct hil_tuning_server *s, const struct hil_request *request)
{
    json_t *list = json_array();

    for (unsigned i = 0; i < request->count; i++)
        json_array_append_new(
            list, json_pack("{s:s, s:f}", "name",
                            server_state(s)->tuning->tunables[request->changes[i].tunable].name,
                            "value", request->changes[i].value));
    return json_pack("{s:o}", "waits", list);
}

static void server_answer_control(const struct hil_tuning_server *s, struct server_client *c)
{
    const struct hil_state *state = server_state(s);

    server_answer(c, json_pack("{s:s, s:b, s:f}", "control", c->control, "paused",
                               (int)atomic_load(&state->pace.hold), "time_s",
                               (double)atomic_load(&state->elapsed_ns) * 1e-9));
}

/* --- requested changes ----------------------------------------------------------------------- */

static struct server_queued *server_first(struct hil_tuning_server *s)
{
    return &s->queue[s->first];
}

static void server_post(struct hil_tuning_server *s)
{
    struct hil_tuning *t = server_state(s)->tuning;
    const uint64_t number = atomic_load(&t->asked) + 1;

    s->logged = atomic_load(&t->logged);
    s->posted_ns = hil_clock_monotonic();
    s->begun_ns = s->reached_ns = atomic_load(&server_state(s)->elapsed_ns);
    s->posted = true;
    t->requests[number % 2] = server_first(s)->request;
    atomic_store_explicit(&t->asked, number, memory_order_release);
}

static void server_end_first(struct hil_tuning_server *s, json_t *answer)
{
    const int client = server_first(s)->client;

    if (client >= 0)
        server_answer(&s->clients[client], answer);
    else
        json_decref(answer);
    s->first = (s->first + 1) % SERVER_QUEUE;
    s->queued--;
    s->posted = false;
}

/* In a paused run, clients do not wait for their changes. */
static void server_let_go(struct hil_tuning_server *s)
{
    for (unsigned i = 0; i < s->queued; i++) {
        struct server_queued *q = &s->queue[(s->first + i) % SERVER_QUEUE];
        if (q->client >= 0)
            server_answer(&s->clients[q->client], server_waits(s, &q->request));
        q->client = -1;
    }
}

static bool server_is_answered(const struct hil_tuning *t)
{
    return atomic_load_explicit(&t->answered, memory_order_acquire) == atomic_load(&t->asked);
}

/* Whether the run gets on to where the nodes will have answered. Virtual time may be slower than
 * the clock. */
static bool server_gets_on(struct hil_tuning_server *s)
{
    const uint64_t before_ns = s->reached_ns;

    s->reached_ns = atomic_load(&server_state(s)->elapsed_ns);
    return s->reached_ns > before_ns && s->reached_ns < s->begun_ns + s->needed_ns;
}

/* Nobody knows whether the change will be made, so it is not refused as a whole. */
static json_t *server_no_answer(void)
{
    return json_pack("{s:[], s:s}", "applied", "refused",
                     "the nodes do not answer; they may make the change later");
}

static void server_turn(struct hil_tuning_server *s)
{
    const struct hil_state *state = server_state(s);

    if (server_gets_on(s) || atomic_load(&state->pace.hold))
        s->posted_ns = hil_clock_monotonic();
    if (s->posted && server_is_answered(state->tuning))
        server_end_first(s, server_outcome(s));
    else if (s->posted && hil_clock_monotonic() - s->posted_ns > PATIENCE_NS + s->needed_ns)
        server_end_first(s, server_no_answer());
    if (!s->posted && s->queued)
        server_post(s);
    if (atomic_load(&state->pace.paused))
        server_let_go(s);
}

static void server_enqueue(struct hil_tuning_server *s, unsigned client,
                           const struct hil_request *request)
{
    if (s->queued == SERVER_QUEUE) {
        server_refuse(&s->clients[client], "too many changes are waiting");
        return;
    }
    s->queue[(s->first + s->queued++) % SERVER_QUEUE] =
        (struct server_queued){*request, (int)client};
    s->clients[client].awaits = NODES;
}

/* --- virtual time's pace ---------------------------------------------------------------------- */

static bool server_pace_is_kept(const struct hil_state *state)
{
    const struct hil_pace *p = &state->pace;

    return !atomic_load(&p->hold) ||
           (atomic_load(&p->paused) && atomic_load(&p->done) >= atomic_load(&p->allowed));
}

/* Adds steps that were requested before and are not done yet. */
static uint64_t server_steps_to(const struct hil_pace *p)
{
    const uint64_t allowed = atomic_load(&p->allowed), done = atomic_load(&p->done);

    return allowed > done ? allowed : done;
}

static void server_control(struct hil_tuning_server *s, struct server_client *c,
                           const struct hil_asked_for *asked)
{
    struct hil_pace *pace = &server_state(s)->pace;

    c->control = hil_asked_name(asked->what);
    c->awaits = PACE;
    if (asked->what == HIL_ASKED_STOP)
        kill(getpid(), SIGINT); /* as if the user had pressed Ctrl-C */
    if (asked->what == HIL_ASKED_PAUSE && !atomic_load(&pace->hold))
        atomic_store(&pace->allowed, 0);
    if (asked->what == HIL_ASKED_STEP)
        atomic_store(&pace->allowed, server_steps_to(pace) + asked->steps);
    if (asked->what != HIL_ASKED_STOP)
        atomic_store(&pace->hold, asked->what != HIL_ASKED_RESUME);
    if (asked->what == HIL_ASKED_STOP || asked->what == HIL_ASKED_RESUME)
        server_answer_control(s, c);
}

/* --- connections ----------------------------------------------------------------------------- */

static bool server_may_ask(int file)
{
    struct ucred peer;
    socklen_t size = sizeof peer;

    return getsockopt(file, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
           (peer.uid == geteuid() || peer.uid == 0);
}

static void server_take(struct server_client *c, int file)
{
    c->file = file;
    c->awaits = NOTHING;
    c->used = 0;
    c->since_ns = hil_clock_monotonic();
    if (!server_may_ask(file))
        server_refuse(c, "the run is another user's");
}

static void server_accept(struct hil_tuning_server *s)
{
    unsigned i = 0;

    for (unsigned turns = 0; turns < SERVER_ACCEPTS; turns++) {
        while (i < SERVER_CLIENTS && s->clients[i].file >= 0)
            i++;
        if (i == SERVER_CLIENTS)
            return;
        const int file = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (file < 0)
            return;
        server_take(&s->clients[i], file); /* it may refuse at once */
    }
}

static void server_read_request(struct hil_tuning_server *s, unsigned i, size_t length)
{
    struct server_client *c = &s->clients[i];
    const struct hil_state *state = server_state(s);
    char refusal[HIL_REFUSAL_BYTES];
    struct hil_asked_for asked;

    if (hil_tuning_request_read(&asked, c->line, length, s->run->scenario, state->tuning, refusal))
        server_refuse(c, refusal);
    else if (asked.what == HIL_ASKED_SET)
        server_enqueue(s, i, &asked.request);
    else
        server_control(s, c, &asked);
}

/* Reads a line, or the available part of it. */
static void server_hear(struct hil_tuning_server *s, unsigned i)
{
    struct server_client *c = &s->clients[i];
    const ssize_t got = recv(c->file, c->line + c->used, sizeof c->line - c->used, MSG_DONTWAIT);

    c->used += got > 0 ? (size_t)got : 0;
    const char *end = memchr(c->line, '\n', c->used);
    if (end)
        server_read_request(s, i, (size_t)(end - c->line));
    else if (c->used == sizeof c->line)
        server_refuse(c, "the request is too long");
    else if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR) ||
             hil_clock_monotonic() - c->since_ns > PATIENCE_NS)
        server_drop(c);
}

static void server_look_at(struct hil_tuning_server *s, unsigned i)
{
    struct server_client *c = &s->clients[i];

    if (c->file < 0)
        return;
    if (c->awaits == NOTHING)
        server_hear(s, i);
    if (c->file >= 0 && c->awaits == PACE && server_pace_is_kept(server_state(s)))
        server_answer_control(s, c);
    if (c->file >= 0 && c->awaits == READING)
        server_send(c);
}

void hil_tuning_server_look(struct hil_tuning_server *s)
{
    if (!s)
        return;
    server_accept(s);
    for (unsigned i = 0; i < SERVER_CLIENTS; i++)
        server_look_at(s, i);
    server_turn(s);
}

/* --- life ------------------------------------------------------------------------------------ */

/* Nobody can take the name first, since nobody can guess it. */
static int server_listen(struct hil_tuning_server *s)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    uint64_t number;

    if (getrandom(&number, sizeof number, 0) != sizeof number)
        return -EIO;
    snprintf(s->name, sizeof s->name, "hiloco-run-%d-%016" PRIx64, (int)getpid(), number);
    strcpy(address.sun_path + 1, s->name);
    const size_t size = offsetof(struct sockaddr_un, sun_path) + 1 + strlen(s->name);
    s->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (s->listener < 0 || bind(s->listener, (const struct sockaddr *)&address, (socklen_t)size) ||
        listen(s->listener, SERVER_BACKLOG))
        return -errno;
    return 0;
}

static uint64_t server_needed_ns(const struct hil_scenario *s)
{
    uint64_t longest = 0;

    for (unsigned i = 0; i < s->system->node_count; i++)
        if (s->system->nodes[i].timing.period_ns > longest)
            longest = s->system->nodes[i].timing.period_ns;
    return 4 * longest + 2 * hil_tuning_coordinator_round_ns(s);
}

int hil_tuning_server_open(struct hil_tuning_server **server, const struct hil_run *run)
{
    struct hil_tuning_server *s;

    *server = NULL;
    if (!run->scenario->tuning)
        return 0;
    s = *server = calloc(1, sizeof *s);
    if (!s)
        return -ENOMEM;
    s->run = run;
    s->needed_ns = server_needed_ns(run->scenario);
    for (unsigned i = 0; i < SERVER_CLIENTS; i++)
        s->clients[i].file = -1;
    return server_listen(s);
}

const char *hil_tuning_server_name(const struct hil_tuning_server *s)
{
    return s ? s->name : "";
}

void hil_tuning_server_close(struct hil_tuning_server **server)
{
    struct hil_tuning_server *s = *server;

    *server = NULL;
    if (!s)
        return;
    for (unsigned i = 0; i < SERVER_CLIENTS; i++)
        if (s->clients[i].file >= 0)
            server_drop(&s->clients[i]);
    if (s->listener >= 0)
        close(s->listener);
    free(s);
}
