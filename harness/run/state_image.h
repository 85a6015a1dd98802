/*
 * The state of a part of a run as bytes, to be kept in a file, and several of these as one state.
 */
#ifndef HIL_STATE_IMAGE_H
#define HIL_STATE_IMAGE_H

#include "state.h"

/* So many bytes, from the beginning of the state on, are its image. What is only of use while the
 * run goes on is not among them. */
size_t hil_state_image_size(const struct hil_state *state);

/* Makes a state, just opened for the same nodes, what the image says. Returns 0, or -EPROTO: the
 * image is of another build, or of other nodes. */
int hil_state_restore(struct hil_state *state, const void *image, size_t size);

/* Adds what ran in a part of the run to the state of all; the part's first executor is number
 * `first` there. */
void hil_state_add_part(struct hil_state *all, const struct hil_state *part,
                        const struct hil_system *system, unsigned first);

#endif
