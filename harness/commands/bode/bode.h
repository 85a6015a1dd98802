/*
 * The parts of hiloco bode: the scenario that measures, what it measured, and the verdict on it.
 */
#ifndef HIL_BODE_H
#define HIL_BODE_H

#include <jansson.h>

#include "../../figures/plot_bode.h"
#include "../../scenario/general/loop_place.h"
#include "../commands.h"

struct bode_arguments {
    struct hil_arguments given;
    struct hil_loop_response asked; /* points 0: not given */
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

/* A measurement. */
struct bode_plan {
    struct bode_place place;
    char analyser[32]; /* name of its component */
    double from_hz, to_hz, start_s;
    unsigned points;
    bool multisine;
};

/* Fills what the command line leaves open with what the scenario says, and then with the defaults.
 */
void bode_fill(struct hil_loop_response *asked, const struct hil_loop_response *keys);

/* Makes the plan. Margins that the scenario demands of a loop do not count if the response is
 * another one. Returns 0 or -EINVAL after a message. */
int bode_plan(struct bode_plan *plan, struct bode_arguments *a,
              const struct hil_scenario *scenario);

/* Loads the scenario again, with the analyser in it. Returns 0 or a negative errno after a
 * message. */
int bode_load(struct hil_scenario **measuring, const struct bode_arguments *a,
              const struct bode_plan *plan, const struct hil_scenario *scenario);

/* Reads the measurement from the record in the folder. Returns 0 or a negative errno after a
 * message. The caller frees bode->readings. */
int bode_read(struct hil_bode *bode, const struct bode_plan *plan, const char *folder);

/* --- the verdict ------------------------------------------------------------------------------ */

struct bode_limit {
    const char *key, *words, *unit; /* "phase_margin_deg", "phase margin", "deg" */
    double value, least;            /* value NAN: there is none */
    int status;                     /* an exit status */
};

struct bode_verdict {
    struct bode_limit limits[2];
    unsigned count;
    int status;    /* an exit status */
    bool believed; /* the run was valid */
};

void bode_judge(struct bode_verdict *verdict, const struct hil_loop_response *asked,
                const struct hil_bode *bode, bool believed);

/* As `verdict` and `limits` of a summary. */
void bode_verdict_add(const struct bode_verdict *verdict, json_t *root);

/* Ends the line of a margin: with the verdict, if it has a limit. */
void bode_verdict_print(const struct bode_verdict *verdict, const char *key);

/* A line for each margin that is below its limit, or not there. */
void bode_verdict_complain(const struct bode_verdict *verdict, FILE *to);

/* --- results ---------------------------------------------------------------------------------- */

/* Writes bode.csv and bode.json into the folder. Returns 0 or a negative errno after a message. */
int bode_save(const struct hil_bode *bode, const struct bode_verdict *verdict, const char *folder);
void bode_print_json(const struct hil_bode *bode, const struct bode_verdict *verdict, FILE *to);

#endif
