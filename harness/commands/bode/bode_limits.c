/* Judges the margins of a loop. */
#include <math.h>
#include <string.h>

#include "../../base/json_number.h"
#include "bode.h"

/* As words of the verdict on a run. */
static const char *bode_outcome(int status)
{
    return status == HIL_EXIT_OK ? "passed" : status == HIL_EXIT_LIMIT ? "failed" : "inconclusive";
}

static void bode_judge_one(struct bode_verdict *v, const char *key, const char *words,
                           const char *unit, double value, double least)
{
    const int status = isnan(value)     ? HIL_EXIT_INVALID
                       : value >= least ? HIL_EXIT_OK
                                        : HIL_EXIT_LIMIT;

    if (isnan(least))
        return;
    v->limits[v->count++] = (struct bode_limit){key, words, unit, value, least, status};
    if (status > v->status)
        v->status = status;
}

void bode_judge(struct bode_verdict *v, const struct hil_loop_response *asked,
                const struct hil_bode *b, bool believed)
{
    *v = (struct bode_verdict){.status = HIL_EXIT_OK, .believed = believed};
    bode_judge_one(v, "phase_margin_deg", "phase margin", "deg", b->phase_margin_deg,
                   asked->phase_margin_deg);
    bode_judge_one(v, "gain_margin_db", "gain margin", "dB", b->gain_margin_db,
                   asked->gain_margin_db);
}

void bode_verdict_add(const struct bode_verdict *v, json_t *root)
{
    json_t *limits = json_array();

    for (unsigned i = 0; i < v->count; i++) {
        const struct bode_limit *l = &v->limits[i];
        json_array_append_new(limits,
                              json_pack("{s:s, s:s, s:s, s:o, s:f}", "name", l->key, "verdict",
                                        bode_outcome(l->status), "unit", l->unit, "value",
                                        hil_json_number(l->value), "at_least", l->least));
    }
    json_object_set_new(
        root, "verdict",
        v->count == 0 ? json_null()
                      : json_string(bode_outcome(v->believed ? v->status : HIL_EXIT_INVALID)));
    json_object_set_new(root, "limits", limits);
}

void bode_verdict_print(const struct bode_verdict *v, const char *key)
{
    for (unsigned i = 0; i < v->count; i++)
        if (strcmp(v->limits[i].key, key) == 0)
            printf(", %s: at least %g %s is required", bode_outcome(v->limits[i].status),
                   v->limits[i].least, v->limits[i].unit);
    putchar('\n');
}

void bode_verdict_complain(const struct bode_verdict *v, FILE *to)
{
    for (unsigned i = 0; i < v->count; i++) {
        const struct bode_limit *l = &v->limits[i];
        if (l->status == HIL_EXIT_INVALID)
            fprintf(to, "%s: there is none; allowed: at least %g %s\n", l->words, l->least,
                    l->unit);
        else if (l->status == HIL_EXIT_LIMIT)
            fprintf(to, "%s: %.4g %s; allowed: at least %g %s\n", l->words, l->value, l->unit,
                    l->least, l->unit);
    }
}
