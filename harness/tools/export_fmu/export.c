#include "export.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <xxhash.h>
#include <zip.h>

#include "../../base/installed.h"
#include "../../models/component.h"
#include "description.h"

/* The parts of the archive, and the message about a failure. */
struct fmu_making {
    const struct hil_fmu_export *export;
    struct hil_fmu_variables variables;
    struct hil_fmu_label label;
    char identifier[64];
    char folder[64];   /* the platform folder of the binary */
    char binary[4096]; /* the path of libhiloco-fmiN.so */
    char *description;
    size_t description_size;
    char *netlist; /* of a circuit, as text */
    size_t netlist_size;
    char *text;
    size_t text_size;
};

__attribute__((format(printf, 3, 4))) static int fmu_fail(const struct fmu_making *m, int rc,
                                                          const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(m->text, m->text_size, format, args);
    va_end(args);
    return rc;
}

void hil_fmu_identifier(const struct hil_model *model, char *identifier, size_t size)
{
    snprintf(identifier, size, "%s%s", isdigit((unsigned char)model->name[0]) ? "_" : "",
             model->name);
    for (char *c = identifier; *c; c++)
        if (!isalnum((unsigned char)*c))
            *c = '_';
}

/* --- checks --------------------------------------------------------------------------------- */

static int check_names(const struct fmu_making *m)
{
    const struct hil_fmu_variables *v = &m->variables;

    for (uint32_t i = 0; i < v->count; i++) {
        if (strlen(v->at[i].name) + 1 >= HIL_FMU_VARIABLE_NAME_BYTES)
            return fmu_fail(m, -EINVAL, "the name of %s is too long", v->at[i].name);
        for (uint32_t k = 0; k < i; k++)
            if (strcmp(v->at[k].name, v->at[i].name) == 0)
                return fmu_fail(m, -EINVAL,
                                "two of its quantities are called %s, and an FMU's variables have "
                                "names of their own (time and step_size_s are there as well)",
                                v->at[i].name);
    }
    return 0;
}

/* It must be possible to create a component with the tables' values, because tools begin with
 * those. */
static void fmu_unheard(void *arg, const char *line)
{
    const struct fmu_making *m = arg;

    snprintf(m->text, m->text_size, "%s", line);
}

static void start_values(const struct hil_fmu_variables *v, enum hil_fmu_role role, double *values)
{
    for (uint32_t i = 0; i < v->count; i++)
        for (uint32_t k = 0; v->at[i].role == role && k < v->at[i].count; k++)
            values[v->at[i].place + k] = v->at[i].quantity->value;
}

static int check_component(struct fmu_making *m)
{
    const struct hil_model *model = m->export->model;
    const uint32_t *places = m->variables.places;
    double *values = calloc(places[HIL_FMU_PARAMETER] + places[HIL_FMU_STATE] + 1, sizeof *values);
    void *component = NULL;

    if (!values)
        return fmu_fail(m, -ENOMEM, "there is no memory");
    start_values(&m->variables, HIL_FMU_PARAMETER, values);
    start_values(&m->variables, HIL_FMU_STATE, values + places[HIL_FMU_PARAMETER]);
    const struct hil_config config = {
        .size = sizeof config,
        .width = m->export->width,
        .period_s = (double)m->export->period_ns * 1e-9,
        .parameters = values,
        .states = values + places[HIL_FMU_PARAMETER],
        .log = fmu_unheard,
        .log_arg = m,
        .model = model,
        .trial = 1,
    };
    m->text[0] = '\0';
    int rc = hil_component_create(&component, &config);
    free(values);
    if (!rc)
        hil_component_destroy(model, component);
    if (rc && !m->text[0])
        fmu_fail(m, rc, "its parameters' defaults make no sense with a period of %g s (%s)",
                 config.period_s, strerror(-rc));
    return rc;
}

/* --- the description ------------------------------------------------------------------------ */

static int describe(struct fmu_making *m)
{
    const struct hil_fmu_description d = {
        .model = m->export->model,
        .variables = &m->variables,
        .label = &m->label,
        .identifier = m->identifier,
        .version = m->export->version,
    };

    free(m->description);
    m->description = NULL;
    FILE *to = open_memstream(&m->description, &m->description_size);
    if (!to)
        return fmu_fail(m, -errno, "there is no memory");
    hil_fmu_describe(to, &d);
    return fclose(to) ? fmu_fail(m, -ENOMEM, "there is no memory") : 0;
}

/* The token identifies the FMU. It is a hash of the description and of the library. */
static int make_token(struct fmu_making *m)
{
    int rc = describe(m);

    if (rc)
        return rc;
    const XXH128_hash_t hash = XXH3_128bits_withSeed(m->description, m->description_size,
                                                     m->export->hash + m->export->width);
    const unsigned long long high = hash.high64, low = hash.low64;
    snprintf(m->label.token, sizeof m->label.token, "{%08llx-%04llx-%04llx-%04llx-%012llx}",
             high >> 32, high >> 16 & 0xffff, high & 0xffff, low >> 48, low & 0xffffffffffff);
    return describe(m);
}

/* --- the archive ---------------------------------------------------------------------------- */

