/* Prints the doctor's findings for people (100 columns wide) and for programs. */
#ifndef HIL_DOCTOR_REPORT_H
#define HIL_DOCTOR_REPORT_H

#include <jansson.h>

#include "doctor.h"
#include "measure.h"

/* Prints the machine and the loops first, then the findings, then the measurement and its finding,
 * and finally a count by severity. */
void hil_report_machine(const struct hil_machine *machine, FILE *to);
void hil_report_finding(const struct hil_finding *finding, FILE *to);
void hil_report_measured(const struct hil_machine *machine, const struct hil_measured *measured,
                         FILE *to);
void hil_report_counts(const struct hil_findings *findings, FILE *to);

/* An array with an object for each finding. */
json_t *hil_report_findings_json(const struct hil_findings *findings);

/* Everything as one JSON object; `measured` is NULL if nothing was measured. Returns 0 or a
 * negative errno. */
int hil_report_json(const struct hil_machine *machine, const struct hil_findings *findings,
                    const struct hil_measured *measured, FILE *to);

#endif
