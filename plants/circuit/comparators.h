/*
 * Comparators of a current with a level, which turn gates within a step. In the solver a comparator
 * is a diode that carries nothing: where the current crosses the level is found as exactly as where
 * a diode changes.
 */
#ifndef HILOCO_CIRCUIT_COMPARATORS_H
#define HILOCO_CIRCUIT_COMPARATORS_H

#include "stage.h"

/* Notes which bits are theirs. */
void cir_comparators_find(struct cir_stage *s);

/* Sets their levels, which the units' carriers move, to an instant. */
void cir_comparators_set(struct cir_stage *s, double t_s);

/* Does what they ask for. Returns whether a gate changed. */
bool cir_comparators_act(struct cir_stage *s, double t_s);

#endif
