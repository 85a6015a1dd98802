#include "loco/channel.h"

#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agreement.h"
#include "core.h"
#include "fabric/by_node_make.h"
#include "fabric/words.h"
#include "packet.h"
#include "thread_links.h"

/* --- names -------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct loco_channel *)a)->name, ((const struct loco_channel *)b)->name);
}

static struct loco_channel *find(const struct loco_manager *m, const char *name)
{
    const struct loco_channel key = {.name = (char *)name};
    void *found = tfind(&key, &m->channels, by_name);

    return found ? *(struct loco_channel **)found : NULL;
}

/* '/' and '.' are taken: they part channels from sub-channels and from regions. */
static bool good_name(const char *name)
{
    return loco_good_text(name) && !strpbrk(name, "/.") && strlen(name) < 64;
}

static char *full_name(const struct loco_channel *parent, const char *name)
{
    char *full = NULL;
    int rc = parent ? asprintf(&full, "%s/%s", parent->name, name) : asprintf(&full, "%s", name);

    return rc < 0 ? NULL : full;
}

/* --- members ------------------------------------------------------------------------ */

static int set_members(struct loco_channel *c, struct loco_members members)
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

/* --- messages ----------------------------------------------------------------------- */

static void send_packet(struct loco_channel *c, const struct loco_member *member,
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
    if (rc && rc != -ECONNRESET)
        loco_log(m, LOCO_ERROR, "channel %s: cannot send to node %u: %s", c->name, member->node,
                 strerror(-rc));
}

static void send_regions(struct loco_channel *c, const struct loco_member *member,
                         enum loco_packet_kind kind)
{
    struct loco_packet p = {.head.kind = kind};
    unsigned n = 0;

    for (const struct loco_region *r = c->regions; r; r = r->next, n++) {
        p.regions[n] = (struct loco_packet_region){.size = r->size, .where = r->where};
        memcpy(p.regions[n].name, r->name, strlen(r->name));
    }
    p.head.region_count = n;
    send_packet(c, member, &p, n * sizeof p.regions[0]);
}

static void refuse(struct loco_channel *c, const struct loco_member *member, const char *text)
{
    struct loco_packet p = {.head.kind = LOCO_REFUSE};

    loco_log(c->mgr, LOCO_ERROR, "channel %s: node %u %s", c->name, member->node, text);
    c->mgr->error = -EPROTO;
    snprintf(p.text, sizeof p.text, "%s", text);
    send_packet(c, member, &p, sizeof p.text);
}

static struct loco_region *find_region(const struct loco_channel *c, const char *name)
{
    struct loco_region *r = c->regions;

    while (r && strcmp(r->name, name) != 0)
        r = r->next;
    return r;
}

/* Whether this endpoint has each region that the peer expects of it. */
static bool regions_match(struct loco_channel *c, const struct loco_member *member,
                          const struct loco_packet *p)
{
    char text[200];

    for (unsigned i = 0; i < p->head.region_count; i++) {
        const struct loco_packet_region *theirs = &p->regions[i];
        const struct loco_region *ours = find_region(c, theirs->name);
        if (ours && ours->size == theirs->size)
            continue;
        if (ours)
            snprintf(text, sizeof text,
                     "expects region %s.%s of %llu bytes, but node %u made it %zu bytes", c->name,
                     theirs->name, (unsigned long long)theirs->size, c->mgr->id, ours->size);
        else
            snprintf(text, sizeof text, "expects region %s.%s, which node %u does not have",
                     c->name, theirs->name, c->mgr->id);
        refuse(c, member, text);
        return false;
    }
    return true;
}

/* --- agreement ---------------------------------------------------------------------- */

static void send_lines(struct loco_channel *c, const struct loco_member *member, uint64_t offset)
{
    struct loco_packet p = {.head.kind = LOCO_LINES, .lines.offset = offset};

    loco_agreement_take(&c->agreement, offset, p.lines.text, sizeof p.lines.text);
    send_packet(c, member, &p, sizeof p.lines);
}

/* Whether a join or connect is from an endpoint that is about the same; if not, it is not heard,
 * and the first lines go out. */
