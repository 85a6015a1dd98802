/* The endpoint of a channel: its name, members and regions, and what happens to it as peers come
 * and go. How endpoints meet is in handshake.c. */
#include "loco/channel.h"

#include <errno.h>
#include <search.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "core.h"
#include "fabric/by_node_make.h"
#include "handshake.h"
#include "operation.h"
#include "packet.h"
#include "room.h"

/* --- names -------------------------------------------------------------------------- */

static int channel_by_name(const void *a, const void *b)
{
    return strcmp(((const struct loco_channel *)a)->name, ((const struct loco_channel *)b)->name);
}

struct loco_channel *loco_channel_find(const struct loco_manager *m, const char *name)
{
    const struct loco_channel key = {.name = (char *)name};
    void *found = tfind(&key, &m->channels, channel_by_name);

    return found ? *(struct loco_channel **)found : NULL;
}

/* '/' comes before the name of a sub-channel, and '.' before that of a region. */
static bool channel_good_name(const char *name)
{
    return loco_good_text(name) && !strpbrk(name, "/.") && strlen(name) < 64;
}

/* Behind the name is room for the options. */
static char *channel_full_name(const struct loco_channel *parent, const char *name)
{
    char options[LOCO_OPTIONS_MAX], *full = NULL;

    memset(options, ' ', sizeof options);
    int rc = asprintf(&full, "%s%s%s%.*s", parent ? parent->name : "", parent ? "/" : "", name,
                      LOCO_OPTIONS_MAX, options);
    if (rc < 0)
        return NULL;
    full[rc - LOCO_OPTIONS_MAX] = '\0';
    return full;
}

/* --- members ------------------------------------------------------------------------ */

static int channel_set_members(struct loco_channel *c, struct loco_members members)
{
    const struct loco_manager *m = c->mgr;

    c->member_count = members.nodes ? members.count : m->count - 1;
    c->members = calloc(c->member_count + 1, sizeof *c->members);
    if (!c->members)
        return -ENOMEM;
    for (unsigned i = 0; i < c->member_count; i++) {
        uint32_t node = members.nodes ? members.nodes[i] : i + (i >= m->id);
        if (node >= m->count || node == m->id || (i > 0 && node <= c->members[i - 1].node))
            return -EINVAL;
        c->members[i].node = node;
    }
    c->missing = c->member_count;
    return 0;
}

int loco_channel_member(const struct loco_channel *c, uint32_t node)
{
    unsigned low = 0, high = c->member_count;

    while (low < high) {
        unsigned middle = (low + high) / 2;
        if (c->members[middle].node < node)
            low = middle + 1;
        else
            high = middle;
    }
    return low < c->member_count && c->members[low].node == node ? (int)low : -1;
}

int loco_channel_check(const struct loco_channel *c)
{
    for (unsigned i = 0; i < c->member_count; i++)
        if (loco_member_lost(&c->members[i]))
            return -ECONNRESET;
    return 0;
}

bool loco_member_stays_lost(const struct loco_channel *c, const struct loco_member *member)
{
    return loco_member_lost(member) && !member->away && !c->takes_back;
}

/* --- errors of setup ---------------------------------------------------------------- */

void loco_channel_fail(struct loco_channel *c, int error)
{
    struct loco_manager *m = c->mgr;

    m->failed += !c->failed;
    c->failed = true;
    if (!m->channel_error || error != -ECONNRESET)
        m->channel_error = error;
}

static void channel_forgive(struct loco_channel *c)
{
    struct loco_manager *m = c->mgr;

    if (c->failed && --m->failed == 0)
        m->channel_error = 0;
}

/* --- what happens to every channel -------------------------------------------------- */

/* Some channels of a tree, gathered before callbacks that may change the tree. There is no
 * allocation, since a loss must be told even if memory is short. */
struct gathered {
    struct loco_channel *at[64];
    unsigned count;
    char after[sizeof((struct loco_packet_head *)0)->name]; /* only names greater than this */
    uint32_t newest; /* no endpoints that were constructed after this one */
};

static void channels_gather(const void *tree_node, VISIT visit, void *closure)
{
    struct loco_channel *c = *(struct loco_channel *const *)tree_node;
    struct gathered *g = closure;

    if ((visit == postorder || visit == leaf) && g->count < sizeof g->at / sizeof g->at[0] &&
        (int32_t)(g->newest - c->endpoint) >= 0 && strcmp(c->name, g->after) > 0)
        g->at[g->count++] = c;
}

/* Gathers the next channels in the order of their names. Returns whether there are any. */
static bool channels_gather_next(const void *channels, struct gathered *g)
{
    g->count = 0;
    twalk_r(channels, channels_gather, g);
    if (g->count > 0)
        snprintf(g->after, sizeof g->after, "%s", g->at[g->count - 1]->name);
    return g->count > 0;
}

