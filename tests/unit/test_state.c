/*
 * Tests a run's memory file as other programs map it. A file that is not a run's, or whose size
 * could change under the reader, is refused. Texts from it can be printed safely.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness/base/foreign.h"
#include "harness/run/state.h"
#include "harness/run/state_image.h"
#include "harness/tools/top/sample.h"
#include "test_scenario.h"

/* A memory file like that of a run of three converters, which anybody may write to. */
static struct hil_state *forged;
static size_t size;
static int file;

static void forge(void)
{
    struct hil_scenario *scenario = load(SMALL, NULL);
    struct hil_state *state;

    cr_assert_eq(hil_state_open(&state, scenario), 0);
    size = state->size;
    file = memfd_create(HIL_STATE_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    cr_assert_eq(ftruncate(file, (off_t)size), 0);
    forged = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    cr_assert_neq(forged, MAP_FAILED);
    memcpy(forged, state, size);
    hil_state_close(state);
    hil_scenario_free(scenario);
}

static void expect_refused(const char *what)
{
    struct hil_attached run;

    cr_expect_eq(hil_state_attach(&run, file), -EPROTO, "%s", what);
}

static void expect_attached(struct hil_attached *run)
{
    cr_assert_eq(hil_state_attach(run, file), 0);
}

TestSuite(state, .init = forge);

/* A process that shrinks a file would end its reader by SIGBUS. */
Test(state, is_sealed_against_shrinking)
{
    struct hil_attached run;

    expect_refused("a file without seals");
    cr_assert_eq(fcntl(file, F_ADD_SEALS, F_SEAL_GROW), 0);
    expect_refused("one that may be shrunk");
    cr_assert_eq(fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK), 0);
    expect_attached(&run);
    cr_expect_eq(run.node_count, 4);
    cr_expect_str_eq(run.card.name, "small");
    hil_state_detach(&run);
}

/* How many runs other programs find in this process. */
static unsigned runs_here(void)
{
    struct hil_runs runs;
    unsigned count = 0;

    cr_assert_eq(hil_runs_find(&runs, false), 0);
    for (unsigned i = 0; i < runs.count; i++)
        count += runs.at[i].pid == getpid();
    hil_runs_close(&runs);
    return count;
}

Test(state, of_a_rehearsal_is_no_run)
{
    struct hil_scenario *scenario = load(SMALL, NULL);
    struct hil_state *run, *rehearsal;

    close(file);
    cr_assert_eq(hil_state_open_rehearsal(&rehearsal, scenario), 0);
    cr_expect_eq(runs_here(), 0);
    cr_assert_eq(hil_state_open(&run, scenario), 0);
    cr_expect_eq(runs_here(), 1);
    hil_state_close(run);
    hil_state_close(rehearsal);
    hil_scenario_free(scenario);
}

/* Restores the image of a state into another one of the same system, after a change. */
static int restored(void (*change)(struct hil_state *image))
{
    struct hil_scenario *scenario = load(SMALL, NULL);
    struct hil_state *from, *to;

    cr_assert_eq(hil_state_open(&from, scenario), 0);
    cr_assert_eq(hil_state_open(&to, scenario), 0);
    change(from);
    const int rc = hil_state_restore(to, scenario->system, from, hil_state_image_size(from));
    hil_state_close(from);
    hil_state_close(to);
    hil_scenario_free(scenario);
    return rc;
}

static void change_nothing(struct hil_state *s)
{
    (void)s;
}

static void change_worst_node(struct hil_state *s)
{
    s->executors[0].worst.count = 1;
    s->executors[0].worst.at[0].node = 1000000;
}

static void change_worst_count(struct hil_state *s)
{
    s->executors[0].worst.count = HIL_WORST + 1;
}

static void change_loss(struct hil_state *s)
{
    s->executors[0].losses.count = 1;
    s->executors[0].losses.at[0].from = 4;
}

static void change_text(struct hil_state *s)
{
    memset(s->executors[0].message, 'x', sizeof s->executors[0].message);
}

static void change_array(struct hil_state *s)
{
    s->nodes[0].array = 7;
}

static void change_link(struct hil_state *s)
{
    s->figures[0].oldest.link = 1000;
}

