/*
 * The words of enums, and the blocks of the run, for the schema of a scenario.
 */
#ifndef SCENARIO_FIELDS_H
#define SCENARIO_FIELDS_H

#include "scenario_schema.h"

enum {
    MUST = CYAML_FLAG_DEFAULT,
    STRICT = CYAML_FLAG_STRICT, /* an enum accepts only its words, not their
                                 * numbers */
};

static const cyaml_strval_t modes[] = {{"realtime", HIL_REALTIME}, {"virtual", HIL_VIRTUAL}};
static const cyaml_strval_t losses[] = {{"end", HIL_END}, {"restart", HIL_RESTART}};
static const cyaml_strval_t record_errors[] = {{"go_on", HIL_RECORD_GO_ON},
                                               {"end", HIL_RECORD_END}};
static const cyaml_strval_t fabrics[] = {
    {"shm", HIL_FABRIC_SHM}, {"verbs", HIL_FABRIC_VERBS}, {"tcp", HIL_FABRIC_TCP}};
static const cyaml_strval_t service_waits[] = {{"sleep", HIL_SERVICE_SLEEPS},
                                               {"spin", HIL_SERVICE_SPINS}};
static const cyaml_strval_t completions[] = {{"inline", HIL_INLINE}, {"polled", HIL_POLLED}};
static const cyaml_strval_t overruns[] = {
    {"catch_up", HIL_CATCH_UP}, {"skip", HIL_SKIP}, {"halt", HIL_HALT}};

static const cyaml_strval_t stale_actions[] = {
    {"hold", HIL_STALE_HOLD}, {"safe", HIL_STALE_SAFE}, {"end", HIL_STALE_END}};

static const cyaml_strval_t old_actions[] = {
    {"hold", HIL_OLD_HOLD}, {"value", HIL_OLD_VALUE}, {"safe", HIL_OLD_SAFE}, {"end", HIL_OLD_END}};

static const cyaml_strval_t error_actions[] = {{"end", HIL_ERROR_END}, {"safe", HIL_ERROR_SAFE}};

static const cyaml_strval_t schedulers[] = {
    {"fifo", HIL_FIFO}, {"deadline", HIL_DEADLINE}, {"other", HIL_OTHER}};
static const cyaml_strval_t waits[] = {{"spin", HIL_SPIN}, {"hybrid", HIL_HYBRID}};

#define ENUM(key, structure, member, names)                                                        \
    CYAML_FIELD_ENUM(key, STRICT, structure, member, names, CYAML_ARRAY_LEN(names))

extern const cyaml_schema_field_t scenario_validity_fields[], scenario_trace_fields[];
extern const cyaml_schema_field_t scenario_limits_fields[], scenario_faults_fields[];

/* The fields that libcyaml loads into a struct scenario_file. */
#define RUN_FIELDS_BEGIN                                                                           \
    CYAML_FIELD_STRING_PTR("name", MUST, struct scenario_file, name, 1, 64),                       \
        CYAML_FIELD_FLOAT("duration_s", MUST, struct scenario_file, duration_s),                   \
        ENUM("mode", struct scenario_file, mode, modes),                                           \
        ENUM("fabric", struct scenario_file, fabric, fabrics),                                     \
        CYAML_FIELD_STRING_PTR("rendezvous", CYAML_FLAG_OPTIONAL, struct scenario_file,            \
                               rendezvous, 0, CYAML_UNLIMITED),                                    \
        ENUM("on_lost", struct scenario_file, on_lost, losses),                                    \
        CYAML_FIELD_FLOAT("hang_limit_s", MUST, struct scenario_file, hang_limit_s),               \
        CYAML_FIELD_FLOAT("stop_ramp_s", MUST, struct scenario_file, stop_ramp_s),                 \
        CYAML_FIELD_BOOL("tuning", MUST, struct scenario_file, tuning)
#define RUN_FIELDS_END                                                                             \
    CYAML_FIELD_MAPPING("validity", MUST, struct scenario_file, validity,                          \
                        scenario_validity_fields),                                                 \
        CYAML_FIELD_MAPPING("trace", MUST, struct scenario_file, trace, scenario_trace_fields)

#endif
