/*
 * Providers of models that are not built in: a shared library, an FMU, a netlist, a device, a
 * program. There is a provider for each kind. It turns a name in a scenario into a model with
 * tables; code that runs a model does not know where it came from.
 *
 * All models of a provider share its functions. create() recognizes the model by config->model; a
 * provider keeps its own structure around the descriptor.
 */
#ifndef HIL_PROVIDER_H
#define HIL_PROVIDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "../../../plants/model.h"

/* A setting of a component in a scenario: anything other than its numbers, under `settings:`. A
 * list or mapping inside another is flattened: "frames.0.id". */
struct hil_setting {
    const char *key, *text;
};

struct hil_settings {
    const struct hil_setting *at;
    unsigned count;
};

/* The key of an entry that a scenario adds for each signal of the component to which it refers,
 * with the signal's name as text. Only providers with `names_signals` get them. */
#define HIL_SETTING_SIGNAL ""

/* The character of a setting that is wrong. */
struct hil_setting_place {
    char key[128]; /* "": no setting */
    size_t at;     /* from 0 */
};

/* The destination of a message: one line that says what is wrong and what is allowed. */
struct hil_said {
    char *text;
    size_t size;
    struct hil_setting_place *place; /* NULL: nobody asks */
};

/* Writes the message. Returns `rc`. */
__attribute__((format(printf, 3, 4))) int hil_say(const struct hil_said *said, int rc,
                                                  const char *format, ...);

/* Adds a warning to the others in `text`, with "; " between them. */
__attribute__((format(printf, 3, 4))) void hil_warn(char *text, size_t size, const char *format,
                                                    ...);

/* Reports that memory ran out. Returns -ENOMEM. */
int hil_say_no_memory(const struct hil_said *said);

/* Reports what hil_model_check() found. Returns -EINVAL. */
int hil_say_wrong_model(const struct hil_said *said, const char *wrong);

/* The locate() of a provider whose names do not depend on the folder. */
int hil_whole_is(char **whole, const char *name, const struct hil_said *said);

struct hil_provider;

/* A loaded model. It stays until the program ends, so a scenario may point at its tables. */
struct hil_loaded {
    const struct hil_model *model;
    const struct hil_provider *provider;
    char *name;                   /* valid from any folder: an absolute path */
    struct hil_settings settings; /* a copy */
    uint64_t hash;                /* XXH3 of what was loaded; the same for all runs of one build */
    void *own;                    /* the provider's data */
    struct hil_quantities others; /* outputs that it has if a scenario refers to them */
    const char *warning;          /* what is wrong with it although it can be used; NULL: nothing */
    bool apart;                   /* the provider's value, unless load() changes it */
    /* Set by load() if a process may have only one component of this file: the name of a library
     * that they would share; "": the model says so. Else NULL. */
    const char *once;
    const struct hil_loaded *next;
};

struct hil_provider {
    /* For messages: "a shared library such as ./my.so". NULL: the model needs settings, which not
     * every place that names a model can have. */
    const char *example;

    /* Whether the provider accepts the name. */
    bool (*takes)(const char *name);

    /*
     * Finds the model called `name` by a scenario in `folder`. Returns its name for use from any
     * folder, which the caller frees, in *whole. Returns 0, or a negative errno after a message.
     */
    int (*locate)(char **whole, const char *name, const char *folder, const struct hil_said *said);

    /*
     * Sets made->model, made->hash and made->own for the model made->name with made->settings.
     * Refuses unknown settings. Loading may run the model's own code. Returns as locate(). unload()
     * undoes it if the model's tables turn out to be unusable.
     */
    int (*load)(struct hil_loaded *made, const struct hil_said *said);
    void (*unload)(struct hil_loaded *made);

    /* Prints what its models need beside their tables; NULL: nothing. */
    void (*tell)(const struct hil_loaded *loaded, FILE *to);

    /* Why its models cannot be stepped in hard real time ("it is a process of its own"); NULL: they
     * can. `check` and the summary report it. */
    const char *not_real_time;

    /* Why its models cannot run in virtual time ("it is a device"); NULL: they can. */
    const char *not_virtual;

    /* Its models have more signals than they offer, and offer those that a scenario refers to. */
    bool names_signals;

    /* Its models' code may hang or crash: in real time a node with such a model has its own
     * process. */
    bool apart;
};

#endif
