#include "fmu_log.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "../../base/foreign.h"

enum { LOG_LINES_MAX = 100, LOG_LINE_BYTES = 1024 };

static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static struct fmu_instance *log_instances;
static _Thread_local const struct fmu_instance *log_called;

const char *fmu_status_name(int status)
{
    static const char *const names[] = {"OK", "warning", "discard", "error", "fatal", "pending"};

    return status >= 0 && status <= FMU_PENDING ? names[status] : "an unknown status";
}

/* --- which instance ------------------------------------------------------------------------- */

void fmu_log_begin(struct fmu_instance *i)
{
    pthread_mutex_lock(&log_lock);
    i->next = log_instances;
    log_instances = i;
    pthread_mutex_unlock(&log_lock);
    fmu_log_called(i);
}

void fmu_log_end(struct fmu_instance *i)
{
    struct fmu_instance **at = &log_instances;

    pthread_mutex_lock(&log_lock);
    while (*at != i)
        at = &(*at)->next;
    *at = i->next;
    pthread_mutex_unlock(&log_lock);
}

void fmu_log_called(struct fmu_instance *i)
{
    log_called = i;
}

static struct fmu_instance *log_find(const void *wanted)
{
    struct fmu_instance *i = log_instances;

    while (i && i != wanted)
        i = i->next;
    return i;
}

struct fmu_instance *fmu_log_enter(const void *environment)
{
    pthread_mutex_lock(&log_lock);
    struct fmu_instance *i = log_find(environment);
    i = i ? i : log_find(log_called); /* it may have ended, too */
    if (i && i->logged <= LOG_LINES_MAX)
        return i;
    pthread_mutex_unlock(&log_lock);
    return NULL;
}

void fmu_log_leave(void)
{
    pthread_mutex_unlock(&log_lock);
}

/* --- a message ------------------------------------------------------------------------------ */

/* An FMU may log in every step, so the lines are limited. */
void fmu_log_write(struct fmu_instance *i, int status, const char *text)
{
    char line[LOG_LINE_BYTES], said[LOG_LINE_BYTES + 32];
    size_t length;

    hil_log_fn *const log = status == FMU_OK ? i->note : status == FMU_WARNING ? i->warn : i->log;

    snprintf(line, sizeof line, "%s", text ? text : "");
    for (length = strlen(line); length && (unsigned char)line[length - 1] <= ' '; length--)
        line[length - 1] = '\0';
    hil_foreign_tame(line, ' ', '\0');
    snprintf(i->said, sizeof i->said, "%.255s", line);
    if (!log)
        return;
    if (i->logged++ == LOG_LINES_MAX)
        snprintf(said, sizeof said, "it logs more than %d lines; the rest is left out",
                 LOG_LINES_MAX);
    else if (status == FMU_OK)
        snprintf(said, sizeof said, "it says: %.900s", line);
    else
        snprintf(said, sizeof said, "it says (%s): %.900s", fmu_status_name(status), line);
    log(i->log_arg, said);
}
