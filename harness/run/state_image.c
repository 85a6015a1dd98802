#include "state_image.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "../scenario/faults.h"

/* The image ends with the responses. */
size_t hil_state_image_size(const struct hil_state *s)
{
    const struct hil_responses *r = &s->responses;
    const struct hil_response *end = r->at + (size_t)r->event_count * r->measure_count;

    return (size_t)((const char *)end - (const char *)s);
}

/* --- is it a state of this system? ------------------------------------------------------------ */

static bool image_ends(const char *text, size_t size)
{
    return memchr(text, '\0', size) != NULL;
}

#define IMAGE_TEXT(text) image_ends(text, sizeof(text))

/* A bool that is neither 0 nor 1 must not be read as one. */
static bool image_is_bool(const bool *b)
{
    return *(const unsigned char *)b <= 1;
}

static bool image_has_node(const struct hil_state *s, const struct hil_system *system, unsigned n)
{
    const struct hil_node_state *node = &s->nodes[n];

    return node->array < system->node_array_count && node->place <= n && IMAGE_TEXT(node->name) &&
           atomic_load(&node->stage) <= HIL_FAILED && node->progress.stage <= HIL_FAILED;
}

static bool image_has_figures(const struct hil_state *s, const struct hil_system *system,
                              const struct hil_link_figures *f)
{
    return f->executor < s->executor_count && f->array < system->link_array_count &&
           f->oldest.link < system->link_count && f->longest.link < system->link_count;
}

static bool image_has_worst(const struct hil_worst *w, unsigned nodes)
{
    bool has = w->count <= HIL_WORST && w->current.node < nodes;

    for (unsigned i = 0; has && i < w->count; i++)
        has = w->at[i].node < nodes;
    return has;
}

static bool image_has_losses(const struct hil_executor_state *e, unsigned nodes)
{
    const uint64_t stale = atomic_load(&e->stale.count), lost = e->losses.count;
    bool has = true;

    for (unsigned i = 0; has && i < HIL_STALE_LISTED && i < stale; i++)
        has = e->stale.at[i].from < nodes && e->stale.at[i].to < nodes;
    for (unsigned i = 0; has && i < HIL_LOSSES_MAX && i < lost; i++)
        has = e->losses.at[i].from < nodes && e->losses.at[i].to < nodes;
    return has;
}

static bool image_has_failures(const struct hil_failure_log *log)
{
    const uint64_t count = atomic_load(&log->count);
    bool has = true;

    for (unsigned i = 0; has && i < HIL_FAILURES_LISTED && i < count; i++) {
        const struct hil_failure *f = &log->at[i];
        has = IMAGE_TEXT(f->component) && IMAGE_TEXT(f->model) && IMAGE_TEXT(f->signal) &&
              IMAGE_TEXT(f->ended) && IMAGE_TEXT(f->call) && image_is_bool(&f->ends);
    }
    return has;
}

static bool image_has_executor(const struct hil_executor_state *e, const struct hil_system *system)
{
    return atomic_load(&e->stage) <= HIL_FAILED && IMAGE_TEXT(e->message) &&
           IMAGE_TEXT(e->degraded) && (unsigned)e->scheduler <= HIL_DEADLINE &&
           image_is_bool(&e->locked) && image_is_bool(&e->counter) &&
           atomic_load(&e->inside.component) <= system->component_count &&
           image_has_worst(&e->worst, system->node_count) &&
           image_has_losses(e, system->node_count) && image_has_failures(&e->failures);
}

static bool image_has_responses(const struct hil_responses *r)
{
    bool has = true;

    for (size_t i = 0; has && i < (size_t)r->event_count * r->measure_count; i++)
        has = image_is_bool(&r->at[i].judged) && image_is_bool(&r->at[i].inside);
    return has;
}

static int image_check(const struct hil_state *s, const struct hil_system *system)
{
    bool has = image_has_responses(&s->responses);

    for (unsigned n = 0; has && n < s->node_count; n++)
        has = image_has_node(s, system, n);
    for (unsigned i = 0; has && i < s->figures_count; i++)
        has = image_has_figures(s, system, &s->figures[i]);
    for (unsigned i = 0; has && i < s->executor_count; i++)
        has = image_has_executor(&s->executors[i], system);
    return has ? 0 : -EPROTO;
}

