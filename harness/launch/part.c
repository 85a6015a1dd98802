#include "part.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "../../channels/loco/agreement.h"
#include "../base/file_save.h"
#include "../base/pool.h"
#include "../base/result_file.h"
#include "../base/version.h"
#include "../h5/run_files.h"
#include "../run/links.h"
#include "../run/state_image.h"

/*
 * The file is one zstd frame with a checksum. It has this head, the scenario's listing, the core
 * and the nodes of each executor, and the image of the state. Only the version that wrote it can
 * read it.
 */
struct part_head {
    char magic[8];
    char version[24];
    struct hil_part_report report;
    uint64_t listing_bytes, state_bytes;
    uint32_t node_count, executor_count;
};

struct part_executor {
    int32_t cpu;
    uint32_t count; /* followed by this many node numbers */
};

static const char PART_MAGIC[8] = "hilpart";

/* The largest possible part. */
static const uint64_t PART_BYTES_MAX = 1ull << 32;

bool hil_part_is(const struct hil_scenario *s)
{
    unsigned here = 0;

    for (unsigned i = 0; i < s->executor_count; i++)
        here += s->executors[i].count;
    return s->mode != HIL_VIRTUAL && here < s->system->node_count;
}

struct hil_part_report hil_part_tell(const struct hil_run *run)
{
    struct hil_part_report report = {.start_ns = run->state->executors[0].start_ns,
                                     .before = run->first_clock,
                                     .after = run->first_clock_after};
    const bool shared = !hil_has_addresses(run->scenario);

    if (report.start_ns && (shared || report.before.known))
        report.first_start_ns = report.start_ns + (uint64_t)report.before.ahead_ns;
    return report;
}

/* --- writing ---------------------------------------------------------------------------------- */

static int part_put(FILE *to, const struct hil_run *run, const struct hil_part_report *report)
{
    const struct hil_scenario *s = run->scenario;
    struct part_head head = {.report = *report,
                             .listing_bytes = s->listing.length,
                             .state_bytes = hil_state_image_size(run->state),
                             .node_count = s->system->node_count,
                             .executor_count = s->executor_count};

    memcpy(head.magic, PART_MAGIC, sizeof head.magic);
    snprintf(head.version, sizeof head.version, "%s", hil_version);
    fwrite(&head, sizeof head, 1, to);
    fwrite(s->listing.lines, 1, s->listing.length, to);
    for (unsigned i = 0; i < s->executor_count; i++) {
        const struct part_executor e = {s->executors[i].cpu, s->executors[i].count};
        fwrite(&e, sizeof e, 1, to);
        fwrite(s->executors[i].nodes, sizeof *s->executors[i].nodes, e.count, to);
    }
    fwrite(run->state, 1, head.state_bytes, to);
    return ferror(to) ? -ENOMEM : 0;
}

struct part_packed {
    const void *at;
    size_t size;
};

static int part_put_bytes(const void *arg, FILE *to)
{
    const struct part_packed *bytes = arg;

    return fwrite(bytes->at, 1, bytes->size, to) == bytes->size ? 0 : -EIO;
}

static int part_save(const char *dir, const void *bytes, size_t size)
{
    const struct part_packed all = {bytes, size};
    char path[HIL_PATH_BYTES];
    const int rc = hil_run_path(path, dir, HIL_PART_FILE);

    return rc ? rc : hil_file_save(path, part_put_bytes, &all);
}

static int part_pack(const char *dir, const void *bytes, size_t size)
{
    const size_t room = ZSTD_compressBound(size);
    ZSTD_CCtx *zstd = ZSTD_createCCtx();
    void *packed = malloc(room);
    int rc = -ENOMEM;

    if (zstd && packed) {
        ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1);
        const size_t length = ZSTD_compress2(zstd, packed, room, bytes, size);
        rc = ZSTD_isError(length) ? -EIO : part_save(dir, packed, length);
    }
    free(packed);
    ZSTD_freeCCtx(zstd);
    return rc;
}

