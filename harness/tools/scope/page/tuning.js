'use strict';

/*
 * The run's tunable parameters: a number for each, and a slider for those with a range.
 */
class Tuning {
    constructor(parent, onSet) {
        this.onSet = onSet;
        this.controls = new Map();
        this.place = element('div', {class: 'tuning'});
        this.log = element('ol', {class: 'log', 'aria-label': 'Changes', role: 'log'});
        this.ramp = number(0, () => {}, {min: 0, max: 1e4});
        parent.append(this.place, this.log);
    }

    offer(parameters, allowed) {
        const why = parameters.length === 0 ? 'The run has nothing that may be changed: its scenario ' +
                                              'says nothing of tuning.'
                                            : 'Changes are off: hiloco scope --allow-set turns them on.';

        this.controls.clear();
        this.place.replaceChildren(
            ...(allowed && parameters.length > 0 ? [] : [element('p', {class: 'faint'}, why)]),
            ...parameters.map((parameter) => this.entry(parameter, allowed)),
            ...(allowed && parameters.some(({source}) => source)
                ? [field('Ramp of sources (s)', this.ramp)] : []));
    }

    /* The range of a slider: the whole range, or, if that is much greater than the value, four
     * times the value, so that the slider can be set finely. */
    static span(value, min, max) {
        if (!value || max - min <= 20 * Math.abs(value))
            return [min, max];
        return value > 0 ? [Math.max(min, 0), Math.min(max, 4 * value)]
                         : [Math.max(min, 4 * value), Math.min(max, 0)];
    }

    entry(parameter, allowed) {
        const {name, unit, value, min, max, doc} = parameter;
        const ranged = Number.isFinite(min ?? NaN) && Number.isFinite(max ?? NaN);
        const [least, most] = Tuning.span(value, min, max);
        const shown = number(value ?? '', (now) => this.ask(parameter, now),
                             {min: ranged ? min : null, max: ranged ? max : null,
                              placeholder: 'as planned', 'aria-label': withUnit(name, unit), disabled: !allowed});
        const slider = ranged ? element('input', {type: 'range', min: least, max: most,
                                                  step: (most - least) / 1000, value: value ?? min, disabled: !allowed,
                                                  'aria-label': withUnit(name, unit)}) : null;

        slider?.addEventListener('input', () => shown.value = slider.value);
        slider?.addEventListener('change', () => this.ask(parameter, Number(slider.value)));
        this.controls.set(name, {shown, slider, min, max});
        return element('div', {class: 'knob', title: doc ?? ''},
                       element('span', {class: 'name'}, name), shown,
                       element('span', {class: 'faint'}, unit ?? ''), slider);
    }

    ask({name, source}, value) {
        const ramp_s = Number(this.ramp.value);

        this.onSet({name, value, ...(source && ramp_s > 0 ? {ramp_s} : {})});
    }

    take({name, value, node, step, time_s}) {
        const {shown, slider, min, max} = this.controls.get(name) ?? {};

        if (shown && document.activeElement !== shown)
            shown.value = value;
        if (slider && (value < slider.min || value > slider.max)) {
            const [least, most] = Tuning.span(value, min, max);
            Object.assign(slider, {min: least, max: most, step: (most - least) / 1000});
        }
        if (slider)
            slider.value = value;
        this.log.prepend(element('li', {}, `${name} = ${digits(value)}, by ${node} at step ${step}, ` +
                                           `${duration(time_s)}`));
        while (this.log.children.length > 20)
            this.log.lastChild.remove();
    }
}
