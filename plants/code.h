/*
 * Code that was not written for hiloco, as a model (model.h): what Simulink's Embedded Coder or
 * PLECS Coder generated, or plain C. docs/generated-code.md shows it; firmware.h adds what the
 * interrupt routine of a microcontroller needs. For gcc and clang, in C11.
 *
 * A file that includes this header makes one model. It has three arrays of variables, a struct
 * hil_code, and ends with HIL_CODE_MODEL:
 *
 *      static struct hil_variable inputs[] = {
 *          {{"voltage_v", "V", 0, 0, 0, HIL_REQUIRED, "output"}, HIL_SCALED(buck_U.voltage, 0.01,
 * 0)},
 *      };
 *      static struct hil_variable outputs[] = {{{"duty", "", .doc = "duty"}, HIL_Q(buck_Y.duty,
 * 15)}}; static struct hil_variable parameters[] = {}; static struct hil_code code = {.initialize =
 * buck_initialize, .step = buck_step}; HIL_CODE_MODEL(code, HIL_SAMPLED, "buck", "what it does")
 *
 * A row is that of a model's table, and where the number is in the code. If its range is 0 to 0, it
 * is that of the variable. If the default of a parameter is 0, it is the value that the code has.
 *
 * All variables may be global: each component has a copy of the library.
 */
#ifndef HILOCO_CODE_H
#define HILOCO_CODE_H

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hiloco/model.h>

/* --- variables -------------------------------------------------------------------------------- */

enum { HIL_STORED_UNSIGNED, HIL_STORED_SIGNED, HIL_STORED_FLOAT, HIL_STORED_TRUTH };

struct hil_stored {
    void *at;
    uint8_t kind, bytes;
};

/* value = slope * stored / (over ? *over : 1) + bias */
struct hil_variable {
    struct hil_quantity row;
    struct hil_stored is;
    double slope, bias;
    uint8_t bits;           /* of the converter that writes it, which rounds down; 0: none does */
    struct hil_stored over; /* at NULL: none */
};

/* The kind of a variable, by what becomes of 2, 1/2 and -1 in it. */
#define HIL_STORED_KIND(x)                                                                         \
    ((__typeof__(x))2 == (__typeof__(x))1 ? HIL_STORED_TRUTH                                       \
     : (__typeof__(x))0.5 != 0            ? HIL_STORED_FLOAT                                       \
     : (__typeof__(x))-1 > 0              ? HIL_STORED_UNSIGNED                                    \
                                          : HIL_STORED_SIGNED)
#define HIL_STORED(x)                                                                              \
    {                                                                                              \
        (void *)&(x), HIL_STORED_KIND(x), sizeof(x)                                                \
    }

/* A number as it is; one with slope and bias; one with a binary point before its last `bits`. */
#define HIL_REAL(x) HIL_SCALED(x, 1, 0)
#define HIL_SCALED(x, slope, bias)                                                                 \
    HIL_STORED(x), (slope), (bias), 0,                                                             \
    {                                                                                              \
        0                                                                                          \
    }
#define HIL_Q(x, bits) HIL_SCALED(x, 1.0 / (double)(UINT64_C(1) << (bits)), 0)

static inline double hil_stored_read(const struct hil_stored *s)
{
    union {
        int8_t i8;
        int16_t i16;
        int32_t i32;
        int64_t i64;
        uint8_t u8;
        uint16_t u16;
        uint32_t u32;
        uint64_t u64;
        float f32;
        double f64;
    } v;

    memcpy(&v, s->at, s->bytes);
    if (s->kind == HIL_STORED_FLOAT)
        return s->bytes == 4 ? (double)v.f32 : v.f64;
    if (s->kind == HIL_STORED_SIGNED)
        return s->bytes == 1 ? v.i8 : s->bytes == 2 ? v.i16 : s->bytes == 4 ? v.i32 : (double)v.i64;
    return s->bytes == 1 ? v.u8 : s->bytes == 2 ? v.u16 : s->bytes == 4 ? v.u32 : (double)v.u64;
}

/* The least and the greatest number that fits; of 64 bits, that a double can be. */
static inline void hil_stored_range(const struct hil_variable *v, double *least, double *greatest)
{
    const unsigned bits = v->bits ? v->bits : 8u * v->is.bytes;

    *least = v->is.kind == HIL_STORED_SIGNED && !v->bits ? -ldexp(1, (int)bits - 1) : 0;
    *greatest = ldexp(1, v->is.kind == HIL_STORED_SIGNED && !v->bits ? (int)bits - 1 : (int)bits) -
                (bits > 53 ? 2048 : 1);
    if (v->is.kind == HIL_STORED_TRUTH)
        *greatest = 1;
    if (v->is.kind == HIL_STORED_FLOAT) {
        *greatest = HUGE_VAL;
        *least = -HUGE_VAL;
    }
}

