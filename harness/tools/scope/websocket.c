#include "websocket.h"

#include <nettle/sha1.h>
#include <sodium.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum {
    FINAL = 0x80,
    RESERVED = 0x70,
    OPCODE = 0x0f,
    MASKED = 0x80,
    LENGTH = 0x7f,
    LENGTH_16 = 126,
    LENGTH_64 = 127,
    CONTROL_MAX = 125,
    KEY_BYTES = 16,
    KEY_TEXT = 24,
};

/* --- the handshake ---------------------------------------------------------------------------- */

bool hil_ws_accept(const char *key, char accept[HIL_WS_ACCEPT_BYTES])
{
    unsigned char bytes[KEY_BYTES], hash[SHA1_DIGEST_SIZE];
    char text[KEY_TEXT + 37];
    struct sha1_ctx sha1;
    size_t size;

    if (strlen(key) != KEY_TEXT ||
        sodium_base642bin(bytes, sizeof bytes, key, KEY_TEXT, NULL, &size, NULL,
                          sodium_base64_VARIANT_ORIGINAL) ||
        size != KEY_BYTES)
        return false;
    const int length = snprintf(text, sizeof text, "%s258EAFA5-E914-47DA-95CA-C5AB0DC85B11", key);
    sha1_init(&sha1);
    sha1_update(&sha1, (size_t)length, (const uint8_t *)text);
    sha1_digest(&sha1, sizeof hash, hash);
    sodium_bin2base64(accept, HIL_WS_ACCEPT_BYTES, hash, sizeof hash,
                      sodium_base64_VARIANT_ORIGINAL);
    return true;
}

/* --- frames ----------------------------------------------------------------------------------- */

/* Whether a client may send frames with this first byte. Returns 0 or -reason. */
static int ws_kind(unsigned char first, size_t size)
{
    const unsigned opcode = first & OPCODE;

    if (first & RESERVED)
        return -HIL_WS_PROTOCOL;
    if (opcode >= HIL_WS_CLOSE && opcode <= HIL_WS_PONG)
        return first & FINAL && size <= CONTROL_MAX ? 0 : -HIL_WS_PROTOCOL;
    if (opcode == HIL_WS_BINARY || (opcode <= HIL_WS_TEXT && !(first & FINAL)))
        return -HIL_WS_UNSUPPORTED;
    return opcode == HIL_WS_TEXT ? 0 : -HIL_WS_PROTOCOL;
}

static uint64_t ws_number(const unsigned char *bytes, size_t count)
{
    uint64_t number = 0;

    for (size_t i = 0; i < count; i++)
        number = number << 8 | bytes[i];
    return number;
}

int hil_ws_read(unsigned char *bytes, size_t size, struct hil_ws_frame *frame)
{
    if (size < 2)
        return 0;
    const unsigned length = bytes[1] & LENGTH;
    const size_t more = length == LENGTH_64 ? 8 : length == LENGTH_16 ? 2 : 0, head = 2 + more + 4;
    int rc = ws_kind(bytes[0], length);
    if (rc || !(bytes[1] & MASKED))
        return rc ? rc : -HIL_WS_PROTOCOL;
    if (size < head)
        return 0;
    const uint64_t payload = more ? ws_number(bytes + 2, more) : length;
    if (payload > HIL_WS_MESSAGE_MAX)
        return -HIL_WS_TOO_BIG;
    if (size - head < payload)
        return 0;
    *frame = (struct hil_ws_frame){.opcode = bytes[0] & OPCODE,
                                   .payload = bytes + head,
                                   .size = payload,
                                   .whole = head + payload};
    for (size_t i = 0; i < payload; i++)
        frame->payload[i] ^= bytes[head - 4 + i % 4];
    return 1;
}

size_t hil_ws_head(enum hil_ws_opcode opcode, size_t size, unsigned char head[HIL_WS_HEAD_MAX])
{
    const size_t more = size > UINT16_MAX ? 8 : size > CONTROL_MAX ? 2 : 0;

    head[0] = (unsigned char)(FINAL | opcode);
    head[1] = (unsigned char)(more == 8 ? LENGTH_64 : more == 2 ? LENGTH_16 : size);
    for (size_t i = 0; i < more; i++)
        head[2 + i] = (unsigned char)((uint64_t)size >> 8 * (more - 1 - i));
    return 2 + more;
}
