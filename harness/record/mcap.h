/*
 * Writes files in the format MCAP, version 0 (https://mcap.dev/spec): timed messages, each on a
 * channel, which Foxglove and PlotJuggler read.
 *
 * Messages are collected in chunks, which are compressed by zstd and have an index of their
 * messages. An index of the chunks comes at the end. Memory use does not grow with the number of
 * messages.
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

/* Adds information about the whole file. All functions return 0 or the first error that the file
 * met. */
int hil_mcap_add_metadata(struct hil_mcap *mcap, const char *name,
                          const struct hil_mcap_pair *pairs, unsigned count);

/* Adds a JSON Schema for messages in JSON. *id is the number that channels refer to. */
int hil_mcap_add_schema(struct hil_mcap *mcap, const char *name, const char *text, unsigned *id);

/* Adds a channel for messages of a schema, with metadata. Returns -E2BIG when there are as many as
 * the format allows. */
enum { HIL_MCAP_CHANNELS_MAX = UINT16_MAX };
int hil_mcap_add_channel(struct hil_mcap *mcap, const char *topic, unsigned schema,
                         const struct hil_mcap_pair *pairs, unsigned count, unsigned *channel);

/* Adds a message; times should not decrease. */
int hil_mcap_add(struct hil_mcap *mcap, unsigned channel, uint64_t t_ns, const void *data,
                 size_t size);

/* Finishes the file, and frees the structure in any case. */
int hil_mcap_close(struct hil_mcap *mcap);

#endif
