/*
 * Data that a run with nodes elsewhere keeps beside its record, so that its parts can be merged. It
 * is in the file part.state among the part's results.
 */
#ifndef HIL_PART_H
#define HIL_PART_H

#include <stdbool.h>
#include <stdio.h>

#include "../run/node.h"
#include "../run/state.h"

#define HIL_PART_FILE "part.state"

enum { HIL_PART_TEXT = 160 };

/* What a part reports at its end. */
struct hil_part_report {
    uint64_t start_ns;       /* on this machine's clock */
    uint64_t first_start_ns; /* on the first node's clock, which identifies the run; 0: not known */
    struct hil_machine_clock before, after; /* the first node's clock, compared before and after */
    uint64_t dropped;                       /* rows that the recorder dropped */
    bool failed;
    char cut_off[HIL_PART_TEXT]; /* why its record ends before the run; "": it does not */
};

/* Whether some of the scenario's nodes run elsewhere. */
bool hil_part_is(const struct hil_scenario *scenario);

/* The report of a run that has ended: clocks, and the start. */
struct hil_part_report hil_part_tell(const struct hil_run *run);

/* Writes DIR/part.state. Returns 0 or a negative errno. */
int hil_part_write(const char *dir, const struct hil_run *run,
                   const struct hil_part_report *report);

/* Prints a line to `messages` if DIR/part.state is from another version of hiloco, whose scenario
 * this version may not understand. */
void hil_part_tell_version(const char *dir, FILE *messages);

/* A part that was read. */
struct hil_part {
    struct hil_part_report report;
    struct hil_executor_config *executors; /* in the pool of the scenario's system */
    unsigned executor_count;
    struct hil_state *state;
};

/*
 * Reads DIR/part.state of a part of the scenario. Returns 0; -ENOENT when the file is missing, as
 * after a kill; or, after a line to `messages`, -EPROTO when it is from another version or
 * scenario, -EBADMSG when it is damaged, or another negative errno. Call hil_part_close after 0.
 */
int hil_part_read(struct hil_part *part, const char *dir, const struct hil_scenario *scenario,
                  FILE *messages);
void hil_part_close(struct hil_part *part);

#endif
