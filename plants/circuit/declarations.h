/*
 * What a netlist declares in comments, which ngspice does not read: the tables of the model.
 *
 *      *hiloco name: NAME
 *      *hiloco ELEMENT: input NAME UNIT DEFAULT MIN MAX TEXT      "-" as DEFAULT: required
 *      *hiloco v(NODE): output NAME UNIT TEXT                    also v(NODE,NODE), i(ELEMENT),
 * s(ELEMENT), p(ELEMENT) *hiloco PARAM: parameter NAME UNIT DEFAULT MIN MAX TEXT *hiloco pwm SOURCE
 * [COMPLEMENT]: frequency=HZ duty= phase= dead=S carrier= update= *hiloco gate SOURCE [QUANTITY]:
 * input ...                 "duty" without QUANTITY *hiloco diode MODEL: vf=V ron=OHM roff=OHM
 *      *hiloco switching SWITCH: volts=V on=A J A J ... off=A J A J ...
 *      *hiloco step: TIME                                        for ngspice only
 */
#ifndef HILOCO_CIRCUIT_DECLARATIONS_H
#define HILOCO_CIRCUIT_DECLARATIONS_H

#include <stdbool.h>

#include "../model.h"
#include "text.h"

/* The circuit's side of a row. */
struct cir_link {
    const struct cir_token *at;
    const char *name;  /* of an element, a node, or a parameter */
    const char *other; /* the second node of v(a,b), or NULL */
    bool is_current;   /* i(ELEMENT) */
    bool is_state;     /* s(ELEMENT) */
    bool is_power;     /* p(ELEMENT) */
    int quantity; /* of an input: an enum cir_pwm_quantity of the unit that drives `name`, or -1 */
};

/* What a PWM unit works with; each is a constant or an input. */
enum cir_pwm_quantity {
    CIR_DUTY,
    CIR_FREQUENCY,
    CIR_PHASE,
    CIR_DEAD_TIME,
    CIR_ENABLE,
    CIR_PEAK_LEVEL, /* of the sensed current, in A; NAN: it is not compared */
    CIR_SLOPE,      /* by which the level falls, in A/s */
    CIR_BLANKING,   /* from the beginning of the period on, in s */
    CIR_TRIP_LEVEL, /* in A; NAN: none */
    CIR_ON,         /* of stamps: when the gate turns on and off, after the loop's period begins */
    CIR_OFF,
    CIR_PWM_QUANTITIES
};

struct cir_pwm_line {
    const struct cir_token *at;
    const char *source[2];            /* the second one has the complement; NULL: there is none */
    const char *sense;                /* the element whose current is compared; may be NULL */
    bool centred, twice;              /* the carrier; whether each of its halves takes the duty */
    bool stamped;                     /* there is no carrier, only the times of the edges */
    double value[CIR_PWM_QUANTITIES]; /* NAN: not given */
    int input[CIR_PWM_QUANTITIES];    /* a row of the inputs; -1: the value holds */
};

struct cir_table {
    struct hil_quantity *rows;
    struct cir_link *links;
    unsigned count;
};

struct cir_diode_line {
    const struct cir_token *at;
    const char *model;
    double vf, ron, roff; /* NAN: not given */
};

/* What a switch takes to turn off and on, at some voltage: energies over the current. */
enum { CIR_LOSS_POINTS = 16 };

struct cir_loss_line {
    const struct cir_token *at;
    const char *element;
    double volts;
    unsigned count[2]; /* of points: of turning off, and on */
    double amperes[2][CIR_LOSS_POINTS], joules[2][CIR_LOSS_POINTS];
};

struct cir_declarations {
    const char *name; /* NULL: the file's */
    struct cir_table inputs, outputs, parameters;
    struct cir_diode_line *diodes;
    unsigned diode_count;
    struct cir_pwm_line *units;
    unsigned unit_count;
    struct cir_loss_line *losses;
    unsigned loss_count;
    struct cir_block *blocks;
};

/* Reads those of a text, which must outlive them. With `own_sources` a gate that the netlist itself
 * has a time function for follows that, and not its PWM unit. Returns 0, or a negative errno after
 * a message; then there is nothing to close. */
int cir_declarations_read(struct cir_declarations *d, const struct cir_text *text, bool own_sources,
                          const struct cir_said *said);
void cir_declarations_close(struct cir_declarations *d);

/* Fills in the default of each row, and returns the values. */
const double *cir_defaults(const struct cir_table *table, double *values);

/* Adds an output that the text does not declare. Returns 0 or -ENOMEM. */
int cir_declare_output(struct cir_declarations *d, const struct hil_quantity *row,
                       const struct cir_link *link);

#endif
