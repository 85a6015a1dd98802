'use strict';

/*
 * Readings of samples: the least, the greatest, the mean, the rms, and the frequency of rising
 * through the mean.
 */

/* The first index whose time is not before t. */
function indexAt(times, t) {
    let low = 0, high = times.length;

    while (low < high) {
        const middle = (low + high) >> 1;
        if (times[middle] < t)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The value that applies at t, that of the last sample until then; NaN: there is none. */
function valueAt(times, values, t) {
    const next = indexAt(times, t);

    if (next < times.length && times[next] === t)
        return values[next];
    return next > 0 ? values[next - 1] : NaN;
}

/* For samples from .. to - 1. */
function readings(times, values, from = 0, to = times.length) {
    let min = Infinity, max = -Infinity, sum = 0, squares = 0, count = 0;

    for (let i = from; i < to; i++) {
        const value = values[i];
        if (!Number.isFinite(value))
            continue;
        min = Math.min(min, value);
        max = Math.max(max, value);
        sum += value;
        squares += value * value;
        count++;
    }
    if (count === 0)
        return {count, min: NaN, max: NaN, mean: NaN, rms: NaN, frequency: NaN};
    const mean = sum / count;
    return {count, min, max, mean, rms: Math.sqrt(squares / count),
            frequency: frequency(times, values, from, to, mean, 0.1 * (max - min))};
}

/* The frequency of rising through `level`, from the time between the first and the last crossing. A
 * crossing is where the line between two samples meets the level. Afterwards the value must fall
 * `least` below the level before the next crossing counts, so that noise causes none. */
function frequency(times, values, from, to, level, least) {
    let first = NaN, last = NaN, periods = -1, below = false;

    for (let i = from; i < to; i++) {
        if (values[i] < level - least) {
            below = true;
        } else if (below && values[i] >= level) {
            last = crossing(times, values, i, level);
            first = periods < 0 ? last : first;
            periods++;
            below = false;
        }
    }
    return periods > 0 && last > first ? periods / (last - first) : NaN;
}

/* Goes back from sample i, which is at or above the level, to the crossing. */
function crossing(times, values, i, level) {
    while (i > 0 && values[i - 1] >= level)
        i--;
    if (i === 0)
        return times[0];
    const share = (level - values[i - 1]) / (values[i] - values[i - 1]);

    return times[i - 1] + share * (times[i] - times[i - 1]);
}
