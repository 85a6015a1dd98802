/* The benchmarks of the program `bench-rdma`. */
#include "bench.h"

const struct benchmark *const bench_tables[] = {rdma_benchmarks, NULL};
const char *const bench_quick[] = {NULL};
