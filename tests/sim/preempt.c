/*
 * Preemption in the simulator. In the programs that run the simulator, the channels are compiled
 * for a race detector (-fsanitize=thread), so a call announces each of their accesses to memory.
 * This file defines the called functions in place of the detector. Now and then such a function
 * lets another thread of the simulation run. Outside of a simulation the functions do only the
 * requested access.
 *
 * So a thread may be interrupted while it holds a lock. All threads of a simulation share one
 * thread of the process, so pthread cannot tell them apart. The lock functions below can; the
 * linker puts them in place of pthread's (--wrap).
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "channels/fabric/sim/sim_internal.h"

/* --- accesses -------------------------------------------------------------------------------- */

static void before_access(void)
{
    struct sim *s = sim_running;

    if (s && --s->until_preempted == 0)
        sim_preempt(s);
}

#define PLAIN(name)                                                                                \
    void name(void *address);                                                                      \
    void name(void *address)                                                                       \
    {                                                                                              \
        (void)address;                                                                             \
        before_access();                                                                           \
    }

#define PLAIN_SIZE(size)                                                                           \
    PLAIN(__tsan_read##size)                                                                       \
    PLAIN(__tsan_write##size)                                                                      \
    PLAIN(__tsan_unaligned_read##size)                                                             \
    PLAIN(__tsan_unaligned_write##size)                                                            \
    PLAIN(__tsan_volatile_read##size)                                                              \
    PLAIN(__tsan_volatile_write##size)

PLAIN_SIZE(1)
PLAIN_SIZE(2)
PLAIN_SIZE(4)
PLAIN_SIZE(8)
PLAIN_SIZE(16)

#define RANGE(name)                                                                                \
    void name(void *address, size_t size);                                                         \
    void name(void *address, size_t size)                                                          \
    {                                                                                              \
        (void)address;                                                                             \
        (void)size;                                                                                \
        before_access();                                                                           \
    }

RANGE(__tsan_read_range)
RANGE(__tsan_write_range)

void __tsan_init(void);
void __tsan_init(void)
{
}

/* The memory order is at least the requested one. That suffices, as every fiber runs on one
 * processor. */
#define MODIFY(bits, what)                                                                         \
    uint##bits##_t __tsan_atomic##bits##_##what(volatile uint##bits##_t *at, uint##bits##_t value, \
                                                int order);                                        \
    uint##bits##_t __tsan_atomic##bits##_##what(volatile uint##bits##_t *at, uint##bits##_t value, \
                                                int order)                                         \
    {                                                                                              \
        (void)order;                                                                               \
        before_access();                                                                           \
        return __atomic_##what(at, value, __ATOMIC_SEQ_CST);                                       \
    }

#define COMPARE(bits, strength, weak)                                                              \
    int __tsan_atomic##bits##_compare_exchange_##strength(                                         \
        volatile uint##bits##_t *at, uint##bits##_t *expected, uint##bits##_t desired, int, int);  \
    int __tsan_atomic##bits##_compare_exchange_##strength(                                         \
        volatile uint##bits##_t *at, uint##bits##_t *expected, uint##bits##_t desired,             \
        int success, int failure)                                                                  \
    {                                                                                              \
        (void)success;                                                                             \
        (void)failure;                                                                             \
        before_access();                                                                           \
        return __atomic_compare_exchange_n(at, expected, desired, weak, __ATOMIC_SEQ_CST,          \
                                           __ATOMIC_SEQ_CST);                                      \
    }

#define ATOMIC_SIZE(bits)                                                                          \
    uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t *at, int order);       \
    uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t *at, int order)        \
    {                                                                                              \
        (void)order;                                                                               \
        before_access();                                                                           \
        return __atomic_load_n(at, __ATOMIC_SEQ_CST);                                              \
    }                                                                                              \
    void __tsan_atomic##bits##_store(volatile uint##bits##_t *at, uint##bits##_t value, int);      \
    void __tsan_atomic##bits##_store(volatile uint##bits##_t *at, uint##bits##_t value, int order) \
    {                                                                                              \
        (void)order;                                                                               \
        before_access();                                                                           \
        __atomic_store_n(at, value, __ATOMIC_SEQ_CST);                                             \
    }                                                                                              \
    uint##bits##_t __tsan_atomic##bits##_exchange(volatile uint##bits##_t *at,                     \
                                                  uint##bits##_t value, int order);                \
    uint##bits##_t __tsan_atomic##bits##_exchange(volatile uint##bits##_t *at,                     \
                                                  uint##bits##_t value, int order)                 \
    {                                                                                              \
        (void)order;                                                                               \
        before_access();                                                                           \
        return __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST);                                   \
    }                                                                                              \
    MODIFY(bits, fetch_add)                                                                        \
    MODIFY(bits, fetch_sub)                                                                        \
    MODIFY(bits, fetch_and)                                                                        \
    MODIFY(bits, fetch_or)                                                                         \
    COMPARE(bits, strong, false)                                                                   \
    COMPARE(bits, weak, true)

