/* Nodes: their loops, their executors, their addresses, and the latencies between them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "general.h"

/* In the order of the enums. */
static const char *const node_overruns[] = {"catch_up", "skip", "halt"};
static const char *const node_stales[] = {"hold", "safe", "end"};
static const char *const node_schedulers[] = {"other", "fifo", "deadline"};
static const char *const node_waits[] = {"spin", "hybrid"};
static const char *const node_completions[] = {"inline", "polled"};
static const char *const node_service_waits[] = {"sleep", "spin"};

#define WORD(block, key, words) general_word(block, key, words, sizeof(words) / sizeof((words)[0]))

/* The record has a group with each node's name, and groups with these reserved names. */
static void node_check_name(const struct general *g, const struct scenario_entry *entry)
{
    if (strcmp(entry->key, "histograms") == 0 || strcmp(entry->key, "events") == 0)
        scenario_mistake(
            g->report, &entry->at,
            "a node named %s would be mistaken for the record's %s; allowed: another name",
            entry->key, entry->key);
}

/* The file for a node of an array, such as cell-000 (harness/record/streams.c), could also be the
 * name of a node. */
static void node_check_file(const struct general *g, const struct general_group *group)
{
    const char *dash = strrchr(group->name, '-');
    const size_t digits = dash ? strspn(dash + 1, "0123456789") : 0;
    const int array =
        digits ? hil_names_find(&g->nodes.names, group->name, (size_t)(dash - group->name)) : -1;

    if (group->of || array < 0 || dash[1 + digits])
        return;
    const struct general_group *other = &g->nodes.at[array];
    const struct hil_instance node = {other->name, (unsigned)strtoul(dash + 1, NULL, 10),
                                      other->of};
    char name[HIL_SIGNAL_NAME_BYTES];
    if (node.index < node.of && digits == hil_index_digits(node.of)) {
        hil_instance_name(&node, name);
        scenario_mistake(g->report, &group->block->at,
                         "the tables of the nodes %s and %s would both be called %s.csv; allowed: "
                         "another name",
                         group->name, name, group->name);
    }
}

/* Reads names, blocks and counts of the entries of nodes:. */
static int node_groups(struct general *g)
{
    const struct scenario_node *blocks = scenario_node_get(g->root, "nodes");
    struct general_groups *groups = &g->nodes;
    unsigned total = 0;

    groups->at = hil_pool_get(g->system->pool, blocks->count, sizeof groups->at[0]);
    if (!groups->at || hil_names_open(&groups->names, blocks->count))
        return -ENOMEM;
    if (blocks->count == 0)
        scenario_mistake(g->report, &blocks->at, "nodes has none; allowed: at least one");
    for (unsigned i = 0; i < blocks->count; i++) {
        const struct scenario_node *block = blocks->entries[i].value;
        const unsigned of = (unsigned)general_number(block, "count", 0);
        char *name = hil_pool_text(g->system->pool, blocks->entries[i].key);
        if (!name)
            return -ENOMEM;
        groups->at[groups->count++] = (struct general_group){
            .name = name, .block = block, .first = total, .count = of ? of : 1, .of = of};
        hil_names_add(&groups->names, name, i);
        node_check_name(g, &blocks->entries[i]);
        total += of ? of : 1;
        if (total <= SCENARIO_NODES_MAX)
            continue;
        scenario_mistake(g->report, &block->at, "there are %u nodes with this; allowed: up to %d",
                         total, SCENARIO_NODES_MAX);
        return 0;
    }
    g->system->node_count = total;
    return 0;
}

