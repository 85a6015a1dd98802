/* Tests tables in CSV files as models: their values, against those on paper, and what is wrong in a
 * file. */
#include <errno.h>
#include <math.h>

#include "folder.h"
#include "model_rig.h"

TestSuite(table, .init = folder_open, .fini = folder_close);

static int load(const char *name, const char *text, char said[512])
{
    const struct hil_loaded *loaded;

    put(name, text);
    said[0] = '\0';
    return hil_model_load(&loaded, in_folder("%s", name), ".", NULL,
                          &(struct hil_said){said, 512, NULL});
}

static struct rig table_of(const char *name, const char *text, double held)
{
    char said[512];

    cr_assert_eq(load(name, text, said), 0, "%s", said);
    return rig_open(in_folder("%s", name), &held, NULL, 1e-4);
}

static double at(struct rig *rig, double a, double b, unsigned output)
{
    rig->in[0] = a, rig->in[1] = b;
    rig_step(rig);
    return rig->out[output];
}

static const char CURVES[] = "\xef\xbb\xbfspeed_rad_s [rad/s], torque_nm [N m] ,loss_w\r\n"
                             "-10, 4 ,1e1\r\n\r\n0,8,-2\r\n20,+8,.5e1\r\n";

Test(table, each_column_is_an_output)
{
    struct rig rig = table_of("curves.csv", CURVES, 0);

    cr_expect_str_eq(rig.model->inputs.at[0].name, "speed_rad_s");
    cr_expect_str_eq(rig.model->inputs.at[0].unit, "rad/s");
    cr_expect_str_eq(rig.model->outputs.at[0].unit, "N m");
    cr_expect_str_eq(rig.model->outputs.at[1].name, "loss_w");
    cr_expect_str_eq(rig.model->outputs.at[1].unit, "");
    cr_expect_eq(at(&rig, -5, 0, 0), 6);
    cr_expect_eq(at(&rig, -5, 0, 1), 4);
    cr_expect_eq(at(&rig, 0, 0, 1), -2);
    cr_expect_eq(at(&rig, 5, 0, 1), -0.25);
    cr_expect_eq(at(&rig, -INFINITY, 0, 0), 4);
    cr_expect_eq(at(&rig, INFINITY, 0, 1), 5);
    cr_expect(isnan(at(&rig, NAN, 0, 1)));
    rig_end(&rig);
}

Test(table, a_curve_is_held)
{
    struct rig rig = table_of("curves.csv", CURVES, 1);

    cr_expect_eq(at(&rig, -1e-9, 0, 1), 10);
    cr_expect_eq(at(&rig, 0, 0, 1), -2);
    cr_expect_eq(at(&rig, 19.9, 0, 1), -2);
    cr_expect_eq(at(&rig, 21, 0, 1), 5);
    cr_expect(isnan(at(&rig, NAN, 0, 1)));
    rig_end(&rig);
}

/* The values are 3 a + b, except in one corner. */
static const char GRID[] = "a [A]\\b [V]\\c [Ohm],0,10,20\n1,3,13,23\n3,9,19,100\n";

Test(table, a_grid_is_bilinear)
{
    struct rig rig = table_of("grid.csv", GRID, 0);

    cr_expect_str_eq(rig.model->inputs.at[1].name, "b");
    cr_expect_str_eq(rig.model->outputs.at[0].name, "c");
    cr_expect_str_eq(rig.model->outputs.at[0].unit, "Ohm");
    cr_expect_eq(at(&rig, 1, 10, 0), 13);
    cr_expect_eq(at(&rig, 2, 5, 0), 11);
    cr_expect_eq(at(&rig, 2.5, 15, 0), 0.75 * 0.5 * 119 + 0.25 * 0.5 * 36);
    cr_expect_eq(at(&rig, 3, 20, 0), 100);
    cr_expect_eq(at(&rig, 9, 99, 0), 100);
    cr_expect_eq(at(&rig, -9, -99, 0), 3);
    cr_expect_eq(at(&rig, 2, 99, 0), 61.5);
    cr_expect(isnan(at(&rig, NAN, 0, 0)) && isnan(at(&rig, 0, NAN, 0)));
    cr_expect(isnan(at(&rig, 9, NAN, 0)) && isnan(at(&rig, NAN, 99, 0)));
    rig_end(&rig);
}

