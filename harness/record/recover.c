#include "recover.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "run_files.h"

static void recover_tell(const char *dir, const struct hil_trace_reader *trace, FILE *messages)
{
    unsigned count;
    const struct hil_stream_config *streams = hil_trace_streams(trace, &count);

    for (unsigned i = 0; i < count; i++) {
        const int time = hil_trace_column_find(&streams[i], "time_s");
        double last_s = 0;
        if (time < 0 || streams[i].rows == 0 ||
            hil_trace_read(trace, i, (unsigned)time, streams[i].rows - 1, 1, &last_s, 1))
            continue;
        fprintf(messages, "%s/trace.h5: %s has %llu rows, to %.6f s\n", dir, streams[i].name,
                (unsigned long long)streams[i].rows, last_s);
    }
}

/* What is there in the end can be read, or is said not to be. */
static int recover_show(const char *dir, FILE *messages)
{
    struct hil_trace_reader *trace;
    const int rc = hil_run_open_trace(&trace, dir, messages);

    if (rc)
        return rc;
    recover_tell(dir, trace, messages);
    hil_trace_reader_close(trace);
    return 0;
}

static int recover_trace(const char *dir, FILE *messages)
{
    char path[HIL_PATH_BYTES];
    struct hil_trace *trace;
    int rc = hil_run_path(path, dir, "trace.h5");

    if (!rc)
        rc = hil_trace_resume(&trace, path);
    if (rc == -ENOENT)
        return 0;
    if (!rc)
        rc = hil_trace_close(trace);
    if (rc)
        fprintf(messages, "%s cannot be made whole: %s\n", path,
                rc == -EBADMSG ? "its journal is damaged" : strerror(-rc));
    return rc;
}

int hil_recover(const char *dir, FILE *messages)
{
    const int folder = hil_run_take(dir);

    if (folder == -EBUSY) {
        fprintf(messages, "%s: a run writes its record there now\n", dir);
        return folder;
    }
    int rc = folder < 0 ? 0 : recover_trace(dir, messages);
    if (folder >= 0)
        close(folder);
    return rc ? rc : recover_show(dir, messages);
}
