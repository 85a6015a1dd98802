/*
 * The figures of a run as data of a page: the figures of `hiloco plot` under the same names, each
 * with its curves in blocks (blocks.h).
 *
 *      [{id, title, curves: [{name, unit, doc, role, rows, shortest, period_ns, data}],
 *        missed: [[from_s, to_s, steps] ...], left_out}]
 */
#ifndef HIL_CURVES_H
#define HIL_CURVES_H

#include <jansson.h>

#include "../../figures/plot_data.h"

/* Only the figures of the measures, or all, with about `most` bytes of data. Returns NULL after a
 * message if the record cannot be read. */
json_t *hil_curves(const struct plot_run *run, bool measures_alone, size_t most);

/* Converts an untrusted text to JSON. */
json_t *hil_curves_text(const char *text);

#endif
