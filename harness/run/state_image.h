/*
 * Stores the state of a part of a run as bytes for a file, and merges several such states into one.
 */
#ifndef HIL_STATE_IMAGE_H
#define HIL_STATE_IMAGE_H

#include "state.h"

/* Size of the image: the first so many bytes of the state. Data that is only useful while the run
 * goes on is behind them. */
size_t hil_state_image_size(const struct hil_state *state);

/* Restores the image, which others may have written, into a state that was just opened for the same
 * nodes. Returns 0, or -EPROTO if the image is from another build, of other nodes, or has a number
 * that no part of this system can have. */
int hil_state_restore(struct hil_state *state, const struct hil_system *system, const void *image,
                      size_t size);

/* Adds a part of the run to the state `all`; the part's first executor becomes number `first`
 * there. */
void hil_state_add_part(struct hil_state *all, const struct hil_state *part,
                        const struct hil_system *system, unsigned first);

#endif
