/* What the program `bench-rdma` measures. */
#include "bench.h"

const struct benchmark *const bench_tables[] = {rdma_benchmarks, NULL};
