/*
 * "No input of 1 MB takes more than a second": tests texts for which libyaml or hiloco once needed
 * time quadratic in their length. Each text is loaded in a process with a limit of processor time.
 * Most once took ten times that limit or far more.
 */
#include <sys/resource.h>
#include <sys/wait.h>

#include "test_scenario.h"

enum { BYTES = 1 << 20, SECONDS = 8 };

static char *text;
static size_t used;

/* The beginning, followed by repetitions of this text up to a megabyte, with a new number for each
 * %d. */
__attribute__((format(printf, 1, 0))) static void fill_up(const char *format)
{
    for (int i = 0; used + 64 < BYTES; i++)
        used += (size_t)snprintf(text + used, BYTES - used, format, i);
}

static void begin(const char *first)
{
    static char room[BYTES + 1];

    text = room;
    used = (size_t)snprintf(text, BYTES, "%s", first);
}

/* Loads the text in a process, and returns how that ended. */
static int load_in_time(char *message, size_t size)
{
    const struct rlimit limit = {SECONDS, SECONDS};
    int says[2], status;

    cr_assert_eq(pipe(says), 0);
    const pid_t child = fork();
    if (child == 0) {
        static char said[MESSAGE_BYTES];
        struct hil_scenario *scenario = NULL;
        setrlimit(RLIMIT_CPU, &limit);
        load_text(&scenario, text, used, NULL, said);
        _exit(write(says[1], said, strnlen(said, size - 1)) < 0);
    }
    close(says[1]);
    const ssize_t got = read(says[0], message, size - 1);
    message[got > 0 ? got : 0] = '\0';
    close(says[0]);
    cr_assert_eq(waitpid(child, &status, 0), child);
    return status;
}

static void expect_soon(const char *first, const char *format, const char *expected)
{
    char message[256];

    begin(first);
    fill_up(format);
    const int status = load_in_time(message, sizeof message);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s%s ...: status %#x", first, format,
              (unsigned)status);
    cr_expect(strncmp(message, expected, strlen(expected)) == 0, "%s%s ...: %s\nexpected: %s",
              first, format, message, expected);
}

#define TOO_DEEP "nested too deeply; allowed: 32 levels\n"

Test(scenario_hostile, depth)
{
    expect_soon("", "[", "FILE:1:34: " TOO_DEEP);
    expect_soon("", "{", "FILE:1:34: " TOO_DEEP);
    expect_soon("", "[\n", "FILE:34:1: " TOO_DEEP);
    expect_soon("", "{a: ", "FILE:1:130: " TOO_DEEP);
    expect_soon("", "? ", "FILE:1:67: " TOO_DEEP);
    expect_soon("", "- ", "FILE:1:67: " TOO_DEEP);
}

Test(scenario_hostile, anchors)
{
    expect_soon("", "- &a%d x\n", "FILE:257:3: too many anchors; allowed: 256\n");
    expect_soon("", "&a%d k: x\n", "FILE:257:1: too many anchors; allowed: 256\n");
    expect_soon("- &a x\n", "- &a y\n", "FILE:2:3: an anchor for the second time; allowed: once\n");
}

/* YAML has five ways to end a line. */
Test(scenario_hostile, directives)
{
    static const char *const ends[] = {"\n",       "\r",           "\r\n",
                                       "\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9"};
    char line[64];

    for (int i = 0; i < 6; i++) {
        snprintf(line, sizeof line, "%%%%TAG !t%%d! tag:x%s", ends[i]);
        expect_soon("", line,
                    i < 3 && i != 1 ? "FILE:17:1: too many directives; allowed: 16\n" : "FILE:1:");
    }
}

/* Of mistakes in well-formed text only a hundred are reported. */
Test(scenario_hostile, lists_and_mappings)
{
    expect_soon(SMALL "placement:\n", "  - {}\n", "FILE:14:5: placement.0.nodes is missing; ");
    expect_soon(
        SMALL "fabric: verbs\nverbs:\n  nodes:\n", "    - {nodes: converter, address: a}\n",
        "FILE:17:15: 'converter' gives the node converter[0] an address for the second time; ");
    expect_soon(LINE_1 LINE_2 LINE_3 END LINE_4_5 LINE_6_8 "    overrides:\n", "      - {q: 1}\n",
                "FILE:14:10: unknown key 'q' in components.converter.overrides.0; ");
    expect_soon(BEGINNING LINE_9 LINE_11 LINE_12
                "sources:\n  r:\n    to: control.reference_v\n    steps:\n      initial: 1\n"
                "      changes:\n",
                "      - 1\n", "FILE:18:9: sources.r.steps.changes.0 is '1'; ");
    expect_soon("", "k%d: 1\n", "FILE:1:1: unknown key 'k0' in the scenario; ");
    expect_soon("{", "a,", "FILE:2:1: not YAML: ");
    expect_soon("", "name: x\n", "FILE:2:1: key 'name' for the second time in the scenario; ");
}

Test(scenario_hostile, documents_and_scalars)
{
    expect_soon("", "---\n", "FILE:3:1: a second document; allowed: one\n");
    expect_soon("name: ", "x ", "FILE:1:7: name is 'x x x");
    expect_soon("name: \"", "\\n", "FILE:1:");
    expect_soon("name: |\n", " x\n", "FILE:1:7: name is the text ");
    expect_soon("# ", "#", "FILE:1:1: the scenario is empty; ");
}

/* Sixteen directives are allowed, but in UTF-16 more would not be noticed. */
Test(scenario_hostile, utf_16)
{
    char message[256];

    begin("");
    for (const char *c = "\xff\xfe"
                         "a\0:\0 \0"
                         "1\0";
         used < 10; used++)
        text[used] = c[used];
    cr_expect_eq(load_in_time(message, sizeof message), 0);
    cr_expect(strstr(message, "not YAML: invalid leading UTF-8 octet"), "%s", message);
}

#define ONE_LAG                                                                                    \
    "name: one\nduration_s: 0.001\nnodes: {a: {period_us: 100}}\n"                                 \
    "components: {lag: {model: first_order_lag, node: a}}\n"                                       \
    "sources: {s: {to: lag.input, constant: 1}}\n"

/* Scenarios without a mistake are large, too. */
Test(scenario_hostile, many_of_one_kind)
{
    expect_soon(ONE_LAG "measures:\n", "  m%d: {sum: lag.output}\n", "");
    expect_soon(ONE_LAG "record:\n", "  - {signals: [lag.output]}\n", "");
    expect_soon(ONE_LAG "limits:\n", "  l%d: {signal: lag.output, max: 5}\n", "");
    expect_soon(ONE_LAG "faults:\n",
                "  f%d: {signal: lag.output, kind: bias, value: 1, at_s: 0.0005}\n", "");
}
