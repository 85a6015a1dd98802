#include "fmu_tool.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <glob.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zip.h>

#include "folder.h"
#include "harness/models/fmu/fmi2.h"
#include "harness/models/fmu/fmi3.h"

char tool_said[1024];

static void said2(fmi2ComponentEnvironment environment, fmi2String instance, fmi2Status status,
                  fmi2String category, fmi2String message, ...)
{
    va_list args;

    (void)environment, (void)instance, (void)status, (void)category;
    va_start(args, message);
    vsnprintf(tool_said, sizeof tool_said, message, args);
    va_end(args);
}

static void said3(fmi3InstanceEnvironment environment, fmi3Status status, fmi3String category,
                  fmi3String message)
{
    (void)environment, (void)status, (void)category;
    snprintf(tool_said, sizeof tool_said, "%s", message);
}

static const fmi2CallbackFunctions callbacks = {
    .logger = said2, .allocateMemory = calloc, .freeMemory = free};

/* Calls a function of the FMU: CALL(tool, 2, DoStep)(...). */
#define CALL(tool, version, name)                                                                  \
    ((fmi##version##name##TYPE *)tool_function(tool, "fmi" #version #name))

static void *tool_function(const struct fmu_tool *tool, const char *name)
{
    void *function = dlsym(tool->library, name);

    cr_assert_not_null(function, "the FMU has no %s", name);
    return function;
}

/* --- files ---------------------------------------------------------------------------------- */

static void unpack_entry(zip_t *archive, zip_uint64_t i, const char *to)
{
    zip_stat_t stat;
    char path[512];

    cr_assert_eq(zip_stat_index(archive, i, 0, &stat), 0);
    snprintf(path, sizeof path, "%s/%s", to, stat.name);
    for (char *slash = strchr(path + strlen(to) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    if (path[strlen(path) - 1] == '/')
        return;
    char *bytes = malloc(stat.size + 1);
    zip_file_t *from = zip_fopen_index(archive, i, 0);
    FILE *file = fopen(path, "wb");
    cr_assert(bytes && from && file, "%s", path);
    cr_assert_eq(zip_fread(from, bytes, stat.size), (zip_int64_t)stat.size);
    cr_assert_eq(fwrite(bytes, 1, stat.size, file), stat.size);
    fclose(file);
    zip_fclose(from);
    free(bytes);
}

static void unpack(const char *path, const char *to)
{
    zip_t *archive = zip_open(path, ZIP_RDONLY, NULL);

    cr_assert_not_null(archive, "%s is no archive", path);
    mkdir(to, 0700);
    for (zip_int64_t i = 0; i < zip_get_num_entries(archive, 0); i++)
        unpack_entry(archive, (zip_uint64_t)i, to);
    zip_discard(archive);
}

static char *read_all(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = calloc(1, 1 << 20);

    cr_assert(file && text, "%s", path);
    cr_assert_gt(fread(text, 1, (1 << 20) - 1, file), 0);
    fclose(file);
    return text;
}

/* The value of the first attribute of this name after that place. */
static void attribute(const char *from, const char *name, char *value, size_t size)
{
    char key[64];

    snprintf(key, sizeof key, " %s=\"", name);
    const char *at = strstr(from, key);
    cr_assert_not_null(at, "there is no %s", name);
    at += strlen(key);
    snprintf(value, size, "%.*s", (int)strcspn(at, "\""), at);
}

void tool_open(struct fmu_tool *tool, const char *path, const char *name)
{
    char pattern[512], version[8];
    glob_t found;

    *tool = (struct fmu_tool){0};
    snprintf(tool->folder, sizeof tool->folder, "%s", in_folder("%s", name));
    unpack(path, tool->folder);
    snprintf(pattern, sizeof pattern, "%s/modelDescription.xml", tool->folder);
    tool->xml = read_all(pattern);
    attribute(tool->xml, "fmiVersion", version, sizeof version);
    tool->version = version[0] - '0';
    attribute(tool->xml, "modelIdentifier", tool->identifier, sizeof tool->identifier);
    attribute(tool->xml, tool->version == 2 ? "guid" : "instantiationToken", tool->token,
              sizeof tool->token);
    snprintf(pattern, sizeof pattern, "%s/binaries/*/%s.so", tool->folder, tool->identifier);
    cr_assert_eq(glob(pattern, 0, NULL, &found), 0, "%s is not there", pattern);
    tool->library = dlopen(found.gl_pathv[0], RTLD_NOW | RTLD_LOCAL);
    cr_assert(tool->library, "%s", dlerror());
    globfree(&found);
    tool_said[0] = '\0';
}

void tool_close(struct fmu_tool *tool)
{
    dlclose(tool->library);
    free(tool->xml);
}

/* --- life ----------------------------------------------------------------------------------- */

void *tool_instantiate(const struct fmu_tool *tool, const char *token)
{
    char uri[128], path[128];

    token = token ? token : tool->token;
    snprintf(uri, sizeof uri, "file://%s/resources", tool->folder);
    snprintf(path, sizeof path, "%s/resources/", tool->folder);
    if (tool->version == 2)
        return CALL(tool, 2, Instantiate)("one", fmi2CoSimulation, token, uri, &callbacks,
                                          fmi2False, fmi2False);
    return CALL(tool, 3, InstantiateCoSimulation)("one", token, path, false, false, false, false,
                                                  NULL, 0, NULL, said3, NULL);
}

void *tool_instantiate_other(const struct fmu_tool *tool, unsigned kind)
{
    if (tool->version == 2)
        return CALL(tool, 2, Instantiate)("one", fmi2ModelExchange, tool->token, "", &callbacks,
                                          fmi2False, fmi2False);
    if (kind == 0)
        return CALL(tool, 3, InstantiateModelExchange)("one", tool->token, NULL, false, false, NULL,
                                                       said3);
    return CALL(tool, 3, InstantiateScheduledExecution)("one", tool->token, NULL, false, false,
                                                        NULL, said3, NULL, NULL, NULL);
}

void tool_free(const struct fmu_tool *tool, void *instance)
{
    if (tool->version == 2)
        CALL(tool, 2, FreeInstance)(instance);
    else
        CALL(tool, 3, FreeInstance)(instance);
}

int tool_enter(const struct fmu_tool *tool, void *instance, double start)
{
    const bool stops = tool->stop > 0;

    if (tool->version == 3)
        return (int)CALL(tool, 3, EnterInitializationMode)(instance, false, 0, start, stops,
                                                           tool->stop);
    int status = (int)CALL(tool, 2, SetupExperiment)(instance, 0, 0, start, stops, tool->stop);
    return status ? status : (int)CALL(tool, 2, EnterInitializationMode)(instance);
}

int tool_exit(const struct fmu_tool *tool, void *instance)
{
    return tool->version == 2 ? (int)CALL(tool, 2, ExitInitializationMode)(instance)
                              : (int)CALL(tool, 3, ExitInitializationMode)(instance);
}

int tool_initialize(const struct fmu_tool *tool, void *instance, double start)
{
    int status = tool_enter(tool, instance, start);

    return status ? status : tool_exit(tool, instance);
}

int tool_reset(const struct fmu_tool *tool, void *instance)
{
    return tool->version == 2 ? (int)CALL(tool, 2, Reset)(instance)
                              : (int)CALL(tool, 3, Reset)(instance);
}

int tool_step(const struct fmu_tool *tool, void *instance, double t, double h)
{
    bool event, end, early;
    double last;

    if (tool->version == 2)
        return (int)CALL(tool, 2, DoStep)(instance, t, h, fmi2True);
    int status = (int)CALL(tool, 3, DoStep)(instance, t, h, true, &event, &end, &early, &last);
    cr_expect_not(event || end || early);
    return status;
}

bool tool_step_is_the_last(const struct fmu_tool *tool, void *instance, double t, double h,
                           double *last)
{
    bool event, end, early;
    fmi2Boolean ended;

    if (tool->version == 3)
        return CALL(tool, 3, DoStep)(instance, t, h, true, &event, &end, &early, last) == fmi3OK &&
               end && !event && early;
    return CALL(tool, 2, DoStep)(instance, t, h, fmi2True) == fmi2Discard &&
           CALL(tool, 2, GetBooleanStatus)(instance, fmi2Terminated, &ended) == fmi2OK && ended &&
           CALL(tool, 2, GetRealStatus)(instance, fmi2LastSuccessfulTime, last) == fmi2OK;
}

/* --- variables ------------------------------------------------------------------------------ */

static unsigned reference_of(const struct fmu_tool *tool, const char *name, bool *whole)
{
    char key[128], number[16];

    snprintf(key, sizeof key, " name=\"%s\"", name);
    const char *at = strstr(tool->xml, key);
    cr_assert_not_null(at, "there is no variable %s", name);
    attribute(at, "valueReference", number, sizeof number);
    const char *element = at;
    while (*element != '<')
        element--;
    const char *type = tool->version == 2 ? strstr(strchr(at, '>'), "<") : element;
    *whole = strncmp(type, "<Int", 4) == 0;
    return (unsigned)atoi(number);
}

enum { TOOL_ELEMENTS = 64 };

int tool_set(const struct fmu_tool *tool, void *instance, const char *name, const double *values,
             size_t count)
{
    bool whole;
    const unsigned vr = reference_of(tool, name, &whole);
    int wholes[TOOL_ELEMENTS];

    for (size_t i = 0; whole && i < count; i++)
        wholes[i] = (int)values[i];
    if (tool->version == 2)
        return whole ? (int)CALL(tool, 2, SetInteger)(instance, &vr, 1, wholes)
                     : (int)CALL(tool, 2, SetReal)(instance, &vr, 1, values);
    return whole ? (int)CALL(tool, 3, SetInt32)(instance, &vr, 1, wholes, count)
                 : (int)CALL(tool, 3, SetFloat64)(instance, &vr, 1, values, count);
}

int tool_get(const struct fmu_tool *tool, void *instance, const char *name, double *values,
             size_t count)
{
    bool whole;
    const unsigned vr = reference_of(tool, name, &whole);
    int wholes[TOOL_ELEMENTS] = {0}, status;

    if (tool->version == 2)
        status = whole ? (int)CALL(tool, 2, GetInteger)(instance, &vr, 1, wholes)
                       : (int)CALL(tool, 2, GetReal)(instance, &vr, 1, values);
    else
        status = whole ? (int)CALL(tool, 3, GetInt32)(instance, &vr, 1, wholes, count)
                       : (int)CALL(tool, 3, GetFloat64)(instance, &vr, 1, values, count);
    for (size_t i = 0; whole && i < count; i++)
        values[i] = wholes[i];
    return status;
}

/* --- states --------------------------------------------------------------------------------- */

int tool_get_state(const struct fmu_tool *tool, void *instance, void **state)
{
    return tool->version == 2 ? (int)CALL(tool, 2, GetFMUstate)(instance, state)
                              : (int)CALL(tool, 3, GetFMUState)(instance, state);
}

int tool_set_state(const struct fmu_tool *tool, void *instance, void *state)
{
    return tool->version == 2 ? (int)CALL(tool, 2, SetFMUstate)(instance, state)
                              : (int)CALL(tool, 3, SetFMUState)(instance, state);
}

int tool_free_state(const struct fmu_tool *tool, void *instance, void **state)
{
    return tool->version == 2 ? (int)CALL(tool, 2, FreeFMUstate)(instance, state)
                              : (int)CALL(tool, 3, FreeFMUState)(instance, state);
}

int tool_carry_state(const struct fmu_tool *tool, void *from, void *state, void *to, void **made)
{
    size_t size = 0;
    int status;

    if (tool->version == 2)
        status = (int)CALL(tool, 2, SerializedFMUstateSize)(from, state, &size);
    else
        status = (int)CALL(tool, 3, SerializedFMUStateSize)(from, state, &size);
    char *bytes = malloc(size + 1);
    cr_assert(status == TOOL_OK && bytes);
    if (tool->version == 2)
        status = (int)CALL(tool, 2, SerializeFMUstate)(from, state, bytes, size) ||
                 (int)CALL(tool, 2, DeSerializeFMUstate)(to, bytes, size, made);
    else
        status = (int)CALL(tool, 3, SerializeFMUState)(from, state, (uint8_t *)bytes, size) ||
                 (int)CALL(tool, 3, DeserializeFMUState)(to, (uint8_t *)bytes, size, made);
    free(bytes);
    return status;
}
