/*
 * Programs: a model in any language, as a process that is told of each step in a line of text and
 * answers in one. docs/writing-a-program.md is the protocol.
 */
#ifndef HIL_PROGRAM_H
#define HIL_PROGRAM_H

#include "../provider.h"

extern const struct hil_provider hil_program_provider;

/*
 * Sets made->model, made->hash and made->own of what the program `argv`, which is freed with the
 * model, says that it is. made->name ends in the path of a file, which is hashed. As load() of a
 * provider; and its unload().
 */
int hil_program_load(struct hil_loaded *made, char **argv, const char *file,
                     const struct hil_said *said);
void hil_program_unload(struct hil_loaded *made);

#endif
