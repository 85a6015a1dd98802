#include "kvstore_record.h"

#include <string.h>

#include "kvstore_slots.h"

static uint64_t record_checksum(const unsigned char *record, size_t value_size,
                                const struct kv_record *head)
{
    const uint64_t digest = kv_value_digest(record + KV_RECORD_VALUE_AT, value_size);

    return kv_hash(digest ^
                   kv_hash(head->hash ^ kv_hash(head->counter ^ kv_hash(head->state + 1))));
}

static size_t record_checksum_at(size_t value_size)
{
    return kv_record_size(value_size) - sizeof(uint64_t);
}

void kv_record_seal(void *record, size_t value_size, const struct kv_record *head)
{
    unsigned char *bytes = record;
    const uint64_t sum = record_checksum(bytes, value_size, head);

    memcpy(bytes, head, sizeof *head);
    memcpy(bytes + record_checksum_at(value_size), &sum, sizeof sum);
}

/* A record that was never written is all zero, and so are its first words until they arrive. It
 * counts as version 0, of no key. */
static bool record_is_whole(const unsigned char *record, size_t value_size, struct kv_record *head)
{
    uint64_t sum;

    memcpy(head, record, sizeof *head);
    memcpy(&sum, record + record_checksum_at(value_size), sizeof sum);
    if (sum == 0 && head->state == 0) {
        *head = (struct kv_record){0};
        return true;
    }
    return sum == record_checksum(record, value_size, head);
}

struct kv_newest kv_record_newest(const void *image, size_t value_size)
{
    struct kv_newest newest = {.value = NULL};

    for (size_t i = 0; i < KV_RECORDS; i++) {
        const unsigned char *record = (const unsigned char *)image + i * kv_record_size(value_size);
        struct kv_record head;
        if (!record_is_whole(record, value_size, &head)) {
            newest.alone = true;
        } else if (!newest.value || kv_record_version(&head) > kv_record_version(&newest.head)) {
            newest.head = head;
            newest.value = record + KV_RECORD_VALUE_AT;
        }
    }
    return newest;
}
