/* What the card, its driver and this machine say of themselves. */
#include <arpa/inet.h>
#include <dirent.h>
#include <ifaddrs.h>
#include <infiniband/verbs.h>
#include <limits.h>
#include <net/if.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "conform.h"

#define DEVICES "/sys/class/infiniband"

/* --- from a device to its address ------------------------------------------------------------- */

static bool is_address(const char *text)
{
    struct in6_addr bytes;

    return inet_pton(AF_INET, text, &bytes) == 1 || inet_pton(AF_INET6, text, &bytes) == 1;
}

/* The first entry of a folder; empty if there is none. */
static void first_entry(const char *folder, char *name, size_t size)
{
    DIR *dir = opendir(folder);

    name[0] = '\0';
    for (struct dirent *e = dir ? readdir(dir) : NULL; e && !name[0]; e = readdir(dir))
        if (e->d_name[0] != '.')
            snprintf(name, size, "%s", e->d_name);
    if (dir)
        closedir(dir);
}

/* The network interface of a device's first port, or else of its PCI device; empty: none. */
static void find_interface(const char *device, char *name, size_t size)
{
    char path[PATH_MAX];

    snprintf(path, sizeof path, DEVICES "/%s/ports/1/gid_attrs/ndevs/0", device);
    FILE *file = fopen(path, "r");
    if (!file || !fgets(name, (int)size, file))
        name[0] = '\0';
    if (file)
        fclose(file);
    name[strcspn(name, "\n")] = '\0';
    if (name[0])
        return;
    snprintf(path, sizeof path, DEVICES "/%s/device/net", device);
    first_entry(path, name, size);
}

/* Whether the interface has the address, as text. An IPv6 address that needs an interface's name
 * beside it does not do. */
static bool text_of(const struct ifaddrs *i, int family, char *address, size_t size)
{
    if (!i->ifa_addr || i->ifa_addr->sa_family != family)
        return false;
    if (family == AF_INET) {
        const struct sockaddr_in *in = (const void *)i->ifa_addr;
        return inet_ntop(AF_INET, &in->sin_addr, address, (socklen_t)size);
    }
    const struct sockaddr_in6 *in6 = (const void *)i->ifa_addr;
    return !IN6_IS_ADDR_LINKLOCAL(&in6->sin6_addr) &&
           inet_ntop(AF_INET6, &in6->sin6_addr, address, (socklen_t)size);
}

static bool find_address_of(const char *interface, char *address, size_t size)
{
    const int families[] = {AF_INET, AF_INET6};
    struct ifaddrs *all = NULL;
    bool found = false;

    if (getifaddrs(&all))
        return false;
    for (unsigned f = 0; f < 2 && !found; f++)
        for (const struct ifaddrs *i = all; i && !found; i = i->ifa_next)
            found = strcmp(i->ifa_name, interface) == 0 && text_of(i, families[f], address, size);
    freeifaddrs(all);
    return found;
}

void card_find_address(const char *name, char *address, size_t size)
{
    char path[PATH_MAX], interface[IF_NAMESIZE + 1], some[NAME_MAX + 1];

    if (is_address(name)) {
        snprintf(address, size, "%s", name);
        return;
    }
    snprintf(path, sizeof path, DEVICES "/%s", name);
    if (strchr(name, '/') || access(path, F_OK)) {
        first_entry(DEVICES, some, sizeof some);
        conform_die("'%s' is neither an address nor an RDMA device of this machine (%s%s)", name,
                    some[0] ? "which has, for example, " : "which has none", some);
    }
    find_interface(name, interface, sizeof interface);
    if (!interface[0])
        conform_die("%s has no network interface (on InfiniBand: load ib_ipoib)", name);
    if (!find_address_of(interface, address, size))
        conform_die("%s, the network interface of %s, has no address", interface, name);
}

/* --- facts ------------------------------------------------------------------------------------ */

