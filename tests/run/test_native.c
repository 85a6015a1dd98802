/*
 * Models from shared libraries in whole runs: those of docs/examples/model, compiled here against
 * the header as it is installed.
 */
#include <complex.h>
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "process.h"
#include "results.h"
#include "workspace.h"

/* The examples lie in the workspace as models/, beside the scenario rc.yaml. */
static void copy_examples(void)
{
    char *root = getcwd(NULL, 0);

    cr_assert_eq(mkdir(in_workspace("include"), 0700), 0);
    struct ended e = run_command("cp -r docs/examples/model %s", in_workspace("models"));
    expect_status(&e, 0);
    char header[4200];
    snprintf(header, sizeof header, "%s/plants", root);
    cr_assert_eq(symlink(header, in_workspace("include/hiloco")), 0);
    free(root);
}

/* `name`.so of model.c. */
static void compile(const char *model, const char *name, const char *options)
{
    struct ended e =
        run_command("cc -shared -fPIC -I%s %s -o %s %s -lm", in_workspace("include"), options,
                    in_workspace("models/%s.so", name), in_workspace("models/%s.c", model));

    expect_status(&e, 0);
}

static void open_examples(void)
{
    workspace_open();
    copy_examples();
    compile("rc", "rc", "-O2");
    compile("integral", "integral", "-O2");
}

TestSuite(native, .init = open_examples, .fini = workspace_close, .timeout = 120);

#define ANYWHERE                                                                                   \
    "--set nodes.controller.priority=0 --set nodes.converter.priority=0 --set "                    \
    "nodes.controller.cpu=-1 "                                                                     \
    "--set nodes.converter.cpu=-1 --set validity.required=false "

static struct ended run_example(const char *options)
{
    return run_command("hiloco run %s --out %s %s", in_workspace("models/rc.yaml"),
                       in_workspace("out"), options);
}

Test(native, a_copy_of_the_scenario_gives_the_same_record)
{
    struct ended e = run_example("");
    expect_status(&e, 0);
    e = run_command("hiloco run %s --out %s", in_workspace("out/scenario.yaml"),
                    in_workspace("again"));
    expect_status(&e, 0);
    e = run_command("cmp %s %s", in_workspace("out/trace.h5"), in_workspace("again/trace.h5"));
    expect_status(&e, 0);
}

/* The processes that the launcher starts have what it loaded. */
Test(native, in_real_time)
{
    struct ended e = run_example("--mode realtime --set duration_s=0.5 " ANYWHERE);

    expect_ran(&e);
    cr_expect_gt(number_at(summary_of(in_workspace("out")), "nodes.converter.steps"), 0);
}

/* Programs that were started by hand load their own copies: of one build they run together,
 * wherever these lie. */
static struct ended run_by_hand(const char *plant, struct ended *converters)
{
    char common[300];
    snprintf(common, sizeof common, "--set name=%s --set duration_s=0.05 " ANYWHERE, own_name());
    struct arguments a = command("controller %s --out %s %s", in_workspace("models/rc.yaml"),
                                 in_workspace("out"), common);
    struct process controller = start(&a);

    a = command("converter %s --id 0-1 %s --set components.converter.model=%s",
                in_workspace("models/rc.yaml"), common, plant);
    struct process others = start(&a);
    struct ended e = finish(&controller);
    *converters = finish(&others);
    return e;
}

Test(native, nodes_of_one_build_run_together)
{
    struct ended converters, controller;

    compile("rc", "elsewhere", "-O2");
    controller = run_by_hand("./elsewhere.so", &converters);
    expect_ran(&controller);
    expect_ran(&converters);
}

Test(native, nodes_of_another_build_are_refused)
{
    struct ended converters, controller;

    compile("rc", "other", "-O1");
    controller = run_by_hand("./other.so", &converters);
    expect_status(&controller, 2);
    expect_status(&converters, 2);
    expect_said(&controller, "another scenario: components.converter.model is rc, build ");
}

Test(native, models_shows_its_tables)
{
    struct ended e = run_command("hiloco models %s", in_workspace("models/rc.so"));

    expect_status(&e, 0);
    cr_expect_eq(strncmp(e.out, "rc (continuous): Capacitor behind", 33), 0, "%s", e.out);
    cr_expect(strstr(e.out, "capacitance_f "));
    cr_expect_null(strstr(e.out, "buck"));
    e = run_command("hiloco models %s", in_workspace("models/rc.c"));
    expect_status(&e, 2);
    expect_said(&e, "rc.c: it is not a shared library (ELF)");
}

/* --- one that changes its process --------------------------------------------------------------
 */

