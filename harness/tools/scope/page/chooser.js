'use strict';

/*
 * Chooses the visible signals: all signals can be searched by words; up to 16 are visible at a
 * time.
 */
class Chooser {
    static most = 16;
    static shown = 150;

    constructor(parent, onChange) {
        this.signals = [];
        this.chosen = []; /* [{name, unit, node, period_s, colour}] */
        this.onChange = onChange;
        this.search = element('input', {type: 'search', placeholder: 'Search', autocomplete: 'off',
                                        'aria-label': 'Search signals', oninput: () => this.list()});
        this.told = element('p', {class: 'faint', role: 'status'});
        this.place = element('ul', {class: 'signals', 'aria-label': 'Signals found'});
        parent.append(this.search, this.told, this.place);
    }

    offer(signals, names) {
        this.signals = signals;
        this.chosen = [];
        for (const name of names) {
            const signal = signals.find((one) => one.name === name);
            if (signal && this.chosen.length < Chooser.most)
                this.chosen.push({...signal, colour: this.freeColour()});
        }
        this.list();
    }

    freeColour() {
        const used = new Set(this.chosen.map(({colour}) => colour));

        return [...Array(Chooser.most).keys()].find((colour) => !used.has(colour));
    }

    /* The chosen signals, and those that match all words. */
    found() {
        const words = this.search.value.toLowerCase().split(/\s+/).filter((word) => word);
        const chosen = new Set(this.chosen.map(({name}) => name));
        const others = this.signals.filter(({name}) =>
            !chosen.has(name) && words.every((word) => name.toLowerCase().includes(word)));

        return {chosen: this.chosen, others};
    }

    list() {
        const {chosen, others} = this.found();
        const beyond = others.length - Chooser.shown;
        const focus = document.activeElement?.dataset?.signal;

        this.place.replaceChildren(
            ...[...chosen, ...others.slice(0, Chooser.shown)].map((signal) => this.entry(signal)));
        put(this.told, `${chosen.length} of ${Chooser.most} chosen, ${others.length} more found` +
                       (beyond > 0 ? `, ${Chooser.shown} of them here` : ''));
        if (focus)
            this.place.querySelector(`[data-signal="${CSS.escape(focus)}"]`)?.focus();
    }

    entry(signal) {
        const isChosen = this.chosen.includes(signal);
        const box = element('input', {type: 'checkbox', 'data-signal': signal.name,
                                      checked: isChosen,
                                      disabled: !isChosen && this.chosen.length >= Chooser.most,
                                      onchange: () => this.choose(signal, box.checked)});
        const swatch = element('span', {class: 'swatch'});

        if (isChosen)
            swatch.style.background = this.colourOf(signal.colour);
        return element('li', {}, element('label', {title: `${signal.name}, of ${signal.node}`}, box,
                                         swatch, element('span', {class: 'name'}, signal.name),
                                         element('span', {class: 'faint'}, signal.unit)));
    }

    choose({name}, on) {
        const signal = this.signals.find((one) => one.name === name);

        this.chosen = this.chosen.filter((one) => one.name !== name);
        if (on && this.chosen.length < Chooser.most)
            this.chosen.push({...signal, colour: this.freeColour()});
        this.list();
        this.onChange();
    }
}
