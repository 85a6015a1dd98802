#include "sim.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "context.h"
#include "fiber.h"
#include "timeline.h"
#include "words.h"

enum {
    STACK_SIZE = 128 << 10,
    /* A wait may be for another fiber of its own node, which no delivery announces. */
    LOCAL_POLL_NS = 50,
    /* Control messages are setup; their latency has no model. */
    CONTROL_LATENCY_NS = 1000,
};

/* What a timeline entry is; the first member of each. */
enum kind { FIBER, ALARM, OPERATION, MESSAGE };

/* The end of a fiber's wait. */
struct alarm {
    enum kind kind;
    struct sim_fiber *fiber;
};

struct sim_fiber {
    enum kind kind;
    struct sim *sim;
    struct fiber *fiber;
    void (*body)(void *arg);
    void *arg;
    void **context; /* its table of thread contexts */
    struct sim_fiber *next;

    /* While it waits in relax(): */
    struct sim_node *waiting; /* at this node, NULL: it does not */
    uint64_t wake_at;         /* latest */
    uint64_t alarm_at;        /* when its alarm rings; UINT64_MAX: it is not set */
    struct alarm alarm;
};

struct sim_arena {
    unsigned char *base;
    size_t size;
};

struct sim_node {
    struct loco_node base;
    struct sim *sim;
    bool closed;
    struct sim_arena *arenas;
    uint32_t arena_count;
    struct sim_link *links;
    unsigned waiting; /* fibers in relax() */
};

struct sim_link {
    struct loco_link base;
    struct sim_node *node, *peer;
    struct loco_sim_link there, back;
    uint64_t random;
    uint64_t last_arrival, last_finish;
    uint64_t flushes;                  /* tickets given */
    struct operation *oldest, *newest; /* in flight, in the order of posting */
    struct sim_link *next;             /* of the node */
};

enum verb { WRITE, READ, FETCH_ADD, COMPARE_SWAP, FLUSH };

struct operation {
    enum kind kind;
    enum verb verb;
    struct sim_link *link;
    uint64_t number;   /* or a flush's ticket */
    uint64_t arrives;  /* at the peer */
    uint64_t finishes; /* back here */
    bool arrived, finished;
    unsigned char *target; /* in the peer's memory */
    void *result;          /* of a read or atomic, here */
    size_t size;
    uint64_t operand, expected;
    struct operation *next;
    size_t room;
    unsigned char data[]; /* a write's bytes, a read's result */
};

struct message {
    enum kind kind;
    struct sim_node *from, *to;
    size_t size;
    unsigned char data[];
};

struct sim {
    struct loco_fabric base;
    struct loco_sim_config config;
    uint64_t now;
    struct timeline timeline;
    struct sim_node **nodes;
    uint32_t node_count;
    uint64_t link_count;
    struct operation *spare; /* small ones */

    struct sim_fiber *fibers; /* every one there ever was */
    unsigned alive;
    struct sim_fiber main; /* loco_sim_run's caller */
    struct sim_fiber *current;
    int result;
};

static struct sim *sim_of(const struct loco_fabric *fabric)
{
    return (struct sim *)fabric;
}

