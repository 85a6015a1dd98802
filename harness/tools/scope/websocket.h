/*
 * The server's side of the WebSocket protocol (RFC 6455): handshake and frames, in memory. It does
 * not use sockets. It understands the frames that browsers send: complete texts, and the control
 * frames that keep a connection alive and end it.
 */
#ifndef HIL_WEBSOCKET_H
#define HIL_WEBSOCKET_H

#include <stdbool.h>
#include <stddef.h>

enum {
    HIL_WS_MESSAGE_MAX = 64 << 10, /* the longest message from a page */
    HIL_WS_HEAD_MAX = 14,          /* the longest head of a frame */
    HIL_WS_ACCEPT_BYTES = 29,
};

enum hil_ws_opcode {
    HIL_WS_TEXT = 1,
    HIL_WS_BINARY = 2,
    HIL_WS_CLOSE = 8,
    HIL_WS_PING = 9,
    HIL_WS_PONG = 10,
};

/* Why a connection is closed (7.4.1). */
enum hil_ws_reason {
    HIL_WS_DONE = 1000,
    HIL_WS_GOING_AWAY = 1001,
    HIL_WS_PROTOCOL = 1002,
    HIL_WS_UNSUPPORTED = 1003,
    HIL_WS_POLICY = 1008,
    HIL_WS_TOO_BIG = 1009,
};

/* The answer to a handshake's key (4.2.2). Returns false if the key is not 16 bytes in base 64. */
bool hil_ws_accept(const char *key, char accept[HIL_WS_ACCEPT_BYTES]);

/* A frame of a client in the received bytes. */
struct hil_ws_frame {
    enum hil_ws_opcode opcode;
    unsigned char *payload; /* within these bytes, unmasked in place */
    size_t size;            /* of the payload */
    size_t whole;           /* of the frame */
};

/* Returns 1 when there is a complete frame, 0 when more bytes are needed, or -reason (enum
 * hil_ws_reason) when the connection must be closed. */
int hil_ws_read(unsigned char *bytes, size_t size, struct hil_ws_frame *frame);

/* Makes the head of a frame to send; returns its size. */
size_t hil_ws_head(enum hil_ws_opcode opcode, size_t size, unsigned char head[HIL_WS_HEAD_MAX]);

#endif
