#include "round_trip.h"

#include <errno.h>
#include <search.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* How many steps are remembered; how many rounds of a link may wait for an event at a time; and the
 * limits of numbers in a damaged trace. */
enum { BACK = 256, OPEN = 8, LINKS_MAX = 1 << 20, NODES_MAX = 1 << 20 };

/* The time of something in a step. */
struct moment {
    uint64_t step, time_ns;
};

/* An answer that came over a link in one of the asker's steps. */
struct round {
    struct hil_round_trip *trip; /* NULL: no round */
    uint64_t acted_on, sent, step;
    uint64_t found_ns;
    uint64_t begin_ns, computed_ns, back_ns; /* 0: not yet known */
};

/* Links are looked up by channel. */
struct named {
    const char *channel;
    struct link *link;
};

struct link {
    struct named named;
    uint64_t from, to, back;
    struct moment pushed[BACK]; /* by the sender's step */
    struct moment found[BACK];  /* by the sender's step: beginning of the step that found it */
    /* In the current step of the sender and of the receiver; 0: not yet. */
    uint64_t push_ns, found_sent;
    struct round open[OPEN];
    unsigned next; /* index of the next round */
    struct hil_round_trip *trip;
};

struct links {
    struct link **at;
    size_t count;
};

struct node {
    struct links out, in;
    uint64_t first_push_ns; /* first push after an answer was found in the current step; 0: none */
};

struct hil_round_state {
    struct links links; /* by number; NULL: unknown, or there is no opposite link */
    struct node *nodes; /* by number */
    size_t node_count;
    void *by_channel; /* tree of struct named */
};

int hil_rounds_init(struct hil_rounds *rounds)
{
    *rounds = (struct hil_rounds){.state = calloc(1, sizeof *rounds->state)};
    return rounds->state ? 0 : -ENOMEM;
}

/* --- links ------------------------------------------------------------------------------------ */

/* Makes room for `count` elements; new ones are 0. */
static bool reach(void **all, size_t *have, size_t count, size_t size)
{
    if (count <= *have)
        return true;
    char *more = realloc(*all, count * size);
    if (!more)
        return false;
    memset(more + *have * size, 0, (count - *have) * size);
    *all = more;
    *have = count;
    return true;
}

static bool reach_link(struct links *links, size_t count)
{
    return reach((void **)&links->at, &links->count, count, sizeof *links->at);
}

static bool add_link(struct links *links, struct link *link)
{
    if (!reach_link(links, links->count + 1))
        return false;
    links->at[links->count - 1] = link;
    return true;
}

static int by_channel(const void *a, const void *b)
{
    return strcmp(((const struct named *)a)->channel, ((const struct named *)b)->channel);
}

static struct link *link_of(const struct hil_round_state *s, uint64_t number)
{
    return number < s->links.count ? s->links.at[number] : NULL;
}

static void free_link(struct link *link)
{
    if (link)
        free((char *)link->named.channel);
    free(link);
}

static struct link *make_link(const struct hil_round_link *said)
{
    struct link *link = calloc(1, sizeof *link);

    if (!link)
        return NULL;
    link->named = (struct named){strdup(said->channel), link};
    link->from = said->from;
    link->to = said->to;
    link->back = (uint64_t)said->back;
    if (link->named.channel)
        return link;
    free_link(link);
    return NULL;
}

/* A link without an opposite link has no rounds. */
void hil_rounds_link(struct hil_rounds *rounds, const struct hil_round_link *said)
{
    struct hil_round_state *s = rounds->state;
    const uint64_t last = said->from > said->to ? said->from : said->to;

    if (said->back < 0 || said->link >= LINKS_MAX || last >= NODES_MAX || link_of(s, said->link))
        return;
    if (!reach_link(&s->links, said->link + 1) ||
        !reach((void **)&s->nodes, &s->node_count, last + 1, sizeof *s->nodes))
        return;
    struct link *link = make_link(said);
    if (!link)
        return;
    s->links.at[said->link] = link;
    tsearch(&link->named, &s->by_channel, by_channel);
    add_link(&s->nodes[said->from].out, link);
    add_link(&s->nodes[said->to].in, link);
}