static inline double hil_variable_read(const struct hil_variable *v)
{
    return v->slope * hil_stored_read(&v->is) / (v->over.at ? hil_stored_read(&v->over) : 1) +
           v->bias;
}

/* Rounds to the nearest number that there is, and stays within what fits. */
static inline void hil_variable_write(const struct hil_variable *v, double value)
{
    double least, greatest, n = (value - v->bias) / v->slope;

    if (v->is.kind == HIL_STORED_FLOAT) {
        const float f = (float)n;
        memcpy(v->is.at, v->is.bytes == 4 ? (const void *)&f : &n, v->is.bytes);
        return;
    }
    hil_stored_range(v, &least, &greatest);
    n = v->bits ? floor(n) : rint(n);
    n = !(n > least) ? least : n > greatest ? greatest : n;
    const uint64_t bytes = n < 0 ? (uint64_t)(int64_t)n : (uint64_t)n;
    const uint32_t b32 = (uint32_t)bytes;
    const uint16_t b16 = (uint16_t)bytes;
    const uint8_t b8 = (uint8_t)bytes;
    memcpy(v->is.at,
           v->is.bytes == 8   ? (const void *)&bytes
           : v->is.bytes == 4 ? (const void *)&b32
           : v->is.bytes == 2 ? (const void *)&b16
                              : &b8,
           v->is.bytes);
}

/* --- the code --------------------------------------------------------------------------------- */

struct hil_code {
    double period_s;          /* between two calls of step(), which may be set by initialize(); 0:
                               * in each step of the node */
    double delay_s;           /* from a call to the time at which its outputs are there */
    void (*initialize)(void); /* these may be NULL, but for step() */
    void (*step)(void);       /* once a period */
    void (*terminate)(void);
    const char *(*error)(void); /* what went wrong; NULL or "": nothing */

    /* HIL_CODE_MODEL sets the rest. */
    struct hil_variable *parameters, *inputs, *outputs;
    uint32_t parameter_count, input_count, output_count;
    uint64_t steps;
    uint32_t every, delay; /* in steps of the node */
    double *line;          /* the outputs of the last delay + 1 steps */
    hil_log_fn *log;
    void *log_arg;
};

/* Fills a table in when the library is loaded. */
static inline void hil_code_rows(struct hil_quantity *rows, struct hil_variable *v, uint32_t count,
                                 int defaults)
{
    for (uint32_t i = 0; i < count; i++) {
        struct hil_quantity *row = &v[i].row;
        if (row->min == 0 && row->max == 0) {
            double a, b;
            hil_stored_range(&v[i], &a, &b);
            a = v[i].slope * a + v[i].bias, b = v[i].slope * b + v[i].bias;
            row->min = a < b ? a : b, row->max = a < b ? b : a;
        }
        if (defaults && row->value == 0)
            row->value = hil_variable_read(&v[i]);
        row->unit = row->unit ? row->unit : "";
        row->doc = row->doc ? row->doc : "";
        rows[i] = *row;
    }
}

static inline void hil_code_put(const struct hil_variable *v, uint32_t count, const double *values)
{
    for (uint32_t i = 0; i < count; i++)
        hil_variable_write(&v[i], values[i]);
}

static inline void hil_code_get(const struct hil_code *code, double *out)
{
    for (uint32_t i = 0; i < code->output_count; i++)
        out[i] = hil_variable_read(&code->outputs[i]);
}

static inline int hil_code_failed(const struct hil_code *code)
{
    const char *why = code->error ? code->error() : NULL;

    if (!why || !*why)
        return 0;
    code->log(code->log_arg, why);
    return -EIO;
}

/* Steps of the node in a time; less than `least`: there is no such whole number. */
static inline int hil_code_steps(uint32_t *steps, double time_s, const char *what, uint32_t least,
                                 const struct hil_config *config)
{
    const double n = time_s / config->period_s, whole = rint(n);
    char line[160];

    if (whole >= least && whole <= 1e6 && fabs(n - whole) <= 1e-6 * (whole + 1)) {
        *steps = (uint32_t)whole;
        return 0;
    }
    snprintf(line, sizeof line,
             "its %s of %.9g us is no whole number of the node's periods, %.9g us", what,
             time_s * 1e6, config->period_s * 1e6);
    config->log(config->log_arg, line);
    return -EDOM;
}

