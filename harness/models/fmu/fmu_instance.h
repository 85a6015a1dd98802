/*
 * An instance of an FMU: a component. Its life is the standard's: it is instantiated, is given
 * parameters and start values, is initialized with its first inputs, and does steps.
 */
#ifndef HIL_FMU_INSTANCE_H
#define HIL_FMU_INSTANCE_H

#include "fmi2.h"
#include "fmi3.h"
#include "fmu_tables.h"

/* What all components made from one file in this process have to do with each other. */
struct fmu_files {
    char *archive; /* its absolute path */
    uint64_t hash;
    char *folder, *library; /* unpacked */
    unsigned users;         /* models that are made of it */
    unsigned instances;
    bool dead; /* an instance returned fatal: no function may be called any more */
    struct fmu_files *next;
};

enum { FMU_FUNCTIONS_MAX = 48 };

/* A model that was made of an FMU, with its settings. */
struct fmu {
    struct hil_model model;
    struct fmu_files *files;
    struct fmu_description description;
    struct fmu_tables tables;
    const struct fmu_speech *speech;
    const struct hil_settings *settings; /* also the values of strings, by variable */
    char *resources;                     /* of 2.0 a URI, of 3.0 a path; NULL: it has none */
    bool debug_log;
    void *library; /* held open, unless each instance needs a new one; NULL: not */
};

/* The two versions count their status alike. */
enum fmu_status { FMU_OK, FMU_WARNING, FMU_DISCARD, FMU_ERROR, FMU_FATAL, FMU_PENDING };

struct fmu_instance {
    const struct fmu *fmu;
    void *library;
    void *functions[FMU_FUNCTIONS_MAX]; /* as speech->symbols */
    void *handle;                       /* the FMU's; NULL: none */
    char name[160];
    fmi2CallbackFunctions callbacks; /* of 2.0, which keeps a pointer to it */
    hil_log_fn *log;
    void *log_arg;
    unsigned logged;
    char said[256]; /* by the FMU, last */
    uint64_t period_ns, steps;
    bool initialized;
    bool lost;    /* it returned error: it may only be freed */
    void *values; /* of one group, in the FMU's type */
};

/* How far a step came that was not done whole. */
struct fmu_progress {
    bool ends; /* the FMU asks for the end of the simulation */
    bool known;
    double until_s;
};

/* What the versions say differently. Functions return an enum fmu_status. */
struct fmu_speech {
    const char *prefix;         /* of its functions: "fmi2" */
    const char *const *symbols; /* without it; NULL at the end */
    unsigned needed;            /* of the first symbols; a library may lack the others */

    /* NULL: it refused. */
    void *(*instantiate)(struct fmu_instance *instance);
    void (*free_instance)(struct fmu_instance *instance);
    int (*enter_configuration)(struct fmu_instance *instance); /* NULL: there is no such mode */
    int (*exit_configuration)(struct fmu_instance *instance);
    int (*set_up)(struct fmu_instance *instance);
    int (*enter_initialization)(struct fmu_instance *instance);
    int (*exit_initialization)(struct fmu_instance *instance);
    int (*terminate)(struct fmu_instance *instance);
    int (*set)(struct fmu_instance *instance, const struct fmu_group *group, const double *values);
    int (*get)(struct fmu_instance *instance, const struct fmu_group *group, double *values);
    int (*set_string)(struct fmu_instance *instance, uint32_t reference, const char *text);
    int (*do_step)(struct fmu_instance *instance, double t_s, double step_s,
                   struct fmu_progress *progress);
};

extern const struct fmu_speech fmu_fmi2, fmu_fmi3;

/* As of a model: plants/model.h. */
int fmu_instance_create(void **self, const struct hil_config *config);
int fmu_instance_output(const void *self, const double *in, double *out);
int fmu_instance_step(void *self, uint64_t t_ns, const double *in, double *out);
int fmu_instance_tune(void *self, uint32_t place, double value);
void fmu_instance_destroy(void *self);

/* Writes a message of the FMU's own into our log. */
void fmu_instance_log(struct fmu_instance *instance, int status, const char *text);

/* A number as the FMU's whole number from `min` to `max`. */
int64_t fmu_whole(double value, double min, double max);

#endif
