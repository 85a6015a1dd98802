/* The benchmarks of the program `bench`. */
#include "bench.h"

const struct benchmark *const bench_tables[] = {
    latency_benchmarks,    step_benchmarks,
    fabric_benchmarks,     virtual_benchmarks,
    sweep_benchmarks,      atomic_benchmarks,
    collective_benchmarks, queue_benchmarks,
    lock_benchmarks,       kvstore_benchmarks,
    tracing_benchmarks,    tcp_benchmarks,
    converter_benchmarks,  NULL,
};
