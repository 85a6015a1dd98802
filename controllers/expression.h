/*
 * A formula of named values: "gain * (reference_v - voltage_v)". It is parsed once, into a short
 * program for a stack. Its value takes no allocation, and always about the same time, as both
 * branches of an if() are computed.
 */
#ifndef HILOCO_CONTROLLERS_EXPRESSION_H
#define HILOCO_CONTROLLERS_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>

struct expression;

/* Where a formula is wrong, and how. */
struct expression_mistake {
    size_t at; /* the place of the character in the text, from 0 */
    char text[320];
};

/*
 * Parses a formula. The value of names[i] will be values[i] of expression_value(). Returns 0,
 * -EINVAL after setting the mistake, or -ENOMEM. Sets *made on success only.
 */
int expression_parse(struct expression **made, const char *text, const char *const *names,
                     size_t count, struct expression_mistake *mistake);

double expression_value(const struct expression *expression, const double *values);

void expression_free(struct expression *expression);

/* Whether a formula already has a meaning for the name, so that no value can be called so. */
bool expression_is_reserved(const char *name);

#endif
