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
 *
 * An atomic store to network memory goes into the store buffer of its thread's processor
 * (channels/fabric/sim/sim_stores.c). Other accesses empty the buffer where they must. A plain
 * store to network memory does so, too, as the compiled code makes it right after its announcement.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "channels/fabric/sim/sim_internal.h"
#include "channels/loco-sim/history.h"

/* --- accesses -------------------------------------------------------------------------------- */

/* The simulation that the current fiber belongs to; NULL: not in a simulation. */
static struct sim *simulation(void)
{
    return sim_running && sim_running->current != &sim_running->main ? sim_running : NULL;
}

/* The fiber, if stores wait in its buffer; else NULL. */
static struct sim_fiber *fiber_with_stores(void)
{
    const struct sim *s = simulation();

    return s && s->stores > 0 && s->current->store_count > 0 ? s->current : NULL;
}

/* Counts an access. Mostly that is all: it is not the fiber's time yet, and no stores wait. */
static inline bool is_noticed(void)
{
    struct sim *s = sim_running;

    return s && ((--s->until_preempted == 0) | (s->stores > 0));
}

static void preempt(const volatile void *at, size_t size, bool writes)
{
    if (sim_running->until_preempted == 0)
        sim_preempt(sim_running, (const void *)at, size, writes);
}

static void before_access(const volatile void *at, size_t size, bool writes)
{
    if (is_noticed())
        preempt(at, size, writes);
}

static void empty_buffer(void)
{
    struct sim_fiber *f = fiber_with_stores();

    if (f)
        sim_drain(f);
}

/* Before an atomic instruction, or one on a lock. */
static void before_atomic(const volatile void *at, size_t size)
{
    before_access(at, size, true);
    struct sim_fiber *f = fiber_with_stores();
    if (f)
        sim_drain_late(f);
}

__attribute__((noinline)) static void notice_read(const void *address, size_t size)
{
    preempt(address, size, false);
    struct sim_fiber *f = fiber_with_stores();
    if (f)
        sim_load(f, address, NULL, size);
}

__attribute__((noinline)) static void notice_write(const void *address, size_t size)
{
    preempt(address, size, true);
    struct sim_fiber *f = fiber_with_stores();
    if (f && sim_is_network_memory(f->sim, address))
        sim_drain(f);
}

static inline void before_read(const void *address, size_t size)
{
    if (is_noticed())
        notice_read(address, size);
}

static inline void before_write(const void *address, size_t size)
{
    if (is_noticed())
        notice_write(address, size);
}

static bool load_own(const volatile void *from, uint64_t *value, size_t size)
{
    before_access(from, size, false);
    struct sim_fiber *f = fiber_with_stores();
    return f && sim_load(f, (const void *)from, value, size);
}

static bool store_later(volatile void *to, uint64_t value, unsigned size, int order)
{
    before_access(to, size, true);
    const struct sim *s = simulation();
    if (s && order != __ATOMIC_SEQ_CST)
        return sim_store(s->current, (void *)to, value, size);
    empty_buffer();
    return false;
}

#define PLAIN(name, before, size)                                                                  \
    void name(void *address);                                                                      \
    void name(void *address)                                                                       \
    {                                                                                              \
        before(address, size);                                                                     \
    }

