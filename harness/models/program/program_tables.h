/*
 * The tables of a program, which it declares in lines when it is started
 * (docs/writing-a-program.md).
 */
#ifndef HIL_PROGRAM_TABLES_H
#define HIL_PROGRAM_TABLES_H

#include <stdbool.h>

#include "../provider/provider.h"

/* The most rows of one kind. */
enum { HIL_PROGRAM_ROWS = HIL_QUANTITIES_MAX };

enum hil_program_table {
    HIL_PROGRAM_PARAMETERS,
    HIL_PROGRAM_INPUTS,
    HIL_PROGRAM_OUTPUTS,
    HIL_PROGRAM_STATES,
    HIL_PROGRAM_TABLES
};

struct hil_program_tables {
    char *name, *doc; /* NULL: not declared yet */
    uint32_t kind;    /* 0: not declared yet */
    bool begun, complete;
    struct hil_quantity rows[HIL_PROGRAM_TABLES][HIL_PROGRAM_ROWS];
    unsigned counts[HIL_PROGRAM_TABLES];
};

/* Parses one line, which it modifies. Texts are copied. Returns 0, or a negative errno after a
 * message. */
int hil_program_tables_take(struct hil_program_tables *tables, char *line,
                            const struct hil_said *said);

void hil_program_tables_free(struct hil_program_tables *tables);

#endif
