#include "export_events.h"

#include "../base/csv.h"
#include "../base/result_file.h"

static void put_text(const char *text, FILE *to)
{
    hil_csv_text(to, text);
    putc(',', to);
}

static void put_event(const struct hil_trace_event *event, FILE *to)
{
    export_number(event->time_s, to);
    putc(',', to);
    export_number(event->step, to);
    putc(',', to);
    put_text(event->node, to);
    put_text(event->kind, to);
    put_text(event->of, to);
    export_number(event->value, to);
    putc('\n', to);
}

int export_write_events(const struct hil_trace_events *events, const char *path)
{
    int rc = 0;
    FILE *to = hil_result_create(path, &rc);

    if (!to)
        return rc;
    fputs(export_event_names, to);
    for (size_t i = 0; i < events->count; i++)
        put_event(&events->at[i], to);
    fclose(to);
    return rc;
}
