/*
 * What the fuzzers share: a folder of their own, which goes when they end, and files in it.
 */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* libFuzzer's: how long a text is worth trying is up to -max_len. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The folder; made at the first call. No program is found from there on: figures are not drawn. */
const char *fuzz_folder(void);

/* The path of a file in it, valid until the next call; written, if `data` is not NULL. */
const char *fuzz_file(const char *name, const void *data, size_t size);

/* Where readers say what is wrong; nobody listens. */
FILE *fuzz_messages(void);

/* A number of so many bytes, which are taken from the data; 0 where there are no more. */
uint64_t fuzz_take(const uint8_t **data, size_t *size, size_t bytes);

#endif
