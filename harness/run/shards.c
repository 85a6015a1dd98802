#include "shards.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "lines.h"

/* --- dividing the links ----------------------------------------------------------------------- */

static const struct hil_link *shard_link(const struct hil_step *s, unsigned link)
{
    return &s->node->run->scenario->system->links[link];
}

static unsigned shard_receiver(const struct hil_step *s, unsigned departure)
{
    const struct hil_node *node = s->node;
    const size_t i = (size_t)(s->departures[departure].var - node->links.out);

    return shard_link(s, node->config->first_link + (unsigned)i)->to;
}

static unsigned shard_sender(const struct hil_step *s, unsigned arrival)
{
    return shard_link(s, s->arrivals[arrival].link)->from;
}

/* Departures or arrivals first..end - 1 are ordered by peer. Returns those whose peer is one of
 * from..to - 1. */
static struct step_range shard_range(const struct hil_step *s, unsigned first, unsigned end,
                                     unsigned (*peer)(const struct hil_step *s, unsigned i),
                                     unsigned from, unsigned to)
{
    while (first < end && peer(s, first) < from)
        first++;
    while (end > first && peer(s, end - 1) >= to)
        end--;
    return (struct step_range){first, end - first};
}

/* The number of links that the node has with each other node. */
static unsigned *shard_count_links(const struct hil_step *s)
{
    unsigned *with = calloc(s->node->run->scenario->system->node_count, sizeof *with);

    for (unsigned i = 0; with && i < s->arrival_count; i++)
        with[shard_sender(s, i)]++;
    for (unsigned i = 0; with && i < s->departure_count; i++)
        with[shard_receiver(s, i)]++;
    return with;
}

/* What is left for the shards that have no links yet. */
struct shards_left {
    const unsigned *with; /* links with each node */
    unsigned nodes;       /* of the system */
    unsigned next;        /* the first node that no shard has */
    unsigned links, peers, shards;
};

/* The next shard takes nodes until it has its share of the links, but leaves at least one peer for
 * each shard after it. The last shard takes the rest. */
static void shards_take_nodes(struct shards_left *left)
{
    const unsigned share = (left->links + left->shards - 1) / left->shards;
    unsigned links = 0;

    left->shards--;
    while (left->next < left->nodes &&
           (left->shards == 0 || (links < share && left->shards < left->peers))) {
        links += left->with[left->next];
        left->peers -= left->with[left->next] > 0;
        left->next++;
    }
    left->links -= links;
}

static void shard_make(struct hil_shards *h, unsigned number, unsigned from, unsigned to)
{
    const struct hil_step *s = h->whole;
    struct hil_shard *shard = &h->at[number];

    shard->early = shard_range(s, 0, s->early, shard_receiver, from, to);
    shard->late = shard_range(s, s->early, s->departure_count, shard_receiver, from, to);
    shard->arrivals = shard_range(s, 0, s->arrival_count, shard_sender, from, to);
    for (unsigned i = 0; i < shard->arrivals.first; i++)
        shard->first_array += s->arrivals[i].ends_array;
    for (unsigned i = 0; i < shard->arrivals.count; i++)
        shard->arrays += i == 0 || s->arrivals[shard->arrivals.first + i - 1].ends_array;
}

static int shards_split(struct hil_shards *h)
{
    const struct hil_step *s = h->whole;
    unsigned *with = shard_count_links(s);
    struct shards_left left = {
        .with = with,
        .nodes = s->node->run->scenario->system->node_count,
        .links = s->arrival_count + s->departure_count,
        .shards = h->count,
    };

    if (!with)
        return -ENOMEM;
    for (unsigned i = 0; i < left.nodes; i++)
        left.peers += with[i] > 0;
    for (unsigned i = 0; i < h->count; i++) {
        const unsigned first = left.next;
        shards_take_nodes(&left);
        shard_make(h, i, first, left.next);
    }
    free(with);
    return 0;
}

/* --- opening -------------------------------------------------------------------------------- */

static size_t shard_message_size(const struct hil_step *s)
{
    size_t size = sizeof(struct hil_message);

    for (unsigned i = 0; i < s->arrival_count; i++)
        if (hil_message_size(shard_link(s, s->arrivals[i].link)) > size)
            size = hil_message_size(shard_link(s, s->arrivals[i].link));
    for (unsigned i = 0; i < s->node->config->link_count; i++)
        if (hil_message_size(shard_link(s, s->node->config->first_link + i)) > size)
            size = hil_message_size(shard_link(s, s->node->config->first_link + i));
    return size;
}