static void node_fill(const struct general *g, const struct general_group *group, unsigned i,
                      const int *shard_cpus)
{
    const struct scenario_node *block = group->block;
    const bool real = g->scenario->mode == HIL_REALTIME;
    const double limit = general_number(block, "catch_up_limit", 0);
    const double phase_us = general_number(block, "phase_us", i) +
                            (real ? general_number(block, "realtime_phase_us", 0) : 0);
    const uint64_t period_ns = general_ns(block, "period_us", i, 1e3);
    const uint64_t resync_ns = general_ns(block, "resync_after_us", 0, 1e3);

    g->system->nodes[group->first + i] = (struct hil_node_config){
        .is = {group->name, i, group->of},
        .array = (unsigned)(group - g->nodes.at),
        .timing = {.period_ns = period_ns,
                   .phase_ns =
                       scenario_ns(phase_us, 1e3) + i * general_ns(block, "stagger_us", 0, 1e3),
                   .overrun = scenario_node_get(block, "overrun")
                                  ? WORD(block, "overrun", node_overruns)
                                  : HIL_SKIP,
                   .catch_up_ns = limit == 0 ? 0 : (uint64_t)((double)period_ns / limit),
                   .resync_ns = resync_ns ? resync_ns : 10 * period_ns},
        .shards = (unsigned)general_number(block, "shards", 0),
        .shard_cpus = shard_cpus,
        .stale = {.limit_ns = general_ns(block, "input_age_limit_us", 0, 1e3),
                  .action = WORD(block, "on_stale_input", node_stales),
                  .bad_limit = (unsigned)general_number(block, "bad_inputs_limit", 0)},
    };
}

/* The cpus of an entry's further threads; NULL: memory ran out. */
static const int *node_shard_cpus(const struct general *g, const struct general_group *group)
{
    const struct scenario_node *list = scenario_node_get(group->block, "shard_cpus");
    const unsigned further = (unsigned)general_number(group->block, "shards", 0) - 1;
    int *cpus = hil_pool_get(g->system->pool, further + 1, sizeof *cpus);

    if (list->count && list->count != further)
        scenario_mistake(g->report, &list->at,
                         "nodes.%s.shard_cpus is a list of %zu; allowed: a list of %u, one entry "
                         "for each shard after the first, or none",
                         group->name, list->count, further);
    for (unsigned i = 0; cpus && i < further; i++)
        cpus[i] = i < list->count ? atoi(list->entries[i].value->text) : -1;
    return cpus;
}

static void node_check(const struct general *g, const struct general_group *group)
{
    const struct scenario_node *limit = scenario_node_get(group->block, "catch_up_limit");
    const double value = strtod(limit->text, NULL);

    if (value != 0 && value <= 1)
        scenario_mistake(g->report, &limit->at,
                         "nodes.%s.catch_up_limit is %g, and it would never catch up; allowed: 0, "
                         "or more than 1",
                         group->name, value);
}

int general_nodes(struct general *g)
{
    int rc = node_groups(g);

    if (rc)
        return rc;
    g->system->nodes =
        hil_pool_get(g->system->pool, g->system->node_count, sizeof g->system->nodes[0]);
    g->system->node_arrays = general_arrays(g, &g->nodes);
    g->system->node_array_count = g->nodes.count;
    if (!g->system->nodes || !g->system->node_arrays)
        return -ENOMEM;
    for (unsigned n = 0; n < g->nodes.count && g->system->node_count; n++) {
        const struct general_group *group = &g->nodes.at[n];
        node_check(g, group);
        node_check_file(g, group);
        if (!general_fits(g, group->block, "period_us", group->count, "nodes") ||
            !general_fits(g, group->block, "phase_us", group->count, "nodes"))
            continue;
        const int *shard_cpus = node_shard_cpus(g, group);
        if (!shard_cpus)
            return -ENOMEM;
        for (unsigned i = 0; i < group->count; i++)
            node_fill(g, group, i, shard_cpus);
    }
    return 0;
}

/* --- lists that name each node once ----------------------------------------------------------- */

/* Marks the nodes that this value names as belonging to entry `entry` of the list. */
static void node_claim(const struct general *g, const struct scenario_node *names, unsigned entry,
                       const char *gift, unsigned *entry_of)
{
    char name[HIL_SIGNAL_NAME_BYTES];

    for (unsigned i = 0; i < general_text_count(names); i++) {
        const struct scenario_node *text = general_text_at(names, i);
        unsigned first, last;
        if (!general_find(g, &g->nodes, text, strlen(text->text), &first, &last))
            continue;
        for (unsigned n = first; n <= last; n++) {
            if (!entry_of[n]) {
                entry_of[n] = entry + 1;
                continue;
            }
            hil_instance_name(&g->system->nodes[n].is, name);
            scenario_mistake(g->report, &text->at,
                             "'%.100s' gives the node %s %s for the second time; allowed: once",
                             text->text, name, gift);
            break;
        }
    }
}

