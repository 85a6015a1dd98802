/*
 * Where models come from that are not built in: a shared library, an FMU, a netlist, a device, a
 * program. Each kind has a provider, which turns a name in a scenario into a model with tables.
 * Nothing that runs a model knows where it came from.
 *
 * A provider's models share their functions. create() finds in config->model which of them it is
 * asked for: a provider keeps its own structure around the descriptor.
 */
#ifndef HIL_PROVIDER_H
#define HIL_PROVIDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../plants/model.h"

/* What a scenario gives a model beside numbers, under `settings:` of a component. A list or mapping
 * inside another is flat here: "frames.0.id". */
struct hil_setting {
    const char *key, *text;
};

struct hil_settings {
    const struct hil_setting *at;
    unsigned count;
};

/* Where a message goes: what is wrong and what is allowed, one line. */
struct hil_said {
    char *text;
    size_t size;
};

/* Writes the message. Returns `rc`. */
__attribute__((format(printf, 3, 4))) int hil_say(const struct hil_said *said, int rc,
                                                  const char *format, ...);

/* Says that there is no memory: -ENOMEM. */
int hil_say_no_memory(const struct hil_said *said);

/* For locate() of a provider whose names hold in any folder. */
int hil_whole_is(char **whole, const char *name, const struct hil_said *said);

struct hil_provider;

/* A model that was loaded. It stays until the program ends, so a scenario may point at its tables.
 */
struct hil_loaded {
    const struct hil_model *model;
    const struct hil_provider *provider;
    char *name;                   /* as it holds in any folder: an absolute path */
    struct hil_settings settings; /* a copy */
    uint64_t hash;                /* of what was loaded, XXH3: runs of the same build agree on it */
    void *own;                    /* the provider's */
    bool apart;                   /* as the provider says, unless load() says otherwise */
    bool once; /* of this file a process may have one component; load() says so */
    const struct hil_loaded *next;
};

struct hil_provider {
    /* For messages: "a shared library such as ./my.so". NULL: it is of use with settings only,
     * which not every place that names a model has. */
    const char *example;

    /* Whether a name is of one of its models. */
    bool (*takes)(const char *name);

    /*
     * Finds the model called `name` by a scenario in `folder`, and gives the name that holds in any
     * folder, to be freed. Returns 0, or a negative errno after it has said why not.
     */
    int (*locate)(char **whole, const char *name, const char *folder, const struct hil_said *said);

    /*
     * Sets made->model, made->hash and made->own of the model made->name with made->settings.
     * Settings that it does not know it refuses. To load may run the model's own code. Returns as
     * locate(). unload() undoes it, where the model's tables are refused after that.
     */
    int (*load)(struct hil_loaded *made, const struct hil_said *said);
    void (*unload)(struct hil_loaded *made);

    /* Why its models cannot be stepped in hard real time ("it is a process of its own"); NULL: they
     * can. `check` and the summary say so. */
    const char *not_real_time;

    /* Why its models have no virtual time ("it is a device"); NULL: they have. */
    const char *not_virtual;

    /* Their code may hang or crash: in real time a node with one has a process of its own. */
    bool apart;
};

#endif