int hil_part_write(const char *dir, const struct hil_run *run, const struct hil_part_report *report)
{
    char *bytes = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&bytes, &size);

    if (!to)
        return -ENOMEM;
    int rc = part_put(to, run, report);
    if (fclose(to) && !rc)
        rc = -ENOMEM;
    if (!rc)
        rc = part_pack(dir, bytes, size);
    free(bytes);
    return rc;
}

/* --- reading ---------------------------------------------------------------------------------- */

/* The bytes read, and how many are left. */
struct part_bytes {
    const char *at;
    size_t left;
};

static const void *part_take(struct part_bytes *b, uint64_t size)
{
    const char *at = b->at;

    if (size > b->left)
        return NULL;
    b->at += size;
    b->left -= size;
    return at;
}

/* The caller frees the file's bytes. */
static int part_load(const char *path, void **bytes, size_t *size)
{
    FILE *file = hil_result_read(path);
    int rc = -EBADMSG;

    if (!file)
        return -errno;
    const long end = fseek(file, 0, SEEK_END) ? -1 : ftell(file);
    rewind(file);
    if (end >= 0 && (uint64_t)end <= PART_BYTES_MAX) {
        *bytes = malloc((size_t)end + 1);
        rc = *bytes ? 0 : -ENOMEM;
    }
    *size = rc ? 0 : fread(*bytes, 1, (size_t)end, file);
    fclose(file);
    return rc;
}

static int part_unpack(const char *path, char **bytes, size_t *size)
{
    size_t length;
    void *packed = NULL;
    const int rc = part_load(path, &packed, &length);

    if (rc)
        return rc;
    const unsigned long long room = ZSTD_getFrameContentSize(packed, length);
    const bool fits = room >= sizeof(struct part_head) && room <= PART_BYTES_MAX;
    *bytes = fits ? malloc(room) : NULL;
    *size = *bytes ? ZSTD_decompress(*bytes, room, packed, length) : 0;
    free(packed);
    if (*bytes && !ZSTD_isError(*size) && *size == room)
        return 0;
    free(*bytes);
    *bytes = NULL;
    return -EBADMSG;
}

static int part_check_head(const struct part_head *head, const char *path, FILE *messages)
{
    if (memcmp(head->magic, PART_MAGIC, sizeof head->magic) != 0)
        return -EBADMSG;
    if (strncmp(head->version, hil_version, sizeof head->version) == 0)
        return 0;
    fprintf(messages, "%s was written by hiloco %.*s, but this is %s: use the same version\n", path,
            (int)sizeof head->version, head->version, hil_version);
    return -EPROTO;
}

void hil_part_tell_version(const char *dir, FILE *messages)
{
    char path[HIL_PATH_BYTES], *bytes;
    struct part_head head;
    size_t size;

    if (hil_run_path(path, dir, HIL_PART_FILE) || part_unpack(path, &bytes, &size))
        return;
    memcpy(&head, bytes, sizeof head);
    free(bytes);
    part_check_head(&head, path, messages);
}

/* The listings are equal up to the first different line, which is reported. */
static int part_check_listing(const struct hil_scenario *s, const char *lines, uint64_t length,
                              const char *path, FILE *messages)
{
    const struct loco_agreement own = {s->listing.lines, s->listing.length, s->listing.hash};
    struct loco_difference difference;
    uint64_t offset = 0;
    char text[600];

    if (length == own.length && memcmp(lines, own.lines, length) == 0)
        return 0;
    char *copy = strndup(lines, length);
    if (!copy)
        return -ENOMEM;
    for (const char *rest = copy; !loco_agreement_differs(&own, &offset, rest, &difference);)
        rest = "";
    free(copy);
    hil_links_say_difference(difference.here, difference.there, text, sizeof text);
    fprintf(messages, "%s belongs to another scenario: %s\n", path, text);
    return -EPROTO;
}

static int part_take_executor(struct part_bytes *b, const struct hil_system *s,
                              struct hil_executor_config *executor)
{
    struct part_executor e;
    const void *at = part_take(b, sizeof e);

