#include "can_bus.h"

#include <errno.h>
#include <linux/can/raw.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

struct canfd_frame hil_can_bus_frame(const struct hil_can_frame *f)
{
    return (struct canfd_frame){.can_id = hil_can_id(f), .len = (uint8_t)f->length};
}

uint32_t hil_can_bus_size(const struct hil_can_frame *f)
{
    return f->fd ? CANFD_MTU : CAN_MTU;
}

/* Receives only the frames of the model. */
static int bus_filter(int bus, const struct hil_can_frames *frames)
{
    struct can_filter filters[HIL_DEVICE_MAX];
    unsigned count = 0;

    for (unsigned i = 0; i < frames->count; i++)
        if (frames->frames[i].direction == HIL_CAN_RECEIVE)
            filters[count++] = (struct can_filter){
                .can_id = hil_can_id(&frames->frames[i]),
                .can_mask = CAN_EFF_FLAG | CAN_RTR_FLAG |
                            (frames->frames[i].extended ? CAN_EFF_MASK : CAN_SFF_MASK)};
    return setsockopt(bus, SOL_CAN_RAW, CAN_RAW_FILTER, filters,
                      (socklen_t)(count * sizeof filters[0]))
               ? -errno
               : 0;
}

static bool bus_has_fd(const struct hil_can_frames *frames)
{
    for (unsigned i = 0; i < frames->count; i++)
        if (frames->frames[i].fd)
            return true;
    return false;
}

static int bus_allow_fd(int bus, const char *interface, const struct hil_said *said)
{
    struct ifreq request = {0};
    const int on = 1;

    strncpy(request.ifr_name, interface, sizeof request.ifr_name - 1);
    if (ioctl(bus, SIOCGIFMTU, &request))
        return hil_say(said, -errno, "%s cannot be asked: %s", interface, strerror(errno));
    if (request.ifr_mtu < (int)CANFD_MTU)
        return hil_say(said, -EOPNOTSUPP, "%s does not take CAN FD (ip link set %s mtu %d)",
                       interface, interface, (int)CANFD_MTU);
    return setsockopt(bus, SOL_CAN_RAW, CAN_RAW_FD_FRAMES, &on, sizeof on) ? -errno : 0;
}

static int bus_check_up(int bus, const char *interface, const struct hil_said *said)
{
    struct ifreq request = {0};

    strncpy(request.ifr_name, interface, sizeof request.ifr_name - 1);
    if (ioctl(bus, SIOCGIFFLAGS, &request))
        return hil_say(said, -errno, "%s cannot be asked: %s", interface, strerror(errno));
    return request.ifr_flags & IFF_UP
               ? 0
               : hil_say(said, -ENETDOWN, "%s is down (ip link set %s up)", interface, interface);
}

static int bus_bind(int bus, const char *interface, const struct hil_said *said)
{
    const unsigned index = if_nametoindex(interface);
    const struct sockaddr_can address = {.can_family = AF_CAN, .can_ifindex = (int)index};

    if (!index)
        return hil_say(said, -ENODEV, "there is no network interface %s", interface);
    if (bind(bus, (const struct sockaddr *)&address, sizeof address))
        return hil_say(said, -errno, "%s is no CAN interface: %s", interface, strerror(errno));
    return bus_check_up(bus, interface, said);
}

int hil_can_bus_open(const char *interface, const struct hil_can_frames *frames,
                     const struct hil_said *said)
{
    const int bus = socket(PF_CAN, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, CAN_RAW);

    if (bus < 0)
        return hil_say(said, -errno, "there is no CAN here: %s (modprobe can-raw)",
                       strerror(errno));
    int rc = bus_filter(bus, frames);
    if (rc)
        hil_say(said, rc, "%s takes no filter: %s", interface, strerror(-rc));
    else
        rc = bus_bind(bus, interface, said);
    if (!rc && bus_has_fd(frames))
        rc = bus_allow_fd(bus, interface, said);
    if (!rc)
        return bus;
    close(bus);
    return rc;
}
