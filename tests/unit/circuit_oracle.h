/*
 * Solves circuits in another way than the plant does, to compare with: nodal analysis in extended
 * precision with an implicit method of fourth order, whose steps are as short as its estimate of
 * the error asks for. It knows no configurations and no events of diodes: which diodes conduct is
 * found anew in each stage of each step.
 */
#ifndef TEST_CIRCUIT_ORACLE_H
#define TEST_CIRCUIT_ORACLE_H

#include <stdbool.h>

enum { ORACLE_POINTS = 8, ORACLE_ELEMENTS = 64, ORACLE_UNKNOWNS = 64 };

/* Straight pieces between points, which repeat if there is a period; or a sine. */
struct oracle_wave {
    double offset, amplitude, hertz, delay_s, damping, phase;
    unsigned points;
    double at_s[ORACLE_POINTS], value[ORACLE_POINTS];
    double period_s;
};

struct oracle_element {
    char kind; /* R L C K V I E F G H S D */
    int node[4];
    int of[2]; /* the inductors that K couples, the source that controls F and H */
    double value, initial;
    struct oracle_wave wave; /* of V and I */
    double ron, roff, vf;
    double on_s, off_s, period_s; /* S conducts from on_s to off_s of each period, after delay_s */
    double delay_s;
    bool inverted; /* S conducts when it would not */
};

struct oracle {
    struct oracle_element at[ORACLE_ELEMENTS];
    unsigned count, nodes;
    double tolerance; /* the error of a step, as a share of the greatest value of each state */
    double t_s, step_s;
    long double state[ORACLE_ELEMENTS], peak[ORACLE_ELEMENTS];
    long double solution[ORACLE_UNKNOWNS];
    int branch[ORACLE_ELEMENTS];
    unsigned unknowns;
    bool on[ORACLE_ELEMENTS];
    double middle_s; /* of the time without an edge or a corner that is under way */
    long double matrix[ORACLE_UNKNOWNS * ORACLE_UNKNOWNS];
    unsigned row[ORACLE_UNKNOWNS];
    long double factored; /* the length for which the matrix is, or 0 */
    unsigned long steps;
};

/* Sets a circuit with its elements to t = 0. */
void oracle_begin(struct oracle *o);

/* Advances to an instant; edges there are still to come. False: it does not get there. */
bool oracle_advance(struct oracle *o, double t_s);

double oracle_voltage(const struct oracle *o, unsigned node);
double oracle_current(const struct oracle *o, unsigned element); /* of V or L */

#endif
