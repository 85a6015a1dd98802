/* Tests that components from one shared library share nothing, and that a library's code leaves the
 * process as it was. */
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "folder.h"
#include "harness/models/component.h"
#include "harness/models/models.h"

TestSuite(native_state, .init = folder_open, .fini = folder_close);

/* A sampled model whose output is given by NEXT. MADE is done by create(). */
static const char source[] =
    "#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <fenv.h>\n#include <locale.h>\n#include "
    "<signal.h>\n"
    "#include <stdio.h>\n#include <string.h>\n#include <sys/stat.h>\n#include <unistd.h>\n"
    "#include \"model.h\"\n"
    "#ifndef MADE\n#define MADE\n#endif\n"
    "#ifndef BEFORE\n#define BEFORE\n#endif\n"
    "BEFORE\n"
    "static int create(void **self, const struct hil_config *config)\n"
    "{ (void)config; MADE; *self = (void *)self; return 0; }\n"
    "static int step(void *self, uint64_t t, const double *in, double *out)\n"
    "{ (void)self, (void)t, (void)in; out[0] = NEXT; return 0; }\n"
    "static void destroy(void *self) { (void)self; }\n"
    "static const struct hil_quantity outs[] = {{\"y\", \"\", 0, 0, 0, 0, \"y\"}};\n"
    "extern const struct hil_model hiloco_model = {HIL_MODEL_ABI, sizeof(struct hil_model), "
    "\"m\",\n"
    "    \"M\", HIL_SAMPLED, 1, {0, 0, 0}, {0, 0, 0}, HIL_QUANTITIES(outs), {0, 0, 0}, create, 0,\n"
    "    step, destroy, 0, 0, 0, 0};\n";

static void compile(const char *compiler, const char *name, const char *options)
{
    char command[1024];
    char *root = getcwd(NULL, 0);

    put("model.c", source);
    snprintf(command, sizeof command, "%s -w -shared -fPIC -I%s/plants -o %s %s %s", compiler, root,
             in_folder("%s", name), in_folder("model.c"), options);
    cr_assert_eq(system(command), 0, "%s", command);
    free(root);
}

static const struct hil_model *load(const char *name)
{
    const struct hil_loaded *loaded;
    char text[1024];

    cr_assert_eq(hil_model_load(&loaded, name, folder, NULL, &(struct hil_said){text, 1024, NULL}),
                 0, "%s", text);
    return loaded->model;
}

static void complain(void *arg, const char *line)
{
    (void)arg;
    cr_expect(false, "%s", line);
}

static void *make(const struct hil_model *model)
{
    const struct hil_config config = {
        .size = sizeof config, .width = 1, .period_s = 1, .log = complain, .model = model};
    void *self = NULL;

    cr_assert_eq(hil_component_create(&self, &config), 0);
    return self;
}

static double next(const struct hil_model *model, void *self)
{
    double in[1] = {0}, out[1] = {0};

    cr_assert_eq(model->step(self, 0, in, out), 0);
    return out[0];
}

static void expect_apart(const struct hil_model *model)
{
    void *one = make(model);

    cr_expect_eq(next(model, one), 1);
    cr_expect_eq(next(model, one), 2);
    void *other = make(model);
    cr_expect_eq(next(model, other), 1, "a second component has the first one's variable");
    cr_expect_eq(next(model, one), 3);
    hil_component_destroy(model, one);
    void *third = make(model);
    cr_expect_eq(next(model, third), 1, "a new component has the variable of one that has ended");
    cr_expect_eq(next(model, other), 2);
    hil_component_destroy(model, other);
    hil_component_destroy(model, third);
}

Test(native_state, a_global_variable_belongs_to_one_component)
{
    compile("cc", "global.so", "'-DBEFORE=double n;' '-DNEXT=++n'");
    expect_apart(load("./global.so"));
}

Test(native_state, a_thread_local_variable_belongs_to_one_component)
{
    compile("cc", "local.so", "'-DBEFORE=__thread double n;' '-DNEXT=++n'");
    expect_apart(load("./local.so"));
}

/* A C++ compiler makes such a variable unique in the process. */
Test(native_state, a_variable_of_an_inline_function_belongs_to_one_component)
{
    compile("g++ -x c++", "inline.so",
            "'-DBEFORE=inline double up() { static double n; return ++n; }' '-DNEXT=up()'");
    expect_apart(load("./inline.so"));
}