static bool agrees(struct loco_channel *c, struct loco_member *member, const struct loco_packet *p)
{
    if (p->head.agreement == c->agreement.hash)
        return true;
    member->endpoint = p->head.from;
    if (!member->refused)
        send_lines(c, member, 0);
    return false;
}

/* The answer goes out first: this node may leave as soon as it has found the line. */
static void on_lines(struct loco_channel *c, struct loco_member *member,
                     const struct loco_packet *p)
{
    struct loco_difference d;
    uint64_t offset = p->lines.offset;

    if (member->refused)
        return;
    member->endpoint = p->head.from;
    member->refused = loco_agreement_differs(&c->agreement, &offset, p->lines.text, &d);
    send_lines(c, member, offset);
    if (!member->refused)
        return;
    if (c->ops && c->ops->on_disagree)
        c->ops->on_disagree(c, member->node, d.here, d.there);
    else
        loco_log(c->mgr, LOCO_ERROR, "channel %s: node %u does not agree: '%s' here, '%s' there",
                 c->name, member->node, d.here, d.there);
    c->mgr->error = -EPROTO;
}

/* --- joining and connecting ----------------------------------------------------------- */

static void check_ready(struct loco_channel *c, struct loco_member *member)
{
    if (member->met || !member->joined || !loco_member_connected(member))
        return;
    member->met = true;
    if (--c->missing == 0)
        c->mgr->unready--;
}

static void on_join(struct loco_channel *c, unsigned i, const struct loco_packet *p)
{
    struct loco_member *member = &c->members[i];
    bool again = member->joined && member->endpoint == p->head.from;

    member->endpoint = p->head.from;
    if (!regions_match(c, member, p))
        return;
    if (!again && c->ops && c->ops->on_join)
        c->ops->on_join(c, member->node);
    send_regions(c, member, LOCO_CONNECT);
    if (again)
        return;
    member->joined = true;
    /* Our own join may have come before the peer had its endpoint. */
    if (!loco_member_connected(member))
        send_regions(c, member, LOCO_JOIN);
    check_ready(c, member);
}

/* Where an operation is within the region here it must be within the peer's. */
static bool sizes_match(struct loco_channel *c, const struct loco_member *member,
                        const struct loco_packet *p)
{
    for (unsigned n = 0; n < p->head.region_count; n++) {
        const struct loco_packet_region *theirs = &p->regions[n];
        const struct loco_region *ours = find_region(c, theirs->name);
        if (!ours || ours->size == theirs->size)
            continue;
        loco_log(c->mgr, LOCO_ERROR,
                 "channel %s: node %u connects region %s of %llu bytes, and here it has %zu",
                 c->name, member->node, theirs->name, (unsigned long long)theirs->size, ours->size);
        c->mgr->error = -EPROTO;
        return false;
    }
    return true;
}

static void on_connect(struct loco_channel *c, unsigned i, const struct loco_packet *p)
{
    struct loco_member *member = &c->members[i];

    if (loco_member_connected(member) || !sizes_match(c, member, p))
        return;
    if (member->endpoint != p->head.from)
        member->joined = false; /* it was the one before who joined */
    member->endpoint = p->head.from;
    for (unsigned n = 0; n < p->head.region_count; n++) {
        struct loco_region *r = find_region(c, p->regions[n].name);
        if (r)
            loco_copy(&r->peers[i], &p->regions[n].where, sizeof r->peers[i]);
    }
    int rc = loco_threads_link(c->mgr, member->node);
    if (rc) {
        loco_log(c->mgr, LOCO_ERROR, "channel %s: cannot open a link to node %u: %s", c->name,
                 member->node, strerror(-rc));
        c->mgr->error = rc;
        return;
    }
    atomic_store_explicit(&member->incarnation, (member->incarnation + 1) | 1,
                          memory_order_release);
    if (c->ops && c->ops->on_connect)
        c->ops->on_connect(c, member->node);
    check_ready(c, member);
}

/* Whether the message is none of this endpoint's: it is for one before it; or from the successor of
 * the one that this has met, or from a member that it does not take back. The next endpoint of this
 * name may meet the sender. */
static bool is_for_another(const struct loco_channel *c, const struct loco_member *member,
                           const struct loco_packet_head *head)
{
    if (head->to ? head->to != c->endpoint : head->kind != LOCO_JOIN)
        return true;
    if (loco_member_connected(member))
        return head->from != member->endpoint;
    return loco_member_lost(member) && !c->takes_back;
}

