/* Faults on links: the sender holds messages back, or sends older ones. */
#ifndef HIL_FAULT_LINKS_H
#define HIL_FAULT_LINKS_H

#include "faults.h"
#include "step_parts.h"

/* Sets up the departures of the node that faults act on. Returns 0 or -ENOMEM. */
int hil_fault_links_open(struct hil_faults *faults);
void hil_fault_links_close(struct hil_faults *faults);
void hil_fault_links_begin(struct hil_faults *faults);

/* The message that the link carries in this step instead of `message`, which is the departure's
 * own; NULL: none. */
const struct hil_message *hil_fault_links_carry(struct hil_faults *faults,
                                                const struct step_departure *departure,
                                                const struct hil_message *message);

#endif
