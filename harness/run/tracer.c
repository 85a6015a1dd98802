#include "tracer.h"

const struct hil_tracer *hil_tracer;

void hil_trace_node(const struct hil_system *system, unsigned node)
{
    const struct hil_node_config *n = &system->nodes[node];
    char name[HIL_SIGNAL_NAME_BYTES];

    hil_instance_name(&n->is, name);
    HIL_TRACE(node, &(struct hil_traced_node){
                        .node = node,
                        .name = name,
                        .array = n->is.name,
                        .period_ns = n->timing.period_ns,
                    });
}

void hil_trace_link(const struct hil_system *system, unsigned link, const char *channel)
{
    const struct hil_link *l = &system->links[link];

    HIL_TRACE(link, &(struct hil_traced_link){
                        .link = link,
                        .from = l->from,
                        .to = l->to,
                        .back = hil_link_find(system, l->to, l->from),
                        .late = l->late,
                        .channel = channel,
                    });
}

void hil_trace_newer(struct hil_traced_step *step, uint32_t link, uint64_t sent, uint64_t acted_on)
{
    if (step->newer_count == HIL_TRACED_LINKS) {
        HIL_TRACE(links, step);
        step->newer_count = 0;
    }
    step->newer[step->newer_count++] = (struct hil_traced_newer){
        .link = link, .sent = (uint32_t)sent, .acted_on = (uint32_t)acted_on};
}
