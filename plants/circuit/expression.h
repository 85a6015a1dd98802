/* Numbers with scale factors (4.7u, 1meg), and expressions over parameters: {2*l1 + sqrt(x)}. */
#ifndef HILOCO_CIRCUIT_EXPRESSION_H
#define HILOCO_CIRCUIT_EXPRESSION_H

#include "text.h"

/* The value of a parameter. Returns 0, -ENOENT if there is none, or another negative errno after a
 * message. */
typedef int cir_lookup(void *arg, const char *name, double *value);

/* Reads a token that is a number or {EXPRESSION}. Returns 0, or a negative errno after a message.
 */
int cir_number(double *value, const struct cir_token *token, cir_lookup *lookup, void *arg,
               const struct cir_said *said);

#endif