/* By node: the index of the list's entry that names it. */
static unsigned *node_roll(const struct general *g, const struct scenario_node *list,
                           const char *gift)
{
    char name[HIL_SIGNAL_NAME_BYTES];
    unsigned *entry_of = hil_pool_get(g->system->pool, g->system->node_count, sizeof *entry_of);

    for (unsigned i = 0; entry_of && i < list->count; i++)
        node_claim(g, scenario_node_get(list->entries[i].value, "nodes"), i, gift, entry_of);
    for (unsigned n = 0; entry_of && n < g->system->node_count; n++) {
        if (entry_of[n])
            continue;
        hil_instance_name(&g->system->nodes[n].is, name);
        scenario_mistake(g->report, &list->at, "the node %s is not given %s; allowed: each once",
                         name, gift);
        break;
    }
    return entry_of;
}

/* --- fabrics, and the simulated network of virtual time --------------------------------------- */

static void node_network(const struct general *g)
{
    const struct scenario_node *block = scenario_node_get(g->root, "network");

    g->scenario->network = (struct hil_network){
        .jitter_ns = general_ns(block, "jitter_us", 0, 1e3),
        .seed = (uint64_t)general_number(block, "seed", 0),
    };
}

/* Each node listens on its own port. */
static void node_check_ports(const struct general *g, const char *fabric)
{
    const struct scenario_node *block = scenario_node_get(g->root, fabric);
    const unsigned port = (unsigned)general_number(block, "port", 0);
    const unsigned last = g->system->node_count - 1;
    char name[HIL_SIGNAL_NAME_BYTES];

    if (port + last <= UINT16_MAX)
        return;
    hil_instance_name(&g->system->nodes[last].is, name);
    scenario_mistake(g->report, &scenario_node_get(block, "port")->at,
                     "%s.port is %u, and %s would have the port %u; allowed: up to %u", fabric,
                     port, name, port + last, UINT16_MAX - last);
}

static void node_check_verbs(const struct general *g)
{
    const struct scenario_node *verbs = scenario_node_get(g->root, "verbs");
    const unsigned bytes = (unsigned)general_number(verbs, "flush_bytes", 0);

    if (bytes != 0 && bytes != 8)
        scenario_mistake(g->report, &scenario_node_get(verbs, "flush_bytes")->at,
                         "verbs.flush_bytes is %u; allowed: 0 or 8", bytes);
}

static void node_verbs(const struct general *g)
{
    const struct scenario_node *block = scenario_node_get(g->root, "verbs");

    g->scenario->verbs = (struct hil_verbs_config){
        .port = (uint16_t)general_number(block, "port", 0),
        .completions = WORD(block, "completions", node_completions),
        .send_depth = (unsigned)general_number(block, "send_depth", 0),
        .timeout_exponent = (unsigned)general_number(block, "timeout_exponent", 0),
        .retry_count = (unsigned)general_number(block, "retry_count", 0),
        .timeout_ms = (unsigned)general_number(block, "timeout_ms", 0),
        .traffic_class = (unsigned)general_number(block, "traffic_class", 0),
        .flush_bytes = (unsigned)general_number(block, "flush_bytes", 0),
    };
}

static void node_tcp(const struct general *g)
{
    const struct scenario_node *block = scenario_node_get(g->root, "tcp");

    g->scenario->tcp = (struct hil_tcp_config){
        .port = (uint16_t)general_number(block, "port", 0),
        .timeout_ms = (unsigned)general_number(block, "timeout_ms", 0),
        .cpu = (int)general_number(block, "cpu", 0),
        .wait = WORD(block, "wait", node_service_waits),
    };
}

