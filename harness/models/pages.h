/*
 * The pages of the built-in models: their equations and sources. They are made from the comments of
 * the models' files when the program is built (pages.awk).
 */
#ifndef HIL_MODEL_PAGES_H
#define HIL_MODEL_PAGES_H

#include <stdio.h>

/* Prints the page of a built-in model, with its file. Prints nothing for a name without a page, and
 * returns -ENOENT. */
int hil_model_page_print(const char *name, FILE *to);

#endif
