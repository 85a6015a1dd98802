/* Tests the display of `hiloco top`: text, order, and the chart. */
#include <criterion/criterion.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "harness/base/digits.h"
#include "harness/tools/top/table.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* --- cells ---------------- */

Test(top, a_time_has_three_digits_and_a_unit)
{
    static const struct {
        double ns;
        const char *text;
    } cases[] = {{0, "0ns"},           {7, "7ns"},        {999, "999ns"},    {1000, "1.00us"},
                 {12345, "12.3us"},    {123456, "123us"}, {999499, "999us"}, {999500, "1.00ms"},
                 {54661774, "54.7ms"}, {3.0e9, "3.00s"},  {61.5e9, "61.5s"}, {NAN, "-"},
                 {99960, "100us"},     {9996, "10.0us"}};

    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[24];
        hil_format_time(cases[i].ns, text, sizeof text);
        cr_expect_str_eq(text, cases[i].text, "%g ns: %s in place of %s", cases[i].ns, text,
                         cases[i].text);
        cr_expect_leq(strlen(text), 6);
    }
}

Test(top, a_count_stays_in_its_width)
{
    static const struct {
        uint64_t count;
        const char *text;
    } cases[] = {{0, "0"}, {9999999, "9999999"}, {12345678, "12345k"}, {UINT64_MAX, "18446P"}};

    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[24];
        hil_format_count(cases[i].count, 7, text, sizeof text);
        cr_expect_str_eq(text, cases[i].text);
    }
}

Test(top, lines_are_as_wide_as_their_head)
{
    const struct hil_node_sample widest = {.node = 1000,
                                           .name = "converter[999]",
                                           .told = {.stage = HIL_STARTING,
                                                    .steps = UINT64_MAX,
                                                    .missed = UINT64_MAX,
                                                    .input_age_ns = 123456,
                                                    .late_max_ns = 123456,
                                                    .late_recent_ns = 123456},
                                           .period_ns = 12500,
                                           .late_p99_ns = 123456};
    char text[256];

    for (int key = 0; key < HIL_TABLE_KEYS; key++) {
        hil_table_head(&(struct hil_table_order){.key = (enum hil_table_key)key}, text,
                       sizeof text);
        cr_expect_eq(strlen(text), HIL_TABLE_WIDTH, "%s", text);
        cr_expect(strchr(text, 'v'), "what it is sorted by has no mark: %s", text);
    }
    hil_table_row(&widest, text, sizeof text);
    cr_expect_eq(strlen(text), HIL_TABLE_WIDTH, "%s", text);
    cr_expect(strstr(text, "converter[999]"), "%s", text);
    cr_expect(strstr(text, "12.5us"), "%s", text);
}

/* A name that is too long keeps its index. */
Test(top, a_long_name_loses_its_middle)
{
    const struct hil_node_sample node = {.name = "battery_management[12]"};
    char text[256];

    hil_table_row(&node, text, sizeof text);
    cr_expect_eq(strncmp(text, "battery~nt[12] init", 19), 0, "%s", text);
}

/* --- order ---------------- */

static struct hil_sample *three_nodes(void)
{
    static const uint64_t missed[] = {5, 9, 5};
    static const double p99[] = {2000, NAN, 3000};
    struct hil_sample *s = calloc(1, sizeof *s + 3 * sizeof s->nodes[0]);

    for (unsigned i = 0; i < 3; i++)
        s->nodes[s->count++] = (struct hil_node_sample){
            .node = i, .told = {.missed = missed[i]}, .late_p99_ns = p99[i]};
    return s;
}

static void expect_order(struct hil_table_order order, unsigned a, unsigned b, unsigned c)
{
    struct hil_sample *s = three_nodes();

    hil_table_sort(s, &order);
    cr_expect(s->nodes[0].node == a && s->nodes[1].node == b && s->nodes[2].node == c,
              "by %s: %u %u %u", hil_table_key_name(order.key), s->nodes[0].node, s->nodes[1].node,
              s->nodes[2].node);
    free(s);
}

/* The worst node is first. Equal nodes keep their order, and nodes with unknown values are last. */
Test(top, sorts)
{
    expect_order((struct hil_table_order){HIL_BY_NODE, false}, 0, 1, 2);
    expect_order((struct hil_table_order){HIL_BY_NODE, true}, 2, 1, 0);
    expect_order((struct hil_table_order){HIL_BY_MISSED, false}, 1, 0, 2);
    expect_order((struct hil_table_order){HIL_BY_MISSED, true}, 0, 2, 1);
    expect_order((struct hil_table_order){HIL_BY_LATE_P99, false}, 2, 0, 1);
}

/* --- the chart ---------------- */

static void expect_scale(double min, double max, double reference, double low, double high)
{
    const struct hil_chart_column columns[2] = {[1] = {min, max, reference, true}};
    struct hil_scale scale = hil_chart_scale(columns, COUNT(columns));

    cr_expect_float_eq(scale.low, low, 1e-9 * fabs(low) + 1e-12, "%.9g", scale.low);
    cr_expect_float_eq(scale.high, high, 1e-9 * fabs(high) + 1e-12, "%.9g", scale.high);
}

