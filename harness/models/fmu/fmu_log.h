/*
 * What FMUs log. An FMU hands back the pointer that it was given for its messages, or a wrong one.
 * So the pointer is looked up among the instances that exist.
 */
#ifndef HIL_FMU_LOG_H
#define HIL_FMU_LOG_H

#include "fmu_instance.h"

/* An instance begins to exist, before any of the FMU's functions is called with it, and ends. */
void fmu_log_begin(struct fmu_instance *instance);
void fmu_log_end(struct fmu_instance *instance);

/* This thread now calls the instance's functions. It gets messages with a wrong pointer. */
void fmu_log_called(struct fmu_instance *instance);

/*
 * Finds the instance of a message, and keeps it from ending until fmu_log_leave(). Returns NULL if
 * there is none, or if it has logged enough; then there is nothing to leave.
 */
struct fmu_instance *fmu_log_enter(const void *environment);
void fmu_log_leave(void);

/* Copies a message to our log, between these two calls. `text` may be NULL. */
void fmu_log_write(struct fmu_instance *instance, int status, const char *text);

/* The name of a status, or "an unknown status". */
const char *fmu_status_name(int status);

#endif
