'use strict';

/*
 * A plot of curves on a canvas (page/paint.js). It does not depend on the rest of the page.
 *
 *      new Plot(parent, {label, x: {label, unit, log, whole: [from, to], counts},
 *                        y: {label, unit, log, floor, counts},
 *                        curves: [{name, unit, curve: Curve, colour, ink, dashed, dots, say(i)}],
 *                        marks: [{from, to, text, kind}]})
 *
 * An axis with `counts` has tics at whole numbers only; `floor` is the beginning of the y axis. A
 * curve's `ink` is a colour name of the style sheet, such as `good`; a curve with `dots` has
 * dots of this radius and no lines.
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
        this.brush = new Paint(this.canvas, 2);
        this.brushOver = new Paint(this.over, 2);
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
        const room = Math.max(0.06 * (high - low), Axis.roomOfConstant(low, high));
        [this.y.from, this.y.to] = [Math.max(low - room, this.y.floor), high + room];
    }

    /* --- drawing ------------------------------------------------------------------------------ */

    colourOf(one) {
        const {ink} = this.brush;

        return one.dashed ? ink.faint : one.ink ? ink[one.ink] : this.brush.colourOf(one.colour ?? one.number);
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
        const {brush, x, y} = this;

        brush.begin(this.area);
        x.start = plotRoom.left;
        x.stop = brush.width - plotRoom.right;
        y.start = brush.height - plotRoom.bottom;
        y.stop = plotRoom.top;
        this.fitY();
        brush.axisX(x, y.stop, y.start, x.title());
        brush.axisY(y, x.start, x.stop, y.title());
        brush.inside(x, y, () => {
            this.marks.forEach((mark) => this.drawMark(mark));
            this.shown().forEach((one) => this.drawCurve(one));
        });
        this.drawMarkTexts();
        this.curves.forEach((one) => this.paintSwatch(one));
        this.drawCursor();
    }

    paintSwatch(one) {
        const colour = this.colourOf(one);

        one.swatch.style.background =
            one.dashed ? `repeating-linear-gradient(to right, ${colour} 0 .35rem, transparent 0 .55rem)` : colour;
    }

    /* --- marks -------------------------------------------------------------------------------- */

    markColour({kind}) {
        const {bad, good, mark} = this.brush.ink;

        return ['fault', 'failure', 'missed', 'limit'].includes(kind) ? bad : kind === 'window' ? good : mark;
    }

    /* Marks that may be numerous are small, with their text under the cursor. */
    isSmall({kind}) {
        return kind === 'missed' || kind === 'note';
    }

    drawMark(mark) {
        const {context} = this.brush, from = this.x.pixel(mark.from), to = this.x.pixel(mark.to ?? mark.from);
        const height = this.y.start - this.y.stop;

        context.fillStyle = this.markColour(mark);
        if (this.isSmall(mark)) {
            const top = mark.kind === 'note' ? this.y.stop : this.y.start - 6;
            context.fillRect(from, top, Math.max(1, to - from), 6);
            return;
        }
        context.globalAlpha = 0.13;
        context.fillRect(from, this.y.stop, to - from, height);
        context.globalAlpha = 1;
        if (mark.kind !== 'window')
            this.brush.dashed(from, this.y.start, from, this.y.stop, this.markColour(mark));
    }

    /* Above the plot, as far as there is room; limits come first. */
    drawMarkTexts() {
        const {context} = this.brush;
        const texts = this.marks.filter((one) => one.text && !this.isSmall(one));
        const taken = [];

        for (const mark of texts.toSorted((a, b) => (b.kind === 'limit') - (a.kind === 'limit'))) {
            const at = Math.max(this.x.pixel(mark.from), this.x.start);
            const end = at + context.measureText(mark.text).width;
            const gone = this.x.pixel(mark.to ?? mark.from) < this.x.start;
            if (gone || end > this.x.stop + plotRoom.right ||
                taken.some((one) => at < one.end + 10 && end + 10 > one.at))
                continue;
            context.fillStyle = this.markColour(mark);
            this.brush.text(mark.text, at, this.y.stop - 2, 'left', 'bottom');
            taken.push({at, end});
        }
    }

    marksAt(x) {
        const reach = Math.abs(this.x.value(this.x.start + 4) - this.x.value(this.x.start));

        return this.marks.filter((mark) => mark.text && x >= mark.from - reach &&
                                           x <= (mark.to ?? mark.from) + reach);
    }

    /* --- curves ------------------------------------------------------------------------------- */

    drawCurve(one) {
        const {curve} = one, colour = this.colourOf(one);
        const [from, to] = one.dots ? curve.seen(this.x.from, this.x.to) : [0, 0];

        for (let i = from; i < to; i++)
            this.brush.dot(this.x.pixel(curve.x[i]), this.y.pixel(curve.low[i]), one.dots, colour);
        if (!one.dots)
            this.brush.stroke(new CurvePaths(curve, this.x, this.y), colour,
                              {width: one === this.nearest ? 2.5 : 1.4, dashed: one.dashed});
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
        const {brushOver: over} = this, context = over.begin(this.area);
        const one = this.nearest ?? this.shown()[0];

        this.tip.hidden = this.cursor === null || y === null || !one;
        this.drawSelection(context);
        if (this.cursor === null || this.cursor < this.x.from || this.cursor > this.x.to || !one)
            return;
        const at = this.x.pixel(this.cursor);
        context.strokeStyle = over.ink.faint;
        over.line(at, this.y.start, at, this.y.stop);
        this.shown().forEach((shown) => this.drawDot(shown));
        if (!this.tip.hidden)
            this.placeTip(one, at, y, over.width);
    }

    drawDot(one) {
        const i = one.curve.at(this.cursor);
        const x = Math.min(Math.max(this.x.pixel(this.cursor), this.x.pixel(one.curve.x[i])),
                           this.x.pixel(one.curve.end[i]));

        for (const value of new Set([one.curve.low[i], one.curve.high[i]]))
            this.brushOver.dot(x, this.y.pixel(value), 3, this.colourOf(one));
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
        context.fillStyle = this.brushOver.ink.mark;
        context.fillRect(selected.from, this.y.stop, selected.to - selected.from,
                         this.y.start - this.y.stop);
        context.globalAlpha = 1;
    }
}
