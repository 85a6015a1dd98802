/*
 * The guardian of a device's outputs: a process that only holds the device, and writes the safe
 * values when the node's process has ended for whatever reason. When the node ends normally, it
 * asks the guardian to do the same. The guardian is another instance of this program in its own
 * session. No signal except SIGKILL ends it.
 */
#ifndef HIL_GUARDIAN_H
#define HIL_GUARDIAN_H

#include <linux/can.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "../provider/provider.h"

/* The most channels or signals of a device in each direction, and the most frames of a bus. */
enum { HIL_DEVICE_MAX = 128 };

/* One action that makes an output safe. */
struct hil_safe_act {
    enum { HIL_SAFE_COMEDI, HIL_SAFE_CAN } kind;
    union {
        struct {
            uint32_t subdevice, channel, sample; /* the channel as in CR_PACK */
        } comedi;
        struct {
            uint32_t size; /* CAN_MTU or CANFD_MTU */
            struct canfd_frame frame;
        } can;
    };
};

/*
 * Performs all actions, even after one has failed. Returns 0, or the negative errno of the last
 * failure.
 */
int hil_safe_do(int device, const struct hil_safe_act *acts, unsigned count);

struct hil_guardian {
    pid_t process; /* 0: none */
    int line;      /* socket to the guardian, which waits for its end */
};

/* Starts the guardian of an open device. Returns 0 once it is ready, or a negative errno. `name`
 * appears in ps and in its messages. There may be at most HIL_DEVICE_MAX actions. */
int hil_guardian_open(struct hil_guardian *guardian, const char *name, int device,
                      const struct hil_safe_act *acts, unsigned count);

/* Whether it still runs. Takes a system call. */
bool hil_guardian_is_there(const struct hil_guardian *guardian);

/* Makes it perform the actions, and waits for that. Returns 0, or a negative errno if they were not
 * performed. */
int hil_guardian_close(struct hil_guardian *guardian);

/* The main() of hiloco calls this first. In a process that was started as a guardian it does the
 * guardian's work and does not return. */
void hil_guardian_main(int argc, char **argv);

#endif
