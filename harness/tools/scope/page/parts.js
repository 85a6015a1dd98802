'use strict';

/* A panel that can be folded. On a narrow screen it is initially folded, unless it is the most
 * important. */
function panel(title, id, ...children) {
    return element('details', {class: 'panel', id, open: window.innerWidth > 700},
                   element('summary', {}, element('h2', {}, title)), ...children);
}

/* A control with its label. */
function field(label, control) {
    return element('label', {class: 'field'}, element('span', {}, label), control);
}

/* A choice: `options` are [value, words]. */
function choice(label, options, value, onchange) {
    const control = element('select', {'aria-label': label, onchange},
                            options.map(([key, words]) => element('option', {value: key}, words)));

    control.value = value;
    return control;
}

/* A field for a number. Input that is not a number is ignored. */
function number(value, onchange, attributes = {}) {
    const control = element('input', {type: 'number', step: 'any', value: String(value), ...attributes});

    control.addEventListener('change', () => {
        control.setCustomValidity(control.value !== '' && control.checkValidity() ? '' : 'a number');
        if (control.value !== '' && control.checkValidity())
            onchange(Number(control.value));
    });
    return control;
}

/* A button that is on or off. */
function toggle(words, on, onchange, attributes = {}) {
    const control = element('button', {type: 'button', 'aria-pressed': String(on), ...attributes}, words);

    control.addEventListener('click', () => {
        const now = control.getAttribute('aria-pressed') !== 'true';
        control.setAttribute('aria-pressed', String(now));
        onchange(now);
    });
    return control;
}

/* Sets a text only if it is different, to avoid a new layout of the page. */
function put(node, text) {
    if (node.textContent !== text)
        node.textContent = text;
}

/* With three digits: "12.3 µs". */
function shortTime(seconds) {
    const unit = timeUnit(Math.abs(seconds) || 1);

    return `${digits(seconds * unit.scale, 3)} ${unit.name}`;
}

/* Acts at most once in this many milliseconds, and once more at the end. */
function seldom(wait, act) {
    let last = -Infinity, timer = null;

    return () => {
        const now = performance.now();
        if (timer)
            return;
        timer = setTimeout(() => {
            timer = null;
            last = performance.now();
            act();
        }, Math.max(0, last + wait - now));
    };
}
