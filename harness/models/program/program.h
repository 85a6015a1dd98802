/*
 * Programs: models in any language. A model is a process that receives each step as a line of text
 * and answers with another line. docs/writing-a-program.md defines the protocol.
 */
#ifndef HIL_PROGRAM_H
#define HIL_PROGRAM_H

#include "../provider/provider.h"

extern const struct hil_provider hil_program_provider;

/* These words, and then the arguments that the settings give. NULL: memory ran out. */
char **hil_program_arguments(const char *const *words, unsigned count,
                             const struct hil_settings *settings);

/*
 * Starts the program `argv`, which is freed with the model, and sets made->model, made->hash and
 * made->own from its declarations. made->name ends in the path of a file, which is hashed. These
 * are the load() and unload() of a provider.
 */
int hil_program_load(struct hil_loaded *made, char **argv, const char *file,
                     const struct hil_said *said);
void hil_program_unload(struct hil_loaded *made);

#endif
