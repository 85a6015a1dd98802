/*
 * The energies that elements take within a period: what their voltage and current make while they
 * conduct or not, and what a table says for each time that a switch turns.
 */
#ifndef HILOCO_CIRCUIT_ENERGIES_H
#define HILOCO_CIRCUIT_ENERGIES_H

#include "stage.h"

/* Adds those of the way from w to the trial. */
void cir_energies_add(struct cir_stage *s, double length_s);

/* Around an event: what was before it, and what the switches took that turned since. */
void cir_energies_before(struct cir_stage *s);
void cir_energies_after(struct cir_stage *s, uint64_t key_before);

#endif
