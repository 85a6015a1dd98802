/*
 * Converts a trace's configuration to JSON for its journal, and back. Input from a file is checked:
 * sizes that a trace cannot have are refused.
 */
#ifndef HIL_JOURNAL_CONFIG_H
#define HIL_JOURNAL_CONFIG_H

#include <stddef.h>
#include <stdint.h>

#include "trace.h"

/* Returns the text, which the caller frees; NULL when memory runs out. */
char *journal_config_text(const struct hil_trace_config *config, const uint64_t *chunk_rows);

/* Makes the configuration that the text describes. chunk_rows may be NULL; otherwise the caller
 * frees it. Returns 0, -ENOMEM, or -EBADMSG when the text is not a configuration. */
int journal_config_parse(struct hil_trace_config **config, uint64_t **chunk_rows, const char *text,
                         size_t bytes);

void journal_config_free(struct hil_trace_config *config);

#endif
