'use strict';

/*
 * Shared by the screen's drawings: a canvas with the display's resolution, the style sheet's
 * colours, axes and curves.
 */
class Paint {
    constructor(canvas) {
        this.canvas = canvas;
        this.context = canvas.getContext('2d');
        matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.ink = null);
    }

    begin(width, height) {
        const scale = window.devicePixelRatio || 1;
        const wide = Math.round(width * scale), high = Math.round(height * scale);

        if (this.canvas.width !== wide || this.canvas.height !== high)
            Object.assign(this.canvas, {width: wide, height: high});
        this.ink ??= this.colours();
        Object.assign(this, {width, height});
        this.context.setTransform(scale, 0, 0, scale, 0, 0);
        this.context.fillStyle = this.ink.screen;
        this.context.fillRect(0, 0, width, height);
        this.context.font = '11px system-ui, sans-serif';
        return this.context;
    }

    colours() {
        const style = getComputedStyle(this.canvas);
        const of = (name) => style.getPropertyValue(name).trim();

        return {screen: of('--screen'), ink: of('--ink'), faint: of('--faint'), grid: of('--grid'),
                mark: of('--mark'), light: of('--curve-light'), soft: of('--curve-soft'),
                saturation: of('--curve-saturation')};
    }

    /* Eight hues, then the same in a softer shade. */
    colourOf(number) {
        const {light, soft, saturation} = this.ink ??= this.colours();
        const hues = [211, 25, 145, 340, 265, 180, 50, 0];

        return `hsl(${hues[number % 8]} ${saturation} ${number < 8 ? light : soft})`;
    }

    line(x1, y1, x2, y2) {
        this.context.beginPath();
        this.context.moveTo(x1, y1);
        this.context.lineTo(x2, y2);
        this.context.stroke();
    }

    dashed(x1, y1, x2, y2, colour) {
        this.context.strokeStyle = colour;
        this.context.setLineDash([5, 4]);
        this.line(x1, y1, x2, y2);
        this.context.setLineDash([]);
    }

    /* Vertical lines of an x axis between two heights, with its tics below. */
    axisX(axis, top, bottom, title) {
        const {context, ink} = this;

        context.lineWidth = 1;
        context.strokeStyle = ink.grid;
        context.fillStyle = ink.faint;
        context.textAlign = 'center';
        context.textBaseline = 'top';
        for (const tic of axis.tics((axis.stop - axis.start) / 90)) {
            const at = Math.round(axis.pixel(tic.value)) + 0.5;
            this.line(at, top, at, bottom);
            context.fillText(tic.text, at, bottom + 5);
        }
        context.fillText(title, (axis.start + axis.stop) / 2, bottom + 19, axis.stop - axis.start);
    }

    /* Horizontal lines of a y axis between two values of x, with its tics on the left, and its
     * name. */
    axisY(axis, left, right, title) {
        const {context, ink} = this;

        context.lineWidth = 1;
        context.strokeStyle = ink.grid;
        context.fillStyle = ink.faint;
        context.textAlign = 'right';
        context.textBaseline = 'middle';
        for (const tic of axis.tics((axis.start - axis.stop) / 34)) {
            const at = Math.round(axis.pixel(tic.value)) + 0.5;
            this.line(left, at, right, at);
            context.fillText(tic.text, left - 5, at, left - 18);
        }
        context.strokeRect(left + 0.5, axis.stop + 0.5, right - left - 1, axis.start - axis.stop);
        context.save();
        context.translate(8, (axis.start + axis.stop) / 2);
        context.rotate(-Math.PI / 2);
        context.textAlign = 'center';
        context.fillText(title, 0, 0, axis.start - axis.stop);
        context.restore();
    }

    inside(x, y, draw) {
        this.context.save();
        this.context.beginPath();
        this.context.rect(x.start, y.stop, x.stop - x.start, y.start - y.stop);
        this.context.clip();
        draw();
        this.context.restore();
    }

    stroke(path, colour, width = 1.3) {
        this.context.strokeStyle = colour;
        this.context.lineWidth = width;
        this.context.lineJoin = 'bevel';
        this.context.stroke(path);
    }

    /* Columns of a roll, each from its least to its greatest value. Columns with gaps of up to
     * `hole` are joined, because a signal may have values in only some of the columns. */
    roll(roll, from, to, width, hole, x, y) {
        const path = new Path2D();
        const scale = (x.stop - x.start) / (x.to - x.from);
        let before = -Infinity;

        for (let column = Math.max(0, from); column < to; column++) {
            const place = roll.place(column);
            if (place < 0)
                continue;
            const at = x.start + ((column + 0.5) * width - x.from) * scale;
            const low = y.pixel(roll.low[place]), high = y.pixel(roll.high[place]);
            if (column - before <= hole)
                path.lineTo(at, low);
            else
                path.moveTo(at, low);
            if (high !== low)
                path.lineTo(at, high);
            before = column;
        }
        return path;
    }

    /* Samples: if many fall in one pixel, a line between their extremes; if they are far apart,
     * with dots. */
    samples(times, values, x, y, origin = 0) {
        const path = new Path2D(), scale = (x.stop - x.start) / (x.to - x.from);
        const first = Math.max(0, indexAt(times, x.from + origin) - 1);
        const end = Math.min(times.length, indexAt(times, x.to + origin) + 1);
        const dots = (end - first) * 8 < x.stop - x.start;
        let joined = false;

        for (let i = first; i < end;) {
            const at = x.start + (times[i] - origin - x.from) * scale, pixel = Math.floor(at);
            let low = values[i], high = low, last = low, next = i + 1;
            for (; next < end && x.start + (times[next] - origin - x.from) * scale < pixel + 1; next++) {
                last = values[next];
                low = Math.min(low, last);
                high = Math.max(high, last);
            }
            if (!Number.isFinite(low + high)) {
                joined = false;
                i = next;
                continue;
            }
            if (joined)
                path.lineTo(at, y.pixel(values[i]));
            else
                path.moveTo(at, y.pixel(values[i]));
            if (low !== high) {
                path.lineTo(at, y.pixel(low));
                path.lineTo(at, y.pixel(high));
                path.lineTo(at, y.pixel(last));
            }
            if (dots)
                path.rect(at - 1, y.pixel(last) - 1, 2, 2);
            if (dots)
                path.moveTo(at, y.pixel(last));
            joined = true;
            i = next;
        }
        return path;
    }
}
