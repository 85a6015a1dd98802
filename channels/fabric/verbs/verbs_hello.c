/* What a request for a link contains, and how a node makes one. */
#include <errno.h>
#include <string.h>

#include "../addresses.h"
#include "verbs_internal.h"

enum {
    RETRY_COUNT = 7,      /* default: retries after acknowledge time-outs */
    TIMEOUT_EXPONENT = 16 /* default: the length of such a time-out */
};

struct verbs_hello verbs_hello_of(const struct verbs_node *n)
{
    return (struct verbs_hello){.magic = VERBS_MAGIC,
                                .version = VERBS_VERSION,
                                .node = n->control.base.id,
                                .count = n->control.base.count};
}

struct verbs_hello verbs_hello_from(const struct rdma_cm_event *e)
{
    struct verbs_hello h = {0};

    if (e->param.conn.private_data && e->param.conn.private_data_len >= sizeof h)
        memcpy(&h, e->param.conn.private_data, sizeof h);
    return h.magic == VERBS_MAGIC && h.version == VERBS_VERSION ? h : (struct verbs_hello){0};
}

struct loco_claim verbs_claim_of_link(const struct verbs_node *n, uint32_t from, uint32_t to,
                                      const struct loco_nonce *given)
{
    return loco_claim_of(LOCO_OF_LINK, from, to, n->control.base.count, &(struct loco_nonce){{0}},
                         given);
}

/* Asks for as many reads and atomics in flight as both devices can. */
struct rdma_conn_param verbs_connect_parameters(const struct verbs_node *n,
                                                const struct verbs_hello *h)
{
    unsigned retries = n->verbs->config.retry_count;

    return (struct rdma_conn_param){
        .private_data = h,
        .private_data_len = sizeof *h,
        .responder_resources = RDMA_MAX_RESP_RES,
        .initiator_depth = RDMA_MAX_INIT_DEPTH,
        .retry_count = (uint8_t)(retries ? retries : RETRY_COUNT),
    };
}

/* A kernel that does not know an option ignores it. Without the first a silent peer is noticed
 * later.
 */
void verbs_connect_set_options(const struct verbs_node *n, struct rdma_cm_id *id)
{
    const struct loco_verbs_config *config = &n->verbs->config;
    uint8_t timeout = TIMEOUT_EXPONENT, class = (uint8_t)config->traffic_class;

    if (config->timeout_exponent)
        timeout = (uint8_t)config->timeout_exponent;
    rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &timeout, sizeof timeout);
    if (class)
        rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &class, sizeof class);
}

struct sockaddr_storage verbs_connect_address(const struct verbs_node *n, uint32_t id,
                                              bool listening)
{
    const uint16_t port = n->verbs->config.port;

    return loco_address_with_port(&n->control.addresses[id], listening ? (uint16_t)(port + id) : 0);
}

int verbs_connect_resolve(const struct verbs_node *n, struct rdma_cm_id *id, uint32_t peer)
{
    struct sockaddr_storage from = verbs_connect_address(n, n->control.base.id, false);
    struct sockaddr_storage to = verbs_connect_address(n, peer, true);

    verbs_connect_set_options(n, id);
    return rdma_resolve_addr(id, (struct sockaddr *)&from, (struct sockaddr *)&to, VERBS_RESOLVE_MS)
               ? -errno
               : 0;
}
