#include "round_trip.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* How many steps are remembered, as many as a loop itself does; how many rounds of a link may wait
 * for an event at a time; and the limits of numbers in a damaged trace. */
enum { BACK = 1024, OPEN = 8, LINKS_MAX = 1 << 20, NODES_MAX = 1 << 20 };

/* The time of something in a step. Steps are known by their lower 32 bits. */
struct moment {
    uint32_t step;
    uint64_t time_ns; /* 0: none */
};

/* An answer that came over a link in one of the asker's steps. */
struct round {
    struct hil_round_trip *trip; /* NULL: no round */
    uint32_t acted_on, sent;
    uint64_t begin_ns, computed_ns, back_ns; /* 0: not yet known */
};

struct link {
    uint64_t from, to, back;
    bool late;
    struct moment *found; /* by the sender's step: beginning of the step that found it */
    struct hil_round_input newer;
    bool is_newer;     /* `newer` was found in the step that comes next */
    uint32_t acted_on; /* in the newest message before it */
    struct round open[OPEN];
    unsigned next; /* index of the next round */
    struct hil_round_trip *trip;
};

struct links {
    struct link **at;
    size_t count;
};

/* By step: when it began, by two clocks, and when it ended. */
struct node {
    struct links in;
    struct moment *began, *own, *ended;
};

struct hil_round_state {
    struct links links; /* by number; NULL: unknown, or there is no opposite link */
    struct node *nodes; /* by number */
    size_t node_count;
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

static struct link *link_of(const struct hil_round_state *s, uint64_t number)
{
    return number < s->links.count ? s->links.at[number] : NULL;
}

static void free_link(struct link *link)
{
    if (link)
        free(link->found);
    free(link);
}

static struct link *make_link(const struct hil_round_link *said)
{
    struct link *link = calloc(1, sizeof *link);

