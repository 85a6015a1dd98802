'use strict';

/*
 * The extremes of a trace in each column of time, for the width of a screen: a ring of fixed size.
 */
class Roll {
    constructor(columns) {
        this.size = columns + 64; /* columns that come while a screen is drawn */
        this.low = new Float64Array(this.size);
        this.high = new Float64Array(this.size);
        this.number = new Float64Array(this.size).fill(-1); /* number of the stored column */
        this.end = 0; /* number of the newest column + 1 */
    }

    /* Stores `count` columns from `first` on; their values begin at values[at]. */
    take(first, count, values, at) {
        for (let i = Math.max(0, count - this.size); i < count; i++) {
            const place = (first + i) % this.size;

            this.number[place] = first + i;
            this.low[place] = values[at + 2 * i];
            this.high[place] = values[at + 2 * i + 1];
        }
        this.end = first + count;
    }

    /* The index of a column; -1: it is not there. */
    place(column) {
        const place = column % this.size;

        return this.number[place] === column && this.low[place] <= this.high[place] ? place : -1;
    }

    /* The extremes of columns from .. to - 1. */
    range(from, to) {
        let low = Infinity, high = -Infinity;

        for (let column = Math.max(0, from); column < to; column++) {
            const place = this.place(column);
            if (place < 0)
                continue;
            low = Math.min(low, this.low[place]);
            high = Math.max(high, this.high[place]);
        }
        return {low, high};
    }

    /* A line through the columns, each from its least to its greatest value. Columns with gaps of up
     * to `hole` are joined, because a signal may have values in only some of the columns. */
    path(from, to, width, hole, x, y) {
        const path = new Path2D();
        let before = -Infinity;

        for (let column = Math.max(0, from); column < to; column++) {
            const place = this.place(column);
            if (place < 0)
                continue;
            const at = x.pixel((column + 0.5) * width);
            const low = y.pixel(this.low[place]), high = y.pixel(this.high[place]);
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

    /* The columns as samples: the middle and the extremes of each, and whether these are all of its
     * values. */
    samples(from, to, width) {
        const times = [], values = [], lows = [], highs = [];
        let exact = true;

        for (let column = Math.max(0, from); column < to; column++) {
            const place = this.place(column);
            if (place < 0)
                continue;
            times.push((column + 0.5) * width);
            values.push((this.low[place] + this.high[place]) / 2);
            lows.push(this.low[place]);
            highs.push(this.high[place]);
            exact &&= this.low[place] === this.high[place];
        }
        return {times, values, lows, highs, exact};
    }
}
