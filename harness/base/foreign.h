/*
 * Checks for data that others may have written: a trace, a summary, a run's memory file, or a name
 * in any of them. Any code that reads such data calls these before it uses a size, a number or a
 * text from it.
 */
#ifndef HIL_FOREIGN_H
#define HIL_FOREIGN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether `count` items of `each` bytes fit in `room`. The product may overflow. */
bool hil_foreign_fits(uint64_t count, uint64_t each, uint64_t room);

/* The number as an index from 0 to `most`; -1 if it is not one. */
int hil_foreign_index(double number, int most);

/* Whether a name is a valid entry of a folder: not the folder itself, not a way out of it, and
 * without control characters. */
bool hil_foreign_is_entry(const char *name);

/*
 * Copies text for a terminal or a message, cut at `size`. UTF-8 is kept; control characters and
 * bytes that are not UTF-8 become question marks. Reads at most `length` bytes. Returns `to`.
 */
const char *hil_foreign_text(char *to, size_t size, const char *text, size_t length);

/* The same in place: all bytes of such a character become `instead`, except the character `kept`.
 */
void hil_foreign_tame(char *text, char instead, char kept);

/* Parses a JSON file of at most 512 MiB, whose values take at most 1 GiB of memory. Returns NULL on
 * failure; *error then says why. */
json_t *hil_foreign_json(const char *path, json_error_t *error);

#endif
