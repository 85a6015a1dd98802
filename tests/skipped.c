/* Says which tests were skipped, and why. Criterion does so only with --verbose. */
#include <criterion/hooks.h>
#include <criterion/stats.h>
#include <stdio.h>

ReportHook(POST_TEST)(struct criterion_test_stats *stats)
{
    if (stats->test_status == CR_STATUS_SKIPPED && stats->message)
        fprintf(stderr, "%s/%s: skipped: %s\n", stats->test->category, stats->test->name,
                stats->message);
}
