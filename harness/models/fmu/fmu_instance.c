#include "fmu_instance.h"

#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../provider/prints.h"
#include "fmu_library.h"
#include "fmu_log.h"

enum { INSTANCE_LINE_BYTES = 1024, INSTANCE_VALUE_BYTES = 8 };

/* --- messages and statuses -------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void instance_say(const struct fmu_instance *i,
                                                               const char *format, ...)
{
    char line[INSTANCE_LINE_BYTES];
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    i->log(i->log_arg, line);
}

/* Converts a status to 0 or an errno. */
static int instance_rc(struct fmu_instance *i, int status)
{
    switch (status) {
    case FMU_OK:
    case FMU_WARNING:
        return 0;
    case FMU_DISCARD:
        return -ECANCELED;
    case FMU_FATAL:
        i->fmu->files->dead = true;
        i->lost = true;
        return -EIO;
    default:
        i->lost = true;
        return -EIO;
    }
}

/* Like instance_rc(), but also reports what failed. */
static int instance_did(struct fmu_instance *i, const char *what, int status)
{
    const int rc = instance_rc(i, status);

    if (rc)
        instance_say(i, "%s%s returned %s%s%s", i->fmu->speech->prefix, what,
                     fmu_status_name(status), *i->said ? ": " : "", i->said);
    return rc;
}

/* --- values ----------------------------------------------------------------------------------- */

int64_t fmu_whole(double value, double min, double max)
{
    if (!(value > min))
        return (int64_t)min;
    return (int64_t)rint(value < max ? value : max);
}

static int instance_set(struct fmu_instance *i, const struct fmu_table *t,
                        const struct fmu_group *g, const double *values)
{
    const int status = i->fmu->speech->set(i, g, values + g->row);

    const int rc = instance_rc(i, status);

    if (rc)
        instance_say(i, "setting %s of %u, returned %s: %s", t->rows[g->row].name,
                     g->reference_count, fmu_status_name(status),
                     status == FMU_DISCARD ? "it does not take the value" : "it failed");
    return rc;
}

static int instance_set_one(struct fmu_instance *i, const struct fmu_variable *v, double value)
{
    const struct fmu_group one = {
        .first = v, .references = &v->reference, .reference_count = 1, .value_count = 1};

    return instance_rc(i, i->fmu->speech->set(i, &one, &value));
}

/* Sets a variable if its values differ from the FMU's own start values. A value that is not given
 * is NaN if only the FMU knows it. */
static int instance_set_variable(struct fmu_instance *i, const struct fmu_table *t,
                                 const struct fmu_group *g, const double *values)
{
    unsigned unknown = 0, first = 0;
    bool changed = false;

    for (unsigned v = g->row; v < g->row + g->value_count; v++) {
        const bool missing = isnan(values[v]);
        first = unknown || !missing ? first : v;
        unknown += missing;
        changed |= (t->rows[v].flags & HIL_OWN) || values[v] != t->rows[v].value;
    }
    if (unknown == g->value_count || !changed)
        return 0;
    if (!unknown)
        return instance_set(i, t, g, values);
    instance_say(i, "%s has no value, and the FMU gives no start value; give all elements of %s",
                 t->rows[first].name, g->first->name);
    return -EDOM;
}

static int instance_set_changed(struct fmu_instance *i, const struct fmu_table *t,
                                const double *values)
{
    int rc = 0;

    for (unsigned k = 0; !rc && k < t->group_count; k++)
        rc = instance_set_variable(i, t, &t->groups[k], values);
    return rc;
}

static int instance_set_inputs(struct fmu_instance *i, const double *in)
{
    const struct fmu_table *t = &i->fmu->tables.inputs;
    int rc = 0;

    for (unsigned k = 0; !rc && k < t->group_count; k++)
        rc = instance_set(i, t, &t->groups[k], in);
    return rc;
}

static int instance_get_outputs(struct fmu_instance *i, double *out)
{
    const struct fmu_table *t = &i->fmu->tables.outputs;

    for (unsigned k = 0; k < t->group_count; k++) {
        const struct fmu_group *g = &t->groups[k];
        const int status = i->fmu->speech->get(i, g, out + g->row);
        const int rc = instance_rc(i, status);
        if (rc) {
            instance_say(i, "getting %s returned %s", t->rows[g->row].name,
                         fmu_status_name(status));
            return rc;
        }
    }
    return 0;
}

static int instance_set_strings(struct fmu_instance *i)
{
    const struct fmu *fmu = i->fmu;
    int rc = 0;

    for (unsigned k = 0; !rc && k < fmu->description.variable_count; k++) {
        const struct fmu_variable *v = &fmu->description.variables[k];
        const char *text = v->type == FMU_STRING ? v->setting : NULL;
        if (text)
            rc = instance_did(i, "SetString", fmu->speech->set_string(i, v->reference, text));
    }
    return rc;
}