    if (!link)
        return NULL;
    *link = (struct link){
        .from = said->from, .to = said->to, .back = (uint64_t)said->back, .late = said->late};
    link->found = calloc(BACK, sizeof *link->found);
    if (link->found)
        return link;
    free_link(link);
    return NULL;
}

static bool make_moments(struct node *node)
{
    if (node->began)
        return true;
    node->began = calloc(3 * (size_t)BACK, sizeof *node->began);
    if (!node->began)
        return false;
    node->own = node->began + BACK;
    node->ended = node->own + BACK;
    return true;
}

/* A link without an opposite link has no rounds. */
void hil_rounds_link(struct hil_rounds *rounds, const struct hil_round_link *said)
{
    struct hil_round_state *s = rounds->state;
    const uint64_t last = said->from > said->to ? said->from : said->to;

    if (said->back < 0 || said->link >= LINKS_MAX || last >= NODES_MAX || link_of(s, said->link))
        return;
    if (!reach_link(&s->links, said->link + 1) ||
        !reach((void **)&s->nodes, &s->node_count, last + 1, sizeof *s->nodes) ||
        !make_moments(&s->nodes[said->from]) || !make_moments(&s->nodes[said->to]))
        return;
    struct link *link = make_link(said);
    if (!link)
        return;
    s->links.at[said->link] = link;
    add_link(&s->nodes[said->to].in, link);
}

int64_t hil_rounds_sender(const struct hil_rounds *rounds, uint64_t number)
{
    const struct link *link = link_of(rounds->state, number);

    return link ? (int64_t)link->from : -1;
}

int64_t hil_rounds_receiver(const struct hil_rounds *rounds, uint64_t number)
{
    const struct link *link = link_of(rounds->state, number);

    return link ? (int64_t)link->to : -1;
}

void hil_rounds_fini(struct hil_rounds *rounds)
{
    struct hil_round_state *s = rounds->state;

    for (unsigned i = 0; i < rounds->trip_count; i++)
        free(rounds->trips[i]);
    free(rounds->trips);
    if (!s)
        return;
    for (size_t i = 0; i < s->links.count; i++)
        free_link(s->links.at[i]);
    for (size_t i = 0; i < s->node_count; i++) {
        free(s->nodes[i].in.at);
        free(s->nodes[i].began);
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
    hil_course_init(&trip->course);
    return rounds->trips[rounds->trip_count++] = trip;
}

/* --- remembered times ------------------------------------------------------------------------- */

static void remember(struct moment *moments, uint64_t step, uint64_t time_ns)
{
    moments[step % BACK] = (struct moment){(uint32_t)step, time_ns};
}

/* 0: unknown, or no longer remembered. */
static uint64_t time_of(const struct moment *moments, uint32_t step)
{
    return moments[step % BACK].step == step ? moments[step % BACK].time_ns : 0;
}

/* When the link's message of this step was pushed. */
static uint64_t pushed_at(const struct hil_round_state *s, const struct link *link, uint32_t step)
{
    const struct node *from = &s->nodes[link->from];

    return time_of(link->late ? from->ended : from->began, step);
}

void hil_rounds_input(struct hil_rounds *rounds, const struct hil_round_input *input)
{
    struct link *link = link_of(rounds->state, input->link);

    if (!link)
        return;
    link->newer = *input;
    link->is_newer = true;
}

/* --- rounds ----------------------------------------------------------------------------------- */

/* The time of an event is that of a store some ns earlier, so two events may seem to be in reverse
 * order. */
static uint64_t between(uint64_t from, uint64_t to)
{
    return to > from ? to - from : 0;
}

/* Of a pair of nodes, the one with the lower number asks. */
static void open_round(struct hil_rounds *rounds, struct link *in, const struct node *asker,
                       const struct hil_round_step *step)
{
    const struct hil_round_input *i = &in->newer;
    const uint64_t asked = time_of(asker->own, i->acted_on);
    struct round *round = &in->open[in->next++ % OPEN];

    if (!in->trip)
        in->trip = trip_between(rounds, i->asker, i->answerer);
    if (!in->trip)
        return;
    if (asked) {
        const uint64_t took_ns = between(asked, step->own_ns);
        hil_histogram_add(&in->trip->whole, took_ns);
        hil_course_add(&in->trip->course, between(rounds->start_ns, step->begin_ns), took_ns);
    }
    if (round->trip)
        round->trip->incomplete++;
    *round = (struct round){
        .trip = in->trip,
        .acted_on = i->acted_on,
        .sent = i->sent,
        .begin_ns = step->begin_ns,
        .computed_ns = step->end_ns,
    };
}

/* The asker has made a step. Its first push after it found the answer is at the end of that step or
 * at the beginning of the next one. */
static void follow_round(struct round *r, const struct link *out, const struct hil_round_step *step)
{
    if (!r->back_ns && out->late)
        r->back_ns = step->end_ns;
    else if (!r->back_ns && step->begin_ns > r->begin_ns)
        r->back_ns = step->begin_ns;
}

/* Counts the round if all its events have come. The answerer's step may end after the asker's step
 * that found its answer. */
static void close_round(const struct hil_round_state *s, struct round *r, const struct link *in,
                        const struct link *out)
{
    const uint64_t pushed = pushed_at(s, out, r->acted_on),
                   found = time_of(out->found, r->acted_on), answered = pushed_at(s, in, r->sent);
    struct hil_histogram *parts = r->trip->legs;

    if (!r->back_ns || !pushed || !found || !answered)
        return;
    hil_histogram_add(&parts[HIL_ANSWERER_WAIT], between(pushed, found));
    hil_histogram_add(&parts[HIL_ANSWERER_PUSH], between(found, answered));
    hil_histogram_add(&parts[HIL_ASKER_WAIT], between(answered, r->begin_ns));
    hil_histogram_add(&parts[HIL_ASKER_STEP], between(r->begin_ns, r->computed_ns));
    hil_histogram_add(&parts[HIL_PUSH_BACK], between(r->computed_ns, r->back_ns));
    r->trip->complete++;
    r->trip = NULL;
}

static void take_newer(struct hil_rounds *rounds, struct link *in, const struct node *asker,
                       const struct hil_round_step *step)
{
    const uint32_t acted_on = in->newer.acted_on;

    in->is_newer = false;
    remember(in->found, in->newer.sent, step->begin_ns);
    if (in->from > in->to && acted_on && acted_on != in->acted_on)
        open_round(rounds, in, asker, step);
    in->acted_on = acted_on;
}

static void follow_rounds(const struct hil_round_state *s, struct link *in,
                          const struct hil_round_step *step)
{
    const struct link *out = link_of(s, in->back);

    for (unsigned i = 0; out && i < OPEN; i++) {
        struct round *round = &in->open[i];
        if (!round->trip)
            continue;
        follow_round(round, out, step);
        close_round(s, round, in, out);
    }
}

void hil_rounds_step(struct hil_rounds *rounds, const struct hil_round_step *step)
{
    struct hil_round_state *s = rounds->state;
    struct node *node = step->node < s->node_count ? &s->nodes[step->node] : NULL;

    if (!node || !node->began)
        return;
    remember(node->began, step->step, step->begin_ns);
    remember(node->own, step->step, step->own_ns);
    remember(node->ended, step->step, step->end_ns);
    for (size_t i = 0; i < node->in.count; i++) {
        struct link *in = node->in.at[i];
        if (in->is_newer)
            take_newer(rounds, in, node, step);
        follow_rounds(s, in, step);
    }
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
