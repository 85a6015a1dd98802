/*
 * Reading what the kernel tells in files. `root` stands before every path, so that the tree may be
 * another machine's, copied, or a test's; "" is this machine's.
 */
#ifndef HIL_DOCTOR_FILES_H
#define HIL_DOCTOR_FILES_H

#include <stddef.h>

/* All of the file, cut at `size` and with no newline at its end. Returns 0 or a negative errno;
 * `text` is a string in any case. */
__attribute__((format(printf, 4, 5))) int hil_file_text(const char *root, char *text, size_t size,
                                                        const char *path, ...);

/* The number that the file begins with. Returns 0 or a negative errno. */
__attribute__((format(printf, 3, 4))) int hil_file_number(const char *root, long long *number,
                                                          const char *path, ...);

/* Whether a process of that name (15 letters, as the kernel has it) runs; negative errno when
 * unknown. */
int hil_process_runs(const char *root, const char *name);

/* Of a choice such as "always [madvise] never" the word that is chosen; of another text all. */
void hil_chosen_word(char *text);

/* The rest of the line that begins with `key`, blanks skipped; NULL when there is none. */
const char *hil_line_of(const char *text, const char *key);

/* What `key`, such as "isolcpus=", is given on the kernel's command line; "" without it. */
void hil_boot_parameter(const char *root, const char *key, char *value, size_t size);

#endif