    if (!at)
        return -EBADMSG;
    memcpy(&e, at, sizeof e);
    unsigned *nodes = NULL;
    at = e.count > 0 && e.count <= s->node_count ? part_take(b, e.count * sizeof *nodes) : NULL;
    if (!at)
        return -EBADMSG;
    nodes = hil_pool_get(s->pool, e.count, sizeof *nodes);
    if (!nodes)
        return -ENOMEM;
    memcpy(nodes, at, e.count * sizeof *nodes);
    for (unsigned i = 0; i < e.count; i++)
        if (nodes[i] >= s->node_count || (i > 0 && nodes[i] <= nodes[i - 1]))
            return -EBADMSG;
    *executor = (struct hil_executor_config){.nodes = nodes, .count = e.count, .cpu = e.cpu};
    return 0;
}

static int part_take_executors(struct hil_part *part, struct part_bytes *b, unsigned count,
                               const struct hil_system *s)
{
    int rc = count > 0 && count <= s->node_count ? 0 : -EBADMSG;

    part->executors = rc ? NULL : hil_pool_get(s->pool, count, sizeof *part->executors);
    if (!rc && !part->executors)
        rc = -ENOMEM;
    for (; !rc && part->executor_count < count; part->executor_count++)
        rc = part_take_executor(b, s, &part->executors[part->executor_count]);
    return rc;
}

static int part_take_state(struct hil_part *part, struct part_bytes *b, uint64_t size,
                           const struct hil_scenario *s)
{
    struct hil_scenario of_part = *s;
    const void *at = part_take(b, size);
    void *image = at && b->left == 0 ? malloc(size + 1) : NULL; /* an aligned copy */

    if (!image)
        return at && b->left == 0 ? -ENOMEM : -EBADMSG;
    memcpy(image, at, size);
    of_part.executors = part->executors;
    of_part.executor_count = part->executor_count;
    int rc = hil_state_open_rehearsal(&part->state, &of_part);
    if (!rc)
        rc = hil_state_restore(part->state, s->system, image, size);
    free(image);
    return rc == -EPROTO ? -EBADMSG : rc;
}

static int part_parse(struct hil_part *part, struct part_bytes b, const struct hil_scenario *s,
                      const char *path, FILE *messages)
{
    struct part_head head;

    memcpy(&head, part_take(&b, sizeof head), sizeof head);
    int rc = part_check_head(&head, path, messages);
    const char *lines = rc ? NULL : part_take(&b, head.listing_bytes);
    if (!rc && !lines)
        rc = -EBADMSG;
    if (!rc)
        rc = part_check_listing(s, lines, head.listing_bytes, path, messages);
    if (!rc && head.node_count != s->system->node_count)
        rc = -EBADMSG;
    part->report = head.report;
    part->report.cut_off[HIL_PART_TEXT - 1] = '\0';
    if (!rc)
        rc = part_take_executors(part, &b, head.executor_count, s->system);
    if (!rc)
        rc = part_take_state(part, &b, head.state_bytes, s);
    return rc;
}

int hil_part_read(struct hil_part *part, const char *dir, const struct hil_scenario *s,
                  FILE *messages)
{
    char path[HIL_PATH_BYTES], *bytes = NULL;
    size_t size = 0;
    int rc = hil_run_path(path, dir, HIL_PART_FILE);

    *part = (struct hil_part){0};
    if (!rc)
        rc = part_unpack(path, &bytes, &size);
    if (!rc)
        rc = part_parse(part, (struct part_bytes){bytes, size}, s, path, messages);
    free(bytes);
    if (rc && rc != -ENOENT && rc != -EPROTO)
        fprintf(messages, "%s %s\n", path,
                rc == -EBADMSG ? "is damaged, or not part of a run" : strerror(-rc));
    if (rc)
        hil_part_close(part);
    return rc;
}

void hil_part_close(struct hil_part *part)
{
    hil_state_close(part->state);
    part->state = NULL;
}
