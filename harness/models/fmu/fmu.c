#include "fmu.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "../provider/native.h"
#include "../provider/prints.h"
#include "fmu_archive.h"
#include "fmu_folder.h"
#include "fmu_instance.h"
#include "fmu_library.h"

static struct fmu_files *fmu_all_files;

static bool fmu_is(const char *name)
{
    const size_t length = strlen(name);

    return length > 4 && strcasecmp(name + length - 4, ".fmu") == 0;
}

/* --- its files -------------------------------------------------------------------------------- */

static int fmu_hash(const char *archive, uint64_t *hash, const struct hil_said *said)
{
    const int file = open(archive, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* it could be a pipe */

    if (file < 0)
        return hil_say(said, -errno, "it cannot be opened (%s); allowed: a file that can",
                       strerror(errno));
    int rc = hil_model_file_hash(file, hash, said);
    close(file);
    return rc;
}

static void fmu_files_free(struct fmu_files *f)
{
    if (f->folder)
        fmu_folder_remove(f->folder);
    free(f->archive);
    free(f->folder);
    free(f->library);
    free(f);
}

static int fmu_files_fill(struct fmu_files *f, const char *archive, const struct hil_said *said)
{
    f->archive = strdup(archive);
    int rc = f->archive ? fmu_folder_new(&f->folder) : -ENOMEM;
    if (rc) {
        f->folder = NULL;
        return hil_say(said, rc, "there is no folder to unpack it in (%s); TMPDIR may name one",
                       strerror(-rc));
    }
    return fmu_unpack(archive, f->folder, f->warning, sizeof f->warning, said);
}

/* An archive is unpacked once, regardless of its models' settings. */
static int fmu_files_get(struct fmu_files **files, const char *archive, const struct hil_said *said)
{
    uint64_t hash;
    int rc = fmu_hash(archive, &hash, said);

    for (struct fmu_files *f = rc ? NULL : fmu_all_files; f; f = f->next)
        if (f->hash == hash && strcmp(f->archive, archive) == 0) {
            f->users++;
            *files = f;
            return 0;
        }
    struct fmu_files *f = rc ? NULL : calloc(1, sizeof *f);
    if (!f)
        return rc ? rc : hil_say_no_memory(said);
    rc = fmu_files_fill(f, archive, said);
    if (rc) {
        fmu_files_free(f);
        return rc;
    }
    f->hash = hash;
    f->users = 1;
    f->next = fmu_all_files;
    fmu_all_files = *files = f;
    return 0;
}

static void fmu_files_put(struct fmu_files *files)
{
    struct fmu_files **at = &fmu_all_files;

    if (--files->users)
        return;
    while (*at != files)
        at = &(*at)->next;
    *at = files->next;
    fmu_files_free(files);
}

/* --- its settings ----------------------------------------------------------------------------- */

static bool fmu_is_setting(const struct fmu_variable *v)
{
    if (fmu_is_structural(v))
        return true;
    return v->type == FMU_STRING && v->dimension_count == 0 &&
           (v->causality == FMU_PARAMETER || v->causality == FMU_INPUT);
}

static bool fmu_has_setting(const struct fmu_description *d, const char *name)
{
    const struct fmu_variable *v = fmu_variable_named(d, name);

    return v && fmu_is_setting(v);
}

/* Lists texts and structural parameters: "message, file.name". */
static void fmu_list_settings(const struct fmu_description *d, char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (unsigned i = 0; i < d->variable_count && used < size; i++)
        if (fmu_is_setting(&d->variables[i]))
            used += (size_t)snprintf(text + used, size - used, "%s%.80s", used ? ", " : "",
                                     d->variables[i].name);
}

static int fmu_setting_unknown(const struct fmu_description *d, const char *key,
                               const struct hil_said *said)
{
    char texts[512];

    fmu_list_settings(d, texts, sizeof texts);
    return hil_say(said, -EINVAL,
                   "it has no setting %.80s; allowed: kind, log, start_time_s, "
                   "execution_tool%s%s",
                   key, *texts ? ", " : "", texts);
}

/* Parses a choice between two words. */
static int fmu_setting_choice(const struct hil_setting *s, const char *no, const char *yes,
                              bool *chosen, const struct hil_said *said)
{
    *chosen = strcmp(s->text, yes) == 0;
    if (*chosen || strcmp(s->text, no) == 0)
        return 0;
    return hil_say(said, -EINVAL, "its setting %s is '%.60s'; allowed: %s, %s", s->key, s->text, no,
                   yes);
}

static int fmu_setting_number(const struct hil_setting *s, double *number,
                              const struct hil_said *said)
{
    char *end;

    *number = strtod(s->text, &end);
    if (end != s->text && !*end && isfinite(*number))
        return 0;
    return hil_say(said, -EINVAL, "its setting %s is '%.60s'; allowed: a number", s->key, s->text);
}

static int fmu_take_setting(struct fmu *fmu, const struct hil_setting *s, bool *sampled,
                            bool *has_tool, const struct hil_said *said)
{
    if (strcmp(s->key, HIL_SETTING_SIGNAL) == 0)
        return 0;
    if (strcmp(s->key, "kind") == 0)
        return fmu_setting_choice(s, "continuous", "sampled", sampled, said);
    if (strcmp(s->key, "log") == 0)
        return fmu_setting_choice(s, "false", "true", &fmu->debug_log, said);
    if (strcmp(s->key, "start_time_s") == 0)
        return fmu_setting_number(s, &fmu->start_s, said);
    if (strcmp(s->key, "execution_tool") == 0)
        return fmu_setting_choice(s, "missing", "present", has_tool, said);
    return fmu_has_setting(&fmu->description, s->key)
               ? 0
               : fmu_setting_unknown(&fmu->description, s->key, said);
}

static int fmu_take_settings(struct fmu *fmu, bool *sampled, const struct hil_said *said)
{
    const struct fmu_description *d = &fmu->description;
    bool has_tool = false;
    int rc = 0;

    fmu->start_s = d->start_s;
    for (unsigned i = 0; !rc && i < fmu->settings->count; i++)
        rc = fmu_take_setting(fmu, &fmu->settings->at[i], sampled, &has_tool, said);
    if (rc || !d->needs_tool || has_tool)
        return rc;
    return hil_say(said, -EINVAL,
                   "it needs a tool to run (needsExecutionTool)%s%.100s; allowed: with 'settings: "
                   "{execution_tool: present}', where that is installed",
                   d->tool ? ": " : "", d->tool ? d->tool : "");
}

/* --- the model -------------------------------------------------------------------------------- */

/* The folder `resources`: for FMI 2.0 as a URI, for FMI 3.0 as a path with a separator at its
 * end. */
static int fmu_find_resources(struct fmu *fmu)
{
    char path[4200], *to;

    snprintf(path, sizeof path, "%s/resources", fmu->files->folder);
    if (fmu->description.version == 3) {
        if (access(path, R_OK) == 0 && asprintf(&fmu->resources, "%s/", path) < 0)
            return -ENOMEM;
        return 0;
    }
    fmu->resources = to = malloc(8 + 3 * strlen(path));
    if (!to)
        return -ENOMEM;
    to = stpcpy(to, "file://");
    for (const char *from = path; *from; from++)
        if (isalnum((unsigned char)*from) || strchr("/-._~", *from))
            *to++ = *from;
        else
            to += sprintf(to, "%%%02X", (unsigned char)*from);
    *to = '\0';
    return 0;
}

static struct hil_quantities fmu_quantities(const struct fmu_table *t)
{
    return (struct hil_quantities){t->rows, t->count, sizeof *t->rows};
}

/* "Battery of cells, FMI 2.0; settings besides: cells.name" */
static char *fmu_doc(const struct fmu *fmu)
{
    const struct fmu_description *d = &fmu->description;
    const unsigned left_out = fmu->tables.parameters.left_out + fmu->tables.states.left_out;
    char text[1024], texts[512], more[80] = "";

    fmu_list_settings(d, texts, sizeof texts);
    if (left_out)
        snprintf(more, sizeof more, "; %u more parameters keep their start values", left_out);
    snprintf(text, sizeof text, "%.300s, FMI %u.0%s%s%s",
             d->description && *d->description ? d->description : d->model_name, d->version,
             *texts ? "; settings besides: " : "", texts, more);
    return hil_pool_text(d->pool, text);
}

/* A law has its first outputs after its first computation; a plant has outputs from the start. */
static int fmu_make_model(struct fmu *fmu, bool sampled)
{
    fmu->model = (struct hil_model){
        .abi = HIL_MODEL_ABI,
        .size = sizeof fmu->model,
        .name = fmu->description.identifier,
        .doc = fmu_doc(fmu),
        .kind = sampled ? HIL_SAMPLED : HIL_CONTINUOUS,
        .width_max = 1,
        .parameters = fmu_quantities(&fmu->tables.parameters),
        .inputs = fmu_quantities(&fmu->tables.inputs),
        .outputs = fmu_quantities(&fmu->tables.outputs),
        .states = fmu_quantities(&fmu->tables.states),
        .create = fmu_instance_create,
        .output = sampled ? NULL : fmu_instance_output,
        .step = fmu_instance_step,
        .destroy = fmu_instance_destroy,
        .tune = fmu_instance_tune,
    };
    return fmu->model.doc ? 0 : -ENOMEM;
}

/* An FMU that allows only one instance per process gets a newly opened library for each instance;
 * it is closed in between. */
static int fmu_open_library(struct fmu *fmu, const struct hil_said *said)
{
    void *functions[FMU_FUNCTIONS_MAX];
    int rc = fmu->files->library ? 0
                                 : fmu_library_find(&fmu->files->library, fmu->files->folder,
                                                    &fmu->description, said);

    if (rc) {
        fmu->files->library = NULL;
        return rc;
    }
    hil_prints_away();
    rc = fmu_library_open(&fmu->library, fmu->files->library, fmu->speech->prefix,
                          fmu->speech->symbols, fmu->speech->needed, functions, said);
    if (!rc && fmu->description.only_once) {
        dlclose(fmu->library);
        fmu->library = NULL;
    }
    hil_prints_back();
    return rc;
}

static int fmu_make(struct fmu *fmu, const struct hil_said *said)
{
    char path[4200];
    bool sampled = false;

    snprintf(path, sizeof path, "%s/modelDescription.xml", fmu->files->folder);
    int rc = fmu_description_read(&fmu->description, path, fmu->settings, said);
    if (rc)
        return rc;
    fmu->speech = fmu->description.version == 2 ? &fmu_fmi2 : &fmu_fmi3;
    rc = fmu_take_settings(fmu, &sampled, said);
    if (!rc)
        rc = fmu_tables_make(&fmu->tables, &fmu->description, fmu->settings, said);
    if (!rc && (fmu_find_resources(fmu) || fmu_make_model(fmu, sampled)))
        rc = hil_say_no_memory(said);
    return rc ? rc : fmu_open_library(fmu, said);
}

static void fmu_free(struct fmu *fmu)
{
    if (fmu->library)
        dlclose(fmu->library);
    fmu_description_free(&fmu->description);
    free(fmu->resources);
    fmu_files_put(fmu->files);
    free(fmu);
}

static int fmu_load(struct hil_loaded *made, const struct hil_said *said)
{
    struct fmu *fmu = calloc(1, sizeof *fmu);

    if (!fmu)
        return hil_say_no_memory(said);
    int rc = fmu_files_get(&fmu->files, made->name, said);
    if (rc) {
        free(fmu);
        return rc;
    }
    fmu->settings = &made->settings;
    rc = fmu_make(fmu, said);
    if (rc) {
        fmu_free(fmu);
        return rc;
    }
    made->own = fmu;
    made->model = &fmu->model;
    made->hash = fmu->files->hash;
    made->others = fmu_quantities(&fmu->tables.others);
    made->once = fmu->description.only_once ? "" : NULL;
    if (*fmu->files->warning)
        hil_warn(fmu->warning, sizeof fmu->warning, "%s", fmu->files->warning);
    if (*fmu->description.warning)
        hil_warn(fmu->warning, sizeof fmu->warning, "%s", fmu->description.warning);
    made->warning = *fmu->warning ? fmu->warning : NULL;
    return 0;
}

static void fmu_unload(struct hil_loaded *made)
{
    fmu_free(made->own);
}

const struct hil_provider hil_fmu_provider = {
    .example = "an FMU such as ./battery.fmu",
    .takes = fmu_is,
    .locate = hil_model_file,
    .load = fmu_load,
    .unload = fmu_unload,
    .not_real_time = "an FMU's step may allocate memory, make system calls and take any time",
    .names_signals = true,
    .apart = true,
};
