/*
 * Barriers and locks in C++17. loco.hpp includes this, and says more.
 */
#ifndef LOCO_LOCKS_HPP
#define LOCO_LOCKS_HPP

#include "node.hpp"

namespace loco
{

class barrier : pinned
{
  public:
    barrier(const manager &m, const char *name, struct loco_members members = {})
    {
        check(loco_barrier_init(&raw, m.get(), nullptr, name, members));
    }
    ~barrier()
    {
        loco_barrier_fini(&raw);
    }
    void wait()
    {
        check(loco_barrier_wait(&raw));
    }
    /* False: the time is over; the next wait continues with the same round. */
    bool wait_for(duration timeout)
    {
        return unless(loco_barrier_timed(&raw, ns_of(timeout)), ETIMEDOUT);
    }
    struct loco_barrier *get()
    {
        return &raw;
    }

  private:
    struct loco_barrier raw;
};

/* Lockable: std::lock_guard and std::unique_lock take it. */
class ticket_lock : pinned
{
  public:
    ticket_lock(const manager &m, const char *name, std::uint32_t host,
                struct loco_members members = {}, unsigned handover = LOCO_HANDOVER_DEFAULT,
                enum loco_fence release = LOCO_FENCE_GLOBAL)
        : fence(release)
    {
        check(loco_ticket_lock_init(&raw, m.get(), nullptr, name, host, members, handover));
    }
    ~ticket_lock()
    {
        loco_ticket_lock_fini(&raw);
    }
    void lock()
    {
        check(loco_ticket_lock_acquire(&raw));
    }
    bool try_lock()
    {
        return unless(loco_ticket_lock_try(&raw), EBUSY);
    }
    bool try_lock_for(duration timeout)
    {
        return unless(loco_ticket_lock_timed(&raw, ns_of(timeout)), ETIMEDOUT);
    }
    /* A guard's destructor calls this, so it does not throw. The lock is released, but an error of
     * the fence is not reported: writes under the lock may be lost with a peer. */
    void unlock() noexcept
    {
        loco_ticket_lock_release(&raw, fence);
    }
    /* Does the same, and throws the fence's error after the lock is released. */
    void release()
    {
        check(loco_ticket_lock_release(&raw, fence));
    }
    struct loco_ticket_lock *get()
    {
        return &raw;
    }

  private:
    struct loco_ticket_lock raw;
    enum loco_fence fence;
};

/* A lock whose waiting nodes look at their own memory only. */
class queue_lock : pinned
{
  public:
    queue_lock(const manager &m, const char *name, std::uint32_t host,
               struct loco_members members = {}, unsigned handover = LOCO_HANDOVER_DEFAULT,
               enum loco_fence release = LOCO_FENCE_GLOBAL)
        : fence(release)
    {
        check(loco_queue_lock_init(&raw, m.get(), nullptr, name, host, members, handover));
    }
    ~queue_lock()
    {
        loco_queue_lock_fini(&raw);
    }
    void lock()
    {
        check(loco_queue_lock_acquire(&raw));
    }
    bool try_lock()
    {
        return unless(loco_queue_lock_try(&raw), EBUSY);
    }
    bool try_lock_for(duration timeout)
    {
        return unless(loco_queue_lock_timed(&raw, ns_of(timeout)), ETIMEDOUT);
    }
    /* A guard's destructor calls this, so it does not throw. The lock is released, but an error of
     * the fence is not reported: writes under the lock may be lost with a peer. */
    void unlock() noexcept
    {
        loco_queue_lock_release(&raw, fence);
    }
    /* Does the same, and throws the fence's error after the lock is released. */
    void release()
    {
        check(loco_queue_lock_release(&raw, fence));
    }
    struct loco_queue_lock *get()
    {
        return &raw;
    }

  private:
    struct loco_queue_lock raw;
    enum loco_fence fence;
};

/* Readers, or a writer. Goes with std::unique_lock, and std::shared_lock for readers. */
class rw_lock : pinned
{
  public:
    rw_lock(const manager &m, const char *name, std::uint32_t host,
            struct loco_members members = {}, enum loco_fence release = LOCO_FENCE_GLOBAL)
        : fence(release)
    {
        check(loco_rw_lock_init(&raw, m.get(), nullptr, name, host, members));
    }
    ~rw_lock()
    {
        loco_rw_lock_fini(&raw);
    }
    void lock()
    {
        check(loco_rw_lock_write(&raw));
    }
    bool try_lock()
    {
        return unless(loco_rw_lock_try_write(&raw), EBUSY);
    }
    bool try_lock_for(duration timeout)
    {
        return unless(loco_rw_lock_write_timed(&raw, ns_of(timeout)), ETIMEDOUT);
    }
    void lock_shared()
    {
        check(loco_rw_lock_read(&raw));
    }
    bool try_lock_shared()
    {
        return unless(loco_rw_lock_try_read(&raw), EBUSY);
    }
    bool try_lock_shared_for(duration timeout)
    {
        return unless(loco_rw_lock_read_timed(&raw, ns_of(timeout)), ETIMEDOUT);
    }
    /* A guard's destructor calls these, so they do not throw: see ticket_lock. */
    void unlock() noexcept
    {
        loco_rw_lock_release_write(&raw, fence);
    }
    void unlock_shared() noexcept
    {
        loco_rw_lock_release_read(&raw);
    }
    /* Does the same as unlock, and throws the fence's error after the lock is released. */
    void release()
    {
        check(loco_rw_lock_release_write(&raw, fence));
    }
    struct loco_rw_lock *get()
    {
        return &raw;
    }

  private:
    struct loco_rw_lock raw;
    enum loco_fence fence;
};

} /* namespace loco */

#endif
