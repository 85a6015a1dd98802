/*
 * The file of a table. Its first line has names, each perhaps with a unit: "speed_rad_s [rad/s]".
 * If the first name is one such as "current_a\temperature_c", the file is a grid: the first line
 * goes on with the places of its columns, and the other lines begin with that of a row.
 */
#ifndef HIL_TABLE_FILE_H
#define HIL_TABLE_FILE_H

#include <stdint.h>

#include "provider/provider.h"

enum { TABLE_NAME_BYTES = 64 };

struct table_name {
    char name[TABLE_NAME_BYTES], unit[TABLE_NAME_BYTES];
};

struct table_file {
    bool grid;
    uint32_t rows, columns;
    double *row_at;           /* increasing */
    double *column_at;        /* of a grid: likewise */
    double *values;           /* of all columns of the first row, then of the next */
    struct table_name *names; /* the input and the columns; of a grid: the row, the column, and the
                               * value */
};

/* Returns 0, or a negative errno after a message with the line and the column. */
int table_file_read(struct table_file *table, const char *path, const struct hil_said *said);
void table_file_free(struct table_file *table);

#endif