/* The plant does so when it is made. */
static void compile_changing(const char *change)
{
    static const char made[] = "    struct rc *rc = (struct rc *)malloc";
    char *text = read_text(in_workspace("models/rc.c")), *all, *at = strstr(text, made);

    cr_assert(at);
    cr_assert_gt(asprintf(&all, "#include <locale.h>\n#include <unistd.h>\n%.*s    %s;\n%s",
                          (int)(at - text), text, change, at),
                 0);
    write_text(in_workspace("models/rc.c"), all);
    free(text);
    free(all);
    compile("rc", "rc", "-O2");
}

/* A run in a folder that the library leaves. */
Test(native, that_leaves_the_folder_does_not_take_the_results_along)
{
    compile_changing("if (chdir(\"/\")) return -1");
    cr_assert_eq(chdir(workspace), 0);
    struct ended e = run_command("hiloco run models/rc.yaml --out out");
    expect_status(&e, 0);
    cr_expect(exists(in_workspace("out/summary.json")));
    cr_expect(exists(in_workspace("out/trace.h5")));
}

/* With a decimal comma 0.5 would be 0. */
Test(native, that_sets_a_locale_does_not_change_numbers)
{
    struct ended e = run_example("--set sources.reference.constant=10.25");

    expect_status(&e, 0);
    e = run_command("localedef -i de_DE -f UTF-8 %s", in_workspace("de_DE.UTF-8"));
    if (!exists(in_workspace("de_DE.UTF-8/LC_NUMERIC")))
        cr_skip_test("no locale with a decimal comma can be made here");
    setenv("LOCPATH", workspace, 1);
    setenv("LC_ALL", "de_DE.UTF-8", 1);
    compile_changing("setlocale(LC_ALL, \"\")");
    e = run_command("sed -i s/(void)t_ns;/setlocale(LC_ALL,\"\");/ %s",
                    in_workspace("models/rc.c"));
    compile("rc", "rc", "-O2");
    e = run_command("hiloco run %s --out %s --set sources.reference.constant=10.25 --junit %s",
                    in_workspace("models/rc.yaml"), in_workspace("comma"),
                    in_workspace("comma.xml"));
    expect_status(&e, 0);
    e = run_command("hiloco compare %s %s", in_workspace("out"), in_workspace("comma"));
    expect_status(&e, 0);
    char *summary = read_text(in_workspace("comma/summary.json"));
    cr_expect(strstr(summary, "20.5"));
    free(summary);
}

/* --- one that fails --------------------------------------------------------------------------- */

/* The plant's step does so from 0.2 s on. */
static void compile_failing(const char *failure)
{
    struct ended e = run_command("sed -i s/(void)t_ns;/if(t_ns>200000000)%s;/ %s", failure,
                                 in_workspace("models/rc.c"));

    expect_status(&e, 0);
    compile("rc", "rc", "-O2");
}

Test(native, that_fails_ends_the_run)
{
    compile_failing("rc->voltage_v=NAN");
    struct ended e = run_example("");

    expect_status(&e, 1);
    expect_said(&e, "converter[0] (rc): its output voltage_v is NaN, at 0.200050 s (step 4001)");
    cr_expect_eq(number_at(summary_of(in_workspace("out")), "failures.count"), 1);
}

Test(native, that_fails_is_told_when_the_run_goes_on)
{
    compile_failing("return-ERANGE");
    struct ended e = run_example(
        "--set components.converter.on_error=safe --set components.converter.safe.duty=0 --set "
        "components.control.safe.duty=0 --set validity.required=false");

    expect_status(&e, 0);
    expect_said(&e,
                "warning: converter[1] (rc): its step failed (Numerical result out of range), at "
                "0.200050 s (step 4001); the run continues without it");
    cr_expect_eq(number_at(summary_of(in_workspace("out")), "failures.count"), 2);
}

/* The loop of the examples: dx/dt = (48 d - x) / RC, and an integral law that is a step late. */
Test(native, a_linear_model_has_the_states_of_libraries)
{
    struct ended e = run_command("hiloco linearize %s --json", in_workspace("models/rc.yaml"));
    json_t *root = json_loads(e.out, 0, NULL);

    expect_status(&e, 0);
    cr_assert(root, "%s", e.out);
    const double decay = exp(-100e-6 / 2e-3), per_period = 48 * 0.5 * 100e-6;
    unsigned slow = 0;
    for (size_t i = 0; i < json_array_size(json_at(root, "modes")); i++) {
        json_t *mode = json_array_get(json_at(root, "modes"), i);
        const double complex z = number_at(mode, "real") + I * number_at(mode, "imaginary");
        if (cabs(z) < 0.5)
            continue;
        slow++;
        /* the duty of the last step is held for the first half of the period, the next from then */
        const double half = exp(-50e-6 / 2e-3), late = (1 - half) * half, early = 1 - half;
        cr_expect_lt(cabs((z - 1) * (z - decay) + per_period * (late / z + early)), 1e-9, "%g %+gi",
                     creal(z), cimag(z));
    }
    cr_expect_eq(slow, 2u);
}