/* --- shards -------------------------------------------------------------------------------- */

/* The number of other nodes with links to this one: each shard needs at least one. */
static unsigned node_count_peers(const struct hil_system *s, const struct hil_node_config *n)
{
    unsigned peers = n->link_count, at = 0;

    for (unsigned i = 0; i < n->incoming_count; i++) {
        const unsigned from = s->links[n->incoming[i]].from;
        while (at < n->link_count && s->links[n->first_link + at].to < from)
            at++;
        peers += at == n->link_count || s->links[n->first_link + at].to != from;
    }
    return peers;
}

static void node_check_shards(const struct general *g, const struct general_group *group)
{
    const struct scenario_node *shards = scenario_node_get(group->block, "shards");
    char name[HIL_SIGNAL_NAME_BYTES];

    for (unsigned i = group->first; i < group->first + group->count; i++) {
        const struct hil_node_config *n = &g->system->nodes[i];
        const unsigned peers = node_count_peers(g->system, n);
        if (n->shards == 1 || n->shards <= peers)
            continue;
        hil_instance_name(&n->is, name);
        if (peers)
            scenario_mistake(g->report, &shards->at,
                             "nodes.%s.shards is %u, but the node %s has links with %u others; "
                             "allowed: up to %u",
                             group->name, n->shards, name, peers, peers);
        else
            scenario_mistake(
                g->report, &shards->at,
                "nodes.%s.shards is %u, but the node %s has no links to split; allowed: 1",
                group->name, n->shards, name);
        return;
    }
}

/* The threads of a node's shards belong to its executor. */
static void node_give_shards(const struct hil_system *s, struct hil_executor_config *executor)
{
    if (executor->count != 1)
        return;
    executor->further = s->nodes[executor->nodes[0]].shards - 1;
    executor->further_cpus = s->nodes[executor->nodes[0]].shard_cpus;
}

/* --- placement ----------------------------------------------------------------------------- */

static int node_place(const struct general *g, const struct scenario_node *block,
                      const unsigned *entry_of, unsigned entry, struct hil_executor_config *placed)
{
    unsigned *nodes;

    *placed = (struct hil_executor_config){
        .cpu = (int)general_number(block, "cpu", 0),
        .priority = (int)general_number(block, "priority", 0),
        .scheduler = WORD(block, "scheduler", node_schedulers),
        .wait = WORD(block, "wait", node_waits),
    };
    for (unsigned n = 0; n < g->system->node_count; n++)
        placed->count += entry_of[n] == entry + 1;
    placed->nodes = nodes = hil_pool_get(g->system->pool, placed->count, sizeof *nodes);
    for (unsigned n = 0; nodes && n < g->system->node_count; n++)
        if (entry_of[n] == entry + 1)
            *nodes++ = n;
    return placed->nodes ? 0 : -ENOMEM;
}

/* By node: whether it has a component whose code may hang or crash. In real time such a node must
 * not take others with it. */
static bool *node_find_apart(const struct general *g)
{
    bool *apart = hil_pool_get(g->system->pool, g->system->node_count, sizeof *apart);

    for (unsigned i = 0; apart && i < g->system->component_count; i++) {
        const struct hil_component *c = &g->system->components[i];
        apart[c->node] |= hil_model_is_apart(c->model);
    }
    return apart;
}

/* Whether the node has its own executor by default. */
static bool node_is_alone(const struct general *g, const bool *apart, unsigned node)
{
    return apart[node] || g->system->nodes[node].shards > 1;
}

/* Without placement there is an executor for each entry of nodes:, and one for each node that is
 * alone. The first executor of an entry has its cpu. */