/* More of them are not logged: a peer may send any number. */
enum { MALFORMED_SAID = 8 };

void loco_channels_message(struct loco_manager *m, uint32_t node, const void *message, size_t size)
{
    struct loco_packet p;

    if (!loco_packet_read(&p, message, size)) {
        if (m->malformed++ < MALFORMED_SAID)
            loco_log(m, LOCO_ERROR, "node %u sent a malformed message of %zu bytes", node, size);
        return;
    }

    struct loco_channel *c = find(m, p.head.name);
    if (!c || !c->joined)
        return; /* it joins by itself when it is there */
    int i = loco_channel_member(c, node);
    if (i < 0)
        return; /* the peer's members are a wider set than ours */
    if (is_for_another(c, &c->members[i], &p.head))
        return;
    if (p.head.kind == LOCO_JOIN) {
        if (agrees(c, &c->members[i], &p))
            on_join(c, (unsigned)i, &p);
    } else if (p.head.kind == LOCO_CONNECT) {
        if (agrees(c, &c->members[i], &p))
            on_connect(c, (unsigned)i, &p);
    } else if (p.head.kind == LOCO_LINES) {
        on_lines(c, &c->members[i], &p);
    } else {
        loco_log(m, LOCO_ERROR, "channel %s: refused by node %u: node %u %s", c->name, node, m->id,
                 p.text);
        m->error = -EPROTO;
    }
}

/* --- what happens to every channel -------------------------------------------------- */

/* Where a callback may change the tree, its channels are gathered first. */
struct gathered {
    struct loco_channel **at;
    size_t count, room;
};

static void gather(const void *tree_node, VISIT visit, void *closure)
{
    struct gathered *all = closure;

    if (visit != postorder && visit != leaf)
        return;
    if (all->count == all->room) {
        size_t room = all->room ? 2 * all->room : 64;
        void *more = realloc(all->at, room * sizeof(struct loco_channel *));
        if (!more)
            return;
        all->at = more;
        all->room = room;
    }
    all->at[all->count++] = *(struct loco_channel *const *)tree_node;
}

static struct gathered gather_all(const void *channels)
{
    struct gathered all = {0};

    twalk_r(channels, gather, &all);
    return all;
}

struct about {
    uint32_t node;
};

/* A member that is here again joins and connects once more; until then it stays lost. */
static void expect_again(struct loco_channel *c, struct loco_member *member)
{
    member->joined = member->refused = false;
    member->endpoint = 0;
    if (!member->met)
        return;
    member->met = false;
    if (c->missing++ == 0 && c->joined)
        c->mgr->unready++;
}

static void join_with(const void *tree_node, VISIT visit, void *closure)
{
    struct loco_channel *c = *(struct loco_channel *const *)tree_node;
    const struct about *n = closure;
    int member = loco_channel_member(c, n->node);

    if (visit != postorder && visit != leaf)
        return;
    if (loco_member_lost(&c->members[member])) {
        if (!c->takes_back)
            return;
        expect_again(c, &c->members[member]);
    }
    if (c->joined)
        send_regions(c, &c->members[member], LOCO_JOIN);
}

void loco_channels_peer_up(struct loco_peer *peer, uint32_t node)
{
    struct about n = {node};

    twalk_r(peer->channels, join_with, &n);
}

static void lose(struct loco_member *member)
{
    atomic_store_explicit(&member->incarnation, (member->incarnation | 1) + 1,
                          memory_order_release);
}

static void mark_lost(const void *tree_node, VISIT visit, void *closure)
{
    struct loco_channel *c = *(struct loco_channel *const *)tree_node;
    int member = loco_channel_member(c, ((const struct about *)closure)->node);

    if (visit == postorder || visit == leaf)
        lose(&c->members[member]);
}

void loco_channels_mark_lost(struct loco_peer *peer, uint32_t node)
{
    struct about n = {node};

    twalk_r(peer->channels, mark_lost, &n);
}

