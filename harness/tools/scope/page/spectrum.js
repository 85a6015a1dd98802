'use strict';

/*
 * The spectrum of equidistant samples: amplitudes by frequency, such that a sine of amplitude A
 * gives a peak of A. The mean is removed, a Hann window is applied, and zeros are added up to a
 * power of two, to at least twice the length. Therefore the frequency of a peak is close to the
 * nearest sampled one.
 */

/* In-place Fourier transform of re + i im, whose length is a power of two (Cooley, Tukey). */
function transform(re, im) {
    const n = re.length;

    for (let i = 1, j = 0; i < n; i++) { /* bit reversal */
        let bit = n >> 1;
        for (; j & bit; bit >>= 1)
            j ^= bit;
        j ^= bit;
        if (i < j) {
            [re[i], re[j]] = [re[j], re[i]];
            [im[i], im[j]] = [im[j], im[i]];
        }
    }
    for (let size = 2; size <= n; size *= 2)
        for (let k = 0; k < size / 2; k++) {
            const turn = -2 * Math.PI * k / size, c = Math.cos(turn), s = Math.sin(turn);
            for (let i = k; i < n; i += size) {
                const j = i + size / 2;
                const x = re[j] * c - im[j] * s, y = re[j] * s + im[j] * c;
                re[j] = re[i] - x;
                im[j] = im[i] - y;
                re[i] += x;
                im[i] += y;
            }
        }
}

/* {step: hertz between amplitudes, amplitudes}; null: there are too few samples. */
function spectrum(times, values, from = 0, to = times.length) {
    const count = to - from;

    if (count < 8)
        return null;
    const size = 2 ** Math.ceil(Math.log2(2 * count));
    const re = new Float64Array(size), im = new Float64Array(size);
    let mean = 0, weight = 0;

    for (let i = 0; i < count; i++)
        mean += values[from + i] / count;
    for (let i = 0; i < count; i++) {
        const window = 0.5 - 0.5 * Math.cos(2 * Math.PI * i / count);
        re[i] = window * (values[from + i] - mean);
        weight += window;
    }
    transform(re, im);
    const amplitudes = new Float64Array(size / 2);
    for (let i = 0; i < size / 2; i++)
        amplitudes[i] = 2 * Math.hypot(re[i], im[i]) / weight;
    const period = (times[to - 1] - times[from]) / (count - 1);
    return {step: 1 / (period * size), amplitudes, count};
}

/* The greatest amplitude and its frequency: the top of the parabola through it and its
 * neighbours. */
function peak({step, amplitudes}) {
    let top = 1;

    for (let i = 2; i < amplitudes.length - 1; i++)
        if (amplitudes[i] > amplitudes[top])
            top = i;
    const [a, b, c] = [amplitudes[top - 1], amplitudes[top], amplitudes[top + 1]];
    const off = a - 2 * b + c < 0 ? 0.5 * (a - c) / (a - 2 * b + c) : 0;
    return {frequency: (top + off) * step, amplitude: b - 0.25 * (a - c) * off};
}