int64_t hil_rounds_sender(const struct hil_rounds *rounds, uint64_t number)
{
    const struct link *link = link_of(rounds->state, number);

    return link ? (int64_t)link->from : -1;
}

static void keep(void *named)
{
    (void)named;
}

void hil_rounds_fini(struct hil_rounds *rounds)
{
    struct hil_round_state *s = rounds->state;

    for (unsigned i = 0; i < rounds->trip_count; i++)
        free(rounds->trips[i]);
    free(rounds->trips);
    if (!s)
        return;
    tdestroy(s->by_channel, keep);
    for (size_t i = 0; i < s->links.count; i++)
        free_link(s->links.at[i]);
    for (size_t i = 0; i < s->node_count; i++) {
        free(s->nodes[i].out.at);
        free(s->nodes[i].in.at);
    }
    free(s->nodes);
    free(s->links.at);
    free(s);
    *rounds = (struct hil_rounds){0};
}

/* --- trips ------------------------------------------------------------------------------------ */

static struct hil_round_trip *trip_between(struct hil_rounds *rounds, unsigned asker,
                                           unsigned answerer)
{
    for (unsigned i = 0; i < rounds->trip_count; i++)
        if (rounds->trips[i]->asker == asker && rounds->trips[i]->answerer == answerer)
            return rounds->trips[i];
    void *trips = realloc(rounds->trips, (rounds->trip_count + 1) * sizeof *rounds->trips);
    if (!trips)
        return NULL;
    rounds->trips = trips;
    struct hil_round_trip *trip = calloc(1, sizeof *trip);
    if (!trip)
        return NULL;
    trip->asker = asker;
    trip->answerer = answerer;
    return rounds->trips[rounds->trip_count++] = trip;
}

/* --- remembered times ------------------------------------------------------------------------- */

static void remember(struct moment moments[BACK], uint64_t step, uint64_t time_ns)
{
    moments[step % BACK] = (struct moment){step, time_ns};
}

/* 0: unknown, or no longer remembered. */
static uint64_t time_of(const struct moment moments[BACK], uint64_t step)
{
    return moments[step % BACK].step == step ? moments[step % BACK].time_ns : 0;
}

void hil_rounds_push(struct hil_rounds *rounds, uint64_t node, const char *channel,
                     uint64_t time_ns)
{
    struct hil_round_state *s = rounds->state;
    struct named *const *found =
        tfind(&(struct named){.channel = channel}, &s->by_channel, by_channel);

    if (!found || (*found)->link->from != node)
        return;
    (*found)->link->push_ns = time_ns;
    if (!s->nodes[node].first_push_ns)
        s->nodes[node].first_push_ns = time_ns;
}

static void open_round(struct hil_rounds *rounds, struct link *link,
                       const struct hil_round_input *i)
{
    struct round *round = &link->open[link->next++ % OPEN];

    if (!link->trip)
        link->trip = trip_between(rounds, i->asker, i->answerer);
    if (!link->trip)
        return;
    hil_histogram_add(&link->trip->whole, i->round_trip_ns);
    if (round->trip)
        round->trip->incomplete++;
    *round = (struct round){
        .trip = link->trip,
        .acted_on = i->acted_on,
        .sent = i->sent,
        .step = i->step,
        .found_ns = i->time_ns,
    };
}

void hil_rounds_input(struct hil_rounds *rounds, const struct hil_round_input *i)
{
    struct hil_round_state *s = rounds->state;
    struct link *link = link_of(s, i->link);

    if (!link)
        return;
    link->found_sent = i->sent;
    s->nodes[link->to].first_push_ns = 0;
    if (i->round_trip_ns)
        open_round(rounds, link, i);
}

