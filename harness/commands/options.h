/*
 * The options of a command: a table, whose rows say how an option is read and where it goes.
 *
 *      struct plot_arguments {
 *          struct hil_arguments given;      (the first member)
 *          const char *to;
 *          double from_s;
 *      };
 *      static const struct hil_option options[] = {
 *          HIL_OPTION("to", hil_read_text, struct plot_arguments, to),
 *          HIL_OPTION("from", hil_read_time, struct plot_arguments, from_s),
 *          {0}};
 *
 * Members keep the values that they have before, unless an option is given.
 */
#ifndef HIL_OPTIONS_H
#define HIL_OPTIONS_H

#include <getopt.h>
#include <stddef.h>
#include <stdint.h>

/* Reads the argument of option --NAME into a member. Returns 0, or -EINVAL after a message. */
typedef int hil_read_fn(const char *name, const char *text, void *to);

struct hil_option {
    const char *name; /* NULL: ends the table */
    int has_argument; /* as in struct option of getopt.h */
    hil_read_fn *read;
    size_t at; /* offset of the member */
};

#define HIL_OPTION(name, read, of, member)                                                         \
    {                                                                                              \
        name, required_argument, read, offsetof(of, member)                                        \
    }
#define HIL_FLAG(name, of, member)                                                                 \
    {                                                                                              \
        name, no_argument, hil_read_flag, offsetof(of, member)                                     \
    }

/* The types of their members are in brackets. */
hil_read_fn hil_read_flag;   /* (bool) */
hil_read_fn hil_read_text;   /* (const char *) the argument itself */
hil_read_fn hil_read_count;  /* (unsigned) 1 to 100000 */
hil_read_fn hil_read_time;   /* (double) in s, 0 to 1e9 */
hil_read_fn hil_read_number; /* (double) 0 or more */
hil_read_fn hil_read_period; /* (double) in us, of whole ns */

/* For readers of whole numbers of other ranges. */
int hil_read_whole(const char *name, const char *text, uint64_t least, uint64_t most,
                   uint64_t *number);

#endif
