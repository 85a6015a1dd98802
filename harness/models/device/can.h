/*
 * A CAN bus by SocketCAN: `model: can:vcan0`. The model's inputs are signals that are packed into
 * frames and sent; its outputs are signals of received frames. See docs/devices.md.
 */
#ifndef HIL_CAN_H
#define HIL_CAN_H

#include "../provider/provider.h"

extern const struct hil_provider hil_can_provider;

#endif
