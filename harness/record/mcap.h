/*
 * A file in the format MCAP, version 0: messages with times, each on a channel, which Foxglove and
 * PlotJuggler read. https://mcap.dev/spec has the format.
 *
 * Messages go into chunks, compressed by zstd, each with the places of its messages; what says
 * where the chunks are comes at the end. Memory does not grow with the messages.
 */
#ifndef HIL_MCAP_H
#define HIL_MCAP_H

#include <stddef.h>
#include <stdint.h>

struct hil_mcap;

/* A key and its text. */
struct hil_mcap_pair {
    const char *key, *text;
};

/* Creates the file. Returns 0 or a negative errno. */
int hil_mcap_create(struct hil_mcap **mcap, const char *path);

/* What is known of the whole file. All functions return 0 or the first error that the file met. */
int hil_mcap_add_metadata(struct hil_mcap *mcap, const char *name,
                          const struct hil_mcap_pair *pairs, unsigned count);

/* Adds a schema, a JSON Schema of messages in JSON. *id is what channels say. */
int hil_mcap_add_schema(struct hil_mcap *mcap, const char *name, const char *text, unsigned *id);

/* Adds a channel of such messages, of which this is known. -E2BIG when there are as many as the
 * format allows. */
enum { HIL_MCAP_CHANNELS_MAX = UINT16_MAX };
int hil_mcap_add_channel(struct hil_mcap *mcap, const char *topic, unsigned schema,
                         const struct hil_mcap_pair *pairs, unsigned count, unsigned *channel);

/* Adds a message; times should not go back. */
int hil_mcap_add(struct hil_mcap *mcap, unsigned channel, uint64_t t_ns, const void *data,
                 size_t size);

/* Ends the file, and frees it in any case. */
int hil_mcap_close(struct hil_mcap *mcap);

#endif
