/* Reads how the frequency response of a loop is measured, and what it must be. */
#include <errno.h>
#include <math.h>

#include "general.h"
#include "loop_place.h"

/* The number under the key, or `otherwise` if there is none. */
static double bode_number(const struct scenario_node *block, const char *key, double otherwise)
{
    return scenario_node_get(block, key) ? general_number(block, key, 0) : otherwise;
}

static void bode_read(struct hil_loop_response *r, const struct scenario_node *block)
{
    *r = (struct hil_loop_response){
        .inject = general_text(block, "inject"),
        .response = general_text(block, "response"),
        .from_hz = bode_number(block, "from_hz", -1),
        .to_hz = bode_number(block, "to_hz", -1),
        .points = (unsigned)general_number(block, "points", 0),
        .multisine = general_true(block, "multisine"),
        .amplitude = bode_number(block, "amplitude", -1),
        .start_s = bode_number(block, "start_s", -1),
        .phase_margin_deg = bode_number(block, "phase_margin_deg", NAN),
        .gain_margin_db = bode_number(block, "gain_margin_db", NAN),
    };
}

/* Whether the node of the input has enough steps is left to the measurement: the scenario may run
 * with other periods. */
static void bode_check_frequencies(const struct general *g, const struct scenario_node *block,
                                   const struct hil_loop_response *r)
{
    if (r->to_hz >= 0 && r->from_hz > r->to_hz)
        scenario_mistake(g->report, &scenario_node_get(block, "from_hz")->at,
                         "bode.from_hz is %g; allowed: up to the last frequency, %g Hz", r->from_hz,
                         r->to_hz);
}

/* Only a loop has margins. */
static void bode_check_margin(const struct general *g, const struct scenario_node *block,
                              const char *key)
{
    const struct scenario_node *margin = scenario_node_get(block, key);

    if (margin)
        scenario_mistake(g->report, &margin->at,
                         "bode.%s is given, but the response is not what feeds bode.inject; "
                         "allowed: with the response of a loop",
                         key);
}

static void bode_check(const struct general *g, const struct scenario_node *block,
                       const struct hil_loop_response *r)
{
    struct hil_loop_place place;
    struct hil_loop_mistake mistake;

    if (hil_loop_place_find(&place, g->system, r->inject, r->response, &mistake)) {
        const char *key = mistake.response ? "response" : "inject";
        scenario_mistake(g->report, &scenario_node_get(block, key)->at, "bode.%s is '%.100s': %s",
                         key, general_text(block, key), mistake.said);
        return;
    }
    bode_check_frequencies(g, block, r);
    if (place.of_loop)
        return;
    bode_check_margin(g, block, "phase_margin_deg");
    bode_check_margin(g, block, "gain_margin_db");
}

int general_bode(struct general *g)
{
    const struct scenario_node *block = scenario_node_get(g->root, "bode");
    struct hil_pool *pool = g->system->pool;

    if (!block)
        return 0;
    struct hil_loop_response *r = hil_pool_get(pool, 1, sizeof *r);
    if (!r)
        return -ENOMEM;
    bode_read(r, block);
    bode_check(g, block, r);
    r->inject = hil_pool_text(pool, r->inject);
    r->response = r->response ? hil_pool_text(pool, r->response) : NULL;
    if (!r->inject || (scenario_node_get(block, "response") && !r->response))
        return -ENOMEM;
    g->system->bode = r;
    return 0;
}
