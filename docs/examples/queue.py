#!/usr/bin/env python3
"""Objects over network memory in Python, by ctypes: each node pushes numbers into a queue and pops as
many; the barriers are waited for with a deadline. Start each node in a shell of its own; they meet in
the directory, which need not exist:

    ./queue.py 0 2 /tmp/queue
    ./queue.py 1 2 /tmp/queue

libloco.so is found as any library is, or by LOCO_LIBRARY.
"""
import ctypes as c
import os
import sys

NUMBERS = 1000
SECONDS = 1000000000  # in ns
loco = c.CDLL(os.environ.get("LOCO_LIBRARY", "libloco.so.0.3"))


class Secret(c.Structure):
    _fields_ = [("bytes", c.c_void_p), ("size", c.c_size_t)]


class Config(c.Structure):  # struct loco_manager_config; what is zero takes the default
    _fields_ = [("node", c.c_uint32), ("node_count", c.c_uint32), ("arena_size", c.c_size_t),
                ("block_size", c.c_size_t), ("block_count", c.c_size_t), ("completions", c.c_int),
                ("secret", Secret), ("log", c.c_void_p), ("log_arg", c.c_void_p), ("room", c.c_uint64 * 8)]


class Members(c.Structure):  # no nodes: all the others
    _fields_ = [("nodes", c.c_void_p), ("count", c.c_uint)]


loco.loco_manager_ready.argtypes = [c.c_void_p, c.c_uint64]
loco.loco_manager_close.argtypes = [c.c_void_p]
loco.loco_shm_close.argtypes = [c.c_void_p]
loco.loco_barrier_init.argtypes = [c.c_void_p, c.c_void_p, c.c_void_p, c.c_char_p, Members]
loco.loco_barrier_timed.argtypes = [c.c_void_p, c.c_uint64]
loco.loco_shared_queue_init.argtypes = [c.c_void_p, c.c_void_p, c.c_void_p, c.c_char_p, c.c_uint32,
                                        Members, c.c_uint32, c.c_size_t]
for call in loco.loco_shared_queue_push, loco.loco_shared_queue_pop:
    call.argtypes = [c.c_void_p, c.c_void_p, c.c_uint64]


def check(rc):
    if rc < 0:
        raise OSError(-rc, os.strerror(-rc))


def main(node, nodes, directory):
    fabric, manager = c.c_void_p(), c.c_void_p()
    # Endpoints need memory that stays in its place. These are larger than any: channels/loco.abi has the sizes.
    barrier, queue = c.create_string_buffer(4096), c.create_string_buffer(4096)
    config = Config(node=node, node_count=nodes)

    check(loco.loco_shm_open(c.byref(fabric), directory.encode()))
    check(loco.loco_manager_open(c.byref(manager), fabric, c.byref(config)))
    check(loco.loco_barrier_init(barrier, manager, None, b"barrier", Members()))
    check(loco.loco_shared_queue_init(queue, manager, None, b"queue", 0, Members(), 64, 8))
    check(loco.loco_manager_ready(manager, 30 * SECONDS))

    total, number = 0, c.c_uint64()
    for i in range(NUMBERS):
        check(loco.loco_shared_queue_push(queue, c.byref(c.c_uint64(i)), 30 * SECONDS))
        check(loco.loco_shared_queue_pop(queue, c.byref(number), 30 * SECONDS))
        total += number.value
    check(loco.loco_barrier_timed(barrier, 30 * SECONDS))
    print(f"node {node}: what it popped comes to {total}")

    loco.loco_shared_queue_fini(queue)
    loco.loco_barrier_fini(barrier)
    loco.loco_manager_close(manager)
    loco.loco_shm_close(fabric)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(f"usage: {sys.argv[0]} NODE NODES DIRECTORY")
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