ATOMIC_SIZE(8)
ATOMIC_SIZE(16)
ATOMIC_SIZE(32)
ATOMIC_SIZE(64)

void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_thread_fence(int order)
{
    (void)order;
    before_access();
}

/* --- locks ------------------------------------------------------------------------------------ */

/* The simulation that the current fiber belongs to; NULL: not in a simulation. */
static struct sim *simulation(void)
{
    return sim_running && sim_running->current != &sim_running->main ? sim_running : NULL;
}

/* The locks that fibers hold. */
struct held {
    const void *what;
    struct sim *sim;
    struct sim_fiber *by;
    unsigned depth;
};

enum { HELD_MAX = 256 };

static _Thread_local struct held held[HELD_MAX];
static _Thread_local unsigned held_count;

/* Forgets locks that an earlier simulation left held, as nobody holds them any more. */
static void forget_others(const struct sim *s)
{
    for (unsigned i = 0; i < held_count;)
        if (held[i].sim != s)
            held[i] = held[--held_count];
        else
            i++;
}

static struct held *find_held(const void *what, const struct sim_fiber *by)
{
    for (unsigned i = 0; i < held_count; i++)
        if (held[i].what == what && (!by || held[i].by == by))
            return &held[i];
    return NULL;
}

static bool is_held_by_another(const struct sim *s, const void *what)
{
    return find_held(what, NULL) && !find_held(what, s->current);
}

static void hold(struct sim *s, const void *what)
{
    struct held *own = find_held(what, s->current);

    if (own) {
        own->depth++;
        return;
    }
    forget_others(s);
    if (held_count == HELD_MAX)
        abort();
    held[held_count++] = (struct held){.what = what, .sim = s, .by = s->current, .depth = 1};
}

static bool let_go(struct sim *s, const void *what)
{
    struct held *own = find_held(what, s->current);

    if (!own)
        return false;
    if (--own->depth == 0) {
        *own = held[--held_count];
        s->changes++;
    }
    return true;
}

int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
    struct sim *s = simulation();

    if (!s)
        return __real_pthread_mutex_lock(mutex);
    forget_others(s);
    before_access();
    while (is_held_by_another(s, mutex))
        sim_wait_for_change(s);
    hold(s, mutex);
    return 0;
}

int __real_pthread_mutex_trylock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_trylock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    struct sim *s = simulation();

    if (!s)
        return __real_pthread_mutex_trylock(mutex);
    forget_others(s);
    before_access();
    if (is_held_by_another(s, mutex))
        return EBUSY;
    hold(s, mutex);
    return 0;
}

int __real_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    struct sim *s = simulation();

    if (!s || !let_go(s, mutex))
        return __real_pthread_mutex_unlock(mutex);
    before_access();
    return 0;
}