static inline int hil_code_create(struct hil_code *code, void **self,
                                  const struct hil_config *config)
{
    code->log = config->log;
    code->log_arg = config->log_arg;
    hil_code_put(code->parameters, code->parameter_count, config->parameters);
    if (code->initialize)
        code->initialize();
    /* Again, as some code sets them itself. */
    hil_code_put(code->parameters, code->parameter_count, config->parameters);
    int rc = hil_code_failed(code);
    code->every = 1;
    if (!rc && code->period_s > 0)
        rc = hil_code_steps(&code->every, code->period_s, "period", 1, config);
    if (!rc)
        rc = hil_code_steps(&code->delay, code->delay_s, "delay", 0, config);
    if (rc)
        return rc;
    code->line = (double *)calloc((size_t)code->delay + 1, sizeof(double) * code->output_count + 1);
    if (!code->line)
        return -ENOMEM;
    for (uint32_t i = 0; i <= code->delay; i++)
        hil_code_get(code, &code->line[i * code->output_count]);
    *self = code;
    return 0;
}

static inline int hil_code_output(const void *self, const double *in, double *out)
{
    (void)in;
    hil_code_get((const struct hil_code *)self, out);
    return 0;
}

static inline int hil_code_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    struct hil_code *code = (struct hil_code *)self;
    const uint32_t places = code->delay + 1;

    (void)t_ns;
    if (code->steps % code->every == 0) {
        hil_code_put(code->inputs, code->input_count, in);
        code->step();
        if (hil_code_failed(code))
            return -EIO;
    }
    hil_code_get(code, &code->line[code->steps % places * code->output_count]);
    code->steps++;
    memcpy(out, &code->line[code->steps % places * code->output_count],
           sizeof(double) * code->output_count);
    return 0;
}

static inline void hil_code_destroy(void *self)
{
    struct hil_code *code = (struct hil_code *)self;

    if (code->terminate)
        code->terminate();
    free(code->line);
}

static inline int hil_code_tune(void *self, uint32_t place, double value)
{
    hil_variable_write(&((struct hil_code *)self)->parameters[place], value);
    return 0;
}

#define HIL_CODE_ROWS(array) (sizeof(array) / sizeof(struct hil_variable))

/* The model of the code, with the arrays parameters, inputs and outputs. */
#define HIL_CODE_MODEL(code, kind_, name_, doc_)                                                   \
    static struct hil_quantity hil_code_tables[3][HIL_CODE_ROWS(parameters) +                      \
                                                  HIL_CODE_ROWS(inputs) + HIL_CODE_ROWS(outputs)]; \
    __attribute__((constructor)) static void hil_code_load(void)                                   \
    {                                                                                              \
        (code).parameters = parameters, (code).parameter_count = HIL_CODE_ROWS(parameters);        \
        (code).inputs = inputs, (code).input_count = HIL_CODE_ROWS(inputs);                        \
        (code).outputs = outputs, (code).output_count = HIL_CODE_ROWS(outputs);                    \
        hil_code_rows(hil_code_tables[0], parameters, HIL_CODE_ROWS(parameters), 1);               \
        hil_code_rows(hil_code_tables[1], inputs, HIL_CODE_ROWS(inputs), 0);                       \
        hil_code_rows(hil_code_tables[2], outputs, HIL_CODE_ROWS(outputs), 0);                     \
    }                                                                                              \
    static int hil_code_make(void **self, const struct hil_config *config)                         \
    {                                                                                              \
        return hil_code_create(&(code), self, config);                                             \
    }                                                                                              \
    const struct hil_model hiloco_model = {                                                        \
        .abi = HIL_MODEL_ABI,                                                                      \
        .size = sizeof(struct hil_model),                                                          \
        .name = (name_),                                                                           \
        .doc = (doc_),                                                                             \
        .kind = (kind_),                                                                           \
        .width_max = 1,                                                                            \
        .parameters = HIL_FIRST_QUANTITIES(hil_code_tables[0], HIL_CODE_ROWS(parameters)),         \
        .inputs = HIL_FIRST_QUANTITIES(hil_code_tables[1], HIL_CODE_ROWS(inputs)),                 \
        .outputs = HIL_FIRST_QUANTITIES(hil_code_tables[2], HIL_CODE_ROWS(outputs)),               \
        .create = hil_code_make,                                                                   \
        .output = hil_code_output,                                                                 \
        .step = hil_code_step,                                                                     \
        .destroy = hil_code_destroy,                                                               \
        .tune = hil_code_tune,                                                                     \
    };

#endif
