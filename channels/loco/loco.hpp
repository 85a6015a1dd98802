/*
 * libloco in C++17: thin classes over loco.h. An object of a class is an endpoint; its destructor
 * ends it. An error throws std::system_error with the errno as its code. Outcomes that are no
 * errors (a try that failed, a time that is over) are returned. Values are of any trivially
 * copyable type. The headers of the functions that a method calls say the rest: units, threads,
 * order.
 *
 * get() returns the C structure, for calls that have no method here. An endpoint must be destroyed
 * before its manager, and a manager before its fabric. So declare the fabric first, then the
 * manager, then endpoints.
 */
#ifndef LOCO_HPP
#define LOCO_HPP

#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

#include "locks.hpp"
#include "node.hpp"

namespace loco
{

/* A word that any node changes atomically. */
class atomic_var : pinned
{
  public:
    atomic_var(const manager &m, const char *name, std::uint32_t host,
               struct loco_members members = {})
    {
        check(loco_atomic_var_init(&raw, m.get(), nullptr, name, host, members, 0));
    }
    ~atomic_var()
    {
        loco_atomic_var_fini(&raw);
    }
    /* A time that is over throws ETIMEDOUT, as a change may still take effect. */
    std::uint64_t load(duration timeout = forever) const
    {
        std::uint64_t value;

        check(loco_atomic_load_timed(word(), &value, ns_of(timeout)));
        return value;
    }
    void store(std::uint64_t value, duration timeout = forever)
    {
        check(timeout == forever ? loco_atomic_store(word(), value)
                                 : loco_atomic_store_timed(word(), value, ns_of(timeout)));
    }
    std::uint64_t fetch_add(std::uint64_t add, duration timeout = forever)
    {
        std::uint64_t old;

        check(timeout == forever ? loco_atomic_fetch_add(word(), add, &old)
                                 : loco_atomic_fetch_add_timed(word(), add, &old, ns_of(timeout)));
        return old;
    }
    std::uint64_t exchange(std::uint64_t value, duration timeout = forever)
    {
        std::uint64_t old;

        check(timeout == forever ? loco_atomic_exchange(word(), value, &old)
                                 : loco_atomic_exchange_timed(word(), value, &old, ns_of(timeout)));
        return old;
    }
    /* Like std::atomic's: if it fails, `expected` gets the word's value. */
    bool compare_exchange(std::uint64_t &expected, std::uint64_t desired,
                          duration timeout = forever)
    {
        const std::uint64_t wanted = expected;

        check(timeout == forever ? loco_atomic_compare_swap(word(), wanted, desired, &expected)
                                 : loco_atomic_compare_swap_timed(word(), wanted, desired,
                                                                  &expected, ns_of(timeout)));
        return expected == wanted;
    }
    struct loco_atomic_var *get()
    {
        return &raw;
    }

  private:
    struct loco_atomic_word word() const
    {
        return loco_atomic_of(&raw);
    }
    struct loco_atomic_var raw;
};

/* A value with one writer. */
template <typename T> class owned_var : pinned
{
    static_assert(std::is_trivially_copyable_v<T>, "it is copied byte by byte");

  public:
    owned_var(const manager &m, const char *name, std::uint32_t owner,
              struct loco_members readers = {})
    {
        check(loco_owned_var_init(&raw, m.get(), nullptr, name, owner, readers, sizeof(T)));
    }
    ~owned_var()
    {
        loco_owned_var_fini(&raw);
    }
    void store(const T &value)
    {
        loco_owned_var_store(&raw, &value);
    }
    struct loco_ack push()
    {
        return loco_owned_var_push(&raw);
    }
    struct loco_ack put(const T &value)
    {
        return loco_owned_var_put(&raw, &value);
    }
    struct loco_ack pull()
    {
        return loco_owned_var_pull(&raw);
    }
    T load() const
    {
        unfilled<T> to;

        check(loco_owned_var_load(&raw, &to.value));
        return to.value;
    }
    struct loco_owned_var *get()
    {
        return &raw;
    }

  private:
    struct loco_owned_var raw;
};

/* Memory at each node that every other node can read and write. */
class shared_region : pinned
{
  public:
    shared_region(const manager &m, const char *name, std::size_t size,
                  struct loco_members members = {})
    {
        check(loco_shared_region_init(&raw, m.get(), nullptr, name, members, size));
    }
    ~shared_region()
    {
        loco_shared_region_fini(&raw);
    }
    void *local()
    {
        return loco_shared_region_local(&raw);
    }
    struct loco_ack write(std::uint32_t node, std::size_t offset, const void *from,
                          std::size_t size)
    {
        return loco_shared_region_write(&raw, node, offset, from, size);
    }
    struct loco_ack read(std::uint32_t node, std::size_t offset, void *to, std::size_t size)
    {
        return loco_shared_region_read(&raw, node, offset, to, size);
    }
    struct loco_shared_region *get()
    {
        return &raw;
    }

