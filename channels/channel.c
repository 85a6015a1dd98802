/*
 * Setup by the handshake of packet.h, and the operations on regions.
 *
 * An endpoint that joins sends each member a join with the regions that it expects there. The
 * member answers with a connect, which says where they are. The member may not have its endpoint
 * yet; it then sends a join of its own later, and gets one in return. A member has been met when
 * both directions are done: it has joined here, and its regions are known here. Endpoints that
 * differ in their regions or in their agreement refuse one another.
 */
#include "loco/channel.h"

#include <errno.h>
#include <search.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "agreement.h"
#include "core.h"
#include "fabric/by_node_make.h"
#include "fabric/words.h"
#include "operation.h"
#include "packet.h"
#include "room.h"
#include "thread_links.h"

/* --- names -------------------------------------------------------------------------- */

static int channel_by_name(const void *a, const void *b)
{
    return strcmp(((const struct loco_channel *)a)->name, ((const struct loco_channel *)b)->name);
}

static struct loco_channel *channel_find(const struct loco_manager *m, const char *name)
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

/* --- errors of setup ---------------------------------------------------------------- */

/* From now on loco_manager_ready returns the error, until all channels that met one are ended. A
 * lost peer does not hide another error. */
static void channel_fail(struct loco_channel *c, int error)
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

/* --- messages ----------------------------------------------------------------------- */

static void channel_send(struct loco_channel *c, const struct loco_member *member,
                         struct loco_packet *p, size_t body)
{
    struct loco_manager *m = c->mgr;

    const struct loco_peer *peer = loco_by_node_find(&m->peers, member->node);
    if (!peer->up)
        return; /* peer_up sends the join again */
    p->head.from = c->endpoint;
    p->head.to = member->endpoint;
    p->head.agreement = c->agreement.hash;
    snprintf(p->head.name, sizeof p->head.name, "%s", c->name);
    int rc = m->fabric->ops->send(m->node, member->node, p, sizeof p->head + body);
    if (!rc || rc == -ECONNRESET)
        return;
    if (!c->failed)
        loco_log(m, LOCO_ERROR, "channel %s: cannot send to node %u: %s", c->name, member->node,
                 strerror(-rc));
    channel_fail(c, rc);
}

static void channel_send_regions(struct loco_channel *c, const struct loco_member *member,
                                 enum loco_packet_kind kind)
{
    struct loco_packet p = {.head.kind = kind};
    unsigned n = 0;

    for (const struct loco_region *r = c->regions; r; r = r->next, n++) {
        p.regions[n] = (struct loco_packet_region){.size = r->size, .where = r->where};
        memcpy(p.regions[n].name, r->name, strlen(r->name));
    }
    p.head.region_count = n;
    channel_send(c, member, &p, n * sizeof p.regions[0]);
}

static void channel_refuse(struct loco_channel *c, const struct loco_member *member,
                           const char *text)
{
    struct loco_packet p = {.head.kind = LOCO_REFUSE};

    loco_log(c->mgr, LOCO_ERROR, "channel %s: node %u %s", c->name, member->node, text);
    channel_fail(c, -EPROTO);
    snprintf(p.text, sizeof p.text, "%s", text);
    channel_send(c, member, &p, sizeof p.text);
}

static struct loco_region *channel_find_region(const struct loco_channel *c, const char *name)
{
    struct loco_region *r = c->regions;

    while (r && strcmp(r->name, name) != 0)
        r = r->next;
    return r;
}

/* Whether this endpoint has each region that the peer expects of it. */
static bool channel_regions_match(struct loco_channel *c, const struct loco_member *member,
                                  const struct loco_packet *p)
{
    char text[200];

    for (unsigned i = 0; i < p->head.region_count; i++) {
        const struct loco_packet_region *theirs = &p->regions[i];
        const struct loco_region *ours = channel_find_region(c, theirs->name);
        if (ours && ours->size == theirs->size)
            continue;
        if (ours)
            snprintf(text, sizeof text,
                     "expects region %s.%s of %llu bytes, but node %u made it %zu bytes", c->name,
                     theirs->name, (unsigned long long)theirs->size, c->mgr->id, ours->size);
        else
            snprintf(text, sizeof text, "expects region %s.%s, which node %u does not have",
                     c->name, theirs->name, c->mgr->id);
        channel_refuse(c, member, text);
        return false;
    }
    return true;
}

/* --- agreement ---------------------------------------------------------------------- */

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

