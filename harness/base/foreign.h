/*
 * What others may have written: a trace, a summary, a run's memory file, a name in any of them. Who
 * reads such a thing asks here before it uses a size, a number or a text of it.
 */
#ifndef HIL_FOREIGN_H
#define HIL_FOREIGN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether `count` things of `each` are at most `room`. No product is too large for it. */
bool hil_foreign_fits(uint64_t count, uint64_t each, uint64_t room);

/* The number as an index from 0 to `most`; -1 when it is none. */
int hil_foreign_index(double number, int most);

/* Whether a name is that of an entry of a folder, and not of the folder itself, nor a way out of
 * it; and has no control characters. */
bool hil_foreign_is_entry(const char *name);

/*
 * A copy for a terminal or a message, cut at `size`: UTF-8 stays as it is. A control character, and
 * a byte that is not UTF-8, becomes a question mark. `length` bytes are read at most. Returns `to`.
 */
const char *hil_foreign_text(char *to, size_t size, const char *text, size_t length);

/* Parses a file of JSON, 512 MiB of it at most. NULL: *error says why. */
json_t *hil_foreign_json(const char *path, json_error_t *error);

#endif
