/* A socket on a CAN bus. */
#ifndef HIL_CAN_BUS_H
#define HIL_CAN_BUS_H

#include "can_frames.h"
#include "guardian.h"

/* Opens the interface for the frames that are received. Returns the socket, or a negative errno
 * after it has said what is wrong. */
int hil_can_bus_open(const char *interface, const struct hil_can_frames *frames,
                     const struct hil_said *said);

/* A frame as it goes over the bus, without its data. */
struct canfd_frame hil_can_bus_frame(const struct hil_can_frame *frame);

/* How many bytes the kernel takes for it. */
uint32_t hil_can_bus_size(const struct hil_can_frame *frame);

#endif