void loco_channels_peer_lost(struct loco_manager *m, uint32_t node, bool left)
{
    const struct loco_peer *peer = loco_by_node_find(&m->peers, node);
    struct gathered all = gather_all(peer->channels);

    for (size_t i = 0; i < all.count; i++) {
        struct loco_channel *c = all.at[i];
        int member = loco_channel_member(c, node);
        if (c->missing && !c->members[member].met)
            m->error = m->error ? m->error : -ECONNRESET;
        if (c->ops && c->ops->on_lost)
            c->ops->on_lost(c, node);
    }
    free(all.at);
    if (!left)
        loco_log(m, LOCO_WARNING, "node %u: peer %u is lost", m->id, node);
}

static void list_missing(const struct loco_channel *c, char *list, size_t size)
{
    size_t length = 0;

    for (unsigned k = 0; k < c->member_count && length + 16 < size; k++)
        if (!c->members[k].met)
            length += (size_t)snprintf(list + length, size - length, " %u", c->members[k].node);
}

/* Of the first in the order of names: its sub-channels wait for the same. */
void loco_channels_explain_unready(struct loco_manager *m)
{
    struct gathered all = gather_all(m->channels);
    char list[160] = "";

    for (size_t i = 0; i < all.count; i++) {
        const struct loco_channel *c = all.at[i];
        if (!c->joined || !c->missing)
            continue;
        list_missing(c, list, sizeof list);
        loco_log(m, LOCO_ERROR, "node %u: channel %s still waits for %u node%s:%s", m->id, c->name,
                 c->missing, c->missing > 1 ? "s" : "", list);
        break;
    }
    free(all.at);
}

/* --- the endpoint ------------------------------------------------------------------- */

static void leave_peers(struct loco_channel *c)
{
    for (unsigned i = 0; i < c->member_count; i++) {
        struct loco_peer *peer = loco_by_node_find(&c->mgr->peers, c->members[i].node);
        if (peer && peer->channels)
            tdelete(c, &peer->channels, by_name);
    }
}

/* Each peer is connected to when the first channel names it, and only then. */
static int name_peer(struct loco_channel *c, struct loco_member *member)
{
    struct loco_manager *m = c->mgr;
    struct loco_peer *peer = loco_by_node_make(&m->peers, member->node);

    if (!peer || !tsearch(c, &peer->channels, by_name))
        return -ENOMEM;
    if (!peer->up && loco_peer_lost(m, member->node))
        lose(member);
    int rc = peer->named ? 0 : m->fabric->ops->meet(m->node, member->node);
    peer->named |= !rc;
    return rc;
}

static int name_peers(struct loco_channel *c)
{
    int rc = 0;

    for (unsigned i = 0; !rc && i < c->member_count; i++)
        rc = name_peer(c, &c->members[i]);
    if (rc)
        leave_peers(c);
    return rc;
}

/* Gives the endpoint its name and its peers; with the lock held. */
static int enter(struct loco_channel *c)
{
    struct loco_manager *m = c->mgr;
    struct loco_channel **entry = tsearch(c, &m->channels, by_name);

    if (!entry)
        return -ENOMEM;
    if (*entry != c)
        return -EEXIST;
    c->endpoint = ++m->endpoints;
    int rc = name_peers(c);
    if (rc)
        tdelete(c, &m->channels, by_name);
    return rc;
}

int loco_channel_init(struct loco_channel *c, struct loco_manager *m,
                      const struct loco_channel *parent, const char *name,
                      struct loco_members members, const struct loco_channel_ops *ops)
{
    *c = (struct loco_channel){0};
    if (!good_name(name))
        return -EINVAL;

