#include "python.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/installed.h"
#include "../provider/native.h"
#include "program.h"

static const char python_prefix[] = "python:";

static bool python_takes(const char *name)
{
    return strncmp(name, python_prefix, strlen(python_prefix)) == 0;
}

static int python_locate(char **whole, const char *name, const char *folder,
                         const struct hil_said *said)
{
    const char *file = name + strlen(python_prefix), *colon = strrchr(file, ':');
    char *path;

    if (!colon || colon == file || !colon[1] || strchr(colon, '/'))
        return hil_say(said, -EINVAL,
                       "it names no class; allowed: python:FILE:CLASS, such as "
                       "python:rc.py:RC");
    char *name_of_file = strndup(file, (size_t)(colon - file));
    if (!name_of_file)
        return hil_say_no_memory(said);
    int rc = hil_model_file(&path, name_of_file, folder, said);
    free(name_of_file);
    if (rc)
        return rc;
    if (asprintf(whole, "%s%s%s", python_prefix, path, colon) < 0)
        rc = hil_say_no_memory(said);
    free(path);
    return rc;
}

/* PYTHONPATH=... with the folder of the package hiloco in front. Debian's package installs it where
 * python3 looks for it anyway. NULL: memory ran out. */
static char *python_path(void)
{
    static const char package[] = "/hiloco/__init__.py";
    const char *others = getenv("PYTHONPATH");
    char path[PATH_MAX], *variable;

    if (!others)
        others = "";
    if (hil_installed_find("python/hiloco/__init__.py", path, sizeof path))
        path[0] = '\0';
    else
        path[strlen(path) - strlen(package)] = '\0';
    if (asprintf(&variable, "PYTHONPATH=%s%s%s", path, *path && *others ? ":" : "", others) < 0)
        return NULL;
    return variable;
}

static int python_load(struct hil_loaded *made, const struct hil_said *said)
{
    const char *file = made->name + strlen(python_prefix), *colon = strrchr(file, ':');
    const char *chosen = getenv("HILOCO_PYTHON");
    char *path = strndup(file, (size_t)(colon - file)), *variable = python_path();
    const char *const words[] = {
        "/usr/bin/env",   variable, chosen && *chosen ? chosen : "python3", "-m", "hiloco._serve",
        path ? path : "", colon + 1};
    char **argv = path && variable ? hil_program_arguments(words, sizeof words / sizeof words[0],
                                                           &made->settings)
                                   : NULL;
    const int rc = argv ? hil_program_load(made, argv, path, said) : hil_say_no_memory(said);

    free(variable);
    free(path);
    return rc;
}

const struct hil_provider hil_python_provider = {
    .example = "a class in Python such as python:rc.py:RC",
    .takes = python_takes,
    .locate = python_locate,
    .load = python_load,
    .unload = hil_program_unload,
    .not_real_time =
        "it is a process of its own: a step makes system calls, and uses the newest answer",
    .apart = true,
};
