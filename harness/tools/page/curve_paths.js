'use strict';

/*
 * The paths of a curve's visible part: a line, and a band between the extremes of wide blocks.
 * Several blocks in one pixel are a vertical line between their extremes.
 */
class CurvePaths {
    constructor(curve, x, y) {
        const [from, to] = curve.seen(x.from, x.to);

        Object.assign(this, {curve, x, y, line: new Path2D(), band: new Path2D()});
        for (let i = from; i < to;)
            i = this.pixel(i, to);
    }

    /* Draws the blocks that begin in the pixel of block i. Returns the first remaining block. */
    pixel(i, to) {
        const {curve, x} = this, pixel = Math.floor(x.pixel(curve.x[i]));
        const next = Math.max(i + 1, Math.min(to, curve.after(x.value(pixel + 1))));

        if (next - i > 2)
            this.many(i, next, pixel + 0.5);
        else
            for (let k = i; k < next; k++)
                this.block(k);
        return next;
    }

    join(i, x, y) {
        if (this.curve.apart[i])
            this.line.moveTo(x, y);
        else
            this.line.lineTo(x, y);
    }

    middle(i) {
        return this.y.pixel((this.curve.low[i] + this.curve.high[i]) / 2);
    }

    many(i, next, x) {
        const {line, y} = this, {low, high} = this.curve.range(i, next);

        this.join(i, x, this.middle(i));
        line.lineTo(x, y.pixel(low) + 0.3);
        line.lineTo(x, y.pixel(high) - 0.3);
        line.lineTo(x, this.middle(next - 1));
    }

    block(i) {
        const {curve, line, band} = this;
        const x = this.x.pixel(curve.x[i]), end = this.x.pixel(curve.end[i]);
        const low = this.y.pixel(curve.low[i]), high = this.y.pixel(curve.high[i]);

        this.join(i, x, this.middle(i));
        if (curve.isPoint(i)) {
            line.lineTo(Math.max(end, x + 0.01), low);
            return;
        }
        if (end - x < 1.5) {
            line.lineTo(x, low);
            line.lineTo(x, high);
            line.lineTo(x, (low + high) / 2);
            return;
        }
        band.rect(x, high, end - x, low - high);
        line.moveTo(x, low);
        line.lineTo(end, low);
        line.moveTo(x, high);
        line.lineTo(end, high);
        line.moveTo(end, (low + high) / 2);
    }
}
