#include "models.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "circuit.h"
#include "component.h"
#include "device/can.h"
#include "device/comedi.h"
#include "expr.h"
#include "fmu/fmu.h"
#include "outside.h"
#include "program/netlist.h"
#include "program/program.h"
#include "program/python.h"
#include "provider/native.h"
#include "table.h"

/* The first provider that accepts a name gets it; native models accept any name with a '/'. */
static const struct hil_provider *const providers[] = {
    &hil_outside_provider, &hil_expr_provider,  &hil_fmu_provider,     &hil_netlist_provider,
    &hil_circuit_provider, &hil_table_provider, &hil_program_provider, &hil_python_provider,
    &hil_comedi_provider,  &hil_can_provider,   &hil_native_provider,
};
enum { PROVIDERS = sizeof providers / sizeof providers[0] };

static const struct hil_loaded *loaded_models;

static const struct hil_provider *provider_of(const char *name)
{
    for (unsigned i = 0; i < PROVIDERS; i++)
        if (providers[i]->takes(name))
            return providers[i];
    return NULL;
}

/* A Python file, where python:FILE:CLASS or program:FILE is needed. */
static bool is_python_file(const char *name)
{
    const size_t length = strlen(name);

    return length > 3 && strcmp(name + length - 3, ".py") == 0;
}

bool hil_model_is_provided(const char *name)
{
    return provider_of(name) != NULL || is_python_file(name);
}

bool hil_model_names_signals(const char *name)
{
    const struct hil_provider *provider = provider_of(name);

    return provider && provider->names_signals;
}

void hil_models_say_provided(char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (unsigned i = 0; i < PROVIDERS && used < size; i++)
        if (providers[i]->example)
            used += (size_t)snprintf(text + used, size - used, "%sor %s", used ? ", " : "",
                                     providers[i]->example);
}

/* --- loaded models ---------------------------------------------------------------------------- */

static bool settings_equal(const struct hil_settings *a, const struct hil_settings *b)
{
    if (a->count != b->count)
        return false;
    for (unsigned i = 0; i < a->count; i++)
        if (strcmp(a->at[i].key, b->at[i].key) != 0 || strcmp(a->at[i].text, b->at[i].text) != 0)
            return false;
    return true;
}

const struct hil_loaded *hil_loaded_find(const char *name, const struct hil_settings *settings)
{
    for (const struct hil_loaded *l = loaded_models; l; l = l->next)
        if (strcmp(l->name, name) == 0 && (!settings || settings_equal(&l->settings, settings)))
            return l;
    return NULL;
}

const struct hil_loaded *hil_loaded_of(const struct hil_model *model)
{
    const struct hil_loaded *l = loaded_models;

    while (l && l->model != model)
        l = l->next;
    return l;
}

bool hil_model_is_apart(const struct hil_model *model)
{
    for (const struct hil_loaded *l = loaded_models; l; l = l->next)
        if (l->model == model && l->apart)
            return true;
    return false;
}

const char *hil_model_not_real_time(const struct hil_model *model)
{
    const struct hil_loaded *l = hil_loaded_of(model);

    return l ? l->provider->not_real_time : NULL;
}

const struct hil_model *hil_model_find(const char *name)
{
    for (const struct hil_model *const *model = hil_models; *model; model++)
        if (strcmp((*model)->name, name) == 0)
            return *model;

    const struct hil_loaded *l = hil_loaded_find(name, NULL);
    return l ? l->model : NULL;
}

void hil_models_print_warnings(FILE *to)
{
    static const struct hil_loaded *printed; /* the newest model before this call */

    for (const struct hil_loaded *l = loaded_models; l && l != printed; l = l->next)
        if (l->warning)
            fprintf(to, "warning: %s: %s\n", l->name, l->warning);
    printed = loaded_models;
}

/* --- loading ---------------------------------------------------------------------------------- */

static void loaded_free(struct hil_loaded *l)
{
    for (unsigned i = 0; i < l->settings.count; i++) {
        free((char *)l->settings.at[i].key);
        free((char *)l->settings.at[i].text);
    }
    free((struct hil_setting *)l->settings.at);
    free(l->name);
    free(l);
}

static int settings_copy(struct hil_settings *to, const struct hil_settings *from)
{
    struct hil_setting *at = calloc(from->count + 1, sizeof *at);

    if (!at)
        return -ENOMEM;
    *to = (struct hil_settings){at, from->count};
    for (unsigned i = 0; i < from->count; i++) {
        at[i] = (struct hil_setting){strdup(from->at[i].key), strdup(from->at[i].text)};
        if (!at[i].key || !at[i].text)
            return -ENOMEM;
    }
    return 0;
}

static int check_loaded(const struct hil_model *model, const struct hil_said *said)
{
    char wrong[256];

    return hil_model_check(model, wrong, sizeof wrong) ? hil_say_wrong_model(said, wrong) : 0;
}

/* Loading may run the model's own code. */
static int load_by(const struct hil_provider *provider, struct hil_loaded *made,
                   const struct hil_said *said)
{
    struct hil_process_state before;

    hil_foreign_code_begin(&before);
    const int rc = provider->load(made, said);
    hil_foreign_code_end(&before);
    return rc;
}

/* Takes ownership of `name`. */
static int load_new(const struct hil_loaded **loaded, const struct hil_provider *provider,
                    char *name, const struct hil_settings *settings, const struct hil_said *said)
{
    struct hil_loaded *made = calloc(1, sizeof *made);

    if (!made) {
        free(name);
        return hil_say_no_memory(said);
    }
    made->name = name;
    made->provider = provider;
    made->apart = provider->apart;
    int rc = settings_copy(&made->settings, settings);
    if (rc)
        hil_say(said, rc, "there is no memory for it");
    else
        rc = load_by(provider, made, said);
    if (!rc) {
        rc = check_loaded(made->model, said);
        if (rc)
            provider->unload(made);
    }
    if (rc) {
        loaded_free(made);
        return rc;
    }
    made->next = loaded_models;
    *loaded = loaded_models = made;
    return 0;
}

int hil_model_load(const struct hil_loaded **loaded, const char *name, const char *folder,
                   const struct hil_settings *settings, const struct hil_said *said)
{
    static const struct hil_settings none = {NULL, 0};
    const struct hil_provider *provider = provider_of(name);
    char *whole;

    if (!provider && is_python_file(name))
        return hil_say(said, -EINVAL,
                       "it is a Python file; allowed: python:%s:CLASS, or program:%s%s", name,
                       strchr(name, '/') ? "" : "./", name);
    if (!provider)
        return hil_say(said, -ENOENT, "no provider takes such a name");
    if (!settings)
        settings = &none;
    int rc = provider->locate(&whole, name, folder, said);
    if (rc)
        return rc;
    *loaded = hil_loaded_find(whole, settings);
    if (!*loaded)
        return load_new(loaded, provider, whole, settings, said);
    free(whole);
    return 0;
}
