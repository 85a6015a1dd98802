/* Tests models from shared libraries, compiled here: which are accepted, which are refused and with
 * what message, and the scenario made from one that names a library. */
#include "test_scenario.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "../bank.h"
#include "folder.h"
#include "harness/models/models.h"

TestSuite(native, .init = folder_open, .fini = folder_close);

/* A plant and a law in one. -DCHANGE=... changes the descriptor, -DROW=... adds an input. */
static const char source[] =
    "#include \"model.h\"\n"
    "#ifndef CHANGE\n#define CHANGE\n#endif\n"
    "#ifndef ROW\n#define ROW\n#endif\n"
    "static int create(void **self, const struct hil_config *c)\n"
    "{ static int made; *self = &made; return c->width == 1 ? 0 : -1; }\n"
    "static void destroy(void *self) { (void)self; }\n"
    "#ifdef LAW\n"
    "static const struct hil_quantity limits[] = {{\"duty_min\", \"\", 0, 0, 1, 0, \"least\"},\n"
    "    {\"duty_max\", \"\", 1, 0, 1, 0, \"most\"}, {\"gain\", \"1/V\", 2, 0, 9, 0, \"gain\"}};\n"
    "static const struct hil_quantity ins[] = {{\"voltage_v\", \"V\", 0, -1e9, 1e9, 0, \"v\"}};\n"
    "static const struct hil_quantity outs[] = {{\"duty\", \"\", 0, 0, 1, 0, \"duty\"}};\n"
    "static int step(void *self, uint64_t t, const double *in, double *out)\n"
    "{ (void)self, (void)t, (void)in; out[0] = 0.5; return 0; }\n"
    "const struct hil_model hiloco_model = {.abi = HIL_MODEL_ABI, .size = sizeof hiloco_model,\n"
    "    .name = \"half\", .doc = \"Half of all\", .kind = HIL_SAMPLED, .width_max = 1,\n"
    "    .parameters = HIL_QUANTITIES(limits), .inputs = HIL_QUANTITIES(ins),\n"
    "    .outputs = HIL_QUANTITIES(outs), .create = create, .step = step,\n"
    "    .destroy = destroy, CHANGE};\n"
    "#elif !defined NONE\n"
    "static const struct hil_quantity ins[] = {{\"duty\", \"\", 0, 0, 1, 0, \"duty\"},\n"
    "    {\"slope_v\", \"V\", 48, 0, 100, 0, \"slope\"}, ROW};\n"
    "static const struct hil_quantity outs[] = {{\"voltage_v\", \"V\", 0, 0, 0, 0, \"v\"},\n"
    "    {\"current_a\", \"A\", 0, 0, 0, 0, \"i\"}};\n"
    "static const struct hil_quantity many[4097] = {{\"x\", \"\", 0, 0, 0, 0, \"x\"}};\n"
    "static int output(const void *self, const double *in, double *out)\n"
    "{ (void)self, (void)many; out[0] = in[0] * in[1]; out[1] = 1; return 0; }\n"
    "static int step(void *self, uint64_t t, const double *in, double *out)\n"
    "{ (void)t; return output(self, in, out); }\n"
    "const struct hil_model hiloco_model = {.abi = HIL_MODEL_ABI, .size = sizeof hiloco_model,\n"
    "    .name = \"line\", .doc = \"Duty times slope\", .kind = HIL_CONTINUOUS, .width_max = 1,\n"
    "    .inputs = HIL_QUANTITIES(ins), .outputs = HIL_QUANTITIES(outs), .create = create,\n"
    "    .output = output, .step = step, .destroy = destroy, CHANGE};\n"
    "#endif\n";

static void compile(const char *name, const char *options)
{
    char command[1024];
    char *root = getcwd(NULL, 0);

    put("model.c", source);
    snprintf(command, sizeof command, "cc -w -shared -fPIC -I%s/plants %s -o %s %s", root, options,
             in_folder("%s", name), in_folder("model.c"));
    cr_assert_eq(system(command), 0, "%s", command);
    free(root);
}

static int load_model(const struct hil_loaded **loaded, const char *name, const char *in,
                      char text[1024])
{
    return hil_model_load(loaded, name, in, NULL, &(struct hil_said){text, 1024, NULL});
}

/* The message about the file, with FOLDER for its folder. */
static const char *refused(const char *name)
{
    static char text[1024];
    const struct hil_loaded *native;

    cr_expect_lt(load_model(&native, name, folder, text), 0, "%s loads", name);
    return text;
}

static void expect_refused(const char *options, const char *expected)
{
    compile("wrong.so", options);
    const char *said = refused("./wrong.so");
    cr_expect(strstr(said, expected), "'%s', not '%s'", said, expected);
    take_away("wrong.so");
}

/* --- the file ------------------------------------------------------------------------------- */