static void say(json_t *facts, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void say(json_t *facts, const char *name, const char *format, ...)
{
    char text[200];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    json_object_set_new(facts, name, json_string(text));
}

static void say_machine(json_t *facts)
{
    char line[200], *colon;
    struct utsname name;
    FILE *file = fopen("/proc/cpuinfo", "r");

    while (file && fgets(line, sizeof line, file)) {
        if (strncmp(line, "model name", 10) == 0 && (colon = strchr(line, ':'))) {
            line[strcspn(line, "\n")] = '\0';
            say(facts, "processor", "%s", colon + 2);
            break;
        }
    }
    if (file)
        fclose(file);
    if (!uname(&name))
        say(facts, "kernel", "%s %s %s", name.sysname, name.release, name.machine);
}

/* The kernel's driver; a device without hardware of its own has none in /sys. */
static void say_driver(json_t *facts, const char *device)
{
    char path[PATH_MAX], target[PATH_MAX];

    snprintf(path, sizeof path, DEVICES "/%s/device/driver", device);
    const ssize_t length = readlink(path, target, sizeof target - 1);
    if (length < 0) {
        say(facts, "driver", "none of a PCI device (soft-RoCE or the like)");
        return;
    }
    target[length] = '\0';
    say(facts, "driver", "%s", strrchr(target, '/') ? strrchr(target, '/') + 1 : target);
}

static const char *scope_of(enum ibv_atomic_cap cap)
{
    return cap == IBV_ATOMIC_GLOB  ? "atomic with the CPU's, says the driver (IBV_ATOMIC_GLOB)"
           : cap == IBV_ATOMIC_HCA ? "atomic with each other, says the driver (IBV_ATOMIC_HCA)"
                                   : "none";
}

static void say_device(json_t *facts, struct ibv_context *context, bool *atomics)
{
    struct ibv_device_attr_ex device;

    if (ibv_query_device_ex(context, NULL, &device))
        return;
    const struct ibv_device_attr *a = &device.orig_attr;
    *atomics = a->atomic_cap != IBV_ATOMIC_NONE;
    say(facts, "vendor and part", "0x%x, %u, revision %u", a->vendor_id, a->vendor_part_id,
        a->hw_ver);
    say(facts, "firmware", "%s", a->fw_ver[0] ? a->fw_ver : "not told");
    say(facts, "atomics", "%s", scope_of(a->atomic_cap));
    say(facts, "PCI atomics", "fetch-add 0x%x, swap 0x%x, compare-swap 0x%x",
        device.pci_atomic_caps.fetch_add, device.pci_atomic_caps.swap,
        device.pci_atomic_caps.compare_swap);
    say(facts, "reads and atomics in flight", "%d of a link", a->max_qp_rd_atom);
    if (!device.max_dm_size)
        say(facts, "device memory", "none");
    else
        say(facts, "device memory", "%llu bytes; not measured",
            (unsigned long long)device.max_dm_size);
}

static void say_port(json_t *facts, struct ibv_context *context, uint8_t number)
{
    struct ibv_port_attr port;

    if (ibv_query_port(context, number, &port))
        return;
    say(facts, "port", "%u, %s, MTU %d", number,
        port.link_layer == IBV_LINK_LAYER_ETHERNET ? "Ethernet" : "InfiniBand",
        128 << port.active_mtu);
}

static struct ibv_qp *make_pair(struct ibv_pd *pd, struct ibv_cq *cq, uint32_t bytes)
{
    struct ibv_qp_init_attr attributes = {.qp_type = IBV_QPT_RC,
                                          .send_cq = cq,
                                          .recv_cq = cq,
                                          .cap = {.max_send_wr = 16,
                                                  .max_recv_wr = 1,
                                                  .max_send_sge = 1,
                                                  .max_recv_sge = 1,
                                                  .max_inline_data = bytes}};

    return ibv_create_qp(pd, &attributes);
}

/* Devices do not say how many bytes they take inline. They refuse a queue pair with more. */
static void say_inline(json_t *facts, struct ibv_pd *pd, struct ibv_cq *cq)
{
    uint32_t taken = 0, refused = 8192;

    while (refused - taken > 1) {
        const uint32_t bytes = (taken + refused) / 2;
        struct ibv_qp *qp = make_pair(pd, cq, bytes);
        if (qp)
            ibv_destroy_qp(qp);
        *(qp ? &taken : &refused) = bytes;
    }
    say(facts, "inline", "%u bytes (libloco asks for %d)", taken, LOCO_INLINE_MAX);
}

static void say_pairs(json_t *facts, struct ibv_context *context)
{
    struct ibv_pd *pd = ibv_alloc_pd(context);
    struct ibv_cq *cq = ibv_create_cq(context, 16, NULL, NULL, 0);
    struct ibv_qp *qp = pd && cq ? make_pair(pd, cq, 0) : NULL;

    if (qp) {
        say(facts, "order inside a put", "%s, says the driver",
            ibv_query_qp_data_in_order(qp, IBV_WR_RDMA_WRITE, 0) ? "kept" : "not promised");
        ibv_destroy_qp(qp);
        say_inline(facts, pd, cq);
    }
    if (cq)
        ibv_destroy_cq(cq);
    if (pd)
        ibv_dealloc_pd(pd);
}

/* The id of the connection manager that is bound to the address, and so to a device. */
static struct rdma_cm_id *bind_to(struct rdma_event_channel *channel, const char *address)
{
    const struct rdma_addrinfo hints = {.ai_flags = RAI_PASSIVE | RAI_NUMERICHOST,
                                        .ai_port_space = RDMA_PS_TCP};
    struct rdma_addrinfo *found = NULL;
    struct rdma_cm_id *id = NULL;

    if (rdma_create_id(channel, &id, NULL, RDMA_PS_TCP))
        return NULL;
    const bool bound = !rdma_getaddrinfo(address, NULL, &hints, &found) &&
                       !rdma_bind_addr(id, found->ai_src_addr) && id->verbs;
    if (found)
        rdma_freeaddrinfo(found);
    if (bound)
        return id;
    rdma_destroy_id(id);
    return NULL;
}

static void say_card(json_t *facts, const char *address, bool *atomics)
{
    struct rdma_event_channel *channel = rdma_create_event_channel();
    struct rdma_cm_id *id = channel ? bind_to(channel, address) : NULL;

    if (!id)
        conform_die("%s is no address of an RDMA device of this machine", address);
    const char *name = ibv_get_device_name(id->verbs->device);
    say(facts, "device", "%s, at %s", name, address);
    say_driver(facts, name);
    say_device(facts, id->verbs, atomics);
    say_port(facts, id->verbs, id->port_num);
    say_pairs(facts, id->verbs);
    rdma_destroy_id(id);
    rdma_destroy_event_channel(channel);
}

json_t *card_facts(const char *address, bool *atomics)
{
    json_t *facts = json_object();

    if (!facts)
        conform_die("there is no memory");
    *atomics = true;
    if (address)
        say_card(facts, address, atomics);
    else
        say(facts, "device", "none: shared memory of this machine");
    say_machine(facts);
    say(facts, "libloco", "%s", HIL_VERSION);
    return facts;
}
