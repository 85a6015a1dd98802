/*
 * The guardian of a device's outputs: a process that holds nothing but the device, and writes the
 * safe values when the node's process is no more, whatever ended that. In good order the node asks
 * it for the same. It is this program again, in a session of its own, and no signal but SIGKILL
 * ends it.
 */
#ifndef HIL_GUARDIAN_H
#define HIL_GUARDIAN_H

#include <linux/can.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "../provider.h"

/* The most channels or signals of a device each way, and frames of a bus. */
enum { HIL_DEVICE_MAX = 128 };

/* One thing that makes an output safe. */
struct hil_safe_act {
    enum { HIL_SAFE_COMEDI, HIL_SAFE_CAN } kind;
    union {
        struct {
            uint32_t subdevice, channel, sample; /* the channel as CR_PACK has it */
        } comedi;
        struct {
            uint32_t size; /* CAN_MTU or CANFD_MTU */
            struct canfd_frame frame;
        } can;
    };
};

/* Does them all, also after one has failed. Returns 0, or the negative errno of the last failure.
 */
int hil_safe_do(int device, const struct hil_safe_act *acts, unsigned count);

struct hil_guardian {
    pid_t process; /* 0: none */
    int line;      /* to it; its end is what the guardian waits for */
};

/* Starts the guardian of an open device, and returns once it is ready: 0, or a negative errno.
 * `name` is for ps and for what it says. At most HIL_DEVICE_MAX acts. */
int hil_guardian_open(struct hil_guardian *guardian, const char *name, int device,
                      const struct hil_safe_act *acts, unsigned count);

/* Whether it is still there. A system call. */
bool hil_guardian_is_there(const struct hil_guardian *guardian);

/* Has it do the acts, and waits until it has. Returns 0, or a negative errno: then they are not
 * done. */
int hil_guardian_close(struct hil_guardian *guardian);

/* For main() of hiloco, before anything else: in a process that was started as a guardian it does
 * that work and does not return. */
void hil_guardian_main(int argc, char **argv);

#endif
