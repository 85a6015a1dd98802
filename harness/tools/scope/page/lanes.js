'use strict';

/*
 * The lanes of a screen, one above the other. Traces with the same unit share a lane and its scale.
 * A scale grows at once with the visible data, but shrinks only after it has been too wide for a
 * while, so that it does not flicker.
 */
class Lanes {
    constructor() {
        this.lanes = [];
        this.apart = false;  /* each trace has its own lane */
        this.locked = false; /* scales do not change */
    }

    static patience = 1500; /* ms */

    arrange(traces) {
        const before = this.lanes;
        const key = (trace) => this.apart ? trace.name : `(${trace.unit})`;

        this.lanes = [...new Set(traces.map(key))].map((name) => {
            const members = traces.filter((trace) => key(trace) === name);
            const same = before.find((lane) => lane.name === name);
            return same ? Object.assign(same, {traces: members})
                        : {name, traces: members, axis: new Axis(members[0]), low: NaN, high: NaN,
                           wide: null};
        });
    }

    of(trace) {
        return this.lanes.find((lane) => lane.traces.includes(trace));
    }

    /* Distributes them between two heights. */
    place(top, bottom) {
        const gap = 14, height = (bottom - top + gap) / Math.max(1, this.lanes.length);

        this.lanes.forEach((lane, i) => {
            lane.axis.stop = Math.round(top + i * height);
            lane.axis.start = Math.round(top + (i + 1) * height - gap);
        });
    }

    /* Rounds outwards, to about four steps of 1, 2 or 5. */
    static round(low, high) {
        const room = Axis.roomOfConstant(low, high), from = low - room, to = high + room;
        const rough = (to - from) / 4, power = 10 ** Math.floor(Math.log10(rough));
        const step = [1, 2, 5, 10].find((times) => times * power >= rough * 0.999) * power;

        return [Math.floor(from / step + 1e-9) * step, Math.ceil(to / step - 1e-9) * step];
    }

    /* Fits a lane's scale to its visible data. */
    fit(lane, low, high, now) {
        const {axis} = lane;

        if (!(low <= high) || (this.locked && lane.fitted))
            return;
        const [from, to] = Lanes.round(low, high);
        const tooWide = to - from < 0.6 * (axis.to - axis.from);
        lane.wide = tooWide ? lane.wide ?? now : null;
        if (lane.fitted && low >= axis.from && high <= axis.to &&
            !(tooWide && now - lane.wide > Lanes.patience))
            return;
        Object.assign(axis, {from, to});
        Object.assign(lane, {wide: null, fitted: true});
    }
}
