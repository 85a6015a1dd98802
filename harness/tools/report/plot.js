'use strict';

/*
 * A plot of curves on a canvas. It does not depend on the rest of the page.
 *
 *      new Plot(parent, {label, x: {label, unit, log, whole: [from, to], counts},
 *                        y: {label, unit, log, floor, counts},
 *                        curves: [{name, unit, curve: Curve, colour, ink, dashed, dots, say(i)}],
 *                        marks: [{from, to, text, kind}]})
 *
 * An axis with `counts` has tics at whole numbers only; `floor` is the beginning of the y axis. A
 * curve's `ink` is a colour name of the style sheet, such as `good`; a curve with `dots` has no
 * lines.
 *
 * Dragging zooms to the range that was dragged over; with shift, or with the middle button, it
 * moves the view. When the plot has the focus, the wheel zooms, and keys do all of these. A touch
 * moves the cursor, and two fingers zoom. The y axis follows the visible data. `onView(from, to)`
 * and `onCursor(x)` report these actions, so that plots can follow each other by show() and
 * point().
 */
const plotRoom = {left: 64, right: 12, top: 16, bottom: 38};
const plotRest = 1000; /* ms */

class Plot {
    constructor(parent, {label, x, y, curves, marks = []}) {
        this.label = label;
        this.curves = curves.map((one, i) => ({hidden: false, number: i, ...one}));
        this.x = new Axis(x);
        this.all = x.whole ?? this.extent();
        this.y = new Axis(y);
        this.marks = marks.toSorted((a, b) => a.from - b.from);
        this.cursor = null;
        this.isNear = false;
        this.isStale = true;
        this.onView = this.onCursor = () => {};
        this.build(parent);
        [this.x.from, this.x.to] = this.all;
        this.gestures = new Gestures(this);
        new ResizeObserver(() => this.draw()).observe(this.area);
        new IntersectionObserver(([{isIntersecting}]) => this.come(isIntersecting),
                                 {rootMargin: '50%'}).observe(this.area);
    }

    /* --- elements ----------------------------------------------------------------------------- */

    build(parent) {
        this.canvas = element('canvas');
        this.over = element('canvas', {class: 'over'});
        this.tip = element('div', {class: 'tip', hidden: true});
        this.area = element('div', {class: 'plot-area', tabindex: 0, role: 'group',
                                    'aria-roledescription': 'plot', 'aria-label': this.words()},
                            this.canvas, this.over, this.tip);
        this.spoken = element('div', {class: 'spoken', 'aria-live': 'polite'});
        this.legend = element('div', {class: 'legend', role: 'group',
                                      'aria-label': `Curves of ${this.label}`},
                              this.curves.map((one) => this.entry(one)));
        parent.append(this.area, this.spoken, this.legend);
        parent.plot = this;
    }

    words() {
        return `${this.label}: ${count(this.curves.length, 'curve')}. Left and right move the ` +
               'cursor, plus and minus zoom, shift with left and right moves, 0 shows all.';
    }

    /* The legend's entry of a curve: it shows the value under the cursor, and can hide the
     * curve. */
    entry(one) {
        one.value = element('span', {class: 'value'});
        one.swatch = element('span', {class: 'swatch'});
        return one.button = element('button', {type: 'button', 'aria-pressed': 'true',
                                               onclick: () => this.hide(one, !one.hidden)},
                                    one.swatch, element('span', {class: 'name', title: one.name}, one.name),
                                    one.value);
    }

    hide(one, hidden) {
        one.hidden = hidden;
        one.button.setAttribute('aria-pressed', String(!hidden));
        this.draw();
    }

    shown() {
        return this.curves.filter((one) => !one.hidden && one.curve.count > 0);
    }

    /* --- the visible range -------------------------------------------------------------------- */

    /* The range of all data. */
    extent() {
        let from = Infinity, to = -Infinity;

        for (const {curve} of this.curves.filter((one) => one.curve.count > 0)) {
            from = Math.min(from, curve.x[0]);
            to = Math.max(to, curve.end[curve.count - 1]);
        }
        if (this.x.log && to > 0) /* decades */
            return [10 ** Math.floor(Math.log10(from)), 10 ** Math.ceil(Math.log10(to) + 1e-6)];
        return to > from ? [from, to] : Number.isFinite(from) ? [from, from + 1] : [0, 1];
    }

    show(from, to) {
        const [least, most] = this.all;

        from = Math.max(from, least);
        to = Math.min(to, most);
        if (!(to - from > Math.abs(to) * 1e-12))
            return;
        this.x.from = from;
        this.x.to = to;
        this.draw();
    }

