#include "set_requests.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/json_number.h"

int hil_set_requests_open(struct hil_set_requests *k, const struct hil_run_entry *run)
{
    struct hil_tuned tuned;

    *k = (struct hil_set_requests){.run = run};
    while (hil_tune_next(&run->attached, &k->seen, &tuned))
        ;
    return hil_tune_list(&run->attached, &k->list, &k->count);
}

void hil_set_requests_close(struct hil_set_requests *k)
{
    for (unsigned i = 0; i < HIL_KNOBS_ASKED_MAX; i++)
        hil_asking_close(k->asked[i]);
    free(k->list);
}

json_t *hil_set_requests_json(const struct hil_set_requests *k)
{
    return hil_tune_list_json(&k->run->attached, k->list, k->count);
}

const char *hil_set_requests_ask(struct hil_set_requests *k, const json_t *request)
{
    unsigned i = 0;

    while (i < HIL_KNOBS_ASKED_MAX && k->asked[i])
        i++;
    if (i == HIL_KNOBS_ASKED_MAX)
        return "the run has not answered the previous request";
    switch (hil_asking_start(&k->asked[i], k->run, request)) {
    case 0:
        return NULL;
    case -ECONNREFUSED:
        k->asked[i] = NULL;
        return "the run does not allow changes: start it with hiloco run --allow-set";
    case -EPERM:
        k->asked[i] = NULL;
        return "the run is another user's";
    default:
        k->asked[i] = NULL;
        return "the run cannot be asked";
    }
}

void hil_set_requests_hear(struct hil_set_requests *k, char *why, size_t size)
{
    for (unsigned i = 0; i < HIL_KNOBS_ASKED_MAX; i++) {
        json_t *answer = NULL;
        const int rc = k->asked[i] ? hil_asking_finish(k->asked[i], &answer) : 0;
        if (rc == 0)
            continue;
        hil_asking_close(k->asked[i]);
        k->asked[i] = NULL;
        const char *refused = json_string_value(json_object_get(answer, "refused"));
        if (refused || rc < 0)
            snprintf(why, size, "%s", refused ? refused : "the run has ended");
        json_decref(answer);
    }
}

json_t *hil_set_requests_next(struct hil_set_requests *k, char (*nodes)[HIL_NODE_NAME_BYTES])
{
    struct hil_tuned tuned;

    if (!hil_tune_next(&k->run->attached, &k->seen, &tuned) || tuned.tunable >= k->count ||
        tuned.node >= k->run->attached.node_count)
        return NULL;
    return json_pack("{s:s, s:s, s:o, s:s, s:I, s:f}", "kind", "set", "name",
                     k->list[tuned.tunable].name, "value", hil_json_number(tuned.value), "node",
                     nodes[tuned.node], "step", (json_int_t)tuned.step, "time_s",
                     (double)tuned.time_ns * 1e-9);
}
