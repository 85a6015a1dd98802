/* Journals of records that were cut off. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "harness/h5/journal.h"

static int each(void *arg, unsigned stream, const struct hil_extent *extents)
{
    struct hil_journal *journal = *(struct hil_journal **)arg;
    const unsigned width = hil_stream_width(&hil_journal_config(journal)->streams[stream]);
    uint64_t sum = 0;

    for (unsigned i = 0; i < width; i++)
        sum += extents[i].at;
    return sum == 42;
}

static void read_rows(struct hil_journal *journal, unsigned stream)
{
    const size_t numbers = hil_journal_chunk_rows(journal, stream) *
                           hil_stream_width(&hil_journal_config(journal)->streams[stream]);
    double *rows = numbers < 1 << 24 ? malloc(numbers * sizeof *rows) : NULL;

    if (rows)
        hil_journal_read_rows(journal, stream, rows);
    free(rows);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hil_journal *journal;

    fuzz_file("trace.h5.journal", data, size);
    if (hil_journal_open(&journal, fuzz_file("trace.h5", NULL, 0)))
        return 0;
    hil_journal_each_chunk(journal, each, &journal);
    for (unsigned i = 0; i < hil_journal_config(journal)->stream_count; i++)
        read_rows(journal, i);
    hil_journal_close(journal);
    return 0;
}