Test(native, a_name_with_a_slash_or_of_a_shared_library)
{
    cr_expect(hil_model_is_provided("./motor.so"));
    cr_expect(hil_model_is_provided("motor.so"));
    cr_expect(hil_model_is_provided("models/motor"));
    cr_expect_not(hil_model_is_provided("buck"));
    cr_expect_not(hil_model_is_provided(".so"));
    cr_expect_not(hil_model_is_provided(""));
}

Test(native, is_loaded_once)
{
    const struct hil_loaded *one, *same, *other;
    char text[1024];

    compile("a.so", "");
    compile("b.so", "-DLAW");
    cr_assert_eq(load_model(&one, "./a.so", folder, text), 0, "%s", text);
    cr_assert_eq(load_model(&same, in_folder("a.so"), "/", text), 0);
    cr_assert_eq(load_model(&other, "b.so", folder, text), 0, "%s", text);
    cr_expect_eq(one, same);
    cr_expect_str_eq(one->model->name, "line");
    cr_expect_str_eq(other->model->name, "half");
    cr_expect_neq(one->hash, other->hash);
    cr_expect_eq(hil_loaded_find(one->name, NULL), one);
    cr_expect_eq(hil_model_find(one->name), one->model);
}

/* The scenario's folder comes first, then those of HILOCO_MODELS in their order. */
Test(native, is_looked_for)
{
    const struct hil_loaded *native;
    char text[1024], folders[256];

    put("first/none", "");
    put("second/none", "");
    compile("second/a.so", "");
    snprintf(folders, sizeof folders, "::%s:%s", in_folder("first"), in_folder("second"));
    unsetenv("HILOCO_MODELS");
    cr_expect(strstr(refused("a.so"), "there is no such file; allowed: one in "));
    cr_expect(strstr(refused("a.so"), "HILOCO_MODELS (not set)"));
    cr_expect(strstr(refused("a.so"), "/lib/hiloco/models"));
    setenv("HILOCO_MODELS", folders, 1);
    cr_assert_eq(load_model(&native, "a.so", folder, text), 0, "%s", text);
    cr_expect_str_eq(native->name, in_folder("second/a.so"));
    compile("first/a.so", "");
    cr_assert_eq(load_model(&native, "./a.so", folder, text), 0, "%s", text);
    cr_expect_str_eq(native->name, in_folder("first/a.so"));
    compile("a.so", "");
    cr_assert_eq(load_model(&native, "a.so", folder, text), 0, "%s", text);
    cr_expect_str_eq(native->name, in_folder("a.so"));
    cr_expect(strstr(refused("/no/such.so"), "it cannot be found (No such file or directory)"));
}

static void patch(const char *name, off_t at, unsigned char byte)
{
    const int file = open(in_folder("%s", name), O_WRONLY);

    cr_assert_eq(pwrite(file, &byte, 1, at), 1);
    close(file);
}

Test(native, of_another_machine_is_refused_before_it_is_loaded)
{
    compile("a.so", "");
    patch("a.so", offsetof(Elf64_Ehdr, e_machine), EM_AVR);
    cr_expect(strstr(refused("a.so"), "it is for another machine (machine 83, 64 bits, "));
    compile("a.so", "");
    patch("a.so", EI_CLASS, ELFCLASS32);
    cr_expect(strstr(refused("a.so"), "it is for another machine ("));
    cr_expect(strstr(refused("a.so"), ", 32 bits, "));
    compile("a.so", "");
    patch("a.so", EI_DATA, ELFDATA2MSB);
    cr_expect(strstr(refused("a.so"), "big-endian); allowed: "));
}

Test(native, what_is_no_shared_library_is_refused)
{
    put("text.so", "this is no library, but a text that is longer than the header of an ELF file");
    put("short.so", "");
    mkfifo(in_folder("pipe.so"), 0600);
    put("folder.so/none", "");
    cr_expect(strstr(refused("text.so"), "it is not a shared library (ELF)"));
    cr_expect(strstr(refused("short.so"), "it is not a shared library (ELF)"));
    cr_expect(strstr(refused("pipe.so"), "it is not a shared library (ELF)"));
    cr_expect(strstr(refused("folder.so"), "it is not a shared library (ELF)"));
    compile("cut.so", "");
    cr_assert_eq(truncate(in_folder("cut.so"), 4096), 0);
    cr_expect(strstr(refused("cut.so"), "its end is missing"));
}

/* --- the model ------------------------------------------------------------------------------ */

Test(native, a_descriptor_that_is_not_right_is_refused)
{
    expect_refused("-DNONE", "it exports no hiloco_model; allowed: ");
    expect_refused("-DCHANGE=.abi=2", "its interface has version 2; allowed: 1");
    expect_refused("-DCHANGE=.destroy=0", "it lacks one of create, output, step and destroy");
    expect_refused("'-DROW={\"duty\",\"\",0,0,1,0,\"again\"}'",
                   "its input duty is there twice; allowed: ");
    expect_refused("'-DCHANGE=.states=HIL_QUANTITIES(many)'",
                   "it has 4097 states; allowed: at most 4096");
    expect_refused("'-DROW={\"b\",\"\",0,1,0,0,\"turned\"}'",
                   "its input b has a range that is out of order");
    expect_refused("-DCHANGE=.size=8", "its descriptor is too small");
}

