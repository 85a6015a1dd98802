#include "fault_links.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fault_value.h"

/* A delayed message and the time when it is due, with room for its values. */
struct fault_late {
    uint64_t due_ns;
    struct hil_message message;
};

/* A fault on a link. */
struct fault_on_link {
    const struct hil_fault_now *now;
    unsigned number;
};

struct hil_faulted_link {
    const struct step_departure *departure;
    size_t size; /* of a message */
    struct fault_on_link *on;
    unsigned on_count;
    struct hil_message *seen[2]; /* its two newest messages, before faults, in turn */
    unsigned seen_count;
    char *late; /* delayed messages, in a ring */
    unsigned late_max, late_first, late_count;
};

/* --- opening --------------------------------------------------------------------------------- */

static struct hil_faulted_link *fault_link_find(const struct hil_faults *f,
                                                const struct step_departure *d)
{
    for (unsigned i = 0; i < f->link_count; i++)
        if (f->links[i].departure == d)
            return &f->links[i];
    return NULL;
}

/* The link's departure. Early departures come first, so the order differs from that of the
 * links. */
static const struct step_departure *fault_link_departure(const struct hil_step *s, unsigned link)
{
    for (unsigned i = 0; i < s->departure_count; i++)
        if (s->departures[i].var == &s->node->links.out[link - s->node->config->first_link])
            return &s->departures[i];
    return NULL;
}

static size_t fault_late_size(const struct hil_faulted_link *l)
{
    return offsetof(struct fault_late, message) + l->size;
}

static int fault_link_open(struct hil_faults *f, unsigned link)
{
    const struct hil_link *config = &f->step->node->run->scenario->system->links[link];
    struct hil_faulted_link *l = &f->links[f->link_count++];

    *l = (struct hil_faulted_link){.departure = fault_link_departure(f->step, link),
                                   .size = hil_message_size(config),
                                   .on = calloc(f->count, sizeof *l->on)};
    for (unsigned i = 0; i < 2; i++)
        l->seen[i] = calloc(1, l->size);
    return l->on && l->seen[0] && l->seen[1] ? 0 : -ENOMEM;
}

/* A delay gets a ring for as many messages as are under way at one time. */
static int fault_link_add(struct hil_faults *f, const struct hil_fault_now *now,
                          const struct hil_act *act)
{
    const uint64_t period_ns = f->step->node->loop.timing.period_ns;
    const struct step_departure *d = fault_link_departure(f->step, act->link);
    struct hil_faulted_link *l = fault_link_find(f, d);

    if (!l && fault_link_open(f, act->link))
        return -ENOMEM;
    l = fault_link_find(f, d);
    l->on[l->on_count++] = (struct fault_on_link){now, act->number};
    if (now->fault->kind != HIL_FAULT_DELAY || now->fault->delay_ns / period_ns < l->late_max)
        return 0;
    l->late_max = (unsigned)(now->fault->delay_ns / period_ns) + 2;
    free(l->late);
    l->late = calloc(l->late_max, fault_late_size(l));
    return l->late ? 0 : -ENOMEM;
}

int hil_fault_links_open(struct hil_faults *f)
{
    unsigned acts = 0;
    int rc = 0;

    for (unsigned i = 0; i < f->count; i++)
        acts += f->now[i].fault->of == HIL_FAULT_OF_LINK ? f->now[i].here->act_count : 0;
    f->links = calloc(acts + 1, sizeof *f->links);
    if (!f->links)
        return -ENOMEM;
    for (unsigned i = 0; i < f->count; i++)
        for (unsigned k = 0; k < f->now[i].here->act_count && !rc; k++)
            if (f->now[i].fault->of == HIL_FAULT_OF_LINK)
                rc = fault_link_add(f, &f->now[i], &f->now[i].here->acts[k]);
    return rc;
}

void hil_fault_links_close(struct hil_faults *f)
{
    for (unsigned i = 0; f->links && i < f->link_count; i++) {
        free(f->links[i].on);
        free(f->links[i].seen[0]);
        free(f->links[i].seen[1]);
        free(f->links[i].late);
    }
    free(f->links);
}

void hil_fault_links_begin(struct hil_faults *f)
{
    for (unsigned i = 0; i < f->link_count; i++) {
        f->links[i].seen_count = 0;
        f->links[i].late_count = 0;
    }
}

/* --- carrying messages ------------------------------------------------------------------------ */

static struct fault_late *fault_late_at(const struct hil_faulted_link *l, unsigned i)
{
    return (struct fault_late *)(void *)(l->late +
                                         (l->late_first + i) % l->late_max * fault_late_size(l));
}

static void fault_late_put(struct hil_faulted_link *l, const struct hil_message *m, uint64_t due_ns)
{
    if (l->late_count == l->late_max) { /* steps came faster than the period: drop the oldest */
        l->late_first = (l->late_first + 1) % l->late_max;
        l->late_count--;
    }
    struct fault_late *late = fault_late_at(l, l->late_count++);
    late->due_ns = due_ns;
    memcpy(&late->message, m, l->size);
}

/* Takes out all messages that are due by now, and returns the newest of them; NULL: none is due. */
static const struct hil_message *fault_late_take(struct hil_faulted_link *l, uint64_t now_ns)
{
    const struct fault_late *newest = NULL;

    while (l->late_count && fault_late_at(l, 0)->due_ns <= now_ns) {
        newest = fault_late_at(l, 0);
        l->late_first = (l->late_first + 1) % l->late_max;
        l->late_count--;
    }
    return newest ? &newest->message : NULL;
}

/* Passes message m, or none if m is NULL, through one fault. Returns what comes out of it, or
 * NULL. */
static const struct hil_message *fault_link_pass(struct hil_faults *f, struct hil_faulted_link *l,
                                                 const struct fault_on_link *on,
                                                 const struct hil_message *m)
{
    const struct hil_fault *fault = on->now->fault;

    if (fault->kind == HIL_FAULT_DELAY) {
        if (m)
            fault_late_put(l, m, f->due + fault->delay_ns);
        return fault_late_take(l, f->due);
    }
    if (!m || fault->kind == HIL_FAULT_FREEZE)
        return NULL;
    if (!hil_fault_happens(fault, on->number, f->n))
        return m;
    if (fault->kind == HIL_FAULT_LOSS)
        return NULL;
    return l->seen_count > 1 ? l->seen[l->seen_count % 2] : m; /* the previous step's message */
}

const struct hil_message *hil_fault_links_carry(struct hil_faults *f,
                                                const struct step_departure *d,
                                                const struct hil_message *m)
{
    struct hil_faulted_link *l = fault_link_find(f, d);
    bool delays = false;

    if (!l)
        return m;
    memcpy(l->seen[l->seen_count++ % 2], m, l->size);
    for (unsigned i = 0; i < l->on_count; i++) {
        if (!l->on[i].now->on)
            continue;
        delays |= l->on[i].now->fault->kind == HIL_FAULT_DELAY;
        m = fault_link_pass(f, l, &l->on[i], m);
    }
    if (!delays)
        l->late_count = 0; /* messages without delay overtake the delayed ones */
    return m;
}
