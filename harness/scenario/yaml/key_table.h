/* The reference of keys, docs/keys.md: the schema and the table of keys as Markdown. */
#ifndef HIL_KEY_TABLE_H
#define HIL_KEY_TABLE_H

#include <stdio.h>

/* Prints all keys of a scenario except the models', in the order of a resolved file. */
void hil_key_table_print(FILE *to);

#endif