struct about {
    uint32_t node;
};

/* A member that came back has to join and connect again. Until then it stays lost. */
static void member_expect_again(struct loco_channel *c, struct loco_member *member)
{
    member->joined = member->refused = false;
    member->endpoint = 0;
    if (!member->met)
        return;
    member->met = false;
    if (c->missing++ == 0 && c->joined)
        c->mgr->unready++;
}

static void channel_join_with(const void *tree_node, VISIT visit, void *closure)
{
    struct loco_channel *c = *(struct loco_channel *const *)tree_node;
    const struct about *n = closure;
    struct loco_member *member = &c->members[loco_channel_member(c, n->node)];

    if ((visit != postorder && visit != leaf) || loco_member_stays_lost(c, member))
        return;
    if (loco_member_lost(member))
        member_expect_again(c, member);
    if (c->joined)
        loco_channel_send_join(c, member);
}

void loco_channels_peer_up(struct loco_peer *peer, uint32_t node)
{
    struct about n = {node};

    twalk_r(peer->channels, channel_join_with, &n);
}

static void member_lose(struct loco_member *member)
{
    atomic_store_explicit(&member->incarnation, (member->incarnation | 1) + 1,
                          memory_order_release);
    loco_routes_renew();
}

static void channel_mark_lost(const void *tree_node, VISIT visit, void *closure)
{
    struct loco_channel *c = *(struct loco_channel *const *)tree_node;
    int i = loco_channel_member(c, ((const struct about *)closure)->node);

    if (visit != postorder && visit != leaf)
        return;
    c->members[i].away = false;
    member_lose(&c->members[i]);
}

void loco_channels_mark_lost(struct loco_peer *peer, uint32_t node)
{
    struct about n = {node};

    twalk_r(peer->channels, channel_mark_lost, &n);
}

static void channel_on_lost(struct loco_channel *c, uint32_t node)
{
    if (c->missing && !c->members[loco_channel_member(c, node)].met)
        loco_channel_fail(c, -ECONNRESET);
    if (c->ops && c->ops->on_lost)
        c->ops->on_lost(c, node);
}

void loco_channels_peer_lost(struct loco_manager *m, uint32_t node, bool left)
{
    const struct loco_peer *peer = loco_by_node_find(&m->peers, node);
    struct gathered some = {.newest = m->endpoints};

    while (channels_gather_next(peer->channels, &some))
        for (unsigned i = 0; i < some.count; i++)
            channel_on_lost(some.at[i], node);
    if (!left)
        loco_log(m, LOCO_WARNING, "node %u: peer %u is lost", m->id, node);
}

static void channel_list_missing(const struct loco_channel *c, char *list, size_t size)
{
    size_t length = 0;

    for (unsigned k = 0; k < c->member_count && length + 16 < size; k++)
        if (!c->members[k].met)
            length += (size_t)snprintf(list + length, size - length, " %u", c->members[k].node);
}

static void channel_find_unready(const void *tree_node, VISIT visit, void *closure)
{
    const struct loco_channel *c = *(struct loco_channel *const *)tree_node;
    const struct loco_channel **first = closure;

    if ((visit == postorder || visit == leaf) && !*first && c->joined && c->missing)
        *first = c;
}

/* Names the first channel only, as its sub-channels usually wait for the same nodes. */
void loco_channels_explain_unready(struct loco_manager *m)
{
    const struct loco_channel *c = NULL;
    char list[160] = "";

    twalk_r(m->channels, channel_find_unready, &c);
    if (!c)
        return;
    channel_list_missing(c, list, sizeof list);
    loco_log(m, LOCO_ERROR, "node %u: channel %s still waits for %u node%s:%s", m->id, c->name,
             c->missing, c->missing > 1 ? "s" : "", list);
}

/* --- the endpoint ------------------------------------------------------------------- */

static void channel_leave_peers(struct loco_channel *c)
{
    for (unsigned i = 0; i < c->member_count; i++) {
        struct loco_peer *peer = loco_by_node_find(&c->mgr->peers, c->members[i].node);
        if (peer && peer->channels)
            tdelete(c, &peer->channels, channel_by_name);
    }
}

/* Enters the channel at the peer. The first channel that names a peer connects to it. */
static int channel_name_peer(struct loco_channel *c, struct loco_member *member)
{
    struct loco_manager *m = c->mgr;
    struct loco_peer *peer = loco_by_node_make(&m->peers, member->node);

    if (!peer || !tsearch(c, &peer->channels, channel_by_name))
        return -ENOMEM;
    member->away = !peer->up && loco_peer_lost(m, member->node);
    if (member->away)
        member_lose(member);
    int rc = peer->named ? 0 : m->fabric->ops->meet(m->node, member->node);
    peer->named |= !rc;
    return rc;
}

