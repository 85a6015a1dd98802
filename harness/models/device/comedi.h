/*
 * Cards that Comedi drives: `model: comedi:/dev/comedi0`. What the model's inputs are given is
 * written to the card at the end of a step; its outputs are read from the card at the beginning of
 * one. docs/devices.md says how.
 *
 * comedi.c makes the tables from the settings, and the components; comedi_card.c opens a card.
 */
#ifndef HIL_COMEDI_H
#define HIL_COMEDI_H

#include "../provider.h"

extern const struct hil_provider hil_comedi_provider;

#endif
