/* Who waits for what, in a run that does not end. Each thread that is left may look once more at
 * what it waits for, and is watched. */
#include <inttypes.h>

#include "sim_internal.h"

void sim_observe(struct sim *s, const void *at)
{
    struct sim_observed *seen = s->observing;

    if (!at || seen->words == sizeof seen->word / sizeof seen->word[0] ||
        !sim_is_network_memory(s, at))
        return;
    for (unsigned i = 0; i < seen->words; i++)
        if (seen->word[i] == at)
            return;
    seen->word[seen->words++] = at;
}

/* Says where in network memory the address is, if it is there. */
static const uint64_t *explain_place(const struct sim *s, const void *at, FILE *file)
{
    const uintptr_t word = (uintptr_t)at & ~(uintptr_t)7;

    for (uint32_t id = 0; id < s->node_count; id++)
        for (uint32_t i = 0; s->nodes[id] && i < s->nodes[id]->arena_count; i++) {
            const struct sim_arena *a = &s->nodes[id]->arenas[i];
            if (word - (uintptr_t)a->base >= a->size)
                continue;
            fprintf(file, "byte %zu of node %" PRIu32 "'s arena %" PRIu32,
                    (size_t)(word - (uintptr_t)a->base), id, i);
            return (const uint64_t *)word;
        }
    return NULL;
}

static void explain_thread(const struct sim_fiber *f, FILE *file)
{
    fprintf(file, "thread %u", f->number);
    if (f->node)
        fprintf(file, " of node %" PRIu32, f->node->base.id);
}

static void explain_word(const struct sim *s, const void *at, FILE *file)
{
    fputs("    looks at ", file);
    const uint64_t *word = explain_place(s, at, file);
    fprintf(file, ", which is %" PRIu64 "\n", word ? *word : 0);
}

/* Control threads wait for news all the time. */
static bool explain_is_left(const struct sim_fiber *f)
{
    return !f->ended && !(f->control && f->place == 0);
}

static void explain_fiber(struct sim *s, struct sim_fiber *f, FILE *file)
{
    struct sim_observed seen = {.words = 0};

    fputs("  ", file);
    explain_thread(f, file);
    if (!f->waiting) {
        fputs(f->place ? " goes on and on" : " sleeps", file);
    } else if (f->waits_for) {
        fprintf(file, " waits for %s ", f->waits_for);
        if (f->waits_on)
            explain_thread(f->waits_on, file);
    } else if (f->wake_at == UINT64_MAX) {
        fputs(" waits without end", file);
    } else {
        fprintf(file, " waits until %" PRIu64 " ns; it is %" PRIu64, f->wake_at, s->now);
    }
    fputc('\n', file);
    if (!f->place)
        return;
    s->observing = &seen;
    sim_switch(&s->main, f);
    s->observing = NULL;
    for (unsigned i = 0; i < seen.words; i++)
        explain_word(s, seen.word[i], file);
}

static void explain_operation(const struct sim *s, const struct operation *o, FILE *file)
{
    static const char *const names[] = {"write", "read", "fetch-add", "compare-swap", "flush"};

    fprintf(file, "a %s of %zu bytes from node %" PRIu32 " to ", names[o->verb], o->size,
            o->link->base.node->id);
    if (!o->target || !explain_place(s, o->target, file))
        fprintf(file, "node %" PRIu32, o->link->base.peer);
    fputs(!o->arrived    ? ", not there yet"
          : !o->executed ? ", not executed yet"
                         : ", not known to be done yet",
          file);
}

void loco_sim_describe(const struct loco_fabric *fabric, FILE *file)
{
    const struct sim *s = (const struct sim *)fabric;

    if (s->subject) {
        explain_operation(s, s->subject, file);
        return;
    }
    explain_thread(s->current, file);
    fputs(" at ", file);
    if (!s->subject_at || !explain_place(s, s->subject_at, file))
        fputs(s->subject_at ? "memory of its own" : "an operation", file);
}

/* The oldest operations of a link tell more than the others, of which there may be a queue full. */
enum { TOLD = 4 };

static void explain_link(const struct sim_link *l, FILE *file)
{
    const struct sim *s = l->node->sim;
    unsigned count = 0;

    for (const struct operation *o = l->oldest; o; o = o->next) {
        if (++count > TOLD)
            continue;
        fputs("  ", file);
        explain_operation(s, o, file);
        fputc('\n', file);
    }
    if (count > TOLD)
        fprintf(file, "  and %u more after it on its link\n", count - TOLD);
}

void loco_sim_explain(struct loco_fabric *fabric, FILE *file)
{
    struct sim *s = (struct sim *)fabric;

    sim_running = s->config.chaos >= LOCO_SIM_DEFERRED ? s : NULL;
    s->until_preempted = 1;
    for (struct sim_fiber *f = s->fibers; s->config.chaos && f; f = f->next)
        if (explain_is_left(f))
            explain_fiber(s, f, file);
    sim_running = NULL;
    for (unsigned i = 0; i < s->active_count; i++)
        explain_link(s->active[i], file);
}