static int shards_find_arrays(struct hil_shards *h)
{
    const struct hil_step *s = h->whole;
    unsigned at = 0;

    for (unsigned i = 0; i < s->arrival_count; i++)
        h->array_count += s->arrivals[i].ends_array;
    h->arrays = calloc(h->array_count + 1, sizeof *h->arrays);
    h->oldest = calloc(h->array_count + 1, sizeof *h->oldest);
    if (!h->arrays || !h->oldest)
        return -ENOMEM;
    for (unsigned i = 0; i < s->arrival_count; i++)
        if (s->arrivals[i].ends_array)
            h->arrays[at++] = &s->arrivals[i];
    return 0;
}

/* Each shard writes to cache lines of its own. */
static int shards_make_room(struct hil_shards *h)
{
    const size_t message = shard_message_size(h->whole);

    for (unsigned i = 0; i < h->count; i++) {
        struct hil_shard *shard = &h->at[i];
        shard->message = hil_lines_new(message);
        shard->oldest = hil_lines_new((shard->arrays + 1) * sizeof *shard->oldest);
        if (!shard->message || !shard->oldest)
            return -ENOMEM;
    }
    return 0;
}

int hil_shards_open(struct hil_step *s, unsigned count)
{
    struct hil_shards *h = s->shards = hil_lines_new(sizeof *h);

    if (!h)
        return -ENOMEM;
    h->whole = s;
    h->count = count;
    h->at = hil_lines_new(count * sizeof *h->at);
    int rc = h->at ? shards_find_arrays(h) : -ENOMEM;
    if (!rc)
        rc = shards_split(h);
    return rc ? rc : shards_make_room(h);
}

void hil_shards_close(struct hil_shards *h)
{
    if (!h)
        return;
    for (unsigned i = 0; h->at && i < h->count; i++) {
        free(h->at[i].message);
        free(h->at[i].oldest);
    }
    free(h->at);
    free((void *)h->arrays);
    free(h->oldest);
    free(h);
}

void hil_shards_set_crew(struct hil_shards *h, struct hil_crew *crew)
{
    const struct hil_run *run = h->whole->node->run;
    unsigned figures = 0;

    for (unsigned i = 0; i < run->state->figures_count; i++)
        figures += run->state->figures[i].executor == run->executor;
    h->crew = crew;
    h->figures_apart = crew ? figures / hil_crew_count(crew) : 0;
}

/* --- in a step ------------------------------------------------------------------------------ */

void hil_shards_do(struct hil_shards *h, hil_crew_work *work)
{
    if (h->crew) {
        hil_crew_call(h->crew, work, h);
        return;
    }
    for (unsigned i = 0; i < h->count; i++)
        work(h, i);
}

struct hil_step *hil_shard_look(struct hil_shard *shard, const struct hil_shards *h)
{
    struct hil_step *s = &shard->step;

    *s = *h->whole;
    s->arrivals += shard->arrivals.first;
    s->arrival_count = shard->arrivals.count;
    s->message = shard->message;
    s->figures += (shard - h->at) * h->figures_apart;
    return s;
}

/* Gives the same result as one thread that goes through the links in order. */
static void shards_add_oldest(struct step_oldest *all, const struct step_oldest *one)
{
    if (one->arrived && (!all->arrived || one->age > all->age))
        *all = *one;
}

void hil_shards_gather(struct hil_shards *h)
{
    memset(h->oldest, 0, h->array_count * sizeof *h->oldest);
    for (unsigned i = 0; i < h->count; i++) {
        const struct hil_shard *shard = &h->at[i];
        for (unsigned k = 0; k < shard->arrays; k++)
            shards_add_oldest(&h->oldest[shard->first_array + k], &shard->oldest[k]);
    }
}

/* --- rare events ------------------------------------------------------------------------------ */

void hil_shards_begin_rare(const struct hil_step *s)
{
    while (s->shards && atomic_exchange_explicit(&s->shards->rare, true, memory_order_acquire))
        sched_yield();
}

void hil_shards_end_rare(const struct hil_step *s)
{
    if (s->shards)
        atomic_store_explicit(&s->shards->rare, false, memory_order_release);
}
