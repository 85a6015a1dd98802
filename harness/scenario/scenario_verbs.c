/*
 * The fabric verbs: where the nodes are.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "scenario_resolve.h"

static int set_address(char **addresses, unsigned node, const char *address)
{
    free(addresses[node]); /* of a node that is named twice, which was reported */
    addresses[node] = strdup(address);
    return addresses[node] == NULL ? -ENOMEM : 0;
}

static int call_nodes(struct scenario_roll *roll, char **addresses)
{
    const struct file_verbs *file = &roll->loaded->file->verbs;
    unsigned first, last;
    int error = 0;

    for (unsigned i = 0;
         error == 0 && i < file->node_count && !scenario_report_is_full(roll->loaded->report);
         i++) {
        const struct file_verbs_node *entry = &file->nodes[i];
        scenario_roll_call(roll, i, entry->controller, entry->converters, &first, &last);
        if (entry->controller)
            error = set_address(addresses, 0, entry->address);
        for (unsigned id = first; error == 0 && id <= last; id++)
            error = set_address(addresses, 1 + id, entry->address);
    }
    return error;
}

/* Each node listens on a port of its own. */
static void check_ports(const struct scenario_loaded *loaded)
{
    unsigned port = loaded->file->verbs.port, count = loaded->file->converters.count;

    if (port + count > UINT16_MAX)
        scenario_mistake_in(loaded, "verbs.port",
                            "verbs.port is %u, and converter %u would have the port %u; allowed: "
                            "up to %u",
                            port, count - 1, port + count, UINT16_MAX - count);
}

static void check_flush(const struct scenario_loaded *loaded)
{
    unsigned bytes = loaded->file->verbs.flush_bytes;

    if (bytes != 0 && bytes != 8)
        scenario_mistake_in(loaded, "verbs.flush_bytes", "verbs.flush_bytes is %u; allowed: 0 or 8",
                            bytes);
}

int scenario_resolve_verbs(const struct scenario_loaded *loaded, struct hil_scenario *scenario)
{
    const struct scenario_file *file = loaded->file;
    struct hil_verbs_config *verbs = &scenario->verbs;
    struct scenario_roll roll = {.loaded = loaded, .list = "verbs.nodes", .gift = "an address"};

    check_flush(loaded);
    if (scenario->fabric != HIL_FABRIC_VERBS)
        return 0;
    check_ports(loaded);
    *verbs = (struct hil_verbs_config){
        .addresses = calloc(1 + file->converters.count, sizeof(verbs->addresses[0])),
        .port = (uint16_t)file->verbs.port,
        .completions = file->verbs.completions,
        .send_depth = file->verbs.send_depth,
        .timeout_exponent = file->verbs.timeout_exponent,
        .retry_count = file->verbs.retry_count,
        .traffic_class = file->verbs.traffic_class,
        .flush_bytes = file->verbs.flush_bytes,
    };
    roll.converters = calloc(file->converters.count, sizeof(bool));
    int error = verbs->addresses == NULL || roll.converters == NULL
                    ? -ENOMEM
                    : call_nodes(&roll, verbs->addresses);
    if (error == 0)
        scenario_roll_end(&roll);
    free(roll.converters);
    return error;
}

void scenario_free_verbs(struct hil_scenario *scenario)
{
    char **addresses = scenario->verbs.addresses;

    for (unsigned i = 0; addresses != NULL && i <= scenario->converter_count; i++)
        free(addresses[i]);
    free(addresses);
}