  private:
    struct loco_shared_region raw;
};

/* A row for each node. */
template <typename T> class sst : pinned
{
    static_assert(std::is_trivially_copyable_v<T>, "it is copied byte by byte");

  public:
    sst(const manager &m, const char *name, struct loco_members members = {})
    {
        check(loco_sst_init(&raw, m.get(), nullptr, name, members, sizeof(T)));
    }
    ~sst()
    {
        loco_sst_fini(&raw);
    }
    void store_mine(const T &value)
    {
        loco_sst_store_mine(&raw, &value);
    }
    struct loco_ack push_broadcast()
    {
        return loco_sst_push_broadcast(&raw);
    }
    /* Nothing: the node is no member, or has not joined yet. */
    std::optional<T> load(std::uint32_t node) const
    {
        const struct loco_owned_var *row = loco_sst_row(&raw, node);
        unfilled<T> to;

        if (!row)
            return std::nullopt;
        check(loco_owned_var_load(row, &to.value));
        return to.value;
    }
    struct loco_sst *get()
    {
        return &raw;
    }

  private:
    struct loco_sst raw;
};

/* A queue of all nodes. */
template <typename T> class shared_queue : pinned
{
    static_assert(std::is_trivially_copyable_v<T>, "it is copied byte by byte");

  public:
    shared_queue(const manager &m, const char *name, std::uint32_t host, std::uint32_t capacity,
                 struct loco_members members = {})
    {
        check(loco_shared_queue_init(&raw, m.get(), nullptr, name, host, members, capacity,
                                     sizeof(T)));
    }
    ~shared_queue()
    {
        loco_shared_queue_fini(&raw);
    }
    /* push: false, and pop: nothing, when the time is over. */
    bool push(const T &entry, duration timeout = forever)
    {
        return unless(loco_shared_queue_push(&raw, &entry, ns_of(timeout)), ETIMEDOUT);
    }
    std::optional<T> pop(duration timeout = forever)
    {
        unfilled<T> to;

        if (!unless(loco_shared_queue_pop(&raw, &to.value, ns_of(timeout)), ETIMEDOUT))
            return std::nullopt;
        return to.value;
    }
    bool try_push(const T &entry)
    {
        return unless(loco_shared_queue_try_push(&raw, &entry), EAGAIN);
    }
    std::optional<T> try_pop()
    {
        unfilled<T> to;

        if (!unless(loco_shared_queue_try_pop(&raw, &to.value), EAGAIN))
            return std::nullopt;
        return to.value;
    }
    struct loco_shared_queue *get()
    {
        return &raw;
    }

  private:
    struct loco_shared_queue raw;
};

/* Messages of 1 to `message_max` bytes from one node to many. */
class ringbuffer : pinned
{
  public:
    ringbuffer(const manager &m, const char *name, std::uint32_t sender, std::size_t capacity,
               std::size_t message_max, struct loco_members receivers = {})
    {
        check(loco_ringbuffer_init(&raw, m.get(), nullptr, name, sender, receivers, capacity,
                                   message_max));
    }
    ~ringbuffer()
    {
        loco_ringbuffer_fini(&raw);
    }
    /* Returns the message's position; nothing when the time is over. */
    std::optional<std::uint64_t> send(const void *message, std::size_t size,
                                      duration timeout = forever)
    {
        std::uint64_t position;

        if (!unless(loco_ringbuffer_send_wait(&raw, message, size, &position, ns_of(timeout)),
                    ETIMEDOUT))
            return std::nullopt;
        return position;
    }
    bool acknowledged(std::uint64_t position) const
    {
        return loco_ringbuffer_acknowledged(&raw, position);
    }
    /* False: the time is over. */
    bool wait(std::uint64_t position, duration timeout = forever) const
    {
        return unless(loco_ringbuffer_wait(&raw, position, ns_of(timeout)), ETIMEDOUT);
    }
    /* Nothing: the time is over. */
    std::optional<struct loco_message> receive(duration timeout = forever)
    {
        struct loco_message message;

        if (!unless(loco_ringbuffer_receive_wait(&raw, &message, ns_of(timeout)), ETIMEDOUT))
            return std::nullopt;
        return message;
    }
    void release(std::uint64_t position)
    {
        loco_ringbuffer_release(&raw, position);
    }
    struct loco_ack acknowledge(std::uint64_t position)
    {
        return loco_ringbuffer_acknowledge(&raw, position);
    }
    struct loco_ringbuffer *get()
    {
        return &raw;
    }