static void channel_send_lines(struct loco_channel *c, const struct loco_member *member,
                               uint64_t offset)
{
    struct loco_packet p = {.head.kind = LOCO_LINES, .lines.offset = offset};

    loco_agreement_take(&c->agreement, offset, p.lines.text, sizeof p.lines.text);
    channel_send(c, member, &p, sizeof p.lines);
}

/* Whether the sender of a join or connect agrees with this endpoint. If not, this sends it the
 * first lines of the agreement, and the caller ignores the message. */
static bool channel_agrees(struct loco_channel *c, struct loco_member *member,
                           const struct loco_packet *p)
{
    if (p->head.agreement == c->agreement.hash)
        return true;
    member->endpoint = p->head.from;
    if (!member->refused)
        channel_send_lines(c, member, 0);
    return false;
}

/* Compares the lines, and answers with the next ones. The answer goes out before a difference is
 * reported, as this node may then leave. */
static void channel_on_lines(struct loco_channel *c, struct loco_member *member,
                             const struct loco_packet *p)
{
    struct loco_difference d;
    uint64_t offset = p->lines.offset;

    if (member->refused)
        return;
    member->endpoint = p->head.from;
    member->refused = loco_agreement_differs(&c->agreement, &offset, p->lines.text, &d);
    channel_send_lines(c, member, offset);
    if (!member->refused)
        return;
    if (c->ops && c->ops->on_disagree)
        c->ops->on_disagree(c, member->node, d.here, d.there);
    else
        loco_log(c->mgr, LOCO_ERROR, "channel %s: node %u does not agree: '%s' here, '%s' there",
                 c->name, member->node, d.here, d.there);
    channel_fail(c, -EPROTO);
}

/* --- joining and connecting ----------------------------------------------------------- */

static void channel_check_ready(struct loco_channel *c, struct loco_member *member)
{
    if (member->met || !member->joined || !loco_member_connected(member))
        return;
    member->met = true;
    if (--c->missing == 0)
        c->mgr->unready--;
}

static void channel_on_join(struct loco_channel *c, unsigned i, const struct loco_packet *p)
{
    struct loco_member *member = &c->members[i];
    bool again = member->joined && member->endpoint == p->head.from;

    member->endpoint = p->head.from;
    if (!channel_regions_match(c, member, p))
        return;
    if (!again && c->ops && c->ops->on_join)
        c->ops->on_join(c, member->node);
    channel_send_regions(c, member, LOCO_CONNECT);
    if (again)
        return;
    member->joined = true;
    /* This endpoint's first join may have reached the peer before that had an endpoint. */
    if (!loco_member_connected(member))
        channel_send_regions(c, member, LOCO_JOIN);
    channel_check_ready(c, member);
}

/* Operations are checked against the region's size here, so the peer's has to be the same. */
static bool channel_sizes_match(struct loco_channel *c, const struct loco_member *member,
                                const struct loco_packet *p)
{
    for (unsigned n = 0; n < p->head.region_count; n++) {
        const struct loco_packet_region *theirs = &p->regions[n];
        const struct loco_region *ours = channel_find_region(c, theirs->name);
        if (!ours || ours->size == theirs->size)
            continue;
        loco_log(c->mgr, LOCO_ERROR,
                 "channel %s: node %u connects region %s of %llu bytes, and here it has %zu",
                 c->name, member->node, theirs->name, (unsigned long long)theirs->size, ours->size);
        channel_fail(c, -EPROTO);
        return false;
    }
    return true;
}

/* Whether this node reaches the member's regions. On a coherent fabric it may have no room to map
 * them. */
static bool channel_reaches(struct loco_channel *c, unsigned i, const struct loco_packet *p)
{
    char text[200];

    if (!(c->mgr->fabric->capabilities & LOCO_COHERENT))
        return true;
    for (unsigned n = 0; n < p->head.region_count; n++) {
        const struct loco_region *r = channel_find_region(c, p->regions[n].name);
        if (!r || loco_region_reach(r, i))
            continue;
        snprintf(text, sizeof text, "has region %s.%s in memory that node %u cannot map", c->name,
                 r->name, c->mgr->id);
        channel_refuse(c, &c->members[i], text);
        return false;
    }
    return true;
}

