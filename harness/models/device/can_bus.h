/* A socket on a CAN bus. */
#ifndef HIL_CAN_BUS_H
#define HIL_CAN_BUS_H

#include "can_frames.h"
#include "guardian.h"

/* Opens the interface to receive the model's frames. Returns the socket, or a negative errno after
 * a message. */
int hil_can_bus_open(const char *interface, const struct hil_can_frames *frames,
                     const struct hil_said *said);

/* A frame as the kernel sends it over the bus, without its data. */
struct canfd_frame hil_can_bus_frame(const struct hil_can_frame *frame);

/* Size in bytes of the kernel's structure for it. */
uint32_t hil_can_bus_size(const struct hil_can_frame *frame);

#endif