Test(state, of_a_part_has_only_numbers_of_its_system)
{
    void (*const wrong[])(struct hil_state *) = {
        change_worst_node, change_worst_count, change_loss, change_text, change_array, change_link};

    cr_expect_eq(restored(change_nothing), 0);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        cr_expect_eq(restored(wrong[i]), -EPROTO, "%zu", i);
}

Test(state, of_a_launcher_can_be_attached)
{
    struct hil_scenario *scenario = load(SMALL, NULL);
    struct hil_attached run;
    struct hil_state *state;

    cr_assert_eq(hil_state_open(&state, scenario), 0);
    cr_assert_eq(hil_state_attach(&run, state->file), 0);
    cr_expect_lt(ftruncate(state->file, 4096), 0);
    hil_state_detach(&run);
    hil_state_close(state);
    hil_scenario_free(scenario);
}

/* The header claims more nodes than are in the file: their figures would be read, and counted, from
 * beyond it. */
Test(state, has_all_its_nodes)
{
    static const unsigned counts[] = {0, 5000, 1u << 31, UINT32_MAX};

    cr_assert_eq(fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK), 0);
    for (int i = 0; i < 4; i++) {
        forged->node_count = counts[i];
        expect_refused("nodes beyond the file");
    }
}

/* The count is read once, so later changes to it do not affect the reader. */
Test(state, may_change_while_it_is_watched)
{
    struct hil_run_entry found = {.pid = 1, .process = -1};
    struct hil_watch watch;

    cr_assert_eq(fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK), 0);
    expect_attached(&found.attached);
    cr_assert_eq(hil_watch_open(&watch, &found), 0);
    forged->node_count = UINT32_MAX;
    forged->size = 0;
    forged->nodes[0].here = true;
    memset(&forged->nodes[1], 0xff, sizeof forged->nodes[1]);
    memset(&forged->recent, 0xff, sizeof forged->recent);
    hil_watch_look(&watch, 1000);
    cr_expect_eq(watch.sample->count, 4);
    hil_watch_close(&watch);
    hil_state_detach(&found.attached);
}

static bool is_found(bool all_users)
{
    struct hil_runs runs;
    bool found = false;

    cr_assert_eq(hil_runs_find(&runs, all_users), 0);
    for (unsigned i = 0; i < runs.count; i++)
        found |= runs.at[i].pid == getpid();
    hil_runs_close(&runs);
    return found;
}

/* Root does not look at other users' files unless asked to. */
Test(state, of_another_user_is_looked_at_when_asked)
{
    if (geteuid() != 0)
        cr_skip_test("only the superuser can see another's");
    cr_assert_eq(fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK), 0);
    cr_expect(is_found(false));
    cr_assert_eq(fchown(file, 65534, 65534), 0);
    cr_expect_not(is_found(false));
    cr_expect(is_found(true));
}

Test(state, texts_are_fit_for_a_terminal)
{
    struct hil_attached run;

    cr_assert_eq(fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK), 0);
    memset(forged->card.results, 'x', sizeof forged->card.results);
    strcpy(forged->card.name, "\x1b]0;owned\x07 m\xc3\xa9tro \xc2\x9b \xff \xe2\x82");
    expect_attached(&run);
    cr_expect_str_eq(run.card.name, "?]0;owned? m\xc3\xa9tro ?? ? ??");
    cr_expect_eq(strlen(run.card.results), sizeof run.card.results - 1);
    hil_state_detach(&run);
}

/* --- what readers share ---------------- */

Test(foreign, products_do_not_wrap)
{
    cr_expect(hil_foreign_fits(3, 4, 12));
    cr_expect_not(hil_foreign_fits(3, 4, 11));
    cr_expect_not(hil_foreign_fits((uint64_t)1 << 61, 8, UINT64_MAX));
    cr_expect(hil_foreign_fits(0, UINT64_MAX, 0));
}

Test(foreign, an_index_is_a_number_in_its_range)
{
    cr_expect_eq(hil_foreign_index(7, 7), 7);
    cr_expect_eq(hil_foreign_index(7.1, 7), -1);
    cr_expect_eq(hil_foreign_index(-1, 7), -1);
    cr_expect_eq(hil_foreign_index(1e300, 7), -1);
    cr_expect_eq(hil_foreign_index(0.0 / 0.0, 7), -1);
}

