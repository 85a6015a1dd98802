/*
 * Tables in CSV files as models: ./map.csv. docs/models.md says what such a file contains.
 */
#ifndef HIL_TABLE_H
#define HIL_TABLE_H

#include "provider/provider.h"

extern const struct hil_provider hil_table_provider;

#endif
