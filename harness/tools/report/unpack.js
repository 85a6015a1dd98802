'use strict';

/* Unpacks curves; pack.h describes the format. */

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

/* The number of rows in a block of each level. */
function rowsOfLevels(shortest) {
    return Float64Array.from({length: 128}, (_, level) => shortest * 2 ** level);
}

/* The number of blocks for this many rows: each has the rows of its level, and the last one has the
 * rest. */
function blocksIn(bytes, rows, rowsOf) {
    let blocks = 0;

    for (let done = 0; done < rows; blocks++)
        done += rowsOf[bytes[blocks] & 127];
    return blocks;
}

/* Reads a varint of several bytes, zigzag: 0, -1, 1, -2 ... It may exceed 32 bits. */
function readLong(bytes, place) {
    let number = 0, scale = 1, byte;

    do {
        byte = bytes[place.at++];
        number += (byte & 127) * scale;
        scale *= 128;
    } while (byte & 128);
    return number % 2 ? -(number + 1) / 2 : number / 2;
}

/* Sets the times. Returns where the values begin. Most times are as expected, and take one byte. */
function readTimes(bytes, curve, {rows, period_ns}, rowsOf) {
    const {count, x, end} = curve, place = {at: count};
    let time_ns = 0, done = 0;

    for (let i = 0; i < count; i++) {
        const due = rowsOf[bytes[i] & 127], taken = due < rows - done ? due : rows - done;
        const byte = bytes[place.at];
        if (byte & 128)
            time_ns += readLong(bytes, place);
        else {
            time_ns += (byte >>> 1) ^ -(byte & 1);
            place.at++;
        }
        done += taken;
        curve.rows[i] = taken;
        curve.apart[i] = bytes[i] >> 7;
        x[i] = time_ns * 1e-9;
        end[i] = (time_ns + (taken - 1) * period_ns) * 1e-9;
        time_ns += due * period_ns;
    }
    for (let i = 0; i + 1 < count; i++) /* correct rows that came earlier than due */
        if (end[i] > x[i + 1] || end[i] < x[i])
            end[i] = Math.max(x[i], Math.min(end[i], x[i + 1]));
    return place.at;
}

/* The bits of the float that the ordered number stands for. */
function bitsOfOrdered(ordered) {
    return ordered & 0x80000000 ? ordered ^ 0x80000000 : ~ordered;
}

/* Sets the least and the greatest values, each stored as four planes of bytes. */
function readValues(bytes, at, {count, low, high}) {
    const lowBits = new Uint32Array(low.buffer), highBits = new Uint32Array(high.buffer);
    const plane = (number) => bytes.subarray(at + number * count, at + (number + 1) * count);
    const [a, b, c, d, e, f, g, h] = [0, 1, 2, 3, 4, 5, 6, 7].map(plane);

    for (let i = 0, least = 0x80000000 | 0; i < count; i++) {
        const zigzag = a[i] | b[i] << 8 | c[i] << 16 | d[i] << 24;
        least = (least + ((zigzag >>> 1) ^ -(zigzag & 1))) | 0;
        lowBits[i] = bitsOfOrdered(least);
        highBits[i] = bitsOfOrdered((least + (e[i] | f[i] << 8 | g[i] << 16 | h[i] << 24)) | 0);
    }
}

function curveOfBytes(bytes, packed) {
    const rowsOf = rowsOfLevels(packed.shortest), count = blocksIn(bytes, packed.rows, rowsOf);
    const curve = {count, x: new Float64Array(count), end: new Float64Array(count),
                   low: new Float32Array(count), high: new Float32Array(count),
                   rows: new Float64Array(count), apart: new Uint8Array(count)};

    readValues(bytes, readTimes(bytes, curve, packed, rowsOf), curve);
    return new Curve(curve);
}

async function unpackCurve(packed) {
    return curveOfBytes(await inflate(bytesOfBase64(packed.data)), packed);
}
