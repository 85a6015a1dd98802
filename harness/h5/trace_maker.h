/*
 * Makes a trace from its journal (journal.h). The trace is made beside its place as NAME.part, and
 * put there when it is complete; then the journal is removed. So whatever is killed meanwhile, the
 * trace can be made again.
 *
 *      hil_trace_maker_open
 *      hil_trace_maker_follow      any number of times, while rows are appended to the journal
 *      hil_trace_maker_finish      when it has all of them
 *
 * In a whole trace no row is ever left out, and chunks are written in the order of the times of
 * their last rows. The same rows therefore give the same file, bit for bit, in whatever pieces and
 * in whatever order of streams they came.
 */
#ifndef HIL_TRACE_MAKER_H
#define HIL_TRACE_MAKER_H

#include <stdbool.h>

struct hil_trace_maker;

/* How a maker is watched, in the thread that calls it. */
struct hil_trace_watch {
    bool (*goes_on)(void *arg, double share); /* called after each chunk with the share of the rows
                                               * that are made, 0..1; false ends the call with
                                               * -ECANCELED. NULL: none */
    void *arg;
    unsigned threads; /* that pack numbers; at least 1 */
};

/* For the trace at `path`. `watch` is copied. Returns 0 or a negative errno: -ENOENT when there is
 * no journal, -EBADMSG when it is not one. */
int hil_trace_maker_open(struct hil_trace_maker **maker, const char *path,
                         const struct hil_trace_watch *watch);

/* How many threads pack numbers from now on. */
void hil_trace_maker_use(struct hil_trace_maker *maker, unsigned threads);

/* Makes what can be made of the rows that the journal has by now. Returns 0 or a negative errno,
 * also in later calls. */
int hil_trace_maker_follow(struct hil_trace_maker *maker);

/* Makes the rest, and puts the trace in its place. Returns 0 or a negative errno; then the journal
 * stays, and what was at the trace's place, too. */
int hil_trace_maker_finish(struct hil_trace_maker *maker);

void hil_trace_maker_close(struct hil_trace_maker *maker); /* NULL is allowed */

/* All of it: makes the trace at `path`. *lacks, which may be NULL, is set if the journal
 * is damaged: then the trace has what is before that place. Returns 0 or a negative errno. */
int hil_trace_make(const char *path, const struct hil_trace_watch *watch, bool *lacks);

#endif
