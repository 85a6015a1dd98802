#include "waiting.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static const uint64_t LOOK_NS = 1000000000;

/* Appends to a text, which is cut if it gets too long. */
__attribute__((format(printf, 2, 3))) static void waiting_add(char text[HIL_WAITING_BYTES],
                                                              const char *format, ...)
{
    const size_t used = strlen(text);
    va_list values;

    va_start(values, format);
    vsnprintf(text + used, HIL_WAITING_BYTES - used, format, values);
    va_end(values);
}

/* --- which nodes ------------------------------------------------------------------------------ */

/* Selects the nodes to name, among the members of a node's links. */
typedef bool waiting_which(const struct hil_node *node, const struct loco_member *member);

static bool waiting_is_absent(const struct hil_node *node, const struct loco_member *member)
{
    (void)node;
    return !loco_member_connected(member);
}

static bool waiting_is_lost(const struct hil_node *node, const struct loco_member *member)
{
    (void)node;
    return loco_member_lost(member);
}

static bool waiting_is_unended(const struct hil_node *node, const struct loco_member *member)
{
    return !hil_node_peer_ended(node, member->node);
}

/* Whether the node is selected, as seen by any of the group's nodes. */
static bool waiting_is(const struct hil_group *g, waiting_which *which, uint32_t node)
{
    for (unsigned i = 0; i < g->count; i++) {
        const struct loco_channel *c = &g->nodes[i]->links.channel;
        const int member = loco_channel_member(c, node);
        if (member >= 0 && which(g->nodes[i], &c->members[member]))
            return true;
    }
    return false;
}

static const char *waiting_address(const struct hil_scenario *s, uint32_t node)
{
    const char *address = s->system->nodes[node].address;

    return hil_has_addresses(s) && address ? address : "";
}

/* The last of the consecutive selected nodes from `first` on that are of one array and at one
 * address. */
static uint32_t waiting_last(const struct hil_group *g, waiting_which *which, uint32_t first)
{
    const struct hil_scenario *s = g->run->scenario;
    const struct hil_node_config *nodes = s->system->nodes;
    uint32_t last = first;

    while (last + 1 < s->system->node_count && nodes[last + 1].array == nodes[first].array &&
           waiting_is(g, which, last + 1) &&
           strcmp(waiting_address(s, first), waiting_address(s, last + 1)) == 0)
        last++;
    return last;
}

static void waiting_add_range(const struct hil_scenario *s, uint32_t first, uint32_t last,
                              char text[HIL_WAITING_BYTES])
{
    hil_nodes_name_add(s->system, first, last, text);
    if (!hil_has_addresses(s))
        return;
    const unsigned port = s->fabric == HIL_FABRIC_VERBS ? s->verbs.port : s->tcp.port;
    waiting_add(text, " at %s, port %u", waiting_address(s, first), port + first);
    if (last > first)
        waiting_add(text, "-%u", port + last);
}

static void waiting_name(const struct hil_group *g, waiting_which *which,
                         char text[HIL_WAITING_BYTES])
{
    const struct hil_scenario *s = g->run->scenario;

    text[0] = '\0';
    for (uint32_t node = 0; node < s->system->node_count; node++) {
        if (!waiting_is(g, which, node))
            continue;
        const uint32_t last = waiting_last(g, which, node);
        waiting_add_range(s, node, last, text);
        node = last;
    }
}

void hil_waiting_lost(const struct hil_group *g, char text[HIL_WAITING_BYTES])
{
    waiting_name(g, waiting_is_lost, text);
}

void hil_waiting_unended(const struct hil_group *g, char text[HIL_WAITING_BYTES])
{
    waiting_name(g, waiting_is_unended, text);
}

void hil_waiting_whom(const struct hil_group *g, char text[HIL_WAITING_BYTES])
{
    const struct hil_scenario *s = g->run->scenario;

    waiting_name(g, waiting_is_absent, text);
    if (!text[0]) /* nodes know only their peers and node 0 */
        waiting_add(text, "nodes that others name");
    if (s->fabric == HIL_FABRIC_SHM && g->run->place)
        waiting_add(text, " in %s", g->run->place);
}

/* --- reporting -------------------------------------------------------------------------------- */

void hil_waiting_begin(struct hil_waiting *w, const struct hil_group *g)
{
    const time_t now = time(NULL);
    struct tm local;

    *w = (struct hil_waiting){.group = g, .look_ns = loco_clock(g->nodes[0]->mgr) + 2 * LOOK_NS};
    strftime(w->since, sizeof w->since, "%H:%M:%S", localtime_r(&now, &local));
}

void hil_waiting_look(struct hil_waiting *w)
{
    const struct hil_run *run = w->group->run;
    char whom[HIL_WAITING_BYTES], text[HIL_WAITING_BYTES + 40];

    if (loco_clock(w->group->nodes[0]->mgr) < w->look_ns)
        return;
    w->look_ns += LOOK_NS;
    hil_waiting_whom(w->group, whom);
    if (!run->log || strcmp(whom, w->said) == 0)
        return;
    strcpy(w->said, whom);
    snprintf(text, sizeof text, "waiting since %s for %s", w->since, whom);
    run->log(run->log_arg, LOCO_WARNING, text);
}
