/*
 * Cards driven by Comedi: `model: comedi:/dev/comedi0`. The model's inputs are written to the card
 * at the end of a step; its outputs are read from the card at the beginning of a step. See
 * docs/devices.md.
 *
 * comedi.c makes the tables and the components from the settings; comedi_card.c opens a card.
 */
#ifndef HIL_COMEDI_H
#define HIL_COMEDI_H

#include "../provider/provider.h"

extern const struct hil_provider hil_comedi_provider;

#endif
