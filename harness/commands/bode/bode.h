/*
 * The parts of hiloco bode: where the sine goes in, the scenario that measures, and what it
 * measured.
 */
#ifndef HIL_BODE_H
#define HIL_BODE_H

#include "../../figures/plot_bode.h"
#include "../commands.h"

/* Frequencies, amplitudes and times that are negative, and margins that are NAN, are not given. */
struct bode_arguments {
    struct hil_arguments given;
    const char *inject, *response; /* signals */
    double from_hz, to_hz, amplitude, start_s, phase_margin_deg, gain_margin_db;
    unsigned points;
    const char *out;
    bool quiet, json;
};

/* Where the sine goes in, and what comes back. */
struct bode_place {
    char input[HIL_SIGNAL_NAME_BYTES];    /* the analyser comes before this input */
    char response[HIL_SIGNAL_NAME_BYTES]; /* ""-terminated; what is read */
    bool of_loop;                         /* the response is what feeds the input */
    unsigned node;                        /* that of the input */
};

/* Finds the signals that the command line names. Returns 0, or -EINVAL or -ENOMEM after a message.
 */
int bode_find(struct bode_place *place, const struct bode_arguments *a, const struct hil_system *s);

/* A measurement. */
struct bode_plan {
    struct bode_place place;
    char analyser[32]; /* name of its component */
    double from_hz, to_hz, start_s;
    unsigned points;
};

/* Fills the rest of a plan whose place is set. Returns 0 or -EINVAL after a message. */
int bode_plan(struct bode_plan *plan, const struct bode_arguments *a,
              const struct hil_scenario *scenario);

/* Loads the scenario again, with the analyser in it. Returns 0 or a negative errno after a
 * message. */
int bode_load(struct hil_scenario **measuring, const struct bode_arguments *a,
              const struct bode_plan *plan, const struct hil_scenario *scenario);

/* Reads the measurement from the record in the folder. Returns 0 or a negative errno after a
 * message. The caller frees bode->readings. */
int bode_read(struct hil_bode *bode, const struct bode_plan *plan, const char *folder);

/* Writes bode.csv and bode.json into the folder. Returns 0 or a negative errno after a message. */
int bode_save(const struct hil_bode *bode, const char *folder);
void bode_print_json(const struct hil_bode *bode, FILE *to);

#endif
