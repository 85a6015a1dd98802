'use strict';

/* Curves as pack.h says how they are packed. */

function bytesOfBase64(text) {
    const letters = atob(text), bytes = new Uint8Array(letters.length);

    for (let i = 0; i < letters.length; i++)
        bytes[i] = letters.charCodeAt(i);
    return bytes;
}

async function inflate(bytes) {
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));

    return new Uint8Array(await new Response(stream).arrayBuffer());
}

/* How many blocks have so many rows: each takes the rows of its level, and the last what is left. */
function blocksIn(bytes, rows, shortest) {
    let blocks = 0;

    for (let done = 0; done < rows; blocks++)
        done += shortest * 2 ** (bytes[blocks] & 127);
    return blocks;
}

/* Zigzag: 0, -1, 1, -2 ... of numbers that need not fit in 32 bits. */
function readVarint(bytes, place) {
    let number = 0, scale = 1, byte;

    do {
        byte = bytes[place.at++];
        number += (byte & 127) * scale;
        scale *= 128;
    } while (byte & 128);
    return number % 2 ? -(number + 1) / 2 : number / 2;
}

function readPlanes(bytes, at, count, i) {
    return (bytes[at + i] | bytes[at + count + i] << 8 | bytes[at + 2 * count + i] << 16 |
            bytes[at + 3 * count + i] << 24) >>> 0;
}

/* The float that such an ordered number is of. */
const floatBits = new Uint32Array(1), floatOfBits = new Float32Array(floatBits.buffer);

function floatOfOrdered(ordered) {
    floatBits[0] = ordered & 0x80000000 ? ordered ^ 0x80000000 : ~ordered;
    return floatOfBits[0];
}

function curveOfBytes(bytes, {rows, shortest, period_ns}) {
    const blocks = blocksIn(bytes, rows, shortest), place = {at: blocks};
    const curve = {x: new Float64Array(blocks), end: new Float64Array(blocks),
                   low: new Float32Array(blocks), high: new Float32Array(blocks),
                   rows: new Float64Array(blocks), apart: new Uint8Array(blocks)};

    for (let i = 0, done = 0, time_ns = 0; i < blocks; i++) {
        curve.rows[i] = Math.min(shortest * 2 ** (bytes[i] & 127), rows - done);
        curve.apart[i] = bytes[i] >> 7;
        done += curve.rows[i];
        time_ns += readVarint(bytes, place);
        curve.x[i] = time_ns * 1e-9;
        curve.end[i] = (time_ns + (curve.rows[i] - 1) * period_ns) * 1e-9;
        time_ns += shortest * 2 ** (bytes[i] & 127) * period_ns;
    }
    for (let i = 0, least = 0x80000000; i < blocks; i++) {
        const zigzag = readPlanes(bytes, place.at, blocks, i);
        least = (least + ((zigzag >>> 1) ^ -(zigzag & 1))) >>> 0;
        curve.low[i] = floatOfOrdered(least);
        curve.high[i] =
            floatOfOrdered((least + readPlanes(bytes, place.at + 4 * blocks, blocks, i)) >>> 0);
    }
    for (let i = 0; i + 1 < blocks; i++) /* rows that came faster than they were due */
        curve.end[i] = Math.max(curve.x[i], Math.min(curve.end[i], curve.x[i + 1]));
    return new Curve(curve);
}

async function unpackCurve(packed) {
    return curveOfBytes(await inflate(bytesOfBase64(packed.data)), packed);
}
