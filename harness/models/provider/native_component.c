#include "native_component.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "private_copy.h"

struct native_component {
    const struct hil_model *model; /* of its copy of the library */
    void *self, *library;
};

/* --- its life --------------------------------------------------------------------------------- */

static int native_load_copy(struct native_component *c, const struct hil_config *config)
{
    const struct hil_native *n = (const struct hil_native *)(const void *)config->model;
    char line[512];

    c->library = hil_private_open(n->image, n->path);
    if (c->library)
        c->model = dlsym(c->library, "hiloco_model");
    if (c->model)
        return 0;
    const int rc = -errno;
    const char *why = dlerror();
    snprintf(line, sizeof line, "a copy of its library cannot be loaded (%s)",
             why ? why : strerror(-rc));
    config->log(config->log_arg, line);
    return why || !rc ? -ENOEXEC : rc;
}

static void native_end(struct native_component *c)
{
    if (c->library)
        dlclose(c->library);
    free(c);
}

static int native_create(void **self, const struct hil_config *config)
{
    struct native_component *c = calloc(1, sizeof *c);
    struct hil_config own = *config;

    if (!c)
        return -ENOMEM;
    int rc = native_load_copy(c, config);
    own.model = c->model;
    if (!rc)
        rc = c->model->create(&c->self, &own);
    if (rc)
        native_end(c);
    else
        *self = c;
    return rc;
}

static void native_destroy(void *self)
{
    struct native_component *c = self;

    c->model->destroy(c->self);
    native_end(c);
}

/* --- its functions ---------------------------------------------------------------------------- */

static int native_output(const void *self, const double *in, double *out)
{
    const struct native_component *c = self;

    return c->model->output(c->self, in, out);
}

static int native_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    const struct native_component *c = self;

    return c->model->step(c->self, t_ns, in, out);
}

static int native_apply(void *self, const double *in)
{
    const struct native_component *c = self;

    return c->model->apply(c->self, in);
}

static int native_tune(void *self, uint32_t place, double value)
{
    const struct native_component *c = self;

    return c->model->tune(c->self, place, value);
}

static int64_t native_save(const void *self, void *bytes, size_t size)
{
    const struct native_component *c = self;

    return c->model->save(c->self, bytes, size);
}

static int native_restore(void *self, const void *bytes, size_t size)
{
    const struct native_component *c = self;

    return c->model->restore(c->self, bytes, size);
}

static void native_numbers(void *self, hil_numbers_fn *each, void *arg)
{
    const struct native_component *c = self;

    c->model->numbers(c->self, each, arg);
}

/* --- the model -------------------------------------------------------------------------------- */

/* A function that the library's model lacks is missing here, too. */
int hil_native_open(struct hil_native *n, const char *path, const struct hil_model *original)
{
    *n = (struct hil_native){.path = path};
    memcpy(&n->model, original,
           original->size < sizeof n->model ? original->size : sizeof n->model);
    n->model.size = sizeof n->model;
    n->model.create = original->create ? native_create : NULL;
    n->model.output = original->output ? native_output : NULL;
    n->model.step = original->step ? native_step : NULL;
    n->model.destroy = original->destroy ? native_destroy : NULL;
    n->model.apply = original->apply ? native_apply : NULL;
    n->model.tune = original->tune ? native_tune : NULL;
    n->model.save = original->save ? native_save : NULL;
    n->model.restore = original->restore ? native_restore : NULL;
    n->model.numbers = n->model.numbers ? native_numbers : NULL;
    n->image = hil_private_image(path);
    return n->image < 0 ? n->image : 0;
}

void hil_native_close(struct hil_native *n)
{
    close(n->image);
}