  private:
    struct loco_ringbuffer raw;
};

/* A map from words to values. */
template <typename T> class kvstore : pinned
{
    static_assert(std::is_trivially_copyable_v<T>, "it is copied byte by byte");
    static_assert(sizeof(T) >= LOCO_KV_VALUE_MIN && sizeof(T) <= LOCO_KV_VALUE_MAX,
                  "the sizes of loco_kvstore_config's values");

  public:
    /* `capacity`: the number of keys that one node may insert. Once the manager is ready, call
     * start_tracker. */
    kvstore(const manager &m, const char *name, std::uint32_t capacity)
    {
        struct loco_kvstore_config config = {};

        config.value_size = sizeof(T);
        config.capacity = capacity;
        check(loco_kvstore_init(&raw, m.get(), nullptr, name, &config));
    }
    ~kvstore()
    {
        loco_kvstore_fini(&raw);
    }
    void start_tracker()
    {
        check(loco_kvstore_start_tracker(&raw));
    }
    /* insert: false when the store has the key. The others: false, or nothing, when it does not. A
     * time that is over throws ETIMEDOUT, as the write may still take effect. */
    bool insert(std::uint64_t key, const T &value, duration timeout = forever)
    {
        return unless(loco_kvstore_insert_timed(&raw, key, &value, ns_of(timeout)), EEXIST);
    }
    bool update(std::uint64_t key, const T &value, duration timeout = forever)
    {
        return unless(loco_kvstore_update_timed(&raw, key, &value, ns_of(timeout)), ENOENT);
    }
    bool erase(std::uint64_t key, duration timeout = forever)
    {
        return unless(loco_kvstore_delete_timed(&raw, key, ns_of(timeout)), ENOENT);
    }
    std::optional<T> read(std::uint64_t key, duration timeout = forever)
    {
        unfilled<T> to;

        if (!unless(loco_kvstore_read_timed(&raw, key, &to.value, ns_of(timeout)), ENOENT))
            return std::nullopt;
        return to.value;
    }
    /* False when the store has another value, which `expected` then is. Throws ENOENT when it does
     * not have the key. */
    bool compare_swap(std::uint64_t key, T &expected, const T &desired, duration timeout = forever)
    {
        return unless(
            loco_kvstore_compare_swap_timed(&raw, key, &expected, &desired, ns_of(timeout)),
            ECANCELED);
    }
    /* Reads the next key, from cursor 0 on; nothing when there are no more. loco_kvstore_next says
     * what that means while keys come and go. */
    std::optional<std::pair<std::uint64_t, T>> next(std::uint64_t &cursor,
                                                    duration timeout = forever)
    {
        unfilled<T> to;
        std::uint64_t key;

        if (!unless(loco_kvstore_next_timed(&raw, &cursor, &key, &to.value, ns_of(timeout)),
                    ENOENT))
            return std::nullopt;
        return std::make_pair(key, to.value);
    }
    struct loco_kvstore *get()
    {
        return &raw;
    }

  private:
    struct loco_kvstore raw;
};

/* Waits until an item has a result. Returns how many have one; 0 when the time is over. */
inline unsigned poll(const manager &m, struct loco_poll_item *items, unsigned count,
                     duration timeout = forever)
{
    const int found = loco_poll(m.get(), items, count, ns_of(timeout));

    return found == -ETIMEDOUT ? 0 : static_cast<unsigned>(check(found));
}

/* A descriptor for an event loop, with a thread that looks. */
class watch : pinned
{
  public:
    explicit watch(const manager &m)
    {
        check(loco_watch_init(&raw, m.get()));
        const int rc = loco_watch_start(&raw);
        if (rc)
            loco_watch_fini(&raw);
        check(rc);
    }
    ~watch()
    {
        loco_watch_fini(&raw);
    }
    int fd() const
    {
        return raw.fd;
    }
    /* The items belong to the watch until it is asked to take them back. */
    void arm(struct loco_poll_item *items, unsigned count)
    {
        check(loco_watch_arm(&raw, items, count));
    }
    unsigned take()
    {
        return static_cast<unsigned>(loco_watch_take(&raw));
    }
    struct loco_watch *get()
    {
        return &raw;
    }

  private:
    struct loco_watch raw;
};

} /* namespace loco */

#endif
