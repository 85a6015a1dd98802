/* Journals of records that were cut off. */
#include <stdlib.h>

#include "fuzz.h"
#include "harness/h5/journal.h"

static void read_chunks(struct hil_journal *journal, unsigned stream)
{
    const struct hil_stream_config *s = &hil_journal_config(journal)->streams[stream];
    const size_t numbers = s->chunk_rows * hil_stream_width(s);
    double *values = numbers < 1 << 24 ? malloc(numbers * sizeof *values) : NULL;

    for (uint64_t n = 0; values && n * s->chunk_rows < hil_journal_rows(journal, stream); n++)
        hil_journal_read_chunk(journal, stream, n, values);
    free(values);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hil_journal *journal;

    fuzz_file("trace.h5.journal", data, size);
    if (hil_journal_open(&journal, fuzz_file("trace.h5", NULL, 0)))
        return 0;
    for (unsigned i = 0; i < hil_journal_config(journal)->stream_count; i++)
        read_chunks(journal, i);
    hil_journal_close(journal);
    return 0;
}
