/* What faults do to a link: the sender keeps messages to itself, or sends older ones. */
#ifndef HIL_FAULT_LINKS_H
#define HIL_FAULT_LINKS_H

#include "faults.h"
#include "step_parts.h"

/* Those of the node's departures that faults act on. Returns 0 or -ENOMEM. */
int hil_fault_links_open(struct hil_faults *faults);
void hil_fault_links_close(struct hil_faults *faults);
void hil_fault_links_begin(struct hil_faults *faults);

/* What the link carries in this step in place of this message, which is of the departure; NULL:
 * none. */
const struct hil_message *hil_fault_links_carry(struct hil_faults *faults,
                                                const struct step_departure *departure,
                                                const struct hil_message *message);

#endif
