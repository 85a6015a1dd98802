/*
 * Writes the model of generated code: a C file with the code's inputs, outputs and parameters as it
 * was declared in its headers, and calls of its functions (plants/code.h).
 */
#ifndef HIL_WRAP_H
#define HIL_WRAP_H

#include <stdbool.h>
#include <stdio.h>

#include "tags.h"

enum { WRAP_RATES_MAX = 32, WRAP_OBJECTS_MAX = 64 };

enum wrap_generator { WRAP_ERT, WRAP_PLECS };

/* When each task runs: in step n of the first if (n + start) % every == 0. */
struct wrap_rates {
    unsigned count;
    struct wrap_rate {
        unsigned every, start;
    } at[WRAP_RATES_MAX];
    double period_s; /* of the first; 0: not said */
};

/* Reads the rates from the main program of the folder. */
void wrap_rates_read(struct wrap_rates *rates, const char *folder);

/* A part of the C file. */
struct wrap_text {
    FILE *to;
    char *at;
    size_t size;
    unsigned rows;
};

enum wrap_part {
    WRAP_PARAMETERS,
    WRAP_INPUTS,
    WRAP_OUTPUTS,
    WRAP_OBJECTS,    /* what the code needs for an instance */
    WRAP_INITIALIZE, /* the bodies of functions */
    WRAP_STEP,
    WRAP_TERMINATE,
    WRAP_PARTS
};

struct wrap {
    enum wrap_generator generator;
    const char *folder;
    struct wrap_tags tags;
    struct wrap_rates rates;
    char name[100]; /* of the code: its functions are NAME_step() and so on */
    char header[256];
    struct wrap_text parts[WRAP_PARTS];
    struct wrap_object {
        char type[200], name[200];
    } objects[WRAP_OBJECTS_MAX];
    unsigned object_count;
    unsigned integers; /* rows that may be fixed-point numbers */
    bool failed;       /* a message was printed */
    json_t *names;     /* of rows */
    char error[300];   /* the expression for what went wrong in the code; "": there is none */
};

/* Finds the code's name, its functions and variables, and fills the parts in. `name` is the code's
 * name, or NULL if there is only one. Returns false after a message on stderr. */
bool wrap_read(struct wrap *wrap, const char *name);
void wrap_free(struct wrap *wrap);

/* The calls of its functions, and what these need. */
void wrap_calls(struct wrap *wrap);

/* Adds the rows of a variable, which is `place` in C, and of all that it consists of. */
void wrap_rows(struct wrap *wrap, enum wrap_part part, const char *place, const char *name,
               const char *type, const char *doc);

/* The table of a variable, by its name and type as generators choose them. WRAP_OBJECTS: none. */
enum wrap_part wrap_part_of(const struct wrap *wrap, const char *name, const char *type);

/* A type without const, pointers and dimensions. Returns the number of pointers. */
unsigned wrap_plain_type(const char *type, char *plain, size_t size);

/* Writes the C file, for hil_file_save(); `arg` is the struct wrap. */
int wrap_write(const void *arg, FILE *to);

/* Prints a mistake in what the folder has. */
void wrap_say(struct wrap *wrap, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
