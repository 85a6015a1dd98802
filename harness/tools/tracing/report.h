/*
 * The report of an analysis, for a person and as JSON.
 */
#ifndef HIL_REPORT_H
#define HIL_REPORT_H

#include "analysis.h"

void hil_report_print(const struct hil_analysis *analysis, const char *dir, FILE *to);

/* Returns 0 or a negative errno. */
int hil_report_write(const struct hil_analysis *analysis, const char *path);

#endif
