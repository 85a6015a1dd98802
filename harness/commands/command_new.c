/* hiloco new: a folder with a project that runs at once. Its files are those of the documents'
 * examples, and those of harness/commands/new. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/embed.h"
#include "../scenario/yaml/scenario_check.h"
#include "commands.h"

EMBED(hil_new_loop, "harness/commands/new/loop.yaml");
EMBED(hil_new_plant, "harness/commands/new/plant.yaml");
EMBED(hil_new_makefile, "harness/commands/new/Makefile");
EMBED(hil_new_model_h, "plants/model.h");
EMBED(hil_new_rc_c, "docs/examples/model/rc.c");
EMBED(hil_new_rc_py, "docs/examples/program/rc.py");
EMBED(hil_new_netlist, "docs/examples/circuit/buck.cir");
EMBED(hil_new_circuit, "docs/examples/circuit/buck.yaml");
EMBED(hil_new_pytest_ini, "docs/examples/pytest/pytest.ini");
EMBED(hil_new_pytest_yaml, "docs/examples/pytest/current.yaml");
EMBED(hil_new_pytest_limits, "docs/examples/pytest/test_limits.yaml");
EMBED(hil_new_pytest_rc, "docs/examples/pytest/rc.py");
EMBED(hil_new_pytest_py, "docs/examples/pytest/test_current.py");

static const char help[] =
    "usage: hiloco new NAME [--kind KIND]\n"
    "\n"
    "Makes the folder NAME with a small commented project that runs at once, and prints the\n"
    "commands that run it. Nothing may have that name yet.\n"
    "\n"
    "  --kind KIND  loop: a converter and its law, of built-in models (the default)\n"
    "               c-plant: a loop with a plant in C\n"
    "               python-plant: a loop with a plant in Python\n"
    "               circuit: a netlist as a plant\n"
    "               pytest: a loop, and tests of it in Python\n";

enum { FILES_MAX = 5 };

struct new_kind {
    const char *name;
    struct {
        const char *path, *text;
    } files[FILES_MAX];
    const char *model, *source; /* what @model@ and @file@ stand for in the files */
    const char *next;           /* the commands that run it, in the folder */
};

static const struct new_kind kinds[] = {
    {"loop", {{"loop.yaml", hil_new_loop}}, "", "", "hiloco run loop.yaml"},
    {"c-plant",
     {{"plant.yaml", hil_new_plant},
      {"rc.c", hil_new_rc_c},
      {"Makefile", hil_new_makefile},
      {"hiloco/model.h", hil_new_model_h}},
     "./rc.so",
     "rc.c",
     "make && hiloco run plant.yaml"},
    {"python-plant",
     {{"plant.yaml", hil_new_plant}, {"rc.py", hil_new_rc_py}},
     "python:rc.py:RC",
     "rc.py",
     "hiloco run plant.yaml"},
    {"circuit",
     {{"buck.yaml", hil_new_circuit}, {"buck.cir", hil_new_netlist}},
     "",
     "",
     "hiloco run buck.yaml"},
    {"pytest",
     {{"current.yaml", hil_new_pytest_yaml},
      {"test_limits.yaml", hil_new_pytest_limits},
      {"test_current.py", hil_new_pytest_py},
      {"rc.py", hil_new_pytest_rc},
      {"pytest.ini", hil_new_pytest_ini}},
     "",
     "",
     "hiloco run current.yaml && python3 -m pytest"},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* --- what was asked for ---------------------------------------------------------------------- */

static const struct new_kind *new_find(const char *name)
{
    const char *names[KINDS];
    char choice[SCENARIO_CHOICE_BYTES];

    for (size_t i = 0; i < KINDS; i++) {
        names[i] = kinds[i].name;
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    }
    scenario_say_choice(name, names, KINDS, choice);
    fprintf(stderr, "hiloco new: --kind %s%s\n", name, choice);
    return NULL;
}

/* The folder's name is also the scenario's. */
static bool new_name_fits(const char *folder)
{
    char copy[PATH_MAX];
    const struct scenario_key *key = scenario_key_find("name");
    struct scenario_node name = {.kind = SCENARIO_SCALAR, .plain = true};
    struct stat status;

    snprintf(copy, sizeof copy, "%s", folder);
    name.text = basename(copy);
    if (strlen(folder) > PATH_MAX - 200 || !scenario_scalar_fits(key, CYAML_STRING, &name))
        fprintf(stderr,
                "hiloco new: '%s' is no name for a project; allowed: up to 64 letters, digits, "
                "'.', '_' and '-', the first no '.' or '-', perhaps in a folder that is there\n",
                folder);
    else if (lstat(folder, &status) == 0)
        fprintf(stderr, "hiloco new: %s is there already; allowed: a name that nothing has\n",
                folder);
    else
        return true;
    return false;
}

/* --- writing --------------------------------------------------------------------------------- */

/* Writes the text with what its words in @...@ stand for. */
static void new_put(FILE *to, const char *text, const struct new_kind *kind, const char *name)
{
    const struct {
        const char *word, *is;
    } words[] = {{"@name@", name}, {"@model@", kind->model}, {"@file@", kind->source}};

    while (*text) {
        size_t i = 0;
        while (i < 3 && strncmp(text, words[i].word, strlen(words[i].word)) != 0)
            i++;
        fputs(i < 3 ? words[i].is : (char[]){*text, '\0'}, to);
        text += i < 3 ? strlen(words[i].word) : 1;
    }
}

static int new_write_file(const char *folder, const char *path, const char *text,
                          const struct new_kind *kind, const char *name)
{
    char whole[PATH_MAX + 200], inner[PATH_MAX + 200];

    snprintf(whole, sizeof whole, "%s/%s", folder, path);
    snprintf(inner, sizeof inner, "%s", whole);
    if (mkdir(dirname(inner), 0777) != 0 && errno != EEXIST)
        return -errno;
    FILE *to = fopen(whole, "wxe");
    if (!to)
        return -errno;
    new_put(to, text, kind, name);
    const bool failed = ferror(to);
    return fclose(to) != 0 || failed ? -(errno ? errno : EIO) : 0;
}

/* Removes what has been written. Folders are removed after what is in them. */
static void new_remove(const char *folder, const struct new_kind *kind)
{
    char path[PATH_MAX + 200];

    for (int i = FILES_MAX - 1; i >= 0; i--) {
        if (!kind->files[i].path)
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, kind->files[i].path);
        unlink(path);
        rmdir(dirname(path)); /* unless others are in it */
    }
    rmdir(folder);
}

