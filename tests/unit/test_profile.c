#include <criterion/criterion.h>

#include "harness/scenario/profile.h"

Test(profile, without_changes_is_constant)
{
    const struct hil_profile profile = {.initial = 12};

    cr_assert_eq(hil_profile_at(&profile, 0), 12);
    cr_assert_eq(hil_profile_at(&profile, UINT64_MAX), 12);
}

Test(profile, a_step_acts_from_its_very_time)
{
    struct hil_change changes[] = {{.start_ns = 1000, .value = 5}};
    const struct hil_profile profile = {.initial = 12, .changes = changes, .count = 1};

    cr_assert_eq(hil_profile_at(&profile, 999), 12);
    cr_assert_eq(hil_profile_at(&profile, 1000), 5);
}

Test(profile, a_ramp_is_a_straight_line)
{
    struct hil_change changes[] = {{.start_ns = 1000, .ramp_ns = 400, .value = 20}};
    const struct hil_profile profile = {.initial = 10, .changes = changes, .count = 1};

    cr_assert_eq(hil_profile_at(&profile, 1000), 10);
    cr_assert_eq(hil_profile_at(&profile, 1100), 12.5);
    cr_assert_eq(hil_profile_at(&profile, 1300), 17.5);
    cr_assert_eq(hil_profile_at(&profile, 1400), 20);
    cr_assert_eq(hil_profile_at(&profile, 9999), 20);
}

Test(profile, changes_follow_each_other)
{
    struct hil_change changes[] = {
        {.start_ns = 100, .value = 1},
        {.start_ns = 200, .ramp_ns = 100, .value = 3},
        {.start_ns = 300, .ramp_ns = 100, .value = 0},
    };
    const struct hil_profile profile = {.initial = 9, .changes = changes, .count = 3};

    cr_assert_eq(hil_profile_at(&profile, 99), 9);
    cr_assert_eq(hil_profile_at(&profile, 100), 1);
    cr_assert_eq(hil_profile_at(&profile, 250), 2);
    cr_assert_eq(hil_profile_at(&profile, 300), 3);
    cr_assert_eq(hil_profile_at(&profile, 350), 1.5);
    cr_assert_eq(hil_profile_at(&profile, 400), 0);
}

Test(profile, two_steps_at_one_time_leave_the_later_value)
{
    struct hil_change changes[] = {{.start_ns = 100, .value = 1}, {.start_ns = 100, .value = 2}};
    const struct hil_profile profile = {.initial = 0, .changes = changes, .count = 2};

    cr_assert_eq(hil_profile_at(&profile, 100), 2);
}

Test(profile, is_said_in_words)
{
    struct hil_change changes[] = {{10000000, 0, 5}, {20000000, 2000000, 12.5}};
    struct hil_profile profile = {.initial = 12, .changes = changes, .count = 2};
    char text[64];

    hil_profile_say(&profile, text, sizeof text);
    cr_expect_str_eq(text, "12, 5 from 0.01 s, 12.5 in 0.002 s from 0.02 s");
    hil_profile_say(&profile, text, 40);
    cr_expect_str_eq(text, "12, 5 from 0.01 s, ...");
    profile.count = 0;
    hil_profile_say(&profile, text, sizeof text);
    cr_expect_str_eq(text, "12");
}