static void channel_on_connect(struct loco_channel *c, unsigned i, const struct loco_packet *p)
{
    struct loco_member *member = &c->members[i];

    if (loco_member_connected(member) || !channel_sizes_match(c, member, p))
        return;
    if (member->endpoint != p->head.from)
        member->joined = false; /* that was an earlier endpoint of the member */
    member->endpoint = p->head.from;
    for (unsigned n = 0; n < p->head.region_count; n++) {
        struct loco_region *r = channel_find_region(c, p->regions[n].name);
        if (r)
            loco_copy(&r->peers[i], &p->regions[n].where, sizeof r->peers[i]);
    }
    if (!channel_reaches(c, i, p))
        return;
    int rc = loco_threads_link(c->mgr, member->node);
    if (rc) {
        loco_log(c->mgr, LOCO_ERROR, "channel %s: cannot open a link to node %u: %s", c->name,
                 member->node, strerror(-rc));
        channel_fail(c, rc);
        return;
    }
    atomic_store_explicit(&member->incarnation, (member->incarnation + 1) | 1,
                          memory_order_release);
    loco_routes_renew();
    if (c->ops && c->ops->on_connect)
        c->ops->on_connect(c, member->node);
    channel_check_ready(c, member);
}

/* Whether this endpoint does not take the member back, should it restart. It takes a member that
 * was lost earlier: with that one it has nothing in common yet. */
static bool member_stays_lost(const struct loco_channel *c, const struct loco_member *member)
{
    return loco_member_lost(member) && !member->away && !c->takes_back;
}

/* Whether this endpoint has to ignore the message: it is for an earlier endpoint of the name, or
 * comes from a successor of the endpoint that this one is connected to, or from a lost member that
 * is not taken back. The next endpoint of this name may meet the sender. */
static bool channel_is_for_another(const struct loco_channel *c, const struct loco_member *member,
                                   const struct loco_packet_head *head)
{
    if (head->to ? head->to != c->endpoint : head->kind != LOCO_JOIN)
        return true;
    if (loco_member_connected(member))
        return head->from != member->endpoint;
    return member_stays_lost(c, member);
}

/* How many malformed messages are logged. A peer may send any number. */
enum { MALFORMED_SAID = 8 };