    /* Limits the view to the data: a part that would lie beyond it is added at the other end. */
    view(from, to) {
        const [least, most] = this.all;
        const excess = Math.max(0, least - from) - Math.max(0, to - most);

        this.show(from + (this.x.log ? 0 : excess), to + (this.x.log ? 0 : excess));
        this.onView(this.x.from, this.x.to);
    }

    zoom(factor, about = (this.x.from + this.x.to) / 2) {
        this.view(...this.x.zoomed(factor, about));
    }

    fitY() {
        let low = Infinity, high = -Infinity;

        for (const {curve} of this.shown()) {
            const range = curve.range(...curve.seen(this.x.from, this.x.to));
            low = Math.min(low, range.low);
            high = Math.max(high, range.high);
        }
        if (!(low <= high))
            [low, high] = [0, 1];
        if (this.y.log) {
            [this.y.from, this.y.to] = [low, high * 2];
            return;
        }
        const least = Math.max(Math.abs(low), Math.abs(high)) * 1e-6 || 1;
        const room = Math.max(0.06 * (high - low), high - low < least ? least : 0);
        [this.y.from, this.y.to] = [Math.max(low - room, this.y.floor), high + room];
    }

    /* --- drawing ------------------------------------------------------------------------------ */

    colourOf(one) {
        const {faint, curve_light: light, curve_saturation: saturation} = this.ink;
        const hues = [211, 25, 145, 340, 265, 180, 50, 0];
        const many = one.colour === undefined && this.curves.length > hues.length;
        const hue = many ? one.number * 360 / this.curves.length
                         : hues[(one.colour ?? one.number) % hues.length];

        if (one.ink && !one.dashed)
            return this.ink[one.ink];
        return one.dashed ? faint : `hsl(${Math.round(hue)} ${saturation} ${light})`;
    }

    /* A plot far from the screen is drawn when it comes near, or when nothing changes any more. */
    come(isNear) {
        this.isNear = isNear;
        if (this.isNear && this.isStale)
            this.paint();
    }

    draw() {
        this.isStale = true;
        clearTimeout(this.later);
        if (this.isNear)
            this.paint();
        else
            this.later = setTimeout(() => this.isStale && this.paint(), plotRest);
    }

    paint() {
        if (this.area.clientWidth === 0)
            return;
        this.isStale = false;
        const {context, width, height} = fitCanvas(this.canvas, this.area);

        this.ink = inkOf(this.area, 'ink', 'faint', 'grid', 'mark', 'bad', 'good', 'curve-light',
                         'curve-saturation');
        this.x.start = plotRoom.left;
        this.x.stop = width - plotRoom.right;
        this.y.start = height - plotRoom.bottom;
        this.y.stop = plotRoom.top;
        this.fitY();
        this.drawAxes(context);
        context.save();
        context.beginPath();
        context.rect(this.x.start, this.y.stop, this.x.stop - this.x.start,
                     this.y.start - this.y.stop);
        context.clip();
        this.marks.forEach((mark) => this.drawMark(context, mark));
        this.shown().forEach((one) => this.drawCurve(context, one));
        context.restore();
        this.drawMarkTexts(context);
        this.curves.forEach((one) => one.swatch.style.background = this.colourOf(one));
        this.drawCursor();
    }

    drawAxes(context) {
        const {ink, grid} = this.ink;

        context.font = '12px system-ui, sans-serif';
        context.fillStyle = ink;
        context.strokeStyle = grid;
        context.lineWidth = 1;
        context.textAlign = 'center';
        context.textBaseline = 'top';
        for (const tic of this.x.tics((this.x.stop - this.x.start) / 90)) {
            const at = Math.round(this.x.pixel(tic.value)) + 0.5;
            this.line(context, at, this.y.start, at, this.y.stop);
            context.fillText(tic.text, at, this.y.start + 5);
        }
        context.fillText(this.x.title(), (this.x.start + this.x.stop) / 2, this.y.start + 21);
        context.textAlign = 'right';
        context.textBaseline = 'middle';
        for (const tic of this.y.tics((this.y.start - this.y.stop) / 40)) {
            const at = Math.round(this.y.pixel(tic.value)) + 0.5;
            this.line(context, this.x.start, at, this.x.stop, at);
            context.fillText(tic.text, this.x.start - 6, at, this.x.start - 20);
        }
        context.save();
        context.translate(11, (this.y.start + this.y.stop) / 2);
        context.rotate(-Math.PI / 2);
        context.textAlign = 'center';
        context.fillText(this.y.title(), 0, 0, this.y.start - this.y.stop);
        context.restore();
    }

    line(context, x1, y1, x2, y2) {
        context.beginPath();
        context.moveTo(x1, y1);
        context.lineTo(x2, y2);
        context.stroke();
    }

