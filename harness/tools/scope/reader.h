/*
 * A reader of a run in virtual time, which the run waits for (run/pace.h), so that no row is lost.
 */
#ifndef HIL_READER_H
#define HIL_READER_H

#include "../top/runs.h"

struct hil_reader {
    const struct hil_state *state;
    int file;      /* -1: the run does not wait: it is in real time */
    uint64_t turn; /* that it holds */
};

/* From now on the run waits. Returns once it does, so that what is read next has no gaps, or when
 * it has ended or is paused. */
void hil_reader_open(struct hil_reader *reader, const struct hil_run_entry *run);
void hil_reader_close(struct hil_reader *reader);

/* Whether the run waits. If so, the reader reads all that there is, and then lets it go on. */
bool hil_reader_is_waited_for(const struct hil_reader *reader);
void hil_reader_let_go(struct hil_reader *reader);

#endif
