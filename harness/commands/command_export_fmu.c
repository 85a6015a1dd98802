#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../models/circuit.h"
#include "../models/models.h"
#include "../models/provider/native.h"
#include "../tools/export_fmu/export.h"
#include "commands.h"

static const char help[] =
    "usage: hiloco export-fmu MODEL [--fmi 2|3] [--period-us P] [--width N] [--out FILE]\n"
    "\n"
    "Exports a model as an FMU for other tools: for co-simulation with FMI 2.0 or 3.0, on this "
    "kind\n"
    "of machine. MODEL is a built-in model (hiloco models lists them), a shared library, or a\n"
    "netlist, which the FMU then contains.\n"
    "\n"
    "  --fmi 2|3       the version of FMI (default 2)\n"
    "  --period-us P   the model's period in microseconds (default 10): the start value of the\n"
    "                  FMU's parameter step_size_s. A communication step is a whole multiple of "
    "it\n"
    "  --width N       number of places in wide inputs, such as those of sum (default 1)\n"
    "  --out FILE      the file, which is replaced if it exists (default: NAME.fmu in this "
    "folder)\n"
    "\n"
    "docs/fmi.md lists the variables of the FMU.\n"
    "\n"
    "Exit status: 0; 1 if the file cannot be written; 2 for a mistake.\n";

struct fmu_arguments {
    struct hil_arguments given;
    const char *out;
    int fmi;
    unsigned width;
    double period_us;
};

static int read_fmi(const char *name, const char *text, void *to)
{
    if (strcmp(text, "2") == 0 || strcmp(text, "3") == 0) {
        *(int *)to = *text - '0';
        return 0;
    }
    fprintf(stderr, "--%s %s: 2 or 3 is allowed\n", name, text);
    return -EINVAL;
}

static const struct hil_option options[] = {
    HIL_OPTION("out", hil_read_text, struct fmu_arguments, out),
    HIL_OPTION("fmi", read_fmi, struct fmu_arguments, fmi),
    HIL_OPTION("width", hil_read_count, struct fmu_arguments, width),
    HIL_OPTION("period-us", hil_read_period, struct fmu_arguments, period_us),
    {0},
};

/* Finds the model: built in, or from a shared library. Returns 0, or -1 after a message. */
static int find_model(struct hil_fmu_export *export, const char *name)
{
    const struct hil_loaded *loaded;
    char wrong[1024];
    const struct hil_said said = {wrong, sizeof wrong, NULL};

    if (!hil_model_is_provided(name)) {
        export->model = hil_model_find(name);
        if (!export->model)
            fprintf(stderr,
                    "hiloco export-fmu: there is no model %s; allowed: one that hiloco models "
                    "lists, a shared library, or a netlist (.cir)\n",
                    name);
        return export->model ? 0 : -1;
    }
    if (hil_model_load(&loaded, name, ".", NULL, &said)) {
        fprintf(stderr, "hiloco export-fmu: %s: %s\n", name, wrong);
        return -1;
    }
    if (loaded->provider == &hil_circuit_provider)
        export->netlist = hil_circuit_netlist(loaded);
    else if (loaded->provider == &hil_native_provider)
        export->library = loaded->name;
    else {
        fprintf(stderr,
                "hiloco export-fmu: %s: models of this kind cannot be exported; allowed: a "
                "built-in model, a shared library, or a netlist (.cir)\n",
                name);
        return -1;
    }
    export->model = loaded->model;
    export->hash = loaded->hash;
    return 0;
}

static int check_width(const struct hil_fmu_export *export)
{
    if (export->width <= export->model->width_max)
        return 0;
    fprintf(stderr, "hiloco export-fmu: --width %u: of %s, 1 to %u is allowed\n", export->width,
            export->model->name, export->model->width_max);
    return -1;
}

/* Returns an exit status. */
static int export_fmu(const struct fmu_arguments *a)
{
    struct hil_fmu_export export = {
        .version = a->fmi,
        .width = a->width,
        .period_ns = (uint64_t)llround(a->period_us * 1e3),
    };
    char identifier[64], path[80], wrong[1024];

    if (find_model(&export, a->given.scenario) || check_width(&export))
        return HIL_EXIT_USAGE;
    hil_fmu_identifier(export.model, identifier, sizeof identifier);
    snprintf(path, sizeof path, "%s.fmu", identifier);
    const char *out = a->out ? a->out : path;
    int rc = hil_fmu_export(&export, out, wrong, sizeof wrong);
    if (rc) {
        fprintf(stderr, "hiloco export-fmu: %s: %s\n", a->given.scenario, wrong);
        return rc == -EINVAL || rc == -EDOM ? HIL_EXIT_USAGE : HIL_EXIT_FAILED;
    }
    printf("%s: %s, FMI %d.0, a period of %g us\n", out, export.model->name, export.version,
           a->period_us);
    return HIL_EXIT_OK;
}

int hil_command_export_fmu(int argc, char **argv)
{
    struct fmu_arguments a = {.fmi = 2, .width = 1, .period_us = 10};
    int rc = hil_arguments_parse(&a.given, &(struct hil_command){help, options, 1, 1}, argc, argv);

    rc = rc ? hil_arguments_status(rc) : export_fmu(&a);
    hil_arguments_free(&a.given);
    return rc;
}