    /* --- marks -------------------------------------------------------------------------------- */

    markColour({kind}) {
        return ['fault', 'failure', 'missed', 'limit'].includes(kind) ? this.ink.bad : this.ink.mark;
    }

    /* Marks that may be numerous are small, with their text under the cursor. */
    isSmall({kind}) {
        return kind === 'missed' || kind === 'note';
    }

    drawMark(context, mark) {
        const from = this.x.pixel(mark.from), to = this.x.pixel(mark.to ?? mark.from);
        const height = this.y.start - this.y.stop;

        context.strokeStyle = context.fillStyle = this.markColour(mark);
        if (this.isSmall(mark)) {
            const top = mark.kind === 'note' ? this.y.stop : this.y.start - 6;
            context.fillRect(from, top, Math.max(1, to - from), 6);
            return;
        }
        context.save();
        context.globalAlpha = 0.13;
        context.fillRect(from, this.y.stop, to - from, height);
        context.restore();
        if (mark.kind === 'window')
            return;
        context.save();
        context.setLineDash([4, 4]);
        this.line(context, from, this.y.start, from, this.y.stop);
        context.restore();
    }

    /* Above the plot, as far as there is room; limits come first. */
    drawMarkTexts(context) {
        const texts = this.marks.filter((one) => one.text && !this.isSmall(one));
        const taken = [];

        context.textAlign = 'left';
        context.textBaseline = 'bottom';
        for (const mark of texts.toSorted((a, b) => (b.kind === 'limit') - (a.kind === 'limit'))) {
            const at = Math.max(this.x.pixel(mark.from), this.x.start);
            const end = at + context.measureText(mark.text).width;
            const gone = this.x.pixel(mark.to ?? mark.from) < this.x.start;
            if (gone || end > this.x.stop + plotRoom.right ||
                taken.some((one) => at < one.end + 10 && end + 10 > one.at))
                continue;
            context.fillStyle = this.markColour(mark);
            context.fillText(mark.text, at, this.y.stop - 2);
            taken.push({at, end});
        }
    }

    marksAt(x) {
        const reach = Math.abs(this.x.value(this.x.start + 4) - this.x.value(this.x.start));

        return this.marks.filter((mark) => mark.text && x >= mark.from - reach &&
                                           x <= (mark.to ?? mark.from) + reach);
    }

    /* --- curves ------------------------------------------------------------------------------- */

    drawCurve(context, one) {
        const [from, to] = one.curve.seen(this.x.from, this.x.to);
        const line = new Path2D(), band = new Path2D();

        context.strokeStyle = context.fillStyle = this.colourOf(one);
        if (one.dots) {
            for (let i = from; i < to; i++)
                this.dot(context, this.x.pixel(one.curve.x[i]), one.curve.low[i], 4);
            return;
        }
        for (let i = from; i < to;)
            i = this.trace(one.curve, i, to, line, band);
        context.lineWidth = one === this.nearest ? 2.5 : 1.4;
        context.lineJoin = context.lineCap = 'round';
        context.setLineDash(one.dashed ? [6, 4] : []);
        context.save();
        context.globalAlpha = 0.35;
        context.fill(band);
        context.restore();
        context.stroke(line);
        context.setLineDash([]);
    }

    /* Draws the blocks that begin in the pixel of block i: several blocks as a vertical line
     * between their extremes, a wide block as a band. Returns the first remaining block. */
    trace(curve, i, to, line, band) {
        const pixel = Math.floor(this.x.pixel(curve.x[i]));
        const next = Math.max(i + 1, Math.min(to, curve.after(this.x.value(pixel + 1))));

        if (next - i > 2)
            this.traceMany(curve, i, next, pixel + 0.5, line);
        else
            for (let k = i; k < next; k++)
                this.traceBlock(curve, k, line, band);
        return next;
    }

    join(curve, i, line, x, y) {
        if (!curve.apart[i])
            line.lineTo(x, y);
        line.moveTo(x, y);
    }

    middle(curve, i) {
        return this.y.pixel((curve.low[i] + curve.high[i]) / 2);
    }

    traceMany(curve, i, next, x, line) {
        const {low, high} = curve.range(i, next);

        this.join(curve, i, line, x, this.middle(curve, i));
        line.moveTo(x, this.y.pixel(low) + 0.3);
        line.lineTo(x, this.y.pixel(high) - 0.3);
        line.moveTo(x, this.middle(curve, next - 1));
    }

