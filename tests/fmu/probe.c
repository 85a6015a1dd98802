/*
 * What an importer should be tried with: variables of all types, arrays, a resource, the instances
 * that there are; and an FMU that misbehaves when it is told to.
 *
 * In the step `at` (the first is 0) it does what `behaviour` says, with `message` for the log.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fmu.h"

enum behaviour {
    GOOD,
    WARNS,
    DISCARDS,
    FAILS,
    DIES,
    HANGS,
    CRASHES,
    PRINTS,
    EXITS,
    REFUSES,
    ENDS,
    STOPS_SHORT,
    LIES,
    CHATS,
    ODD,
    ODD_LATER,
};

enum { ELEMENTS = 3 };

struct probe {
    double u[ELEMENTS], y[ELEMENTS], gain, offset, instances, until;
    int64_t behaviour;
    int32_t at, steps;
    bool enabled, even;
    char message[FMU_TEXT];
    uint64_t elements; /* of y: a structural parameter */

    /* What goes in comes out. */
    float float32_in, float32_out;
    int8_t int8_in, int8_out;
    uint8_t uint8_in, uint8_out;
    int16_t int16_in, int16_out;
    uint16_t uint16_in, uint16_out;
    uint32_t uint32_in, uint32_out;
    int64_t int64_in, int64_out;
    uint64_t uint64_in, uint64_out;
};

#define PROBE(vr, type, field) FMU_VARIABLE(vr, type, struct probe, field)
#define ELEMENT(vr, field, i)                                                                      \
    {                                                                                              \
        (vr), FMU_FLOAT64, offsetof(struct probe, field) + (i) * sizeof(double), 1, 0              \
    }

static const struct fmu_variable variables[] = {
    {10, FMU_FLOAT64, offsetof(struct probe, u), ELEMENTS, 0},
    {20, FMU_FLOAT64, offsetof(struct probe, y), ELEMENTS, offsetof(struct probe, elements)},
    ELEMENT(11, u, 0),
    ELEMENT(12, u, 1),
    ELEMENT(13, u, 2),
    ELEMENT(21, y, 0),
    ELEMENT(22, y, 1),
    ELEMENT(23, y, 2),
    PROBE(30, FMU_FLOAT64, gain),
    PROBE(31, FMU_FLOAT64, offset),
    PROBE(32, FMU_FLOAT64, instances),
    PROBE(33, FMU_FLOAT64, until),
    PROBE(40, FMU_ENUMERATION, behaviour),
    PROBE(41, FMU_INT32, at),
    PROBE(42, FMU_INT32, steps),
    PROBE(43, FMU_BOOLEAN, enabled),
    PROBE(44, FMU_BOOLEAN, even),
    PROBE(45, FMU_STRING, message),
    PROBE(46, FMU_UINT64, elements),
    PROBE(50, FMU_FLOAT32, float32_in),
    PROBE(51, FMU_INT8, int8_in),
    PROBE(52, FMU_UINT8, uint8_in),
    PROBE(53, FMU_INT16, int16_in),
    PROBE(54, FMU_UINT16, uint16_in),
    PROBE(55, FMU_UINT32, uint32_in),
    PROBE(56, FMU_INT64, int64_in),
    PROBE(57, FMU_UINT64, uint64_in),
    PROBE(60, FMU_FLOAT32, float32_out),
    PROBE(61, FMU_INT8, int8_out),
    PROBE(62, FMU_UINT8, uint8_out),
    PROBE(63, FMU_INT16, int16_out),
    PROBE(64, FMU_UINT16, uint16_out),
    PROBE(65, FMU_UINT32, uint32_out),
    PROBE(66, FMU_INT64, int64_out),
    PROBE(67, FMU_UINT64, uint64_out),
};

/* Of this process, in this copy of the library. */
static int instances;

static void probe_begin(void *self)
{
    instances++;
    *(struct probe *)self =
        (struct probe){.gain = 1, .enabled = true, .message = "as told", .elements = ELEMENTS};
}

static void probe_end(void *self)
{
    (void)self;
    instances--;
}

/* resources/offset.txt has one number. */
static enum fmu_status read_offset(struct fmu *fmu, double *offset)
{
    const char *folder = fmu_resources(fmu);
    char path[4096];

    snprintf(path, sizeof path, "%soffset.txt", folder ? folder : "");
    FILE *file = folder ? fopen(path, "r") : NULL;
    const bool read = file && fscanf(file, "%lf", offset) == 1;
    if (file)
        fclose(file);
    if (!read)
        fmu_log(fmu, FMU_ERROR, "resources/offset.txt cannot be read");
    return read ? FMU_OK : FMU_ERROR;
}

static enum fmu_status probe_initialize(struct fmu *fmu, void *self)
{
    struct probe *p = self;

    if (p->behaviour == REFUSES) {
        fmu_log(fmu, FMU_ERROR, p->message);
        return FMU_ERROR;
    }
    return read_offset(fmu, &p->offset);
}

static enum fmu_status misbehave(struct fmu *fmu, const struct probe *p)
{
    switch (p->behaviour) {
    case WARNS:
        fmu_log(fmu, FMU_WARNING, p->message);
        return FMU_WARNING;
    case DISCARDS:
        fmu_log(fmu, FMU_DISCARD, p->message);
        return FMU_DISCARD;
    case FAILS:
        fmu_log(fmu, FMU_ERROR, p->message);
        return FMU_ERROR;
    case DIES:
        fmu_log(fmu, FMU_FATAL, p->message);
        return FMU_FATAL;
    case HANGS:
        for (;;)
            pause();
    case CRASHES:
        abort();
    case PRINTS:
        puts(p->message);
        fprintf(stderr, "%s\n", p->message);
        return FMU_OK;
    case EXITS:
        exit(0);
    case ENDS:
        return FMU_ENDS;
    case LIES:
        fmu_log_of(fmu, (void *)2, FMU_WARNING, p->message);
        return FMU_WARNING;
    case CHATS:
        fmu_log(fmu, FMU_OK, p->message);
        return FMU_OK;
    case ODD:
        return FMU_ODD;
    case ODD_LATER:
        fmu_odd_later(fmu);
        return FMU_OK;
    case STOPS_SHORT:
        return FMU_STOPS_SHORT;
    default:
        return FMU_OK;
    }
}

static void feed_through(struct probe *p)
{
    for (unsigned i = 0; i < ELEMENTS; i++)
        p->y[i] = p->enabled ? p->gain * p->u[i] + p->offset : 0;
    p->float32_out = p->float32_in;
    p->int8_out = p->int8_in;
    p->uint8_out = p->uint8_in;
    p->int16_out = p->int16_in;
    p->uint16_out = p->uint16_in;
    p->uint32_out = p->uint32_in;
    p->int64_out = p->int64_in;
    p->uint64_out = p->uint64_in;
}

static enum fmu_status probe_step(struct fmu *fmu, void *self, double t, double h)
{
    struct probe *p = self;

    enum fmu_status status = p->steps == p->at ? misbehave(fmu, p) : FMU_OK;
    if (status > FMU_WARNING || status == FMU_ODD)
        return status;
    p->steps++;
    p->even = p->steps % 2 == 0;
    p->until = t + h;
    p->instances = instances;
    feed_through(p);
    return status;
}

const struct fmu_model fmu_model = {
    .token = "{0c57ab13-9e43-4b6c-8a2b-5a21b0d4f9ee}",
    .size = sizeof(struct probe),
    .variables = variables,
    .count = sizeof variables / sizeof variables[0],
    .begin = probe_begin,
    .initialize = probe_initialize,
    .step = probe_step,
    .end = probe_end,
};
