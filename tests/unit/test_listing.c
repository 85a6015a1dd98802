/*
 * Tests the listing of a scenario, whose hash nodes exchange when they meet. Equivalent scenarios
 * have the same listing. It differs if a key differs that all nodes must have alike.
 */
#include "test_scenario.h"

#include "../sets.h"
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
        "nodes.controller.period_us=20.0",  "nodes.controller.period_us=2e1",
        "nodes.controller.period_us=+20",   "nodes.controller.period_us=19.9999999999999999",
        "nodes.controller.phase_us=-0",     "duration_s=0.10000000000000001",
        "components.control.parameters={}", "components.converter.overrides=[]",
    };

    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++)
        cr_expect_not(differs(same[i]), "%s", same[i]);
}

Test(listing, what_all_must_have_alike_differs)
{
    static const char *const others[] = {
        "nodes.controller.period_us=20.001",
        "components.control.model=pi",
        "components.control.parameters.kp_per_v=0.04",
        "components.control.parameters.duty_max=0.9",
        "components.converter.model=boost",
        SAFE_CONTROL("0.1"),
        SAFE_CONVERTER("0.1"),
        "components.converter.tolerance.percent=5",
        "sources.reference.constant=12.5",
        "components.converter.parameters.esr_ohm=1",
        LOAD_STEPS("[{'time_s':0.05,'value':1}]"),
        "components.converter.initial.voltage_v=1",
        "on_lost=restart",
    };

    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        cr_expect(differs(others[i]), "%s", others[i]);
}

Test(listing, what_a_machine_sets_for_itself_does_not)
{
    static const char *const own[] = {
        "nodes.controller.cpu=0",
        "nodes.controller.shards=2",
        "nodes.converter.priority=1",
        "nodes.controller.wait=hybrid",
        "nodes.converter.scheduler=other",
        "record.0.decimation=7",
        "trace.enable=true",
        "validity.required=false",
        "verbs.port=1234",
        "placement=[{nodes: [controller, converter]}]",
    };

    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        cr_expect_not(differs(own[i]), "%s", own[i]);
}

/* The listing has the order of the schema, whatever the order of the file, so that the first
 * differing key is the same on both nodes. */
Test(listing, is_in_one_order)
{
    struct hil_scenario *a = load(SMALL, NULL);
    struct hil_scenario *b =
        load(LINE_12 LINE_9 LINE_11 LINE_10 LINE_4_5 LINE_6_8 LINE_3 LINE_2 LINE_1, NULL);

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
