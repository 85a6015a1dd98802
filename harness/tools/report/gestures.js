'use strict';

/*
 * The reader's actions on a plot: with a mouse, fingers, the wheel and keys. They change the plot's
 * view and its cursor (see plot.js).
 */
class Gestures {
    constructor(plot) {
        const {area} = plot;

        this.plot = plot;
        this.fingers = new Map();
        area.addEventListener('pointerdown', (event) => this.press(event));
        area.addEventListener('pointermove', (event) => this.move(event));
        area.addEventListener('pointerup', (event) => this.release(event));
        area.addEventListener('pointercancel', (event) => this.release(event));
        area.addEventListener('pointerleave', () => this.leave());
        area.addEventListener('dblclick', () => plot.view(...plot.all));
        area.addEventListener('keydown', (event) => this.key(event));
        area.addEventListener('wheel', (event) => this.wheel(event), {passive: false});
    }

    /* The range that is being dragged over, in pixels; null when there is none. */
    selected() {
        return this.drag && !this.drag.moves ? this.drag : null;
    }

    place(event) {
        const {area, x} = this.plot, box = area.getBoundingClientRect();

        return {x: Math.min(Math.max(event.clientX - box.left, x.start), x.stop),
                y: event.clientY - box.top};
    }

    press(event) {
        const {area, x: axis} = this.plot, {x} = this.place(event);
        const moves = event.shiftKey || event.button === 1;

        area.setPointerCapture(event.pointerId);
        if (event.pointerType === 'touch')
            this.fingers.set(event.pointerId, x);
        else
            this.drag = {from: x, to: x, moves, view: [axis.from, axis.to]};
        if (moves)
            event.preventDefault();
    }

    move(event) {
        const {x, y} = this.place(event);

        if (this.fingers.size === 2 && this.fingers.has(event.pointerId))
            this.pinch(event.pointerId, x);
        else if (this.drag?.moves)
            this.pan(x);
        else if (this.drag)
            this.drag.to = x;
        this.pointAt(this.plot.x.value(x), y);
    }

    pointAt(x, y) {
        this.plot.point(x, y);
        this.plot.onCursor(this.plot.cursor);
    }

    pan(x) {
        const {log, start, stop} = this.plot.x, axis = new Axis({log});

        [axis.from, axis.to] = this.drag.view;
        this.plot.view(...axis.moved((this.drag.from - x) / (stop - start)));
    }

    /* The values under both fingers stay there. */
    pinch(finger, x) {
        const [other] = [...this.fingers].filter(([id]) => id !== finger).map(([, at]) => at);
        const before = Math.abs(this.fingers.get(finger) - other), now = Math.abs(x - other);

        this.fingers.set(finger, x);
        if (before > 10 && now > 10)
            this.plot.zoom(before / now, this.plot.x.value(other));
    }

    release(event) {
        const {x} = this.plot, drag = this.selected();

        this.fingers.delete(event.pointerId);
        this.drag = null;
        if (drag && Math.abs(drag.to - drag.from) > 5)
            this.plot.view(x.value(Math.min(drag.from, drag.to)),
                           x.value(Math.max(drag.from, drag.to)));
    }

    leave() {
        if (!this.drag)
            this.pointAt(null);
    }

    /* The wheel scrolls the page, unless the plot has the focus. */
    wheel(event) {
        const {area, x} = this.plot;

        if (document.activeElement !== area && !event.ctrlKey)
            return;
        event.preventDefault();
        if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
            this.plot.view(...x.moved(Math.sign(event.deltaX || event.deltaY) * 0.1));
        else
            this.plot.zoom(event.deltaY < 0 ? 0.8 : 1.25, x.value(this.place(event).x));
    }

    /* To the next row of the first curve, or to the next pixel, whichever is further. */
    step(way) {
        const {x, cursor} = this.plot, {curve} = this.plot.shown()[0];
        const from = cursor ?? (way > 0 ? x.from : x.to);
        const pixel = x.value(x.pixel(from) + way);
        const i = Math.min(Math.max(curve.at(from) + way, 0), curve.count - 1);
        const next = way > 0 ? Math.max(pixel, curve.x[i]) : Math.min(pixel, curve.x[i]);

        this.pointAt(Math.min(Math.max(next, x.from), x.to));
        this.plot.speak();
    }

    key(event) {
        const {plot} = this, {x, all} = plot, width = x.to - x.from;
        const centre = plot.cursor ?? undefined;
        const keys = {
            ArrowLeft: () => event.shiftKey ? plot.view(...x.moved(-0.2)) : this.step(-1),
            ArrowRight: () => event.shiftKey ? plot.view(...x.moved(0.2)) : this.step(1),
            Home: () => plot.view(all[0], all[0] + width),
            End: () => plot.view(all[1] - width, all[1]),
            '+': () => plot.zoom(0.5, centre),
            '=': () => plot.zoom(0.5, centre),
            '-': () => plot.zoom(2, centre),
            0: () => plot.view(...all),
            Escape: () => plot.area.blur(),
        };

        if (!keys[event.key] || event.ctrlKey || event.metaKey || plot.shown().length === 0)
            return;
        event.preventDefault();
        keys[event.key]();
    }
}