/* Sets array sizes from the settings, each in a configuration mode of its own. */
static int instance_configure(struct fmu_instance *i)
{
    const struct fmu *fmu = i->fmu;
    int rc = 0;

    for (unsigned k = 0; !rc && k < fmu->description.variable_count; k++) {
        const struct fmu_variable *v = &fmu->description.variables[k];
        const char *text = fmu_is_structural(v) ? v->setting : NULL;
        if (!text)
            continue;
        rc = instance_did(i, "EnterConfigurationMode", fmu->speech->enter_configuration(i));
        if (!rc)
            rc = instance_set_one(i, v, (double)v->value);
        if (!rc)
            rc = instance_did(i, "ExitConfigurationMode", fmu->speech->exit_configuration(i));
    }
    return rc;
}

/* --- its life --------------------------------------------------------------------------------- */

static int instance_check(struct fmu_instance *i)
{
    const struct fmu *fmu = i->fmu;
    const double internal_s = fmu->description.internal_step_s;
    const double steps = internal_s > 0 ? (double)i->period_ns * 1e-9 / internal_s : 1;

    if (fmu->files->dead) {
        instance_say(i, "another instance of this FMU returned fatal, so none can be used");
        return -EIO;
    }
    if (fmu->description.only_once && fmu->files->instances) {
        instance_say(i, "this FMU can be instantiated only once in a process "
                        "(canBeInstantiatedOnlyOncePerProcess), and is there already");
        return -EBUSY;
    }
    if (fabs(steps - rint(steps)) > 1e-6 * steps)
        instance_say(i,
                     "the period of %g s is not a multiple of the FMU's own step of %g s "
                     "(fixedInternalStepSize): what it gives may lag behind",
                     (double)i->period_ns * 1e-9, internal_s);
    return 0;
}

static int instance_open_library(struct fmu_instance *i)
{
    char wrong[INSTANCE_LINE_BYTES];
    const struct hil_said said = {wrong, sizeof wrong, NULL};
    int rc = fmu_library_open(&i->library, i->fmu->files->library, i->fmu->speech->prefix,
                              i->fmu->speech->symbols, i->fmu->speech->needed, i->functions, &said);

    if (rc)
        instance_say(i, "%.1000s", wrong);
    return rc;
}

static int instance_instantiate(struct fmu_instance *i)
{
    static unsigned number;

    snprintf(i->name, sizeof i->name, "%.120s_%u", i->fmu->description.identifier, ++number);
    i->handle = i->fmu->speech->instantiate(i);
    if (i->handle)
        return 0;
    instance_say(i, "it refused to be instantiated%s%s%s",
                 i->fmu->description.event_mode
                     ? " without event mode (hasEventMode), which hiloco does not use"
                     : "",
                 *i->said ? ": " : "", i->said);
    return -ENOEXEC;
}

/* Sets start values before initialization mode. */
static int instance_prepare(struct fmu_instance *i, const struct hil_config *config)
{
    const struct fmu_speech *speech = i->fmu->speech;
    int rc = instance_configure(i);

    if (!rc)
        rc = instance_did(i, "SetupExperiment", speech->set_up(i));
    if (!rc)
        rc = instance_set_strings(i);
    if (!rc)
        rc = instance_set_changed(i, &i->fmu->tables.parameters, config->parameters);
    if (!rc && config->states) /* a trial may have none */
        rc = instance_set_changed(i, &i->fmu->tables.states, config->states);
    return rc ? rc : instance_did(i, "EnterInitializationMode", speech->enter_initialization(i));
}

/* Initializes the FMU with the first inputs. */
static int instance_initialize(struct fmu_instance *i, const double *in)
{
    if (i->initialized)
        return 0;
    int rc = instance_set_inputs(i, in);
    if (!rc)
        rc = instance_did(i, "ExitInitializationMode", i->fmu->speech->exit_initialization(i));
    i->initialized = !rc;
    return rc;
}

/* Initializes a trial instance to test whether the FMU accepts its parameters: some FMUs refuse
 * them only here. */
static int instance_initialize_alone(struct fmu_instance *i)
{
    const struct fmu_table *t = &i->fmu->tables.inputs;
    double *in = calloc(t->count + 1, sizeof *in);

    if (!in)
        return -ENOMEM;
    for (unsigned k = 0; k < t->count; k++)
        in[k] = t->rows[k].value;
    int rc = instance_initialize(i, in);
    free(in);
    return rc;
}

