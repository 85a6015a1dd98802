/*
 * Tests the listing of a scenario, whose hash nodes exchange when they meet. Equivalent scenarios
 * have the same listing. It differs if a key differs that all nodes must have alike.
 */
#include "test_scenario.h"

#include "harness/scenario/yaml/scenario_listing.h"

static struct hil_scenario *load_set(const char *set)
{
    const char *const sets[] = {set, NULL};

    return load(SMALL, sets);
}

/* Whether SMALL with this --set has another hash. */
static bool differs(const char *set)
{
    struct hil_scenario *a = load(SMALL, NULL), *b = load_set(set);
    bool other = a->listing.hash != b->listing.hash;

    cr_expect_eq(other, strcmp(a->listing.lines, b->listing.lines) != 0, "%s", set);
    hil_scenario_free(a);
    hil_scenario_free(b);
    return other;
}

Test(listing, a_value_is_one_however_it_is_written)
{
    static const char *const same[] = {
        "controller.period_us=20.0", "controller.period_us=2e1",
        "controller.period_us=+20",  "controller.period_us=19.9999999999999999",
        "controller.phase_us=-0",    "duration_s=0.10000000000000001",
        "controller.limits={}",      "converters.overrides=[]",
    };

    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++)
        cr_expect_not(differs(same[i]), "%s", same[i]);
}

Test(listing, one_converter_is_a_range_of_one)
{
    struct hil_scenario *a = load_set("converters.overrides=[{id: 2, duty_initial: 0.1}]");
    struct hil_scenario *b = load_set("converters.overrides=[{id: 2-2, duty_initial: 1e-1}]");

    cr_expect_eq(a->listing.hash, b->listing.hash);
    hil_scenario_free(a);
    hil_scenario_free(b);
}

Test(listing, what_all_must_have_alike_differs)
{
    static const char *const others[] = {
        "controller.period_us=20.001",     "controller.law=pi",
        "controller.gains.kp_per_v=0.04",  "controller.limits.duty_max=0.9",
        "converters.plant=boost",          "converters.duty_safe=0.1",
        "converters.tolerance.percent=5",  "reference.voltage_v=12.5",
        "converters.parameters.esr_ohm=1", "load.changes=[{time_s: 0.05, load_ohm: 1}]",
        "converters.initial.voltage_v=1",  "on_lost=restart",
    };

    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        cr_expect(differs(others[i]), "%s", others[i]);
}

Test(listing, what_a_machine_sets_for_itself_does_not)
{
    static const char *const own[] = {
        "controller.cpu=0",
        "controller.shards=2",
        "converters.priority=1",
        "controller.wait=hybrid",
        "converters.scheduler=other",
        "recording.decimation=7",
        "trace.enable=true",
        "validity.required=false",
        "verbs.port=1234",
        "placement=[{controller: true, converters: 0-2}]",
    };

    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        cr_expect_not(differs(own[i]), "%s", own[i]);
}

/* The listing has the order of the schema, whatever the order of the file, so that the first
 * differing key is the same on both nodes. */
Test(listing, is_in_one_order)
{
    struct hil_scenario *a = load(SMALL, NULL);
    struct hil_scenario *b = load(LINE_10_11 LINE_6_9 LINE_3_5 LINE_2 LINE_1, NULL);

    cr_expect_str_eq(a->listing.lines, b->listing.lines);
    cr_expect_eq(strncmp(a->listing.lines, "name=small\nduration_s=0.1\nmode=", 31), 0, "%.60s",
                 a->listing.lines);
    hil_scenario_free(a);
    hil_scenario_free(b);
}

/* --- the document ------------------------------------------------------------------------- */

/* Whether the list in docs/validity.md has the key, or a block that contains it, in backquotes. */
static bool is_documented(const char *text, const char *path)
{
    char quoted[256];

    for (const char *end = path; end; end = strchr(end + 1, '.')) {
        size_t length = end == path ? strlen(path) : (size_t)(end - path);
        snprintf(quoted, sizeof quoted, "`%.*s`", (int)length, path);
        if (strstr(text, quoted))
            return true;
    }
    return false;
}

static char *section(const char *path, const char *title)
{
    static char text[1 << 15];
    FILE *file = fopen(path, "r");

    cr_assert_not_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    char *begin = strstr(text, title);
    cr_assert_not_null(begin);
    char *end = strstr(begin + strlen(title), "\n## ");
    if (end)
        *end = '\0';
    return begin;
}

Test(listing, the_document_says_which_keys_may_differ)
{
    const char *text = section("docs/validity.md", "\n## Nodes that belong together\n");

    for (unsigned i = 0; i < scenario_key_count; i++) {
        const char *path = scenario_keys[i].path;
        char block[256];
        snprintf(block, sizeof block, "%.*s", (int)strcspn(path, "["), path);
        cr_expect_eq(scenario_listing_leaves_out(block), is_documented(text, block), "%s", path);
    }
}