Test(table, a_grid_is_held)
{
    struct rig rig = table_of("grid.csv", GRID, 1);

    cr_expect_eq(at(&rig, 2.9, 19, 0), 13);
    cr_expect_eq(at(&rig, 3, 20, 0), 100);
    cr_expect(isnan(at(&rig, 2, NAN, 0)));
    rig_end(&rig);
}

Test(table, a_table_of_one_point_is_a_constant)
{
    struct rig rig = table_of("one.csv", "x\\y,5\n1,7\n", 0);

    cr_expect_eq(at(&rig, 2, 9, 0), 7);
    cr_expect_eq(at(&rig, -2, -9, 0), 7);
    rig_end(&rig);
}

Test(table, a_wrong_file_is_refused_with_a_place)
{
    static const struct {
        const char *text, *said;
    } wrong[] = {
        {"", "it is empty; required: a line with the names of columns"},
        {"\n\n", "it is empty"},
        {"x\n1\n", "line 1 ends too early; allowed: a column of inputs, and at least one of"},
        {"x,y\n", "it has no line of numbers; required: at least one"},
        {"x,Y\n1,2", "line 1, column 3: 'Y'; allowed: a name of lower-case letters"},
        {"x,\n1,2", "line 1, column 3: ''; allowed: a name"},
        {"1,2\n3,4", "line 1, column 1: '1'; allowed: a name"},
        {"x,x\n1,2", "x is both an input and an output"},
        {"x,y,y\n1,2,3", "its output y is there twice"},
        {"x,y [V\n1,2", "line 1, column 3: 'y [V'; allowed: a name"},
        {"x,y V\n1,2", "line 1, column 3: 'y V'; allowed: a name"},
        {"x,y\n1", "line 2 ends too early; allowed: a number in each column"},
        {"x,y\n1,2,3", "line 2, column 5: '3'; allowed: as many columns as the first line has"},
        {"x,y\n1,", "line 2, column 3: ''; allowed: a number"},
        {"x,y\n1,nan", "line 2, column 3: 'nan'; allowed: a number"},
        {"x,y\n1,0x10", "line 2, column 3: '0x10'; allowed: a number"},
        {"x,y\n1,1e999", "line 2, column 3: '1e999'; allowed: a number from"},
        {"x,y\n1,\x1b[31mred", "line 2, column 3: '?[31mred'; allowed: a number"},
        {"x,y\n1,--2", "line 2, column 3: '--2'; allowed: a number"},
        {"x,y\n1;2", "line 2, column 1: '1;2'; allowed: a number"},
        {"x,y\n1,2\n1,3", "line 3, column 1: '1'; allowed: a number above the one before it"},
        {"x\\y\n1,2", "line 1 ends too early; allowed: a column of inputs"},
        {"x\\y,1,1\n1,2,3", "line 1, column 7: '1'; allowed: a number above the one before it"},
        {"x\\y,a\n1,2", "line 1, column 5: 'a'; allowed: a number"},
        {"x\\y\\z\\w,1\n1,2", "allowed: a row, a column, and perhaps the value"},
        {"x\\,1\n1,2", "allowed: a name"},
    };
    char said[512];

    for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        cr_expect_lt(load("wrong.csv", wrong[i].text, said), 0, "%s", wrong[i].text);
        cr_expect_not_null(strstr(said, wrong[i].said), "%s: %s", wrong[i].text, said);
    }
}

Test(table, what_is_no_file_is_refused)
{
    const struct hil_loaded *loaded;
    char said[512];

    put("folder.csv/file", "");
    cr_expect_lt(hil_model_load(&loaded, in_folder("folder.csv"), ".", NULL,
                                &(struct hil_said){said, sizeof said, NULL}),
                 0);
    cr_expect_not_null(strstr(said, "it is no file"), "%s", said);
}