/* splitmix64: small, and good for any seed. */
static uint64_t draw(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static uint64_t travel_time(struct sim_link *l, const struct loco_sim_link *way)
{
    uint64_t jitter = way->jitter_ns ? draw(&l->random) % (way->jitter_ns + 1) : 0;

    return way->latency_ns + jitter;
}

/* --- fibers ------------------------------------------------------------------------- */

/* Lets the node's waiting fibers look again: something of theirs may have changed. */
static void wake(struct sim_node *node)
{
    struct sim *s = node->sim;

    for (struct sim_fiber *f = s->fibers; node->waiting && f; f = f->next) {
        if (f->waiting != node)
            continue;
        f->waiting = NULL;
        node->waiting--;
        timeline_add(&s->timeline, s->now, LOCO_SIM_WAITS, f);
    }
}

static void set_alarm(struct sim_fiber *f)
{
    if (f->wake_at >= f->alarm_at)
        return; /* it rings before, and is set again then */
    f->alarm_at = f->wake_at;
    timeline_add(&f->sim->timeline, f->wake_at, LOCO_SIM_WAITS, &f->alarm);
}

/* An alarm rang: whether its fiber goes on. It may be of a wait that has ended. */
static bool ends_wait(struct sim_fiber *f)
{
    if (f->alarm_at != f->sim->now)
        return false;
    f->alarm_at = UINT64_MAX;
    if (!f->waiting)
        return false;
    if (f->wake_at > f->sim->now) {
        set_alarm(f);
        return false;
    }
    f->waiting->waiting--;
    f->waiting = NULL;
    return true;
}

/* The fiber that an entry lets go on, or NULL. */
static struct sim_fiber *resumed(const void *what)
{
    if (*(const enum kind *)what == FIBER)
        return (struct sim_fiber *)what;
    if (*(const enum kind *)what != ALARM)
        return NULL;
    struct sim_fiber *f = ((const struct alarm *)what)->fiber;
    return ends_wait(f) ? f : NULL;
}

static void happen(struct sim *s, void *what);

static void switch_to(struct sim_fiber *from, struct sim_fiber *to)
{
    if (from == to)
        return;
    to->sim->current = to;
    loco_context = to->context;
    fiber_switch(from->fiber, to->fiber);
}

/* Goes on with whatever is next, beginning with `entry`; returns when `self` is. */
static void carry_on(struct sim_fiber *self, struct timeline_entry entry, bool any)
{
    struct sim *s = self->sim;

    for (; any; any = timeline_take(&s->timeline, &entry)) {
        s->now = entry.time;
        struct sim_fiber *next = resumed(entry.what);
        if (next) {
            switch_to(self, next);
            return;
        }
        happen(s, entry.what);
    }
    s->result = -EDEADLK;
    switch_to(self, &s->main);
}

static void pause_fiber(struct sim_fiber *self)
{
    struct timeline_entry entry = {0};
    bool any = timeline_take(&self->sim->timeline, &entry);

    carry_on(self, entry, any);
}

static void fiber_body(void *arg)
{
    struct sim_fiber *f = arg;

    f->body(f->arg);
    if (--f->sim->alive == 0)
        switch_to(f, &f->sim->main);
    pause_fiber(f); /* for good: nothing will name this fiber again */
}

int loco_sim_spawn(struct loco_fabric *fabric, void (*body)(void *arg), void *arg)
{
    struct sim *s = sim_of(fabric);
    struct sim_fiber *f = calloc(1, sizeof *f);

    if (!f)
        return -ENOMEM;
    *f = (struct sim_fiber){
        .kind = FIBER, .sim = s, .body = body, .arg = arg, .alarm_at = UINT64_MAX};
    f->alarm = (struct alarm){.kind = ALARM, .fiber = f};
    f->context = calloc(LOCO_MANAGERS_MAX, sizeof(void *));
    f->fiber = f->context ? fiber_new(fiber_body, f, STACK_SIZE) : NULL;
    if (!f->fiber || timeline_add(&s->timeline, s->now, LOCO_SIM_FIRST, f)) {
        fiber_free(f->fiber);
        free(f->context);
        free(f);
        return -ENOMEM;
    }
    f->next = s->fibers;
    s->fibers = f;
    s->alive++;
    return 0;
}

int loco_sim_run(struct loco_fabric *fabric)
{
    struct sim *s = sim_of(fabric);

    s->result = 0;
    s->main.context = loco_context;
    s->current = &s->main;
    if (s->alive)
        pause_fiber(&s->main);
    return s->result;
}

uint64_t loco_sim_now(const struct loco_fabric *fabric)
{
    return sim_of(fabric)->now;
}

void loco_sim_sleep(struct loco_fabric *fabric, uint64_t time, unsigned class)
{
    struct sim *s = sim_of(fabric);
    struct timeline_entry next;

    timeline_exchange(&s->timeline, time > s->now ? time : s->now, class, s->current, &next);
    carry_on(s->current, next, true);
}

/* When the first completion on one of the node's links is due. */
static uint64_t next_completion(const struct sim_node *node)
{
    uint64_t first = UINT64_MAX;

    for (const struct sim_link *l = node->links; l; l = l->next)
        if (l->oldest && l->oldest->finishes < first)
            first = l->oldest->finishes;
    return first > node->sim->now ? first : node->sim->now + 1;
}

static void sim_relax(struct loco_node *base, struct loco_wait *wait)
{
    struct sim_node *node = (struct sim_node *)base;
    struct sim *s = node->sim;
    struct sim_fiber *self = s->current;
    uint64_t completion = next_completion(node);

    wait->turns++;
    self->wake_at = wait->until;
    if (completion < self->wake_at)
        self->wake_at = completion;
    if (s->alive > s->node_count && s->now + LOCAL_POLL_NS < self->wake_at)
        self->wake_at = s->now + LOCAL_POLL_NS;
    set_alarm(self);
    self->waiting = node;
    node->waiting++;
    pause_fiber(self);
}

/* --- operations ---------------------------------------------------------------------- */

enum { SMALL = LOCO_INLINE_MAX };

static struct operation *operation_new(struct sim *s, size_t size)
{
    struct operation *o = s->spare;

    if (size <= SMALL && o) {
        s->spare = o->next;
        return o;
    }
    size_t room = size > SMALL ? size : SMALL;
    o = malloc(sizeof *o + room);
    if (o)
        o->room = room;
    return o;
}

static void operation_free(struct sim *s, struct operation *o)
{
    if (o->room > SMALL) {
        free(o);
        return;
    }
    o->next = s->spare;
    s->spare = o;
}

/* A write's completion needs no event: it is done when its time is over. */
static bool is_finished(const struct operation *o, uint64_t now)
{
    return o->finished || (o->verb == WRITE && o->arrived && o->finishes <= now);
}

static void sim_poll(struct loco_link *base)
{
    struct sim_link *l = (struct sim_link *)base;
    struct sim *s = l->node->sim;

    while (l->oldest && is_finished(l->oldest, s->now)) {
        struct operation *o = l->oldest;
        _Atomic uint64_t *done = o->verb == FLUSH ? &base->flushed : &base->done;
        atomic_store_explicit(done, o->number, memory_order_release);
        l->oldest = o->next;
        operation_free(s, o);
    }
}

static void execute(struct operation *o)
{
    uint64_t *word = (uint64_t *)o->target;

    switch (o->verb) {
    case WRITE:
        loco_copy(o->target, o->data, o->size);
        break;
    case READ:
        loco_copy(o->data, o->target, o->size);
        break;
    case FETCH_ADD:
        *(uint64_t *)o->data = __atomic_fetch_add(word, o->operand, __ATOMIC_SEQ_CST);
        break;
    case COMPARE_SWAP:
        *(uint64_t *)o->data = o->expected;
        __atomic_compare_exchange_n(word, (uint64_t *)o->data, o->operand, false, __ATOMIC_SEQ_CST,
                                    __ATOMIC_SEQ_CST);
        break;
    case FLUSH:
        break;
    }
}

static void finish(struct operation *o)
{
    if (o->result)
        loco_copy(o->result, o->data, o->size);
    o->finished = true;
    wake(o->link->node);
}

/* An operation's entry came up: first at the peer, then (but for writes) back here. */
static void operation_happens(struct sim *s, struct operation *o)
{
    if (o->arrived) {
        finish(o);
        return;
    }
    execute(o);
    o->arrived = true;
    if (o->verb != WRITE)
        timeline_add(&s->timeline, o->finishes, LOCO_SIM_NETWORK, o);
    if (o->verb != READ && o->verb != FLUSH)
        wake(o->link->peer);
}

static unsigned char *target_of(const struct sim_link *l, struct loco_remote at, size_t size)
{
    if (at.arena >= l->peer->arena_count)
        return NULL;
    const struct sim_arena *a = &l->peer->arenas[at.arena];
    return at.offset <= a->size && size <= a->size - at.offset ? a->base + at.offset : NULL;
}

static void stamp_times(struct sim_link *l, struct operation *o)
{
    uint64_t now = l->node->sim->now;
    uint64_t arrival = now + travel_time(l, &l->there);

    o->arrives = arrival > l->last_arrival ? arrival : l->last_arrival;
    l->last_arrival = o->arrives;
    uint64_t finished = o->arrives + travel_time(l, &l->back);
    o->finishes = finished > l->last_finish ? finished : l->last_finish;
    l->last_finish = o->finishes;
}

/* Sends an operation off. */
static int post(struct sim_link *l, struct operation *o)
{
    struct sim *s = l->node->sim;

    o->kind = OPERATION;
    o->link = l;
    o->arrived = o->finished = false;
    o->next = NULL;
    stamp_times(l, o);
    if (timeline_add(&s->timeline, o->arrives, LOCO_SIM_NETWORK, o)) {
        operation_free(s, o);
        return -ENOMEM;
    }
    if (l->oldest)
        l->newest->next = o;
    else
        l->oldest = o;
    l->newest = o;
    return LOCO_POSTED;
}

/* A post that goes nowhere; what is before it on the link is not held up. */
static int fail(struct sim_link *l, int error)
{
    uint64_t last = l->newest && l->oldest ? l->newest->number : atomic_load(&l->base.done);

    atomic_store(&l->base.posted, last);
    return error;
}

static int submit(struct sim_link *l, enum verb verb, struct loco_remote at, size_t size,
                  const struct operation *like, const void *bytes)
{
    unsigned char *target = target_of(l, at, size);

    sim_poll(&l->base);
    if (!target)
        return fail(l, -ERANGE);
    if (l->peer->closed)
        return fail(l, -ECONNRESET);
    struct operation *o = operation_new(l->node->sim, size);
    if (!o)
        return fail(l, -ENOMEM);
    o->verb = verb;
    o->number = atomic_load_explicit(&l->base.posted, memory_order_relaxed);
    o->target = target;
    o->size = size;
    o->result = like ? like->result : NULL;
    o->operand = like ? like->operand : 0;
    o->expected = like ? like->expected : 0;
    if (bytes)
        loco_copy(o->data, bytes, size);
    int rc = post(l, o);
    return rc < 0 ? fail(l, rc) : rc;
}

/* On a link without latency a write is in place before the post returns. */
static bool is_immediate(const struct sim_link *l)
{
    return !l->oldest &&
           !(l->there.latency_ns | l->there.jitter_ns | l->back.latency_ns | l->back.jitter_ns);
}

static int sim_write(struct loco_link *base, struct loco_remote to, const void *from, size_t size)
{
    struct sim_link *l = (struct sim_link *)base;
    unsigned char *target;

    if (!is_immediate(l) || l->peer->closed || !(target = target_of(l, to, size)))
        return submit(l, WRITE, to, size, NULL, from);
    loco_copy(target, from, size);
    if (l->peer->waiting)
        wake(l->peer);
    atomic_store_explicit(&base->done, atomic_load_explicit(&base->posted, memory_order_relaxed),
                          memory_order_release);
    return LOCO_DONE;
}

static int sim_read(struct loco_link *base, struct loco_remote from, void *to, size_t size)
{
    const struct operation like = {.result = to};

    return submit((struct sim_link *)base, READ, from, size, &like, NULL);
}

static int sim_fetch_add(struct loco_link *base, struct loco_remote at, uint64_t add, uint64_t *old)
{
    const struct operation like = {.result = old, .operand = add};

    return submit((struct sim_link *)base, FETCH_ADD, at, sizeof *old, &like, NULL);
}

static int sim_compare_swap(struct loco_link *base, struct loco_remote at, uint64_t expected,
                            uint64_t desired, uint64_t *old)
{
    const struct operation like = {.result = old, .operand = desired, .expected = expected};

    return submit((struct sim_link *)base, COMPARE_SWAP, at, sizeof *old, &like, NULL);
}

static uint64_t sim_flush(struct loco_link *base)
{
    struct sim_link *l = (struct sim_link *)base;
    struct operation *o = operation_new(l->node->sim, 0);

    if (!o)
        return l->flushes; /* the next fence asks again */
    o->verb = FLUSH;
    o->number = ++l->flushes;
    o->size = 0;
    o->result = NULL;
    post(l, o);
    return l->flushes;
}

/* --- nodes, links, arenas, messages ---------------------------------------------------- */

static void introduce(struct sim_node *a, struct sim_node *b)
{
    a->base.events.peer_up(a->base.events.arg, b->base.id);
    b->base.events.peer_up(b->base.events.arg, a->base.id);
}

static int sim_node_open(struct loco_fabric *fabric, uint32_t id, uint32_t count,
                         const struct loco_events *events, struct loco_node **node)
{
    struct sim *s = sim_of(fabric);

    if (!s->nodes) {
        s->nodes = calloc(count, sizeof(struct sim_node *));
        s->node_count = count;
    }
    if (!s->nodes)
        return -ENOMEM;
    if (count != s->node_count)
        return -EINVAL;
    if (s->nodes[id])
        return -EADDRINUSE;

    struct sim_node *n = calloc(1, sizeof *n);
    if (!n)
        return -ENOMEM;
    n->base = (struct loco_node){.fabric = fabric, .id = id, .count = count, .events = *events};
    n->sim = s;
    s->nodes[id] = n;
    *node = &n->base;
    for (uint32_t i = 0; i < count; i++)
        if (i != id && s->nodes[i] && !s->nodes[i]->closed)
            introduce(n, s->nodes[i]);
    return 0;
}

/* The node's memory stays until the sim closes: deliveries to it may still be under way. */
static void sim_node_close(struct loco_node *base)
{
    struct sim_node *n = (struct sim_node *)base;
    struct sim *s = n->sim;

    n->closed = true;
    for (uint32_t i = 0; i < s->node_count; i++) {
        struct sim_node *peer = s->nodes[i];
        if (!peer || peer->closed)
            continue;
        peer->base.events.peer_lost(peer->base.events.arg, n->base.id, true);
        wake(peer);
    }
}

static int sim_send(struct loco_node *base, uint32_t peer, const void *message, size_t size)
{
    struct sim_node *n = (struct sim_node *)base;
    struct sim *s = n->sim;
    struct message *m = malloc(sizeof *m + size);

    if (!m)
        return -ENOMEM;
    *m = (struct message){.kind = MESSAGE, .from = n, .to = s->nodes[peer], .size = size};
    memcpy(m->data, message, size);
    int rc = timeline_add(&s->timeline, s->now + CONTROL_LATENCY_NS, LOCO_SIM_NETWORK, m);
    if (rc)
        free(m);
    return rc;
}

static void message_happens(struct message *m)
{
    struct loco_events *events = &m->to->base.events;

    if (!m->to->closed && !m->from->closed) {
        events->message(events->arg, m->from->base.id, m->data, m->size);
        wake(m->to);
    }
    free(m);
}

static int sim_arena_map(struct loco_node *base, size_t size, struct loco_arena *arena)
{
    struct sim_node *n = (struct sim_node *)base;
    struct sim_arena *more = realloc(n->arenas, (n->arena_count + 1) * sizeof *more);

    if (!more)
        return -ENOMEM;
    n->arenas = more;
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return -ENOMEM;
    n->arenas[n->arena_count] = (struct sim_arena){memory, size};
    *arena = (struct loco_arena){.base = memory, .size = size, .number = n->arena_count++};
    return 0;
}

static struct loco_sim_link link_between(const struct sim *s, uint32_t from, uint32_t to)
{
    return s->config.link ? s->config.link(s->config.arg, from, to) : (struct loco_sim_link){0};
}

static int sim_link_open(struct loco_node *base, uint32_t peer, struct loco_link **link)
{
    struct sim_node *n = (struct sim_node *)base;
    struct sim *s = n->sim;
    struct sim_link *l = calloc(1, sizeof *l);

    if (!l)
        return -ENOMEM;
    l->base.node = base;
    l->base.peer = peer;
    l->node = n;
    l->peer = s->nodes[peer];
    l->there = link_between(s, base->id, peer);
    l->back = link_between(s, peer, base->id);
    l->random = s->config.seed * 0x9e3779b97f4a7c15u + ++s->link_count;
    l->next = n->links;
    n->links = l;
    *link = &l->base;
    return 0;
}

/* Operations in flight outlive their link's owner; the link is freed with the sim. */
static void sim_link_close(struct loco_link *link)
{
    (void)link;
}

static uint64_t sim_clock(struct loco_node *node)
{
    return ((struct sim_node *)node)->sim->now;
}

static void happen(struct sim *s, void *what)
{
    enum kind kind = *(enum kind *)what;

    if (kind == OPERATION)
        operation_happens(s, what);
    else if (kind == MESSAGE)
        message_happens(what);
}

static const struct loco_fabric_ops sim_ops = {
    .name = "sim",
    .node_open = sim_node_open,
    .node_close = sim_node_close,
    .send = sim_send,
    .arena_map = sim_arena_map,
    .link_open = sim_link_open,
    .link_close = sim_link_close,
    .write = sim_write,
    .read = sim_read,
    .fetch_add = sim_fetch_add,
    .compare_swap = sim_compare_swap,
    .flush = sim_flush,
    .poll = sim_poll,
    .clock = sim_clock,
    .relax = sim_relax,
};

struct loco_fabric *loco_sim_open(const struct loco_sim_config *config)
{
    struct sim *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->base = (struct loco_fabric){.ops = &sim_ops, .capabilities = LOCO_SHARED_CLOCK};
    s->config = *config;
    s->main = (struct sim_fiber){.kind = FIBER, .sim = s, .fiber = fiber_current()};
    if (!s->main.fiber) {
        free(s);
        return NULL;
    }
    return &s->base;
}

static void free_node(struct sim *s, struct sim_node *n)
{
    while (n->links) {
        struct sim_link *l = n->links;
        n->links = l->next;
        while (l->oldest) {
            struct operation *o = l->oldest;
            l->oldest = o->next;
            operation_free(s, o);
        }
        free(l);
    }
    for (uint32_t i = 0; i < n->arena_count; i++)
        munmap(n->arenas[i].base, n->arenas[i].size);
    free(n->arenas);
    free(n);
}

void loco_sim_close(struct loco_fabric *fabric)
{
    struct sim *s = sim_of(fabric);
    struct timeline_entry left;

    if (!s)
        return;
    while (timeline_take(&s->timeline, &left))
        if (*(enum kind *)left.what == MESSAGE)
            free(left.what);
    for (uint32_t i = 0; i < s->node_count; i++)
        if (s->nodes[i])
            free_node(s, s->nodes[i]);
    free(s->nodes);
    while (s->spare) {
        struct operation *o = s->spare;
        s->spare = o->next;
        free(o);
    }
    while (s->fibers) {
        struct sim_fiber *f = s->fibers;
        s->fibers = f->next;
        fiber_free(f->fiber);
        free(f->context);
        free(f);
    }
    fiber_free(s->main.fiber);
    timeline_free(&s->timeline);
    free(s);
}