Test(foreign, an_entry_is_in_its_folder)
{
    cr_expect(hil_foreign_is_entry("nodes.controller.period_us=40"));
    cr_expect(hil_foreign_is_entry("...") && hil_foreign_is_entry("m\xc3\xa9tro"));
    cr_expect_not(hil_foreign_is_entry("") || hil_foreign_is_entry(".") ||
                  hil_foreign_is_entry("..") || hil_foreign_is_entry("../x") ||
                  hil_foreign_is_entry("/etc") || hil_foreign_is_entry("\x1b[2J"));
}

/* Overlong forms, surrogates and numbers beyond Unicode are not valid UTF-8. */
Test(foreign, text_is_utf_8)
{
    static const char *const cases[][2] = {
        {"\xe2\x82\xac 5", "\xe2\x82\xac 5"},
        {"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"},
        {"\xc0\x9b", "??"},
        {"\xe0\x80\x9b", "???"},
        {"\xed\xa0\x80", "???"},
        {"\xf4\x90\x80\x80", "????"},
        {"a\nb\tc\x7f", "a?b?c?"},
        {"\xf0\x9f\x98", "???"},
    };
    char text[32];

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        cr_expect_str_eq(hil_foreign_text(text, sizeof text, cases[i][0], 16), cases[i][1]);
    cr_expect_str_eq(hil_foreign_text(text, 4, "ab\xe2\x82\xac", 16), "ab", "cut between letters");
    cr_expect_str_eq(hil_foreign_text(text, 4, "abcdef", 2), "ab");
}

/* C1 characters are commands to a terminal, too: U+009B begins one as ESC [ does. */
Test(foreign, control_characters_are_not_shown)
{
    char text[32], line[] = "a\nb\xc2\x9b"
                            "c\x7f\x1b\xff\xc3\xa4";

    cr_expect_str_eq(hil_foreign_text(text, sizeof text, "\xc2\x80\xc2\x9f\xc2\xa0", 16),
                     "????\xc2\xa0");
    hil_foreign_tame(line, '_', '\n');
    cr_expect_str_eq(line, "a\nb__c___\xc3\xa4");
}

/* --- where rows are --------------------------------------------------------------------------- */

static struct hil_tap_ring *ring_of(struct hil_state *state, unsigned node)
{
    return hil_tap_open(&state->taps, state, node);
}

static void mark_rows(struct hil_tap_ring *ring, uint64_t mark)
{
    for (uint64_t row = 0; row < ring->rows; row++)
        for (unsigned word = 0; word < ring->width; word++)
            hil_tap_at(ring, row)[word] = mark;
}

static unsigned marked(struct hil_tap_ring *ring, uint64_t mark)
{
    unsigned count = 0;

    for (uint64_t row = 0; row < ring->rows; row++)
        for (unsigned word = 0; word < ring->width; word++)
            count += hil_tap_at(ring, row)[word] == mark;
    return count;
}

/* The rings are interleaved. No node writes over another's rows, or beyond the memory. */
Test(state, has_rows_of_its_own_for_each_node)
{
    static const char *const sets[] = {"mode=virtual", NULL};
    struct hil_scenario *scenario = load(SMALL, sets);
    struct hil_state *state;

    cr_assert_eq(hil_state_open(&state, scenario), 0);
    for (unsigned i = 0; i < state->node_count; i++)
        mark_rows(ring_of(state, i), i + 1);
    for (unsigned i = 0; i < state->node_count; i++) {
        struct hil_tap_ring *ring = ring_of(state, i);
        cr_expect_eq(marked(ring, i + 1), ring->rows * ring->width, "node %u", i);
        cr_expect_leq((uintptr_t)(hil_tap_at(ring, ring->rows - 1) + ring->width),
                      (uintptr_t)state + state->size, "node %u", i);
    }
    hil_state_close(state);
    hil_scenario_free(scenario);
}

/* Rows that they write at the same time are contiguous in memory. */
Test(state, has_rows_side_by_side_of_nodes_that_are_stepped_together)
{
    static const char *const sets[] = {"mode=virtual", NULL};
    struct hil_scenario *scenario = load(SMALL, sets);
    struct hil_state *state;

    cr_assert_eq(hil_state_open(&state, scenario), 0);
    for (uint64_t row = 0; row < 2; row++)
        cr_expect_eq(hil_tap_at(ring_of(state, 2), row),
                     hil_tap_at(ring_of(state, 1), row) + ring_of(state, 1)->width);
    hil_state_close(state);
    hil_scenario_free(scenario);
}
