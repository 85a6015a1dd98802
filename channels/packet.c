#include "packet.h"

#include <string.h>

#include "loco/memory.h"

bool loco_good_text(const char *text)
{
    const char *c = text;

    while ((unsigned char)*c >= ' ' && *c != 0x7f)
        c++;
    return c > text && !*c;
}

static bool packet_good_text(const char *field, size_t size)
{
    return memchr(field, '\0', size) && loco_good_text(field);
}

static bool packet_good_region(const struct loco_packet_region *r)
{
    return packet_good_text(r->name, sizeof r->name) && r->where.known == 1 &&
           r->where.offset % LOCO_CACHE_LINE == 0 && r->size <= UINT64_MAX - r->where.offset;
}

static bool packet_good_regions(const struct loco_packet *p, size_t body)
{
    if (p->head.region_count > LOCO_REGIONS_MAX ||
        body != p->head.region_count * sizeof p->regions[0])
        return false;
    for (unsigned i = 0; i < p->head.region_count; i++)
        if (!packet_good_region(&p->regions[i]))
            return false;
    return true;
}

/* Lines are printed one at a time, so they may hold line ends and tabs. */
static bool packet_good_lines(const struct loco_packet_lines *lines)
{
    const char *end = memchr(lines->text, '\0', sizeof lines->text);

    for (const char *c = lines->text; end && c < end; c++)
        if (((unsigned char)*c < ' ' && *c != '\n' && *c != '\t') || *c == 0x7f)
            return false;
    return end;
}

bool loco_packet_read(struct loco_packet *p, const void *bytes, size_t size)
{
    if (size < sizeof p->head || size > sizeof *p)
        return false;
    memcpy(p, bytes, size);
    if (p->head.from == 0 || !packet_good_text(p->head.name, sizeof p->head.name))
        return false;

    size_t body = size - sizeof p->head;
    switch (p->head.kind) {
    case LOCO_JOIN:
    case LOCO_CONNECT:
        return packet_good_regions(p, body);
    case LOCO_REFUSE:
        return p->head.region_count == 0 && body == sizeof p->text &&
               packet_good_text(p->text, sizeof p->text);
    case LOCO_LINES:
        return p->head.region_count == 0 && body == sizeof p->lines && packet_good_lines(&p->lines);
    default:
        return false;
    }
}