static int channel_name_peers(struct loco_channel *c)
{
    int rc = 0;

    for (unsigned i = 0; !rc && i < c->member_count; i++)
        rc = channel_name_peer(c, &c->members[i]);
    if (rc)
        channel_leave_peers(c);
    return rc;
}

/* Enters the endpoint in the tables by name and by peer; with the lock held. */
static int channel_enter(struct loco_channel *c)
{
    struct loco_manager *m = c->mgr;
    struct loco_channel **entry = tsearch(c, &m->channels, channel_by_name);

    if (!entry)
        return -ENOMEM;
    if (*entry != c)
        return -EEXIST;
    c->endpoint = ++m->endpoints;
    int rc = channel_name_peers(c);
    if (rc)
        tdelete(c, &m->channels, channel_by_name);
    return rc;
}

int loco_channel_init(struct loco_channel *c, struct loco_manager *m,
                      const struct loco_channel *parent, const char *name,
                      struct loco_members members, const struct loco_channel_ops *ops)
{
    *c = (struct loco_channel){0};
    if (!channel_good_name(name) || (ops && !loco_room_is_empty(ops->room, sizeof ops->room)))
        return -EINVAL;

    *c = (struct loco_channel){
        .mgr = m,
        .ops = ops,
        .takes_back = ops && ops->takes_back && (!parent || parent->takes_back),
        .agreement.lines = "",
    };
    int rc = channel_set_members(c, members);
    if (rc)
        goto free_members;
    rc = -ENOMEM;
    c->name = channel_full_name(parent, name);
    if (!c->name)
        goto free_members;
    rc = -EINVAL;
    if (strlen(c->name) >= sizeof((struct loco_packet_head *)0)->name)
        goto free_name;
    pthread_mutex_lock(&m->lock);
    rc = channel_enter(c);
    pthread_mutex_unlock(&m->lock);
    if (rc)
        goto free_name;
    return 0;

free_name:
    free(c->name);
free_members:
    free(c->members);
    *c = (struct loco_channel){0};
    return rc;
}

int loco_channel_region(struct loco_channel *c, const char *name, size_t size,
                        struct loco_region **region)
{
    unsigned count = 0;
    for (const struct loco_region *other = c->regions; other; other = other->next)
        count++;
    if (c->joined || count == LOCO_REGIONS_MAX || !loco_good_text(name) ||
        strlen(name) >= sizeof((struct loco_packet_region *)0)->name)
        return -EINVAL;

    struct loco_region *r = calloc(1, sizeof *r + c->member_count * sizeof(struct loco_remote));
    if (!r)
        return -ENOMEM;
    pthread_mutex_lock(&c->mgr->lock);
    int rc = loco_memory_cut(c->mgr, size, &r->memory, &r->where);
    if (!rc) {
        r->channel = c;
        r->name = name;
        r->size = size;
        r->peers = (struct loco_remote *)(r + 1);
        r->next = c->regions;
        c->regions = r;
        *region = r;
    }
    pthread_mutex_unlock(&c->mgr->lock);
    if (rc)
        free(r);
    return rc;
}

void loco_channel_agree_on(struct loco_channel *c, const char *format, ...)
{
    char *lines = c->name + strlen(c->name) + 1;
    va_list args;

    va_start(args, format);
    const int length = vsnprintf(lines, LOCO_OPTIONS_MAX, format, args);
    va_end(args);
    const size_t kept = length < LOCO_OPTIONS_MAX ? (size_t)length : LOCO_OPTIONS_MAX - 1;
    const struct loco_agreement agreement = {lines, kept, XXH3_64bits(lines, kept)};
    loco_channel_agree(c, &agreement);
}

void loco_channel_join(struct loco_channel *c)
{
    pthread_mutex_lock(&c->mgr->lock);
    c->joined = true;
    if (c->missing)
        c->mgr->unready++;
    for (unsigned i = 0; i < c->member_count; i++)
        loco_channel_send_join(c, &c->members[i]);
    pthread_mutex_unlock(&c->mgr->lock);
}

void loco_channel_fini(struct loco_channel *c)
{
    if (!c->mgr)
        return;
    pthread_mutex_lock(&c->mgr->lock);
    tdelete(c, &c->mgr->channels, channel_by_name);
    channel_leave_peers(c);
    if (c->joined && c->missing)
        c->mgr->unready--;
    channel_forgive(c);
    while (c->regions) {
        struct loco_region *r = c->regions;
        c->regions = r->next;
        loco_memory_return(c->mgr, r->memory, r->size, r->where);
        free(r);
    }
    pthread_mutex_unlock(&c->mgr->lock);
    free(c->name);
    free(c->members);
    *c = (struct loco_channel){0};
}
