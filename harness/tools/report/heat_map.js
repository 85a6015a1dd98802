'use strict';

/*
 * A map over two keys on a canvas, with a cell for each pair of their values. Like a plot, it does
 * not depend on the rest of the page.
 *
 *      new HeatMap(parent, {label, unit, x: {label, values: [text]}, y: likewise,
 *                           cells: [{x, y, value, text, state, say}]})
 *
 * A cell with a value has a colour between those of the least and the greatest value. A cell
 * without one has the colour of its state: good, bad, faint, doubt, none. A cell shows its `text` if there
 * is room, and its `say` under the cursor, which the mouse and the arrow keys move.
 */
const heatRoom = {right: 4, top: 4, bottom: 38};
const heatStates = {good: 'passed', bad: 'failed', faint: 'inconclusive', doubt: 'does not settle',
                    none: 'not known'};

class HeatMap {
    constructor(parent, {label, unit = '', x, y, cells, states = heatStates}) {
        Object.assign(this, {label, unit, x, y, cells, states, cursor: null});
        this.at = new Map(cells.map((cell) => [`${cell.x} ${cell.y}`, cell]));
        const values = cells.map((cell) => cell.value).filter(Number.isFinite);
        this.least = leastOf(values);
        this.greatest = greatestOf(values);
        this.build(parent);
        this.listen();
        new ResizeObserver(() => this.paint()).observe(this.area);
    }

    build(parent) {
        this.canvas = element('canvas');
        this.brush = new Paint(this.canvas, 2);
        this.tip = element('div', {class: 'tip', hidden: true});
        this.area = element('div', {class: 'map-area', tabindex: 0, role: 'group',
                                    'aria-roledescription': 'map', 'aria-label': this.words()},
                            this.canvas, this.tip);
        this.area.style.height = `${this.height()}px`;
        this.spoken = element('div', {class: 'spoken', 'aria-live': 'polite'});
        this.scale = element('div', {class: 'scale'}, this.scaleParts());
        parent.append(this.area, this.spoken, this.scale);
        parent.plot = this;
    }

    words() {
        return `${this.label}: ${this.y.values.length} by ${this.x.values.length} cells. ` +
               'The arrow keys move from one to the next.';
    }

    height() {
        const rows = this.y.values.length;

        return heatRoom.top + heatRoom.bottom + Math.min(520, Math.max(90, rows * 26));
    }

    /* The legend of the colours. */
    scaleParts() {
        const states = [...new Set(this.cells.filter((cell) => !Number.isFinite(cell.value))
            .map((cell) => cell.state))];
        const parts = states.map((state) =>
            element('span', {}, element('span', {class: `swatch ${state}`}), this.states[state]));

        if (this.least <= this.greatest)
            parts.unshift(element('span', {}, withUnit(shownNumber(this.least, 4), this.unit),
                                  element('span', {class: 'swatch ramp'}),
                                  withUnit(shownNumber(this.greatest, 4), this.unit)));
        return parts;
    }

    /* --- drawing ------------------------------------------------------------------------------ */

    paint() {
        if (this.area.clientWidth === 0)
            return;
        const context = this.brush.begin(this.area), {width, height} = this.brush;
        const widest = Math.max(...this.y.values.map((text) => context.measureText(text).width));
        this.left = Math.min(widest, width / 3) + 30;
        this.top = heatRoom.top;
        this.cell = {width: (width - this.left - heatRoom.right) / this.x.values.length,
                     height: (height - heatRoom.top - heatRoom.bottom) / this.y.values.length};
        this.cells.forEach((cell) => this.drawCell(context, cell));
        this.drawAxes(context, width, height);
        this.drawCursor(context);
    }

    /* The first value of y is at the bottom, as on any axis. */
    box({x, y}) {
        return {left: this.left + x * this.cell.width,
                top: this.top + (this.y.values.length - 1 - y) * this.cell.height};
    }

    share(value) {
        return this.greatest > this.least ? (value - this.least) / (this.greatest - this.least) : 0.5;
    }

