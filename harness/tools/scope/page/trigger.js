'use strict';

/*
 * The settings of a trigger, and how much of the time around it is captured.
 */
class Trigger {
    constructor(parent, onChange) {
        this.set = {on: 'level', signal: null, level: null, hysteresis: 0, edge: 'rising', mode: 'auto',
                    before_s: 0.005, after_s: 0.015};
        this.onChange = onChange;
        this.place = element('div', {class: 'fields'});
        parent.append(this.place);
    }

    /* Offers the visible signals; `middle` gives the middle of a signal. */
    offer(signals, middle) {
        this.signals = signals;
        this.middle = middle;
        if (!signals.some(({name}) => name === this.set.signal))
            this.set.signal = signals[0]?.name ?? null;
        this.show();
    }

    change(what) {
        Object.assign(this.set, what);
        if (what.signal)
            this.findMiddle();
        this.show();
        this.onChange();
    }

    select(label, key, options) {
        const control = choice(label, options, this.set[key],
                               () => this.change({[key]: control.value}));

        control.dataset.key = key;
        return field(label, control);
    }

    number(label, key, attributes, scale = 1) {
        const control = number(Number(((this.set[key] ?? 0) * scale).toPrecision(9)),
                               (value) => this.change({[key]: value / scale}), attributes);

        control.dataset.key = key;
        return field(label, control);
    }

    show() {
        const level = this.set.on === 'level';
        const unit = this.signals?.find(({name}) => name === this.set.signal)?.unit ?? '';
        const focus = document.activeElement?.dataset?.key;

        this.place.replaceChildren(...[
            this.select('Trigger on', 'on', [['free', 'nothing: free'], ['level', 'a level'],
                                             ['miss', 'a missed step'], ['fault', 'a fault'],
                                             ['age', 'an input too old']]),
            this.select('Mode', 'mode', [['auto', 'auto'], ['normal', 'normal'], ['single', 'single']]),
            level && this.select('Signal', 'signal', (this.signals ?? []).map(({name}) => [name, name])),
            level && this.select('Edge', 'edge', [['rising', 'rising'], ['falling', 'falling'],
                                                  ['both', 'both']]),
            level && this.number(withUnit('Level', unit && `(${unit})`), 'level'),
            level && this.number('Hysteresis', 'hysteresis', {min: 0}),
            this.number('Before (ms)', 'before_s', {min: 0, max: 1e5}, 1e3),
            this.number('After (ms)', 'after_s', {min: 0, max: 1e5}, 1e3),
            level && element('button', {type: 'button', 'data-key': 'middle',
                                        onclick: () => this.toMiddle()}, 'Level to the middle'),
        ].filter((one) => one));
        if (focus)
            this.place.querySelector(`[data-key="${focus}"]`)?.focus();
    }

    toMiddle() {
        this.findMiddle();
        this.change({});
    }

    /* The middle of the signal's visible values, and a hysteresis that exceeds the noise. */
    findMiddle() {
        const {low, high} = this.middle(this.set.signal);

        if (!(low <= high))
            return;
        this.set.level = Number(((low + high) / 2).toPrecision(6));
        this.set.hysteresis = Number((0.05 * (high - low)).toPrecision(2));
    }

    /* In the form of a message to the run. */
    message() {
        const {on, signal, level, hysteresis, edge, mode, before_s, after_s} = this.set;

        return {before_s, after_s,
                trigger: on === 'level' ? {on, signal, level: level ?? 0, hysteresis, edge, mode}
                                        : {on, mode}};
    }
}