/* An FMU of a library makes copies, too, and the loader distinguishes files by their names. */
Test(native_state, a_copy_is_not_taken_for_one_of_another_part_of_the_process)
{
    char name[64];

    compile("cc", "other.so", "'-DBEFORE=double n = 10;' '-DNEXT=++n'");
    compile("cc", "this.so", "'-DBEFORE=double n;' '-DNEXT=++n'");
    const int file = open(in_folder("other.so"), O_RDONLY);
    for (int number = 3; number < 60; number++) {
        const bool is_free = fcntl(number, F_GETFD) < 0;
        if (is_free)
            cr_assert_eq(dup2(file, number), number);
        snprintf(name, sizeof name, "/proc/self/fd/%d", number);
        if (is_free)
            cr_assert_not_null(dlopen(name, RTLD_NOW | RTLD_LOCAL));
        if (is_free)
            close(number);
    }
    close(file);
    expect_apart(load("./this.so"));
}

/* More than the loader's namespaces, and than the files that a process may have open. */
Test(native_state, there_may_be_many)
{
    enum { MANY = 1200 };
    static void *made[MANY];

    compile("cc", "many.so", "'-DBEFORE=double n;' '-DNEXT=++n'");
    const struct hil_model *model = load("./many.so");
    for (unsigned i = 0; i < MANY; i++)
        made[i] = make(model);
    for (unsigned i = 0; i < MANY; i++)
        cr_expect_eq(next(model, made[i]), 1);
    for (unsigned i = 0; i < MANY; i++)
        hil_component_destroy(model, made[i]);
}

Test(native_state, a_library_that_needs_another_beside_it_is_for_one_component)
{
    char text[1024];

    put("state.c", "double n; double up(void) { return ++n; }");
    snprintf(text, sizeof text, "cc -shared -fPIC -o %s %s", in_folder("libstate.so"),
             in_folder("state.c"));
    cr_assert_eq(system(text), 0);
    snprintf(text, sizeof text,
             "'-DBEFORE=double up(void);' '-DNEXT=up()' -L%s -lstate -Wl,-rpath,'$ORIGIN'", folder);
    compile("cc", "needs.so", text);
    const struct hil_model *model = load("./needs.so");
    void *self = make(model);
    cr_expect_eq(next(model, self), 1, "the copy finds the library beside the original");
    hil_component_destroy(model, self);
    cr_expect_str_eq(hil_loaded_of(model)->once, "libstate.so");
    compile("cc", "alone.so", "-DNEXT=1 -lm");
    cr_expect_null(hil_loaded_of(load("./alone.so"))->once);
}

/* A file that is compiled again during a run does not matter to the run. */
Test(native_state, components_are_of_the_library_that_was_loaded)
{
    compile("cc", "old.so", "-DNEXT=1");
    const struct hil_model *model = load("./old.so");
    compile("cc", "old.so", "-DNEXT=2");
    void *self = make(model);
    cr_expect_eq(next(model, self), 1);
    hil_component_destroy(model, self);
}

Test(native_state, a_library_finds_its_own_folder)
{
    compile("cc", "mine.so",
            "'-DBEFORE=static int mine(void) { Dl_info i; return dladdr((void *)mine, &i) && "
            "strstr(i.dli_fname, \"/mine.so\"); }' '-DNEXT=mine()'");
    const struct hil_model *model = load("./mine.so");
    void *self = make(model);
    cr_expect_eq(next(model, self), 1);
    hil_component_destroy(model, self);
}

/* --- the process ------------------------------------------------------------------------------ */

Test(native_state, a_library_leaves_the_process_as_it_was)
{
    char *before = getcwd(NULL, 0);
    struct sigaction child;

    umask(0022);
    setlocale(LC_ALL, "C");
    compile("cc", "rude.so",
            "'-DMADE=chdir(\"/\"); setlocale(LC_ALL, \"C.UTF-8\"); signal(SIGCHLD, SIG_IGN); "
            "umask(0); fesetround(FE_UPWARD); puts(\"printed\")' -DNEXT=1");
    const struct hil_model *model = load("./rude.so");
    void *self = make(model);
    char *after = getcwd(NULL, 0);
    cr_expect_str_eq(after, before);
    cr_expect_str_eq(setlocale(LC_ALL, NULL), "C");
    cr_expect_eq(sigaction(SIGCHLD, NULL, &child), 0);
    cr_expect_eq(child.sa_handler, SIG_DFL);
    cr_expect_eq(umask(0022), 0022);
    cr_expect_eq(fegetround(), FE_TONEAREST);
    hil_component_destroy(model, self);
    free(before);
    free(after);
}

/* Linking with -ffast-math makes the loader's thread take small numbers for 0. */
Test(native_state, a_library_does_not_change_the_arithmetic)
{
    volatile double small = 1e-310;

    compile("cc", "fast.so", "-ffast-math -DNEXT=1");
    const struct hil_model *model = load("./fast.so");
    cr_expect_gt(small * 0.5, 0);
    void *self = make(model);
    cr_expect_gt(small * 0.5, 0);
    hil_component_destroy(model, self);
}
