/*
 * An endpoint that joins sends each member a join with the regions that it expects there. The
 * member answers with a connect, which says where they are. The member may not have its endpoint
 * yet; it then sends a join of its own later, and gets one in return. A member has been met when
 * both directions are done: it has joined here, and its regions are known here. Endpoints that
 * differ in their regions or in their agreement refuse one another.
 */
#include "handshake.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core.h"
#include "fabric/by_node_make.h"
#include "loco/agreement.h"
#include "loco/fabric/atomic_copy.h"
#include "operation.h"
#include "packet.h"
#include "thread_links.h"

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
    loco_channel_fail(c, rc);
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
    loco_channel_fail(c, -EPROTO);
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

void loco_channel_send_join(struct loco_channel *c, const struct loco_member *member)
{
    channel_send_regions(c, member, LOCO_JOIN);
}

/* --- agreement ---------------------------------------------------------------------- */

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
    loco_channel_fail(c, -EPROTO);
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
        loco_channel_send_join(c, member);
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
        loco_channel_fail(c, -EPROTO);
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
        loco_channel_fail(c, rc);
        return;
    }
    atomic_store_explicit(&member->incarnation, (member->incarnation + 1) | 1,
                          memory_order_release);
    loco_routes_renew();
    if (c->ops && c->ops->on_connect)
        c->ops->on_connect(c, member->node);
    channel_check_ready(c, member);
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
    return loco_member_stays_lost(c, member);
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

    struct loco_channel *c = loco_channel_find(m, p.head.name);
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
        loco_channel_fail(c, -EPROTO);
    }
}