/* --- a scenario ----------------------------------------------------------------------------- */

/* The scenario's folder is the common one for temporary files, so it names libraries by full paths.
 */
static struct hil_scenario *load_native(const char *name, const char *more)
{
    char plant[128], law[128];

    snprintf(plant, sizeof plant, "components.converter.model=%s", in_folder("%s", name));
    snprintf(law, sizeof law, "components.control.model=%s", in_folder("law.so"));
    return load(SMALL, SETS(plant, law, more, "sources={}", "measures={}"));
}

Test(native, is_the_plant_and_the_law_of_a_scenario)
{
    compile("plant.so", "");
    compile("law.so", "-DLAW");
    struct hil_scenario *s = load_native("plant.so", "components.converter.parameters.slope_v=40");

    cr_expect_str_eq(bank_law(s, 0)->model->name, "half");
    cr_expect_str_eq(bank_plant(s, 2)->model->name, "line");
    cr_expect_eq(bank_feed(s, 2, "slope_v")->initial, 40);
    cr_expect(strstr(s->resolved, in_folder("plant.so")), "a copy runs from any folder");
    hil_scenario_free(s);
}

Test(native, is_the_plant_of_one_converter)
{
    char override[128];

    compile("plant.so", "");
    snprintf(override, sizeof override, "components.converter.overrides=[{id: 1, model: %s}]",
             in_folder("plant.so"));
    struct hil_scenario *s = load(SMALL, SETS(override));

    cr_expect_str_eq(bank_plant(s, 0)->model->name, "buck");
    cr_expect_str_eq(bank_plant(s, 1)->model->name, "line");
    hil_scenario_free(s);
}

/* The path of a file does not matter to other nodes; its content does. */
Test(native, nodes_of_other_builds_have_other_listings)
{
    compile("law.so", "-DLAW");
    compile("plant.so", "");
    compile("copy.so", "");
    compile("other.so", "-O2");
    struct hil_scenario *one = load_native("plant.so", "duration_s=1");
    struct hil_scenario *same = load_native("copy.so", "duration_s=1");
    struct hil_scenario *other = load_native("other.so", "duration_s=1");

    cr_expect(strstr(one->listing.lines, "components.converter.model=line, build "), "%s",
              one->listing.lines);
    cr_expect_not(strstr(one->listing.lines, folder));
    cr_expect_eq(one->listing.hash, same->listing.hash);
    cr_expect_neq(one->listing.hash, other->listing.hash);
    hil_scenario_free(one);
    hil_scenario_free(same);
    hil_scenario_free(other);
}

Test(native, mistakes_have_their_place)
{
    char text[2048], expected[1024];

    snprintf(text, sizeof text,
             LINE_1 LINE_2 LINE_3
             "components:\n  control: {model: %s, node: controller, count: converter}\n"
             "  converter:\n    model: ./no.so\n    node: converter\n"
             "    overrides: [{id: 1, model: no}]\n" END,
             in_folder("none.so"));
    snprintf(expected, sizeof expected,
             "FILE:5:20: components.control.model is '%s', but it cannot be found (No such file or "
             "directory); "
             "allowed: a file\n",
             in_folder("none.so"));
    const char *said = refusal(text, NULL);
    cr_expect_eq(strncmp(said, expected, strlen(expected)), 0, "%s", said);
    cr_expect(strstr(said, "FILE:7:12: components.converter.model is './no.so', but there is no "
                           "such file; allowed: one in "),
              "%s", said);
}

Test(native, one_that_does_not_fit_is_refused)
{
    char set[128];

    compile("plant.so", "");
    snprintf(set, sizeof set, "components.control.model=%s", in_folder("plant.so"));
    const char *said = refusal(SMALL, SETS(set));
    cr_expect(strstr(said, "components.control.computation_delay is true, but line is a "
                           "continuous model"),
              "%s", said);
}

static const char *load_with(const struct hil_loaded **loaded, const char *key, const char *value)
{
    const struct hil_setting one = {key, value};
    const struct hil_settings settings = {&one, 1};
    static char text[1024];
    const struct hil_said said = {text, sizeof text, NULL};

    compile("a.so", "");
    return hil_model_load(loaded, "./a.so", folder, &settings, &said) ? text : NULL;
}

Test(native, takes_one_setting)
{
    const struct hil_loaded *loaded;

    cr_expect_str_eq(load_with(&loaded, "frames.0.id", "5"),
                     "frames.0.id is not a setting of a shared library; allowed: apart");
    cr_expect_str_eq(load_with(&loaded, "apart", "yes"),
                     "its setting apart is yes; allowed: true or false");
    cr_assert_null(load_with(&loaded, "apart", "false"));
    cr_expect_not(hil_model_is_apart(loaded->model));
    cr_assert_null(load_with(&loaded, "apart", "true"));
    cr_expect(hil_model_is_apart(loaded->model));
}