/* --- the parts -------------------------------------------------------------------------------- */

/* The time of an event is that of a store some ns earlier, so two events may seem to be in reverse
 * order. */
static uint64_t between(uint64_t from, uint64_t to)
{
    return to > from ? to - from : 0;
}

/* Counts the round if all its events have come. The answerer's step may end after the asker's step
 * that found its answer. */
static void close_round(struct round *r, const struct link *in, const struct link *out)
{
    const uint64_t pushed = time_of(out->pushed, r->acted_on),
                   found = time_of(out->found, r->acted_on),
                   answered = time_of(in->pushed, r->sent);
    struct hil_histogram *parts = r->trip->parts;

    if (!r->begin_ns || !r->back_ns || !pushed || !found || !answered)
        return;
    hil_histogram_add(&parts[HIL_ANSWERER_WAIT], between(pushed, found));
    hil_histogram_add(&parts[HIL_ANSWERER_PUSH], between(found, answered));
    hil_histogram_add(&parts[HIL_ASKER_WAIT], between(answered, r->begin_ns));
    hil_histogram_add(&parts[HIL_ASKER_STEP], between(r->begin_ns, r->computed_ns));
    hil_histogram_add(&parts[HIL_PUSH_BACK], between(r->computed_ns, r->back_ns));
    r->trip->complete++;
    r->trip = NULL;
}

/* One of the asker's steps is over: the one that found the answer, or a later one. The asker has
 * pushed its next message on `out` since then, or will do so in the next step. */
static void follow_round(struct round *r, const struct node *asker, const struct link *out,
                         const struct moment *begin, uint64_t end_ns)
{
    if (begin->step == r->step) {
        const bool in_same = out->push_ns > r->found_ns;
        r->begin_ns = begin->time_ns;
        r->computed_ns = in_same ? asker->first_push_ns : end_ns;
        r->back_ns = in_same ? out->push_ns : 0;
    } else if (!r->back_ns) {
        r->back_ns = out->push_ns;
    }
}

static void follow_rounds(const struct hil_round_state *s, const struct node *asker,
                          struct link *in, const struct moment *begin, uint64_t end_ns)
{
    const struct link *out = link_of(s, in->back);

    for (unsigned i = 0; out && i < OPEN; i++) {
        struct round *round = &in->open[i];
        if (!round->trip)
            continue;
        follow_round(round, asker, out, begin, end_ns);
        close_round(round, in, out);
    }
}

void hil_rounds_step(struct hil_rounds *rounds, uint64_t number, uint64_t step, uint64_t begin_ns,
                     uint64_t end_ns)
{
    struct hil_round_state *s = rounds->state;
    struct node *node = number < s->node_count ? &s->nodes[number] : NULL;

    if (!node)
        return;
    for (size_t i = 0; i < node->out.count; i++)
        if (node->out.at[i]->push_ns)
            remember(node->out.at[i]->pushed, step, node->out.at[i]->push_ns);
    for (size_t i = 0; i < node->in.count; i++) {
        struct link *in = node->in.at[i];
        if (in->found_sent)
            remember(in->found, in->found_sent, begin_ns);
        in->found_sent = 0;
        follow_rounds(s, node, in, &(struct moment){step, begin_ns}, end_ns);
    }
    for (size_t i = 0; i < node->out.count; i++)
        node->out.at[i]->push_ns = 0;
    node->first_push_ns = 0;
}

/* A round whose asker has pushed nothing since is not incomplete. */
void hil_rounds_end(struct hil_rounds *rounds)
{
    const struct hil_round_state *s = rounds->state;

    for (size_t i = 0; i < s->links.count; i++)
        for (unsigned k = 0; s->links.at[i] && k < OPEN; k++) {
            const struct round *round = &s->links.at[i]->open[k];
            if (round->trip && round->back_ns)
                round->trip->incomplete++;
        }
}