int fmu_instance_create(void **self, const struct hil_config *config)
{
    const struct fmu *fmu =
        (const struct fmu *)((const char *)config->model - offsetof(struct fmu, model));
    struct fmu_instance *i = calloc(1, sizeof *i);
    int rc = -ENOMEM;

    if (!i)
        return rc;
    *i = (struct fmu_instance){
        .fmu = fmu,
        .log = config->log,
        .warn = config->warn,
        .note = config->note,
        .log_arg = config->log_arg,
        .period_ns = (uint64_t)llround(config->period_s * 1e9),
        .values = calloc(fmu->tables.values_max, INSTANCE_VALUE_BYTES),
    };
    rc = i->values ? instance_check(i) : -ENOMEM;
    if (rc) {
        free(i->values);
        free(i);
        return rc;
    }
    hil_prints_away();
    fmu->files->instances++;
    fmu_log_begin(i);
    rc = instance_open_library(i);
    if (!rc)
        rc = instance_instantiate(i);
    if (!rc)
        rc = instance_prepare(i, config);
    if (!rc && config->trial)
        rc = instance_initialize_alone(i);
    if (rc)
        fmu_instance_destroy(i);
    else
        *self = i;
    return rc;
}

/* After an error the instance may only be freed, and after a fatal error not even that. */
void fmu_instance_destroy(void *self)
{
    struct fmu_instance *i = self;
    const bool dead = i->fmu->files->dead;

    fmu_log_called(i);
    if (i->handle && i->initialized && !i->lost && !dead)
        i->fmu->speech->terminate(i);
    if (i->handle && !dead)
        i->fmu->speech->free_instance(i);
    if (i->library && !dead)
        dlclose(i->library);
    i->fmu->files->instances--;
    fmu_log_end(i);
    hil_prints_back();
    free(i->values);
    free(i);
}

/* --- its steps -------------------------------------------------------------------------------- */

static int instance_alive(struct fmu_instance *i)
{
    fmu_log_called(i);
    if (!i->lost && !i->fmu->files->dead)
        return 0;
    if (!i->lost)
        instance_say(i, "another instance of this FMU returned fatal");
    i->lost = true;
    return -EIO;
}

static void instance_say_step(const struct fmu_instance *i, int status,
                              const struct fmu_progress *p, double from_s, double to_s)
{
    char until[64] = "";

    if (p->known && p->until_s >= from_s && p->until_s <= to_s)
        snprintf(until, sizeof until, ", which it did up to %.9g s", p->until_s);
    instance_say(i, "%sDoStep returned %s for the step from %.9g s to %.9g s%s%s",
                 i->fmu->speech->prefix, fmu_status_name(status), from_s, to_s, until,
                 p->wants_event ? ", and it asks for event mode, which hiloco does not use" : "");
}

/* Time is counted in whole nanoseconds. */
static int instance_advance(struct fmu_instance *i)
{
    const double start_s = i->fmu->start_s;
    const double from_s = start_s + (double)(i->steps * i->period_ns) / 1e9;
    const double to_s = start_s + (double)(++i->steps * i->period_ns) / 1e9;
    struct fmu_progress progress = {0};
    const int status = i->fmu->speech->do_step(i, from_s, (double)i->period_ns / 1e9, &progress);
    const int rc = progress.ends && status <= FMU_DISCARD && status >= FMU_OK
                       ? -ESHUTDOWN
                       : instance_rc(i, status);

    if (rc && rc != -ESHUTDOWN)
        instance_say_step(i, status, &progress, from_s, to_s);
    return rc;
}

int fmu_instance_output(const void *self, const double *in, double *out)
{
    struct fmu_instance *i = (struct fmu_instance *)self; /* the data that it points to may
                                                           * change */
    int rc = instance_alive(i);

    if (!rc)
        rc = instance_initialize(i, in);
    return rc ? rc : instance_get_outputs(i, out);
}

int fmu_instance_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    struct fmu_instance *i = self;
    int rc = instance_alive(i);

    (void)t_ns;
    if (!rc)
        rc = instance_initialize(i, in);
    if (!rc)
        rc = instance_set_inputs(i, in);
    if (!rc)
        rc = instance_advance(i);
    if (rc && rc != -ESHUTDOWN)
        return rc;
    const int got = instance_get_outputs(i, out);
    return got ? got : rc; /* an FMU that ends the simulation has outputs at its end */
}

int fmu_instance_tune(void *self, uint32_t place, double value)
{
    struct fmu_instance *i = self;
    const struct fmu_table *t = &i->fmu->tables.parameters;
    const struct fmu_variable *v = t->variables[place];
    int rc = instance_alive(i);

    if (rc || v->dimension_count)
        return rc ? rc : -EDOM;
    rc = instance_set_one(i, v, value);
    return rc == -ECANCELED ? -EDOM : rc;
}