#define PLAIN_SIZE(size)                                                                           \
    PLAIN(__tsan_read##size, before_read, size)                                                    \
    PLAIN(__tsan_write##size, before_write, size)                                                  \
    PLAIN(__tsan_unaligned_read##size, before_read, size)                                          \
    PLAIN(__tsan_unaligned_write##size, before_write, size)                                        \
    PLAIN(__tsan_volatile_read##size, before_read, size)                                           \
    PLAIN(__tsan_volatile_write##size, before_write, size)

PLAIN_SIZE(1)
PLAIN_SIZE(2)
PLAIN_SIZE(4)
PLAIN_SIZE(8)
PLAIN_SIZE(16)

#define RANGE(name, before)                                                                        \
    void name(void *address, size_t size);                                                         \
    void name(void *address, size_t size)                                                          \
    {                                                                                              \
        before(address, size);                                                                     \
    }

RANGE(__tsan_read_range, before_read)
RANGE(__tsan_write_range, before_write)

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
        before_atomic(at, sizeof *at);                                                             \
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
        before_atomic(at, sizeof *at);                                                             \
        return __atomic_compare_exchange_n(at, expected, desired, weak, __ATOMIC_SEQ_CST,          \
                                           __ATOMIC_SEQ_CST);                                      \
    }

#define ATOMIC_SIZE(bits)                                                                          \
    uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t *at, int order);       \
    uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t *at, int order)        \
    {                                                                                              \
        uint64_t own;                                                                              \
        (void)order;                                                                               \
        if (load_own(at, &own, bits / 8))                                                          \
            return (uint##bits##_t)own;                                                            \
        return __atomic_load_n(at, __ATOMIC_SEQ_CST);                                              \
    }                                                                                              \
    void __tsan_atomic##bits##_store(volatile uint##bits##_t *at, uint##bits##_t value, int);      \
    void __tsan_atomic##bits##_store(volatile uint##bits##_t *at, uint##bits##_t value, int order) \
    {                                                                                              \
        if (!store_later(at, value, bits / 8, order))                                              \
            __atomic_store_n(at, value, __ATOMIC_SEQ_CST);                                         \
    }                                                                                              \
    uint##bits##_t __tsan_atomic##bits##_exchange(volatile uint##bits##_t *at,                     \
                                                  uint##bits##_t value, int order);                \
    uint##bits##_t __tsan_atomic##bits##_exchange(volatile uint##bits##_t *at,                     \
                                                  uint##bits##_t value, int order)                 \
    {                                                                                              \
        (void)order;                                                                               \
        before_atomic(at, sizeof *at);                                                             \
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
    before_access(NULL, 0, false);
    if (order == __ATOMIC_SEQ_CST)
        empty_buffer();
}

/* --- calls that are not announced ---------------------------------------------------------------
 */

/* Tells who explores runs that network memory may be read or written. */
static void hide(const void *at)
{
    struct sim *s = simulation();

    if (s && sim_is_network_memory(s, at))
        sim_note(s, s->current->number, LOCO_SIM_HIDES, 0);
}

#define UNANNOUNCED(name, parameters, from, ...)                                                   \
    void *__real_##name parameters;                                                                \
    void *__wrap_##name parameters;                                                                \
    void *__wrap_##name parameters                                                                 \
    {                                                                                              \
        empty_buffer();                                                                            \
        hide(to);                                                                                  \
        hide(from);                                                                                \
        return __real_##name(__VA_ARGS__);                                                         \
    }

UNANNOUNCED(memcpy, (void *to, const void *from, size_t size), from, to, from, size)
UNANNOUNCED(memset, (void *to, int byte, size_t size), to, to, byte, size)
UNANNOUNCED(__memcpy_chk, (void *to, const void *from, size_t size, size_t room), from, to, from,
            size, room)
UNANNOUNCED(__memset_chk, (void *to, int byte, size_t size, size_t room), to, to, byte, size, room)

/* An operation has returned when its stores are in memory: its caller may tell others of it in ways
 * that the simulator does not see. */
void __real_loco_sim_history_return(struct loco_sim_history *history, int index, bool ok,
                                    uint64_t value);
void __wrap_loco_sim_history_return(struct loco_sim_history *history, int index, bool ok,
                                    uint64_t value);
void __wrap_loco_sim_history_return(struct loco_sim_history *history, int index, bool ok,
                                    uint64_t value)
{
    empty_buffer();
    __real_loco_sim_history_return(history, index, ok, value);
}

/* --- locks ------------------------------------------------------------------------------------ */

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
    before_atomic(mutex, sizeof *mutex);
    while (is_held_by_another(s, mutex))
        sim_wait_for_change(s, "a lock that is held by", find_held(mutex, NULL)->by);
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
    before_atomic(mutex, sizeof *mutex);
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

    empty_buffer();
    if (!s || !let_go(s, mutex))
        return __real_pthread_mutex_unlock(mutex);
    before_access(mutex, sizeof *mutex, true);
    return 0;
}