    traceBlock(curve, i, line, band) {
        const x = this.x.pixel(curve.x[i]), end = this.x.pixel(curve.end[i]);
        const low = this.y.pixel(curve.low[i]), high = this.y.pixel(curve.high[i]);

        this.join(curve, i, line, x, this.middle(curve, i));
        if (curve.isPoint(i)) {
            line.lineTo(Math.max(end, x + 0.01), low);
            return;
        }
        if (end - x < 1.5) {
            line.moveTo(x, low);
            line.lineTo(x, high);
            line.moveTo(x, (low + high) / 2);
            return;
        }
        band.rect(x, high, end - x, low - high);
        line.moveTo(x, low);
        line.lineTo(end, low);
        line.moveTo(x, high);
        line.lineTo(end, high);
        line.moveTo(end, (low + high) / 2);
    }

    /* --- the cursor --------------------------------------------------------------------------- */

    /* "12.0003 V"; for a block of several rows, their range. */
    say(one, i) {
        const {curve} = one;

        if (one.say)
            return one.say(i);
        if (curve.isPoint(i))
            return withUnit(digits(curve.low[i]), one.unit);
        return `${digits(curve.low[i])} to ${withUnit(digits(curve.high[i]), one.unit)}`;
    }

    sayX(x) {
        const {name, scale} = this.x.shownUnit();

        return withUnit(digits(x * scale, 9), name);
    }

    /* Moves the cursor to x (null: removes it), and shows each curve's value there. */
    point(x, y = null) {
        this.cursor = x;
        this.nearest = x === null || y === null ? null : this.nearestTo(x, y);
        for (const one of this.curves) {
            const i = x === null ? -1 : one.curve.at(x);
            one.value.textContent = i < 0 ? '' : this.say(one, i);
        }
        this.drawCursor(y);
    }

    nearestTo(x, y) {
        let nearest = null, least = Infinity;

        for (const one of this.shown()) {
            const i = one.curve.at(x);
            const low = this.y.pixel(one.curve.low[i]), high = this.y.pixel(one.curve.high[i]);
            const distance = Math.max(high - y, y - low, 0) + Math.abs((low + high) / 2 - y) * 1e-3;
            if (distance < least)
                [nearest, least] = [one, distance];
        }
        return nearest;
    }

    drawCursor(y = null) {
        if (this.isStale)
            return;
        const {context, width} = fitCanvas(this.over, this.area);
        const one = this.nearest ?? this.shown()[0];

        this.tip.hidden = this.cursor === null || y === null || !one;
        this.drawSelection(context);
        if (this.cursor === null || this.cursor < this.x.from || this.cursor > this.x.to || !one)
            return;
        const at = this.x.pixel(this.cursor);
        context.strokeStyle = this.ink.faint;
        this.line(context, at, this.y.start, at, this.y.stop);
        this.shown().forEach((shown) => this.drawDot(context, shown));
        if (!this.tip.hidden)
            this.placeTip(one, at, y, width);
    }

    drawDot(context, one) {
        const i = one.curve.at(this.cursor);
        const x = Math.min(Math.max(this.x.pixel(this.cursor), this.x.pixel(one.curve.x[i])),
                           this.x.pixel(one.curve.end[i]));

        context.fillStyle = this.colourOf(one);
        for (const value of new Set([one.curve.low[i], one.curve.high[i]]))
            this.dot(context, x, value, 3);
    }

    dot(context, x, value, radius) {
        context.beginPath();
        context.arc(x, this.y.pixel(value), radius, 0, 2 * Math.PI);
        context.fill();
    }

    placeTip(one, x, y, width) {
        const i = one.curve.at(this.cursor);
        const marks = this.marksAt(this.cursor).map((mark) => mark.text).slice(0, 8);

        this.tip.replaceChildren(element('b', {}, this.say(one, i)), ` ${one.name}`,
                                 element('br'), `at ${this.sayX(one.curve.x[i])}`,
                                 ...this.sayRows(one, i),
                                 ...marks.flatMap((text) => [element('br'), text]));
        placeTip(this.tip, x, y, width);
    }

    sayRows({curve, say}, i) {
        return say || curve.rows[i] === 1 ? [] : [`, ${curve.rows[i]} rows`];
    }

    /* For readers who cannot see the plot. */
    speak() {
        const values = this.shown().map((one) => `${one.name} ${one.value.textContent}`);

        this.spoken.textContent = `${this.sayX(this.cursor)}: ${values.slice(0, 8).join('; ')}`;
    }

    drawSelection(context) {
        const selected = this.gestures.selected();

        if (!selected)
            return;
        context.globalAlpha = 0.2;
        context.fillStyle = this.ink.mark;
        context.fillRect(selected.from, this.y.stop, selected.to - selected.from,
                         this.y.start - this.y.stop);
        context.globalAlpha = 1;
    }
}
