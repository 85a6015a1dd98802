/* Parses the frames of a CAN model from its settings. */
#ifndef HIL_CAN_FRAMES_H
#define HIL_CAN_FRAMES_H

#include <linux/can.h>

#include "../provider/provider.h"
#include "can_signal.h"
#include "guardian.h"

enum hil_can_direction { HIL_CAN_SEND, HIL_CAN_RECEIVE };

struct hil_can_frame {
    int64_t id;
    int extended, fd;
    int direction;
    int64_t length;        /* bytes */
    double period_us;      /* of a sent frame; 0: it is sent when it changes */
    double age_limit_us;   /* of a received frame; 0: none */
    unsigned first, count; /* its signals, among those of its direction */
};

struct hil_can_frames {
    struct hil_can_frame frames[HIL_DEVICE_MAX];
    unsigned count;
    struct hil_can_signal signals[2][HIL_DEVICE_MAX]; /* by direction */
    unsigned signal_count[2];
};

/* Returns 0, or -EINVAL after a message. */
int hil_can_frames_read(struct hil_can_frames *frames, const struct hil_settings *settings,
                        const struct hil_said *said);

/* The identifier as the kernel has it, including its flag. */
static inline canid_t hil_can_id(const struct hil_can_frame *frame)
{
    return (canid_t)frame->id | (frame->extended ? CAN_EFF_FLAG : 0);
}

#endif