static int node_place_all(struct general *g, const bool *apart)
{
    struct hil_system *s = g->system;
    unsigned *sorted = hil_pool_get(s->pool, s->node_count, sizeof *sorted);

    s->executors = hil_pool_get(s->pool, s->node_count, sizeof s->executors[0]);
    if (!sorted || !s->executors)
        return -ENOMEM;
    for (unsigned i = 0; i < g->nodes.count; i++) {
        const struct general_group *group = &g->nodes.at[i];
        struct hil_executor_config config = {
            .cpu = (int)general_number(group->block, "cpu", 0),
            .priority = (int)general_number(group->block, "priority", 0),
            .scheduler = WORD(group->block, "scheduler", node_schedulers),
            .wait = WORD(group->block, "wait", node_waits),
        };
        config.nodes = sorted;
        for (unsigned n = group->first; n < group->first + group->count; n++)
            if (!node_is_alone(g, apart, n))
                sorted[config.count++] = n;
        sorted += config.count;
        if (config.count) {
            s->executors[s->executor_count++] = config;
            config.cpu = -1;
        }
        config.count = 1;
        for (unsigned n = group->first; n < group->first + group->count; n++) {
            if (!node_is_alone(g, apart, n))
                continue;
            *sorted = n;
            config.nodes = sorted++;
            node_give_shards(s, &config);
            s->executors[s->executor_count++] = config;
            config.cpu = -1;
        }
    }
    return 0;
}

/* A node that may crash shares its process only with other such nodes, and only if the scenario
 * says so. */
static void node_check_apart(const struct general *g, const bool *apart,
                             const struct hil_executor_config *placed,
                             const struct scenario_node *block)
{
    char name[HIL_SIGNAL_NAME_BYTES];
    unsigned first = 0;

    while (first < placed->count && !apart[placed->nodes[first]])
        first++;
    for (unsigned i = 0; first < placed->count && i < placed->count; i++) {
        if (apart[placed->nodes[i]])
            continue;
        hil_instance_name(&g->system->nodes[placed->nodes[first]].is, name);
        scenario_mistake(g->report, &scenario_node_get(block, "nodes")->at,
                         "the node %s has a component that may hang or crash, but is placed with "
                         "nodes without one; allowed: an entry of its own",
                         name);
        return;
    }
}

/* An executor with several threads must run a single node. */
static void node_check_sharded(const struct general *g, const struct hil_executor_config *placed,
                               const struct scenario_node *block)
{
    char name[HIL_SIGNAL_NAME_BYTES];

    for (unsigned i = 0; placed->count > 1 && i < placed->count; i++) {
        const struct hil_node_config *n = &g->system->nodes[placed->nodes[i]];
        if (n->shards == 1)
            continue;
        hil_instance_name(&n->is, name);
        scenario_mistake(g->report, &scenario_node_get(block, "nodes")->at,
                         "the node %s has %u shards, but is placed with other nodes; allowed: an "
                         "entry of its own",
                         name, n->shards);
        return;
    }
}

static int node_listed_addresses(const struct general *g, const struct scenario_node *list)
{
    unsigned *entry_of = node_roll(g, list, "an address");

    if (!entry_of)
        return -ENOMEM;
    for (unsigned n = 0; n < g->system->node_count; n++) {
        if (!entry_of[n])
            continue;
        const struct scenario_node *entry = list->entries[entry_of[n] - 1].value;
        g->system->nodes[n].address =
            hil_pool_text(g->system->pool, general_text(entry, "address"));
        if (!g->system->nodes[n].address)
            return -ENOMEM;
    }
    return 0;
}

/* With a rendezvous there must be no list. */
static void node_check_rendezvous(const struct general *g, const char *fabric,
                                  const struct scenario_node *list)
{
    if (list->count > 0)
        scenario_mistake(g->report, &scenario_node_get(g->root, "rendezvous")->at,
                         "rendezvous and %s.nodes both say where nodes are; allowed: one of them",
                         fabric);
}

/* The first node's process listens on the rendezvous's port as well. */
static void node_check_rendezvous_port(const struct general *g)
{
    const struct hil_rendezvous_place *place = &g->scenario->rendezvous;
    const unsigned first = g->scenario->tcp.port, last = first + g->system->node_count - 1;
    char name[HIL_SIGNAL_NAME_BYTES];

    if (place->port < first || place->port > last)
        return;
    hil_instance_name(&g->system->nodes[place->port - first].is, name);
    scenario_mistake(g->report, &scenario_node_get(g->root, "rendezvous")->at,
                     "the rendezvous has the port %u, and so would %s; allowed: none of %u to %u",
                     place->port, name, first, last);
}

