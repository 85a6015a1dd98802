'use strict';

/*
 * A curve: blocks in the order of x, each with the least and the greatest of its values. Block i
 * begins at x[i] and ends at end[i]; a block of one value is a point. If apart[i], block i is not
 * joined to the one before.
 *
 * Above the blocks is a pyramid with the least and the greatest of 8 blocks, of 64, and so on. Thus
 * the extremes in a pixel are found in a few steps, however many blocks it covers.
 */
class Curve {
    constructor({x, end, low, high, rows, apart}) {
        Object.assign(this, {x, end, low, high, rows, apart, count: x.length});
        this.levels = [{low, high}];
        for (let top = this.levels[0]; top.low.length > 1; this.levels.push(top))
            top = Curve.above(top);
    }

    /* Of samples, each a point, at their times less `origin`. A sample that is not a number is left
     * out, and parts its neighbours. */
    static ofSamples(times, values, origin = 0) {
        const kept = [...values.keys()].filter((i) => Number.isFinite(values[i]));
        const x = Float64Array.from(kept, (i) => times[i] - origin);
        const low = Float64Array.from(kept, (i) => values[i]);

        return new Curve({x, end: x, low, high: low, rows: new Uint32Array(x.length).fill(1),
                          apart: kept.map((i, k) => k === 0 || kept[k - 1] !== i - 1)});
    }

    static above({low, high}) {
        const count = Math.ceil(low.length / 8);
        const above = {low: new Float64Array(count), high: new Float64Array(count)};

        for (let i = 0, from = 0; i < count; i++, from += 8) {
            const to = Math.min(from + 8, low.length);
            let least = low[from], greatest = high[from];
            for (let k = from + 1; k < to; k++) {
                if (low[k] < least)
                    least = low[k];
                if (high[k] > greatest)
                    greatest = high[k];
            }
            above.low[i] = least;
            above.high[i] = greatest;
        }
        return above;
    }

    /* The first block that begins after x. */
    after(x) {
        let low = 0, high = this.count;

        while (low < high) {
            const middle = (low + high) >> 1;
            if (this.x[middle] <= x)
                low = middle + 1;
            else
                high = middle;
        }
        return low;
    }

    /* The visible blocks between two values of x, with a neighbour on either side. */
    seen(from, to) {
        return [Math.max(0, this.after(from) - 1), Math.min(this.count, this.after(to) + 1)];
    }

    /* The extremes of blocks from .. to - 1. */
    range(from, to) {
        let low = Infinity, high = -Infinity, level = 0;
        const take = (i) => {
            low = Math.min(low, this.levels[level].low[i]);
            high = Math.max(high, this.levels[level].high[i]);
        };

        for (; from < to; from >>= 3, to >>= 3, level++) {
            while (from < to && from & 7)
                take(from++);
            while (from < to && to & 7)
                take(--to);
        }
        return {low, high};
    }

    /* The block that contains x, or its nearer neighbour. -1: there is none. */
    at(x) {
        const next = this.after(x);

        if (next === 0 || next === this.count)
            return next === 0 ? (this.count ? 0 : -1) : next - 1;
        return x <= this.end[next - 1] || x - this.end[next - 1] < this.x[next] - x ? next - 1
                                                                                     : next;
    }

    isPoint(i) {
        return this.low[i] === this.high[i];
    }
}
