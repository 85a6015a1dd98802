'use strict';

/* The distribution of a figure among runs that differ by chance: bars, with limits as lines. */

/* --- bars ------------------------------------------------------------------------------------- */

const barsMost = 40;

/* The interval of which all differences are multiples, as with times that are whole periods; 0:
 * none. */
function latticeOf(sorted) {
    const steps = sorted.slice(1).map((value, i) => value - sorted[i])
        .filter((step) => step > 1e-6 * (sorted.at(-1) - sorted[0]));
    const least = leastOf(steps);
    const isWhole = (step) => Math.abs(step / least - Math.round(step / least)) < 1e-3;

    return steps.every(isWhole) && sorted.at(-1) - sorted[0] < 1000 * least ? least : 0;
}

/* Bars of equal width: {from, width, count}. */
function binsOf(values) {
    const sorted = values.toSorted((a, b) => a - b), from = sorted[0], range = sorted.at(-1) - from;
    const lattice = latticeOf(sorted);

    if (!(range > 0))
        return {from: from - 0.005 * (Math.abs(from) || 1), width: 0.01 * (Math.abs(from) || 1),
                count: 1};
    if (lattice > 0) {
        const width = lattice * Math.ceil((range / lattice + 1) / barsMost);
        return {from: from - lattice / 2, width, count: Math.ceil((range + lattice / 2) / width)};
    }
    const count = Math.min(barsMost, Math.max(5, Math.ceil(Math.sqrt(values.length))));
    return {from, width: range / count, count};
}

function binOf(value, {from, width, count}) {
    return Math.min(count - 1, Math.max(0, Math.floor((value - from) / width)));
}

/* A curve for each verdict, stacked on those before it. */
function barCurves(entries, bins, title, unit) {
    const below = new Array(bins.count).fill(0), starts = below.map((_, i) => bins.from + i * bins.width);
    const verdicts = [...new Set(entries.map(({verdict}) => verdict))]
        .toSorted((a, b) => verdictsOfRuns.indexOf(b) - verdictsOfRuns.indexOf(a));

    return verdicts.map((verdict) => {
        const counts = new Array(bins.count).fill(0), low = [...below];
        for (const entry of entries.filter((one) => one.verdict === verdict))
            counts[binOf(entry.value, bins)]++;
        counts.forEach((runs, i) => below[i] += runs);
        const taken = starts.map((_, i) => i).filter((i) => counts[i] > 0);
        const of = (list) => taken.map((i) => list[i]);
        return {name: verdict, unit: '', colour: 0, ink: inkOfVerdict[verdict],
                curve: new Curve({x: of(starts), end: of(starts).map((x) => x + bins.width),
                                  low: of(low), high: of(below), rows: of(counts),
                                  apart: taken.map(() => 1)}),
                say: (i) => `${count(counts[taken[i]], 'run')} from ${digits(starts[taken[i]])} ` +
                            `to ${withUnit(digits(starts[taken[i]] + bins.width), unit)}`};
    });
}

const verdictsOfRuns = ['error', 'failed', 'inconclusive', 'not run', 'passed', 'valid'];
const inkOfVerdict = {error: 'bad', failed: 'bad', inconclusive: 'faint', 'not run': 'faint'};

/* --- a figure --------------------------------------------------------------------------------- */

/* The visible range of x: all bars, and each bound that is not far away from them. */
function viewOfBars(bins, limits) {
    const end = bins.from + bins.count * bins.width, reach = 3 * (end - bins.from);
    const near = limits.map(({bound}) => bound)
        .filter((bound) => bound > bins.from - reach && bound < end + reach);

    return [Math.min(bins.from, ...near) - bins.width, Math.max(end, ...near) + bins.width];
}

function boundWords({most, bound}, unit) {
    return boundOf(most ? {at_most: bound, unit} : {at_least: bound, unit});
}

/* "output.settling_ms, at most 2 ms: 3 of 200 runs beyond it", and a note if its line is not
 * visible. */
function limitLine({name, most, bound, judged, failed}, unit, [from, to]) {
    const away = bound < from ? ' (far to the left)' : bound > to ? ' (far to the right)' : '';

    return `${name}, ${boundWords({most, bound}, unit)}${away}: ${failed} of ` +
           `${count(judged, 'run')} beyond it`;
}

/* A spread: {title, unit, entries: [{value, verdict}], never, neverWords, limits: [{name, most,
 * bound, judged, failed}], percentiles: {p50 ...}}. `never` is the number of runs without a
 * value. */
function drawSpread(grid, spread) {
    const {title, unit, entries, never, limits, percentiles = {}} = spread;
    const place = element('div', {class: 'plot small'});
    const bins = entries.length ? binsOf(entries.map(({value}) => value)) : null;
    const whole = bins ? viewOfBars(bins, limits) : [-Infinity, Infinity];
    const lines = [...limits.map((limit) => limitLine(limit, unit, whole)),
                   ...(never ? [`${count(never, 'run')} ${spread.neverWords}`] : [])];
    const caption = element('div', {}, element('h3', {}, title),
                            lines.map((line) => element('p', {class: 'faint'}, line)));

    grid.append(element('figure', {class: 'distribution'}, element('figcaption', {}, caption),
                        entries.length ? place : 'No run has a value.'));
    if (!bins)
        return;
    const marks = [...Object.entries(percentiles).filter(([, at]) => Number.isFinite(at))
                       .map(([text, at]) => ({from: at, kind: 'event', text})),
                   ...limits.map((limit) => ({from: limit.bound, kind: 'limit',
                                              text: boundWords(limit, unit)}))];
    new Plot(place, {label: title, x: {label: title, unit, whole},
                     y: {label: 'runs', floor: 0, counts: true},
                     curves: barCurves(entries, bins, title, unit), marks});
}
