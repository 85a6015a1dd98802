/* Tests that the harness does not mention converters and the like: it works with signals, whatever
 * they are. */
#include <criterion/criterion.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The exceptions: what reads earlier scenarios, netlists, the examples beside the keys, and the
 * programs of the paper. */
static bool is_of_converters(const char *path)
{
    static const char *const own[] = {"harness/scenario/convert/", "harness/netlist/",
                                      "harness/scenario/yaml/scenario_keys.c",
                                      "harness/controller.c", "harness/converter.c"};

    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        if (strncmp(path, own[i], strlen(own[i])) == 0)
            return true;
    return false;
}

static void expect_no_words(const char *path)
{
    static const char *const words[] = {"voltage", "duty"};
    FILE *file = fopen(path, "r");
    char line[1024];

    cr_assert_not_null(file, "%s", path);
    for (unsigned number = 1; fgets(line, sizeof line, file); number++)
        for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
            cr_expect_null(strcasestr(line, words[i]), "%s:%u says %s", path, number, words[i]);
    fclose(file);
}

Test(words, no_file_but_these_says_voltage_or_duty)
{
    static const char *const patterns[] = {"harness/*.[ch]", "harness/*/*.[ch]",
                                           "harness/*/*/*.[ch]", "traces/*"};

    for (size_t p = 0; p < sizeof patterns / sizeof patterns[0]; p++) {
        glob_t files;
        cr_assert_eq(glob(patterns[p], 0, NULL, &files), 0);
        cr_assert_gt(files.gl_pathc, 3u);
        for (size_t i = 0; i < files.gl_pathc; i++)
            if (!is_of_converters(files.gl_pathv[i]))
                expect_no_words(files.gl_pathv[i]);
        globfree(&files);
    }
}
