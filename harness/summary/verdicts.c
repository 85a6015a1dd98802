#include "verdicts.h"

#include <string.h>

#include "../base/exit_status.h"
#include "../base/result_file.h"
#include "../h5/run_files.h"

/* --- a run's tests --------------------------------------------------------------------------- */

/* A test, for both formats. */
struct verdict_case {
    const char *name, *verdict; /* "passed", "failed", "inconclusive", "error", "skipped" */
    char words[1024];
};

static const char *verdict_text(const json_t *object, const char *key, const char *otherwise)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text ? text : otherwise;
}

static bool came_to_its_end(int status)
{
    return status == HIL_EXIT_OK || status == HIL_EXIT_INVALID || status == HIL_EXIT_LIMIT;
}

const char *hil_tested_verdict(const struct hil_tested *run)
{
    return came_to_its_end(run->status) ? verdict_text(run->summary, "verdict", "error") : "error";
}

static const json_t *reasons_of(const struct hil_tested *run)
{
    return json_object_get(json_object_get(run->summary, "validity"), "reasons");
}

/* A run that is not valid cannot be judged, unless its scenario does not require validity. */
static bool is_believed(const struct hil_tested *run)
{
    return run->status == HIL_EXIT_OK || run->status == HIL_EXIT_LIMIT ||
           (run->status == HIL_EXIT_INVALID && json_array_size(reasons_of(run)) == 0);
}

/* Why a run did not reach its end, as far as known: the first failure, or how far it came. */
static const char *cause_of(const struct hil_tested *run)
{
    const json_t *failures = json_object_get(run->summary, "failures");
    const json_t *first = json_array_get(json_object_get(failures, "each"), 0);
    const char *reason = json_string_value(json_array_get(reasons_of(run), 0));

    return verdict_text(first, "what", reason ? reason : "");
}

static struct verdict_case run_case(const struct hil_tested *run)
{
    struct verdict_case c = {.name = "run", .verdict = "passed"};
    size_t used = 0, i;
    json_t *reason;

    if (!came_to_its_end(run->status)) {
        c.verdict = "error";
        if (run->status < 0)
            snprintf(c.words, sizeof c.words, "it was not run");
        else
            snprintf(c.words, sizeof c.words, "it ended with status %d%s%s", run->status,
                     *cause_of(run) ? ": " : "", cause_of(run));
        return c;
    }
    if (is_believed(run))
        return c;
    c.verdict = "inconclusive";
    json_array_foreach(reasons_of(run), i, reason) if (used < sizeof c.words) used +=
        (size_t)snprintf(c.words + used, sizeof c.words - used, "%s%s", used ? "; " : "",
                         json_string_value(reason));
    return c;
}

static struct verdict_case limit_case(const struct hil_tested *run, const json_t *limit)
{
    struct verdict_case c = {.name = verdict_text(limit, "name", "limit"),
                             .verdict = verdict_text(limit, "verdict", "error")};
    const char *figure = verdict_text(limit, "figure", NULL);

    snprintf(c.words, sizeof c.words, "%s%s%s%s", verdict_text(limit, "words", ""),
             figure ? " (" : "", figure ? figure : "", figure ? ")" : "");
    if (is_believed(run))
        return c;
    c.verdict = "skipped";
    strcpy(c.words, "the run cannot be believed");
    return c;
}

typedef void each_case_fn(void *arg, const struct hil_tested *run, const struct verdict_case *c);

static void each_case(const struct hil_tested *run, each_case_fn *each, void *arg)
{
    const json_t *limits = json_object_get(run->summary, "limits");
    struct verdict_case c = run_case(run);

    each(arg, run, &c);
    for (size_t i = 0; came_to_its_end(run->status) && i < json_array_size(limits); i++) {
        c = limit_case(run, json_array_get(limits, i));
        each(arg, run, &c);
    }
}

/* --- JUnit ----------------------------------------------------------------------------------- */

struct tally {
    unsigned tests, failures, errors, skipped;
};

static void count_case(void *tally, const struct hil_tested *run, const struct verdict_case *c)
{
    struct tally *t = tally;

    (void)run;
    t->tests++;
    t->failures += strcmp(c->verdict, "failed") == 0;
    t->skipped += strcmp(c->verdict, "skipped") == 0;
    t->errors += strcmp(c->verdict, "error") == 0 || strcmp(c->verdict, "inconclusive") == 0;
}

/* Text in an attribute. Characters that XML does not allow become question marks. */
static void xml_text(FILE *to, const char *text)
{
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        if (c == '&')
            fputs("&amp;", to);
        else if (c == '<')
            fputs("&lt;", to);
        else if (c == '>')
            fputs("&gt;", to);
        else if (c == '"')
            fputs("&quot;", to);
        else
            fputc(c < ' ' || c == 0x7f ? '?' : c, to);
    }
}

