'use strict';

/*
 * The screen draws the watched signals over time, one over another, or by frequency. It has two
 * cursors, and can zoom into a capture. Times in a roll are the run's; in a capture they count from
 * the trigger.
 */
const screenRoom = {left: 64, right: 10, top: 8, bottom: 38};

class Screen {
    constructor(parent) {
        this.traces = [];
        this.mode = 'roll';
        this.window_s = 1;
        this.column_s = 0;
        this.edge = NaN; /* the time at the right edge of a roll */
        this.capture = null;
        this.view = null; /* for a capture: [from, to]; null: everything */
        this.across = null; /* the signal on the x axis of XY */
        this.level = null; /* the trigger's: {name, value} */
        this.marks = [];
        this.frames = 0;
        this.lanes = new Lanes();
        this.x = new Axis({unit: 's'});
        this.cursors = {shown: false, A: 0.25, B: 0.75}; /* as a fraction of the visible range */
        this.build(parent);
        requestAnimationFrame((now) => this.frame(now));
    }

    build(parent) {
        this.canvas = element('canvas');
        this.handles = Object.fromEntries(['A', 'B'].map((name) => [name, this.handle(name)]));
        this.area = element('div', {class: 'area', tabindex: 0, role: 'group',
                                    'aria-roledescription': 'oscilloscope screen',
                                    'aria-label': 'Signals. In a capture plus and minus zoom, left ' +
                                                  'and right move, 0 shows all of it.'},
                            this.canvas, Object.values(this.handles));
        parent.append(this.area);
        this.paint = new Paint(this.canvas);
        new ResizeObserver(() => this.resized()).observe(this.area);
        matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.touch());
        this.onResize = () => {};
        this.listen();
    }

    resized() {
        this.size = [this.area.clientWidth, this.area.clientHeight];
        this.touch();
        this.onResize();
    }

    /* Redraws it in the next frame. */
    touch() {
        this.stale = true;
    }

    show(traces) {
        const before = new Map(this.traces.map((trace) => [trace.name, trace]));

        this.traces = traces.map((trace) => ({roll: null, ...before.get(trace.name), ...trace}));
        this.lanes.arrange(this.traces);
        this.touch();
    }

    get columns() {
        return Math.min(2048, Math.max(100, Math.round((this.size?.[0] ?? 800) - screenRoom.left -
                                                       screenRoom.right)));
    }

    /* --- incoming data ------------------------------------------------------------------------ */

    /* Restarts a roll when the width of columns changes. */
    clear() {
        this.column_s = 0;
        this.edge = NaN;
        this.traces.forEach((trace) => trace.roll = null);
        this.touch();
    }

    takeRoll({column_s, traces}, values) {
        let at = 0;

        if (column_s !== this.column_s)
            this.clear();
        this.column_s = column_s;
        for (const {name, first, count} of traces) {
            const trace = this.traces.find((one) => one.name === name);
            if (trace) {
                trace.roll ??= new Roll(Math.ceil(this.window_s / column_s));
                trace.roll.take(first, count, values, at);
            }
            at += 2 * count;
        }
        this.touch();
    }

    showCapture(capture) {
        this.capture = capture;
        this.touch();
    }

    newest() {
        return Math.max(...this.traces.map(({roll}) => roll ? roll.end : 0)) * this.column_s;
    }

    /* --- frames ------------------------------------------------------------------------------- */

    /* In a roll the right edge follows the newest data with a slight delay, so that it moves
     * evenly. */
    move(now) {
        const newest = this.newest(), behind = newest - this.edge;
        const passed = Math.min(100, now - (this.moved ?? now));

        this.moved = now;
        if (!(Math.abs(behind) < this.window_s))
            this.edge = newest;
        else
            this.edge += behind * (1 - Math.exp(-passed / 40));
        return Math.abs(behind) * this.columns > 0.02 * this.window_s;
    }

    frame(now) {
        requestAnimationFrame((next) => this.frame(next));
        const moves = this.mode === 'roll' && this.column_s > 0 && this.move(now);
        if ((!this.stale && !moves) || !this.size?.[0])
            return;
        this.stale = false;
        this.frames++;
        this.draw(now);
    }

    draw(now) {
        const [width, height] = this.size;

        this.paint.begin(this.area);
        this.x.start = screenRoom.left;
        this.x.stop = width - screenRoom.right;
        this.lanes.place(screenRoom.top, height - screenRoom.bottom);
        if (this.traces.length === 0)
            this.say('Choose signals to see them here.');
        else if (this.mode === 'roll')
            this.drawRoll(now);
        else if (!this.capture)
            this.say('Waiting for the trigger.');
        else
            this.drawOfCapture(now);
        this.placeCursors();
    }

    drawOfCapture(now) {
        [this.x.from, this.x.to] = this.view ?? this.capture.extent;
        if (this.mode === 'capture')
            this.drawCapture(now);
        else if (this.mode === 'xy')
            this.drawAcross();
        else
            this.drawSpectrum();
    }

    say(text) {
        const {context, ink, width, height} = this.paint;

        context.fillStyle = ink.faint;
        this.paint.text(text, width / 2, height / 2, 'center', 'middle');
    }

    drawAxes(title) {
        const {lanes} = this.lanes;

        this.paint.axisX(this.x, lanes[0].axis.stop, lanes.at(-1).axis.start, title);
        for (const lane of lanes)
            this.paint.axisY(lane.axis, this.x.start, this.x.stop,
                             this.lanes.apart ? withUnit(lane.traces[0].name, lane.traces[0].unit)
                                              : lane.traces[0].unit || 'no unit');
    }

    drawLanes(pathOf) {
        for (const lane of this.lanes.lanes)
            this.paint.inside(this.x, lane.axis, () => {
                for (const trace of lane.traces) {
                    const paths = pathOf(trace, lane.axis);
                    if (paths)
                        this.paint.stroke(paths, this.paint.colourOf(trace.colour));
                }
            });
    }

    /* --- over time ---------------------------------------------------------------------------- */

    seenColumns() {
        return [Math.floor((this.edge - this.window_s) / this.column_s),
                Math.ceil(this.edge / this.column_s) + 1];
    }

    drawRoll(now) {
        if (!(this.column_s > 0)) {
            this.say('Waiting for the run.');
            return;
        }
        const [from, to] = this.seenColumns();
        [this.x.from, this.x.to] = [this.edge - this.window_s, this.edge];
        for (const lane of this.lanes.lanes) {
            const ranges = lane.traces.map(({roll}) => roll ? roll.range(from, to)
                                                            : {low: Infinity, high: -Infinity});
            this.lanes.fit(lane, Math.min(...ranges.map(({low}) => low)),
                           Math.max(...ranges.map(({high}) => high)), now);
        }
        this.drawAxes(`time of the run (${this.x.shownUnit().name})`);
        this.drawMarks(0);
        this.drawLanes(({roll, period_s}, axis) => {
            const hole = 1 + 2.5 * (period_s ?? 0) / this.column_s;
            return roll && {line: roll.path(from, to, this.column_s, hole, this.x, axis)};
        });
    }

    drawCapture(now) {
        const {origin, traces, trigger} = this.capture;

        for (const lane of this.lanes.lanes)
            this.fitLane(lane, now);
        this.drawAxes(`${trigger ? `time from the trigger at ${origin.toFixed(9)} s`
                                 : `time from ${origin.toFixed(9)} s`} ` +
                      `(${this.x.shownUnit().name})`);
        this.drawTrigger();
        this.drawMarks(origin);
        this.drawLanes((trace, axis) => {
            const rows = traces.get(trace.name);
            if (rows)
                rows.curve ??= Curve.ofSamples(rows.times, rows.values, origin);
            return rows && this.pathsOf(rows.curve, axis, this.paint.colourOf(trace.colour));
        });
    }

    /* Samples that are far apart have dots. */
    pathsOf(curve, axis, colour, x = this.x) {
        const [from, to] = curve.seen(x.from, x.to);

        for (let i = from; i < to && (to - from) * 8 < x.stop - x.start; i++)
            this.paint.dot(x.pixel(curve.x[i]), axis.pixel(curve.low[i]), 1.5, colour);
        return new CurvePaths(curve, x, axis);
    }

    fitLane(lane, now) {
        let low = Infinity, high = -Infinity;

        for (const {name} of lane.traces) {
            const rows = this.capture.traces.get(name);
            if (!rows)
                continue;
            rows.range ??= readings(rows.times, rows.values);
            low = Math.min(low, Number.isNaN(rows.range.min) ? Infinity : rows.range.min);
            high = Math.max(high, Number.isNaN(rows.range.max) ? -Infinity : rows.range.max);
        }
        this.lanes.fit(lane, low, high, now);
    }

    drawTrigger() {
        const {mark} = this.paint.ink, top = this.lanes.lanes[0].axis.stop;
        const bottom = this.lanes.lanes.at(-1).axis.start, at = Math.round(this.x.pixel(0)) + 0.5;

        if (this.capture.trigger && at >= this.x.start && at <= this.x.stop)
            this.paint.dashed(at, top, at, bottom, mark);
        const trace = this.traces.find(({name}) => name === this.level?.name);
        if (!trace)
            return;
        const {axis} = this.lanes.of(trace), y = Math.round(axis.pixel(this.level.value)) + 0.5;
        if (y > axis.stop && y < axis.start)
            this.paint.dashed(this.x.start, y, this.x.stop, y, this.paint.colourOf(trace.colour));
    }

    /* When parameters were changed. */
    drawMarks(origin) {
        const {context, ink} = this.paint, top = this.lanes.lanes[0].axis.stop;

        for (const {time_s, text} of this.marks) {
            const at = this.x.pixel(time_s - origin);
            if (at < this.x.start || at > this.x.stop)
                continue;
            this.paint.dashed(at, top, at, this.lanes.lanes.at(-1).axis.start, ink.faint);
            const isRight = at > this.paint.width / 2;
            context.fillStyle = ink.ink;
            this.paint.text(text, at + (isRight ? -4 : 4), top + 4, isRight ? 'right' : 'left', 'top');
        }
    }

    /* --- XY and spectrum ---------------------------------------------------------------------- */

    /* The visible samples of each trace, or those between the cursors. */
    between() {
        const {origin, traces} = this.capture;
        const [from, to] = this.cursors.shown ? this.cursorTimes().toSorted((a, b) => a - b)
                                              : [this.x.from, this.x.to];

        return this.traces.filter(({name}) => traces.has(name)).map((trace) => {
            const {times, values} = traces.get(trace.name);
            return {trace, times, values, from: indexAt(times, from + origin),
                    to: indexAt(times, to + origin + 1e-12)};
        });
    }

    plain(x, y) {
        const axis = new Axis(x), side = new Axis(y);

        Object.assign(axis, {start: screenRoom.left, stop: this.paint.width - screenRoom.right});
        Object.assign(side, {start: this.paint.height - screenRoom.bottom, stop: screenRoom.top});
        return [axis, side];
    }

    drawAcross() {
        const all = this.between();
        const across = all.find(({trace}) => trace.name === this.across) ?? all[0];

        if (all.length < 2) {
            this.say('XY needs two signals.');
            return;
        }
        const others = all.filter((one) => one !== across);
        const [x, y] = this.plain(across.trace, {unit: others[0].trace.unit});
        const range = (list) => {
            const each = list.map(({times, values, from, to}) => readings(times, values, from, to));
            return Lanes.round(Math.min(...each.map(({min}) => min)),
                               Math.max(...each.map(({max}) => max)));
        };
        [x.from, x.to] = range([across]);
        [y.from, y.to] = range(others);
        this.paint.axisX(x, y.stop, y.start, withUnit(across.trace.name, across.trace.unit));
        this.paint.axisY(y, x.start, x.stop, [...new Set(others.map(({trace}) => trace.unit))].join(', '));
        this.paint.inside(x, y, () => others.forEach((one) => this.drawPairs(across, one, x, y)));
    }

    drawPairs(across, {trace, times, values, from, to}, x, y) {
        const path = new Path2D();

        for (let i = from; i < to; i++)
            path.lineTo(x.pixel(valueAt(across.times, across.values, times[i])), y.pixel(values[i]));
        this.paint.stroke({line: path}, this.paint.colourOf(trace.colour));
    }

    drawSpectrum() {
        const all = this.between().map(({trace, times, values, from, to}) =>
            ({trace, found: spectrum(times, values, from, to)})).filter(({found}) => found);

        if (all.length === 0) {
            this.say('There are too few steps for a spectrum.');
            return;
        }
        all.forEach(({trace, found}) => trace.peak = peak(found));
        const top = Math.max(...all.map(({trace}) => trace.peak.amplitude), 1e-12);
        const [x, y] = this.plain({unit: 'Hz'}, {log: true});
        [x.from, x.to] = [0, Math.max(...all.map(({found}) => found.step * found.amplitudes.length))];
        [y.from, y.to] = [10 ** Math.ceil(Math.log10(top) - 6), 10 ** Math.ceil(Math.log10(top) + 0.1)];
        this.paint.axisX(x, y.stop, y.start, 'frequency (Hz), by a Hann window');
        this.paint.axisY(y, x.start, x.stop, 'amplitude');
        this.paint.inside(x, y, () => {
            for (const {trace, found} of all) {
                const at = Float64Array.from(found.amplitudes, (_, i) => i * found.step);
                const colour = this.paint.colourOf(trace.colour);
                this.paint.stroke(this.pathsOf(Curve.ofSamples(at, found.amplitudes), y, colour, x),
                                  colour);
            }
        });
    }

    /* --- cursors ------------------------------------------------------------------------------ */

    handle(name) {
        const made = element('div', {class: 'cursor', role: 'slider', tabindex: 0, hidden: true,
                                     'aria-label': `Cursor ${name}`, 'aria-valuemin': 0,
                                     'aria-valuemax': 1}, element('span', {}, name));

        made.addEventListener('pointerdown', (event) => made.setPointerCapture(event.pointerId));
        made.addEventListener('pointermove', (event) => {
            if (made.hasPointerCapture(event.pointerId))
                this.setCursor(name, this.share(event.clientX));
        });
        made.addEventListener('keydown', (event) => this.cursorKey(name, event));
        return made;
    }

    share(clientX) {
        return (clientX - this.area.getBoundingClientRect().left - this.x.start) /
               (this.x.stop - this.x.start);
    }

    setCursor(name, share) {
        this.cursors[name] = Math.min(1, Math.max(0, share));
        this.touch();
    }

    cursorKey(name, event) {
        const ways = {ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1};

        if (!ways[event.key])
            return;
        event.preventDefault();
        event.stopPropagation();
        this.setCursor(name, this.cursors[name] + ways[event.key] * (event.shiftKey ? 10 : 1) /
                             (this.x.stop - this.x.start));
    }

    get overTime() {
        return this.mode === 'roll' || this.mode === 'capture';
    }

    cursorTimes() {
        const {from, to} = this.x;

        return ['A', 'B'].map((name) => from + this.cursors[name] * (to - from));
    }

    placeCursors() {
        const times = this.cursorTimes();

        ['A', 'B'].forEach((name, i) => {
            const handle = this.handles[name];
            handle.hidden = !this.cursors.shown || !this.overTime;
            handle.style.left = `${this.x.start + this.cursors[name] * (this.x.stop - this.x.start)}px`;
            handle.setAttribute('aria-valuenow', this.cursors[name].toFixed(4));
            handle.setAttribute('aria-valuetext', duration(times[i]));
        });
    }

    /* The visible samples of a trace, in the time of the x axis. */
    samplesOf(trace) {
        if (this.mode === 'roll')
            return trace.roll && this.column_s > 0
                ? trace.roll.samples(...this.seenColumns(), this.column_s) : null;
        const rows = this.capture?.traces.get(trace.name);
        if (!rows)
            return null;
        rows.shifted ??= rows.times.map((time) => time - this.capture.origin);
        return {times: rows.shifted, values: rows.values, lows: rows.values, highs: rows.values, exact: true};
    }

    /* --- zooming ------------------------------------------------------------------------------ */

    listen() {
        this.fingers = new Map();
        this.area.addEventListener('wheel', (event) => this.wheel(event), {passive: false});
        this.area.addEventListener('pointerdown', (event) => this.press(event));
        this.area.addEventListener('pointermove', (event) => this.drag(event));
        this.area.addEventListener('pointerup', () => this.held = null);
        this.area.addEventListener('pointercancel', () => this.held = null);
        this.area.addEventListener('dblclick', () => this.look(null));
        this.area.addEventListener('keydown', (event) => this.key(event));
    }

    look(view) {
        const [least, most] = this.capture?.extent ?? [0, 1];

        if (view) {
            const width = Math.min(view[1] - view[0], most - least);
            const from = Math.min(Math.max(view[0], least), most - width);
            view = width < most - least ? [from, from + width] : null;
        }
        this.view = view;
        this.touch();
    }

    zoom(factor, about) {
        if (this.mode === 'capture' && this.capture)
            this.look(this.x.zoomed(factor, about ?? (this.x.from + this.x.to) / 2));
    }

    wheel(event) {
        if (this.mode !== 'capture' || (document.activeElement !== this.area && !event.ctrlKey))
            return;
        event.preventDefault();
        this.zoom(event.deltaY < 0 ? 0.8 : 1.25, this.x.from + this.share(event.clientX) *
                                                 (this.x.to - this.x.from));
    }

    press(event) {
        if (event.target !== this.canvas && event.target !== this.area)
            return;
        this.held = {x: event.clientX, view: [this.x.from, this.x.to]};
    }

    drag(event) {
        if (!this.held || this.mode !== 'capture' || event.buttons !== 1)
            return;
        const [from, to] = this.held.view;
        const by = (this.held.x - event.clientX) / (this.x.stop - this.x.start) * (to - from);
        this.look([from + by, to + by]);
    }

    key(event) {
        const keys = {'+': () => this.zoom(0.5), '=': () => this.zoom(0.5), '-': () => this.zoom(2),
                      0: () => this.look(null),
                      ArrowLeft: () => this.look(this.x.moved(-0.2)),
                      ArrowRight: () => this.look(this.x.moved(0.2))};

        if (this.mode !== 'capture' || !keys[event.key] || event.ctrlKey || event.metaKey)
            return;
        event.preventDefault();
        keys[event.key]();
    }
}