Test(top, a_scale_is_round_and_holds_the_reference)
{
    expect_scale(0, 138, 120, 0, 150);
    expect_scale(-3, 97, 120, -50, 150);
    expect_scale(119.2, 119.4, 120, 119.2, 120);
}

/* "Never so near that noise looks like a signal": 240 V and some microvolts of it. */
Test(top, a_scale_does_not_blow_up_noise)
{
    expect_scale(239.999999, 240.000001, 240, 239.8, 240.2);
    expect_scale(0, 0, 0, -0.5, 0.5);
}

Test(top, a_scale_of_nothing_is_one)
{
    const struct hil_chart_column nothing = {0};
    struct hil_scale scale = hil_chart_scale(&nothing, 1);

    cr_expect(scale.low == 0 && scale.high == 1);
}

/* Two cells wide and two high: 4 columns and 8 dots for 0 to 8 V. */
static void draw(const struct hil_chart_column *columns, struct hil_cell *cells)
{
    hil_chart_draw(columns, 2, 2, (struct hil_scale){0, 8}, cells);
}

Test(top, a_chart_has_dots_where_the_output_was)
{
    const struct hil_chart_column columns[4] = {
        [0] = {0.5, 0.5, 7.5, true}, [2] = {7.5, 7.5, 7.5, true}};
    struct hil_cell cells[4];

    draw(columns, cells);
    cr_expect_eq(cells[0].dots, 0);
    cr_expect(cells[0].reference && cells[1].reference);
    cr_expect_eq(cells[2].dots, 0x40); /* the lowest of the left column */
    cr_expect_not(cells[2].reference);
    cr_expect_eq(cells[1].dots, 0x01); /* the topmost */
    cr_expect_eq(cells[3].dots, 0);
}

Test(top, a_measure_without_a_reference_has_a_chart)
{
    const struct hil_chart_column columns[4] = {[0] = {0.5, 0.5, NAN, true}};
    struct hil_cell cells[4];

    draw(columns, cells);
    cr_expect_eq(cells[2].dots, 0x40);
    for (size_t i = 0; i < COUNT(cells); i++)
        cr_expect_not(cells[i].reference);
    expect_scale(0, 138, NAN, 0, 150);
}

Test(top, a_chart_draws_from_the_least_to_the_greatest)
{
    const struct hil_chart_column columns[4] = {{0.5, 7.5, 4, true}};
    struct hil_cell cells[4];

    draw(columns, cells);
    cr_expect_eq(cells[0].dots, 0x47);
    cr_expect_eq(cells[2].dots, 0x47);
}

Test(top, a_flank_is_a_line)
{
    const struct hil_chart_column columns[4] = {{0.5, 0.5, 0, true}, {7.5, 7.5, 0, true}};
    struct hil_cell cells[4];

    draw(columns, cells);
    cr_expect_eq(cells[0].dots, 0xb8); /* the whole of the right column */
    cr_expect_eq(cells[2].dots, 0xb8 | 0x40);
}

Test(top, what_is_off_the_scale_is_at_its_edge)
{
    const struct hil_chart_column columns[4] = {[0] = {-5, -5, 4, true}, [2] = {99, 99, 4, true}};
    struct hil_cell cells[4];

    draw(columns, cells);
    cr_expect_eq(cells[2].dots, 0x40);
    cr_expect_eq(cells[1].dots, 0x01);
}

/* --- numbers ---------------- */

Test(top, decimals_are_those_of_the_size)
{
    cr_expect_eq(hil_decimals(240, 5), 2);
    cr_expect_eq(hil_decimals(-24, 5), 3);
    cr_expect_eq(hil_decimals(0.05, 5), 6);
    cr_expect_eq(hil_decimals(1e7, 5), 0);
    cr_expect_eq(hil_decimals(1e-30, 5), 9);
    cr_expect_eq(hil_decimals(0, 5), 3);
    cr_expect_eq(hil_decimals(NAN, 5), 3);
    char text[HIL_VALUE_BYTES];
    cr_expect_str_eq(hil_value(text, -239.996, 2, "V"), "-240.00 V");
    cr_expect_str_eq(hil_value(text, 0.5, 4, ""), "0.5000");
    cr_expect_str_eq(hil_value(text, 1e300, 0, "V"), "1e+300 V");
}

Test(top, whole_numbers_are_digits_and_nothing_else)
{
    static const char *const refused[] = {
        "", " 1", "+1", "-1", "1 ", "1.0", "0x1", "8", "18446744073709551617"};
    uint64_t number;

    cr_expect(hil_whole_number("0", 7, &number) && number == 0);
    cr_expect(hil_whole_number("007", 7, &number) && number == 7);
    cr_expect(hil_whole_number("18446744073709551615", UINT64_MAX, &number) &&
              number == UINT64_MAX);
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        cr_expect(!hil_whole_number(refused[i], 7, &number), "'%s'", refused[i]);
    cr_expect(!hil_whole_number("18446744073709551617", UINT64_MAX, &number));
}