/* Pointers in the state are not restored; they stay those of this process. */
int hil_state_restore(struct hil_state *s, const struct hil_system *system, const void *image,
                      size_t size)
{
    const size_t head = offsetof(struct hil_state, nodes);
    const struct hil_state *from = image;

    if (size != hil_state_image_size(s) || from->card.layout != s->card.layout)
        return -EPROTO;
    atomic_store(&s->elapsed_ns, atomic_load(&from->elapsed_ns));
    atomic_store(&s->stop, atomic_load(&from->stop));
    atomic_store(&s->ended_by, atomic_load(&from->ended_by));
    s->ended_ns = from->ended_ns;
    atomic_store(&s->responses.now, atomic_load(&from->responses.now));
    memcpy((char *)s + head, (const char *)image + head, size - head);
    return image_check(s, system);
}

/* --- merging parts ---------------------------------------------------------------------------- */

/* If a node's own part is missing, what node 0 heard of it is kept. */
static void image_add_nodes(struct hil_state *all, const struct hil_state *part)
{
    for (unsigned n = 0; n < all->node_count; n++)
        if (part->nodes[n].here || (part->nodes[0].here && !all->nodes[n].here))
            memcpy(&all->nodes[n], &part->nodes[n], sizeof all->nodes[n]);
}

static void image_add_executors(struct hil_state *all, const struct hil_state *part, unsigned first)
{
    memcpy(all->executors + first, part->executors, part->executor_count * sizeof *part->executors);
    for (unsigned i = 0; i < part->figures_count; i++) {
        const struct hil_link_figures *from = &part->figures[i];
        struct hil_link_figures *to = hil_state_figures(all, first + from->executor, from->array);
        if (!to)
            continue;
        *to = *from;
        to->executor += first;
    }
}

static void image_add_measures(struct hil_state *all, const struct hil_state *part,
                               const struct hil_system *system)
{
    const unsigned now = atomic_load(&part->responses.now), events = part->responses.event_count;

    for (unsigned m = 0; m < system->measure_count; m++)
        for (unsigned e = 0; part->nodes[system->measures[m].node].here && e < events; e++) {
            const size_t i = (size_t)e * system->measure_count + m;
            all->responses.at[i] = part->responses.at[i];
        }
    if (now < events && now > atomic_load(&all->responses.now))
        atomic_store(&all->responses.now, now);
}

static void image_add_components(struct hil_state *all, const struct hil_state *part,
                                 const struct hil_system *s)
{
    for (unsigned i = 0; i < s->age_count; i++)
        if (part->nodes[s->components[s->ages[i].component].node].here)
            memcpy(&all->ages[i], &part->ages[i], sizeof all->ages[i]);
    for (unsigned i = 0; i < s->component_count; i++)
        if (part->nodes[s->components[i].node].here)
            all->costs[i] = part->costs[i];
}

static void image_add_faults(struct hil_state *all, const struct hil_state *part,
                             const struct hil_system *s)
{
    for (unsigned i = 0; i < s->here_count; i++)
        if (part->nodes[s->faults_here[i].node].here)
            memcpy(&all->faults[i], &part->faults[i], sizeof all->faults[i]);
    for (unsigned i = 0; i < s->fault_count; i++) {
        const uint64_t was_ns = atomic_load(&part->awaited[i].was_ns);
        if (was_ns && !atomic_load(&all->awaited[i].was_ns))
            atomic_store(&all->awaited[i].was_ns, was_ns);
    }
}

void hil_state_add_part(struct hil_state *all, const struct hil_state *part,
                        const struct hil_system *system, unsigned first)
{
    const uint64_t elapsed_ns = atomic_load(&part->elapsed_ns);

    image_add_nodes(all, part);
    image_add_executors(all, part, first);
    image_add_measures(all, part, system);
    image_add_components(all, part, system);
    image_add_faults(all, part, system);
    for (unsigned i = 0; i < all->link_count; i++)
        all->links[i].bad += part->links[i].bad;
    if (elapsed_ns > atomic_load(&all->elapsed_ns))
        atomic_store(&all->elapsed_ns, elapsed_ns);
    if (atomic_load(&part->stop))
        atomic_store(&all->stop, atomic_load(&part->stop));
    if (atomic_load(&part->ended_by)) {
        atomic_store(&all->ended_by, atomic_load(&part->ended_by));
        all->ended_ns = part->ended_ns;
    }
}
