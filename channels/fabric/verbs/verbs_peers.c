/*
 * What control/ asks of the verbs fabric about peers, and what the fabric tells it: the keys of
 * arenas, the end of a peer's access, and links that failed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "verbs_internal.h"

/* --- arenas: with the lock held --------------------------------------------------------------- */

void verbs_post_arena(struct control_connection *c, uint32_t number)
{
    const struct verbs_arena *a = &((struct verbs_node *)c->end.node)->own.at[number];
    const struct verbs_arena_notice notice = {
        .number = number, .key = a->remote_key, .base = a->base, .size = a->size};

    if (control_post(c, CONTROL_OWN, &notice, sizeof notice))
        control_connection_end(c); /* the peer would not know the arena */
}

static int peer_up(struct control_connection *control)
{
    struct verbs_connection *c = (struct verbs_connection *)control;
    struct verbs_node *n = (struct verbs_node *)control->end.node;

    c->arenas = calloc(1, sizeof *c->arenas);
    if (!c->arenas)
        return -ENOMEM;
    c->arenas->next = n->arenas;
    n->arenas = c->arenas;
    for (uint32_t i = 0; i < atomic_load(&n->own.count); i++)
        verbs_post_arena(control, i);
    return 0;
}

/* Notes an arena of the peer. A peer sends each once, and its addresses must not wrap around. */
static bool peer_learn_arena(struct control_connection *control,
                             const struct loco_control_message *m)
{
    const struct verbs_connection *c = (struct verbs_connection *)control;
    struct verbs_arena_notice a;

    if (m->size != sizeof a)
        return false;
    memcpy(&a, m->body, sizeof a);
    if (a.number >= VERBS_ARENAS_MAX || c->arenas->at[a.number].size || !a.size ||
        a.size > UINT64_MAX - a.base)
        return false;
    c->arenas->at[a.number] =
        (struct verbs_arena){.base = a.base, .size = a.size, .remote_key = a.key};
    return true;
}

/* --- the loss of a peer: with the lock held ----------------------------------------------------
 */

/* The peer's operations end with the queue pairs, which the connecting thread destroys later. */
static void peer_cut_off(struct control_connection *control)
{
    struct verbs_node *n = (struct verbs_node *)control->end.node;
    struct ibv_qp_attr error = {.qp_state = IBV_QPS_ERR};

    verbs_links_break(n, ((struct verbs_connection *)control)->arenas);
    for (struct verbs_end **at = &n->targets, *end; (end = *at);) {
        if (end->peer != control->peer->id) {
            at = &end->next;
            continue;
        }
        ibv_modify_qp(end->id->qp, &error, IBV_QP_STATE);
        *at = end->next;
        end->next = n->dead;
        n->dead = end;
    }
    verbs_wake(n->verbs->wake_connecting);
}

/* The greeting of a link, which here goes by librdmacm. */
static void peer_refuse_link(struct control_connection *stranger)
{
    control_refuse(stranger, LOCO_UNKNOWN);
}

const struct control_hooks verbs_hooks = {
    .connection_size = sizeof(struct verbs_connection),
    .up = peer_up,
    .heard = peer_learn_arena,
    .cut_off = peer_cut_off,
    .linked = peer_refuse_link,
};

void verbs_lose_self(struct verbs_node *n)
{
    if (!n->own_loss)
        return;
    verbs_links_break(n, &n->own);
    control_warn(&n->control, "node %u: its RDMA device failed, or is gone", n->control.base.id);
    control_tell_loss(n->own_loss, false);
    n->own_loss = NULL;
}

int verbs_link_key(const struct verbs_node *n, uint32_t peer, struct loco_key *key)
{
    const struct control_connection *c = n->control.peers[peer].connection;

    if (peer == n->control.base.id)
        *key = n->own_links;
    else if (c && c->greet.proven && !c->down)
        *key = c->greet.links;
    else
        return -ECONNRESET;
    return 0;
}

/* --- without the lock ---------------------------------------------------------------------------
 */

/* What the peer said before its links broke is heard first: it may have left in order. */
void verbs_link_failed(struct verbs_link *l, enum ibv_wc_status status)
{
    struct verbs_node *n = l->node;

    pthread_mutex_lock(&n->verbs->control.lock);
    struct verbs_connection *c = verbs_connection_to(n, l->base.peer);
    if (l->base.peer == n->control.base.id)
        verbs_lose_self(n);
    else if (c && control_is_up(&c->control) && c->arenas == l->arenas)
        control_doubt(&c->control, 0,
                      status == IBV_WC_WR_FLUSH_ERR ? NULL : ibv_wc_status_str(status));
    pthread_mutex_unlock(&n->verbs->control.lock);
}
