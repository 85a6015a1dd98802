/*
 * For channels that a loss ends. The participants need not lose the same ones: a path may break
 * between two that a third still reaches. So whoever notices a loss tells all the others, by a word
 * at each of them.
 */
#ifndef LOCO_ENDED_H
#define LOCO_ENDED_H

#include "loco/atomic_var.h"

/* Returns -ECONNRESET once a participant was lost here, or another one has told of a loss; else 0.
 * `index` is that of the word. Called while something is waited for. Any attached thread. */
int loco_ended(const struct loco_atomic_array *words, size_t index);

#endif
