#include "recover.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "../base/cpus.h"
#include "../h5/run_files.h"
#include "recover_summary.h"

static void recover_tell(const char *dir, const struct hil_trace_reader *trace, FILE *messages)
{
    unsigned count;
    const struct hil_stream_config *streams = hil_trace_streams(trace, &count);

    for (unsigned i = 0; i < count; i++) {
        const double end_s = hil_recover_end_s(trace, i);
        if (isfinite(end_s))
            fprintf(messages, "%s/trace.h5: %s has %llu rows, to %.6f s\n", dir, streams[i].name,
                    (unsigned long long)streams[i].rows, end_s);
    }
}

/* Shows the recovered record, or says that it cannot be read. */
static int recover_show(const char *dir, FILE *messages)
{
    struct hil_trace_reader *trace;
    int rc = hil_run_open_trace(&trace, dir, messages);

    if (rc)
        return rc;
    recover_tell(dir, trace, messages);
    rc = hil_recover_summary(dir, trace, messages);
    hil_trace_reader_close(trace);
    return rc;
}

static const char *recover_words(int rc)
{
    return rc == -EBADMSG ? "its journal is damaged"
           : rc == -EROFS || rc == -EACCES
               ? "its folder cannot be written into; copy it (cp -r) and recover the copy"
               : strerror(-rc);
}

static int recover_trace(const char *dir, const struct hil_trace_watch *watch, FILE *messages)
{
    const struct hil_trace_watch with = {watch->goes_on, watch->arg, hil_cpus_count()};
    char path[HIL_PATH_BYTES];
    bool lacks = false;
    int rc = hil_run_path(path, dir, "trace.h5");

    if (!rc)
        rc = hil_trace_make(path, &with, &lacks);
    if (rc == -ENOENT)
        return 0;
    if (rc)
        fprintf(messages, "%s cannot be made: %s\n", path, recover_words(rc));
    else if (lacks)
        fprintf(messages, "%s: its journal is damaged; what was recorded later is lost\n", path);
    return rc;
}

int hil_recover(const char *dir, const struct hil_trace_watch *watch, FILE *messages)
{
    const int folder = hil_run_take(dir);

    if (folder == -EBUSY) {
        fprintf(messages, "%s: a run is writing its record there now\n", dir);
        return folder;
    }
    int rc = folder < 0 ? 0 : recover_trace(dir, watch, messages);
    if (folder >= 0)
        close(folder);
    return rc ? rc : recover_show(dir, messages);
}
