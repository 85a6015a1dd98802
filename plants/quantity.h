/*
 * How a model describes itself: the names, units, defaults and ranges of what it takes
 * and gives. A plant and a controller law each publish tables of these; the scenario
 * loader checks the user's values against them and `hiloco models` prints them.
 *
 * A name ends in its unit (inductance_h, load_ohm), as the keys of a scenario do, so a
 * quantity's name *is* its key.
 */
#ifndef HILOCO_QUANTITY_H
#define HILOCO_QUANTITY_H

struct hil_quantity {
    const char *name; /* "inductance_h" */
    const char *unit; /* "H"; "" for a pure number */
    double value;     /* the default; of an output, unused */
    double min, max;  /* the allowed range, both ends included */
    const char *doc;  /* one line, no full stop */
};

/* A table of quantities. */
struct hil_quantities {
    const struct hil_quantity *at;
    unsigned count;
};

/* The most quantities that one table may have. */
enum { HIL_QUANTITIES_MAX = 32 };

#define HIL_QUANTITIES(array)                                                                      \
    {                                                                                              \
        (array), sizeof(array) / sizeof((array)[0])                                                \
    }

/* The index of the quantity called `name`, or -1. */
int hil_quantity_find(const struct hil_quantities *table, const char *name);

#endif
