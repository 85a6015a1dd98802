/*
 * How two endpoints whose texts differ find the first differing line. In turn, each sends the other
 * some of its lines, from the offset up to which both were alike so far. So texts of any length are
 * compared with one message at a time, and without storing the other's lines.
 */
#ifndef LOCO_AGREEMENT_H
#define LOCO_AGREEMENT_H

#include "channel.h"

LOCO_DECLARATIONS

/* Only the beginning of a longer line is compared and shown. */
enum { LOCO_LINE_MAX = 256 };

/* The first line that differs, here and at the peer; "" at an end of the text. */
struct loco_difference {
    char here[LOCO_LINE_MAX], there[LOCO_LINE_MAX];
};

/* Fills `text` with as many whole lines as it has room for, from `offset` on. */
void loco_agreement_take(const struct loco_agreement *agreement, uint64_t offset, char *text,
                         size_t size);

/* Compares a peer's lines with this endpoint's own from *offset on, and moves *offset past those
 * that are alike. Returns true when a line differs or both texts end here; *difference has those
 * lines. */
bool loco_agreement_differs(const struct loco_agreement *agreement, uint64_t *offset,
                            const char *text, struct loco_difference *difference);

LOCO_DECLARATIONS_END

#endif
