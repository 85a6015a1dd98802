'use strict';

/*
 * Saves the visible data as files: numbers as CSV, a picture as PNG.
 */

/* A line for each time at which a trace has a value, in order of time. Numbers have all their digits,
 * so that the same values are read back. */
function csvOf(columns) {
    const at = columns.map(({times, from}) => from ?? indexAt(times, -Infinity));
    const lines = [['time_s', ...columns.map(({name}) => csvCell(name))].join(',')];

    for (;;) {
        const next = columns.map(({times, to}, i) => at[i] < to ? times[at[i]] : Infinity);
        const time = Math.min(...next);
        if (!Number.isFinite(time))
            return `${lines.join('\n')}\n`;
        lines.push([time, ...columns.map(({values}, i) => next[i] === time ? values[at[i]++] : '')]
            .map((value) => Number.isNaN(value) ? '' : value).join(','));
    }
}

/* Of a capture each step that is seen; of a roll the extremes of each column. */
function csvOfScreen(screen) {
    const {from, to} = screen.x;
    const columns = [];

    for (const trace of screen.traces) {
        const found = screen.samplesOf(trace);
        if (!found)
            continue;
        const span = {from: indexAt(found.times, from), to: indexAt(found.times, to + 1e-12)};
        if (screen.mode === 'roll') {
            columns.push({name: `${trace.name} min`, times: found.times, values: found.lows, ...span},
                         {name: `${trace.name} max`, times: found.times, values: found.highs, ...span});
        } else {
            const {times} = screen.capture.traces.get(trace.name);
            columns.push({name: trace.name, times, values: found.values, ...span});
        }
    }
    return csvOf(columns);
}

/* The screen, and the names of its traces below it. */
function pngOfScreen(screen, title, done) {
    const {canvas, paint, traces} = screen, scale = window.devicePixelRatio || 1;
    const made = element('canvas', {width: canvas.width,
                                    height: canvas.height + scale * (26 + 16 * traces.length)});
    const context = made.getContext('2d');

    context.fillStyle = paint.ink.paper;
    context.fillRect(0, 0, made.width, made.height);
    context.drawImage(canvas, 0, 0);
    context.setTransform(scale, 0, 0, scale, 0, canvas.height);
    context.font = paintFont;
    context.fillStyle = paint.ink.faint;
    context.fillText(title, 12, 14);
    traces.forEach(({name, unit, colour}, i) => {
        context.fillStyle = paint.colourOf(colour);
        context.fillRect(12, 24 + 16 * i, 14, 4);
        context.fillStyle = paint.ink.ink;
        context.fillText(withUnit(name, unit && `(${unit})`), 34, 30 + 16 * i);
    });
    made.toBlob(done, 'image/png');
}
