'use strict';

/* Six digits in the style of %g: without trailing zeros, and with an exponent if that is
 * shorter. */
function digits(value, count = 6) {
    if (!Number.isFinite(value))
        return '-';
    if (value === 0)
        return '0';
    const exponent = Number(value.toExponential(count - 1).split('e')[1]);

    if (exponent < -4 || exponent >= count)
        return value.toExponential(count - 1).replace(/\.?0+e/, 'e');
    const text = value.toFixed(count - 1 - exponent);
    return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

/* A number of a table or a map: what rounding left of zero is zero. */
function shownNumber(value, count = 6) {
    return digits(Math.abs(value ?? NaN) < 1e-9 ? 0 : value, count);
}

function withUnit(text, unit) {
    return unit && text !== '-' ? `${text} ${unit}` : text;
}

/* The unit of time that reads best for a duration. */
function timeUnit(seconds) {
    if (seconds >= 1)
        return {name: 's', scale: 1};
    return seconds >= 1e-3 ? {name: 'ms', scale: 1e3} : {name: 'µs', scale: 1e6};
}

/* "5 s", "2.16 ms" */
function duration(seconds) {
    if (!Number.isFinite(seconds))
        return '-';
    const unit = timeUnit(Math.abs(seconds) || 1);

    return `${digits(seconds * unit.scale)} ${unit.name}`;
}

function count(number, one, many = `${one}s`) {
    return `${number} ${number === 1 ? one : many}`;
}

/* For any number of values. */
function leastOf(values) {
    return values.reduce((least, value) => Math.min(least, value), Infinity);
}

function greatestOf(values) {
    return values.reduce((greatest, value) => Math.max(greatest, value), -Infinity);
}