    *c = (struct loco_channel){
        .mgr = m,
        .ops = ops,
        .takes_back = ops && ops->takes_back && (!parent || parent->takes_back),
        .agreement.lines = "",
    };
    int rc = set_members(c, members);
    if (rc)
        goto free_members;
    rc = -ENOMEM;
    c->name = full_name(parent, name);
    if (!c->name)
        goto free_members;
    rc = -EINVAL;
    if (strlen(c->name) >= sizeof((struct loco_packet_head *)0)->name)
        goto free_name;
    pthread_mutex_lock(&m->lock);
    rc = enter(c);
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
    if (count == LOCO_REGIONS_MAX || !loco_good_text(name) ||
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
        send_regions(c, &c->members[i], LOCO_JOIN);
    pthread_mutex_unlock(&c->mgr->lock);
}

void loco_channel_fini(struct loco_channel *c)
{
    if (!c->mgr)
        return;
    pthread_mutex_lock(&c->mgr->lock);
    tdelete(c, &c->mgr->channels, by_name);
    leave_peers(c);
    if (c->joined && c->missing)
        c->mgr->unready--;
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

/* Finds the link and the place for an operation; the errors are those of the header. */
__attribute__((always_inline)) static inline int
address(const struct loco_region *r, const struct loco_thread *t, unsigned m, size_t offset,
        size_t size, struct loco_link **link, struct loco_remote *at)
{
    const struct loco_channel *c = r->channel;

    if (!t)
        return -EPERM;
    if ((m >= c->member_count && m != LOCO_SELF) || offset > r->size || size > r->size - offset)
        return -ERANGE;
    if (m == LOCO_SELF) {
        *link = loco_thread_link(t, c->mgr->id);
        *at = r->where;
    } else {
        const struct loco_member *member = &c->members[m];
        uint32_t incarnation = atomic_load_explicit(&member->incarnation, memory_order_acquire);
        if (!(incarnation & 1))
            return incarnation ? -ECONNRESET : -ENOTCONN;
        *link = loco_thread_link(t, member->node);
        loco_copy(at, &r->peers[m], sizeof *at);
        /* Both are of one incarnation: an address is never used on a link to another. */
        atomic_thread_fence(memory_order_acquire);
        if (atomic_load_explicit(&member->incarnation, memory_order_relaxed) != incarnation)
            return -ECONNRESET;
    }
    at->offset += offset;
    return 0;
}

/* Numbers an operation, so that the fabric can say when it is done. */
static void number(struct loco_thread *t, struct loco_link *link)
{
    atomic_store_explicit(&link->posted, ++t->number, memory_order_relaxed);
}

/* Only now: a flush that another thread's fence posts is not to be taken for one that comes after
 * a write which was still about to be posted. */
static struct loco_ack posted(struct loco_thread *t, struct loco_link *link, uint32_t epoch,
                              bool writes, int rc)
{
    if (writes && rc >= 0)
        atomic_store_explicit(&link->written, t->number, memory_order_release);
    if (rc == LOCO_POSTED)
        return (struct loco_ack){.thread = t,
                                 .number = t->number,
                                 .peers = 1ull << (link->peer % 64),
                                 .group = link->peer / 64,
                                 .epoch = epoch};
    return (struct loco_ack){.error = rc < 0 ? rc : 0};
}

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

/* Each operation is the same but for the call in its middle. The epoch is read before the link:
 * it may be older than the link, but is never newer. */
#define OPERATION(m, offset, size, writes, call)                                                   \
    struct loco_link *link;                                                                        \
    struct loco_remote at;                                                                         \
    uint32_t epoch = atomic_load_explicit(&r->channel->mgr->epoch, memory_order_acquire);          \
    struct loco_thread *t = loco_self(r->channel->mgr);                                            \
    int rc = address(r, t, m, offset, size, &link, &at);                                           \
    if (rc)                                                                                        \
        return (struct loco_ack){.error = rc};                                                     \
    const struct loco_fabric_ops *fabric = t->mgr->fabric->ops;                                    \
    number(t, link);                                                                               \
    return posted(t, link, epoch, writes, call)

struct loco_ack loco_region_write(struct loco_region *r, unsigned m, size_t offset,
                                  const void *from, size_t size)
{
    OPERATION(m, offset, size, true, fabric->write(link, at, from, size));
}

struct loco_ack loco_region_read(struct loco_region *r, unsigned m, size_t offset, void *to,
                                 size_t size)
{
    OPERATION(m, offset, size, false, fabric->read(link, at, to, size));
}

struct loco_ack loco_region_fetch_add(struct loco_region *r, unsigned m, size_t offset,
                                      uint64_t add, uint64_t *old)
{
    OPERATION(m, offset, sizeof *old, false, fabric->fetch_add(link, at, add, old));
}

struct loco_ack loco_region_compare_swap(struct loco_region *r, unsigned m, size_t offset,
                                         uint64_t expected, uint64_t desired, uint64_t *old)
{
    OPERATION(m, offset, sizeof *old, false,
              fabric->compare_swap(link, at, expected, desired, old));
}
