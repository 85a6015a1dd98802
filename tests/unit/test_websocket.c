/*
 * Tests WebSockets as in RFC 6455, and who may open one: the answer to the handshake; a client's
 * frames, whole, in pieces and malformed; and the access check of the scope.
 */
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../harness/tools/scope/access.h"
#include "../../harness/tools/scope/websocket.h"

/* --- the handshake ---------------------------------------------------------------------------- */

Test(websocket, answers_the_key_of_the_rfc)
{
    char accept[HIL_WS_ACCEPT_BYTES];

    cr_assert(hil_ws_accept("dGhlIHNhbXBsZSBub25jZQ==", accept));
    cr_expect_str_eq(accept, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}

Test(websocket, refuses_what_is_no_key)
{
    static const char *const keys[] = {"", "dGhlIHNhbXBsZSBub25jZQ=", "dGhlIHNhbXBsZSBub25jZQ===",
                                       "dGhlIHNhbXBsZSBub25!ZQ==", "dGhlIHNhbXBsZSBub25jZWFi"};
    char accept[HIL_WS_ACCEPT_BYTES];

    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        cr_expect_not(hil_ws_accept(keys[i], accept), "\"%s\"", keys[i]);
}

/* --- frames ----------------------------------------------------------------------------------- */

static const unsigned char mask[] = {0x37, 0xfa, 0x21, 0x3d};

/* Makes a client's frame around a payload. Returns its size. */
static size_t make_frame(unsigned char *frame, unsigned char first, const void *payload,
                         size_t size)
{
    size_t head = hil_ws_head(HIL_WS_TEXT, size, frame);
    const unsigned char *bytes = payload;

    frame[0] = first;
    frame[1] |= 0x80;
    memcpy(frame + head, mask, sizeof mask);
    head += sizeof mask;
    for (size_t i = 0; i < size; i++)
        frame[head + i] = bytes[i] ^ mask[i % 4];
    return head + size;
}

/* 5.7: a masked "Hello". */
Test(websocket, reads_the_frame_of_the_rfc)
{
    unsigned char bytes[] = {0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58};
    struct hil_ws_frame frame;

    cr_assert_eq(hil_ws_read(bytes, sizeof bytes, &frame), 1);
    cr_expect_eq(frame.opcode, HIL_WS_TEXT);
    cr_expect_eq(frame.whole, sizeof bytes);
    cr_assert_eq(frame.size, 5);
    cr_expect_arr_eq(frame.payload, "Hello", 5);
}

/* Every length at which the header changes. No frame is accepted a byte too early. */
Test(websocket, reads_frames_that_come_in_pieces)
{
    static const size_t sizes[] = {0, 1, 125, 126, 127, 65535, 65536};
    unsigned char *bytes = malloc(HIL_WS_MESSAGE_MAX + HIL_WS_HEAD_MAX), payload[65536];
    struct hil_ws_frame frame;

    for (size_t i = 0; i < sizeof payload; i++)
        payload[i] = (unsigned char)(i * 7);
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        const size_t whole = make_frame(bytes, 0x81, payload, sizes[s]);
        for (size_t part = 0; part < whole; part += part < 16 || part > whole - 16 ? 1 : 997)
            cr_assert_eq(hil_ws_read(bytes, part, &frame), 0, "%zu of %zu", part, whole);
        cr_assert_eq(hil_ws_read(bytes, whole, &frame), 1);
        cr_assert_eq(frame.size, sizes[s]);
        cr_assert_eq(frame.whole, whole);
        cr_assert_eq(memcmp(frame.payload, payload, sizes[s]), 0);
    }
    free(bytes);
}

/* The first bytes of a frame decide, without waiting for the rest. */
Test(websocket, refuses_bad_frames)
{
    static const struct {
        const char *what;
        unsigned char bytes[14];
        size_t size;
        enum hil_ws_reason reason;
    } bad[] = {
        {"not masked", {0x81, 0x05}, 2, HIL_WS_PROTOCOL},
        {"reserved bits", {0xc1, 0x85}, 2, HIL_WS_PROTOCOL},
        {"an unknown opcode", {0x83, 0x85}, 2, HIL_WS_PROTOCOL},
        {"an unknown control opcode", {0x8b, 0x85}, 2, HIL_WS_PROTOCOL},
        {"a ping in parts", {0x09, 0x80}, 2, HIL_WS_PROTOCOL},
        {"a long ping", {0x89, 0xfe}, 2, HIL_WS_PROTOCOL},
        {"nothing to go on from", {0x80, 0x80}, 2, HIL_WS_PROTOCOL},
        {"binary", {0x82, 0x80}, 2, HIL_WS_UNSUPPORTED},
        {"a text in parts", {0x01, 0x80}, 2, HIL_WS_UNSUPPORTED},
        {"64 KiB and a byte", {0x81, 0xff, 0, 0, 0, 0, 0, 1, 0, 1, 1, 2, 3, 4}, 14, HIL_WS_TOO_BIG},
        {"more than there are",
         {0x81, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 2, 3, 4},
         14,
         HIL_WS_TOO_BIG},
    };

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        unsigned char bytes[14];
        struct hil_ws_frame frame;
        memcpy(bytes, bad[i].bytes, sizeof bytes);
        cr_expect_eq(hil_ws_read(bytes, bad[i].size, &frame), -(int)bad[i].reason, "%s",
                     bad[i].what);
    }
}

