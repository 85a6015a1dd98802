/*
 * An instance of an FMU, which is a component. Its life cycle is the standard's: it is
 * instantiated, gets parameters and start values, is initialized with its first inputs, and does
 * steps.
 */
#ifndef HIL_FMU_INSTANCE_H
#define HIL_FMU_INSTANCE_H

#include "fmi2.h"
#include "fmi3.h"
#include "fmu_tables.h"

/* Shared by all components made from one file in this process. */
struct fmu_files {
    char *archive; /* its absolute path */
    uint64_t hash;
    char *folder, *library; /* where they are unpacked */
    char warning[400];      /* about the archive; "": none */
    unsigned users;         /* number of models made from it */
    unsigned instances;
    bool dead; /* an instance returned fatal: no function may be called any more */
    struct fmu_files *next;
};

enum { FMU_FUNCTIONS_MAX = 48 };

/* A model made from an FMU and its settings. */
struct fmu {
    struct hil_model model;
    struct fmu_files *files;
    struct fmu_description description;
    struct fmu_tables tables;
    const struct fmu_speech *speech;
    const struct hil_settings *settings; /* also the values of string variables */
    char *resources;                     /* FMI 2.0: a URI; FMI 3.0: a path; NULL: the FMU has no
                                          * resources */
    char warning[600];                   /* about the archive and the description; "": none */
    bool debug_log;
    double start_s; /* the FMU's time at the begin of the run */
    void *library;  /* kept open unless each instance needs a new one; else NULL */
};

/* Both FMI versions use these numbers for their status. */
enum fmu_status { FMU_OK, FMU_WARNING, FMU_DISCARD, FMU_ERROR, FMU_FATAL, FMU_PENDING };

struct fmu_instance {
    const struct fmu *fmu;
    void *library;
    void *functions[FMU_FUNCTIONS_MAX]; /* in the order of speech->symbols */
    void *handle;                       /* the FMU's instance; NULL: none */
    char name[160];
    fmi2CallbackFunctions callbacks; /* only for FMI 2.0, which keeps a pointer to it */
    struct fmu_instance *next;       /* of all that exist */
    hil_log_fn *log, *warn, *note;   /* warn, note: NULL if nobody listens */
    void *log_arg;
    unsigned logged;
    char said[256]; /* the FMU's last message */
    uint64_t period_ns, steps;
    bool initialized;
    bool lost;    /* it returned an error and may only be freed */
    void *values; /* buffer for one group, in the FMU's type */
};

/* How far an incomplete step came. */
struct fmu_progress {
    bool ends; /* the FMU asks to end the simulation */
    bool known;
    double until_s;
    bool wants_event; /* it asks for event mode */
};

/* The operations that differ between the FMI versions. Functions return an enum fmu_status. */
struct fmu_speech {
    const char *prefix;         /* prefix of the function names: "fmi2" */
    const char *const *symbols; /* names without the prefix; NULL at the end */
    unsigned needed;            /* the library must have the first `needed` symbols and may lack the
                                 * others */

    /* Returns NULL on refusal. */
    void *(*instantiate)(struct fmu_instance *instance);
    void (*free_instance)(struct fmu_instance *instance);
    int (*enter_configuration)(struct fmu_instance *instance); /* NULL: the version has no such
                                                                * mode */
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

/* These are the functions of a model: plants/model.h. */
int fmu_instance_create(void **self, const struct hil_config *config);
int fmu_instance_output(const void *self, const double *in, double *out);
int fmu_instance_step(void *self, uint64_t t_ns, const double *in, double *out);
int fmu_instance_tune(void *self, uint32_t place, double value);
void fmu_instance_destroy(void *self);

/* Converts a number to a whole number of the FMU, limited to `min` to `max`. */
int64_t fmu_whole(double value, double min, double max);

#endif
