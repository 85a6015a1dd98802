/*
 * The contents of an FMU's modelDescription.xml, version 2.0 or 3.0, as far as co-simulation needs
 * them.
 */
#ifndef HIL_FMU_DESCRIPTION_H
#define HIL_FMU_DESCRIPTION_H

#include "../../base/names.h"
#include "../provider/provider.h"

enum fmu_type { /* FMI 2.0 has FLOAT64, INT32, BOOLEAN, STRING and ENUMERATION */
                FMU_FLOAT64,
                FMU_FLOAT32,
                FMU_INT8,
                FMU_UINT8,
                FMU_INT16,
                FMU_UINT16,
                FMU_INT32,
                FMU_UINT32,
                FMU_INT64,
                FMU_UINT64,
                FMU_BOOLEAN,
                FMU_ENUMERATION,
                FMU_STRING,
                FMU_BINARY,
                FMU_CLOCK,
};

enum fmu_causality {
    FMU_LOCAL,
    FMU_PARAMETER,
    FMU_INPUT,
    FMU_OUTPUT,
    FMU_STRUCTURAL,
    FMU_ELSE, /* calculatedParameter, independent, dependent */
};

enum { FMU_DIMENSIONS_MAX = 8 };

/* One dimension of an array as in the file. */
struct fmu_dimension {
    bool by_reference; /* `size` is the value reference of a structural parameter */
    uint64_t size;
};

struct fmu_variable {
    const char *name, *description, *unit, *type_name, *start; /* NULL: not given */
    const char *items; /* of an enumeration: "1 open, 2 closed"; NULL: unknown */
    uint32_t reference;
    enum fmu_type type;
    enum fmu_causality causality;
    bool tunable;
    bool exact;   /* its start value may be set before initialization */
    bool clocked; /* it only exists at the ticks of a clock */
    bool resized; /* a setting changes its size, so its start values do not count */
    bool has_min, has_max;
    double min, max;
    struct fmu_dimension dimensions[FMU_DIMENSIONS_MAX];
    unsigned dimension_count;
    uint64_t extents[FMU_DIMENSIONS_MAX]; /* the resolved dimensions */
    uint64_t size;                        /* number of elements; 1 for a scalar */
    const char *setting;                  /* the text of a setting with its name; NULL: none */
    uint64_t value;                       /* of a structural parameter, if it has one */
    bool has_value;
    unsigned long line, column;
};

struct fmu_description {
    unsigned version; /* 2 or 3 */
    const char *model_name, *description, *token, *identifier, *tool;
    bool co_simulation, other_kind; /* it has co-simulation; it has another kind */
    bool needs_tool, only_once;
    double internal_step_s; /* if it is fixed; 0: it is not */
    double tolerance;       /* 0: the file has none */
    double start_s;         /* of DefaultExperiment; 0: it has none */
    bool event_mode;        /* it can be used with event mode, and may need it */
    char warning[160];      /* what is wrong with it although it can be used; "": nothing */
    struct fmu_variable *variables;
    unsigned variable_count;
    struct hil_names names; /* from names to the variables' indices */
    struct hil_pool *pool;  /* owns everything that these members point to */
};

/*
 * Reads the file; the settings may have values of structural parameters. Returns 0, or a negative
 * errno after a message with line and column. Call fmu_description_free() in any case.
 */
int fmu_description_read(struct fmu_description *description, const char *path,
                         const struct hil_settings *settings, const struct hil_said *said);

/* The first variable of this name, or NULL. */
struct fmu_variable *fmu_variable_named(const struct fmu_description *description,
                                        const char *name);

/* Whether a setting with the variable's name sets its value: true for structural parameters. */
bool fmu_is_structural(const struct fmu_variable *variable);
void fmu_description_free(struct fmu_description *description);

#endif
