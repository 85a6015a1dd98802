/* What the doctor found, for people (100 columns wide) and for programs. */
#ifndef HIL_DOCTOR_REPORT_H
#define HIL_DOCTOR_REPORT_H

#include <jansson.h>

#include "doctor.h"
#include "measure.h"

/* Whom it is about; then the findings; the measurement, and the finding that it leads to; at the
 * end how many there were of which kind. */
void hil_report_patient(const struct hil_patient *patient, FILE *to);
void hil_report_finding(const struct hil_finding *finding, FILE *to);
void hil_report_measured(const struct hil_patient *patient, const struct hil_measured *measured,
                         FILE *to);
void hil_report_counts(const struct hil_findings *findings, FILE *to);

/* A list of them, each an object. */
json_t *hil_report_findings_json(const struct hil_findings *findings);

/* All of it as one JSON object; `measured` NULL: nothing was. Returns 0 or a negative errno. */
int hil_report_json(const struct hil_patient *patient, const struct hil_findings *findings,
                    const struct hil_measured *measured, FILE *to);

#endif
