/*
 * Tests on an RDMA device: what is particular to the verbs fabric, the histories, and the channels'
 * tests of tests/unit as separate processes. LOCO_TEST_ADDRESSES has the addresses of the nodes.
 */
#include <criterion/criterion.h>
#include <criterion/options.h>

/* Seen by the library, which starts each test as a process of its own. */
__attribute__((visibility("default"))) int main(int argc, char **argv)
{
    struct criterion_test_set *tests = criterion_initialize();
    int failed = 0;

    criterion_options.jobs = 1; /* all have the same addresses */
    criterion_options.pattern = "@(verbs/*|histories/*|*/*_processes|channels/*_threads)";
    if (criterion_handle_args(argc, argv, true))
        failed = !criterion_run_all_tests(tests);
    criterion_finalize(tests);
    return failed;
}