Test(websocket, writes_heads)
{
    unsigned char head[HIL_WS_HEAD_MAX];

    cr_assert_eq(hil_ws_head(HIL_WS_TEXT, 125, head), 2);
    cr_expect_arr_eq(head, ((unsigned char[]){0x81, 125}), 2);
    cr_assert_eq(hil_ws_head(HIL_WS_BINARY, 126, head), 4);
    cr_expect_arr_eq(head, ((unsigned char[]){0x82, 126, 0, 126}), 4);
    cr_assert_eq(hil_ws_head(HIL_WS_BINARY, 65535, head), 4);
    cr_expect_arr_eq(head, ((unsigned char[]){0x82, 126, 0xff, 0xff}), 4);
    cr_assert_eq(hil_ws_head(HIL_WS_BINARY, 65536, head), 10);
    cr_expect_arr_eq(head, ((unsigned char[]){0x82, 127, 0, 0, 0, 0, 0, 1, 0, 0}), 10);
}

/* --- the gate --------------------------------------------------------------------------------- */

static struct sockaddr_storage address_of(const char *ip, unsigned port)
{
    struct sockaddr_storage address = {0};
    struct sockaddr_in *four = (struct sockaddr_in *)&address;
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)&address;

    if (inet_pton(AF_INET, ip, &four->sin_addr) == 1) {
        four->sin_family = AF_INET;
        four->sin_port = htons((uint16_t)port);
    } else {
        cr_assert_eq(inet_pton(AF_INET6, ip, &six->sin6_addr), 1);
        six->sin6_family = AF_INET6;
        six->sin6_port = htons((uint16_t)port);
    }
    return address;
}

static bool opens(const char *ip, unsigned port, const char *host)
{
    const struct sockaddr_storage address = address_of(ip, port);

    return hil_access_host(&address, host);
}

Test(gate, host_is_where_the_request_came_to)
{
    cr_expect(opens("127.0.0.1", 8080, "127.0.0.1:8080"));
    cr_expect(opens("127.0.0.1", 8080, "localhost:8080"));
    cr_expect(opens("127.0.0.1", 8080, "LocalHost:8080"));
    cr_expect(opens("::1", 8080, "[::1]:8080"));
    cr_expect(opens("::1", 8080, "localhost:8080"));
    cr_expect(opens("192.0.2.7", 8080, "192.0.2.7:8080"));
    cr_expect_not(opens("127.0.0.1", 8080, NULL));
    cr_expect_not(opens("127.0.0.1", 8080, ""));
    cr_expect_not(opens("127.0.0.1", 8080, "127.0.0.1"));
    cr_expect_not(opens("127.0.0.1", 8080, "127.0.0.1:8081"));
    cr_expect_not(opens("127.0.0.1", 8080, "127.0.0.1:8080.example.org"));
    cr_expect_not(opens("127.0.0.1", 8080, "scope.example.org:8080"));
    cr_expect_not(opens("192.0.2.7", 8080, "localhost:8080"));
}

/* A browser omits http's default port. */
Test(gate, port_80_is_left_out)
{
    cr_expect(opens("127.0.0.1", 80, "127.0.0.1"));
    cr_expect(opens("::1", 80, "[::1]"));
    cr_expect(opens("127.0.0.1", 80, "localhost"));
    cr_expect_not(opens("127.0.0.1", 80, "127.0.0.1:8080"));
}

Test(gate, origin_is_this_page)
{
    cr_expect(hil_access_origin("127.0.0.1:8080", NULL));
    cr_expect(hil_access_origin("127.0.0.1:8080", "http://127.0.0.1:8080"));
    cr_expect_not(hil_access_origin("127.0.0.1:8080", "http://127.0.0.1:8081"));
    cr_expect_not(hil_access_origin("127.0.0.1:8080", "https://127.0.0.1:8080"));
    cr_expect_not(hil_access_origin("127.0.0.1:8080", "http://localhost:8080"));
    cr_expect_not(hil_access_origin("127.0.0.1:8080", "null"));
    cr_expect_not(hil_access_origin("127.0.0.1:8080", ""));
}

Test(gate, tokens_are_whole_and_differ)
{
    char token[HIL_TOKEN_BYTES], other[HIL_TOKEN_BYTES], longer[HIL_TOKEN_BYTES + 1];

    hil_token_make(token);
    hil_token_make(other);
    cr_assert_eq(strlen(token), HIL_TOKEN_BYTES - 1);
    cr_expect_str_neq(token, other);
    cr_expect(hil_token_is(token, token));
    cr_expect_not(hil_token_is(token, other));
    cr_expect_not(hil_token_is(token, NULL));
    cr_expect_not(hil_token_is(token, ""));
    snprintf(longer, sizeof longer, "%s0", token);
    cr_expect_not(hil_token_is(token, longer));
    longer[HIL_TOKEN_BYTES - 2] = '\0';
    cr_expect_not(hil_token_is(token, longer));
}
