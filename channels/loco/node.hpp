/*
 * A node in C++17, and what the classes of all channels share: fabrics, the manager, the thread
 * that may use it, and errors. loco.hpp includes this, and says more.
 */
#ifndef LOCO_NODE_HPP
#define LOCO_NODE_HPP

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <system_error>
#include <type_traits>
#include <utility>

#include "loco.h"

namespace loco
{

using duration = std::chrono::nanoseconds;
inline constexpr duration forever = duration::max();

/* A time that is over already counts as 0. */
inline std::uint64_t ns_of(duration d)
{
    if (d == forever)
        return UINT64_MAX;
    return d.count() > 0 ? static_cast<std::uint64_t>(d.count()) : 0;
}

/* Returns rc. Throws it if it is an error. */
inline int check(int rc)
{
    if (rc < 0)
        throw std::system_error(-rc, std::generic_category());
    return rc;
}

/* Returns whether rc is not `error`. Throws any other error. */
inline bool unless(int rc, int error)
{
    return rc != -error && check(rc) >= 0;
}

inline void wait(const struct loco_ack &ack, duration timeout = forever)
{
    check(loco_ack_wait(&ack, ns_of(timeout)));
}

/* Memory for a value that a call fills in: T need not have a default constructor. */
template <typename T> union unfilled {
    unsigned char bytes[sizeof(T)];
    T value;
    unfilled()
    {
    }
};

/* The base of what must not be copied or moved, because the library keeps its address. */
class pinned
{
  public:
    pinned(const pinned &) = delete;
    pinned &operator=(const pinned &) = delete;

  protected:
    pinned() = default;
    ~pinned() = default;
};

/* The base of the fabrics. */
class fabric : pinned
{
  public:
    struct loco_fabric *get() const
    {
        return raw;
    }

  protected:
    fabric() = default;
    ~fabric() = default;
    struct loco_fabric *raw = nullptr;
};

/* Shared memory: the processes of one machine meet in a directory. */
class shm : public fabric
{
  public:
    explicit shm(const char *run_directory)
    {
        check(loco_shm_open(&raw, run_directory));
    }
    ~shm()
    {
        loco_shm_close(raw);
    }
};

/* TCP; `config` has each node's address. */
class tcp : public fabric
{
  public:
    explicit tcp(const struct loco_tcp_config &config)
    {
        check(loco_tcp_open(&raw, &config));
    }
    ~tcp()
    {
        loco_tcp_close(raw);
    }
};

/* RDMA; `config` has each node's address. */
class verbs : public fabric
{
  public:
    explicit verbs(const struct loco_verbs_config &config)
    {
        check(loco_verbs_open(&raw, &config));
    }
    ~verbs()
    {
        loco_verbs_close(raw);
    }
};

class manager : pinned
{
  public:
    manager(struct loco_fabric *on, const struct loco_manager_config &config)
    {
        check(loco_manager_open(&raw, on, &config));
    }
    manager(const fabric &on, std::uint32_t node, std::uint32_t count)
    {
        struct loco_manager_config config = {};

        config.node = node;
        config.node_count = count;
        check(loco_manager_open(&raw, on.get(), &config));
    }
    ~manager()
    {
        loco_manager_close(raw);
    }
    void ready(duration timeout = forever)
    {
        check(loco_manager_ready(raw, ns_of(timeout)));
    }
    /* Closes before the destructor does, which waits without a limit. Nothing else may be called
     * after that. False: the time is over, and the manager is still open. */
    bool close(duration timeout)
    {
        if (!unless(loco_manager_close_timed(raw, ns_of(timeout)), ETIMEDOUT))
            return false;
        raw = nullptr;
        return true;
    }
    std::uint32_t id() const
    {
        return raw->id;
    }
    duration clock() const
    {
        return duration(loco_clock(raw));
    }
    struct loco_manager *get() const
    {
        return raw;
    }

  private:
    struct loco_manager *raw = nullptr;
};

/* As long as it lives, the thread that made it is attached. The same thread destroys it. A time
 * that is over throws ETIMEDOUT. */
class attached : pinned
{
  public:
    explicit attached(const manager &m, duration timeout = forever) : mgr(m.get())
    {
        check(loco_thread_attach_timed(mgr, ns_of(timeout)));
    }
    ~attached()
    {
        loco_thread_detach(mgr);
    }

  private:
    struct loco_manager *mgr;
};

/* As long as it lives, the fabric may hold back the thread's writes and send them together:
 * loco_hold. The same thread destroys it. */
class held : pinned
{
  public:
    explicit held(const manager &m) : mgr(m.get())
    {
        loco_hold(mgr);
    }
    ~held()
    {
        loco_release(mgr);
    }

  private:
    struct loco_manager *mgr;
};

} /* namespace loco */

#endif
