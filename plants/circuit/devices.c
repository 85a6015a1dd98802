/* Switches and diodes, with their .model. */
#include <math.h>
#include <string.h>

#include "expander.h"

/* A parameter of .model NAME TYPE(A=1 B=2), if it is there. */
static int model_value(const struct cir_statement *model, struct cir_scope *owner, const char *name,
                       double *value, bool *found)
{
    for (unsigned i = 3; i + 2 < model->count; i++)
        if (strcmp(model->at[i].text, name) == 0 && strcmp(model->at[i + 1].text, "=") == 0) {
            if (found)
                *found = true;
            return cir_scope_number(owner, &model->at[i + 2], value);
        }
    return 0;
}

static int model_of(struct cir_expander *x, const struct cir_token *token, const char *type,
                    const struct cir_statement **model, struct cir_scope **owner)
{
    *model = cir_scope_find(x->scope, ".model", token->text, owner, NULL);
    if (!*model)
        return cir_refuse(x->said, token, "there is no .model %s; allowed: .model %s %s(...)",
                          token->text, token->text, type);
    if ((*model)->count < 3 || strcmp((*model)->at[2].text, type) != 0)
        return cir_refuse(x->said, token, "found the model %s of the type %s; allowed: %s",
                          token->text, (*model)->count < 3 ? "-" : (*model)->at[2].text, type);
    return 0;
}

static int check_resistances(struct cir_expander *x, const struct cir_token *model,
                             const struct cir_element *e, const char *instead)
{
    if (e->ron > 0 && e->roff > e->ron)
        return 0;
    return cir_refuse(x->said, model,
                      "found the model %s with ron = %g and roff = %g; allowed: 0 < ron < "
                      "roff%s",
                      model->text, e->ron, e->roff, instead);
}

int cir_read_switch(struct cir_expander *x, struct cir_element *e, const struct cir_statement *s)
{
    static const char form[] = "S NODE NODE CONTROL CONTROL MODEL";
    const struct cir_statement *model;
    struct cir_scope *owner;
    double vt = 0, vh = 0;
    int rc = cir_need(x, s, 6, form);

    for (unsigned i = 0; !rc && i < 2; i++)
        rc = cir_node_of(x, &s->at[3 + i], &e->node[2 + i]);
    if (!rc && s->count > 6)
        return cir_refuse(x->said, &s->at[6], "found %s; allowed: %s", s->at[6].text, form);
    if (!rc)
        rc = model_of(x, &s->at[5], "sw", &model, &owner);
    e->ron = 1;
    e->roff = 1e12;
    if (!rc)
        rc = model_value(model, owner, "ron", &e->ron, NULL);
    if (!rc)
        rc = model_value(model, owner, "roff", &e->roff, NULL);
    if (!rc)
        rc = model_value(model, owner, "vt", &vt, NULL);
    if (!rc)
        rc = model_value(model, owner, "vh", &vh, NULL);
    if (!rc && vh < 0)
        return cir_refuse(x->said, &s->at[5], "found the model %s with vh = %g; allowed: 0 or more",
                          s->at[5].text, vh);
    e->on_above = vt + vh;
    e->off_below = vt - vh;
    return rc ? rc : check_resistances(x, &s->at[5], e, "");
}

/* The line "*hiloco diode MODEL" has the last word. */
static bool diode_line(struct cir_expander *x, struct cir_element *e, const char *model)
{
    const struct cir_declarations *d = x->declarations;

    for (unsigned i = 0; i < d->diode_count; i++) {
        const struct cir_diode_line *line = &d->diodes[i];
        if (strcmp(line->model, model) != 0)
            continue;
        e->vf = isnan(line->vf) ? e->vf : line->vf;
        e->ron = isnan(line->ron) ? e->ron : line->ron;
        e->roff = isnan(line->roff) ? e->roff : line->roff;
        return true;
    }
    return false;
}

int cir_read_diode(struct cir_expander *x, struct cir_element *e, const struct cir_statement *s)
{
    const struct cir_statement *model;
    struct cir_scope *owner;
    double is = 1e-14, n = 1, bv = INFINITY;
    bool breaks = false;
    int rc = cir_need(x, s, 4, "D NODE NODE MODEL");

    if (!rc && s->count > 4)
        return cir_refuse(x->said, &s->at[4], "found %s; allowed: D NODE NODE MODEL",
                          s->at[4].text);
    if (!rc)
        rc = model_of(x, &s->at[3], "d", &model, &owner);
    e->roff = 1e6;
    if (!rc)
        rc = model_value(model, owner, "rs", &e->ron, NULL);
    if (!rc)
        rc = model_value(model, owner, "is", &is, NULL);
    if (!rc)
        rc = model_value(model, owner, "n", &n, NULL);
    if (!rc)
        rc = model_value(model, owner, "bv", &bv, &breaks);
    if (rc)
        return rc;
    e->vf = is > 0 ? n * 25.85e-3 * log(1 / is) : 0;
    if (!diode_line(x, e, s->at[3].text) && breaks)
        return cir_refuse(
            x->said, &s->at[3],
            "found the model %s with a breakdown voltage, which the solver's diode does "
            "not have; allowed: *hiloco diode %s: vf= ron= roff=",
            s->at[3].text, s->at[3].text);
    return check_resistances(x, &s->at[3], e, "; give rs in .model, or *hiloco diode MODEL: ron=");
}