void loco_channels_message(struct loco_manager *m, uint32_t node, const void *message, size_t size)
{
    struct loco_packet p;

    if (!loco_packet_read(&p, message, size)) {
        if (m->malformed++ < MALFORMED_SAID)
            loco_log(m, LOCO_ERROR, "node %u sent a malformed message of %zu bytes", node, size);
        return;
    }

    struct loco_channel *c = channel_find(m, p.head.name);
    if (!c || !c->joined)
        return; /* this node's endpoint will send its own join */
    int i = loco_channel_member(c, node);
    if (i < 0)
        return; /* the peer names more members than this endpoint */
    if (channel_is_for_another(c, &c->members[i], &p.head))
        return;
    if (p.head.kind == LOCO_JOIN) {
        if (channel_agrees(c, &c->members[i], &p))
            channel_on_join(c, (unsigned)i, &p);
    } else if (p.head.kind == LOCO_CONNECT) {
        if (channel_agrees(c, &c->members[i], &p))
            channel_on_connect(c, (unsigned)i, &p);
    } else if (p.head.kind == LOCO_LINES) {
        channel_on_lines(c, &c->members[i], &p);
    } else {
        loco_log(m, LOCO_ERROR, "channel %s: refused by node %u: node %u %s", c->name, node, m->id,
                 p.text);
        channel_fail(c, -EPROTO);
    }
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

    if ((visit != postorder && visit != leaf) || member_stays_lost(c, member))
        return;
    if (loco_member_lost(member))
        member_expect_again(c, member);
    if (c->joined)
        channel_send_regions(c, member, LOCO_JOIN);
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
        channel_fail(c, -ECONNRESET);
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

void loco_channel_join(struct loco_channel *c)
{
    pthread_mutex_lock(&c->mgr->lock);
    c->joined = true;
    if (c->missing)
        c->mgr->unready++;
    for (unsigned i = 0; i < c->member_count; i++)
        channel_send_regions(c, &c->members[i], LOCO_JOIN);
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

/* --- operations --------------------------------------------------------------------- */

void *loco_region_reach(const struct loco_region *r, unsigned m)
{
    const struct loco_manager *mgr = r->channel->mgr;
    const struct loco_fabric_ops *fabric = mgr->fabric->ops;

    if (!fabric->reach)
        return NULL;
    return fabric->reach(mgr->node, r->channel->members[m].node, r->peers[m], r->size);
}

void *loco_region_direct(const struct loco_region *r, unsigned m)
{
    return r->channel->mgr->fabric->capabilities & LOCO_COHERENT ? loco_region_reach(r, m) : NULL;
}

/* Finds the link to the member, and *at, the place in its region. Returns 0 or an error as of
 * loco_region_write. (`at` is apart from the operation, which so stays in registers.) */
__attribute__((always_inline)) static inline int
operation_address(struct loco_operation *op, struct loco_remote *at, const struct loco_region *r,
                  unsigned m, size_t offset, size_t size)
{
    const struct loco_channel *c = r->channel;

    if (!op->thread)
        return -EPERM;
    if ((m >= c->member_count && m != LOCO_SELF) || offset > r->size || size > r->size - offset)
        return -ERANGE;
    if (m == LOCO_SELF) {
        op->link = loco_thread_link(op->thread, c->mgr->id);
        *at = r->where;
    } else {
        const struct loco_member *member = &c->members[m];
        uint32_t incarnation = atomic_load_explicit(&member->incarnation, memory_order_acquire);
        if (!(incarnation & 1))
            return incarnation ? -ECONNRESET : -ENOTCONN;
        op->link = loco_thread_link(op->thread, member->node);
        loco_copy(at, &r->peers[m], sizeof *at);
        /* The link and the address are of one incarnation: an address of a peer's earlier life is
         * never used on a link to its next one. */
        atomic_thread_fence(memory_order_acquire);
        if (atomic_load_explicit(&member->incarnation, memory_order_relaxed) != incarnation)
            return -ECONNRESET;
    }
    at->offset += offset;
    return 0;
}

/* Prepares an operation. Returns 0 when it may be posted. */
__attribute__((always_inline)) static inline int
operation_begin(struct loco_operation *op, struct loco_remote *at, const struct loco_region *r,
                unsigned m, size_t offset, size_t size)
{
    *op = loco_operation_of(r->channel->mgr);
    int rc = operation_address(op, at, r, m, offset, size);
    if (!rc)
        loco_operation_number(*op);
    return rc;
}

struct loco_ack loco_region_write(struct loco_region *r, unsigned m, size_t offset,
                                  const void *from, size_t size)
{
    struct loco_operation op;
    struct loco_remote at;
    int rc = operation_begin(&op, &at, r, m, offset, size);

    if (!rc)
        rc = r->channel->mgr->fabric->ops->write(op.link, at, from, size);
    return loco_operation_end(op, true, rc);
}

_Atomic uint64_t loco_routes_age = 1;

/* The age is the one before the link and the address were found. */
int loco_route_find(struct loco_route *route, const struct loco_region *r, unsigned m)
{
    const struct loco_manager *mgr = r->channel->mgr;
    const uint64_t age = atomic_load_explicit(&loco_routes_age, memory_order_acquire);
    struct loco_operation op = loco_operation_of(mgr);
    struct loco_remote to;
    int rc = operation_address(&op, &to, r, m, 0, r->size);

    if (rc)
        return rc;
    *route = (struct loco_route){.table = loco_context.table,
                                 .age = age,
                                 .thread = op.thread,
                                 .link = op.link,
                                 .write = mgr->fabric->ops->write,
                                 .to = to,
                                 .epoch = op.epoch,
                                 .only = route->only};
    return 0;
}

struct loco_ack loco_region_read(struct loco_region *r, unsigned m, size_t offset, void *to,
                                 size_t size)
{
    struct loco_operation op;
    struct loco_remote at;
    int rc = operation_begin(&op, &at, r, m, offset, size);

    if (!rc)
        rc = r->channel->mgr->fabric->ops->read(op.link, at, to, size);
    return loco_operation_end(op, false, rc);
}

/* Whether fences count an atomic as a write: its word may not be placed when it is done. */
static bool atomic_is_placed_late(const struct loco_region *r)
{
    return !(r->channel->mgr->fabric->capabilities & LOCO_ATOMICS_PLACED);
}

struct loco_ack loco_region_fetch_add(struct loco_region *r, unsigned m, size_t offset,
                                      uint64_t add, uint64_t *old)
{
    struct loco_operation op;
    struct loco_remote at;
    int rc = operation_begin(&op, &at, r, m, offset, sizeof *old);

    if (!rc)
        rc = r->channel->mgr->fabric->ops->fetch_add(op.link, at, add, old);
    return loco_operation_end(op, atomic_is_placed_late(r), rc);
}

struct loco_ack loco_region_compare_swap(struct loco_region *r, unsigned m, size_t offset,
                                         uint64_t expected, uint64_t desired, uint64_t *old)
{
    struct loco_operation op;
    struct loco_remote at;
    int rc = operation_begin(&op, &at, r, m, offset, sizeof *old);

    if (!rc)
        rc = r->channel->mgr->fabric->ops->compare_swap(op.link, at, expected, desired, old);
    return loco_operation_end(op, atomic_is_placed_late(r), rc);
}