/* The standard's name for this kind of machine. */
static void name_folder(struct fmu_making *m)
{
    struct utsname machine;

    uname(&machine);
    if (m->export->version == 2 && strcmp(machine.machine, "x86_64") == 0)
        snprintf(m->folder, sizeof m->folder, "binaries/linux64");
    else
        snprintf(m->folder, sizeof m->folder, "binaries/%.40s-linux", machine.machine);
}

/* The archive contains no current time, so the same model gives the same bytes. */
enum { LONG_AGO_S = 315662400 }; /* in 1980 in any time zone: zip has no earlier times */

/* zlib's own level. libzip's takes five times as long, for half a percent of a binary. */
enum { COMPRESSION = 6 };

static int add_source(const struct fmu_making *m, zip_t *archive, const char *name,
                      zip_source_t *source)
{
    const zip_int64_t index = source ? zip_file_add(archive, name, source, ZIP_FL_ENC_UTF_8) : -1;

    if (index < 0) {
        zip_source_free(source);
        return fmu_fail(m, -EIO, "%s: %s", name, zip_strerror(archive));
    }
    zip_set_file_compression(archive, (zip_uint64_t)index, ZIP_CM_DEFLATE, COMPRESSION);
    zip_file_set_mtime(archive, (zip_uint64_t)index, LONG_AGO_S, 0);
    zip_file_set_external_attributes(archive, (zip_uint64_t)index, 0, ZIP_OPSYS_UNIX,
                                     0100644u << 16);
    return 0;
}

static int add_file(const struct fmu_making *m, zip_t *archive, const char *name, const char *path)
{
    return add_source(m, archive, name, zip_source_file(archive, path, 0, -1));
}

static int add_text(const struct fmu_making *m, zip_t *archive, const char *name, const char *text,
                    size_t size)
{
    return add_source(m, archive, name, zip_source_buffer(archive, text, size, 0));
}

static int add_all(const struct fmu_making *m, zip_t *archive, const char *label)
{
    char name[256];

    int rc = add_text(m, archive, "modelDescription.xml", m->description, m->description_size);
    if (rc)
        return rc;
    snprintf(name, sizeof name, "%s/%s.so", m->folder, m->identifier);
    rc = add_file(m, archive, name, m->binary);
    if (rc)
        return rc;
    snprintf(name, sizeof name, "%s/%s.label", m->folder, m->identifier);
    rc = add_text(m, archive, name, label, strlen(label));
    snprintf(name, sizeof name, "%s/%s", m->folder, m->label.model);
    if (!rc && m->export->library)
        rc = add_file(m, archive, name, m->export->library);
    if (!rc && m->export->netlist)
        rc = add_text(m, archive, name, m->netlist, m->netlist_size);
    return rc;
}

static int write_archive(const struct fmu_making *m, const char *path)
{
    char label[512];
    int code;
    zip_t *archive = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, &code);

    if (!archive) {
        zip_error_t error;
        zip_error_init_with_code(&error, code);
        fmu_fail(m, 0, "%s: %s", path, zip_error_strerror(&error));
        zip_error_fini(&error);
        return -EIO;
    }
    hil_fmu_label_text(&m->label, label, sizeof label);
    int rc = add_all(m, archive, label);
    if (!rc && zip_close(archive) == 0)
        return 0;
    if (!rc)
        rc = fmu_fail(m, -EIO, "%s: %s", path, zip_strerror(archive));
    zip_discard(archive);
    return rc;
}

/* --- all of it ------------------------------------------------------------------------------ */

static int write_netlist(struct fmu_making *m)
{
    FILE *to = m->export->netlist ? open_memstream(&m->netlist, &m->netlist_size) : NULL;

    if (!m->export->netlist)
        return 0;
    if (!to)
        return fmu_fail(m, -errno, "there is no memory");
    cir_text_write(m->export->netlist, to);
    return fclose(to) ? fmu_fail(m, -ENOMEM, "there is no memory") : 0;
}

static int fmu_make(struct fmu_making *m, const char *path)
{
    const struct hil_fmu_export *e = m->export;
    char library[40];

    int rc = hil_fmu_variables_make(&m->variables, e->model, e->width, e->version == 3);
    if (rc)
        return fmu_fail(m, rc, "there is no memory");
    rc = check_names(m);
    if (!rc)
        rc = check_component(m);
    if (rc)
        return rc;
    snprintf(library, sizeof library, "libhiloco-fmi%d.so", e->version);
    rc = hil_installed_find(library, m->binary, sizeof m->binary);
    if (rc)
        return fmu_fail(m, rc, "%s is not installed", library);
    name_folder(m);
    rc = write_netlist(m);
    if (!rc)
        rc = make_token(m);
    return rc ? rc : write_archive(m, path);
}

int hil_fmu_export(const struct hil_fmu_export *export, const char *path, char *text, size_t size)
{
    struct fmu_making m = {.export = export, .text = text, .text_size = size};

    hil_fmu_identifier(export->model, m.identifier, sizeof m.identifier);
    m.label.width = export->width;
    m.label.period_ns = export->period_ns;
    const bool carried = export->library || export->netlist;
    snprintf(m.label.model, sizeof m.label.model, "%s%s",
             carried ? m.identifier : export->model->name,
             export->library   ? "-model.so"
             : export->netlist ? ".cir"
                               : "");
    int rc = fmu_make(&m, path);
    free(m.description);
    free(m.netlist);
    hil_fmu_variables_free(&m.variables);
    return rc;
}
