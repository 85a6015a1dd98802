#include "pace.h"

#include <fcntl.h>
#include <stdio.h>
#include <time.h>

#include "clock.h"
#include "state.h"

/* How often a paused run checks whether it may go on. */
enum { PACE_LOOK_NS = 1000000 };

/* How often it looks for readers without any; how often it asks whether they have let go; and how
 * long it waits for one that hangs. */
enum { PACE_SELDOM = 4096, PACE_ASK_NS = 20000 };
static const uint64_t PACE_READER_NS = 10000000000;

static bool pace_stands(struct hil_state *s)
{
    return atomic_load(&s->pace.hold) &&
           atomic_load(&s->pace.done) >= atomic_load(&s->pace.allowed) && !atomic_load(&s->stop);
}

__attribute__((cold, noinline)) static void pace_stand(struct hil_state *s)
{
    const struct timespec look = {.tv_nsec = PACE_LOOK_NS};

    atomic_store(&s->pace.paused, true);
    while (pace_stands(s)) {
        hil_beat(&s->executors[0].heartbeat);
        nanosleep(&look, NULL);
    }
    atomic_store(&s->pace.paused, false);
}

/* --- readers ---------------------------------------------------------------------------------- */

/* The rows of the shortest ring. */
static uint64_t pace_rows(const struct hil_state *s)
{
    const struct hil_tap_ring *rings =
        (const struct hil_tap_ring *)(const void *)((const char *)s + s->taps.rings);
    uint64_t rows = UINT64_MAX;

    for (uint32_t i = 0; i < s->taps.ring_count; i++)
        if (rings[i].rows && rings[i].rows < rows)
            rows = rings[i].rows;
    return rows;
}

void hil_pace_mind_readers(struct hil_state *s)
{
    char path[48];

    if (s->taps.ring_count == 0)
        return;
    snprintf(path, sizeof path, "/proc/self/fd/%d", s->file);
    s->pace.lock = open(path, O_RDONLY | O_CLOEXEC);
    s->pace.look_every = pace_rows(s) / 4 ? pace_rows(s) / 4 : 1;
    s->pace.look_at = s->pace.lock < 0 ? 0 : 1;
}

/* Whether a reader holds the byte of this turn. */
static bool pace_is_read(const struct hil_pace *p)
{
    struct flock lock = {
        .l_type = F_WRLCK, .l_start = (off_t)(atomic_load(&p->turn) % 2), .l_len = 1};

    return fcntl(p->lock, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

/* In a quarter of a ring a reader is no more than two quarters behind. */
__attribute__((cold, noinline)) static void pace_let_read(struct hil_state *s)
{
    static const struct timespec ask = {.tv_nsec = PACE_ASK_NS};
    struct hil_pace *p = &s->pace;
    const bool read = pace_is_read(p);
    const uint64_t begin = read ? hil_clock_monotonic() : 0;
    bool holds = read;

    atomic_store(&p->waits, read);
    while (holds && !atomic_load(&s->stop) && hil_clock_monotonic() - begin < PACE_READER_NS) {
        hil_beat(&s->executors[0].heartbeat);
        nanosleep(&ask, NULL);
        holds = pace_is_read(p);
    }
    atomic_store(&p->waits, false);
    if (read && !holds)
        atomic_fetch_add(&p->turn, 1);
    p->look_at = atomic_load_explicit(&p->done, memory_order_relaxed) +
                 (read || p->look_every > PACE_SELDOM ? p->look_every : PACE_SELDOM);
}

void hil_pace_wait(struct hil_state *s)
{
    if (pace_stands(s))
        pace_stand(s);
    if (s->pace.look_at &&
        atomic_load_explicit(&s->pace.done, memory_order_relaxed) >= s->pace.look_at)
        pace_let_read(s);
    atomic_store_explicit(&s->pace.done,
                          atomic_load_explicit(&s->pace.done, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}
