'use strict';

/*
 * An axis, linear or logarithmic: converts values to pixels and back, and chooses the tics.
 */
class Axis {
    constructor({label = '', unit = '', log = false, floor = -Infinity, counts = false} = {}) {
        Object.assign(this, {label, unit, log, floor, counts, from: 0, to: 1, start: 0, stop: 1});
    }

    /* The room on either side of values that hardly differ: a constant is in the middle of a tenth
     * of its size. */
    static roomOfConstant(low, high) {
        const size = Math.max(Math.abs(low), Math.abs(high));

        return high - low < (size * 1e-6 || 1) ? 0.1 * size || 1 : 0;
    }

    /* Values below the axis are placed at its beginning. */
    inner(value) {
        return this.log ? Math.log10(Math.max(value, 1e-12)) : value;
    }

    outer(inner) {
        return this.log ? 10 ** inner : inner;
    }

    pixel(value) {
        const from = this.inner(this.from), to = this.inner(this.to);

        return this.start + (this.inner(value) - from) / (to - from) * (this.stop - this.start);
    }

    value(pixel) {
        const from = this.inner(this.from), to = this.inner(this.to);

        return this.outer(from + (pixel - this.start) / (this.stop - this.start) * (to - from));
    }

    /* Scales the visible range by a factor, about a value that keeps its place. */
    zoomed(factor, about) {
        const centre = this.inner(about), from = this.inner(this.from), to = this.inner(this.to);

        return [this.outer(centre - (centre - from) * factor),
                this.outer(centre + (to - centre) * factor)];
    }

    moved(share) {
        const from = this.inner(this.from), to = this.inner(this.to), by = share * (to - from);

        return [this.outer(from + by), this.outer(to + by)];
    }

    /* Time is shown in the unit that reads best. */
    shownUnit() {
        if (this.unit !== 's' || this.log)
            return {name: this.unit, scale: 1};
        return timeUnit(Math.max(Math.abs(this.from), Math.abs(this.to)));
    }

    title() {
        const {name} = this.shownUnit();

        return name ? `${this.label} (${name})` : this.label;
    }

    /* Makes about this many tics, with their values and labels. */
    tics(about) {
        return this.log ? this.logTics(about) : this.linearTics(about);
    }

    linearTics(about) {
        const {scale} = this.shownUnit();
        const from = this.from * scale, to = this.to * scale;
        const rough = (to - from) / Math.max(1, about), power = 10 ** Math.floor(Math.log10(rough));
        const nice = [1, 2, 5, 10].find((times) => times * power >= rough * 0.999) * power;
        const step = this.counts ? Math.max(1, nice) : nice;
        const places = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
        const large = Math.max(Math.abs(from), Math.abs(to)) >= 1e6 || places > 9;
        const tics = [];

        for (let i = Math.ceil(from / step - 1e-9); i * step <= to + step * 1e-9 && tics.length < 50;
             i++)
            tics.push({value: i * step / scale,
                       text: large ? digits(i * step) : (i * step).toFixed(Math.min(places, 20))});
        return tics;
    }

    logTics(about) {
        const from = Math.ceil(Math.log10(this.from) - 1e-9);
        const to = Math.floor(Math.log10(this.to) + 1e-9);
        const step = Math.max(1, Math.ceil((to - from + 1) / Math.max(1, about)));
        const tics = [];

        for (let i = from; i <= to; i += step)
            tics.push({value: 10 ** i, text: digits(10 ** i)});
        return tics;
    }
}
