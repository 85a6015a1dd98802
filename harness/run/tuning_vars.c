#include "tuning_vars.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "lines.h"

static int vars_init_one(struct loco_owned_var *var, struct loco_channel *parent, const char *name,
                         unsigned node, bool from_node, size_t size)
{
    const uint32_t owner = from_node ? node : 0, reader = from_node ? 0 : node;
    char full[32];

    snprintf(full, sizeof full, "%s-%u", name, node);
    return loco_owned_var_init(var, parent->mgr, parent, full, owner,
                               (struct loco_members){&reader, 1}, size);
}

static int vars_init_of(struct hil_tuning_var *v, struct loco_channel *parent, unsigned node)
{
    int rc =
        vars_init_one(&v->request, parent, "tune", node, false, sizeof(struct hil_tuning_message));

    if (!rc)
        rc = vars_init_one(&v->notice, parent, "notice", node, false, sizeof(uint64_t));
    if (!rc)
        rc = vars_init_one(&v->answer, parent, "tuned", node, true,
                           sizeof(struct hil_tuning_answer));
    return rc;
}

int hil_tuning_vars_init(struct hil_tuning_vars *vars, struct loco_channel *parent,
                         const struct hil_system *s)
{
    const unsigned self = parent->mgr->id;
    int rc = 0;

    *vars = (struct hil_tuning_vars){0};
    if (!s->tunable_count || (self && !s->nodes[self].tuned))
        return 0;
    vars->count = self ? 1 : s->node_count;
    vars->at = hil_lines_new(vars->count * sizeof *vars->at);
    if (!vars->at)
        return -ENOMEM;
    if (self)
        return vars_init_of(vars->at, parent, self);
    for (unsigned n = 1; !rc && n < vars->count; n++)
        if (s->nodes[n].tuned)
            rc = vars_init_of(&vars->at[n], parent, n);
    return rc;
}

void hil_tuning_vars_fini(struct hil_tuning_vars *vars)
{
    for (unsigned i = 0; i < vars->count; i++) {
        loco_owned_var_fini(&vars->at[i].request);
        loco_owned_var_fini(&vars->at[i].notice);
        loco_owned_var_fini(&vars->at[i].answer);
    }
    free(vars->at);
    *vars = (struct hil_tuning_vars){0};
}

/* Room for two copies of each message and their overhead. */
size_t hil_tuning_vars_size(const struct hil_system *s, unsigned node)
{
    const size_t each =
        3 * 256 + 2 * (sizeof(struct hil_tuning_message) + sizeof(struct hil_tuning_answer));
    unsigned count = node ? s->nodes[node].tuned : 0;

    for (unsigned n = 1; !node && n < s->node_count; n++)
        count += s->nodes[n].tuned;
    return count * each;
}
