#include "links.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lines.h"

/* --- members ---------------------------------------------------------------------------------- */

static int links_compare(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* Node 0 meets every node; each other node meets only node 0. */
static int links_choose_star(struct hil_links *l, unsigned self)
{
    l->star_count = self == 0 ? l->system->node_count - 1 : 1;
    l->star = calloc(l->star_count + 1, sizeof *l->star);
    if (!l->star)
        return -ENOMEM;
    for (unsigned i = 0; self == 0 && i < l->star_count; i++)
        l->star[i] = 1 + i;
    return 0;
}

/* The nodes of the star and those at the other ends of the node's links, each once. */
static int links_choose_members(struct hil_links *l)
{
    const struct hil_system *s = l->system;
    const struct hil_node_config *n = l->node;
    unsigned count = 0;

    l->members =
        calloc((size_t)l->star_count + n->link_count + n->incoming_count + 1, sizeof *l->members);
    if (!l->members)
        return -ENOMEM;
    for (unsigned i = 0; i < l->star_count; i++)
        l->members[count++] = l->star[i];
    for (unsigned i = 0; i < n->link_count; i++)
        l->members[count++] = s->links[n->first_link + i].to;
    for (unsigned i = 0; i < n->incoming_count; i++)
        l->members[count++] = s->links[n->incoming[i]].from;
    qsort(l->members, count, sizeof *l->members, links_compare);
    for (unsigned i = 0; i < count; i++)
        if (i == 0 || l->members[i] != l->members[i - 1])
            l->members[l->member_count++] = l->members[i];
    return 0;
}

/* --- nodes with another scenario -------------------------------------------------------------- */

/* Compares names up to the "=": "pid" and "pi" have different gains. */
void hil_links_say_difference(const char *here, const char *there, char *text, size_t size)
{
    const size_t key = strcspn(here, "=");

    if (!here[0] && !there[0])
        snprintf(text, size, "only the ends of long values differ");
    else if (here[0] && strncmp(here, there, key + 1) == 0)
        snprintf(text, size, "%.*s is %s here and %s there", (int)key, here, here + key + 1,
                 there + key + 1);
    else
        snprintf(text, size, "%s here, where there is %s there", here[0] ? here : "nothing",
                 there[0] ? there : "nothing");
}

static void links_on_disagree(struct loco_channel *channel, uint32_t node, const char *here,
                              const char *there)
{
    struct hil_links *l = (struct hil_links *)channel;
    char name[HIL_SIGNAL_NAME_BYTES], difference[180];

    if (atomic_load_explicit(&l->disagrees, memory_order_relaxed))
        return;
    hil_instance_name(&l->system->nodes[node].is, name);
    hil_links_say_difference(here, there, difference, sizeof difference);
    snprintf(l->disagreement, sizeof l->disagreement, "%.100s has another scenario: %s", name,
             difference);
    atomic_store_explicit(&l->disagrees, true, memory_order_release);
}

static void links_on_lost(struct loco_channel *channel, uint32_t node)
{
    struct hil_links *l = (struct hil_links *)channel;

    (void)node;
    atomic_store_explicit(&l->lost, true, memory_order_relaxed);
}

/* --- opening and closing ---------------------------------------------------------------------- */

static int links_init_var(struct hil_links *l, struct loco_owned_var *var,
                          const struct hil_link *link)
{
    const uint32_t to = link->to;
    char name[32];

    snprintf(name, sizeof name, "%u-%u", link->from, link->to);
    return loco_owned_var_init(var, l->channel.mgr, &l->channel, name, link->from,
                               (struct loco_members){&to, 1}, hil_message_size(link));
}

static int links_init_vars(struct hil_links *l)
{
    const struct hil_system *s = l->system;
    const struct hil_node_config *n = l->node;
    int rc = 0;

    l->out = hil_lines_new((n->link_count + 1) * sizeof *l->out);
    l->in = hil_lines_new((n->incoming_count + 1) * sizeof *l->in);
    if (!l->out || !l->in)
        return -ENOMEM;
    for (unsigned i = 0; !rc && i < n->link_count; i++)
        rc = links_init_var(l, &l->out[i], &s->links[n->first_link + i]);
    for (unsigned i = 0; !rc && i < n->incoming_count; i++)
        rc = links_init_var(l, &l->in[i], &s->links[n->incoming[i]]);
    return rc;
}

static const struct loco_channel_ops links_ops = {
    .on_lost = links_on_lost, .on_disagree = links_on_disagree, .takes_back = true};

int hil_links_init(struct hil_links *l, struct loco_manager *m, const struct hil_scenario *scenario)
{
    const struct hil_listing *listing = &scenario->listing;
    const struct loco_agreement agreement = {listing->lines, listing->length, listing->hash};

    *l = (struct hil_links){.system = scenario->system, .node = &scenario->system->nodes[m->id]};
    int rc = links_choose_star(l, m->id);
    if (!rc)
        rc = links_choose_members(l);
    if (!rc)
        rc = loco_channel_init(&l->channel, m, NULL, "links",
                               (struct loco_members){l->members, l->member_count}, &links_ops);
    if (!rc)
        loco_channel_agree(&l->channel, &agreement);
    if (!rc)
        rc = links_init_vars(l);
    if (!rc)
        rc = loco_sst_init(&l->progress, m, &l->channel, "progress",
                           (struct loco_members){l->star, l->star_count},
                           sizeof(struct hil_progress));
    if (!rc)
        rc = hil_tuning_vars_init(&l->tuning, &l->channel, l->system);
    if (rc)
        hil_links_fini(l);
    else
        loco_channel_join(&l->channel);
    return rc;
}

int hil_links_add_barrier(struct hil_links *l)
{
    return loco_barrier_init(&l->barrier, l->channel.mgr, &l->channel, "barrier",
                             (struct loco_members){l->star, l->star_count});
}

void hil_links_fini(struct hil_links *l)
{
    loco_barrier_fini(&l->barrier);
    hil_tuning_vars_fini(&l->tuning);
    loco_sst_fini(&l->progress);
    for (unsigned i = 0; l->out && i < l->node->link_count; i++)
        loco_owned_var_fini(&l->out[i]);
    for (unsigned i = 0; l->in && i < l->node->incoming_count; i++)
        loco_owned_var_fini(&l->in[i]);
    free(l->out);
    free(l->in);
    loco_channel_fini(&l->channel);
    free(l->members);
    free(l->star);
    *l = (struct hil_links){0};
}

/* Room for two copies of each message and their overhead, and for the node's part of the star. */
size_t hil_links_arena_size(const struct hil_system *s, unsigned node)
{
    const struct hil_node_config *n = &s->nodes[node];
    const size_t star = node == 0 ? s->node_count : 1;
    size_t size = 2048 + 512 * star + hil_tuning_vars_size(s, node);

    for (unsigned i = 0; i < n->link_count; i++)
        size += 192 + 2 * hil_message_size(&s->links[n->first_link + i]);
    for (unsigned i = 0; i < n->incoming_count; i++)
        size += 192 + 2 * hil_message_size(&s->links[n->incoming[i]]);
    return size;
}
