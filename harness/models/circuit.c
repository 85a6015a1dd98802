#include "circuit.h"

#include <errno.h>
#include <string.h>
#include <xxhash.h>

#include "../../plants/circuit/trial.h"
#include "provider/native.h"

static bool circuit_takes(const char *name)
{
    const size_t length = strlen(name);

    return length > 4 && strcmp(name + length - 4, ".cir") == 0;
}

/* What the netlist says, with what it includes, apart from comments and spaces. */
static int circuit_hash(const struct cir_text *text, uint64_t *hash, const struct hil_said *said)
{
    XXH3_state_t *state = XXH3_createState();

    if (!state)
        return hil_say_no_memory(said);
    XXH3_64bits_reset(state);
    for (unsigned i = 0; i < text->count; i++)
        for (unsigned k = 0; k < text->at[i].count; k++)
            XXH3_64bits_update(state, text->at[i].at[k].text, strlen(text->at[i].at[k].text) + 1);
    *hash = XXH3_64bits_digest(state);
    XXH3_freeState(state);
    return 0;
}

static int circuit_load(struct hil_loaded *made, const struct hil_said *said)
{
    struct cir_model *model;

    if (made->settings.count)
        return hil_say(said, -EINVAL, "%s is not a setting of a netlist; allowed: none",
                       made->settings.at[0].key);
    int rc = cir_model_load(&model, made->name, false, &(struct cir_said){said->text, said->size});
    if (rc)
        return rc;
    rc = circuit_hash(&model->text, &made->hash, said);
    if (rc) {
        cir_model_unload(model);
        return rc;
    }
    made->own = model;
    made->model = &model->model;
    return 0;
}

static void circuit_unload(struct hil_loaded *made)
{
    cir_model_unload(made->own);
}

static void circuit_tell(const struct hil_loaded *loaded, FILE *to)
{
    struct cir_trial t;

    if (cir_try(loaded->own, &t))
        return;
    fprintf(to,
            "  %u steps of %g us alone, with these defaults: %u configurations met; a step takes "
            "%.3g us, %.3g us at most",
            t.steps, t.period_s * 1e6, t.configurations, t.mean_ns * 1e-3, t.max_ns * 1e-3);
    if (t.unresolved)
        fprintf(to, "; %u could not be resolved", t.unresolved);
    fputs("\n\n", to);
}

const struct cir_text *hil_circuit_netlist(const struct hil_loaded *loaded)
{
    return &((const struct cir_model *)loaded->own)->text;
}

const struct hil_provider hil_circuit_provider = {
    .example = "a netlist such as ./stage.cir",
    .takes = circuit_takes,
    .locate = hil_model_file,
    .load = circuit_load,
    .unload = circuit_unload,
    .tell = circuit_tell,
};