/* The project gets its name when it is complete. */
static int new_write(const char *folder, const struct new_kind *kind)
{
    char part[PATH_MAX], copy[PATH_MAX];
    int rc = 0;

    snprintf(part, sizeof part, "%s.XXXXXX", folder);
    snprintf(copy, sizeof copy, "%s", folder);
    if (!mkdtemp(part))
        return -errno;
    const mode_t mask = umask(0);
    umask(mask);
    chmod(part, 0777 & ~mask);
    for (int i = 0; !rc && i < FILES_MAX && kind->files[i].path; i++)
        rc = new_write_file(part, kind->files[i].path, kind->files[i].text, kind, basename(copy));
    if (!rc && renameat2(AT_FDCWD, part, AT_FDCWD, folder, RENAME_NOREPLACE) != 0)
        rc = -errno;
    if (rc)
        new_remove(part, kind);
    return rc;
}

static int new_make(const char *folder, const struct new_kind *kind)
{
    const int rc = new_write(folder, kind);

    if (rc) {
        fprintf(stderr, "hiloco new: %s cannot be made: %s\n", folder, strerror(-rc));
        return rc == -ENOENT || rc == -ENOTDIR || rc == -EACCES || rc == -EEXIST ? HIL_EXIT_USAGE
                                                                                 : HIL_EXIT_FAILED;
    }
    printf("made %s:", folder);
    for (int i = 0; i < FILES_MAX && kind->files[i].path; i++)
        printf(" %s", kind->files[i].path);
    printf("\nnext:\n    cd %s\n    %s\n", folder, kind->next);
    return HIL_EXIT_OK;
}

struct new_arguments {
    struct hil_arguments given;
    const char *kind;
};

static const struct hil_option options[] = {
    HIL_OPTION("kind", hil_read_text, struct new_arguments, kind),
    {0},
};

int hil_command_new(int argc, char **argv)
{
    struct new_arguments a = {.kind = "loop"};
    int rc = hil_arguments_parse(&a.given, &(struct hil_command){help, options, 1, 1}, argc, argv);
    int status = rc ? hil_arguments_status(rc) : HIL_EXIT_USAGE;
    char folder[PATH_MAX];

    if (!rc) {
        snprintf(folder, sizeof folder, "%s", a.given.scenario);
        for (size_t n = strlen(folder); n > 1 && folder[n - 1] == '/';)
            folder[--n] = '\0';
        const struct new_kind *kind = new_find(a.kind);
        if (kind && new_name_fits(folder))
            status = new_make(folder, kind);
    }
    hil_arguments_free(&a.given);
    return status;
}
