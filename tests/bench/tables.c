/* The benchmarks of the program `bench`. */
#include "bench.h"

const struct benchmark *const bench_tables[] = {
    latency_benchmarks,    step_benchmarks,    fabric_benchmarks,
    virtual_benchmarks,    sweep_benchmarks,   atomic_benchmarks,
    collective_benchmarks, queue_benchmarks,   lock_benchmarks,
    kvstore_benchmarks,    tracing_benchmarks, tcp_benchmarks,
    converter_benchmarks,  circuit_benchmarks, NULL,
};

const char *const bench_quick[] = {
    "owned_var_one_way_8",
    "converter_step",
    "controller_step_20",
    "virtual_5_s_20_converters",
    "sweep_two_cores",
    "barrier",
    "ringbuffer_64",
    "shared_queue_64",
    "lock_handover_1",
    "transfers_1",
    "kv_read_uniform_3",
    "tcp_round_trip_8",
    NULL,
};