    colourOf({value, state}) {
        if (!Number.isFinite(value))
            return state === 'none' ? this.brush.ink.grid : this.brush.ink[state];
        return this.brush.shade(this.share(value));
    }

    /* A text colour that is readable on the cell. */
    inkOn({value}) {
        const isWeak = Number.isFinite(value) && this.share(value) < 0.5;

        return isWeak ? this.brush.ink.ink : this.brush.ink.paper;
    }

    drawCell(context, cell) {
        const {left, top} = this.box(cell), {width, height} = this.cell;
        const gap = Math.min(width, height) > 8 ? 1 : 0;

        context.fillStyle = this.colourOf(cell);
        context.fillRect(left, top, width - gap, height - gap);
        if (!cell.text || height < 15 || context.measureText(cell.text).width > width - 6)
            return;
        context.fillStyle = this.inkOn(cell);
        this.brush.text(cell.text, left + (width - gap) / 2, top + (height - gap) / 2, 'center', 'middle');
    }

    drawAxes(context, width, height) {
        const bottom = height - heatRoom.bottom, {x, y} = this;
        const widest = Math.max(...x.values.map((text) => context.measureText(text).width));
        const xStep = Math.ceil((widest + 8) / this.cell.width);
        const yStep = Math.ceil(15 / this.cell.height);

        context.fillStyle = this.brush.ink.ink;
        for (let i = 0; i < x.values.length; i += xStep)
            this.brush.text(x.values[i], this.box({x: i, y: 0}).left + this.cell.width / 2, bottom + 5,
                            'center', 'top');
        this.brush.text(x.label, (this.left + width) / 2, bottom + 21, 'center', 'top');
        for (let i = 0; i < y.values.length; i += yStep)
            this.brush.text(y.values[i], this.left - 6, this.box({x: 0, y: i}).top + this.cell.height / 2,
                            'right', 'middle', width / 3);
        this.brush.upright(y.label, 9, (this.top + bottom) / 2, bottom - this.top);
    }

    drawCursor(context) {
        if (!this.cursor)
            return;
        const {left, top} = this.box(this.cursor);

        context.strokeStyle = this.brush.ink.ink;
        context.lineWidth = 2;
        context.strokeRect(left, top, this.cell.width - 1, this.cell.height - 1);
    }

    /* --- the reader's actions ----------------------------------------------------------------- */

    listen() {
        this.area.addEventListener('pointermove', (event) => this.move(event));
        this.area.addEventListener('pointerdown', (event) => this.move(event));
        this.area.addEventListener('pointerleave', () => this.point(null));
        this.area.addEventListener('keydown', (event) => this.key(event));
    }

    cellAt(x, y) {
        return this.at.get(`${x} ${y}`);
    }

    wordsOf(cell) {
        return `${this.y.label} ${this.y.values[cell.y]}, ${this.x.label} ${this.x.values[cell.x]}`;
    }

    /* Moves the cursor to a cell (null: removes it), and describes the cell. */
    point(cell, x, y) {
        this.cursor = cell;
        this.paint();
        this.tip.hidden = !cell;
        if (!cell)
            return;
        this.tip.replaceChildren(element('b', {}, cell.say), element('br'), this.wordsOf(cell));
        placeTip(this.tip, x, y, this.area.clientWidth);
    }

    move(event) {
        const box = this.area.getBoundingClientRect();
        const x = event.clientX - box.left, y = event.clientY - box.top;
        const column = Math.floor((x - this.left) / this.cell.width);
        const row = this.y.values.length - 1 - Math.floor((y - this.top) / this.cell.height);

        this.point(this.cellAt(column, row) ?? null, x, y);
    }

    key(event) {
        const ways = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1]};
        const [right, up] = ways[event.key] ?? [0, 0], {cursor} = this;

        if (!right && !up)
            return;
        event.preventDefault();
        const next = cursor ? this.cellAt(cursor.x + right, cursor.y + up) : this.cellAt(0, 0);
        if (!next)
            return;
        const {left, top} = this.box(next);
        this.point(next, left + this.cell.width / 2, top);
        this.spoken.textContent = `${this.wordsOf(next)}: ${next.say}`;
    }
}
