#include "model.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "../../../plants/circuit/circuit_model.h"
#include "../../models/builtin.h"
#include "../../models/provider/native_component.h"
#include "../../models/provider/tables.h"

/* The path of this library, or "" if unknown. */
static void fmu_library_path(char *path, size_t size)
{
    Dl_info info;

    path[0] = '\0';
    if (dladdr((void *)hil_fmu_model_find, &info) && info.dli_fname)
        snprintf(path, size, "%s", info.dli_fname);
}

static int read_label(struct hil_fmu_label *label, const char *library, char *text, size_t size)
{
    char path[PATH_MAX + 8];
    const size_t length = strlen(library);
    const size_t stem =
        length > 3 && strcmp(library + length - 3, ".so") == 0 ? length - 3 : length;

    snprintf(path, sizeof path, "%.*s.label", (int)stem, library);
    int rc = hil_fmu_label_read(label, path);
    if (rc)
        snprintf(text, size, "%s, which says what model this is, %s (%s)", path,
                 rc == -EINVAL ? "is none" : "cannot be read", strerror(-rc));
    return rc;
}

/* This FMU's model, if it is from a library or a netlist. It stays, because instances may exist. */
static struct hil_native native = {.image = -1};
static struct cir_model *circuit;

__attribute__((destructor)) static void close_carried(void)
{
    if (native.image >= 0)
        hil_native_close(&native);
    if (circuit)
        cir_model_unload(circuit);
}

static int open_native(const char *path, char *text, size_t size)
{
    char wrong[256] = "it exports no hiloco_model";
    void *opened = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    if (!opened) {
        snprintf(text, size, "its model cannot be loaded: %s", dlerror());
        return -ENOEXEC;
    }
    const struct hil_model *original = dlsym(opened, "hiloco_model");
    if (!original || hil_model_check(original, wrong, sizeof wrong)) {
        snprintf(text, size, "its model %s is wrong: %s", path, wrong);
        return -EINVAL;
    }
    const int rc = hil_native_open(&native, path, original);
    if (rc)
        snprintf(text, size, "its model %s cannot be copied: %s", path, strerror(-rc));
    return rc;
}

static int open_circuit(const char *path, char *text, size_t size)
{
    return cir_model_load(&circuit, path, false, &(struct cir_said){text, size});
}

/* The model in a file beside this library. */
static int find_carried(const struct hil_model **model, const char *library, const char *name,
                        char *text, size_t size)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static char path[PATH_MAX + HIL_FMU_NAME_BYTES];
    const bool is_circuit = strstr(name, ".cir");
    const char *slash = strrchr(library, '/');
    int rc = 0;

    pthread_mutex_lock(&lock);
    if (native.image < 0 && !circuit) {
        snprintf(path, sizeof path, "%.*s%s", slash ? (int)(slash - library + 1) : 0, library,
                 name);
        rc = is_circuit ? open_circuit(path, text, size) : open_native(path, text, size);
    }
    pthread_mutex_unlock(&lock);
    *model = is_circuit && circuit ? &circuit->model : &native.model;
    return rc;
}

static const struct hil_model *find_builtin(const char *name)
{
    for (const struct hil_model *const *m = hil_models; *m; m++)
        if (strcmp((*m)->name, name) == 0)
            return *m;
    return NULL;
}

int hil_fmu_model_find(const struct hil_model **model, struct hil_fmu_label *label, char *text,
                       size_t size)
{
    char library[PATH_MAX];

    fmu_library_path(library, sizeof library);
    int rc = read_label(label, library, text, size);
    if (rc)
        return rc;
    if (strchr(label->model, '.'))
        return find_carried(model, library, label->model, text, size);
    *model = find_builtin(label->model);
    if (*model)
        return 0;
    snprintf(text, size, "%s is no model of this library", label->model);
    return -ENOENT;
}
