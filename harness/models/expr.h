/*
 * The model `expr`: its components compute formulas. The scenario declares its inputs, parameters
 * and outputs with their units in the settings `takes`, `parameters` and `gives`, as for the model
 * `outside`, and gives a formula for each output in `formulas`.
 */
#ifndef HIL_EXPR_H
#define HIL_EXPR_H

#include "provider/provider.h"

extern const struct hil_provider hil_expr_provider;

#endif
