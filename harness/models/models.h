/*
 * The models that there are: those that are built in, and those that providers have loaded.
 */
#ifndef HIL_MODELS_H
#define HIL_MODELS_H

#include "builtin.h"
#include "provider.h"
#include "tables.h"

/* Whether a provider takes a name; the name of a model that is built in none does. */
bool hil_model_is_provided(const char *name);

/* Loads a model that a scenario in `folder` names, once. `settings` may be NULL. Returns 0, or a
 * negative errno after it has said, as of the model, what is wrong and what is allowed. */
int hil_model_load(const struct hil_loaded **loaded, const char *name, const char *folder,
                   const struct hil_settings *settings, const struct hil_said *said);

/* Those that are loaded, in a list; NULL: none. */
const struct hil_loaded *hil_models_loaded(void);

/* The first with this whole name and these settings (NULL: whichever), or NULL. */
const struct hil_loaded *hil_loaded_find(const char *name, const struct hil_settings *settings);

/* How this model was loaded; NULL: it is built in. */
const struct hil_loaded *hil_loaded_of(const struct hil_model *model);

/* What its provider says of a model: whether its code may hang or crash, so that it needs a process
 * of its own; and why it is not for hard real time (NULL: it is). */
bool hil_model_is_apart(const struct hil_model *model);
const char *hil_model_not_real_time(const struct hil_model *model);

/* The model called `name`, built in or loaded; NULL: there is none. */
const struct hil_model *hil_model_find(const char *name);

/* What providers take, for messages: "or a shared library such as ./my.so". */
void hil_models_say_provided(char *text, size_t size);

#endif
