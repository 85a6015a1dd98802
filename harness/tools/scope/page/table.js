'use strict';

/*
 * The readings of each trace: its last value, and its values under the cursors. Between the
 * cursors: the least, the greatest, the mean, the rms and the frequency; in a spectrum, the
 * frequency of its peak.
 */
class Table {
    static columns = ['Last', 'A', 'B', 'B − A', 'Min', 'Max', 'Mean', 'RMS', 'Frequency'];

    constructor(parent, screen, onRemove) {
        this.screen = screen;
        this.onRemove = onRemove;
        this.body = element('tbody');
        this.told = element('p', {class: 'figure', id: 'cursors-told', 'aria-live': 'off'});
        const head = element('tr', {}, element('th', {scope: 'col'}, 'Signal'),
                             Table.columns.map((title) => element('th', {scope: 'col'}, title)));
        this.table = element('table', {class: 'readings'}, element('thead', {}, head), this.body);
        parent.append(this.told,
                      element('div', {class: 'wide', tabindex: 0, role: 'group', 'aria-label': 'Readings'},
                              this.table));
    }

    arrange() {
        this.body.replaceChildren(...this.screen.traces.map((trace) => this.line(trace)));
        this.show();
    }

    line(trace) {
        const swatch = element('span', {class: 'swatch'});

        swatch.style.background = this.screen.paint.colourOf(trace.colour);
        return element('tr', {},
                       element('th', {scope: 'row'}, swatch, element('span', {class: 'name'}, trace.name),
                               element('button', {type: 'button', class: 'remove', onclick: () => this.onRemove(trace),
                                                  'aria-label': `Remove ${trace.name}`}, '×')),
                       Table.columns.map(() => element('td')));
    }

    show() {
        const {screen} = this;
        const [a, b] = screen.cursors.shown ? screen.cursorTimes() : [NaN, NaN];

        this.table.classList.toggle('cursors', screen.cursors.shown);
        put(this.told, screen.cursors.shown && screen.overTime
            ? `A ${duration(a)}   B ${duration(b)}   B − A ${duration(b - a)}   ` +
              `1 / (B − A) ${withUnit(digits(Math.abs(1 / (b - a))), 'Hz')}` : '');
        screen.traces.forEach((trace, i) => this.fill(this.body.rows[i], trace, a, b));
    }

    fill(line, trace, a, b) {
        const found = this.screen.samplesOf(trace);
        const texts = found ? this.texts(found, trace, a, b) : Table.columns.map(() => '-');

        texts.forEach((text, i) => put(line.cells[i + 1], text));
    }

    /* Readings from columns rather than from every step are approximate, except for the
     * extremes. */
    texts({times, values, lows, highs, exact}, {unit, peak: top}, a, b) {
        const {x} = this.screen, about = exact ? '' : '≈ ';
        const [from, to] = Number.isNaN(a) ? [x.from, x.to] : [Math.min(a, b), Math.max(a, b)];
        const first = indexAt(times, from), end = indexAt(times, to + 1e-12);
        const all = readings(times, values, first, end);
        const hertz = this.screen.mode === 'spectrum' && top ? top.frequency : all.frequency;
        const [atA, atB] = [valueAt(times, values, a), valueAt(times, values, b)];
        const text = (value, nearly = '') => Number.isFinite(value)
            ? nearly + withUnit(digits(value), unit) : '-';

        return [text(values.at(-1)), text(atA, about), text(atB, about), text(atB - atA, about),
                text(readings(times, lows, first, end).min), text(readings(times, highs, first, end).max),
                text(all.mean, about), text(all.rms, about),
                Number.isFinite(hertz) ? about + withUnit(digits(hertz), 'Hz') : '-'];
    }
}
