/* hiloco wrap: generated code becomes a model. */
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/embed.h"
#include "../base/file_save.h"
#include "../tools/wrap/wrap.h"
#include "commands.h"

EMBED(hil_wrap_makefile, "harness/commands/wrap/Makefile");

static const char help[] =
    "usage: hiloco wrap ert|plecs FOLDER [--rates N,...] [--period-us P]\n"
    "\n"
    "Makes a model of generated code: ert, as Simulink's Embedded Coder writes it, or plecs, as\n"
    "PLECS Coder does. Reads the headers of FOLDER, or of a header's folder, by ctags, and writes\n"
    "two files into it: hiloco_model.c, with tables of the code's inputs, outputs and parameters,\n"
    "and Makefile. make then gives NAME.so, which a scenario can name as a model. Headers do not\n"
    "say units, nor the slope and bias of fixed-point numbers: put these into hiloco_model.c.\n"
    "\n"
    "  --rates N,...  of code with several rates: every so many steps of the first task the\n"
    "                 second one runs, the third one, and so on (default: as in ert_main.c)\n"
    "  --period-us P  the period of the first task in microseconds (default: as the code says, or\n"
    "                 else the period of its node)\n"
    "\n"
    "docs/generated-code.md has examples, and shows how plain C and firmware become models.\n"
    "\n"
    "Exit status: 0; 1 if a file cannot be written; 2 for a mistake, or if a file is there.\n";

struct wrap_arguments {
    struct hil_arguments given;
    const char *rates; /* "N,..." */
    double period_us;  /* 0: as the code says */
};

static const struct hil_option options[] = {
    HIL_OPTION("rates", hil_read_text, struct wrap_arguments, rates),
    HIL_OPTION("period-us", hil_read_period, struct wrap_arguments, period_us),
    {0},
};

/* "5,20" */
static bool wrap_take_rates(struct wrap_rates *rates, const char *text)
{
    char *end = (char *)text;

    for (unsigned i = 1; text; i++) {
        const unsigned long n = strtoul(text, &end, 10);
        if (end == text || (*end && *end != ',') || n < 1 || n > 1000000 || i == WRAP_RATES_MAX) {
            fprintf(stderr,
                    "hiloco wrap: --rates %s: up to %d whole numbers from 1 to 1000000 are "
                    "allowed\n",
                    text, WRAP_RATES_MAX - 1);
            return false;
        }
        rates->at[i] = (struct wrap_rate){(unsigned)n, 0};
        rates->count = i + 1;
        text = *end ? end + 1 : NULL;
    }
    return true;
}

static int wrap_put_makefile(const void *arg, FILE *to)
{
    const struct wrap *wrap = arg;

    for (const char *at = hil_wrap_makefile; *at;) {
        const char *word = strstr(at, "@name@");
        fwrite(at, 1, word ? (size_t)(word - at) : strlen(at), to);
        at = word ? word + strlen("@name@") : "";
        if (word)
            fputs(wrap->name, to);
    }
    return 0;
}

static bool wrap_is_there(const char *path)
{
    struct stat status;

    if (lstat(path, &status) != 0)
        return false;
    fprintf(stderr, "hiloco wrap: %s is there already; remove it first\n", path);
    return true;
}

static int wrap_save(const struct wrap *wrap)
{
    char model[PATH_MAX + 20], makefile[PATH_MAX + 20];

    snprintf(model, sizeof model, "%s/hiloco_model.c", wrap->folder);
    snprintf(makefile, sizeof makefile, "%s/Makefile", wrap->folder);
    if (wrap_is_there(model) || wrap_is_there(makefile))
        return HIL_EXIT_USAGE;
    int rc = hil_file_save(model, wrap_write, wrap);
    if (!rc && (rc = hil_file_save(makefile, wrap_put_makefile, wrap)))
        unlink(model);
    if (rc) {
        fprintf(stderr, "hiloco wrap: %s cannot be written: %s\n", wrap->folder, strerror(-rc));
        return HIL_EXIT_FAILED;
    }
    printf("made %s, Makefile\nnext:\n    make -C %s && hiloco models %s/%s.so\n", model,
           wrap->folder, wrap->folder, wrap->name);
    if (wrap->integers)
        printf("%u of its numbers are integers: say their slope in hiloco_model.c, if they are "
               "fixed-point numbers\n",
               wrap->integers);
    return HIL_EXIT_OK;
}

static int wrap_folder(const struct wrap_arguments *a, const char *folder, const char *name)
{
    struct wrap wrap = {.folder = folder,
                        .generator =
                            strcmp(a->given.scenarios[0], "plecs") == 0 ? WRAP_PLECS : WRAP_ERT};
    int status = HIL_EXIT_USAGE;

    wrap_rates_read(&wrap.rates, folder);
    if (a->period_us > 0)
        wrap.rates.period_s = a->period_us * 1e-6;
    if ((!a->rates || wrap_take_rates(&wrap.rates, a->rates)) &&
        wrap_tags_read(&wrap.tags, folder) == 0 && wrap_read(&wrap, name))
        status = wrap_save(&wrap);
    wrap_free(&wrap);
    return status;
}

/* A folder, or a header in one, whose name is that of the code. */
static int wrap_path(const struct wrap_arguments *a)
{
    char path[PATH_MAX], copy[PATH_MAX];
    const size_t length = strlen(a->given.scenarios[1]);

    if (length >= sizeof path) {
        fprintf(stderr, "hiloco wrap: the path is too long\n");
        return HIL_EXIT_USAGE;
    }
    strcpy(path, a->given.scenarios[1]);
    strcpy(copy, a->given.scenarios[1]);
    if (length < 3 || strcmp(&path[length - 2], ".h") != 0)
        return wrap_folder(a, path, NULL);
    path[length - 2] = '\0';
    return wrap_folder(a, dirname(copy), basename(path));
}

int hil_command_wrap(int argc, char **argv)
{
    struct wrap_arguments a = {0};
    const int rc =
        hil_arguments_parse(&a.given, &(struct hil_command){help, options, 1, 2}, argc, argv);
    const char *generator = rc ? "" : a.given.scenarios[0];
    int status = rc ? hil_arguments_status(rc) : HIL_EXIT_USAGE;

    if (!rc && a.given.scenario_count == 2 &&
        (strcmp(generator, "ert") == 0 || strcmp(generator, "plecs") == 0))
        status = wrap_path(&a);
    else if (!rc)
        fprintf(stderr, "hiloco wrap: %s: allowed: ert FOLDER or plecs FOLDER\n", generator);
    hil_arguments_free(&a.given);
    return status;
}
