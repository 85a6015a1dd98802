/*
 * The slots of a kvstore with replicas. A slot is a register for one value, which a crash of its
 * writer does not break. It has two records, and a write overwrites the older one:
 *
 *      word 0      version << 1 | valid
 *      word 1      the use's counter
 *      word 2      the key's hash
 *      value       padded with zeros to whole words
 *      word n      a checksum of all that
 *
 * The write of version v goes to record v % 2. It takes effect when its last word is placed. The
 * writer holds the key's lock, and the write before is placed everywhere. So at any moment one of
 * the records is whole, and has the newest version that has taken effect.
 *
 * A copy of a slot is at its host, and one at each of the `replicas` nodes after it. A write goes
 * to the last copy first, and to the next when it is placed there. A read reads the first copy
 * whose node is not lost. So a version that was read there is at all later copies, too.
 *
 * A read fetches both records, word by word, in any order, and takes the newest one that is whole.
 * If a record was read whole with version v, then v has taken effect by the end of the read, and
 * version v + 2, which goes to the same record, had not when the read began.
 *
 *   Both are whole, with versions v < w. If w took effect within the read, the read takes effect at
 *   the same moment. Else w had taken effect before, and is v + 1 (v + 2 had not). As v + 2 had not
 *   taken effect when the read began, the read takes effect there.
 *
 *   Only one is whole, with version v. The other is torn by v + 1, or by a later version if v + 2
 *   has been written since. So the read fetches both once more. If v is again the only whole one,
 *   v + 2 had not taken effect when the second fetch began. So the record was torn in the first
 *   fetch by v + 1 (or by v - 1, before v took effect), and v + 1 had not taken effect when the
 *   read began. The read takes effect there or, if that is later, together with v. The writer of
 *   v + 1 may have died.
 */
#ifndef LOCO_KVSTORE_RECORD_H
#define LOCO_KVSTORE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kv_record {
    uint64_t state; /* version << 1 | valid */
    uint64_t counter;
    uint64_t hash;
};

/* Where the value is in a record. */
enum { KV_RECORD_VALUE_AT = sizeof(struct kv_record), KV_RECORDS = 2 };

static inline size_t kv_record_size(size_t value_size)
{
    return KV_RECORD_VALUE_AT + (value_size + 7) / 8 * 8 + sizeof(uint64_t);
}

static inline uint64_t kv_record_version(const struct kv_record *record)
{
    return record->state >> 1;
}

/* Completes a record whose value is there: writes the words before it, and the checksum. */
void kv_record_seal(void *record, size_t value_size, const struct kv_record *head);

/* What a slot's image says. */
struct kv_newest {
    struct kv_record head;      /* of the newest whole record */
    const unsigned char *value; /* NULL: none is whole */
    bool alone;                 /* the other one is not whole */
};

struct kv_newest kv_record_newest(const void *image, size_t value_size);

#endif
