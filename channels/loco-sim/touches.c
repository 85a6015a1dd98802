#include "touches_internal.h"

#include <stdlib.h>

void loco_sim_touches_free(struct touches *t)
{
    free(t->place);
    *t = (struct touches){0};
}

/* The place of the number, or the free one where it would be. */
static struct touched *touches_find(const struct touches *t, uint64_t what)
{
    size_t i = what * 0x9e3779b97f4a7c15u >> 40;

    while (t->place[i & (t->room - 1)].what && t->place[i & (t->room - 1)].what != what)
        i++;
    return &t->place[i & (t->room - 1)];
}

static bool touches_grow(struct touches *t)
{
    struct touches more = {.room = t->room ? 2 * t->room : 16};

    more.place = calloc(more.room, sizeof *more.place);
    if (!more.place)
        return false;
    for (size_t i = 0; i < t->room; i++)
        if (t->place[i].what)
            *touches_find(&more, t->place[i].what) = t->place[i];
    free(t->place);
    t->place = more.place;
    t->room = more.room;
    return true;
}

void loco_sim_touches_add(struct touches *t, uint64_t what, bool written)
{
    if (2 * t->count >= t->room && !touches_grow(t)) {
        t->hidden = true;
        return;
    }
    struct touched *place = touches_find(t, what);
    t->count += !place->what;
    place->what = what;
    place->written |= written;
}

void loco_sim_touches_merge(struct touches *t, const struct touches *more)
{
    for (size_t i = 0; i < more->room; i++)
        if (more->place[i].what)
            loco_sim_touches_add(t, more->place[i].what, more->place[i].written);
    t->hidden |= more->hidden;
    t->timed |= more->timed;
}

bool loco_sim_touches_meet(const struct touches *one, const struct touches *other)
{
    if (one->hidden || other->hidden)
        return true;
    for (size_t i = 0; other->room > 0 && i < one->room; i++) {
        const struct touched *mine = &one->place[i];
        if (!mine->what)
            continue;
        const struct touched *theirs = touches_find(other, mine->what);
        if (theirs->what && (mine->written || theirs->written))
            return true;
    }
    return false;
}
