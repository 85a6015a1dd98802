/* Says of each test how it ended and how long it took, and of a skipped one why, as tests/plain
 * does: tests/suite.py reads it. Criterion does so only with --verbose. */
#include <criterion/hooks.h>
#include <criterion/stats.h>
#include <stdio.h>

ReportHook(POST_TEST)(struct criterion_test_stats *stats)
{
    static const char *const words[] = {
        [CR_STATUS_PASSED] = "ok", [CR_STATUS_FAILED] = "FAILED", [CR_STATUS_SKIPPED] = "skipped"};
    const bool says_why = stats->test_status == CR_STATUS_SKIPPED && stats->message;
    char line[1000];

    /* In one piece, as tests that run now write to the same file. */
    snprintf(line, sizeof line, "  %s: %s/%s%s%s (%.1f s)\n", words[stats->test_status],
             stats->test->category, stats->test->name, says_why ? ": " : "",
             says_why ? stats->message : "", (double)stats->elapsed_time);
    fputs(line, stderr);
}
