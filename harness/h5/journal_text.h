/*
 * What a journal has as JSON: the trace's configuration, and the histograms. Input from a file is
 * checked: sizes that a trace cannot have are refused.
 */
#ifndef HIL_JOURNAL_TEXT_H
#define HIL_JOURNAL_TEXT_H

#include <stddef.h>

#include "trace.h"

/* Returns the text, which the caller frees; NULL when memory runs out. Where the configuration
 * leaves the rows of a chunk open, the text has those that the trace chooses. */
char *journal_config_text(const struct hil_trace_config *config);

/* Makes the configuration that the text describes. Returns 0, -ENOMEM, or -EBADMSG when the text is
 * not a configuration. */
int journal_config_parse(struct hil_trace_config **config, const char *text, size_t bytes);

void journal_config_free(struct hil_trace_config *config); /* NULL is allowed */

/* The same for histograms. */
char *journal_histograms_text(const struct hil_named_histogram *histograms, unsigned count);

/* Adds the histograms that the text describes to a trace. Returns 0, -ENOMEM, -EBADMSG when the
 * text has no histograms, or an error of the trace. */
int journal_histograms_copy(const char *text, size_t bytes, struct hil_trace *trace);

#endif
