#include "send_queue.h"

#include <stdlib.h>
#include <string.h>

struct loco_send_queue_message *loco_send_queue_add(struct loco_send_queue *u, const void *head,
                                                    size_t head_size, const void *body,
                                                    size_t body_size)
{
    struct loco_send_queue_message *m = malloc(sizeof *m + head_size + body_size);

    if (!m)
        return NULL;
    *m = (struct loco_send_queue_message){.size = head_size + body_size, .descriptor = -1};
    memcpy(m->data, head, head_size);
    if (body_size)
        memcpy(m->data + head_size, body, body_size);
    if (!u->first)
        u->end = &u->first;
    *u->end = m;
    u->end = &m->next;
    u->size += m->size;
    return m;
}

void loco_send_queue_take_off(struct loco_send_queue *u)
{
    struct loco_send_queue_message *m = u->first;

    u->first = m->next;
    u->size -= m->size;
    free(m);
}

void loco_send_queue_clear(struct loco_send_queue *u)
{
    while (u->first)
        loco_send_queue_take_off(u);
}