static void xml_attribute(FILE *to, const char *name, const char *text)
{
    fprintf(to, " %s=\"", name);
    xml_text(to, text);
    fputc('"', to);
}

static void junit_case(void *file, const struct hil_tested *run, const struct verdict_case *c)
{
    const bool failed = strcmp(c->verdict, "failed") == 0;
    const bool skipped = strcmp(c->verdict, "skipped") == 0;
    FILE *to = file;

    fputs("    <testcase", to);
    xml_attribute(to, "classname", run->name);
    xml_attribute(to, "name", c->name);
    if (strcmp(c->name, "run") == 0)
        fprintf(to, " time=\"%.3f\"", run->seconds);
    if (strcmp(c->verdict, "passed") == 0) {
        fputs("/>\n", to);
        return;
    }
    fprintf(to, ">\n      <%s", failed ? "failure" : skipped ? "skipped" : "error");
    if (!skipped)
        xml_attribute(to, "type", c->verdict);
    xml_attribute(to, "message", c->words);
    fputs("/>\n    </testcase>\n", to);
}

static void junit_suite(FILE *to, const struct hil_tested *run)
{
    struct tally t = {0};

    each_case(run, count_case, &t);
    fputs("  <testsuite", to);
    xml_attribute(to, "name", run->name);
    fprintf(to, " tests=\"%u\" failures=\"%u\" errors=\"%u\" skipped=\"%u\" time=\"%.3f\">\n",
            t.tests, t.failures, t.errors, t.skipped, run->seconds);
    each_case(run, junit_case, to);
    fputs("  </testsuite>\n", to);
}

static const char junit_head[] = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                                 "<testsuites name=\"hiloco\"";

void hil_verdicts_junit(FILE *to, const struct hil_tested *runs, unsigned count)
{
    struct tally t = {0};
    double seconds = 0;

    for (unsigned i = 0; i < count; i++) {
        each_case(&runs[i], count_case, &t);
        seconds += runs[i].seconds;
    }
    fprintf(to,
            "%s tests=\"%u\" failures=\"%u\" errors=\"%u\" skipped=\"%u\" "
            "time=\"%.3f\">\n",
            junit_head, t.tests, t.failures, t.errors, t.skipped, seconds);
    for (unsigned i = 0; i < count; i++)
        junit_suite(to, &runs[i]);
    fputs("</testsuites>\n", to);
}

/* --- TAP ------------------------------------------------------------------------------------- */

static const char tap_head[] = "TAP version 14\n# hiloco\n";

struct tap {
    FILE *to;
    unsigned number;
};

/* A # in a description would begin a directive. */
static void tap_text(FILE *to, const char *text)
{
    for (; *text; text++)
        fputc(*text == '#' ? '_' : *text, to);
}

static void tap_case(void *arg, const struct hil_tested *run, const struct verdict_case *c)
{
    const bool skipped = strcmp(c->verdict, "skipped") == 0;
    const bool passed = strcmp(c->verdict, "passed") == 0;
    struct tap *tap = arg;

    fprintf(tap->to, "%sok %u - ", passed || skipped ? "" : "not ", ++tap->number);
    tap_text(tap->to, run->name);
    fputs(": ", tap->to);
    tap_text(tap->to, c->name);
    fprintf(tap->to, skipped ? " # SKIP %s\n" : "\n", c->words);
    if (passed || skipped)
        return;
    fprintf(tap->to, "  ---\n  verdict: %s\n  message: '", c->verdict);
    for (const char *text = c->words; *text; text++)
        fprintf(tap->to, *text == '\'' ? "''" : "%c", *text);
    fputs("'\n  ...\n", tap->to);
}

void hil_verdicts_tap(FILE *to, const struct hil_tested *runs, unsigned count)
{
    struct tap tap = {.to = to};
    struct tally t = {0};

    for (unsigned i = 0; i < count; i++)
        each_case(&runs[i], count_case, &t);
    fprintf(to, "%s1..%u\n", tap_head, t.tests);
    for (unsigned i = 0; i < count; i++)
        each_case(&runs[i], tap_case, &tap);
}

bool hil_verdict_made(const char *dir, const char *name)
{
    char path[HIL_PATH_BYTES], begin[sizeof junit_head + sizeof tap_head] = "";
    FILE *file = hil_run_path(path, dir, "%s", name) ? NULL : hil_result_read(path);

    if (!file)
        return false;
    const size_t length = fread(begin, 1, sizeof begin - 1, file);
    fclose(file);
    begin[length] = '\0';
    return strncmp(begin, junit_head, sizeof junit_head - 1) == 0 ||
           strncmp(begin, tap_head, sizeof tap_head - 1) == 0;
}
