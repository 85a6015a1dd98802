/*
 * FMUs for the tests, as other tools make them. Each is one source file, which is compiled for FMI
 * 2.0 with fmi2.c and for 3.0 with fmi3.c; the folder of its name has modelDescription2.xml and
 * modelDescription3.xml, written by hand, and what else goes into the archive.
 *
 * They share nothing with hiloco's own reader and writer of FMUs but the interface's declarations.
 */
#ifndef TEST_FMU_H
#define TEST_FMU_H

#include <stddef.h>
#include <stdint.h>

/* As fmi2Status and fmi3Status: the numbers are the same. */
enum fmu_status {
    FMU_ODD = -1, /* no status of the standard */
    FMU_OK,
    FMU_WARNING,
    FMU_DISCARD,
    FMU_ERROR,
    FMU_FATAL,
    FMU_ENDS,        /* and these are said otherwise: the simulation is to end here */
    FMU_STOPS_SHORT, /* half of the step was done */
};

enum fmu_type {
    FMU_FLOAT64, /* 2.0: Real */
    FMU_FLOAT32,
    FMU_INT8,
    FMU_UINT8,
    FMU_INT16,
    FMU_UINT16,
    FMU_INT32, /* 2.0: Integer */
    FMU_UINT32,
    FMU_INT64,
    FMU_UINT64,
    FMU_ENUMERATION, /* an int64_t; 2.0 takes it through its Integer */
    FMU_BOOLEAN,
    FMU_STRING, /* char[FMU_TEXT] */
};

enum { FMU_TEXT = 128 };

struct fmu_variable {
    uint32_t vr;
    enum fmu_type type;
    size_t offset; /* in what the model keeps for an instance */
    size_t count;  /* elements of an array, the most where it has a size that is set */
    size_t sized;  /* where that size is, a uint64_t; 0: it has none */
};

#define FMU_VARIABLE(vr, type, where, field)                                                       \
    {                                                                                              \
        (vr), (type), offsetof(where, field), 1, 0                                                 \
    }

/* What the layers keep for an instance, besides what the model does. */
struct fmu;

void fmu_log(struct fmu *fmu, enum fmu_status status, const char *text);

/* With another pointer than the importer gave. */
void fmu_log_of(struct fmu *fmu, void *environment, enum fmu_status status, const char *text);

/* All getters return FMU_ODD from now on. */
void fmu_odd_later(struct fmu *fmu);

/* The unpacked folder `resources`, with a '/' at its end. */
const char *fmu_resources(const struct fmu *fmu);

struct fmu_model {
    const char *token; /* guid, instantiationToken */
    size_t size;       /* of what it keeps for an instance */
    const struct fmu_variable *variables;
    size_t count;

    void (*begin)(void *self);                                  /* sets start values */
    enum fmu_status (*initialize)(struct fmu *fmu, void *self); /* initialization mode ends */
    enum fmu_status (*step)(struct fmu *fmu, void *self, double t, double h);
    void (*end)(void *self);
};

extern const struct fmu_model fmu_model;

/* --- of both layers --------------------------------------------------------------------------- */

/* The variable's place in what the model keeps, or NULL: there is none of that type. */
void *fmu_place(void *self, uint32_t vr, enum fmu_type type, size_t *count);

#endif
