/*
 * The configuration of a trace as JSON, for its journal. What comes from a file is checked: sizes
 * that a trace cannot have are refused.
 */
#ifndef HIL_JOURNAL_CONFIG_H
#define HIL_JOURNAL_CONFIG_H

#include <stddef.h>
#include <stdint.h>

#include "trace.h"

/* The text, to be freed; NULL when there is no memory. */
char *journal_config_text(const struct hil_trace_config *config, const uint64_t *chunk_rows);

/* Makes what the text says; chunk_rows, to be freed, may be NULL. Returns 0, -ENOMEM, or -EBADMSG
 * when it says no such thing. */
int journal_config_parse(struct hil_trace_config **config, uint64_t **chunk_rows, const char *text,
                         size_t bytes);

void journal_config_free(struct hil_trace_config *config);

#endif
