#include "step_lines.h"

#include <errno.h>
#include <stdlib.h>

#include "step_parts.h"

/* With more lines than this, a node would evict the lines that it prefetches. */
enum { LINES_OF_A_NODE = 64 };

/* This many lines fit in half of a core's first-level cache, together with lines of others. */
enum { LINES_KEPT_ANYWAY = 256 };

/* How much of a model's own memory to prefetch; only the model knows how large it is. */
enum { LINES_OF_A_MODEL = 2 * HIL_LINE };

/* The lines of one node, listed so far. */
struct lines_draft {
    const void *at[LINES_OF_A_NODE];
    unsigned count; /* above LINES_OF_A_NODE: there are too many */
};

static bool lines_has(const struct lines_draft *d, const void *line)
{
    for (unsigned i = 0; i < d->count; i++)
        if (d->at[i] == line)
            return true;
    return false;
}

/* Adds the lines on which these bytes lie. */
static void lines_add(struct lines_draft *d, const void *from, size_t size)
{
    const char *first = (const char *)from - (uintptr_t)from % HIL_LINE;

    for (const char *line = first; from && line < (const char *)from + size; line += HIL_LINE) {
        if (d->count > LINES_OF_A_NODE || lines_has(d, line))
            continue;
        if (d->count < LINES_OF_A_NODE)
            d->at[d->count] = line;
        d->count++;
    }
}

static void lines_add_parts(struct lines_draft *d, const struct hil_step *s)
{
    for (unsigned i = 0; i < s->part_count; i++) {
        const struct step_part *p = &s->parts[i];
        lines_add(d, p, offsetof(struct step_part, arrivals));
        lines_add(d, p->self, LINES_OF_A_MODEL);
    }
}

static void lines_add_copies(struct lines_draft *d, const struct hil_step *s,
                             struct step_range range)
{
    lines_add(d, s->copies + range.first, range.count * sizeof *s->copies);
}

static void lines_add_message(struct lines_draft *d, const struct hil_step *s)
{
    lines_add(d, &s->message, sizeof s->message);
    lines_add(d, s->message, sizeof *s->message);
}

static void lines_add_arrivals(struct lines_draft *d, const struct hil_step *s)
{
    for (unsigned i = 0; i < s->arrival_count; i++) {
        const struct step_arrival *a = &s->arrivals[i];
        lines_add(d, a, offsetof(struct step_arrival, input.stale));
        lines_add(d, a->var->copy, a->var->size);
        lines_add_copies(d, s, a->early);
        lines_add_copies(d, s, a->late);
        if (!a->general)
            continue;
        lines_add(d, &a->var->copy, sizeof a->var->copy);
        lines_add_message(d, s);
    }
}

static void lines_add_departures(struct lines_draft *d, const struct hil_step *s)
{
    for (unsigned i = 0; i < s->departure_count; i++) {
        const struct step_departure *out = &s->departures[i];
        const struct loco_owned_var *v = out->var;
        lines_add(d, out, sizeof *out);
        lines_add(d, v->copy, v->size);
        lines_add(d, atomic_load_explicit(&v->direct_one, memory_order_relaxed), v->size);
        if (!out->value) {
            lines_add_message(d, s);
            lines_add(d, v->channel.mgr, offsetof(struct loco_manager, config));
            lines_add(d, &v->direct_one, sizeof v->direct_one);
            lines_add(d, out->from, out->count * sizeof *out->from);
            lines_add(d, v, offsetof(struct loco_owned_var, direct_one));
        }
    }
}

static void lines_add_node(struct lines_draft *d, const struct hil_node *node)
{
    const struct hil_step *s = node->step;

    lines_add(d, node, offsetof(struct hil_node, loop.timing.overrun));
    lines_add(d, s, offsetof(struct hil_step, message));
    lines_add_parts(d, s);
    lines_add_arrivals(d, s);
    lines_add_departures(d, s);
    lines_add(d, s->values, s->value_count * sizeof *s->values);
    lines_add_copies(d, s, s->local);
    lines_add_copies(d, s, hil_step_local_late(s));
    lines_add(d, s->tap, sizeof *s->tap);
}

int hil_step_lines_open(struct hil_step_lines *l, struct hil_node *const *nodes, unsigned count)
{
    *l = (struct hil_step_lines){.count = count};
    l->at = calloc((size_t)count * LINES_OF_A_NODE, sizeof *l->at);
    l->end = calloc(count + 1, sizeof *l->end);
    if (!l->at || !l->end)
        return -ENOMEM;
    for (unsigned i = 0; i < count; i++) {
        struct lines_draft draft = {.count = 0};
        lines_add_node(&draft, nodes[i]);
        const unsigned listed = draft.count <= LINES_OF_A_NODE ? draft.count : 0;
        memcpy(l->at + l->end[i], draft.at, listed * sizeof *draft.at);
        l->end[i + 1] = l->end[i] + listed;
    }
    if (l->end[count] <= LINES_KEPT_ANYWAY)
        hil_step_lines_close(l);
    return 0;
}

void hil_step_lines_close(struct hil_step_lines *l)
{
    free(l->at);
    free(l->end);
    *l = (struct hil_step_lines){0};
}