/* Reads the addresses of nodes, for a fabric that uses them. */
static int node_addresses(struct general *g)
{
    const char *fabric = hil_fabric_name(g->scenario->fabric);

    node_network(g);
    node_check_verbs(g);
    if (!hil_has_addresses(g->scenario))
        return 0;
    node_check_ports(g, fabric);
    if (g->scenario->fabric == HIL_FABRIC_VERBS)
        node_verbs(g);
    else
        node_tcp(g);
    const struct scenario_node *list =
        scenario_node_get(scenario_node_get(g->root, fabric), "nodes");
    if (g->scenario->rendezvous.host[0]) {
        node_check_rendezvous(g, fabric, list);
        if (g->scenario->fabric == HIL_FABRIC_TCP)
            node_check_rendezvous_port(g);
        return 0;
    }
    if (list->count > 0 || g->scenario->fabric == HIL_FABRIC_VERBS)
        return node_listed_addresses(g, list);
    for (unsigned n = 0; n < g->system->node_count; n++)
        g->system->nodes[n].address = "127.0.0.1";
    return 0;
}

int general_placement(struct general *g)
{
    const struct scenario_node *list = scenario_node_get(g->root, "placement");
    struct hil_system *s = g->system;

    const bool *apart = node_find_apart(g);
    int rc = apart ? node_addresses(g) : -ENOMEM;

    for (unsigned i = 0; i < g->nodes.count; i++)
        node_check_shards(g, &g->nodes.at[i]);
    if (rc || !list)
        return rc ? rc : node_place_all(g, apart);
    s->executor_count = (unsigned)list->count;
    s->executors = hil_pool_get(s->pool, s->executor_count, sizeof s->executors[0]);
    const unsigned *entry_of = s->executors ? node_roll(g, list, "a place") : NULL;
    if (!entry_of)
        return -ENOMEM;
    for (unsigned i = 0; !rc && i < s->executor_count; i++) {
        rc = node_place(g, list->entries[i].value, entry_of, i, &s->executors[i]);
        if (rc || g->scenario->mode != HIL_REALTIME)
            continue;
        node_check_apart(g, apart, &s->executors[i], list->entries[i].value);
        node_check_sharded(g, &s->executors[i], list->entries[i].value);
        node_give_shards(s, &s->executors[i]);
    }
    return rc;
}

/* --- latencies ----------------------------------------------------------------------------- */

int general_latencies(struct general *g)
{
    const struct scenario_node *network = scenario_node_get(g->root, "network");
    const struct scenario_node *list = scenario_node_get(network, "links");
    const uint64_t all_ns = general_ns(network, "latency_us", 0, 1e3);

    for (unsigned l = 0; l < g->system->link_count; l++)
        g->system->links[l].latency_ns = all_ns;
    for (unsigned i = 0; i < list->count; i++) {
        const struct scenario_node *block = list->entries[i].value;
        const struct scenario_node *from = scenario_node_get(block, "from");
        const struct scenario_node *to = scenario_node_get(block, "to");
        const uint64_t latency_ns = general_ns(block, "latency_us", 0, 1e3);
        unsigned first_from, last_from, first_to, last_to, found = 0;
        if (!general_find(g, &g->nodes, from, strlen(from->text), &first_from, &last_from) ||
            !general_find(g, &g->nodes, to, strlen(to->text), &first_to, &last_to))
            continue;
        for (unsigned l = 0; l < g->system->link_count; l++) {
            struct hil_link *link = &g->system->links[l];
            if (link->from < first_from || link->from > last_from || link->to < first_to ||
                link->to > last_to)
                continue;
            link->latency_ns = latency_ns;
            found++;
        }
        if (!found)
            scenario_mistake(g->report, &block->at,
                             "no link goes from %.100s to %.100s; allowed: nodes with a connection",
                             from->text, to->text);
    }
    return 0;
}
