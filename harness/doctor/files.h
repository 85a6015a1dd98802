/*
 * Reads the files in which the kernel describes the machine. `root` is prefixed to every path, so
 * that the tree may be a copy from another machine or a test's tree; "" means this machine.
 */
#ifndef HIL_DOCTOR_FILES_H
#define HIL_DOCTOR_FILES_H

#include <stddef.h>

/* Reads the whole file, cut at `size`, without the newline at its end. Returns 0 or a negative
 * errno; `text` is a string in any case. */
__attribute__((format(printf, 4, 5))) int hil_file_text(const char *root, char *text, size_t size,
                                                        const char *path, ...);

/* Reads the number at the beginning of the file. Returns 0 or a negative errno. */
__attribute__((format(printf, 3, 4))) int hil_file_number(const char *root, long long *number,
                                                          const char *path, ...);

/* Whether a process of that name runs. The kernel keeps 15 letters of a name. Negative errno when
 * unknown. */
int hil_process_runs(const char *root, const char *name);

/* Reduces a choice such as "always [madvise] never" to the chosen word; leaves other text alone. */
void hil_chosen_word(char *text);

/* The rest of the line that begins with `key`, without leading blanks; NULL when there is none. */
const char *hil_line_of(const char *text, const char *key);

/* The value of `key`, such as "isolcpus=", on the kernel's command line; "" if it is not there. */
void hil_boot_parameter(const char *root, const char *key, char *value, size_t size);

#endif
