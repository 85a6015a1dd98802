/*
 * Texts in CSV files that we write. Names in a record may be anyone's, and spreadsheets compute
 * what begins with = + - or @.
 */
#ifndef HIL_CSV_H
#define HIL_CSV_H

#include <stdio.h>

/* Writes a text as one cell: in quotes where it needs them, and with an apostrophe in front if a
 * spreadsheet would compute it. A number stays one. Control characters become question marks. */
void hil_csv_text(FILE *to, const char *text);

#endif
