/*
 * How two endpoints that do not agree find the first line that differs: each sends the other some
 * of its lines, in turn, from where both were alike so far. So a text of any length takes one
 * message at a time, and nothing is kept.
 */
#ifndef LOCO_AGREEMENT_H
#define LOCO_AGREEMENT_H

#include "loco/channel.h"

/* Of a longer line only the beginning is compared, and told. */
enum { LOCO_LINE_MAX = 256 };

/* The first line that differs, here and at the peer; "" where a side has none left. */
struct loco_difference {
    char here[LOCO_LINE_MAX], there[LOCO_LINE_MAX];
};

/* Fills `text` with as many whole lines as it has room for, from `offset` on. */
void loco_agreement_take(const struct loco_agreement *agreement, uint64_t offset, char *text,
                         size_t size);

/* Compares a peer's lines, from *offset on, with the own ones, and moves *offset past those that
 * are alike. Returns whether a line differs, or both texts end here; then *difference says how. */
bool loco_agreement_differs(const struct loco_agreement *agreement, uint64_t *offset,
                            const char *text, struct loco_difference *difference);

#endif
